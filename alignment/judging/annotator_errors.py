"""How often each annotator errs: against gold labels, or against what the other annotators agree on."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from alignment.agreement.with_others import has_company
from alignment.base.arrays import Ints
from alignment.base.estimate import NO_MAJORITY, NO_PAIRS, Estimate, Remark, remark
from alignment.base.interval import Kind, Plan
from alignment.base.ratings import Ratings, by_rater, panel
from alignment.base.tables import FN, FP, TN, TP
from alignment.base.totals import Totals, share_of_columns
from alignment.consensus.majority import TIE, rest_label
from alignment.judging.reference import passing_ratings

Against = Literal["gold", "the others' majority"]

NO_GOLD = remark("no_gold")


@dataclass(frozen=True, slots=True)
class AnnotatorErrors:
    """One annotator against the reference on ``n`` units, or all of them together (``annotator`` is None).

    ``ties`` counts units left out because the others had no majority. ``tpr`` is the share passed of what the
    reference passes, ``tnr`` the share failed of what it fails.
    """

    annotator: str | None
    n: int
    ties: int
    tpr: Estimate
    tnr: Estimate
    accuracy: Estimate


@dataclass(frozen=True, slots=True)
class HumanErrors:
    """Every annotator, and all their labels together."""

    against: Against
    annotators: list[AnnotatorErrors]
    together: AnnotatorErrors


def annotator_errors(
    ratings: Ratings,
    passes: Sequence[Hashable],
    gold: str | None = None,
    *,
    annotators: Sequence[str] | None = None,
    interval: Kind = "auto",
    rng: np.random.Generator | None = None,
    level: float = 0.95,
) -> HumanErrors:
    """Each annotator's TPR, TNR and accuracy on pass and fail.

    ``passes`` are the levels that pass. With ``gold``, the name of a rater whose labels are taken for true, against
    these; else against the majority of the other annotators of the unit, leaving the annotator out, ties left out.
    The others err too, so without gold these are rates of dissent rather than of error: they make a careful annotator
    among careless ones look careless. ``ratings`` holds people only (and gold), no judge. ``annotators``: whom to
    report, all unless given.

    Undefined: no unit with two ratings (or with gold and another): single labels say nothing on errors; a rate
    without units in its denominator. ValueError: a scale without levels, a pass that is no level, no such rater.

    >>> ratings = Ratings.from_columns(
    ...     [1, 2, 3, 4] * 3, ["ann"] * 4 + ["bob"] * 4 + ["cat"] * 4, "ppff" + "ppff" + "pfff", [1, 2, 3, 4] * 3,
    ...     scale="binary", levels="fp",
    ... )
    >>> errors = annotator_errors(ratings, "p", interval="none")
    >>> [(row.annotator, row.n, row.ties, row.accuracy.value) for row in errors.annotators]
    [('ann', 3, 1, 1.0), ('bob', 3, 1, 1.0), ('cat', 4, 0, 0.75)]
    """
    plan = Plan(interval, rng, level)
    binary = pass_or_fail(ratings, passes)
    if gold is None:
        people, reference, compared = binary, rest_label(binary), has_company(binary)
    else:
        both = panel(binary, gold)
        people, reference, compared = both.people, both.judge, both.judged

    def row(name: str | None, own: Ints) -> AnnotatorErrors:
        met = own[compared[own]]
        used = met[reference[met] != TIE]
        cells = 2 * reference[used] + people.value[used]
        table = Totals.of(people.cluster[used], cells, np.ones(used.size), 4)
        alone = NO_PAIRS if gold is None else NO_GOLD
        reason = NO_MAJORITY if met.size and not used.size else alone

        def rate(called: str, hits: list[int], trials: list[int], none: Remark) -> Estimate:
            undefined = none if used.size else reason
            return share_of_columns(table, hits, trials, plan, name=f"{called} against {against}", undefined=undefined)

        return AnnotatorErrors(
            annotator=name,
            n=used.size,
            ties=met.size - used.size,
            tpr=rate("true positive rate", [TP], [FN, TP], remark("reference_passes_none")),
            tnr=rate("true negative rate", [TN], [TN, FP], remark("reference_fails_none")),
            accuracy=rate("accuracy", [TN, TP], [TN, FP, FN, TP], reason),
        )

    against: Against = "the others' majority" if gold is None else "gold"
    own = by_rater(people)
    asked = people.raters if annotators is None else annotators
    return HumanErrors(
        against=against,
        annotators=[row(name, own[people.rater_code(name)]) for name in asked],
        together=row(None, np.arange(len(people))),
    )


def pass_or_fail(ratings: Ratings, passes: Sequence[Hashable]) -> Ratings:
    """The ratings as 1 (pass) and 0 (fail)."""
    passing = passing_ratings(ratings, passes).astype(np.int64)
    return replace(ratings, value=passing, levels=(False, True), scale="binary")
