"""What ``bench.coverage`` simulates: data whose truth is known, and the intervals made of them.

A cell makes data of one kind and yields, for each method, the truth and an estimate. Units of a cluster resemble each
other: each repeats, with probability .5, what its cluster's own draw was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from alignment import (
    Estimate,
    allocate,
    at_threshold,
    corrected_rate,
    draw,
    ppi_mean,
    roc_auc,
    spearman,
    weighted_at_threshold,
    weighted_mean,
)
from alignment.agreement.alpha import krippendorff_alpha
from alignment.agreement.cohen import cohen_kappa
from alignment.agreement.multirater import gwet_ac1
from alignment.base.interval import Kind, Plan, proportion
from alignment.base.ratings import Ratings

SAME = 0.5

Rng = np.random.Generator
Array = NDArray[Any]
#: Method -> truth and estimate.
Run = dict[str, tuple[float, Estimate]]
Make = Callable[..., Run]


class Cell(NamedTuple):
    """A row of a section's table: its labels, and what makes one run of it."""

    section: str
    row: dict[str, Any]
    make: Make
    given: tuple[Any, ...]
    runs: int


def grouped(rng: Rng, clusters: int, units: int, make: Any) -> Array:
    """``make(size)`` draws; each unit repeats its cluster's with probability ``SAME``. Shape (clusters · units,)."""
    if units == 1:
        return make(clusters)
    own, shared = make((clusters, units)), make((clusters, 1))
    return np.where(rng.random((clusters, units)) < SAME, shared, own).ravel()


def confusion_of(kappa: float, prevalence: float) -> Array:
    """Probabilities of both negative, only b, only a, both positive, for raters of equal prevalence."""
    apart = prevalence * (1 - prevalence) * (1 - kappa)
    return np.array([1 - prevalence - apart, apart, apart, prevalence - apart])


def ratings_of(rng: Rng, cells: Array, clusters: int, units: int) -> Ratings:
    """Two raters whose pairs of levels have the probabilities ``cells``, shape (levels²,)."""
    levels = round(cells.size**0.5)
    drawn = grouped(rng, clusters, units, lambda size: rng.choice(cells.size, p=cells, size=size))
    unit, cluster = np.arange(drawn.size), np.arange(drawn.size) // units
    return Ratings(
        np.tile(unit, 2),
        np.repeat([0, 1], drawn.size),
        np.concatenate(np.divmod(drawn, levels)),
        np.tile(cluster, 2),
        tuple(range(levels)),
        "ordinal",
        ("a", "b"),
    )


def kappas(rng: Rng, kappa: float, prevalence: float, clusters: int, units: int) -> Run:
    ratings = ratings_of(rng, confusion_of(kappa, prevalence), clusters, units)
    return {kind: (kappa, cohen_kappa(ratings, "a", "b", interval=kind, rng=rng)) for kind in compared()}


def compared() -> tuple[Kind, ...]:
    """What reports take, and influence functions beside it."""
    return ("jackknife", "influence")


def alpha_and_ac1(rng: Rng, kappa: float, prevalence: float, clusters: int, units: int) -> Run:
    ratings = ratings_of(rng, confusion_of(kappa, prevalence), clusters, units)
    by_chance = 2 * prevalence * (1 - prevalence)
    ac1 = 1 - by_chance * (1 - kappa) / (1 - by_chance)
    return {"alpha": (kappa, krippendorff_alpha(ratings, rng=rng)), "AC1": (ac1, gwet_ac1(ratings, rng=rng))}


def graded(slip: float, shares: tuple[float, ...]) -> Array:
    """Two raters who see a hidden level and each name, with probability ``slip``, the one above or below."""
    levels = len(shares)
    said = np.zeros((levels, levels))
    for hidden in range(levels):
        for step, chance in ((-1, slip / 2), (0, 1 - slip), (1, slip / 2)):
            said[hidden, min(max(hidden + step, 0), levels - 1)] += chance
    return np.einsum("h,hi,hj->ij", np.array(shares), said, said).ravel()


