"""How good versions of a system are, and how far apart: people's values of some responses, a judge's of all.

A judge's raw mean is among the results, and is no answer: its errors are in it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np

from alignment.base.arrays import Bools, Floats, Ints, renumbered, sums_by
from alignment.base.estimate import Estimate, Remark, remark
from alignment.base.interval import FEWEST_RARER, NO_SPREAD, Case, Plan, t_quantile
from alignment.comparing.few import Few, consisting, differing
from alignment.comparing.responses import Responses
from alignment.judging.weighted import Design

NO_LABELLED = remark("no_labelled")
NOTHING_SETTLED = remark("nothing_settled")
NOTHING_SCORED = remark("no_sample_scored")
#: Of groups. A judge's weight is fitted on all folds but the one in which it is used.
FOLDS = 5
#: With fewer groups in the other folds nothing is known of the judge, and its weight is 0.
FEWEST_TO_TUNE = 5

Way = Literal["people", "raw", "corrected"]
NAMES: dict[Way, str] = {
    "people": "mean of people's values",
    "raw": "mean of the judge's values, not corrected",
    "corrected": "mean of the judge's values, corrected by people's (PPI++, cross-fitted)",
}


@dataclass(frozen=True, slots=True)
class VersionFigure:
    """One figure in three ways: from people's values alone, from the judge's alone, from the judge's corrected by
    people's."""

    people: Estimate
    raw: Estimate
    corrected: Estimate

    @property
    def decisive(self) -> Estimate:
        """What is concluded from: the corrected one; people's where there is no judge."""
        return self.people if self.corrected.value is None else self.corrected


@dataclass(frozen=True, slots=True)
class VersionLevel:
    """A version's mean. ``labelled`` counts its responses of which people were asked, ``unresolved`` those of them of
    which people's value is not known. ``weight``, from 0 to 1, is the mean of those by which the judge's values enter
    the corrected figure, None where there is none."""

    figure: VersionFigure
    responses: int
    labelled: int
    unresolved: int
    weight: float | None


@dataclass(frozen=True, slots=True)
class Variance:
    """A variance in two: what more labels take away, and what only more questions do."""

    by_labels: float
    by_questions: float

    @property
    def error(self) -> float:
        return math.sqrt(self.by_labels + self.by_questions)


@dataclass(frozen=True, slots=True)
class VersionDifference:
    """The level of ``b`` less that of ``a``. ``variance`` is that of the decisive figure, None where it has no
    interval. ``unresolved``: the share of both versions' labelled responses."""

    a: int
    b: int
    figure: VersionFigure
    variance: Variance | None
    unresolved: float


@dataclass(frozen=True, slots=True)
class VersionComparison:
    """``levels`` of every version, ``differences`` of each from the baseline, in the order of versions."""

    levels: Sequence[VersionLevel]
    differences: Sequence[VersionDifference]


