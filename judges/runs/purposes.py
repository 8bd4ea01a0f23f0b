"""What a run is for: what it asks, of whom, and what of it is written down. The one place where runs differ.

Everything else (leases, fences, pace, budget, pause, cancel, progress, replies that are kept) is the same for all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from django.db import Error as DatabaseError
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _

from annotate.core.errors import Conflict
from annotate.core.units import answers_asked, answers_of, parse_unit, units_of, whole_unit
from annotate.models import Sample
from annotate.samples.read import of_samples
from judges.kinds.base import Item, OneByOne, Scored, Size, Together
from judges.kinds.registry import kind_named
from judges.models import ANSWERED, JudgeVersion, Run, RunPurpose, Score
from judges.runs.outcomes import note_fault

# Purpose -> what is called with the run. Imports have none: nothing is asked in them.
_PURPOSES: dict[str, str] = {
    RunPurpose.SCORES: "judges.runs.purposes.Scoring",
    RunPurpose.TRIAL: "judges.runs.purposes.Scoring",
    RunPurpose.CANARIES: "judges.canaries.write.Canaries",
    RunPurpose.PROBES: "judges.canaries.write.Probes",
    RunPurpose.CLAIMS: "judges.proposals.write.Proposing",
    RunPurpose.ALIGN: "judges.aligning.asking.Aligning",
}


class Purpose(Protocol):
    """Of one run; several threads use it at a time.

    brings_scores: whether what came is written down as scores of the version. If not, `outcome` is kept with the ask.
    """

    brings_scores: bool

    def to_ask(self, samples: Sequence[Sample]) -> list[tuple[int, str, int]]:
        """(sample, unit, repeat) of everything that the run has to ask about these samples."""
        ...

    def size(self, sample: Sample) -> Size:
        """Of one ask about the sample, on average."""
        ...

    def open(self) -> AbstractContextManager[Together | OneByOne]:
        """What is asked. Raises StopRun when that can't be."""
        ...

    def wanted(self, unit: str, sample: Sample) -> list[tuple[str, str]]:
        """(dimension, unit) of every score that an ask is to bring."""
        ...

    def item(self, sample: Sample, unit: str, repeat: int) -> Item:
        """What is asked about for an ask."""
        ...

    def outcome(self, scores: Sequence[Scored], found: Any) -> Any:
        """What is kept with the ask, as plain JSON. scores: through the gate, failed ones too; found: what its outcome
        brought beside scores."""
        ...


def purpose_of(run: Run) -> Purpose:
    """run: with its version, judge and project; one that is only planned will do."""
    purpose: Purpose = import_string(_PURPOSES[run.purpose])(run)
    return purpose


def asked_units(version: JudgeVersion, sample: Sample) -> list[str]:
    """The units of the sample that the version's kind asks about, each once; none of a sample without the answers that
    its criterion is about, and of two answers side by side neither alone: each has a sample of its own. Raises Conflict
    when the kind fails at it: then there is nothing that a failed score could be of."""
    if answers_of(sample) < answers_asked(version.config.get("criterion", ""), ""):
        return []
    try:
        units = list(dict.fromkeys(kind_named(version.judge.kind).units(version.config, sample)))
        units = [unit for unit in units if parse_unit(unit)[0] != "answer" or not sample.composed]
    except DatabaseError:
        raise
    except Exception as error:
        note_fault(error, f"Judge version {version.pk} can't say what it asks about sample {sample.pk}")
        raise Conflict(
            "judge_failed",
            _("Judge failed at sample “%(sample)s”: server error (see log).") % {"sample": sample.external_id[:80]},
        ) from error
    return units


class Scoring:
    """What has no score yet, or one that failed, is asked about, and what comes is written down as scores."""

    brings_scores = True

    def __init__(self, run: Run) -> None:
        self._run = run
        self._kind = kind_named(run.version.judge.kind)
        self._config = run.version.config
        self._dimensions = list(self._kind.dimensions(self._config))

    def to_ask(self, samples: Sequence[Sample]) -> list[tuple[int, str, int]]:
        """What is not answered yet in all that it is to bring."""
        repeats = range(self._run.first_repeat, self._run.first_repeat + self._run.repeats)
        said = self._said(samples)
        found = []
        for sample in samples:
            known = said.get(sample.pk)
            for unit in asked_units(self._run.version, sample):
                wanted = self.wanted(unit, sample) if known else []
                for repeat in repeats:
                    if known and wanted and all((dimension, each, repeat) in known for dimension, each in wanted):
                        continue
                    found.append((sample.pk, unit, repeat))
        return found

    def _said(self, samples: Sequence[Sample]) -> dict[int, set[tuple[str, str, int]]]:
        """What the version has answered: (dimension, unit, repeat) by sample."""
        run = self._run
        good = Score.objects.filter(
            version_id=run.version_id,
            dimension__in={dimension for _kind, dimension in self._dimensions},
            repeat__gte=run.first_repeat,
            repeat__lt=run.first_repeat + run.repeats,
            status__in=ANSWERED,
        )
        scores = of_samples(good, [sample.pk for sample in samples])
        said: dict[int, set[tuple[str, str, int]]] = defaultdict(set)
        for sample, dimension, unit, repeat in scores.values_list("sample_id", "dimension", "unit", "repeat"):
            said[sample].add((dimension, unit, repeat))
        return said

    def size(self, sample: Sample) -> Size:
        return self._kind.size(self._config, sample)

    def open(self) -> AbstractContextManager[Together | OneByOne]:
        return self._kind.open(self._run.version)

    def wanted(self, unit: str, sample: Sample) -> list[tuple[str, str]]:
        """About the unit itself, in each dimension of its kind; an ask about the answer or the sample as a whole also
        about all its units of the other kinds, since nothing else asks about them."""
        kind, index = parse_unit(unit)
        # A judge of whole samples scores the sample itself where there is no answer.
        dimensions = [(whole_unit(sample) if of == "answer" else of, dimension) for of, dimension in self._dimensions]
        found = [(dimension, unit) for of, dimension in dimensions if of == kind]
        for of, dimension in dimensions:
            if index is None and of != kind:
                found += [(dimension, each) for each in units_of(sample, of)]
        return found

    def item(self, sample: Sample, unit: str, repeat: int) -> Item:
        return Item(sample=sample, unit=unit, repeat=repeat)

    def outcome(self, scores: Sequence[Scored], found: Any) -> Any:
        return None
