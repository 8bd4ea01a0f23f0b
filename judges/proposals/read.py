"""What a judge's model proposed as claims, beside the claims that samples have now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from django.utils.translation import gettext as _

from annotate.core.rows import first_or_raise
from annotate.core.units import claims_of, live_claims, reading_order
from annotate.models import ClaimEdit, Project, Sample
from annotate.models.sample import ClaimsSource
from annotate.samples.claims_read import claims_that_stay
from judges.models import Ask, AskState, Judge, JudgeKind, Run, RunPurpose, ScoreStatus, VersionState

# Of a proposal: it failed; the sample has just these claims; people are at work on its claims, or something rests on
# them; a person has edited or checked them; they changed since they were proposed; no person has touched them.
FAILED, SAME, FIXED, EDITED, CHANGED, UNTOUCHED = "failed", "same", "fixed", "edited", "changed", "untouched"
# How many of a run are read at once; more of them is another run.
_MOST = 10_000


@dataclass(frozen=True, slots=True)
class Proposal:
    """claims: as proposed, empty when it failed; detail: why, in our words. now: the claims as they are. revision: of
    the claims that the sample had when the model was asked."""

    sample: Sample
    state: str
    claims: Sequence[dict[str, Any]]
    now: Sequence[dict[str, Any]]
    revision: int
    detail: str

    @property
    def can_take(self) -> bool:
        return self.state in (UNTOUCHED, EDITED) and bool(self.claims)


def proposers(project: Project) -> list[Judge]:
    """The judges whose model can be asked for claims, by name."""
    in_use = Judge.objects.filter(project=project, kind=JudgeKind.LLM, versions__state=VersionState.KEPT)
    return list(in_use.distinct().order_by("name"))


def proposal_runs(project: Project) -> QuerySet[Run]:
    """Newest first."""
    return (
        Run.objects.filter(version__judge__project=project, purpose=RunPurpose.CLAIMS)
        .select_related("version__judge__project", "version__endpoint", "created_by")
        .order_by("-pk")
    )


def one_proposal_run(project: Project, run_id: int) -> Run:
    return first_or_raise(proposal_runs(project).filter(pk=run_id), Http404(_("Run not found in this project.")))


def asked_for_claims(run: Run) -> QuerySet[Ask]:
    """What came, in the order in which it was asked for."""
    return Ask.objects.filter(run=run, state=AskState.DONE).select_related("sample").order_by("pk")


def proposals(run: Run) -> list[Proposal]:
    return shown_proposals(list(asked_for_claims(run)[:_MOST]))


def shown_proposals(asks: Sequence[Ask]) -> list[Proposal]:
    samples = [ask.sample_id for ask in asks]
    stay = claims_that_stay(samples)
    edited = set(ClaimEdit.objects.filter(sample__in=samples).order_by().values_list("sample_id", flat=True).distinct())
    return [_proposal(ask, stay, edited) for ask in asks]


def one_proposal(run: Run, sample_id: int) -> Proposal:
    asks = asked_for_claims(run).filter(sample=sample_id)
    return shown_proposals([first_or_raise(asks, Http404(_("No claims were proposed for this sample.")))])[0]


def _proposal(ask: Ask, stay: set[int], edited: set[int]) -> Proposal:
    sample = ask.sample
    live = {claim["index"]: claim for claim in live_claims(sample)}
    now = [live[index] for index in reading_order(claims_of(sample))]
    outcome = ask.outcome or {"claims": [], "revision": sample.claims_revision}
    state = UNTOUCHED
    if ask.status != ScoreStatus.OK:
        state = FAILED
    elif sorted(claim["text"] for claim in now) == sorted(claim["text"] for claim in outcome["claims"]):
        state = SAME
    elif sample.pk in stay:
        state = FIXED
    elif sample.claims_revision != outcome["revision"]:
        state = CHANGED
    elif sample.claims_source == ClaimsSource.EDITED or sample.pk in edited:
        state = EDITED
    return Proposal(sample, state, outcome["claims"], now, outcome["revision"], ask.detail)