def compare_versions(
    responses: Responses,
    versions: int,
    *,
    rng: np.random.Generator,
    baseline: int = 0,
    level: float = 0.95,
    comparison_level: float | None = None,
) -> VersionComparison:
    """Levels of ``versions``, and how far each is from the ``baseline``.

    With w = 1/π of a labelled response, y people's value and f the judge's, a level is
    mean_w(y) + mean(λf) - mean_w(λf): means without w go over all responses of the version, those with w over the
    labelled ones (Hájek). λ, in [0, 1], has the least variance for just this sum; each of five folds of groups (shared
    out by ``rng``) uses that of the others, so that no response weighs its own error. Any judge leaves the level
    unbiased; a good one makes it surer. A missing score counts as the mean of the version's others, which is as
    unbiased. ``people`` is the level with λ = 0, ``raw`` the mean of the scores there are.

    The error sums what each group moves, over both versions of a difference, all its questions, and both samples of a
    level: questions are shared, so that variances of levels don't add up. It is that of drawing the labelled from the
    questions and these from others like them (``Design.standard_error``). Where people's value lies between bounds, the
    figure is the middle, and the interval goes from the lower end with the least values to the upper end with the most,
    each with the error that the figure has with these values: in a difference, of one version the least and of the
    other the most.

    Intervals of differences are t's, cut at -1 and 1. For the labels' part t has one degree of freedom less than groups
    that make it up: 1/(Σψ⁴/(Σψ²)² - 1/G) of what G labelled groups move within their strata, about the number of those
    that differ where few do (half of what Satterthwaite would give). Of fewer than five it has four, and that part goes
    no less far than what groups move that lie as far off as they can and may all have been missed: 1 - (α/2)^h of the
    way, h the heaviest labelled group's share of the weight. So labels that show no difference, or no error of the
    judge, are no certainty: the groups that differ beside a judge are no more than its part of people's variance makes
    up, where that is fewer than five. What it may have been missed to err by takes no more than labels alone.
    Intervals of levels are those of a share with one more labelled group, as heavy, on which people and judge differ as
    far as they can (``Case.with_one_more``).

    Groups are drawn whatever their size. Where few of them hold a large share of the questions, and differ from the
    others, intervals of draws without them miss (docs/decisions/0052-comparing-versions.md).

    ``level`` is that of levels; ``comparison_level`` that of differences, by default the same: with k comparisons that
    are to hold together 1 - (1 - level)/k (Bonferroni). Simulated coverage: bench/promises/comparisons.py.

    Undefined: no labelled responses of a version, or all of them between 0 and 1 (``people``, ``corrected``), no scores
    (``raw``, ``corrected``). No interval with fewer than two labelled groups. ValueError: a version out of range, a
    level outside (0, 1), a stratum with more than one probability.

    Source: Angelopoulos, Duchi & Zrnic (2023), PPI++, arXiv:2311.01453; cross-fitting: Zrnic & Candès (2024), PNAS 121;
    the variance: Särndal, Swensson & Wretman (1992), Model Assisted Survey Sampling, §9; degrees of freedom:
    Satterthwaite (1946), Biometrics Bulletin 2.
    """
    if responses.version.size and not 0 <= responses.version.min() <= responses.version.max() < versions:
        raise ValueError(f"versions are numbered 0 to {versions - 1}")
    if not 0 <= baseline < versions:
        raise ValueError(f"the baseline is one of versions 0 to {versions - 1}, not {baseline}")
    samples = _Samples.of(responses)
    fold = rng.permutation(int(responses.group.max(initial=-1)) + 1) % FOLDS
    found = [_Version.of(samples, responses, responses.version == version, fold) for version in range(versions)]
    others = (b for b in range(versions) if b != baseline)
    of_differences = level if comparison_level is None else comparison_level
    return VersionComparison(
        [_level(samples.design, one, level) for one in found],
        [_difference(samples.design, found, baseline, b, of_differences) for b in others],
    )


@dataclass(frozen=True, eq=False, slots=True)
class _Samples:
    """All responses and the labelled ones as one design: each as drawn for sure (``whole``, its part), and each
    labelled one once more as it was drawn (``drawn``, 0 where it was not)."""

    design: Design
    whole: Ints
    drawn: Ints
    weight: Floats

    @classmethod
    def of(cls, responses: Responses) -> Self:
        asked, n = responses.asked, responses.version.size
        design = Design.of(
            np.append(responses.group, responses.group[asked]),
            np.append(np.ones(n), responses.probability[asked]),
            np.append(np.zeros(n, np.int64), 1 + responses.stratum[asked]),
        )
        drawn, weight = np.zeros(n, np.int64), np.zeros(n)
        drawn[asked], weight[asked] = design.row[n:], 1 / responses.probability[asked]
        return cls(design, design.row[:n], drawn, weight)

    def moved(self, of_whole: Floats, of_drawn: Floats) -> Floats:
        """Influences of responses in both samples as those of parts, shape (parts,)."""
        parts = self.design.stratum.size
        return sums_by(self.whole, of_whole, parts) + sums_by(self.drawn, of_drawn, parts)


@dataclass(frozen=True, eq=False, slots=True)
class _End:
    """A mean with one value of each response. ``moved``, shape (parts,): what each part moves of it. ``reach``: how far
    below and above it one more response may lie."""

    value: float
    moved: Floats
    reach: tuple[float, float]


