"""Checking a judge with injection canaries, or with bias probes: an ordinary run, which asks about each unit as it is
and once with each change, and brings no scores.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from annotate.batches.sample_choice import check_seed, new_seed
from annotate.core.errors import Conflict, Invalid
from annotate.models import Sample, User
from judges.canaries.probes import AGAIN, probed, probes_for
from judges.canaries.probes import NUMBERED as PROBES_NUMBERED
from judges.canaries.probes import SET_VERSION as PROBES_VERSION
from judges.canaries.rates import Reading
from judges.canaries.variants import CLEAN, NUMBERED, SET_VERSION, changed, judged_units, variants_for
from judges.core.locked_read import locked_keys
from judges.core.split import drawn
from judges.kinds.base import Item, Scored, Size
from judges.models import JudgeKind, JudgeVersion, Run, RunPurpose
from judges.runs.laying import check_sample_count, draw_samples
from judges.runs.purposes import Scoring, asked_units
from judges.runs.write import RequestKey, RunEstimate, estimate_run, run_started_by, start_run


class Changing(Scoring, ABC):
    """Asks about units as they are and changed. An ask's repeat is the number of its variant: 0 of the unit as it is.
    terms: {"set", "seed"}.

    most_units: of one sample; more of them say little more, since they stand in the same text. tokens: what a change
    adds to a request, about.
    """

    brings_scores = False
    most_units: int
    tokens: int

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._seed: int = run.terms["seed"]

    def to_ask(self, samples: Sequence[Sample]) -> list[tuple[int, str, int]]:
        return [
            (sample.pk, unit, number)
            for sample in samples
            for unit in self._units(sample)
            for number in [CLEAN, *self.variants(sample, unit)]
        ]

    @abstractmethod
    def variants(self, sample: Sample, unit: str) -> list[int]:
        """The numbers of those that can be asked about the unit."""

    @abstractmethod
    def varied(self, sample: Sample, unit: str, number: int) -> Item:
        """What is asked about the unit with the change of this number."""

    def _units(self, sample: Sample) -> list[str]:
        units = asked_units(self._run.version, sample)
        purpose = str(self._run.purpose)
        order = sorted(units, key=lambda unit: drawn(self._seed, f"{sample.external_id}\x1f{unit}", purpose))
        chosen = set(order[: self.most_units])
        return [unit for unit in units if unit in chosen]

    def size(self, sample: Sample) -> Size:
        size = super().size(sample)
        return replace(size, tokens_in=size.tokens_in + self.tokens)

    def item(self, sample: Sample, unit: str, repeat: int) -> Item:
        """The one as it is is asked as a run for scores asks it, so that its reply may be there already."""
        return Item(sample=sample, unit=unit) if repeat == CLEAN else self.varied(sample, unit, repeat)

    def outcome(self, scores: Sequence[Scored], found: Any) -> Any:
        """[{"unit", "status", "value", "reason"}]; value: None unless it is ok."""
        return [
            {
                "unit": one.unit,
                "status": str(one.status),
                "value": one.number if one.label is None else str(one.label),
                "reason": one.rationale,
            }
            for one in scores
        ]


class Canaries(Changing):
    """See judges.canaries.variants."""

    most_units = 3
    tokens = 40

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._best = Reading(run.version).best

    def variants(self, sample: Sample, unit: str) -> list[int]:
        return [variant.number for variant in variants_for(self._config, sample)]

    def varied(self, sample: Sample, unit: str, number: int) -> Item:
        if judged_units(self._config, sample, unit):
            sample = changed(sample, self._config, unit, NUMBERED[number], self._best)
        return Item(sample=sample, unit=unit)


class Probes(Changing):
    """See judges.canaries.probes."""

    # Groups are what an effect is known by.
    most_units = 1
    tokens = 60

    def variants(self, sample: Sample, unit: str) -> list[int]:
        return [probe.number for probe in probes_for(self._config, sample, unit)]

    def varied(self, sample: Sample, unit: str, number: int) -> Item:
        if number == AGAIN:
            return Item(sample=sample, unit=unit, repeat=1)
        return Item(sample=probed(sample, self._config, unit, PROBES_NUMBERED[number]), unit=unit)


@dataclass(frozen=True, slots=True)
class Sort:
    """One of the two sorts of checks: its purpose, the version of its set, and how many samples it draws."""

    purpose: RunPurpose
    set_version: int
    default_samples: int
    most_samples: int


INJECTION, BIAS = "injection", "bias"
SORTS = {
    INJECTION: Sort(RunPurpose.CANARIES, SET_VERSION, 20, 200),
    BIAS: Sort(RunPurpose.PROBES, PROBES_VERSION, 150, 1000),
}


def check_canaries(
    *,
    version: JudgeVersion,
    test: str = INJECTION,
    samples: int | None = None,
    seed: int | None = None,
    budget: Decimal | None = None,
    actor: User | None = None,
    key: RequestKey | None = None,
) -> Run:
    """Asks about `samples` samples of the project that the judge has something to ask about, drawn by the seed: about
    some units of each, as they are and with every change of the sort. None of them is locked: a check of few samples
    tells what the judge says of each.

    test: one of SORTS. samples: by default as many as its sort draws. key: as of `start_run`. Raises Invalid for a
    judge that can't be checked, for another test and for numbers that make no sense; Conflict when there is no sample
    to ask about.
    """
    seed = new_seed() if seed is None else seed
    with transaction.atomic():
        if key is not None and (known := run_started_by(key, actor)) is not None:
            return known
        return start_run(**_planned(version, test, samples, seed), budget=budget, actor=actor, key=key)


def estimate_canaries(
    *, version: JudgeVersion, test: str = INJECTION, samples: int | None = None, seed: int | None = None
) -> RunEstimate:
    """Nothing is stored. Refused as `check_canaries`."""
    return estimate_run(**_planned(version, test, samples, 0 if seed is None else seed))


def can_be_checked(version: JudgeVersion | None) -> bool:
    return version is not None and version.judge.kind == JudgeKind.LLM


def _planned(version: JudgeVersion, test: str, samples: Any, seed: Any) -> dict[str, Any]:
    if not can_be_checked(version):
        raise Invalid(
            "no_canaries",
            _(
                "Only LLM judges can be tested for prompt injection and bias. RAGAS judges use the library’s prompts, "
                "and other judges follow no instructions."
            ),
        )
    sort = SORTS.get(test)
    if sort is None:
        raise Invalid("bad_test", _("test: must be one of %(names)s.") % {"names": ", ".join(SORTS)}, field="test")
    samples = sort.default_samples if samples is None else samples
    check_sample_count(samples, sort.most_samples)
    check_seed(seed)
    project = version.judge.project
    keys = dict(Sample.objects.filter(project=project).values_list("external_id", "pk"))
    closed = locked_keys(project, keys.values())
    names = [name for name, key in keys.items() if key not in closed]
    chosen = draw_samples(project, names, samples, seed=seed, purpose=str(sort.purpose), versions=[version])
    if not chosen:
        raise Conflict(
            "no_samples",
            _(
                "No samples for this judge to score. Labelled samples are used only if a report assigned them to the "
                "dev set."
            ),
        )
    return {
        "version": version,
        "scope": {"samples": chosen},
        "purpose": sort.purpose,
        "terms": {"set": sort.set_version, "seed": seed},
    }
