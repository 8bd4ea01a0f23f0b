"""The one decision: what a judge may do on a criterion. Whoever lets a judge do something asks it, and nothing else.

| # | first that fits | verdict |
|---|---|---|
| 1 | the endpoint is undefined: no label has a known chance, one category, too little overlap … | cannot tell |
| 2 | fewer than 30 groups behind it, or groups of unequal chances that are worth fewer | cannot tell |
| 3 | the judge scored less than the least coverage asked for | cannot tell |
| 4 | the interval of the endpoint lies below the bar | not for use |
| 5 | the interval does not lie at or above the bar, or there is none | cannot tell |
| 6 | on test, and a region is certified | alone in this region |
| 7 | else | with a person |

One **endpoint** is declared per criterion before anybody looks, and its interval alone carries the level that the
ledger leaves to the look (``looks.level_of_look``). In it, units that people settled and the judge did not score count
as decided wrongly, so that leaving out what is hard does not pay. A region is tried at the same level, only after the
endpoint passed: in a fixed sequence every hypothesis has the full level, and a wrong permission of either kind has the
chance that the look has. Rule 3 stands before rule 4, because what is missing may only not have been asked for.

On dev the same rule gives a provisional decision, never for a region. Everything else that was measured is listed as
evidence for and against, by 95 % intervals; it decides nothing.

Source: non-inferiority by the end of an interval, ICH E9 (1998) §3.3.2; fixed sequence, Maurer, Hothorn & Lehmacher
(1995), Biometrie in der chemisch-pharmazeutischen Industrie 6.
"""

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import ndtr

from alignment.base.estimate import Estimate, Remark, remark, rounded_share
from alignment.base.interval import NO_SPREAD, normal_quantile, t_quantile
from alignment.planning.sample_size import two_digits

Name = Literal["kappa", "kappa_less_people"]
Verdict = Literal["alone_in_region", "with_a_person", "not_for_use", "cannot_tell"]
Part = Literal["dev", "test"]
#: With these a judge's verdicts may be used at all.
PERMITTING: tuple[Verdict, ...] = ("alone_in_region", "with_a_person")

#: Intervals were never tried on fewer groups.
FEWEST_GROUPS = 30
#: The chance that the labels asked for settle it, and how many times the present ones they may be.
ASSURANCE, MOST = 0.8, 20
#: Where figures speak for a judge: kappa; kappa less a person's; ROC AUC.
GOOD_KAPPA, NO_WORSE, BETTER_THAN_A_COIN = 0.4, -0.05, 0.5
#: An AUC surely below this tells passes from fails hardly better than a coin.
WEAK_AUC = 0.6