@dataclass(frozen=True, eq=False, slots=True)
class _Mean:
    """A mean before it has an interval.

    ``low`` and ``high``: with people's least and most values, one and the same where these are equal. It is of ``n``
    responses and rests on the ``bearing`` parts; no group has more than the share ``heaviest`` of the weight.
    """

    low: _End
    high: _End
    n: int
    bearing: Ints
    heaviest: float


@dataclass(frozen=True, slots=True)
class _Evidence:
    """How surely a figure is known: with how many degrees of freedom, how many groups differ from the others, if the
    variance is made up by such alone, and of how many that move alike it consists."""

    variance: Variance
    freedom: int
    differing: float
    consists: float

    @classmethod
    def of(cls, design: Design, moved: Floats, bearing: Ints) -> Self:
        """Of a figure that rests on the ``bearing`` parts, from what each part moves."""
        drawn = np.zeros(moved.size)
        drawn[bearing] = moved[bearing]
        # As if they were a small part of all there are.
        by_labels = replace(design, probability=np.zeros(moved.size)).standard_error(drawn) ** 2
        by_questions = max(0.0, design.standard_error(moved) ** 2 - by_labels)
        clusters, strata = _clusters(design, bearing), renumbered(design.stratum[bearing])[0].size
        squares = design.by_cluster(design.within_strata(drawn)) ** 2
        return cls(
            variance=Variance(by_labels, by_questions),
            freedom=max(1, min(bearing.size - strata, clusters - 1)),
            differing=differing(squares, clusters),
            consists=consisting(squares),
        )

    def differing_beside(self, people: Self) -> float:
        """``differing``, or what the judge leaves of the groups by which people's variance is made up, where that is
        fewer than five. What little every group then differs by is no evidence that the judge errs on none."""
        if not people.consists:
            return self.differing
        left = people.consists * self.variance.by_labels / people.variance.by_labels
        return min(self.differing, left) if left < FEWEST_RARER else self.differing


@dataclass(frozen=True, eq=False, slots=True)
class _Version:
    """Its means, None where there is none."""

    means: dict[Way, _Mean | None]
    responses: int
    labelled: int
    unresolved: int
    weight: float | None

    @classmethod
    def of(cls, samples: _Samples, responses: Responses, own: Bools, fold: Ints) -> Self:
        asked, scored = own & responses.asked, own & responses.scored
        # Bounds that leave everything open say nothing, and their middle would be a made-up figure.
        is_told = bool((responses.most - responses.least < 1)[asked].any())
        means: dict[Way, _Mean | None] = dict.fromkeys(NAMES)
        weight = None
        if scored.any():
            means["raw"] = _raw(samples, responses, scored)
        if is_told:
            nothing = np.zeros(own.size)
            people, _ = _corrected(samples, responses, own, asked, nothing, fold)
            means["people"] = replace(people, n=int(asked.sum()))
        if is_told and scored.any():
            off = np.where(scored, responses.score - responses.score[scored].mean(), 0.0)
            means["corrected"], weight = _corrected(samples, responses, own, asked, off, fold)
        unresolved = int((responses.least[asked] < responses.most[asked]).sum())
        return cls(means, int(own.sum()), int(asked.sum()), unresolved, weight)

    def missing(self, way: Way) -> Remark:
        """Why a mean is not there."""
        if way != "raw" and self.means["people"] is None:
            return NOTHING_SETTLED if self.labelled else NO_LABELLED
        return NOTHING_SCORED


def _clusters(design: Design, bearing: Ints) -> int:
    """How many groups a figure rests on."""
    return int(renumbered(design.cluster[bearing])[0].size)


def _raw(samples: _Samples, responses: Responses, scored: Bools) -> _Mean:
    n, mean = int(scored.sum()), float(responses.score[scored].mean())
    off = np.where(scored, responses.score - mean, 0.0) / n
    end = _End(mean, samples.moved(off, np.zeros(scored.size)), (mean, 1 - mean))
    bearing = renumbered(samples.whole[scored])[0]
    return _Mean(end, end, n, bearing, heaviest=float(np.bincount(samples.whole[scored]).max()) / n)


