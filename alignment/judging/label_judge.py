"""A judge that gives labels, compared with human labels on the same levels."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from alignment.agreement.cohen import cohen_kappa
from alignment.agreement.multirater import percent_agreement
from alignment.base.estimate import Estimate
from alignment.base.interval import Kind
from alignment.base.ratings import Ratings, Scale, encode, encode_values


@dataclass(frozen=True, slots=True)
class LabelResult:
    """Agreement of a judge's labels with people's; linear and quadratic kappa are undefined on a nominal scale."""

    percent: Estimate
    kappa: Estimate
    linear: Estimate
    quadratic: Estimate


def judge_label_kappa(
    human: Sequence[Hashable],
    judge: Sequence[Hashable],
    clusters: Sequence[Hashable],
    *,
    scale: Scale,
    levels: Iterable[Hashable] | None,
    interval: Kind = "auto",
    rng: np.random.Generator | None = None,
    level: float = 0.95,
) -> LabelResult:
    """Percent agreement and Cohen's kappa (plain, linear, quadratic) of two columns of labels, one row per unit.

    Undefined as ``cohen_kappa``; ValueError for a label that is not a level, and for unequal lengths.

    >>> judge_label_kappa("xxyy", "xxyx", [1, 2, 3, 4], scale="nominal", levels="xy", interval="none").kappa.value
    0.5
    """
    if not len(human) == len(judge) == len(clusters):
        raise ValueError(f"columns differ in length: {len(human)} human, {len(judge)} judge, {len(clusters)} clusters")
    levels = None if levels is None else tuple(levels)
    values = [encode_values(human, levels, "human label"), encode_values(judge, levels, "judge label")]
    ratings = Ratings(
        unit=np.tile(np.arange(len(human)), 2),
        rater=np.repeat([0, 1], len(human)),
        value=np.concatenate(values),
        cluster=np.tile(encode(clusters)[0], 2),
        levels=levels,
        scale=scale,
        raters=("human", "judge"),
    )
    plain, linear, quadratic = (
        cohen_kappa(ratings, "human", "judge", weights, interval=interval, rng=rng, level=level)
        for weights in (None, "linear", "quadratic")
    )
    percent = percent_agreement(ratings, interval=interval, rng=rng, level=level)
    return LabelResult(percent, plain, linear, quadratic)
