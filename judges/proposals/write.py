"""Having claims proposed, and taking them over: by the rules of every other change of claims (annotate)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _

from annotate.core.errors import Conflict, Invalid, Refusal, Stale
from annotate.core.trail import note
from annotate.models import User
from annotate.samples.claims_write import edit_claims
from judges.models import JudgeKind, JudgeVersion, Run, RunPurpose
from judges.proposals.read import SAME, UNTOUCHED, Proposal, one_proposal, proposals
from judges.runs.write import RunEstimate, estimate_run, start_run

# In one go; whoever has more asks again.
MOST_AT_ONCE = 200


def propose_claims(
    *, version: JudgeVersion, scope: Any, budget: Decimal | None = None, actor: User | None = None
) -> Run:
    """Asks the model of an LLM judge for the claims of each answer in the scope whose claims may still change. Nothing
    changes until somebody takes a proposal over.

    Raises Invalid for another judge, and as `start_run`.
    """
    _check(version)
    return start_run(version=version, scope=scope, purpose=RunPurpose.CLAIMS, budget=budget, actor=actor)


def estimate_proposals(*, version: JudgeVersion, scope: Any) -> RunEstimate:
    """Nothing is stored. Refused as `propose_claims`."""
    _check(version)
    return estimate_run(version=version, scope=scope, purpose=RunPurpose.CLAIMS)


def take_over(*, run: Run, sample_id: int, actor: User) -> None:
    """Gives the sample the claims that were proposed for it, as one change by the actor. Claims that are there already
    keep their place and their index.

    Raises Http404 without a proposal, Conflict when there is none to take over, when the claims changed since, and when
    people are at work on them or something rests on one that would go.
    """
    _take(one_proposal(run, sample_id), run, actor)


@dataclass(frozen=True, slots=True)
class Taken:
    """left: how many could be taken over and were not yet. refused: the samples whose claims could not be changed
    after all, by their own ids."""

    count: int
    left: int
    refused: Sequence[str]


def take_over_untouched(*, run: Run, actor: User) -> Taken:
    """As `take_over`, of all samples whose claims no person has edited or checked, at most 200 at a time."""
    waiting = [one for one in proposals(run) if one.state == UNTOUCHED]
    refused = []
    for one in waiting[:MOST_AT_ONCE]:
        try:
            _take(one, run, actor)
        except Refusal:
            refused.append(one.sample.external_id)
    judge = run.version.judge
    taken = Taken(min(len(waiting), MOST_AT_ONCE) - len(refused), max(0, len(waiting) - MOST_AT_ONCE), refused)
    note(
        actor=actor,
        action="run.claims_taken",
        subject=judge.name,
        project=judge.project,
        run=run.pk,
        samples=taken.count,
    )
    return taken


def can_propose(version: JudgeVersion | None) -> bool:
    return version is not None and version.judge.kind == JudgeKind.LLM


def _check(version: JudgeVersion) -> None:
    if not can_propose(version):
        raise Invalid(
            "no_proposals", _("Only LLM judges propose claims: theirs is a model that can be asked anything.")
        )


def _take(proposal: Proposal, run: Run, actor: User) -> None:
    if proposal.state == SAME:
        return
    if not proposal.claims:
        raise Conflict("no_claims", _("There is no claim to take over."))
    try:
        edit_claims(
            actor=actor,
            project=run.version.judge.project,
            sample_id=proposal.sample.pk,
            change={"op": "replace", "claims": [claim["text"] for claim in proposal.claims]},
            expected_revision=proposal.revision,
        )
    except Stale as stale:
        raise Conflict("claims_changed", _("The claims were changed since these were proposed for them.")) from stale
