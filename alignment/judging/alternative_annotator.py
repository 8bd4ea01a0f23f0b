"""The alternative-annotator test: may the judge stand in for an annotator?

Of a person and the judge, who is closer to the other people? Item by item.
"""

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from alignment.base.arrays import Array, Bools, Floats, Ints, renumbered
from alignment.base.estimate import NO_LEVELS, NOT_NUMBERS, Estimate, Remark, remark
from alignment.base.interval import Kind, Plan
from alignment.base.ratings import Panel, Ratings, by_rater, panel
from alignment.base.significance import benjamini_yekutieli, p_mean_below
from alignment.base.totals import Totals, column_ratio, estimate, joint_mean, ratio

#: match: the share of the others who said the same. rmse: minus the root of the mean squared distance to them.
Scoring = Literal["match", "rmse"]

#: Distances that differ by less than this share of the values' range are equal: rounding decides nothing.
EQUAL = 1e-9


def scoring_refusal(ratings: Ratings, scoring: Scoring) -> Remark | None:
    """Why this scoring has no meaning on the scale, or None when it has; ValueError for an unknown one."""
    if scoring not in get_args(Scoring):
        raise ValueError(f"no scoring {scoring!r}; there are {', '.join(get_args(Scoring))}")
    if scoring == "match":
        return NO_LEVELS if ratings.levels is None else None
    return NOT_NUMBERS if ratings.levels is not None and ratings.level_numbers is None else None


def _wins(both: Panel, scoring: Scoring) -> tuple[Bools, Bools, Bools]:
    """For each rating of people, shape (ratings,): whether the judge, and whether the person, did as well or better by
    what the other people said of the unit; and where they are compared: the judge and at least one other person rated
    the unit too.
    """
    people = both.people
    if not len(people):
        return both.judged, both.judged, both.judged
    _, unit = np.unique(people.unit, return_inverse=True)
    others = np.bincount(unit)[unit] - 1
    judge, human = _matches(both, unit) if scoring == "match" else _nearness(both, unit, others)
    return judge >= human, human >= judge, both.judged & (others > 0)


def _matches(both: Panel, unit: Ints) -> tuple[Ints, Ints]:
    """How many others said what the judge said, and what the person said: whole numbers, so that ties are ties."""
    levels = len(both.people.levels or ())
    cells, said, count = np.unique(unit * levels + both.people.value, return_inverse=True, return_counts=True)
    asked = unit * levels + both.judge
    place = np.minimum(np.searchsorted(cells, asked), cells.size - 1)
    judge = np.where(cells[place] == asked, count[place], 0) - (both.judge == both.people.value)
    return judge, count[said] - 1


def _nearness(both: Panel, unit: Ints, others: Ints) -> tuple[Ints, Ints]:
    """1 where the judge, and where the person, is as near or nearer to the others' mean.

    The squared RMSE to the others is their variance plus the squared distance to their mean, and both share the former.
    """
    numbers = both.people.level_numbers
    own: Floats = both.people.value if numbers is None else numbers[both.people.value]
    judged: Floats = both.judge if numbers is None else numbers[both.judge]
    mean = (np.bincount(unit, weights=own)[unit] - own) / np.maximum(others, 1)
    judge_off, own_off = np.abs(judged - mean), np.abs(own - mean)
    slack = EQUAL * float(np.ptp(np.concatenate([own, judged])))
    return (judge_off <= own_off + slack).astype(np.int64), (own_off <= judge_off + slack).astype(np.int64)


MIN_ITEMS = 30
FALSE_DISCOVERIES = 0.05
PASSING = 0.5

NO_ITEMS = remark("no_shared_item")
NO_INTERVAL = remark("no_interval_of_tests")


@dataclass(frozen=True, slots=True)
class AnnotatorTest:
    """The judge in one annotator's place, on the items that the annotator, the judge and someone else rated.

    ``advantage`` is the share of items on which the judge does as well or better, ``difference`` the mean of
    W_human - W_judge. ``p`` takes items, ``p_clustered`` clusters for independent. With too few items p is None and
    ``rejected`` False; ``reason`` says so.
    """

    annotator: str
    n: int
    clusters: int
    advantage: Estimate
    difference: Estimate
    p: float | None
    p_clustered: float | None
    rejected: bool
    rejected_clustered: bool
    reason: Remark | None


@dataclass(frozen=True, slots=True)
class AlternativeAnnotatorTest:
    """The test over all annotators; ``passes`` is None when no annotator could be tested.

    ``winning_rate`` and ``passes`` are the paper's, from tests of items; the ``_clustered`` ones are from tests of
    clusters, and the ones to go by when items share clusters. Without sharing the two are the same.
    """

    annotators: list[AnnotatorTest]
    winning_rate: Estimate
    winning_rate_clustered: Estimate
    passes: bool | None
    passes_clustered: bool | None
    advantage: Estimate
    epsilon: float
    q: float


