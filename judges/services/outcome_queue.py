"""A batch from a judge's outcomes: what it fails, and some of what it passes, so that people see both of its errors."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from annotate.batches.draws_read import unlabelled_samples
from annotate.batches.sample_choice import MAX_SEED
from annotate.core.errors import Invalid
from annotate.models import Batch, Criterion, User
from annotate.samples.read import unit_counts
from judges.selectors.scores import judge_scores
from judges.services.drawn_batch import make_drawn_batch, plan_of
from judges.services.next_samples import MOST_SAMPLES, About

if TYPE_CHECKING:
    from alignment.report import Chance, JudgeScores, OutcomeDraw


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

    draw: OutcomeDraw
    frame: int
    seed: int
    plan: str

    @property
    def chosen(self) -> Mapping[str, Chance]:
        return self.draw.chosen


def outcome_queue(
    *, criterion: Criterion, about: About, threshold: float | None, shares: Shares, seed: int | None = None
) -> OutcomeQueue:
    """The draw from the samples that nobody has labelled; nothing is stored.

    threshold: from which score on a sample's unit passes (up to which, where lower is better); None for a judge that
    answers with labels. Raises Invalid for a judge without scores, a missing threshold, shares, and an empty draw.
    """
    # Here, not above: the statistics take a second to load, and most processes never count anything.
    from alignment.report import draw_by_outcome, outcomes_of

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
    outcomes = outcomes_of(
        said, passes=criterion.passes, threshold=threshold, samples=names, sizes=unit_counts(criterion, names)
    )
    found = draw_by_outcome(
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


def _said(criterion: Criterion, about: About) -> JudgeScores:
    current, _earlier = judge_scores(criterion, about.judge)
    for one in current:
        if one.dimension == about.dimension:
            return one
    raise Invalid("unknown_judge", _("“%(judge)s” has no scores for this criterion.") % {"judge": about.judge[:80]})
