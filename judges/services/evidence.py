"""All of a criterion's evidence: what people said, what judges scored, and which samples are dev."""

from __future__ import annotations

from dataclasses import replace

from alignment.report import Evidence, reference_of
from annotate.models import Criterion
from annotate.verdicts.evidence_read import evidence_of
from judges.selectors.scores import judge_scores, measured_by, whole_scores
from judges.services.split import divide


def full_evidence(criterion: Criterion, judge_name: str | None = None) -> Evidence:
    """With all judges or the one named. Samples that have a reference and no side yet get one, and keep it.

    Raises Invalid for a judge that the project doesn't have.
    """
    judges, earlier = judge_scores(criterion, judge_name)
    whole = whole_scores(criterion, judge_name)
    people = _divided(criterion)
    measures = measured_by(criterion, whole)
    return replace(people, judges=judges, earlier=earlier, whole=whole, measures=measures)


def settled_on_dev(criterion: Criterion) -> list[str]:
    """The samples of the dev half of which people settled a unit, by their own ids, in order; those without a side get
    one, as at a report. Where there are no halves, since the criterion says nowhere what passes: all settled samples.
    """
    people = _divided(criterion)
    if not criterion.passes:
        return sorted({sample for sample, _ in reference_of(people).labels()})
    return sorted(name for name, is_dev in people.is_dev.items() if is_dev)


def _divided(criterion: Criterion) -> Evidence:
    """People's side of the evidence, each sample with its side."""
    people = evidence_of(criterion)
    strata = reference_of(people).strata()
    sides = divide(criterion, strata)
    return replace(people, is_dev={name: sides[name] for name in strata})