def alternative_annotator_test(
    ratings: Ratings,
    judge: str,
    epsilon: float,
    scoring: Scoring = "match",
    min_items: int = MIN_ITEMS,
    q: float = FALSE_DISCOVERIES,
    *,
    interval: Kind = "auto",
    rng: np.random.Generator | None = None,
    level: float = 0.95,
) -> AlternativeAnnotatorTest:
    """Compare the judge with each annotator by how well either meets the annotator's colleagues.

    ``ratings`` holds people and, as the rater named ``judge``, the judge. On an item rated by annotator j, the judge
    and at least one other person, S(x) is the share of the others who said x ("match") or -RMSE of x to the others
    ("rmse"). W_judge = [S(judge) ≥ S(j)], W_human = [S(j) ≥ S(judge)], d = W_human - W_judge. For each annotator with
    at least ``min_items`` items a one-sided t-test of mean d against ``epsilon``, the price of a human (.2 where
    annotators are experts, .15 skilled, .1 crowd): small p means that the judge loses on less than that share more
    often than it wins. Benjamini-Yekutieli at ``q`` over those annotators gives the winning rate ω, the share
    rejected; the judge passes when ω ≥ .5. The advantage probability ρ is the mean over them of mean W_judge.

    Items of one cluster resemble each other, so beside the paper's test stands the clustered one: the same t with
    the standard error √(C/(C-1) Σ_c ψ_c²), ψ_c = Σ_{i in c} (d_i - mean d)/n, and C - 1 degrees of freedom for C
    clusters. With every item its own cluster it is the paper's test.

    Undefined: no levels ("match"); values that are not numbers ("rmse"); no annotator with ``min_items`` items. When d
    doesn't vary, p is 0 or 1 by the side of ``epsilon`` on which it lies. ValueError: no such rater, no such scoring,
    an epsilon outside [0, 1).

    Source: Calderon, Reichart & Dror (2025), The alternative annotator test for LLM-as-a-judge, ACL.

    >>> rng = np.random.default_rng(1)
    >>> truth = rng.integers(2, size=60)
    >>> said = [np.where(rng.random(60) < right, truth, 1 - truth).tolist() for right in (0.8, 0.8, 0.8, 0.95)]
    >>> ratings = Ratings.from_columns(
    ...     list(range(60)) * 4, sum(([name] * 60 for name in ("ann", "bob", "cat", "judge")), []),
    ...     sum(said, []), list(range(60)) * 4, scale="binary", levels=[0, 1],
    ... )
    >>> test = alternative_annotator_test(ratings, "judge", 0.2, interval="none")
    >>> test.winning_rate.value, test.passes
    (1.0, True)
    """
    plan = Plan(interval, rng, level)
    if not 0 <= epsilon < 1:
        raise ValueError(f"epsilon lies in [0, 1), not {epsilon}")
    if min_items < 2:
        raise ValueError(f"a t-test needs at least 2 items, not {min_items}")
    refusal = scoring_refusal(ratings, scoring)
    rows, parts, units = [], [], []
    if refusal is None:
        both = panel(ratings, judge)
        by_judge, by_human, compared = _wins(both, scoring)
        for name, own in zip(both.people.raters, by_rater(both.people), strict=True):
            used = own[compared[own]]
            judge_wins, human_wins, cluster = by_judge[used], by_human[used], both.people.cluster[used]
            table = Totals.of_columns(cluster, np.stack([np.ones(used.size), judge_wins, human_wins]))
            difference = human_wins.astype(np.float64) - judge_wins
            rows.append(_row(name, table, difference, cluster, epsilon, min_items, plan))
            if rows[-1].p is not None:
                parts.append((table, renumbered(cluster)[0]))
                units.append(both.people.unit[used])
    n = renumbered(np.concatenate(units))[0].size if units else 0
    reason = refusal or remark("no_annotator_with_items", n=min_items)
    tested = [row for row in rows if row.p is not None]
    # An annotator whose items all lie in one cluster can't be tested by clusters, and doesn't lose to the judge.
    by_items, by_clusters = (
        benjamini_yekutieli(np.array([1.0 if p is None else p for p in column]), q)
        for column in ([row.p for row in tested], [row.p_clustered for row in tested])
    )
    rejected = {row.annotator: (bool(by_items[at]), bool(by_clusters[at])) for at, row in enumerate(tested)}
    over = f"over {len(tested)} of {len(rows)} annotators"
    name = f"advantage probability {over}"
    advantage = joint_mean(parts, _advantage, plan, name=name, n=n, undefined=reason, bounds=(0.0, 1.0))

    def rate(found: Bools, independent: str) -> Estimate:
        method = f"winning rate {over}, {independent} independent"
        if not tested:
            return Estimate.undefined(reason, method=method, level=level)
        return Estimate(float(found.mean()), None, None, level, n, advantage.clusters, method, NO_INTERVAL)

    return AlternativeAnnotatorTest(
        annotators=[
            replace(row, rejected=items, rejected_clustered=clusters)
            for row in rows
            for items, clusters in [rejected.get(row.annotator, (False, False))]
        ],
        winning_rate=rate(by_items, "items"),
        winning_rate_clustered=rate(by_clusters, "clusters"),
        passes=bool(by_items.mean() >= PASSING) if tested else None,
        passes_clustered=bool(by_clusters.mean() >= PASSING) if tested else None,
        advantage=advantage,
        epsilon=epsilon,
        q=q,
    )


def _row(
    annotator: str, table: Totals, difference: Floats, cluster: Ints, epsilon: float, min_items: int, plan: Plan
) -> AnnotatorTest:
    n = difference.size
    enough = n >= min_items
    advantage, lost = (
        estimate(table, statistic, plan, name=name, n=n, undefined=NO_ITEMS, bounds=(lowest, 1.0))
        for name, statistic, lowest in (
            ("advantage probability", _advantage, 0.0),
            ("share of items lost less share won", _difference, -1.0),
        )
    )
    return AnnotatorTest(
        annotator=annotator,
        n=n,
        clusters=table.rows,
        advantage=advantage,
        difference=lost,
        p=p_mean_below(difference, np.arange(n), epsilon) if enough else None,
        p_clustered=p_mean_below(difference, cluster, epsilon) if enough else None,
        rejected=False,
        rejected_clustered=False,
        reason=None if enough else remark("few_items", n=min_items),
    )


_advantage = column_ratio(1, 0)


def _difference(columns: Array) -> Array:
    return ratio(columns[..., 2] - columns[..., 1], columns[..., 0])
