"""Drift: are more of a judge's decisions wrong than was certified? A watch that may be looked at any time."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaln, expit, logit, xlog1py, xlogy

from alignment.base.arrays import Array, Floats, Ints, cluster_rows, renumbered, same_length, sums_by, verdicts
from alignment.base.estimate import NO_UNITS, Estimate
from alignment.base.totals import ratio

#: The rates betted on: odds of an error as multiples of those certified.
ODDS = (1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0)
BISECTIONS = 50
PRIOR = 0.5


@dataclass(frozen=True, eq=False, slots=True)
class DriftWatch:
    """The audit so far; arrays of shape (arrivals,), one entry for each moment at which labels arrived.

    ``log_e`` is the natural logarithm of the e-value: evidence that more is wrong than ``certified``, as the wealth of
    a gambler who began with 1 and bet on it in a game fair at the certified rate. ``apart_log_e`` is that of a gambler
    who doesn't bet on what comes straight after an error, so that a streak of errors is one piece of evidence.
    ``alarm`` is the first arrival at which the latter reached 1/alpha, None so far. ``streaks``: there is no alarm, and
    the former has reached it now: errors come in a row, and a rise can't be told from a streak. ``low`` and ``high``
    hold the error rate of what is settled at all arrivals at once; before anything is, ``rate`` is nan. ``error`` is
    the last of them; its n counts decisions. ``left_out`` decisions came after others of their cluster.
    """

    certified: float
    alpha: float
    arrived: Array
    log_e: Floats
    apart_log_e: Floats
    alarm: int | None
    streaks: bool
    rate: Floats
    low: Floats
    high: Floats
    error: Estimate
    left_out: int


def watch_drift(
    wrong: ArrayLike,
    cluster: ArrayLike,
    arrived: ArrayLike,
    certified: float,
    *,
    waiting: ArrayLike | None = None,
    alpha: float = 0.05,
) -> DriftWatch:
    """Audited decisions, in the order in which their first labels arrived, against the certified error rate.

    ``wrong`` (the judge differs from people), ``cluster``, ``arrived`` (anything that sorts; equal values arrived
    together) and ``waiting`` (people are not done with it; None: they are with all) have shape (decisions,). What
    people differ on is settled last, and there judges err most: in the order in which things are settled, errors at an
    unchanged rate come late and look like a rise. So what waits keeps its place, and each gambler has of it what he
    would have at least, whatever comes of it. In ``rate``, ``low``, ``high`` and ``error`` it is not.

    However often one looks, and whenever one stops, the chance that ``alarm`` is ever set is at most ``alpha`` while,
    after an arrival that was not all wrong, no more than the share ``certified`` of a sample's decisions is wrong on
    average. So errors may be chained, in streaks of any length, as long as nothing that is right lies in a streak. A
    stretch of hard samples, of which some are wrong and some are right, is a rise while it lasts, and may be called
    one. The chance that ``streaks`` is ever set is at most ``alpha`` while no more than ``certified`` is wrong on
    average whatever went before: where errors are chained, it is set more often, and says so.
    Each cluster counts once, by its share s of wrong decisions among those that arrived first: five claims of one
    answer are one piece of evidence, however alike they are.

    e-value = Σ_k w_k mean_q Π_{clusters from arrival k on} (1 + (q - p)(s - p)/(p(1 - p))) with p ``certified``: each
    factor has mean 1 or less when the rate is p or less, so the sum has, too, and Ville's inequality holds at all
    times. In ``apart_log_e`` an arrival is one factor, by the mean s̄ over its clusters, and its bet is multiplied by
    1 - s̄ of the arrival before. q runs over rates with 1.25 to 30 times the odds of p. Bets begin at every arrival k,
    because a change that comes late would else be outweighed by the good times before it; w_0 = ½, and from then on
    what has not begun by arrival k, and counts as it is, is ½ ln 2/ln(k + 2).

    ``low``, ``high``: the rates r with B(½ + S, ½ + T - S)/B(½, ½) < r^S (1 - r)^(T-S)/alpha, for T clusters with
    shares that sum to S. They hold a *constant* rate of errors that are not chained at all arrivals at once; after a
    change, the average so far.

    Undefined: no audited decisions. ValueError: certified or alpha outside (0, 1), unequal lengths.

    Source: Ville (1939); Waudby-Smith & Ramdas (2024), JRSS B 86; the interval: Robbins (1970), Ann. Math. Stat. 41.

    >>> watch = watch_drift([1, 0, 1, 0, 1], range(5), range(5), certified=0.05)
    >>> watch.alarm, np.exp(watch.apart_log_e).round(2).tolist()
    (4, [2.69, 2.69, 17.74, 17.74, 170.68])
    >>> watch_drift([1] * 3, range(3), range(3), certified=0.05).streaks
    True
    """
    errors, (row, rows), when = verdicts(wrong), cluster_rows(cluster), np.asarray(arrived)
    waits = np.zeros(errors.size, dtype=np.bool_) if waiting is None else verdicts(waiting, "waiting")
    same_length(wrong=errors, cluster=row, arrived=when, waiting=waits)
    for name, share in (("certified rate", certified), ("alpha", alpha)):
        if not 0 < share < 1:
            raise ValueError(f"the {name} lies between 0 and 1, not {share}")
    times, arrival = np.unique(when, return_inverse=True)
    first = np.full(rows, times.size)
    np.minimum.at(first, row, arrival)
    counted = arrival == first[row]
    # Arrivals that only bring more of clusters already counted are none.
    happened, arrival_of = np.unique(first, return_inverse=True)
    bounds = [_means(said[counted], row[counted], rows) for said in (errors & ~waits, errors | waits)]
    log_e = _log_e(bounds[0], np.ones(rows), arrival_of, happened.size, certified)
    least, most = (_means(shares, arrival_of, happened.size) for shares in bounds)
    # Of the bet the part that is made for sure where it is won, and that may be made where it is lost.
    part = 1 - np.where(least >= certified, np.append(0.0, most)[:-1], np.append(0.0, least)[:-1])
    apart = _log_e(least, part, np.arange(happened.size), happened.size, certified)
    alarms = np.flatnonzero(apart >= -np.log(alpha))
    settled = counted & ~waits
    present, place = renumbered(row[settled])
    shares, at = _means(errors[settled], place, present.size), arrival_of[present]
    total, clusters = (sums_by(at, each, happened.size).cumsum() for each in (shares, np.ones(present.size)))
    rate = ratio(total, clusters)
    low, high = _sequence(total, clusters, alpha)
    name = "error rate, mean over samples; confidence sequence, valid at every look"
    error = Estimate.undefined(NO_UNITS, method=name, level=1 - alpha)
    if present.size:
        last = float(rate[-1]), float(low[-1]), float(high[-1])
        error = Estimate(*last, 1 - alpha, int(settled.sum()), present.size, name)
    return DriftWatch(
        certified=certified,
        alpha=alpha,
        arrived=times[happened],
        log_e=log_e,
        apart_log_e=apart,
        alarm=int(alarms[0]) if alarms.size else None,
        streaks=not alarms.size and bool((log_e[-1:] >= -np.log(alpha)).any()),
        rate=rate,
        low=low,
        high=high,
        error=error,
        left_out=int((~counted).sum()),
    )


def _means(said: Array, row: Ints, rows: int) -> Floats:
    """Of each row, shape (rows,); each has something."""
    return sums_by(row, said, rows) / np.bincount(row, minlength=rows)


def _log_e(share: Floats, part: Floats, arrival: Ints, arrivals: int, certified: float) -> Floats:
    """The mixture over rates and beginnings, shape (arrivals,), by running sums of logarithms. ``part``, from 0 to 1,
    of each bet is made."""
    k = np.arange(arrivals)
    waiting = 0.5 * np.log(2) / np.log(k + 2.0)
    begins = np.concatenate([[0.5], -np.diff(waiting)])[:arrivals]
    wealths = []
    for rate in expit(logit(certified) + np.log(ODDS)):
        bet = (rate - certified) / (certified * (1 - certified))
        gained = sums_by(arrival, np.log1p(bet * part * (share - certified)), arrivals).cumsum()
        before = np.concatenate([[0.0], gained[:-1]]) if arrivals else gained
        wealths.append(gained + np.logaddexp.accumulate(np.log(begins) - before))
    mean = np.logaddexp.reduce(wealths, axis=0) - np.log(len(ODDS))
    return np.logaddexp(mean, np.log(waiting))


def _sequence(total: Floats, clusters: Floats, alpha: float) -> tuple[Floats, Floats]:
    """Both ends of the confidence sequence, shape (arrivals,), by bisection on either side of the rate so far."""
    missed = clusters - total
    mixed = betaln(PRIOR + total, PRIOR + missed) - betaln(PRIOR, PRIOR)

    def excluded(rate: Floats) -> Array:
        return mixed - xlogy(total, rate) - xlog1py(missed, -rate) >= -np.log(alpha)

    rate = total / np.maximum(clusters, 1)
    return _edge(np.zeros_like(rate), rate, excluded), _edge(np.ones_like(rate), rate, excluded)


def _edge(outer: Floats, inner: Floats, excluded: Callable[[Floats], Array]) -> Floats:
    """Where ``excluded`` ends between an outer end and a rate that is not excluded; the outer end if nowhere."""
    open_end = ~excluded(outer)
    outside, inside = outer.copy(), inner.copy()
    for _ in range(BISECTIONS):
        middle = (outside + inside) / 2
        beyond = excluded(middle)
        outside, inside = np.where(beyond, middle, outside), np.where(beyond, inside, middle)
    return np.where(open_end, outer, outside)
