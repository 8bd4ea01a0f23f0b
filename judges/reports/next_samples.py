"""What to label next: samples drawn with known chances, first to look at, then as a batch.

A batch from a judge's outcomes: what it fails, and some of what it passes, so that people see both of its errors.

A batch of a draw that somebody has seen: made only while the draw is still the same.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Protocol, TypeVar

from django.db import transaction
from django.utils.translation import gettext as _

import alignment
from annotate.batches.draws_read import unlabelled_samples
from annotate.batches.sample_choice import MAX_SEED
from annotate.batches.write import create_batch
from annotate.core.blindness import SYSTEM
from annotate.core.errors import Conflict, Invalid
from annotate.models import Batch, Criterion, Project, User
from annotate.samples.read import unit_counts
from annotate.verdicts.evidence_read import evidence_of
from judges.core.scores_read import judge_scores
from judges.core.split import sides_of


class Draw(Protocol):
    """Samples drawn with known chances. plan: `plan_of` them."""

    @property
    def chosen(self) -> Mapping[str, alignment.report.Chance]: ...

    @property
    def plan(self) -> str: ...


D = TypeVar("D", bound=Draw)


def plan_of(chosen: Mapping[str, alignment.report.Chance]) -> str:
    """Says the same only while the draw is the same, so that one confirms what one has seen."""
    return hashlib.sha256(json.dumps(sorted(chosen.items())).encode()).hexdigest()[:32]


def make_drawn_batch(
    *,
    criterion: Criterion,
    draw: Callable[[], D],
    note: Callable[[D], str],
    plan: str,
    name: str,
    annotators: Sequence[User],
    overlap: int,
    due_date: date | None,
    created_by: User | None,
) -> Batch:
    """A draft in which each sample keeps its chance and its stratum. note: why these samples, kept with the batch.

    Raises Conflict when labels, scores, or samples have changed since, so that the draw is another one now.
    """
    with transaction.atomic():
        # Two draws at once would take the same samples for unlabelled.
        Project.objects.select_for_update().get(pk=criterion.project_id)
        found = draw()
        if found.plan != plan:
            raise Conflict(
                "other_draw",
                _("Labels, scores or samples have changed since you saw this draw. Here is what it is now."),
            )
        return create_batch(
            project=criterion.project,
            name=name,
            criteria=[criterion],
            annotators=annotators,
            overlap=overlap,
            selection={"method": "list", "samples": list(found.chosen), "note": note(found)},
            due_date=due_date,
            created_by=created_by,
            chances={name: (one.probability, one.stratum) for name, one in found.chosen.items()},
        )


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

    proposal: alignment.report.Proposal
    frame: int
    seed: int
    plan: str

    @property
    def chosen(self) -> Mapping[str, alignment.report.Chance]:
        return self.proposal.chosen


def next_samples(
    *, criterion: Criterion, count: int, about: About | None = None, seed: int | None = None
) -> NextSamples:
    """The draw of so many unlabelled samples; nothing is stored.

    A seed is drawn when none is given. Raises Invalid for a number that can't be drawn and for a judge without scores.
    """
    names = list(unlabelled_samples(criterion).values_list("external_id", flat=True))
    if not FEWEST_SAMPLES <= count <= min(len(names), MOST_SAMPLES):
        raise Invalid("bad_count", _cant_draw(count, len(names)))
    seed = random.SystemRandom().randint(0, MAX_SEED) if seed is None else seed
    judges, _failed = judge_scores(criterion, reader=SYSTEM)
    people = evidence_of(criterion, reader=SYSTEM)
    # A sample that was labelled since the last report has no side yet. It gets one there, not here: then it counts.
    sides = sides_of(criterion)
    is_dev = {sample: sides.get(sample, False) for sample in alignment.report.reference_of(people).strata()}
    evidence = replace(people, judges=judges, is_dev=is_dev)
    proposal = alignment.report.propose(evidence, names, count, seed=seed, about=_judge(judges, about))
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


def _judge(judges: Sequence[alignment.report.JudgeScores], about: About | None) -> alignment.report.JudgeScores | None:
    if about is None:
        return None
    for one in judges:
        if (one.judge, one.dimension) == (about.judge, about.dimension):
            return one
    raise Invalid("unknown_judge", _("“%(judge)s” has no scores for this criterion.") % {"judge": about.judge[:80]})


@dataclass(frozen=True, slots=True)
class Shares:
    """Which part of the samples of each outcome goes to people: above 0, so that none is without a chance, up to 1."""

    fails: float = 1.0
    passes: float = 0.2
    unscored: float = 1.0


@dataclass(frozen=True, slots=True)
class OutcomeQueue:
    """A draw as it can be made now. ``frame``: how many samples it is made from. ``plan``: says the same only while
    the draw is the same, so that one confirms what one has seen."""

    draw: alignment.report.OutcomeDraw
    frame: int
    seed: int
    plan: str

    @property
    def chosen(self) -> Mapping[str, alignment.report.Chance]:
        return self.draw.chosen


def outcome_queue(
    *, criterion: Criterion, about: About, threshold: float | None, shares: Shares, seed: int | None = None
) -> OutcomeQueue:
    """The draw from the samples that nobody has labelled; nothing is stored.

    threshold: from which score on a sample's unit passes (up to which, where lower is better); None for a judge that
    answers with labels. Raises Invalid for a judge without scores, a missing threshold, shares, and an empty draw.
    """
    _check(shares)
    said = _said(criterion, about)
    if said.numbers and (threshold is None or not math.isfinite(threshold)):
        raise Invalid("no_threshold", _("This judge gives numbers: say from which score on it passes."))
    if said.labels and not criterion.passes:
        raise Invalid("no_passes", _("“%(key)s” has no values that count as pass.") % {"key": criterion.key})
    names = list(unlabelled_samples(criterion).values_list("external_id", flat=True))
    if not names:
        raise Invalid("no_samples", _("Every sample has labels on this criterion, or waits in a batch."))
    seed = random.SystemRandom().randint(0, MAX_SEED) if seed is None else seed
    outcomes = alignment.report.outcomes_of(
        said, passes=criterion.passes, threshold=threshold, samples=names, sizes=unit_counts(criterion, names)
    )
    found = alignment.report.draw_by_outcome(
        outcomes, {"fail": shares.fails, "pass": shares.passes, "no score": shares.unscored}, seed=seed
    )
    if len(found.chosen) > MOST_SAMPLES:
        raise Invalid(
            "too_many",
            _("That would be %(n)d samples; a draw has %(most)d at most. Lower the shares.")
            % {"n": len(found.chosen), "most": MOST_SAMPLES},
        )
    return OutcomeQueue(found, len(names), seed, plan_of(found.chosen))


def make_outcome_batch(
    *,
    criterion: Criterion,
    about: About,
    threshold: float | None,
    shares: Shares,
    seed: int,
    plan: str,
    name: str,
    annotators: Sequence[User],
    overlap: int,
    due_date: date | None = None,
    created_by: User | None = None,
) -> Batch:
    """A draft of the draw that was seen (services.drawn_batch); its strata are the outcomes."""

    def note(found: OutcomeQueue) -> str:
        groups = ", ".join(f"{group.drawn} of {group.samples} {group.outcome}" for group in found.draw.groups)
        return f"drawn by the outcomes of {about.judge[:200]}: {groups}; seed of the draw {seed}"

    return make_drawn_batch(
        criterion=criterion,
        draw=lambda: outcome_queue(criterion=criterion, about=about, threshold=threshold, shares=shares, seed=seed),
        note=note,
        plan=plan,
        name=name,
        annotators=annotators,
        overlap=overlap,
        due_date=due_date,
        created_by=created_by,
    )


def _check(shares: Shares) -> None:
    for name in ("fails", "passes", "unscored"):
        share = getattr(shares, name)
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1:
            raise Invalid(
                "bad_share",
                _("%(name)s: a share above 0 and up to 1. Without a chance, samples can't be spoken for.")
                % {"name": name},
            )


def _said(criterion: Criterion, about: About) -> alignment.report.JudgeScores:
    current, _earlier = judge_scores(criterion, about.judge, reader=SYSTEM)
    for one in current:
        if one.dimension == about.dimension:
            return one
    raise Invalid("unknown_judge", _("“%(judge)s” has no scores for this criterion.") % {"judge": about.judge[:80]})
