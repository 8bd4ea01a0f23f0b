"""An experiment's levels and differences within parts of its questions: where a version gains, and where it loses.

Nothing is concluded from them: of many parts some differ by chance.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from alignment.base.arrays import Bools
from alignment.comparing.asked import Asked
from alignment.comparing.experiments import Measured, Quality, Rule, metric_figures

#: Beyond so many parts the smallest are left out.
MOST_PARTS = 12
#: Below it a part is said to have few questions.
FEWEST_QUESTIONS = 20
_WAYS = ("people", "raw", "corrected", "decisive")


def sliced_figures(
    asked: Asked,
    metrics: Sequence[Quality | Measured],
    rule: Rule,
    parts: Mapping[str, Sequence[str]],
    *,
    seed: int,
) -> list[dict[str, Any]]:
    """Of every way to part the questions, such as {"category": [that of each question]}, and of each part: {"by",
    "part", "questions", "few", "metrics"}, the greatest first; "" where it isn't known. A metric: {"metric", "unit",
    "direction", "levels", "differences"}, of which all are exploratory, and differences at the level of all comparisons
    of one part together.

    None of a way with fewer than two parts.
    """
    # No metric decides anything within a part.
    explored = replace(rule, primary="", guards={})
    found = []
    for by, names in parts.items():
        counted = sorted(Counter(names).items(), key=lambda one: (-one[1], one[0]))
        if len(counted) < 2:
            continue
        for part, questions in counted[:MOST_PARTS]:
            own = np.array([name == part for name in names])
            figures = metric_figures(
                _asked(asked, own), [_metric(asked, one, own) for one in metrics], explored, seed=seed
            )
            found.append(
                {
                    "by": by,
                    "part": part,
                    "questions": questions,
                    "few": questions < FEWEST_QUESTIONS,
                    "metrics": [_figures(one) for one in figures],
                }
            )
    return found


def _asked(asked: Asked, own: Bools) -> Asked:
    """Of these questions; groups keep their numbers."""
    rows = _rows(asked, own)
    place = np.cumsum(own) - 1
    return replace(
        asked,
        version=np.asarray(asked.version)[rows].tolist(),
        question=place[np.asarray(asked.question)[rows]].tolist(),
        failed=np.asarray(asked.failed)[rows].tolist(),
        abstained=np.asarray(asked.abstained)[rows].tolist(),
        group=np.asarray(asked.group)[own].tolist(),
        unanswerable=np.asarray(asked.unanswerable)[own].tolist(),
    )


def _metric(asked: Asked, metric: Quality | Measured, own: Bools) -> Quality | Measured:
    rows = _rows(asked, own)

    def of(values: Sequence[Any]) -> Any:
        return np.asarray(values)[rows].tolist()

    if isinstance(metric, Measured):
        return replace(metric, value=of(metric.value))
    columns = {name: of(getattr(metric, name)) for name in ("score", "least", "most", "labelled", "undefined")}
    return replace(metric, **columns)


def _rows(asked: Asked, own: Bools) -> Bools:
    """Which responses are to these questions."""
    return own[np.asarray(asked.question, np.int64)]


def _figures(metric: Mapping[str, Any]) -> dict[str, Any]:
    levels = [
        {name: one[name] for name in ("version", "questions", "drawn", "labelled", *_WAYS)} for one in metric["levels"]
    ]
    differences = [{name: one[name] for name in ("a", "b", *_WAYS)} for one in metric["differences"]]
    about = {name: metric[name] for name in ("metric", "unit", "direction")}
    return {**about, "levels": levels, "differences": differences}