@dataclass(frozen=True, slots=True)
class Endpoint:
    """What a judge has to show: ``name`` surely at ``bar`` or above.

    kappa: of its decisions with people's. kappa_less_people: the same less that of a person, both with the other
    people's majority. ``risk``: of what people fail (and of what they pass) in a region, the share on which the judge
    may be wrong. ``coverage``: the least share of settled units that it has to score. ValueError: a bar outside
    (-1, 1), a risk outside (0, 1), a coverage outside [0, 1], another name.
    """

    name: Name = "kappa"
    bar: float = GOOD_KAPPA
    risk: float = 0.1
    coverage: float = 0.9

    def __post_init__(self) -> None:
        if self.name not in ("kappa", "kappa_less_people"):
            raise ValueError(f"no endpoint {self.name!r}")
        if not -1 < self.bar < 1:
            raise ValueError(f"the bar lies between -1 and 1, not {self.bar}")
        if not 0 < self.risk < 1:
            raise ValueError(f"the risk lies between 0 and 1, not {self.risk}")
        if not 0 <= self.coverage <= 1:
            raise ValueError(f"the coverage is a share, not {self.coverage}")

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Beside:
    """What else was measured, at 95 %; None where it was not. ``open_units``: labelled units of the part on which
    people are not done. ``caveat``: ``caveats.interval_caveat`` of the endpoint."""

    kappa: Estimate | None = None
    calibrated: Estimate | None = None
    less_people: Estimate | None = None
    auc: Estimate | None = None
    open_units: int = 0
    caveat: Remark | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """``reason`` has the figures that it rests on, to two digits. ``more``: about how many more drawn labelled samples
    settle it with the chance ASSURANCE, and ``hours`` of people's time they take; None unless it cannot be told, and
    where labels alone will hardly do or the time is not known."""

    verdict: Verdict
    reason: Remark
    more: int | None
    hours: float | None
    supports: tuple[Remark, ...]
    opposes: tuple[Remark, ...]
    part: Part

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON."""
        return {
            "verdict": self.verdict,
            "reason": self.reason,
            "more": self.more,
            "hours": self.hours,
            "for": list(self.supports),
            "against": list(self.opposes),
            "part": self.part,
        }


def decision_on(
    endpoint: Endpoint,
    figure: Estimate,
    coverage: Estimate,
    *,
    region: Estimate | None = None,
    beside: Beside | None = None,
    part: Part = "test",
    alike: float | None = None,
    next_level: float | None = None,
    share: float = 1.0,
    seconds: float | None = None,
) -> Decision:
    """What the judge may do, by the rule of this module.

    ``figure``: the endpoint with its interval at the look's level (at 95 % on dev), what was not scored counted as
    wrong, its clusters groups of drawn samples. ``coverage``: the share of the settled drawn units that is scored.
    ``region``: the share of them inside the certified region, undefined with the reason where there is none; None where
    none was tried. ``alike``: of how many groups drawn alike the endpoint's variance would be known as well
    (``Design.alike``); of its clusters by default.

    For ``more``: ``next_level`` is the level of the look that more labels lead to (the figure's own by default),
    ``share`` the share of further samples that comes to this part, ``seconds`` people's time for a labelled sample.

    >>> kappa, coverage = Estimate(0.7, 0.6, 0.8, n=200, clusters=200), Estimate(1.0, 0.98, 1.0, n=200, clusters=200)
    >>> decision_on(Endpoint(), kappa, coverage).verdict
    'with_a_person'
    >>> unsure = decision_on(Endpoint(), Estimate(0.52, 0.37, 0.67, n=200, clusters=200), coverage)
    >>> unsure.verdict, unsure.more
    ('cannot_tell', 930)
    """
    supports, opposes = _evidence(endpoint, figure, coverage, region, beside or Beside())

    def found(verdict: Verdict, reason: Remark, missing: int | None = None) -> Decision:
        more = two_digits(int(np.ceil(missing / share))) if missing and share else None
        hours = None if more is None or seconds is None else more * seconds / 3600
        return Decision(verdict, reason, more, hours, supports, opposes, part)

    if figure.value is None:
        return found("cannot_tell", _undefined(endpoint, figure))
    groups = figure.clusters if alike is None else min(figure.clusters, round(alike))
    if groups < FEWEST_GROUPS:
        planned = _planned(figure, endpoint, next_level) or 0
        return found("cannot_tell", _few(figure, groups), max(FEWEST_GROUPS - groups, planned))
    if coverage.value is None or coverage.value < endpoint.coverage:
        return found("cannot_tell", _coverage_low(endpoint, coverage))
    if figure.high is not None and figure.high < endpoint.bar:
        return found("not_for_use", _missed(endpoint, figure))
    if figure.low is None or figure.low < endpoint.bar:
        missing = _planned(figure, endpoint, next_level)
        return found("cannot_tell", _open(endpoint, figure, missing), missing)
    if part == "test" and region is not None and region.value is not None:
        return found("alone_in_region", _certified(endpoint, region))
    return found("with_a_person", _reached(endpoint, figure))


def more_groups(figure: Estimate, bar: float, level: float) -> int | None:
    """How many more groups settle, with the chance ASSURANCE, on which side of the bar the figure lies.

    With a flat prior, and s² = se²·n/N for N groups in place of n, the figure of N groups is about N(value, se² - s²)
    given the present ones, and its interval at ``level`` is ± z·s. The answer is the least N at which

        Φ((d - z s)/√(se² - s²)) + Φ((-d - z s)/√(se² - s²)) ≥ ASSURANCE,    d = value - bar.

    (A plan for a half-width of |d| settles it in half of the cases: what comes out lies above or below what is there.)
    se is the arm of the interval on the side of the bar in t quantiles. None: no interval, or more than MOST times the
    present groups: even so many would settle it with a smaller chance.

    Source: assurance, O'Hagan, Stevens & Campbell (2005), Pharmaceutical Statistics 4.

    >>> more_groups(Estimate(0.55, 0.35, 0.7, n=80, clusters=80), 0.4, 0.95)
    483
    """
    if figure.value is None or figure.low is None or figure.high is None or figure.clusters < 2:
        return None
    away = figure.value - bar
    arm = figure.value - figure.low if away >= 0 else figure.high - figure.value
    if arm <= NO_SPREAD:
        return None
    error = arm / t_quantile(figure.clusters - 1, figure.level)
    groups = np.arange(figure.clusters + 1, MOST * figure.clusters + 1)
    left = error * np.sqrt(figure.clusters / groups)
    spread, needed = np.sqrt(error**2 - left**2), normal_quantile(level) * left
    settled = np.flatnonzero(ndtr((away - needed) / spread) + ndtr((-away - needed) / spread) >= ASSURANCE)
    return int(groups[settled[0]]) - figure.clusters if settled.size else None


def _planned(figure: Estimate, endpoint: Endpoint, next_level: float | None) -> int | None:
    return more_groups(figure, endpoint.bar, figure.level if next_level is None else next_level)


def _undefined(endpoint: Endpoint, figure: Estimate) -> Remark:
    if endpoint.name == "kappa":
        return remark("endpoint_kappa_unknown", why=figure.reason)
    return remark("endpoint_less_people_unknown", why=figure.reason)


def _few(figure: Estimate, groups: int) -> Remark:
    if figure.clusters < FEWEST_GROUPS:
        return remark("endpoint_of_few", n=figure.clusters, fewest=FEWEST_GROUPS)
    return remark("endpoint_of_few_alike", groups=figure.clusters, n=groups, fewest=FEWEST_GROUPS)


def _open(endpoint: Endpoint, figure: Estimate, missing: int | None) -> Remark:
    more = remark("labels_settle", chance=ASSURANCE)
    if missing is None:
        hardly = remark("labels_alone_hardly", times=MOST, chance=ASSURANCE)
        more = remark("labels_unplanned") if figure.low is None else hardly
    if endpoint.name == "kappa":
        return remark("endpoint_kappa_open", kappa=told(figure), bar=endpoint.bar, more=more)
    return remark("endpoint_less_people_open", less=told(figure), bar=endpoint.bar, more=more)


def _missed(endpoint: Endpoint, figure: Estimate) -> Remark:
    if endpoint.name == "kappa":
        return remark("kappa_below", kappa=told(figure), bar=endpoint.bar)
    return remark("less_people_below", less=told(figure), bar=endpoint.bar)


def _reached(endpoint: Endpoint, figure: Estimate) -> Remark:
    if endpoint.name == "kappa":
        return remark("kappa_reached", kappa=told(figure), bar=endpoint.bar)
    return remark("less_people_reached", less=told(figure), bar=endpoint.bar)


def _coverage_low(endpoint: Endpoint, coverage: Estimate) -> Remark:
    return remark("coverage_low", share=_share(coverage), least=rounded_share(endpoint.coverage))


def _certified(endpoint: Endpoint, region: Estimate) -> Remark:
    return remark("region_certified", share=_share(region), risk=rounded_share(endpoint.risk))


def _evidence(
    endpoint: Endpoint, figure: Estimate, coverage: Estimate, region: Estimate | None, beside: Beside
) -> tuple[tuple[Remark, ...], tuple[Remark, ...]]:
    """What speaks for the judge, and what against it; what is open speaks for neither."""
    supports: list[Remark] = []
    opposes: list[Remark] = []
    others = (
        (Endpoint(bar=GOOD_KAPPA), beside.kappa),
        (Endpoint("kappa_less_people", NO_WORSE), beside.less_people),
    )
    for other, measured in others:
        if other.name == endpoint.name or measured is None:
            continue
        if _low(measured) >= other.bar:
            supports.append(_reached(other, measured))
        elif _high(measured) < other.bar:
            opposes.append(_missed(other, measured))
    if beside.calibrated is not None and _low(beside.calibrated) >= GOOD_KAPPA:
        supports.append(remark("calibrated_reached", kappa=told(beside.calibrated), bar=GOOD_KAPPA))
    if beside.auc is not None:
        if _low(beside.auc) > BETTER_THAN_A_COIN:
            supports.append(remark("auc_tells", auc=told(beside.auc)))
        elif _high(beside.auc) < BETTER_THAN_A_COIN:
            opposes.append(remark("auc_turned", auc=told(beside.auc), bar=WEAK_AUC))
        elif _high(beside.auc) < WEAK_AUC:
            opposes.append(remark("auc_weak", auc=told(beside.auc), bar=WEAK_AUC))
    if coverage.value is not None:
        if coverage.value >= endpoint.coverage:
            supports.append(remark("coverage_reached", share=_share(coverage), least=rounded_share(endpoint.coverage)))
        else:
            opposes.append(_coverage_low(endpoint, coverage))
    if region is not None:
        if region.value is None:
            opposes.append(remark("region_missing", why=region.reason))
        else:
            # The region is the reason then.
            supports.append(_reached(endpoint, figure))
    if beside.open_units:
        opposes.append(remark("units_open", n=beside.open_units))
    if beside.caveat is not None:
        opposes.append(beside.caveat)
    return tuple(supports), tuple(opposes)


def _low(estimate: Estimate) -> float:
    """Without an interval nothing is sure, also where nothing varied."""
    return -np.inf if estimate.low is None else estimate.low


def _high(estimate: Estimate) -> float:
    return np.inf if estimate.high is None else estimate.high


def _share(estimate: Estimate) -> float:
    assert estimate.value is not None
    return rounded_share(estimate.value)


def told(estimate: Estimate) -> Remark:
    """The figure as a reason gives it, to two digits; the exact one stands beside it.

    >>> told(Estimate(0.6123, 0.5, 0.709))
    {'code': 'figure', 'value': 0.61, 'low': 0.5, 'high': 0.71}
    """
    if estimate.value is None:
        return remark("unknown", why=estimate.reason)
    value = round(estimate.value, 2)
    if estimate.low is None or estimate.high is None:
        return remark("figure_without_interval", value=value, why=estimate.reason)
    low, high = round(estimate.low, 2), round(estimate.high, 2)
    if estimate.level == 0.95:
        return remark("figure", value=value, low=low, high=high)
    return remark("figure_at_level", value=value, low=low, high=high, level=rounded_share(estimate.level))
