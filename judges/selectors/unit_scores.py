"""What each judge said about one unit."""

from __future__ import annotations

from dataclasses import dataclass

from annotate.core.scales import Value
from annotate.models import Verdict
from annotate.models.verdict import DECIDED_METHODS, VerdictState
from judges.models import Score, ScoreStatus
from judges.selectors.kept_versions import OF_KEPT


@dataclass(frozen=True)
class JudgeSaid:
    """failed: why there is no value."""

    judge: str
    version: str
    value: Value | None
    failed: str
    rationale: str


def judges_on(verdict: Verdict) -> list[JudgeSaid]:
    """The judges' scores for a unit that a person has decided, on its criterion. Empty for any other unit: what a judge
    says must not decide for people."""
    if verdict.state != VerdictState.SETTLED or verdict.method not in DECIDED_METHODS:
        return []
    scores = (
        Score.objects.filter(
            OF_KEPT, sample_id=verdict.sample_id, unit=verdict.unit, dimension=verdict.criterion.key, repeat=0
        )
        .select_related("version__judge")
        .order_by("version__judge__name", "version__number")
    )
    return [
        JudgeSaid(
            score.version.judge.name,
            score.version.label,
            score.number if score.label is None else score.label,
            "" if score.status == ScoreStatus.OK else score.get_status_display(),
            score.rationale,
        )
        for score in scores
    ]
