"""An experiment's figures: every metric of every version, how far it is from the baseline, and what that allows to say.

A pure function of columns. What a judge says of a response, and between which bounds people's value of it lies, has
been worked out before (``systems.experiments.evidence``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from alignment.base.arrays import Bools, Floats
from alignment.base.estimate import Estimate, remark
from alignment.comparing.answering import Answering
from alignment.comparing.asked import Asked, Table
from alignment.comparing.bands import band_of
from alignment.comparing.conclusions import (
    NOTHING_NEEDED,
    ComparisonVerdict,
    Conclusion,
    Needed,
    conclude,
    labels_needed,
    overall_verdict,
)
from alignment.comparing.levels import Variance, VersionComparison, VersionDifference, compare_versions
from alignment.comparing.responses import Responses
from alignment.comparing.sequence import difference_sequence

Role = Literal["primary", "guard", "exploratory"]
SHARE = "share"
NOT_JUDGED = remark("measured_without_judge")
#: Of several candidates, the verdict on the best of them.
_BEST_FIRST: Sequence[ComparisonVerdict] = ("better", "not_worse", "cannot_tell", "worse")


@dataclass(frozen=True, eq=False, slots=True)
class Quality:
    """A metric that people decide, of shape (responses,): the judge's ``score``, NaN without one; ``least`` and
    ``most``, between which people's value lies, NaN where the response did not go out to them; ``labelled``: whether
    they have said anything of it; ``undefined``: an answer without what the metric is of. All values lie within 0 and
    1. ``limits``: of its bands (``band_of``)."""

    name: str
    title: str
    score: Sequence[float]
    least: Sequence[float]
    most: Sequence[float]
    labelled: Sequence[bool]
    undefined: Sequence[bool]
    higher_is_better: bool = True
    limits: Sequence[float] | None = None
    about: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, slots=True)
class Measured:
    """A metric that needs no people: ``value`` of each response, NaN where it was not measured. ``limits`` as above."""

    name: str
    title: str
    unit: str
    value: Sequence[float]
    higher_is_better: bool
    limits: Sequence[float] | None = None
    about: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rule:
    """``guards``: the margin of each guard. ``level``: that of all comparisons with the baseline together."""

    primary: str
    margin: float
    guards: Mapping[str, float]
    level: float = 0.95

    def role(self, name: str) -> Role:
        return "primary" if name == self.primary else "guard" if name in self.guards else "exploratory"

    def margin_of(self, name: str) -> float:
        """Without a margin of its own a metric is not worse only where it is at least as good."""
        return self.margin if name == self.primary else self.guards.get(name, 0.0)


def experiment_figures(asked: Asked, metrics: Sequence[Quality | Measured], rule: Rule, *, seed: int) -> dict[str, Any]:
    """{"metrics", "verdict", "verdicts"} as plain JSON.

    What was measured needs no correction: its raw and its corrected figure are the same.

    A metric: {"metric", "title", "role", "direction", "unit", "margin", "levels", "differences"}, and what was said
    ``about`` it. A level: counts, and the figure of ``people``, the judge's ``raw`` one, and the ``corrected`` one;
    ``questions`` that the version was asked, ``answered``, ``failed`` and ``undefined`` responses, ``drawn`` questions,
    those of them that are ``labelled``, of which something is known, and ``unresolved``, of which not all is; and at
    most how many ``repeats`` of a question; ``band``: that of the interval (``band_of``). A difference: b less a, with
    ``verdict``, its ``reason``, and what is ``needed``; ``sequential``, of the primary metric, may be looked at while
    labels arrive, and is of the questions of which both have a value; ``complete_cases``: the same without requests
    that failed, None where none did. Of a metric that is not defined of every answer, levels have ``rates``
    (``Answering``), and differences ``answering`` and ``wrong_abstention``; else they are None.

    ``verdicts``: of each version but the baseline, by the primary metric and all guards. ``verdict``: on the best of
    them. Differences are at the level of all comparisons together (Bonferroni).
    """
    found = metric_figures(asked, metrics, rule, seed=seed)
    by_candidate: dict[str, dict[str, ComparisonVerdict]] = {}
    for metric in found:
        for one in metric["differences"]:
            by_candidate.setdefault(one["b"], {})[metric["metric"]] = one["verdict"]
    verdicts = [
        {
            "b": b,
            "verdict": overall_verdict(said[rule.primary], [said[name] for name in rule.guards]),
        }
        for b, said in by_candidate.items()
    ]
    there = {one["verdict"] for one in verdicts}
    return {
        "metrics": found,
        "verdict": next(verdict for verdict in _BEST_FIRST if verdict in there),
        "verdicts": verdicts,
    }


def metric_figures(
    asked: Asked, metrics: Sequence[Quality | Measured], rule: Rule, *, seed: int
) -> list[dict[str, Any]]:
    """Of each metric what ``experiment_figures`` has."""
    table = Table.of(asked, rule.level)
    found = []
    for metric in metrics:
        one = _quality(table, metric, rule, seed) if isinstance(metric, Quality) else _measured(table, metric, rule)
        found.append({**_about(metric, rule), **one.as_dict(asked.versions)})
    return found


def _about(metric: Quality | Measured, rule: Rule) -> dict[str, Any]:
    role = rule.role(metric.name)
    return {
        "metric": metric.name,
        "title": metric.title,
        "role": role,
        "direction": "higher" if metric.higher_is_better else "lower",
        "unit": SHARE if isinstance(metric, Quality) else metric.unit,
        "margin": None if role == "exploratory" else rule.margin_of(metric.name),
        **metric.about,
    }


def _band(decisive: Estimate, metric: Quality | Measured) -> list[str] | None:
    if metric.limits is None:
        return None
    return band_of(decisive, metric.limits, higher_is_better=metric.higher_is_better)


def _figures(people: Estimate, raw: Estimate, corrected: Estimate) -> dict[str, Any]:
    """decisive: which of them is concluded from (``VersionFigure.decisive``)."""
    return {
        "people": people.as_dict(),
        "raw": raw.as_dict(),
        "corrected": corrected.as_dict(),
        "decisive": "people" if corrected.value is None and people.reason != NOT_JUDGED else "corrected",
    }


@dataclass(frozen=True, slots=True)
class _Difference:
    b: int
    people: Estimate
    raw: Estimate
    corrected: Estimate
    conclusion: Conclusion
    needed: Needed
    more: dict[str, Any]

    def as_dict(self, versions: Sequence[str], baseline: int) -> dict[str, Any]:
        return {
            "a": versions[baseline],
            "b": versions[self.b],
            **_figures(self.people, self.raw, self.corrected),
            **self.more,
            "verdict": self.conclusion.verdict,
            "reason": self.conclusion.reason,
            "needed": {"labels": self.needed.labels, "questions": self.needed.questions},
        }


@dataclass(frozen=True, slots=True)
class _Figures:
    baseline: int
    levels: list[dict[str, Any]]
    differences: list[_Difference]

    def as_dict(self, versions: Sequence[str]) -> dict[str, Any]:
        return {
            "levels": self.levels,
            "differences": [one.as_dict(versions, self.baseline) for one in self.differences],
        }


# What people decide


@dataclass(frozen=True, eq=False, slots=True)
class _Cells:
    """A metric by version and question, NaN where there is nothing; ``there``: whether it is defined; ``labelled``:
    whether, of what went out to people, something is known."""

    there: Bools
    labelled: Bools
    score: Floats
    least: Floats
    most: Floats

    @classmethod
    def of(cls, table: Table, metric: Quality, *, with_failed: bool = True) -> "_Cells":
        """A request that failed has the worst value, from the judge where there is one, and from people where its
        question was drawn."""
        worst = 0.0 if metric.higher_is_better else 1.0
        failed, drawn = table.failed, table.drawn[table.group[table.cell % table.shape[1]]]
        score, least, most = (np.asarray(each, np.float64) for each in (metric.score, metric.least, metric.most))
        score = np.where(failed, worst if not np.isnan(score).all() else np.nan, score)
        least, most = (np.where(failed, np.where(drawn, worst, np.nan), each) for each in (least, most))
        rows = ~np.asarray(metric.undefined, np.bool_) & (with_failed | ~failed)
        there = ~np.isnan(table.mean(np.ones(rows.size), rows))
        said = ~np.isnan(table.mean(np.ones(rows.size), rows & (failed | np.asarray(metric.labelled, np.bool_))))
        cells = cls(there, said, *(table.mean(each, rows) for each in (score, least, most)))
        # What went out of some versions only counts for none of them.
        apart = (there & np.isnan(cells.least)).any(axis=0)
        least, most = (np.where(apart, np.nan, each) for each in (cells.least, cells.most))
        return replace(cells, labelled=said & ~np.isnan(least), least=least, most=most)

    def responses(self, table: Table) -> Responses:
        version, question = self.there.nonzero()
        columns = (each[version, question].clip(0.0, 1.0) for each in (self.score, self.least, self.most))
        score, least, most = columns
        return Responses.of(
            version=version,
            group=table.group[question],
            score=score,
            least=least,
            most=most,
            probability=np.full(version.size, table.probability),
            stratum=np.zeros(version.size, np.int64),
        )


def _quality(table: Table, metric: Quality, rule: Rule, seed: int) -> _Figures:
    cells = _Cells.of(table, metric)
    found = _compared(table, cells, rule, seed)
    whole = _compared(table, _Cells.of(table, metric, with_failed=False), rule, seed) if table.failed.any() else None
    undefined = np.asarray(metric.undefined, np.bool_)
    missing = table.counts(undefined)
    answering = Answering.of(table, undefined) if undefined.any() else None
    levels = [
        {
            **counts,
            "undefined": missing[place],
            "drawn": level.labelled,
            "labelled": int(cells.labelled[place].sum()),
            "unresolved": level.unresolved,
            "rates": None if answering is None else answering.level(place),
            "band": _band(level.figure.decisive, metric),
            **_figures(level.figure.people, level.figure.raw, level.figure.corrected),
        }
        for place, (counts, level) in enumerate(zip(table.of_every_version(), found.levels, strict=True))
    ]
    margin = rule.margin_of(metric.name)
    differences = []
    for place, one in enumerate(found.differences):
        said = conclude(
            one.figure.decisive,
            margin=margin,
            higher_is_better=metric.higher_is_better,
            unresolved=one.unresolved,
        )
        more: dict[str, Any] = {"complete_cases": None, "answering": None, "wrong_abstention": None}
        if whole is not None:
            more["complete_cases"] = whole.differences[place].figure.decisive.as_dict()
        if metric.name == rule.primary:
            more["sequential"] = _sequential(table, cells, one, rule).as_dict()
        if answering is not None:
            more |= answering.difference(one.b)
            said = answering.allows(said, one.b, margin)
        needed = _needed(cells, one, margin, metric.higher_is_better) if _wants_labels(said) else NOTHING_NEEDED
        figure = one.figure
        differences.append(_Difference(one.b, figure.people, figure.raw, figure.corrected, said, needed, more))
    return _Figures(table.asked.baseline, levels, differences)


def _compared(table: Table, cells: _Cells, rule: Rule, seed: int) -> VersionComparison:
    return compare_versions(
        cells.responses(table),
        table.shape[0],
        rng=np.random.default_rng(seed),
        baseline=table.asked.baseline,
        level=rule.level,
        comparison_level=table.comparison_level,
    )


def _wants_labels(said: Conclusion) -> bool:
    return said.verdict == "cannot_tell" and said.reason is None


def _needed(cells: _Cells, one: VersionDifference, margin: float, higher_is_better: bool) -> Needed:
    both = cells.there[[one.a, one.b]]
    asked = both & ~np.isnan(cells.least[[one.a, one.b]])
    return labels_needed(
        one.figure.decisive,
        one.variance,
        labelled=int(asked.any(axis=0).sum()),
        questions=int(both.any(axis=0).sum()),
        margin=margin,
        higher_is_better=higher_is_better,
    )


def _sequential(table: Table, cells: _Cells, one: VersionDifference, rule: Rule) -> Estimate:
    """Groups in the order in which they were drawn, up to the first of which people's value may still change. A group
    counts by what its questions add to the sum over all of them."""
    a, b = one.a, one.b
    both = cells.there[a] & cells.there[b]
    groups = table.drawn.size
    sizes = np.bincount(table.group[both], minlength=groups)
    order = sizes.nonzero()[0]

    def summed(values: Floats) -> Floats:
        return np.bincount(table.group[both], weights=values[both], minlength=groups)[order] / sizes.max()

    asked = ~np.isnan(cells.least)
    settled = asked & (cells.least == cells.most)
    waits = both & ~(settled[a] & settled[b])
    # A group that is closed stays between its bounds.
    may_stay = np.asarray(table.asked.closed, np.bool_)[table.group] & asked[a] & asked[b]
    ends = np.bincount(table.group[waits & ~may_stay], minlength=groups)[order] > 0
    known = ~ends & table.drawn[order]
    prefix = int(known.argmin()) if not known.all() else known.size
    level = table.comparison_level
    judge = np.nan_to_num(cells.score[b] - cells.score[a])
    if not order.size:
        return difference_sequence([], [], [], level=level).estimate
    least, most = (summed(each)[:prefix] for each in (cells.least[b] - cells.most[a], cells.most[b] - cells.least[a]))
    found = difference_sequence(least, most, summed(judge), level=level).estimate
    return _stretched(found, order.size * float(sizes.max()) / float(sizes.sum()))


def _stretched(found: Estimate, times: float) -> Estimate:
    if found.value is None or found.low is None or found.high is None:
        return found
    low, value, high = (min(max(times * each, -1.0), 1.0) for each in (found.low, found.value, found.high))
    return replace(found, low=low, value=value, high=high)


# What is measured


def _measured(table: Table, metric: Measured, rule: Rule) -> _Figures:
    values = np.asarray(metric.value, np.float64)
    cells = table.mean(values, np.ones(values.size, np.bool_))
    found = table.measured(values, is_share=metric.unit == SHARE)
    unmeasured = table.counts(np.isnan(values) & ~table.failed)
    levels = [
        {
            **counts,
            "undefined": unmeasured[place],
            "drawn": 0,
            "labelled": 0,
            "unresolved": 0,
            "rates": None,
            "band": _band(level, metric),
            **_figures(_not_judged(rule.level), level, level),
        }
        for place, (counts, level) in enumerate(zip(table.of_every_version(), found.levels, strict=True))
    ]
    margin, nobody = rule.margin_of(metric.name), _not_judged(table.comparison_level)
    differences = []
    for one in found.differences:
        said = conclude(one.figure, margin=margin, higher_is_better=metric.higher_is_better)
        questions = int((~np.isnan(cells[[one.a, one.b]])).any(axis=0).sum())
        needed = NOTHING_NEEDED
        if _wants_labels(said):
            needed = _questions_needed(one.figure, one.variance, questions, margin, metric.higher_is_better)
        differences.append(_Difference(one.b, nobody, one.figure, one.figure, said, needed, {}))
    return _Figures(table.asked.baseline, levels, differences)


def _questions_needed(
    figure: Estimate, variance: Variance | None, questions: int, margin: float, higher_is_better: bool
) -> Needed:
    found = labels_needed(
        figure, variance, labelled=questions, questions=questions, margin=margin, higher_is_better=higher_is_better
    )
    return Needed(None, found.questions)


def _not_judged(level: float) -> Estimate:
    return Estimate.undefined(NOT_JUDGED, level=level)