def _corrected(
    samples: _Samples, responses: Responses, own: Bools, asked: Bools, off: Floats, fold: Ints
) -> tuple[_Mean, float]:
    """The mean by people's values and the judge's, and the judge's weight. ``off``: the judge's values less their mean,
    0 where there is none; by their weights they add nothing but what the labelled lack."""
    weight = np.where(asked, samples.weight, 0.0)
    whole, total = int(own.sum()), float(weight.sum())

    def mean(values: Floats) -> float:
        # Without `@`, whose threads cost more than they save on such vectors.
        return float((weight * values).sum()) / total

    def from_mean(values: Floats) -> Floats:
        return weight * (values - mean(values)) / total

    least, most = (np.where(asked, each, 0.0) for each in (responses.least, responses.most))
    by_fold = _weights(from_mean((least + most) / 2), from_mean(off) - off / whole, responses.group, fold)
    helped = by_fold[fold[responses.group]] * off
    lacking = float(helped.sum()) / whole - mean(helped)
    of_whole = np.where(own, helped - helped.sum() / whole, 0.0) / whole

    def end(values: Floats) -> _End:
        # One more labelled response, of which the judge is as wrong as it can be.
        apart, heaviest = mean(values) - mean(helped), float(by_fold.max())
        reach = apart + heaviest * float(off.max()), 1 - apart - heaviest * float(off.min())
        return _End(mean(values) + lacking, samples.moved(of_whole, from_mean(values) - from_mean(helped)), reach)

    low = end(least)
    found = _Mean(
        low=low,
        high=end(most) if (least < most).any() else low,
        n=whole,
        bearing=renumbered(samples.drawn[asked])[0],
        heaviest=float(samples.design.by_cluster(samples.moved(np.zeros(own.size), weight)).max()) / total,
    )
    return found, float(by_fold.mean())


def _weights(value: Floats, score: Floats, group: Ints, fold: Ints) -> Floats:
    """λ of least variance for each fold from the groups of the others, shape (FOLDS,): Σ_g a_g b_g/Σ_g b_g², a and b
    what the groups move of people's mean and of the difference of the scores' means."""
    a, b = (sums_by(group, each, fold.size) for each in (value, score))
    found = np.zeros(FOLDS)
    for each in range(FOLDS):
        others = fold != each
        square = float(np.square(b[others]).sum())
        if np.count_nonzero(a[others]) >= FEWEST_TO_TUNE and square > NO_SPREAD**2:
            found[each] = np.clip((a[others] * b[others]).sum() / square, 0.0, 1.0)
    return found


def _level(design: Design, version: _Version, level: float) -> VersionLevel:
    found = {
        way: Estimate.undefined(version.missing(way), method=NAMES[way], level=level)
        if mean is None
        else _level_estimate(design, mean, NAMES[way], level)
        for way, mean in version.means.items()
    }
    return VersionLevel(VersionFigure(**found), version.responses, version.labelled, version.unresolved, version.weight)


def _level_estimate(design: Design, mean: _Mean, name: str, level: float) -> Estimate:
    clusters, value = _clusters(design, mean.bearing), min(max((mean.low.value + mean.high.value) / 2, 0.0), 1.0)
    case = Case(Plan("jackknife", None, level), name, mean.n, clusters, (0.0, 1.0))
    if case.plan.refusal(clusters) is not None:
        return case.without_interval(value)
    share = mean.heaviest / (1 + mean.heaviest)
    method = f"{name}; Clopper-Pearson, one more group"

    def estimate(end: _End) -> Estimate:
        evidence = _Evidence.of(design, end.moved, mean.bearing)
        steps = share * end.reach[0], share * end.reach[1]
        at = min(max(end.value, 0.0), 1.0)
        return case.with_one_more(at, evidence.variance.error, steps, evidence.freedom, method)

    high = estimate(mean.high)
    low = high if mean.low is mean.high else estimate(mean.low)
    return replace(high, value=value, low=low.low)


