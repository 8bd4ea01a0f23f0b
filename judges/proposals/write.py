"""Runs in which a judge's model proposes the claims of answers, and taking these over, by the rules of every other
change of claims (annotate).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _

from annotate.core.errors import Conflict, Invalid, Refusal, Stale
from annotate.core.trail import note
from annotate.models import Sample, User
from annotate.samples.claims_read import claims_that_stay
from annotate.samples.claims_write import edit_claims
from judges.endpoints.calls import Model
from judges.kinds.base import Item, OneByOne, Outcome, Scored, Size
from judges.kinds.llm.judging import extract_claims, tokens_of
from judges.models import JudgeKind, JudgeVersion, Run, RunPurpose
from judges.proposals.read import SAME, UNTOUCHED, Proposal, one_proposal, proposals
from judges.runs.write import RequestKey, RunEstimate, estimate_run, start_run

# What is said of the task, and what a reply says beside the words of the answer.
_TASK, _FORM = 500, 100
# A judge's own limit is for one verdict; claims repeat the answer, once as claims and once as quotes.
_LEAST_TOKENS = 4096


class Proposing:
    """As judges.runs.purposes.Purpose, and what is asked, as judges.kinds.base.OneByOne. Of each sample one ask, about
    its answer."""

    brings_scores = False

    def __init__(self, run: Run) -> None:
        config = run.version.config
        self._config = {
            "model": config["model"],
            "temperature": config["temperature"],
            "max_tokens": max(_LEAST_TOKENS, config["max_tokens"]),
            "seed": config["seed"],
        }

    def to_ask(self, samples: Sequence[Sample]) -> list[tuple[int, str, int]]:
        """Those with an answer that doesn't abstain and whose claims may still change."""
        stay = claims_that_stay([sample.pk for sample in samples])
        answers = [sample for sample in samples if sample.answer is not None and not sample.abstained]
        return [(sample.pk, "answer", 0) for sample in answers if sample.pk not in stay]

    def size(self, sample: Sample) -> Size:
        answer = tokens_of(sample.answer or "")
        return Size(requests=1, tokens_in=_TASK + tokens_of(sample.question) + answer, tokens_out=_FORM + 2 * answer)

    def open(self) -> AbstractContextManager[OneByOne]:
        return nullcontext(self)

    def ask(self, item: Item, model: Model) -> Outcome:
        claims = extract_claims(item.sample, self._config, model)
        return Outcome([], found={"claims": claims, "revision": item.sample.claims_revision})

    def wanted(self, unit: str, sample: Sample) -> list[tuple[str, str]]:
        return []

    def item(self, sample: Sample, unit: str, repeat: int) -> Item:
        return Item(sample=sample, unit=unit)

    def outcome(self, scores: Sequence[Scored], found: Any) -> Any:
        """{"claims": [{"text", "start", "end"}], "revision": of the sample's claims then}; None when it failed."""
        return found


# In one go; for more the caller asks again.
MOST_AT_ONCE = 200


def propose_claims(
    *,
    version: JudgeVersion,
    scope: Any,
    budget: Decimal | None = None,
    actor: User | None = None,
    key: RequestKey | None = None,
) -> Run:
    """Asks the model of an LLM judge for the claims of each answer in the scope whose claims may still change. Nothing
    changes until a person takes a proposal over.

    Raises Invalid for another judge, and as `start_run`.
    """
    _check(version)
    return start_run(version=version, scope=scope, purpose=RunPurpose.CLAIMS, budget=budget, actor=actor, key=key)


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
        raise Invalid("no_proposals", _("Only LLM judges can propose claims."))


def _take(proposal: Proposal, run: Run, actor: User) -> None:
    if proposal.state == SAME:
        return
    if not proposal.claims:
        raise Conflict("no_claims", _("No claims to accept."))
    try:
        edit_claims(
            actor=actor,
            project=run.version.judge.project,
            sample_id=proposal.sample.pk,
            change={"op": "replace", "claims": [claim["text"] for claim in proposal.claims]},
            expected_revision=proposal.revision,
        )
    except Stale as stale:
        raise Conflict("claims_changed", _("The claims have changed since this proposal.")) from stale
