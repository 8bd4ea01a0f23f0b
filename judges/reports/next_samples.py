"""What to label next: samples drawn with known chances, first to look at, then as a batch.

A draw goes by what a label is worth (`next_samples`), or by the outcomes of a judge: what it fails, and some of what it
passes, so that people see both of its errors (`outcome_queue`). A batch is made of a draw that was seen, and only while
the draw is still the same (`make_drawn_batch`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Final, Generic, TypeVar

from django.db import transaction
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

import alignment
from annotate.batches.draws_read import unlabelled_samples
from annotate.batches.sample_choice import new_seed
from annotate.batches.write import create_batch
from annotate.core.blindness import SYSTEM, Reader, require_figures_of_many, samples_without_judges
from annotate.core.errors import Conflict, Invalid
from annotate.models import Batch, Criterion, Project, User
from annotate.samples.read import groups_of, unit_counts
from annotate.verdicts.evidence_read import evidence_of
from judges.core.locked_read import locked_keys
from judges.core.scores_read import judge_scores
from judges.core.split import on_test, sides_of
from judges.reports.evidence import open_evidence

DEFAULT_COUNT = 40
FEWEST_SAMPLES = 2
MOST_SAMPLES = 5000
_PLAN = "judges.reports.next_samples"


@dataclass(frozen=True, slots=True)
class About:
    """The judge whose kappa labels should make surer, and what it measures."""

    judge: str
    dimension: str


Found = TypeVar("Found", "alignment.report.Proposal", "alignment.report.OutcomeDraw")


@dataclass(frozen=True, slots=True)
class Draw(Generic[Found]):
    """Samples drawn with known chances, as it can be done now. ``frame``: how many samples they are drawn from.
    ``note``: why these, for the batch. ``held_back``: those that the reader must not be named, since the draw says what
    a judge said of one of them: all or none, as a sample's place among those drawn says which others there are."""

    found: Found
    frame: int
    seed: int
    note: str
    held_back: Collection[str]

    @property
    def chosen(self) -> Mapping[str, alignment.report.Chance]:
        return self.found.chosen

    @property
    def plan(self) -> str:
        """Says the same only while the draw is the same, so that one confirms what one has seen. With the server's
        key: else who knows the names of all samples could try which of them give this."""
        return salted_hmac(_PLAN, json.dumps(sorted(self.chosen.items())), algorithm="sha256").hexdigest()[:32]


def make_drawn_batch(
    draw: Callable[..., Draw[Any]],
    *,
    criterion: Criterion,
    seed: int | None,
    plan: str,
    name: str,
    annotators: Sequence[User],
    overlap: int,
    due_date: date | None = None,
    created_by: User | None = None,
    **asked: Any,
) -> Batch:
    """A draft of the draw that was seen, in which each sample keeps its chance and its stratum. draw: `next_samples` or
    `outcome_queue`; seed, plan: of the draw that was seen; asked: what else it was asked with.

    Raises Conflict when labels, scores, or samples have changed since, so that the draw is another one now.
    """
    with transaction.atomic():
        # Two draws at once would take the same samples for unlabelled.
        Project.objects.select_for_update(no_key=True).get(pk=criterion.project_id)
        found = draw(criterion=criterion, seed=seed, reader=created_by or SYSTEM, **asked)
        if found.plan != plan:
            raise Conflict(
                "other_draw",
                _("Labels, scores or samples have changed since this draw. It has been updated."),
            )
        return create_batch(
            project=criterion.project,
            name=name,
            criteria=[criterion],
            annotators=annotators,
            overlap=overlap,
            selection={"method": "list", "samples": list(found.chosen), "note": found.note},
            due_date=due_date,
            created_by=created_by,
            chances={name: (one.probability, one.stratum) for name, one in found.chosen.items()},
        )


def next_samples(
    *, criterion: Criterion, count: int, about: About | None = None, seed: int | None = None, reader: Reader
) -> Draw[alignment.report.Proposal]:
    """The draw of `count` unlabelled samples; nothing is stored.

    A seed is drawn when none is given. Raises Invalid for a number that can't be drawn and for a judge without scores,
    and Conflict when its strata would tell the reader too much of single samples.
    """
    keys = _unlabelled(criterion)
    names = list(keys)
    if not FEWEST_SAMPLES <= count <= min(len(names), MOST_SAMPLES):
        raise Invalid("bad_count", _cant_draw(count, len(names)))
    seed = new_seed() if seed is None else seed
    judges, _failed = judge_scores(criterion, reader=SYSTEM)
    people = evidence_of(criterion, reader=SYSTEM)
    # A sample that was labelled since the last report has no side yet. It gets one there, not here: then it counts.
    strata = alignment.report.reference_of(people).strata()
    is_dev = dict.fromkeys(strata, False) | sides_of(criterion, strata.keys())
    groups = groups_of(criterion.project, strata.keys())
    judges = [_open(criterion, one, keys) for one in judges]
    evidence = open_evidence(criterion, replace(people, judges=judges, is_dev=is_dev, groups=groups))
    judge = None if about is None else _scores_of(about, evidence.judges)
    proposal = alignment.report.propose(evidence, names, count, seed=seed, about=judge)
    # What a stratum tells is between which ranks scores lie.
    ranks = [one for stratum in proposal.strata if stratum.score is not None for one in stratum.score]
    require_figures_of_many(reader, keys.values(), ranks)
    goal = "how people answer" if about is None else f"the kappa of {about.judge}"
    note = (
        f"drawn with known chances from {len(names)} samples without labels on {criterion.key}, to be surer of "
        f"{goal[:200]}; seed of the draw {seed}"
    )
    return Draw(proposal, len(names), seed, note, _held_back(reader, keys))


