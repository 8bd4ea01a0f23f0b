"""How well people agree with each other on a criterion, as plain JSON."""

from collections.abc import Mapping
from typing import Any, cast

from alignment.estimate import Estimate
from alignment.figures.seeds import generator
from alignment.pairs import Pair, pairwise
from alignment.ratings import Ratings
from alignment.summary import agreement_summary


def agreement_figures(criterion: str, ratings: Ratings, seed: int) -> dict[str, Any]:
    """Every agreement statistic of the ratings of the criterion with this key."""
    summary = agreement_summary(ratings, generator(seed, "agreement", criterion))
    pairs = pairwise(ratings, rng=generator(seed, "pairs", criterion))
    return {
        "criterion": criterion,
        "scale": ratings.scale,
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
