"""What the units of a response add up to: its share that passes, or a metric of their order."""

from collections.abc import Sequence

import numpy as np

from alignment.base.arrays import Floats, Ints
from alignment.report.per_sample import METRICS, Metric, share_of_units

#: What is neither more nor less with each unit more that passes: between bounds anything may come of it.
_EITHER_WAY = "context_precision"


def derived_metrics() -> dict[str, list[str]]:
    """Of each kind of unit the metrics that its passes add up to.

    >>> derived_metrics()["claim"]
    ['faithfulness']
    """
    return {kind: [one.key for one in metrics if not one.graded] for kind, metrics in METRICS.items()}


def response_values(metric: str | None, values: Sequence[Sequence[float]]) -> list[float]:
    """The ``metric`` of each response from the values of its units, in their order and within 0 and 1; None: their
    mean. NaN: no units, or none is known of one that it rests on. Metrics of an order read values from .5 on as passes.

    >>> response_values(None, [[1.0, 0.5], []]), response_values("reciprocal_rank", [[0.2, 0.9]])
    ([0.75, nan], [0.5])
    """
    rows, sizes = _padded(values)
    return _measured(_named(metric), rows, sizes).tolist()


def response_bounds(
    metric: str | None, least: Sequence[Sequence[float]], most: Sequence[Sequence[float]]
) -> tuple[list[float], list[float]]:
    """Between which values the ``metric`` of each response lies where those of its units lie between these.

    >>> response_bounds(None, [[1.0, 0.0]], [[1.0, 1.0]])
    ([0.5], [1.0])
    >>> response_bounds("context_precision", [[1.0, 0.0]], [[1.0, 1.0]])
    ([0.0], [1.0])
    """
    one, (low, sizes), (high, _) = _named(metric), _padded(least), _padded(most)
    ends = [_measured(one, rows, sizes) for rows in (low, high)]
    if metric == _EITHER_WAY:
        is_open = (low < high).any(axis=1)
        ends = [np.where(is_open & ~np.isnan(found), end, found) for end, found in zip((0.0, 1.0), ends, strict=True)]
    return ends[0].tolist(), ends[1].tolist()


def _named(metric: str | None) -> Metric:
    if metric is None:
        return Metric("mean", share_of_units)
    return next(one for metrics in METRICS.values() for one in metrics if one.key == metric)


def _padded(values: Sequence[Sequence[float]]) -> tuple[Floats, Ints]:
    """Responses in rows, their units in columns, NaN after the last."""
    sizes = np.fromiter(map(len, values), np.int64, len(values))
    rows = np.full((len(values), int(sizes.max(initial=0))), np.nan)
    flat = np.fromiter((value for one in values for value in one), np.float64, int(sizes.sum()))
    rows[np.arange(rows.shape[1]) < sizes[:, None]] = flat
    return rows, sizes


def _measured(metric: Metric, rows: Floats, sizes: Ints) -> Floats:
    wanted = sizes if metric.depth is None else np.minimum(sizes, metric.depth)
    missing = (np.isnan(rows) & (np.arange(rows.shape[1]) < wanted[:, None])).any(axis=1)
    whole = (sizes > 0) & ~missing
    found = np.full(sizes.size, np.nan)
    known = np.nan_to_num(rows[whole])
    if metric.count is not share_of_units:
        known = (known >= 0.5).astype(np.float64)
    found[whole] = metric.count(known, sizes[whole])
    return found
