"""Where scikit-learn and scipy do what `alignment` does: how far apart the figures are, and how long each takes.

    python -m bench.libraries

Prints the tables of docs/decisions/0014. Random data, half of it with scores that tie and a tenth of passes; every
figure without its interval, which only `alignment` has. No services.
"""

from __future__ import annotations

import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
from scipy import stats
from sklearn import metrics
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

import alignment
from alignment.agreement.cohen import confusion, kappa_statistic
from alignment.base.arrays import mid_ranks
from alignment.base.tables import disagreement
from alignment.calibration.calibrators import position
from alignment.calibration.reliability import equal_mass_bins
from alignment.calibration.split import folds
from alignment.retrieval.sample_metrics import context_precisions, ndcgs_at_k
from bench.stage import ROOT

SIZES = (200, 20_000)
SEEDS = range(10)
LEVELS = 4
BINS = 15


@dataclass(frozen=True)
class Data:
    score: np.ndarray
    positive: np.ndarray
    stratum: np.ndarray
    cluster: np.ndarray
    a: np.ndarray
    b: np.ndarray
    grades: np.ndarray

    @property
    def chance(self) -> np.ndarray:
        return np.array([0.1, 0.3, 1.0])[self.stratum]

    @property
    def passed(self) -> np.ndarray:
        return self.score >= 0.4


