"""How good the judge would look against the truth, since the people it is compared with err too. For pass and fail.

How often a single person errs follows from gold labels, or from how often people disagree.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, get_args

import numpy as np
from scipy.special import comb

from alignment.base import tables as binary
from alignment.base.arrays import Array, Floats, Ints
from alignment.base.estimate import NO_PAIRS, NO_UNITS, Estimate, Remark, remark
from alignment.base.interval import Kind, Plan
from alignment.base.ratings import Ratings, panel
from alignment.base.tables import unit_runs
from alignment.base.totals import Statistic, Totals, estimate, ratio
from alignment.consensus.majority import TIE, consensus_labels
from alignment.judging.annotator_errors import NO_GOLD, pass_or_fail
from alignment.judging.threshold import ThresholdResult, at_threshold

Model = Literal["gold", "one rate", "two rates"]

#: Fewer units with gold or overlap say too little on people's errors.
MIN_UNITS = 10
#: Columns that every model uses; those with fewer leave some empty.
SIZE = 4

NO_TRIPLES = remark("no_triples")


class Evidence(NamedTuple):
    """What people's error rates rest on, as entries of ``SIZE`` columns by cluster; ``n`` counts the units.

    "gold": confusion cells tn, fp, fn, tp of people's labels with gold. "one rate": the share of a unit's pairs that
    agree, and units with pairs. "two rates": units with three ratings, and the shares of their single ratings, pairs
    and triples that all pass.
    """

    cluster: Ints
    column: Ints
    amount: Floats
    n: int
    none: Remark


def evidence(people: Ratings, gold: str | None, model: Model) -> Evidence:
    """The entries for a model, from ratings that are 1 for pass and 0 for fail, those of ``gold`` among them."""
    if gold is not None:
        both = panel(people, gold)
        judged = both.judged
        column = 2 * both.judge[judged] + both.people.value[judged]
        n = np.unique(both.people.unit[judged]).size
        return Evidence(both.people.cluster[judged], column, np.ones(column.size), n, NO_GOLD)
    unit, starts = unit_runs(people)
    size = np.bincount(unit, minlength=starts.size)
    least = 2 if model == "one rate" else 3
    used = np.flatnonzero(size >= least)
    m, passed = size[used], np.bincount(unit, weights=people.value, minlength=starts.size)[used]
    failed = m - passed
    if model == "one rate":
        columns = [(passed * (passed - 1) + failed * (failed - 1)) / (m * (m - 1)), np.ones(used.size)]
    else:
        pairs = passed * (passed - 1) / (m * (m - 1))
        columns = [np.ones(used.size), passed / m, pairs, pairs * (passed - 2) / (m - 2)]
    return Evidence(
        cluster=np.tile(people.cluster[starts[used]], len(columns)),
        column=np.repeat(np.arange(len(columns)), used.size),
        amount=np.concatenate(columns),
        n=used.size,
        none=NO_PAIRS if model == "one rate" else NO_TRIPLES,
    )


def human_rates(columns: Array, model: Model) -> tuple[Array, Array]:
    """One person's TPR and TNR from column sums (..., SIZE); NaN where the model doesn't fit them."""
    if model == "gold":
        return binary.tpr(columns), binary.tnr(columns)
    if model == "one rate":
        # Two people disagree with chance d = 2e(1 - e).
        right = (1 + _root(2 * ratio(columns[..., 0], columns[..., 1]) - 1)) / 2
        return right, right
    one, two, three = (ratio(columns[..., k], columns[..., 0]) for k in (1, 2, 3))
    # The chance of a pass is TPR on passes and 1 - TNR on fails: a mixture of two points, found from its moments.
    total = ratio(three - one * two, two - one**2)
    product = total * one - two
    half = _root(total**2 / 4 - product)
    return total / 2 + half, 1 - (total / 2 - half)


def _root(square: Array) -> Array:
    """Square root, NaN where the number is not positive."""
    return np.sqrt(np.where(square.real > 0, square, np.nan))


#: Stands for the number of people behind a gold label.
GOLD = 0

CHANCE = remark("people_near_chance")
ALL_PASSES = remark("errors_explain_passes")
ALL_FAILS = remark("errors_explain_fails")

NOT_INDEPENDENT = remark("errors_not_independent")


@dataclass(frozen=True, eq=False, slots=True)
class JudgeUnderNoise:
    """The judge against people as they are (``observed``) and, as ``model`` assumes, against the truth (the others).

    "gold": gold labels are true. "one rate": all people err equally often, on passes as on fails. "two rates": with one
    rate on passes and one on fails. Always: people err independently of each other and of the judge.

    ``human_tpr`` and ``human_tnr`` are of a single person's label against the truth. ``observed`` is None when the
    judge shares no decided unit with people.
    """

    model: Model
    human_tpr: Estimate
    human_tnr: Estimate
    observed: ThresholdResult | None
    tpr: Estimate
    tnr: Estimate
    accuracy: Estimate


def judge_under_noise(
    ratings: Ratings,
    judge: str,
    passes: Sequence[Hashable],
    model: Model,
    gold: str | None = None,
    *,
    interval: Kind = "auto",
    rng: np.random.Generator | None = None,
    level: float = 0.95,
) -> JudgeUnderNoise:
    """What the judge's TPR, TNR and accuracy would be against the truth, were people's errors independent of its own.

    ``ratings`` holds people and, as the raters so named, the judge and perhaps ``gold``. The reference of a unit is
    its gold label, else the majority of its people, ties left out. People's rates a = TPR and b = TNR come from

    * "gold": people's labels against gold;
    * "one rate": a = b = 1 - e, where two people disagree with probability d = 2e(1 - e), so e = (1 - √(1 - 2d))/2;
    * "two rates": from units with three people. With M_k the chance that k people of a unit all pass it, a and 1 - b
      are the roots of x² - sx + (s M_1 - M_2), s = (M_3 - M_1 M_2)/(M_2 - M_1²).

    A majority of m people has the rates that m independent people give, without ties; gold has none but the truth.
    With reference rates A, B, judge's passes among n units j, and so on, the units passed by judge and truth are
    x = (n(judge and reference pass) - (1 - B) j)/(A + B - 1), those truly passed p = (n(reference passes) - (1 - B) n)
    /(A + B - 1), likewise y for fails; summed over the m that occur, TPR = x/p, TNR = y/(n - p), accuracy = (x + y)/n,
    cut to [0, 1]. The interval carries the luck of both, people's errors and the judge's.

    Undefined: no unit with two labels (with gold and another; with three), or fewer than 10 of them; people no better
    than chance, a + b - 1 ≤ 0 at the low end of its interval; no unit with judge and reference; all passes or fails
    explained by people's errors; an interval wholly beyond [0, 1], which independent errors can't give. ValueError: as
    ``annotator_errors``; "gold" without gold and the reverse.

    Source: Rogan & Gladen (1978), Am. J. Epidemiol. 107; Gart & Buck (1966), Am. J. Epidemiol. 83, for an imperfect
    reference; the moments of a mixture of two: Blischke (1964), J. Am. Stat. Assoc. 59.

    >>> rng = np.random.default_rng(3)
    >>> truth = rng.integers(2, size=4000)
    >>> names = ("ann", "bob", "judge")
    >>> said = [np.where(rng.random(4000) < 0.9, truth, 1 - truth) for _ in names]
    >>> ratings = Ratings(
    ...     np.tile(np.arange(4000), 3), np.repeat([0, 1, 2], 4000), np.concatenate(said), np.tile(np.arange(4000), 3),
    ...     (0, 1), "binary", names,
    ... )
    >>> line = judge_under_noise(ratings, "judge", [1], "one rate", interval="influence")
    >>> round(line.human_tpr.value, 2), round(line.observed.accuracy.value, 2), round(line.accuracy.value, 2)
    (0.9, 0.9, 0.91)
    """
    everyone = pass_or_fail(ratings, passes)
    people = everyone.select_raters([name for name in ratings.raters if name != judge])
    said = everyone.select_raters([judge])
    (found,) = judge_under_models(people, said, [model], gold, interval=interval, rng=rng, level=level)
    return found


def judge_under_models(
    people: Ratings,
    said: Ratings,
    models: Sequence[Model],
    gold: str | None = None,
    *,
    interval: Kind = "auto",
    rng: np.random.Generator | None = None,
    level: float = 0.95,
) -> list[JudgeUnderNoise]:
    """As ``judge_under_noise`` by each model; what they have in common is worked out once. people (gold among them) and
    what the judge ``said``: apart, both as pass (1) and fail (0), with the same codes of units and clusters."""
    for model in models:
        if model not in get_args(Model):
            raise ValueError(f"no model {model!r}; there are {', '.join(get_args(Model))}")
        if (model == "gold") != (gold is not None):
            raise ValueError("the model 'gold' goes with the name of the gold rater, the others without")
    units, observed = _held_against(people, said, gold), None
    if units.judge.size:
        observed = at_threshold(units.judge, units.reference, units.cluster, 1, interval=interval, rng=rng, level=level)
    plan = Plan(interval, rng, level)
    return [_under_noise(model, evidence(people, gold, model), units, observed, plan) for model in models]


def _under_noise(
    model: Model, seen: Evidence, units: "_Units", observed: ThresholdResult | None, plan: Plan
) -> JudgeUnderNoise:
    level = plan.level
    sizes, place = np.unique(units.people, return_inverse=True)
    table = Totals.of(
        np.concatenate([seen.cluster, units.cluster]),
        np.concatenate([seen.column, SIZE + 4 * place + 2 * units.reference + units.judge]),
        np.concatenate([seen.amount, np.ones(place.size)]),
        SIZE + 4 * sizes.size,
    )

    def person(which: int) -> Statistic:
        return lambda cells: human_rates(cells[..., :SIZE], model)[which]

    reason: Remark | None = None
    if seen.n < MIN_UNITS:
        reason = remark("few_units_show_errors", n=MIN_UNITS) if seen.n else seen.none
    else:
        sure = estimate(
            table,
            lambda cells: person(0)(cells) + person(1)(cells) - 1,
            Plan("influence", None, level),
            name="TPR + TNR - 1 of one person",
            n=seen.n,
            undefined=CHANCE,
        )
        low = sure.value if sure.low is None else sure.low
        reason = CHANCE if low is None or low <= 0 else None

    def figure(name: str, statistic: Statistic, n: int, undefined: Remark) -> Estimate:
        name = f"{name}, people's errors by {model}"
        if reason is not None or not n:
            return Estimate.undefined(reason or NO_UNITS, n=n, clusters=table.rows, method=name, level=level)
        return _cut(estimate(table, statistic, plan, name=name, n=n, undefined=undefined, bounds=(0.0, 1.0)))

    def corrected(which: int) -> Statistic:
        return lambda cells: _against_truth(cells, sizes, model)[which]

    n = units.judge.size
    return JudgeUnderNoise(
        model=model,
        human_tpr=figure("true positive rate of one person", person(0), seen.n, CHANCE),
        human_tnr=figure("true negative rate of one person", person(1), seen.n, CHANCE),
        observed=observed,
        tpr=figure("true positive rate against the truth", corrected(0), n, ALL_PASSES),
        tnr=figure("true negative rate against the truth", corrected(1), n, ALL_FAILS),
        accuracy=figure("accuracy against the truth", corrected(2), n, NO_UNITS),
    )


class _Units(NamedTuple):
    """Units with a judge's decision and a reference; ``people`` counts those behind it, ``GOLD`` for a gold label."""

    judge: Ints
    reference: Ints
    people: Ints
    cluster: Ints


