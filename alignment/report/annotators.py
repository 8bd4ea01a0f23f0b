"""The people of a report, each by themselves: agreement with the others, own consistency, speed, habits, and drift.

The functions of ``Listed`` give one entry for each of the people shown, and a last one for all together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import numpy as np

from alignment.agreement.self_consistency import self_consistency
from alignment.agreement.with_others import PERCENT, agreement_with_rest
from alignment.base.arrays import Array, Floats, Ints, renumbered, sums_by
from alignment.base.coded import array_of, different, taken
from alignment.base.estimate import NO_LEVELS, NO_UNITS, Estimate, Remark, estimates_as_dicts, remark
from alignment.base.interval import Case, Plan, normal_quantile, standard_errors
from alignment.base.ratings import Ratings, encode, encode_values
from alignment.base.totals import ratio
from alignment.consensus.dawid_skene import DawidSkene, fit_dawid_skene
from alignment.consensus.majority import TIE, rest_label
from alignment.judging.annotator_errors import annotator_errors
from alignment.report.reference import Reference

MAX_ANNOTATORS = 30


@dataclass(frozen=True, eq=False, slots=True)
class Listed:
    """``base``: the labels as agreement is measured on them, pass or fail where the criterion has passes.

    ``shown``: codes of the raters with the most units, those with the most first; ``names``: theirs. ``days``,
    ``seconds`` (NaN for None): as in the evidence, in the order of ``base``. ``place``: of each label its rater's
    place among those shown, after the last of them for all others.
    """

    reference: Reference
    base: Ratings
    shown: Ints
    names: list[str]
    units: list[int]
    samples: list[int]
    days: Sequence[str | None]
    seconds: Floats
    place: Ints

    @property
    def rows(self) -> int:
        """Those shown, and all together."""
        return len(self.names) + 1


def listed_people(reference: Reference) -> Listed:
    """Of more than 30 people those with the most units are shown."""
    evidence = reference.evidence
    base = reference.base
    counts = np.bincount(base.rater, minlength=len(base.raters))
    order = sorted(range(len(base.raters)), key=lambda code: (-counts[code], base.raters[code]))
    shown = np.array(order[:MAX_ANNOTATORS], dtype=np.int64)
    places = np.full(len(base.raters), shown.size)
    places[shown] = np.arange(shown.size)
    # Where each of the ratings stands in the evidence: they are sorted by unit, then by rater.
    code_of = {name: code for code, name in enumerate(base.raters)}
    rater = array_of(evidence.raters, code_of.__getitem__, np.int64)
    sorting = np.lexsort((rater, encode(evidence.units)[0]))
    days: Sequence[str | None] = evidence.days or [None] * len(base)
    gaps: Sequence[float | None] = evidence.seconds or [None] * len(base)
    return Listed(
        reference=reference,
        base=base,
        shown=shown,
        names=[base.raters[code] for code in shown],
        units=counts[shown].tolist(),
        samples=_samples(base)[shown].tolist(),
        days=taken(days, sorting),
        seconds=array_of(gaps, lambda gap: np.nan if gap is None else gap, np.float64)[sorting],
        place=places[base.rater],
    )


def _samples(base: Ratings) -> Ints:
    """How many samples each rater labelled."""
    present, cluster = renumbered(base.cluster)
    pairs, _ = renumbered(base.rater * max(present.size, 1) + cluster)
    return np.bincount(pairs // max(present.size, 1), minlength=len(base.raters))


def shares(hit: Array, cluster: Ints, group: Ints, groups: int, *, name: str, undefined: Remark) -> list[Estimate]:
    """Of each group 0..groups-1 what ``proportion`` gives for it alone: the share of its trials that hit; n counts
    them. The three arrays have shape (trials,).

    >>> found = shares(
    ...     np.array([1, 0, 1]), np.array([1, 2, 3]), np.array([0, 0, 2]), 3, name="share", undefined=NO_UNITS,
    ... )
    >>> [each.value for each in found]
    [0.5, None, 1.0]
    """
    plan = Plan("jackknife", None, LEVEL)
    present, code = renumbered(cluster)
    cells, row = renumbered(group * max(present.size, 1) + code)
    filled, of = renumbered(cells // max(present.size, 1))
    trials = np.bincount(row, minlength=cells.size).astype(np.float64)
    hits = sums_by(row, hit, cells.size)
    n = sums_by(of, trials, filled.size)
    value = sums_by(of, hits, filled.size) / n
    whole = sums_by(of, hits != np.floor(hits), filled.size) == 0
    clusters_of = np.bincount(of, minlength=filled.size)
    left = ratio((value * n)[of] - hits, n[of] - trials)
    errors = np.nan_to_num(standard_errors(left, of, filled.size)) * np.sqrt(1 - 1 / np.maximum(clusters_of, 1))

    estimates = [Estimate.undefined(undefined, method=name, level=LEVEL)] * groups
    columns = (filled, value, errors, n.astype(np.int64), clusters_of, whole)
    for place, share, error, count, clusters, is_whole in zip(*(column.tolist() for column in columns), strict=True):
        case = Case(plan, name, count, clusters, (0.0, 1.0))
        refused = plan.refusal(clusters) is not None
        estimates[place] = case.without_interval(share) if refused else case.of_trials(share, error, is_whole)
    return estimates


MAX_WEEKS = 12
LEVEL = 0.95

NO_DAYS = remark("no_days")
NOT_TIMED = remark("not_timed")


def own_consistency(people: Listed) -> list[Estimate]:
    """How often a label that was given again came out the same."""
    base, before = people.base, people.reference.evidence.before
    if base.levels is None:
        return [Estimate.undefined(NO_LEVELS, level=LEVEL)] * people.rows
    # A label that was replaced is of a unit and a rater that count now, with another label.
    rated = people.reference.rated
    code = np.full(len(people.reference.units), -1)
    code[rated] = np.arange(rated.size)
    rater_of = {name: code for code, name in enumerate(base.raters)}
    unit = code[people.reference.units.places(row.unit for row in before)]
    cluster = np.zeros(rated.size, dtype=np.int64)
    cluster[base.unit] = base.cluster
    values = [row.value for row in before]
    if people.reference.passing is not None:
        values = [value in people.reference.evidence.criterion.passes for value in values]
    found = self_consistency(
        np.concatenate([base.unit, unit]),
        np.concatenate([base.rater, np.array([rater_of[row.rater] for row in before], dtype=np.int64)]),
        np.concatenate([base.value, encode_values(values, base.levels, "value")]),
        np.concatenate([base.cluster, cluster[unit]]),
        interval="jackknife",
    )
    by_code = {one.rater: one.agreement for one in found.raters}
    return [*(by_code[str(code)] for code in people.shown), found.pooled.agreement]


def pace(people: Listed) -> list[dict[str, Any]]:
    """Median and middle half of the seconds for a choice, of those that were timed."""
    timed = ~np.isnan(people.seconds)
    own = [people.seconds[timed & (people.place == place)] for place in range(len(people.names))]
    found = []
    for gaps in (*own, people.seconds[timed]):
        low, median, high = np.quantile(gaps, (0.25, 0.5, 0.75)).tolist() if gaps.size else (None, None, None)
        reason = None if gaps.size else NOT_TIMED
        found.append({"median": median, "low": low, "high": high, "n": int(gaps.size), "reason": reason})
    return found


def option_shares(people: Listed) -> list[list[float] | None]:
    """How often each option was chosen, in the criterion's order of options; None where it has none."""
    ratings = people.reference.ratings
    if ratings.levels is None or not len(ratings):
        return [None] * people.rows
    levels = len(ratings.levels)
    cells = np.bincount(ratings.rater * levels + ratings.value, minlength=len(ratings.raters) * levels)
    counts = cells.reshape(-1, levels)
    rows = np.concatenate([counts[people.shown], counts.sum(axis=0, keepdims=True)])
    return (rows / rows.sum(axis=1, keepdims=True)).tolist()