def draw(size: int, seed: int) -> Data:
    rng = np.random.default_rng(seed)
    positive = rng.random(size) < (0.1 if seed % 2 else 0.5)
    score = rng.normal(positive * 0.8, 1.0)
    a = rng.integers(LEVELS, size=size)
    return Data(
        score=np.round(score, 1) if seed % 2 else score,
        positive=positive,
        stratum=np.arange(size) % 3,
        cluster=np.arange(size),
        a=a,
        b=np.where(rng.random(size) < 0.7, a, rng.integers(LEVELS, size=size)),
        grades=rng.integers(4, size=(size // 5, 5)).astype(float),
    )


def kappas(data: Data) -> list[float]:
    cells = confusion(data.cluster, data.a, data.b, LEVELS).sums()
    return [float(kappa_statistic(disagreement(LEVELS, how))(cells)) for how in (None, "linear", "quadratic")]


def their_kappas(data: Data) -> list[float]:
    levels, weightings = range(LEVELS), (None, "linear", "quadratic")
    return [metrics.cohen_kappa_score(data.a, data.b, labels=levels, weights=how) for how in weightings]


def at_threshold(data: Data) -> list[float | None]:
    found = alignment.at_threshold(data.score, data.positive, data.cluster, 0.4, interval="none")
    names = ("kappa", "tpr", "tnr", "precision", "f1", "accuracy", "mcc")
    return [*found.confusion[0], *found.confusion[1], *(getattr(found, name).value for name in names)]


def their_threshold(data: Data) -> list[float]:
    people, judge = data.positive, data.passed
    return [
        *metrics.confusion_matrix(people, judge).ravel(),
        metrics.cohen_kappa_score(people, judge),
        metrics.recall_score(people, judge),
        metrics.recall_score(~people, ~judge),
        metrics.precision_score(people, judge),
        metrics.f1_score(people, judge),
        metrics.accuracy_score(people, judge),
        metrics.matthews_corrcoef(people, judge),
    ]


def weighted(data: Data) -> list[float | None]:
    found = alignment.weighted_at_threshold(
        data.score, data.positive, data.cluster, 0.4, data.chance, data.stratum, interval="none"
    )
    return [found.kappa.value, found.tpr.value, found.accuracy.value]


def their_weighted(data: Data) -> list[float]:
    both = (data.positive, data.passed)
    scored = (metrics.cohen_kappa_score, metrics.recall_score, metrics.accuracy_score)
    return [figure(*both, sample_weight=1 / data.chance) for figure in scored]


def sweep(data: Data) -> Any:
    found = alignment.sweep(data.score, data.positive)
    return np.stack([found.tn, found.fp, found.fn, found.tp, found.thresholds])


def their_sweep(data: Data) -> Any:
    return np.stack(metrics.confusion_matrix_at_thresholds(data.positive, data.score))[:, ::-1]


def best(data: Data) -> float | None:
    return alignment.sweep(data.score, data.positive).best_kappa


def their_best(data: Data) -> float:
    judged = data.score[:, None] >= np.unique(data.score)
    return max(metrics.cohen_kappa_score(data.positive, judge) for judge in judged.T)


def roc(data: Data) -> float | None:
    return alignment.roc_auc(data.score, data.positive, data.cluster, interval="none").value


def precision_recall(data: Data) -> float | None:
    return alignment.pr_auc(data.score, data.positive, data.cluster, interval="none").value


def platt(data: Data) -> Any:
    fitted = alignment.fit_calibrator("platt", data.score, data.positive)
    assert isinstance(fitted, alignment.PlattCalibrator)
    return fitted.probability(data.score)


def their_platt(data: Data) -> Any:
    """Platt's targets as weighted copies of each unit, which is all that a classifier can be told."""
    z = position(data.score, float(data.score.min()), float(data.score.max()), True)[:, None]
    passes, fails = data.positive.sum(), (~data.positive).sum()
    target = np.where(data.positive, (passes + 1) / (passes + 2), 1 / (fails + 2))
    # The two other solvers stop at 1e-6 or so.
    model = LogisticRegression(C=np.inf, tol=1e-12, max_iter=1000, solver="newton-cholesky")
    model.fit(np.tile(z, (2, 1)), np.repeat([1, 0], z.size), np.append(target, 1 - target))
    return model.predict_proba(z)[:, 1]


def isotonic(data: Data) -> Any:
    fitted = alignment.fit_calibrator("isotonic", data.score, data.positive)
    assert isinstance(fitted, alignment.IsotonicCalibrator)
    return fitted.probability(data.score)


def their_isotonic(data: Data) -> Any:
    return IsotonicRegression(out_of_bounds="clip").fit(data.score, data.positive).predict(data.score)


def probabilities(data: Data) -> np.ndarray:
    likely: np.ndarray = 1 / (1 + np.exp(-data.score))
    return likely


def scored(data: Data) -> list[float | None]:
    found = alignment.calibration_figures(
        data.passed, data.positive, data.cluster, probability=probabilities(data), interval="none"
    )
    return [found.brier.value, found.log_loss.value]


def their_scored(data: Data) -> list[float]:
    likely = probabilities(data)
    return [metrics.brier_score_loss(data.positive, likely), metrics.log_loss(data.positive, likely)]


def bins(data: Data) -> float:
    return float(np.bincount(equal_mass_bins(data.score, BINS)).max())


def their_bins(data: Data) -> float:
    """The edges of `calibration_curve(strategy="quantile")`: they cut through scores that tie."""
    edges = np.percentile(data.score, np.linspace(0, 1, BINS + 1) * 100)
    return float(np.bincount(np.searchsorted(edges[1:-1], data.score)).max())


def dealt(data: Data) -> Any:
    return folds(data.cluster.tolist(), data.positive.tolist(), 5, np.random.default_rng(1))


def their_dealt(data: Data) -> Any:
    found = np.empty(data.score.size)
    divided = StratifiedKFold(5, shuffle=True, random_state=1).split(data.score, data.positive)
    for fold, (_, inside) in enumerate(divided):
        found[inside] = fold
    return found


def ndcg(data: Data) -> float:
    return float(ndcgs_at_k(data.grades, 5).mean())


def their_ndcg(data: Data) -> float:
    """One call for all samples, which only works while each has as many contexts."""
    order = np.tile(np.arange(5, 0, -1), (len(data.grades), 1))
    return float(metrics.ndcg_score(data.grades, order, k=5))


def average_precision(data: Data) -> Any:
    return context_precisions(data.grades > 1)[(data.grades > 1).any(axis=1)]


def their_average_precision(data: Data) -> Any:
    relevant = data.grades > 1
    order = np.arange(5, 0, -1)
    return np.array([metrics.average_precision_score(row, order) for row in relevant[relevant.any(axis=1)]])


def correlations(data: Data) -> list[float | None]:
    columns = (data.score, data.b.astype(float), data.cluster)
    named = (alignment.pearson, alignment.spearman, alignment.kendall)
    return [figure(*columns, interval="none").value for figure in named]


def their_correlations(data: Data) -> list[float]:
    return [figure(data.score, data.b).statistic for figure in (stats.pearsonr, stats.spearmanr, stats.kendalltau)]


def ranks(data: Data) -> Any:
    return mid_ranks(data.score)


CANDIDATES: tuple[tuple[str, str, Callable[[Data], Any], Callable[[Data], Any]], ...] = (
    ("kappa of labels, with three weightings", "`cohen_kappa_score`", kappas, their_kappas),
    ("confusion matrix and seven figures", "`confusion_matrix`, `f1_score` …", at_threshold, their_threshold),
    ("… weighted", "the same with `sample_weight`", weighted, their_weighted),
    ("confusion matrix at every threshold", "`confusion_matrix_at_thresholds`", sweep, their_sweep),
    ("the best kappa of all thresholds", "`cohen_kappa_score` at each", best, their_best),
    ("ROC AUC", "`roc_auc_score`", roc, lambda data: metrics.roc_auc_score(data.positive, data.score)),
    (
        "PR AUC",
        "`average_precision_score`",
        precision_recall,
        lambda data: metrics.average_precision_score(data.positive, data.score),
    ),
    ("Platt", "`LogisticRegression`", platt, their_platt),
    ("isotonic", "`IsotonicRegression`", isotonic, their_isotonic),
    ("Brier score and log loss", "`brier_score_loss`, `log_loss`", scored, their_scored),
    ("bins of equal mass, the largest", "`calibration_curve`", bins, their_bins),
    ("folds", "`StratifiedKFold`", dealt, their_dealt),
    ("nDCG", "`ndcg_score`", ndcg, their_ndcg),
    ("context precision", "`average_precision_score`", average_precision, their_average_precision),
    ("correlations", "`scipy.stats`", correlations, their_correlations),
    ("mid-ranks", "`scipy.stats.rankdata`", ranks, lambda data: stats.rankdata(data.score)),
)
#: Would take minutes at the larger size.
SLOW = {their_best, their_average_precision}


def main() -> None:
    warnings.simplefilter("ignore")
    print("| what | theirs | greatest difference | same to the last bit | times as long: 200 units | 20,000 units |")
    print("|---|---|---|---|---|---|")
    for row in rows():
        print("| " + " | ".join(row) + " |")
    print("\n| loaded | processor time | memory |\n|---|---|---|")
    for what in ("scipy.optimize", "scipy.stats", "sklearn.metrics", "sklearn.linear_model"):
        print(f"| `{what}` | " + " | ".join(loading(what)) + " |")


def rows() -> Iterator[list[str]]:
    for name, theirs, ours, other in CANDIDATES:
        apart, same, ratios = 0.0, 0, []
        for seed in SEEDS:
            one, two = (np.asarray(work(draw(SIZES[0], seed)), dtype=float) for work in (ours, other))
            fits = one.shape == two.shape
            apart = max(apart, float(np.abs(one - two).max())) if fits else np.inf
            same += fits and bool((one == two).all())
        for size in SIZES:
            data = draw(size, 0)
            ratios.append("" if size > SIZES[0] and other in SLOW else f"{spent(other, data) / spent(ours, data):.1f}")
        yield [name, theirs, f"{apart:.1g}", f"{same} of {len(SEEDS)}", *ratios]


def spent(work: Callable[[Data], Any], data: Data) -> float:
    """Median seconds of one call."""
    times = []
    while len(times) < 5 or (sum(times) < 0.5 and len(times) < 200):
        began = time.perf_counter()
        work(data)
        times.append(time.perf_counter() - began)
    return median(times)


LOADING = """
import time, psutil, alignment.report
began, before = time.process_time(), psutil.Process().memory_info().rss
import {}
print(time.process_time() - began, (psutil.Process().memory_info().rss - before) / 2**20)
"""


def loading(what: str) -> list[str]:
    """What it takes beside `alignment`: seconds of processor time, and memory."""
    command = [sys.executable, "-c", LOADING.format(what)]
    runs = [subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout for _ in range(5)]
    seconds, mib = zip(*(map(float, run.split()) for run in runs), strict=True)
    return [f"{median(seconds):.2f} s", f"{median(mib):.0f} MiB"]


if __name__ == "__main__":
    main()