def _difference(design: Design, versions: Sequence[_Version], a: int, b: int, level: float) -> VersionDifference:
    means = {way: (versions[a].means[way], versions[b].means[way]) for way in NAMES}
    between = {way: _Between.of(design, *both) for way, both in means.items()}
    estimates: dict[Way, Estimate] = {}
    variances: dict[Way, Variance | None] = {}
    for way, one in between.items():
        name = f"difference of: {NAMES[way]}"
        if one is None:
            reason = versions[a if means[way][0] is None else b].missing(way)
            estimates[way], variances[way] = Estimate.undefined(reason, method=name, level=level), None
        else:
            people = between["people"] if way == "corrected" else None
            estimates[way], variances[way] = one.estimate(name, level, people)
    figure = VersionFigure(**estimates)
    variance = variances["people" if figure.decisive is figure.people else "corrected"]
    labelled = versions[a].labelled + versions[b].labelled
    unresolved = versions[a].unresolved + versions[b].unresolved
    return VersionDifference(a, b, figure, variance, unresolved / labelled if labelled else 0.0)


@dataclass(frozen=True, eq=False, slots=True)
class _Apart:
    """One end of the difference of two means: ``value``, and how far beyond it one more group may lead."""

    value: float
    evidence: _Evidence
    heaviest: float
    reach: tuple[float, float]

    @classmethod
    def of(cls, design: Design, bearing: Ints, heaviest: float, one: _End, other: _End) -> Self:
        """Of the ``other`` less the ``one``."""
        evidence = _Evidence.of(design, other.moved - one.moved, bearing)
        reach = other.reach[0] + one.reach[1], other.reach[1] + one.reach[0]
        return cls(other.value - one.value, evidence, heaviest, reach)

    def few(self, people: Self | None) -> Few:
        differ = self.evidence.differing if people is None else self.evidence.differing_beside(people.evidence)
        return Few(differ, self.evidence.freedom, self.heaviest, self.reach)

    def by_labels(self, level: float, people: Self | None) -> tuple[float, float]:
        """How far the labels' part goes below and above. What the judge may have been missed to err by takes no more
        than labels alone, which are ``people``'s."""
        most = math.inf if people is None else max(people.by_labels(level, None))
        return self.few(people).half_widths(math.sqrt(self.evidence.variance.by_labels), level, most)

    def variance(self, level: float, people: Self | None, *, above: bool) -> Variance:
        """By which the interval goes from here."""
        t = t_quantile(self.evidence.freedom, level)
        return replace(self.evidence.variance, by_labels=(self.by_labels(level, people)[above] / t) ** 2)


@dataclass(frozen=True, eq=False, slots=True)
class _Between:
    """The difference of two means before it has an interval: least, and most, one and the same where all is settled."""

    low: _Apart
    high: _Apart
    n: int
    clusters: int

    @classmethod
    def of(cls, design: Design, one: _Mean | None, other: _Mean | None) -> Self | None:
        if one is None or other is None:
            return None
        bearing, heaviest = np.union1d(one.bearing, other.bearing), max(one.heaviest, other.heaviest)
        low = _Apart.of(design, bearing, heaviest, one.high, other.low)
        is_settled = one.low is one.high and other.low is other.high
        high = low if is_settled else _Apart.of(design, bearing, heaviest, one.low, other.high)
        return cls(low, high, one.n + other.n, _clusters(design, bearing))

    def estimate(self, name: str, level: float, people: Self | None) -> tuple[Estimate, Variance | None]:
        """With the variance that its interval has. ``people``: the same by labels alone, of a figure that a judge has a
        part in."""
        case = Case(Plan("jackknife", None, level), name, self.n, self.clusters, (-1.0, 1.0))
        ends = self.low.value, self.high.value
        low, value, high = (min(max(each, -1.0), 1.0) for each in (ends[0], sum(ends) / 2, ends[1]))
        if case.plan.refusal(self.clusters) is not None:
            return case.without_interval(value), None
        of_low, of_high = (None, None) if people is None else (people.low, people.high)
        below = self.low.variance(level, of_low, above=False)
        above = self.high.variance(level, of_high, above=True)
        t = t_quantile(self.low.evidence.freedom, level)
        df = min(self.low.few(of_low).df, self.high.few(of_high).df)
        method = f"{name}; influence functions by group, t with {df:.4g} df for labels"
        ends = max(low - t * below.error, -1.0), min(high + t * above.error, 1.0)
        wider = below if below.error > above.error else above
        return Estimate(value, *ends, level, case.n, case.clusters, method), wider