def by_week(people: Listed) -> tuple[dict[str, Any], list[list[dict[str, Any] | None]]]:
    """Agreement with the others' majority in the latest ISO weeks that have labels; None where nothing is compared.

    Weeks go by their Monday. Which week a label lies in is its own rater's day; the others may have come later.
    """
    base = people.base
    reason = NO_LEVELS if base.levels is None else None if any(people.days) else NO_DAYS
    if reason is not None:
        return {"mondays": [], "earlier": 0, "reason": reason}, [[] for _ in range(people.rows)]
    monday = {day: _monday(day) for day in different(people.days) if day is not None}
    every = sorted(set(monday.values()))
    kept = {week: at for at, week in enumerate(every[-MAX_WEEKS:])}
    column = {day: kept.get(week, -1) for day, week in monday.items()}
    week = array_of(people.days, lambda day: -1 if day is None else column[day], np.int64)
    rest = rest_label(base)
    used = (rest != TIE) & (week >= 0)
    hit, cell = base.value == rest, people.place * len(kept) + week
    found: list[Estimate] = []
    # One row for each of those shown, and the last one of all labels.
    for rows, code, count in ((used & (people.place < people.rows - 1), cell, people.rows - 1), (used, week, 1)):
        said = hit[rows], base.cluster[rows], code[rows], count * len(kept)
        found += shares(*said, name=PERCENT, undefined=NO_UNITS)
    shown = ("value", "low", "high", "n", "reason")
    cells = [None if one.value is None else {name: getattr(one, name) for name in shown} for one in found]
    table = [cells[start : start + len(kept)] for start in range(0, len(cells), len(kept))]
    return {"mondays": list(kept), "earlier": len(every) - len(kept), "reason": None}, table


def _monday(day: str) -> str:
    found = date.fromisoformat(day)
    return (found - timedelta(days=found.weekday())).isoformat()


# Dawid and Skene's model gets as many rounds as fit into a quarter of a second; where these are too few, none.
LABELS_READ = 750_000
MOST_ROUNDS, LEAST_ROUNDS = 200, 10

NO_MODEL_INTERVAL = remark("no_interval_of_model")
NO_SUCH_UNIT = remark("no_such_unit_by_model")


