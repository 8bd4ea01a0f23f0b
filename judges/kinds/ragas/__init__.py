"""RAGAS judges: configurations, units and estimates, none of which needs the library.

The library is optional (`make run WITH=ragas`) and takes seconds to load. Only opening a judge imports it, with
judges.kinds.ragas.adapters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from django.utils.translation import gettext as _

from annotate.core.units import whole_unit
from annotate.models import Project, Sample
from judges.endpoints.calls import StopRun
from judges.kinds.base import Config, Kind, OneByOne, Refused, Size
from judges.kinds.fields import Fields, sampling_fields
from judges.kinds.ragas.metrics import METRICS, dimension_of, has_all, size_of
from judges.models import JudgeKind, JudgeVersion


def installed_version() -> str | None:
    try:
        return version("ragas")
    except PackageNotFoundError:
        return None


def how_to_install() -> str:
    return _(
        "The RAGAS library isn’t installed here. “make run WITH=ragas” installs it; the Docker image takes WITH=ragas "
        "as a build argument."
    )


class RagasKind(Kind):
    """Its configuration: {"metric", "model", "temperature", "max_tokens", "seed", "structured", the metric's own
    options, "ragas_version"}.

    temperature: null sends none, for models that take none. structured: whether the reply's JSON schema is sent too,
    for servers that can enforce it; the library's prompts describe it anyway. ragas_version: of the installed library,
    filled in here: another one may give other scores, so it makes another version of a judge.
    """

    key = JudgeKind.RAGAS.value
    code_version = 1

    def complete(self, config: Any, project: Project) -> dict[str, Any]:
        fields = Fields(config)
        name = fields.choice("metric", METRICS)
        complete = {
            "metric": name,
            "model": fields.text("model"),
            **sampling_fields(fields, max_tokens=2048, fewest=16),
            "structured": fields.truth("structured", default=True),
        }
        options = METRICS[name].options
        if options is not None:
            complete |= options(fields)
        fields.raw("ragas_version")
        fields.finish()
        installed = installed_version()
        if installed is None:
            raise Refused("", how_to_install())
        return {**complete, "ragas_version": installed}

    def asks_model(self, config: Config) -> bool:
        return True

    def dimensions(self, config: Config) -> Sequence[tuple[str, str]]:
        return [("answer", dimension_of(config))]

    def units(self, config: Config, sample: Sample) -> Sequence[str]:
        return [whole_unit(sample)] if has_all(config, sample) else []

    def size(self, config: Config, sample: Sample) -> Size:
        return size_of(config, sample)

    @contextmanager
    def open(self, version: JudgeVersion) -> Iterator[OneByOne]:
        installed, wanted = installed_version(), version.config["ragas_version"]
        if installed is None:
            raise StopRun("ragas_missing", how_to_install())
        if installed != wanted:
            raise StopRun(
                "ragas_version",
                _(
                    "This version of the judge is made with RAGAS %(wanted)s, and %(installed)s is installed, which "
                    "may give other scores. Make a new version of it."
                )
                % {"wanted": wanted, "installed": installed},
            )
        from judges.kinds.ragas.adapters import RagasScorer

        yield RagasScorer(version.config)


KIND = RagasKind()
