"""What to label next: samples drawn with known chances, first to look at, then as a batch."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from annotate.batches.draws_read import unlabelled_samples
from annotate.batches.sample_choice import MAX_SEED
from annotate.core.errors import Invalid
from annotate.models import Batch, Criterion, User
from judges.selectors.scores import judge_scores
from judges.services.drawn_batch import make_drawn_batch, plan_of
from judges.services.split import sides_of

if TYPE_CHECKING:
    from alignment.report import Chance, JudgeScores, Proposal

DEFAULT_COUNT = 40
FEWEST_SAMPLES = 2
MOST_SAMPLES = 5000


@dataclass(frozen=True, slots=True)
class About:
    """The judge whose kappa labels should make surer, and what it measures."""

    judge: str
    dimension: str


@dataclass(frozen=True, slots=True)
class NextSamples:
    """A draw as it can be made now. ``frame``: how many samples it is made from. ``plan``: says the same only while
    the draw is the same, so that one confirms what one has seen."""

    proposal: Proposal
    frame: int
    seed: int
    plan: str

    @property
    def chosen(self) -> Mapping[str, Chance]:
        return self.proposal.chosen


def next_samples(
    *, criterion: Criterion, count: int, about: About | None = None, seed: int | None = None
) -> NextSamples:
    """The draw of so many unlabelled samples; nothing is stored.

    A seed is drawn when none is given. Raises Invalid for a number that can't be drawn and for a judge without scores.
    """
    # Here, not above: the statistics take a second to load, and most processes never count anything.
    from alignment.report import propose, reference_of
    from annotate.verdicts.evidence_read import evidence_of

    names = list(unlabelled_samples(criterion).values_list("external_id", flat=True))
    if not FEWEST_SAMPLES <= count <= min(len(names), MOST_SAMPLES):
        raise Invalid("bad_count", _cant_draw(count, len(names)))
    seed = random.SystemRandom().randint(0, MAX_SEED) if seed is None else seed
    judges, _failed = judge_scores(criterion)
    people = evidence_of(criterion)
    # A sample that was labelled since the last report has no side yet. It gets one there, not here: then it counts.
    sides = sides_of(criterion)
    is_dev = {sample: sides.get(sample, False) for sample in reference_of(people).strata()}
    evidence = replace(people, judges=judges, is_dev=is_dev)
    proposal = propose(evidence, names, count, seed=seed, about=_judge(judges, about))
    return NextSamples(proposal, len(names), seed, plan_of(proposal.chosen))


def make_next_batch(
    *,
    criterion: Criterion,
    count: int,
    about: About | None,
    seed: int,
    plan: str,
    name: str,
    annotators: Sequence[User],
    overlap: int,
    due_date: date | None = None,
    created_by: User | None = None,
) -> Batch:
    """A draft of the draw that was seen (services.drawn_batch)."""
    goal = "how people answer" if about is None else f"the kappa of {about.judge}"
    return make_drawn_batch(
        criterion=criterion,
        draw=lambda: next_samples(criterion=criterion, count=count, about=about, seed=seed),
        note=lambda found: (
            f"drawn with known chances from {found.frame} samples without labels on {criterion.key}, to be surer of "
            f"{goal[:200]}; seed of the draw {seed}"
        ),
        plan=plan,
        name=name,
        annotators=annotators,
        overlap=overlap,
        due_date=due_date,
        created_by=created_by,
    )


def _cant_draw(count: int, unlabelled: int) -> str:
    if unlabelled < FEWEST_SAMPLES:
        left = "is one sample" if unlabelled else "is no sample"
        return f"There {left} without labels that isn't waiting in a batch already: nothing to draw from."
    if count > unlabelled:
        return f"Only {unlabelled} samples have no labels and aren't waiting in a batch; {count} can't be drawn."
    return f"Draw from {FEWEST_SAMPLES} to {MOST_SAMPLES:,} samples at a time."


def _judge(judges: Sequence[JudgeScores], about: About | None) -> JudgeScores | None:
    if about is None:
        return None
    for one in judges:
        if (one.judge, one.dimension) == (about.judge, about.dimension):
            return one
    raise Invalid("unknown_judge", _("“%(judge)s” has no scores for this criterion.") % {"judge": about.judge[:80]})
