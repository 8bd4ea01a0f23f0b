"""Which samples a run is over. The one home of what a scope may say."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from annotate.core.errors import Invalid
from annotate.core.texts import is_storable
from annotate.models import Project, Sample
from annotate.samples.read import samples_named

MOST_NAMED = 10_000
_EXAMPLES = '{"all": true}, {"batch": 3}, {"samples": ["kb-1", "kb-2"]}, {"pipeline": "v7"}'


def check_scope(project: Project, scope: Any) -> dict[str, Any]:
    """The scope as it is kept. Raises Invalid when it is none, or names what the project doesn't have."""
    if not isinstance(scope, dict) or len(scope) != 1:
        raise Invalid("bad_scope", _("Write which samples in one of these ways: %(ways)s.") % {"ways": _EXAMPLES})
    ((how, what),) = scope.items()
    if how == "all" and what is True:
        return {"all": True}
    if how == "batch" and type(what) is int:
        if not project.batches.filter(number=what).exists():
            raise Invalid("unknown_batch", _("This project has no batch %(number)s.") % {"number": what})
        return {"batch": what}
    if how == "samples" and isinstance(what, list):
        return {"samples": _named(project, what)}
    if how == "pipeline" and isinstance(what, str) and is_storable(what):
        if not project.samples.filter(pipeline_version=what).exists():
            raise Invalid(
                "unknown_pipeline", _("No sample is of the pipeline version “%(name)s”.") % {"name": what[:80]}
            )
        return {"pipeline": what}
    raise Invalid("bad_scope", _("Write which samples in one of these ways: %(ways)s.") % {"ways": _EXAMPLES})


def samples_in(project: Project, scope: dict[str, Any]) -> QuerySet[Sample]:
    """The samples of a checked scope, in the order in which they came."""
    samples = Sample.objects.filter(project=project)
    if "batch" in scope:
        samples = samples.filter(batches__project=project, batches__number=scope["batch"])
    elif "samples" in scope:
        samples = samples_named(project, scope["samples"])
    elif "pipeline" in scope:
        samples = samples.filter(pipeline_version=scope["pipeline"])
    return samples.order_by("id")


def _named(project: Project, names: list[Any]) -> list[str]:
    if not names or len(names) > MOST_NAMED:
        raise Invalid("bad_scope", _("Name from 1 to %(most)s samples.") % {"most": f"{MOST_NAMED:,}"})
    if not all(is_storable(name) for name in names):
        raise Invalid("bad_scope", _("Samples are named by their ids, which are texts."))
    wanted = list(dict.fromkeys(names))
    there = set(samples_named(project, wanted).values_list("external_id", flat=True))
    strangers = [name for name in wanted if name not in there]
    if strangers:
        shown = ", ".join(name[:80] for name in strangers[:5])
        raise Invalid(
            "unknown_sample",
            _("This project doesn't have %(count)s of these samples: %(names)s.")
            % {"count": len(strangers), "names": shown},
        )
    return wanted
