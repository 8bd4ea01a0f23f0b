"""How well people agree with each other on a criterion."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from alignment import Estimate, Pair, Ratings, agreement_summary, pairwise
from annotate.models import Criterion
from annotate.selectors.ratings import rating_columns, ratings_from


def generator(seed: int, *names: object) -> np.random.Generator:
    """The generator behind one figure: it hangs on the project's seed and on what the figure is about, so that a figure
    is the same whichever others are asked for with it."""
    digest = hashlib.sha256("\x1f".join(map(str, (seed, *names))).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16]))


def agreement(criterion: Criterion, ratings: Ratings | None = None) -> dict[str, Any]:
    """Every agreement statistic of the criterion as plain JSON (docs/statistics.md)."""
    if ratings is None:
        ratings = ratings_from(criterion, rating_columns(criterion))
    seed = criterion.project.seed
    summary = agreement_summary(ratings, generator(seed, "agreement", criterion.key))
    pairs = pairwise(ratings, rng=generator(seed, "pairs", criterion.key))
    return {
        "criterion": criterion.key,
        "scale": criterion.scale,
        "units": ratings.n_units,
        "ratings": len(ratings),
        "raters": list(ratings.raters),
        "estimates": {name: estimate.as_dict() for name, estimate in cast("Mapping[str, Estimate]", summary).items()},
        "pairs": [_pair(pair) for pair in pairs],
    }


def _pair(pair: Pair) -> dict[str, Any]:
    """Plain numbers. `low` and `high`: the interval of the unweighted kappa; `reason`: why one is missing."""
    return {
        "a": pair.a,
        "b": pair.b,
        "n": pair.n,
        "kappa": pair.kappa.value,
        "low": pair.kappa.low,
        "high": pair.kappa.high,
        "linear": pair.linear.value,
        "quadratic": pair.quadratic.value,
        "reason": pair.kappa.reason,
    }