def _held_against(people: Ratings, said: Ratings, gold: str | None) -> _Units:
    voting = people if gold is None else people.select_raters([name for name in people.raters if name != gold])
    majority = consensus_labels(voting)
    unit, reference, size = voting.unit[unit_runs(voting)[1]], majority.label, majority.size
    if gold is not None:
        true = people.select_raters([gold])
        kept = ~np.isin(unit, true.unit)
        unit = np.concatenate([true.unit, unit[kept]])
        reference = np.concatenate([true.value, reference[kept]])
        size = np.concatenate([np.full(len(true), GOLD), size[kept]])
    decided = reference != TIE
    unit, reference, size = unit[decided], reference[decided], size[decided]
    _, mine, theirs = np.intersect1d(said.unit, unit, assume_unique=True, return_indices=True)
    return _Units(said.value[mine], reference[theirs], size[theirs], said.cluster[mine])


def _against_truth(cells: Array, sizes: Ints, model: Model) -> tuple[Array, Array, Array]:
    """The judge's TPR, TNR and accuracy against the truth, from column sums (..., SIZE + 4 · sizes)."""
    rates = human_rates(cells[..., :SIZE], model)
    units = passed = both_pass = both_fail = np.zeros(cells.shape[:-1], dtype=cells.dtype)
    for place, people in enumerate(sizes.tolist()):
        tn, fp, fn, tp = np.moveaxis(cells[..., SIZE + 4 * place : SIZE + 4 * place + 4], -1, 0)
        on_passes, on_fails = (np.ones_like(rate) if people == GOLD else _majority(rate, people) for rate in rates)
        # Of what the reference passes, the share (1 - TNR) of all units there is too much, and the rest is too little.
        scale = on_passes + on_fails - 1
        n = tn + fp + fn + tp
        units = units + n
        passed = passed + ratio(fn + tp - (1 - on_fails) * n, scale)
        both_pass = both_pass + ratio(tp - (1 - on_fails) * (fp + tp), scale)
        both_fail = both_fail + ratio(tn - (1 - on_passes) * (tn + fn), scale)
    failed = units - passed
    return _share(both_pass, passed), _share(both_fail, failed), _share(both_pass + both_fail, units)


def _majority(right: Array, people: int) -> Array:
    """The chance that a majority of this many people is right, each being right independently, ties left out."""
    chances = [comb(people, k) * right**k * (1 - right) ** (people - k) for k in range((people + 1) // 2, people + 1)]
    tie = chances[0] if people % 2 == 0 else np.zeros_like(right)
    return sum(chances[people % 2 == 0 :], np.zeros_like(right)) / (1 - tie)


def _share(part: Array, whole: Array) -> Array:
    """Quotient, NaN where the whole is not positive: people's errors left nothing of it."""
    return part / np.where(whole.real > 1e-9, whole, np.nan)


def _cut(found: Estimate) -> Estimate:
    """The figure within [0, 1], where chance may carry it beyond; undefined when its whole interval lies beyond."""
    if found.value is None:
        return found
    if found.low is not None and found.high is not None and found.low >= found.high:
        return Estimate.undefined(
            NOT_INDEPENDENT, n=found.n, clusters=found.clusters, method=found.method, level=found.level
        )
    return replace(found, value=min(max(found.value, 0.0), 1.0))
