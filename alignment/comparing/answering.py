"""How often versions answer, and abstain: beside metrics that only some answers have.

An answer that says nothing makes no claim that could be wrong. So a version that is better in what it says is better
only where it answers as often, and abstains no more often from what can be answered. Of questions that can't be
answered abstaining is right: they are in neither rate.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from alignment.base.arrays import Bools
from alignment.base.estimate import Estimate, remark
from alignment.comparing.asked import Table
from alignment.comparing.conclusions import Conclusion, conclude
from alignment.comparing.measured import MeasuredComparison

# Of each rate that has to be no worse whether more is better.
_GUARDS = {"answering": True, "wrong_abstention": False}


@dataclass(frozen=True, eq=False, slots=True)
class Answering:
    """``rates``: "answering", how many of the questions that can be answered have a value of the metric;
    "wrong_abstention" of these, and "right_abstention" of the others. ``worse``: of those that have to be no worse,
    whether there is any question on which a version is, shape (versions,). Where there is none, what may have been
    missed would keep every small test set from a verdict."""

    rates: Mapping[str, MeasuredComparison]
    worse: Mapping[str, Bools]

    @classmethod
    def of(cls, table: Table, undefined: Bools) -> "Answering":
        question = table.cell % table.shape[1]
        answerable = ~np.asarray(table.asked.unanswerable, np.bool_)[question]
        abstained = np.asarray(table.asked.abstained, np.bool_)
        rows = {
            "answering": (~undefined & ~table.failed, answerable),
            "wrong_abstention": (abstained, answerable),
            "right_abstention": (abstained, ~answerable),
        }
        rates = {name: np.where(of, found, np.nan) for name, (found, of) in rows.items()}
        worse = {}
        for name, higher_is_better in _GUARDS.items():
            cells = table.mean(rates[name], np.ones(question.size, np.bool_))
            less = cells - cells[table.asked.baseline]
            worse[name] = ((less < 0) if higher_is_better else (less > 0)).any(axis=1)
        return cls({name: table.measured(rate, is_share=True) for name, rate in rates.items()}, worse)

    def level(self, version: int) -> dict[str, Any]:
        return {name: found.levels[version].as_dict() for name, found in self.rates.items()}

    def difference(self, b: int) -> dict[str, Any]:
        """Of the rates that have to be no worse."""
        return {name: _less(self.rates[name], b).as_dict() for name in _GUARDS}

    def allows(self, said: Conclusion, b: int, margin: float) -> Conclusion:
        """A version that answers only what is easy is not better for it."""
        if said.verdict != "better":
            return said
        for name, higher_is_better in _GUARDS.items():
            found = _less(self.rates[name], b)
            if found.value is None or not self.worse[name][b]:
                continue
            if conclude(found, margin=margin, higher_is_better=higher_is_better).verdict in ("worse", "cannot_tell"):
                difference = round(found.value, 3)
                if name == "answering":
                    return Conclusion("cannot_tell", remark("answers_less_often", difference=difference))
                return Conclusion("cannot_tell", remark("abstains_wrongly_more_often", difference=difference))
        return said


def _less(rate: MeasuredComparison, b: int) -> Estimate:
    """Than the baseline's."""
    return next(one.figure for one in rate.differences if one.b == b)