def annotator_figures(reference: Reference) -> dict[str, Any]:
    """Each annotator, and all together, as plain JSON. Agreement is with the majority of the *others* of a unit.

    On pass and fail where the criterion has them, else on the labels. Of more than 30 people those with the most units
    are shown, and ``left_out`` counts the rest; majorities, and what is said of all together, are of all people.
    """
    people = listed_people(reference)
    base = people.base
    rest = agreement_with_rest(base, people.names, interval="jackknife")
    weeks, weekly = by_week(people)
    model, modelled = _model(people)
    rows = [
        {
            "ties": said.ties,
            "agreement": said.percent.as_dict(),
            "kappa": said.kappa.as_dict(),
            "rates": rates,
            "consistency": consistency.as_dict(),
            "seconds": seconds,
            "shares": used,
            "weeks": in_weeks,
            "model": of_model,
        }
        for said, rates, consistency, seconds, used, in_weeks, of_model in zip(
            [*rest.annotators, rest.together],
            _rates(people),
            own_consistency(people),
            pace(people),
            option_shares(people),
            weekly,
            modelled,
            strict=True,
        )
    ]
    together = {"units": base.n_units, "samples": base.n_clusters, "labels": len(base), **rows.pop()}
    return {
        "basis": reference.basis,
        "left_out": len(base.raters) - len(people.names),
        "weeks": weeks,
        "model": model,
        "together": together,
        "people": [
            {"name": name, "units": units, "samples": samples, **row}
            for name, units, samples, row in zip(people.names, people.units, people.samples, rows, strict=True)
        ],
    }


def clearly_below(figures: Mapping[str, Any], fewest: int) -> dict[str, list[str]]:
    """Who agrees less with the others than all do together, on what: name -> some of kappa, tpr and tnr.

    ``figures``: of ``annotator_figures``; who has fewer than ``fewest`` units with others is left out. All figures of
    all annotators are tested at once, each by the upper end of its interval, stretched to 1 - 0.05/m for m of them
    (Bonferroni, by normal quantiles). What all do together counts the annotator, too, so less is found than by a
    comparison with the rest alone.
    """
    together = _compared(figures["together"])
    found = [
        (one["name"], name, estimate["value"], estimate["high"], together[name]["value"])
        for one in figures["people"]
        if one["agreement"]["n"] >= fewest
        for name, estimate in _compared(one).items()
        if estimate["high"] is not None and together[name]["value"] is not None
    ]
    if not found:
        return {}
    stretch = normal_quantile(1 - 0.05 / len(found)) / normal_quantile(0.95)
    below: dict[str, list[str]] = {}
    for who, name, value, high, overall in found:
        if value + stretch * (high - value) < overall:
            below.setdefault(who, []).append(name)
    return below


def _compared(one: Mapping[str, Any]) -> dict[str, Any]:
    return {"kappa": one["kappa"], **(one["rates"] or {})}


def _rates(people: Listed) -> list[dict[str, Any] | None]:
    """Of what the others pass (fail) the share that one passes (fails); None without passes."""
    if people.reference.passing is None:
        return [None] * people.rows
    found = annotator_errors(people.base, [True], annotators=people.names, interval="jackknife")
    return [estimates_as_dicts(one, ("tpr", "tnr")) for one in (*found.annotators, found.together)]


def _model(people: Listed) -> tuple[dict[str, Any], list[dict[str, Any] | None]]:
    """What Dawid and Skene's model, which finds the truth and all raters' errors at once, makes of each one."""
    base = people.base
    fitted: DawidSkene | None = None
    reason: Remark | None = NO_LEVELS
    if base.levels is not None:
        rounds = min(MOST_ROUNDS, LABELS_READ // max(1, len(base)))
        reason = remark("too_many_labels_for_model", n=len(base))
        if rounds >= LEAST_ROUNDS:
            fitted = fit_dawid_skene(base, max_iterations=rounds)
            reason = fitted.reason
            if reason is None and not fitted.converged:
                reason = remark("model_not_settled", rounds=rounds)
    if fitted is None or reason is not None:
        return {"reason": reason, "rounds": None}, [None] * people.rows
    rows: list[dict[str, Any] | None] = []
    for code in people.shown:
        support, right = fitted.support[code], np.nan_to_num(np.diag(fitted.confusion[code]))
        if people.reference.passing is None:
            rows.append({"accuracy": _expected(right, support, "accuracy")})
        else:
            tpr = _expected(right[1:], support[1:], "true positive rate")
            rows.append({"tpr": tpr, "tnr": _expected(right[:1], support[:1], "true negative rate")})
    return {"reason": None, "rounds": fitted.iterations}, [*rows, None]


def _expected(right: Floats, support: Floats, name: str) -> dict[str, Any]:
    """The share of one's labels that the model takes for right; n is how many it expects of such units."""
    method, n = f"{name} by Dawid and Skene's model", round(support.sum())
    if not n:
        return Estimate.undefined(NO_SUCH_UNIT, method=method, level=LEVEL).as_dict()
    value = min(1.0, float((right * support).sum() / support.sum()))
    return Estimate(value, None, None, LEVEL, n, 0, method, NO_MODEL_INTERVAL).as_dict()