def _unlabelled(criterion: Criterion) -> dict[str, int]:
    """Their own ids, and their primary keys."""
    return dict(unlabelled_samples(criterion).values_list("external_id", "pk"))


def _open(
    criterion: Criterion, said: alignment.report.JudgeScores, keys: Mapping[str, int]
) -> alignment.report.JudgeScores:
    """Without what nobody may know of these samples, as to be drawn tells it: without labels that count some are closed
    as well, for an earlier version of the criterion, or for another one."""
    closed = on_test(criterion, keys)
    if said.dimension != criterion.key:
        locked = locked_keys(criterion.project, keys.values())
        closed |= {name for name, key in keys.items() if locked.get(key, set()) - {criterion.key}}
    return said.without(closed)


def _held_back(reader: Reader, keys: Mapping[str, int]) -> set[str]:
    return set(keys) if samples_without_judges(reader, keys.values()) else set()


def _cant_draw(count: int, unlabelled: int) -> str:
    if unlabelled < FEWEST_SAMPLES:
        left = "is one sample" if unlabelled else "is no sample"
        return f"There {left} without labels that isn't waiting in a batch already: nothing to draw from."
    if count > unlabelled:
        return f"Only {unlabelled} samples have no labels and aren't waiting in a batch; {count} can't be drawn."
    return f"Draw from {FEWEST_SAMPLES} to {MOST_SAMPLES:,} samples at a time."


def _scores_of(about: About, judges: Sequence[alignment.report.JudgeScores]) -> alignment.report.JudgeScores:
    for one in judges:
        if (one.judge, one.dimension) == (about.judge, about.dimension):
            return one
    raise Invalid("unknown_judge", _("“%(judge)s” has no scores for this criterion.") % {"judge": about.judge[:80]})


NO_SCORE: Final = "no score"


@dataclass(frozen=True, slots=True)
class Shares:
    """Which part of the samples of each outcome goes to people: above 0, so that none is without a chance, up to 1."""

    fails: float = 1.0
    passes: float = 0.2
    unscored: float = 1.0


def outcome_queue(
    *,
    criterion: Criterion,
    about: About,
    threshold: float | None,
    shares: Shares,
    seed: int | None = None,
    reader: Reader,
) -> Draw[alignment.report.OutcomeDraw]:
    """The draw from the samples that no person has labelled; nothing is stored.

    threshold: from which score on a sample's unit passes (up to which, where lower is better); None for a judge that
    answers with labels. Raises Invalid for a judge without scores, a missing threshold, shares, and an empty draw, and
    Conflict when its counts would tell the reader the outcome of single samples.
    """
    _check(shares)
    keys = _unlabelled(criterion)
    names = list(keys)
    judges, _failed = judge_scores(criterion, about.judge, reader=SYSTEM)
    said = _open(criterion, _scores_of(about, judges), keys)
    if said.numbers and (threshold is None or not math.isfinite(threshold)):
        raise Invalid("no_threshold", _("This judge gives numbers. Specify its pass threshold."))
    if said.labels and not criterion.passes:
        raise Invalid("no_passes", _("“%(key)s” has no passing values.") % {"key": criterion.key})
    if not names:
        raise Invalid("no_samples", _("All samples have labels on this criterion or are in a batch."))
    seed = new_seed() if seed is None else seed
    outcomes = alignment.report.outcomes_of(
        said, passes=criterion.passes, threshold=threshold, samples=names, sizes=unit_counts(criterion, names)
    )
    scored = {name: one for name, one in outcomes.items() if one != NO_SCORE}
    require_figures_of_many(reader, [keys[name] for name in scored], scored.values())
    found = alignment.report.draw_by_outcome(
        outcomes, {"fail": shares.fails, "pass": shares.passes, NO_SCORE: shares.unscored}, seed=seed
    )
    if len(found.chosen) > MOST_SAMPLES:
        raise Invalid(
            "too_many",
            _("This draw has %(n)d samples; the limit is %(most)d. Lower the shares.")
            % {"n": len(found.chosen), "most": MOST_SAMPLES},
        )
    groups = ", ".join(f"{group.drawn} of {group.samples} {group.outcome}" for group in found.groups)
    note = f"drawn by the outcomes of {about.judge[:200]}: {groups}; seed of the draw {seed}"
    return Draw(found, len(names), seed, note, _held_back(reader, keys))


def _check(shares: Shares) -> None:
    for name in ("fails", "passes", "unscored"):
        share = getattr(shares, name)
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1:
            raise Invalid(
                "bad_share",
                _("%(name)s: must be a share above 0 and at most 1.") % {"name": name},
            )
