"""Checking a judge with injection canaries: an ordinary run, which asks about each unit clean and once with each of
them, and brings no scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from annotate.batches.sample_choice import check_seed, new_seed
from annotate.core.errors import Conflict, Invalid
from annotate.models import Sample, User
from judges.canaries.rates import Reading
from judges.canaries.variants import CLEAN, NUMBERED, SET_VERSION, changed, judged_units, variants_for
from judges.core.locked_read import locked_keys
from judges.core.split import drawn
from judges.kinds.base import Item, Scored, Size
from judges.models import JudgeKind, JudgeVersion, Run, RunPurpose
from judges.runs.laying import check_sample_count, draw_samples
from judges.runs.purposes import Scoring, asked_units
from judges.runs.write import RequestKey, RunEstimate, estimate_run, run_started_by, start_run

# Of one sample: more of them say little more, since they stand in the same text.
MOST_UNITS = 3
# What a canary adds to a request.
_TOKENS = 40


class Canaries(Scoring):
    """An ask's repeat is the number of its variant. terms: {"set", "seed"}."""

    brings_scores = False

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._seed: int = run.terms["seed"]
        self._best = Reading(run.version).best

    def to_ask(self, samples: Sequence[Sample]) -> list[tuple[int, str, int]]:
        return [
            (sample.pk, unit, number)
            for sample in samples
            for unit in self._units(sample)
            for number in [CLEAN, *(variant.number for variant in variants_for(self._config, sample))]
        ]

    def _units(self, sample: Sample) -> list[str]:
        units = asked_units(self._run.version, sample)
        order = sorted(units, key=lambda unit: drawn(self._seed, f"{sample.external_id}\x1f{unit}", "canaries"))
        chosen = set(order[:MOST_UNITS])
        return [unit for unit in units if unit in chosen]

    def size(self, sample: Sample) -> Size:
        size = super().size(sample)
        return replace(size, tokens_in=size.tokens_in + _TOKENS)

    def item(self, sample: Sample, unit: str, repeat: int) -> Item:
        """The clean one is asked as a run for scores asks it, so that its reply may be there already."""
        if repeat != CLEAN and judged_units(self._config, sample, unit):
            sample = changed(sample, self._config, unit, NUMBERED[repeat], self._best)
        return Item(sample=sample, unit=unit)

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


DEFAULT_SAMPLES = 20
MOST_SAMPLES = 200


def check_canaries(
    *,
    version: JudgeVersion,
    samples: int = DEFAULT_SAMPLES,
    seed: int | None = None,
    budget: Decimal | None = None,
    actor: User | None = None,
    key: RequestKey | None = None,
) -> Run:
    """Asks about `samples` samples of the project that the judge has something to ask about, drawn by the seed: about
    some units of each, clean and with every canary. None of them is locked: a check of few samples tells what the judge
    says of each.

    key: as of `start_run`. Raises Invalid for a judge that can't be checked and for numbers that make no sense;
    Conflict when there is no sample to ask about.
    """
    seed = new_seed() if seed is None else seed
    with transaction.atomic():
        if key is not None and (known := run_started_by(key, actor)) is not None:
            return known
        return start_run(**_planned(version, samples, seed), budget=budget, actor=actor, key=key)


def estimate_canaries(*, version: JudgeVersion, samples: int = DEFAULT_SAMPLES, seed: int | None = None) -> RunEstimate:
    """Nothing is stored. Refused as `check_canaries`."""
    return estimate_run(**_planned(version, samples, 0 if seed is None else seed))


def can_be_checked(version: JudgeVersion | None) -> bool:
    return version is not None and version.judge.kind == JudgeKind.LLM


def _planned(version: JudgeVersion, samples: Any, seed: Any) -> dict[str, Any]:
    if not can_be_checked(version):
        raise Invalid(
            "no_canaries",
            _(
                "Only LLM judges can be tested for prompt injection. RAGAS judges use the library’s prompts, and "
                "other judges follow no instructions."
            ),
        )
    check_sample_count(samples, MOST_SAMPLES)
    check_seed(seed)
    project = version.judge.project
    keys = dict(Sample.objects.filter(project=project).values_list("external_id", "pk"))
    closed = locked_keys(project, keys.values())
    names = [name for name, key in keys.items() if key not in closed]
    chosen = draw_samples(project, names, samples, seed=seed, purpose="canaries", versions=[version])
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
        "purpose": RunPurpose.CANARIES,
        "terms": {"set": SET_VERSION, "seed": seed},
    }
