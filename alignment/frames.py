"""Estimates and reports as pandas tables: the one place of the alignment module that knows pandas, and loads it when a
table is asked for.

``docs/notebook.md`` works with them. Columns come in by ``Ratings.from_frame``, which needs no pandas of its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pandas import DataFrame as DataFrame  # noqa: PLC0414 - what has `to_frame` names it

_DTYPES = {
    **dict.fromkeys(("value", "low", "high", "level"), "float64"),
    **dict.fromkeys(("n", "clusters"), "Int64"),
    **dict.fromkeys(("method", "reason"), "str"),
}
_FIGURES = ("thresholds", "tn", "fp", "fn", "tp", "kappa", "tpr", "tnr", "precision", "f1", "accuracy", "mcc")
_CURVE = {
    "judge": "str",
    "thresholds": "float64",
    **dict.fromkeys(("tp", "fp"), "int64"),
    **dict.fromkeys(("kappa", "tpr", "tnr"), "float64"),
}
_TOGETHER = "all together"


class _Estimate(Protocol):
    def as_dict(self) -> dict[str, Any]: ...


def _pandas() -> Any:
    import pandas as pd

    return pd


def estimates_frame(
    estimates: Mapping[Any, _Estimate | Mapping[str, Any]], names: Sequence[str | None] = ("figure",)
) -> "DataFrame":
    """A row for each estimate.

    Parameters
    ----------
    estimates : mapping
        Each ``Estimate``, or the plain JSON of one, by what it is called: a key, or a tuple with one for each name.
    names : sequence of str
        What the keys are; the levels of the index are called so.

    Returns
    -------
    DataFrame
        Columns value, low, high, level, n, clusters, method and reason. What is undefined is NaN, never 0, with the
        code of the reason beside it.

    Examples
    --------
    >>> from alignment import Estimate
    >>> from alignment.base.estimate import remark
    >>> alpha = Estimate(0.5, 0.3, 0.7, n=40, clusters=40, method="alpha")
    >>> table = estimates_frame({"alpha": alpha, "kappa": Estimate.undefined(remark("no_units"))})
    >>> table["value"].tolist(), table.loc["kappa", "reason"]
    ([0.5, nan], 'no_units')
    """
    pd = _pandas()
    rows = [one if isinstance(one, Mapping) else one.as_dict() for one in estimates.values()]
    rows = [{**row, "reason": row.get("reason") and row["reason"]["code"]} for row in rows]
    columns = {name: pd.array([row.get(name) for row in rows], dtype=kind) for name, kind in _DTYPES.items()}
    keys = list(estimates)
    if len(names) == 1:
        index = pd.Index(keys, name=names[0], tupleize_cols=False)
    else:
        index = pd.MultiIndex.from_frame(pd.DataFrame(keys, columns=list(names)))
    return pd.DataFrame(columns, index=index)


def sweep_frame(sweep: Any) -> "DataFrame":
    """What ``Sweep.to_frame`` returns."""
    columns = {name: getattr(sweep, name) for name in _FIGURES}
    return _pandas().DataFrame(columns).rename(columns={"thresholds": "threshold"}).set_index("threshold")


def report_frames(figures: Mapping[str, Any]) -> dict[str, "DataFrame"]:
    """The tables of a report.

    Parameters
    ----------
    figures : mapping
        What ``report_figures`` returns: ``"figures"`` in the ``report.json`` of a download, ``"result"`` of a report by
        the API.

    Returns
    -------
    dict of str to DataFrame
        * agreement: people among themselves, by figure, as ``estimates_frame`` has them; "people" is their mean kappa
          on pass and fail
        * annotators: the same by annotator and figure; the last one is "all together"
        * judges: the same by judge and figure, such as ``at_threshold.kappa``, ``roc_auc``, ``values.pr_auc.fails``
        * options: how often people chose each, and whether it passes
        * matrix: kappa of raters ``a`` and ``b``, without an interval or a value where there is a reason
        * thresholds: by judge and threshold tp, fp, kappa, tpr and tnr on dev, at most 200 of each judge

        What is listed for parts of the data (slices, weeks, bins) stays in the JSON.

    Examples
    --------
    >>> from alignment.report import Criterion, Evidence, JudgeScores, Option, report_figures
    >>> criterion = Criterion("ok", 1, "OK", "answer", "binary", "", (Option(0, "no"), Option(1, "yes")), (1,))
    >>> units = [(f"s{place}", "answer") for place in range(8)]
    >>> strict = JudgeScores("strict", "1", "ok", True, {unit: place % 2 for place, unit in enumerate(units)})
    >>> evidence = Evidence(
    ...     criterion, 1, units, ["ann"] * 8, [0, 1] * 4, {}, [strict], {f"s{place}": place < 4 for place in range(8)}
    ... )
    >>> tables = report_frames(report_figures(evidence))
    >>> tables["judges"].loc[("strict", "at_threshold.kappa"), "value"]
    np.float64(1.0)
    >>> tables["agreement"].loc["fleiss_kappa", "reason"]
    'no_pairs'
    """
    judges = {judge["title"]: judge for judge in figures["judges"]}
    people = figures["annotators"]
    annotators = {person["name"]: person for person in people["people"]} | {_TOGETHER: people["together"]}
    return {
        "agreement": estimates_frame({**figures["agreement"]["estimates"], "people": figures["people"]}),
        "annotators": _by("annotator", annotators),
        "judges": _by("judge", judges),
        "options": _pandas().DataFrame(figures["prevalence"], columns=["value", "label", "passes", "share", "count"]),
        "matrix": _matrix(figures["matrix"]),
        "thresholds": _thresholds({title: judge["sweep"] for title, judge in judges.items() if judge["sweep"]}),
    }


def _by(name: str, things: Mapping[str, Mapping[str, Any]]) -> "DataFrame":
    found = {(title, ".".join(path)): one for title, thing in things.items() for path, one in _within(thing)}
    return estimates_frame(found, (name, "figure"))


def _within(node: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Every estimate in plain JSON, and the names that lead to it; lists are passed over."""
    if isinstance(node, Mapping):
        if {"value", "low", "high", "reason"} <= node.keys():
            yield path, node
        else:
            for name, inner in node.items():
                yield from _within(inner, (*path, name))


def _matrix(matrix: Mapping[str, Any]) -> "DataFrame":
    names = [rater["name"] for rater in matrix["raters"]]
    found = {
        (a, b): {**cell, "value": cell["kappa"]}
        for a, row in zip(names, matrix["cells"], strict=True)
        for b, cell in zip(names, row, strict=True)
        if cell is not None
    }
    return estimates_frame(found, ("a", "b"))[["value", "low", "high", "n", "reason"]]


def _thresholds(curves: Mapping[str, Mapping[str, Any]]) -> "DataFrame":
    pd = _pandas()
    parts = [pd.DataFrame({"judge": title, **curve}, columns=list(_CURVE)) for title, curve in curves.items()]
    frame = pd.concat([pd.DataFrame(columns=list(_CURVE)), *parts]).astype(_CURVE)
    return frame.rename(columns={"thresholds": "threshold"}).set_index(["judge", "threshold"])