def quadratic(rng: Rng, slip: float, shares: tuple[float, ...], clusters: int, units: int) -> Run:
    cells = graded(slip, shares)
    levels = len(shares)
    table, steps = cells.reshape(levels, levels), np.subtract.outer(np.arange(levels), np.arange(levels)) ** 2
    truth = 1 - (table * steps).sum() / (np.outer(table.sum(axis=1), table.sum(axis=0)) * steps).sum()
    ratings = ratings_of(rng, cells, clusters, units)
    return {kind: (truth, cohen_kappa(ratings, "a", "b", "quadratic", interval=kind, rng=rng)) for kind in compared()}


def shares(rng: Rng, share: float, clusters: int, units: int) -> Run:
    hits = grouped(rng, clusters, units, lambda size: rng.random(size) < share).reshape(clusters, units).sum(axis=1)
    trials = np.full(clusters, float(units))
    found = proportion(hits.astype(float), trials, Plan("auto", rng, 0.95), name="", undefined="none")
    return {"a share": (share, found)}


def scores(rng: Rng, share: float, apart: float, clusters: int, units: int) -> Run:
    """Normal scores of passes and fails, ``apart`` standard deviations: AUC Φ(apart/√2), and Spearman's ρ from it."""
    human = grouped(rng, clusters, units, lambda size: rng.random(size) < share)
    score = grouped(rng, clusters, units, lambda size: rng.normal(size=size)) + apart * human
    cluster = np.arange(human.size) // units
    auc = float(ndtr(apart / 2**0.5))
    # Of a binary y with share q, Spearman's ρ is (2 AUC - 1)·√(3q(1 - q)).
    rho = (2 * auc - 1) * (3 * share * (1 - share)) ** 0.5
    return {
        "ROC AUC": (auc, roc_auc(score, human, cluster, rng=rng)),
        "Spearman": (rho, spearman(score, human, cluster, rng=rng)),
    }


def corrected(rng: Rng, labelled: int, unlabelled: int, units: int) -> Run:
    """A judge with TPR .9 and TNR .8, 70 % positive."""

    def judged(clusters: int) -> tuple[Array, Array]:
        human = grouped(rng, clusters, units, lambda size: rng.random(size) < 0.7)
        right = grouped(rng, clusters, units, rng.random)
        return np.where(human, right < 0.9, right >= 0.8), human

    judge, human = judged(labelled)
    other, _ = judged(unlabelled)
    at, other_at = np.arange(judge.size) // units, labelled + np.arange(other.size) // units
    delta, exact = (
        corrected_rate(judge, human, at, other, other_at, interval=kind, rng=rng).rate
        for kind in ("influence", "jackknife")
    )
    alone = _labelled_only(rng, judge, human, at, other)
    return {"labelled only": (0.7, alone), "delta method": (0.7, delta), "exact": (0.7, exact)}


def _labelled_only(rng: Rng, judge: Array, human: Array, at: Array, other: Array) -> Estimate:
    """What is often done: the labelled clusters are resampled, and the judged share is taken for certain."""
    rows = int(at.max()) + 1
    cells = np.bincount(at * 4 + 2 * human + judge, minlength=rows * 4).reshape(rows, 4)
    kinds, times = np.unique(cells, axis=0, return_counts=True)
    tn, fp, fn, tp = (rng.multinomial(rows, times / rows, size=2000) @ kinds).T
    with np.errstate(invalid="ignore", divide="ignore"):
        tpr, tnr = tp / (tp + fn), tn / (tn + fp)
        theta = np.clip((other.mean() + tnr - 1) / (tpr + tnr - 1), 0, 1)
    low, high = np.quantile(theta[np.isfinite(theta)], [0.025, 0.975])
    return Estimate(float(np.nanmean(theta[np.isfinite(theta)])), float(low), float(high))


def predicted(rng: Rng, labelled: int, unlabelled: int, units: int, skill: float) -> Run:
    """Verdicts, 70 % positive, and scores that follow them with weight ``skill``."""

    def judged(clusters: int) -> tuple[Array, Array]:
        human = grouped(rng, clusters, units, lambda size: rng.random(size) < 0.7)
        noise = grouped(rng, clusters, units, rng.random)
        return human.astype(float), skill * human + (1 - skill) * noise

    human, judge = judged(labelled)
    _, other = judged(unlabelled)
    at, other_at = np.arange(judge.size) // units, labelled + np.arange(other.size) // units
    found = ppi_mean(human, judge, at, other, other_at, bounds=(0.0, 1.0), rng=rng)
    return {"labels alone": (0.7, found.classical), "λ = 1": (0.7, found.plain), "tuned": (0.7, found.tuned)}


def drawn(rng: Rng, labelled: int, samples: int) -> Run:
    """Of ``samples`` those the judge is unsure of are drawn more often; people pass .8 of all."""
    human = rng.random(samples) < 0.8
    score = np.clip(0.5 + 0.3 * (2 * human - 1) + rng.normal(0, 0.25, samples), 0, 1)
    stratum = np.digitize(score, [0.3, 0.7])
    unsure = np.array([1.0, 3.0, 1.0])
    found = draw(stratum, allocate(stratum, unsure, labelled), rng)
    at = np.flatnonzero(found.drawn)
    given = (score[at], human[at], at, 0.5)
    chances = (found.probability[at], found.stratum[at])
    weighted = weighted_at_threshold(*given, *chances)
    plain = at_threshold(*given, interval="auto", rng=rng)
    truth = DRAWN_TRUTH
    return {
        "mean, weighted": (0.8, weighted_mean(human[at], at, *chances, bounds=(0.0, 1.0))),
        "kappa, weighted": (truth["kappa"], weighted.kappa),
        "TPR, weighted": (truth["tpr"], weighted.tpr),
        "TNR, weighted": (truth["tnr"], weighted.tnr),
        "kappa, unweighted": (truth["kappa"], plain.kappa),
        "TPR, unweighted": (truth["tpr"], plain.tpr),
    }


def _drawn_truth() -> dict[str, float]:
    """Of the judge above at .5: right when the noise stays on its side of ±.3, Φ(.3/.25) of cases."""
    right = 0.8849303297782918
    tp, fn, tn, fp = 0.8 * right, 0.8 * (1 - right), 0.2 * right, 0.2 * (1 - right)
    chance = 0.8 * (tp + fp) + 0.2 * (tn + fn)
    return {"kappa": (right - chance) / (1 - chance), "tpr": right, "tnr": right}


DRAWN_TRUTH = _drawn_truth()


def cells() -> Iterator[Cell]:
    """Every cell of every section."""
    grid = [
        {"units per sample": units, "rarer category": prevalence, "samples": clusters, "true kappa": kappa}
        for units in (1, 5)
        for prevalence in (0.5, 0.1)
        for clusters in (30, 100, 400)
        for kappa in (0.3, 0.6, 0.8)
    ]
    for section, make in (("kappa", kappas), ("alpha", alpha_and_ac1)):
        for row in grid:
            given = (row["true kappa"], row["rarer category"], row["samples"], row["units per sample"])
            yield Cell(section, row, make, given, 2000)
    levels = {"even": (0.25,) * 4, "8 of 10 at the top": (0.05, 0.05, 0.1, 0.8)}
    for name, share in levels.items():
        for slip in (0.15, 0.5):
            for clusters in (30, 100, 400):
                row = {"levels": name, "slips": slip, "samples": clusters}
                yield Cell("quadratic", row, quadratic, (slip, share, clusters, 1), 2000)
    for units in (1, 5):
        for share in (0.7, 0.9, 0.97):
            for clusters in (30, 100, 400):
                row = {"units per sample": units, "true share": share, "samples": clusters}
                yield Cell("shares", row, shares, (share, clusters, units), 2000)
    for units in (1, 5):
        for share in (0.5, 0.1):
            for apart in (1.0, 2.0):
                for clusters in (30, 100, 400):
                    row = {"units per sample": units, "passes": share, "apart": apart, "samples": clusters}
                    yield Cell("scores", row, scores, (share, apart, clusters, units), 1000)
    for units in (1, 5):
        for labelled in (30, 50, 200):
            for unlabelled in (50, 100, 200, 500):
                row = {"units per sample": units, "labelled": labelled, "unlabelled": unlabelled}
                yield Cell("corrected", row, corrected, (labelled, unlabelled, units), 1000)
    for units in (1, 5):
        for skill in (0.0, 0.5, 0.9):
            for labelled in (30, 100, 300):
                row = {"units per sample": units, "judge's skill": skill, "labelled": labelled, "unlabelled": 1000}
                yield Cell("predicted", row, predicted, (labelled, 1000, units, skill), 2000)
    for labelled in (60, 100, 300):
        row = {"labelled": labelled, "of": 2000}
        yield Cell("drawn", row, drawn, (labelled, 2000), 2000)
