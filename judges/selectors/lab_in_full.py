"""A trial as the API gives it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from annotate.models import User
from judges.models import Trial
from judges.selectors.compared_words import outcome
from judges.selectors.lab import Found, is_under_way, title_of, trial_as_dict, trial_figures, tried_on
from judges.selectors.lab_units import Unit, differing, with_words

# Of the units that differ.
MOST_BY_API = 100


def trial_in_full(trial: Trial, reader: User | None, *, named: bool) -> dict[str, Any]:
    """What one gets by API: `result` None while the trial is under way."""
    found = None if is_under_way(trial) else trial_figures(trial)
    return {
        **trial_as_dict(trial),
        "tried": tried_on(trial),
        "result": None if found is None else _result(trial, found, reader, named),
    }


def _result(trial: Trial, found: Found, reader: User | None, named: bool) -> dict[str, Any]:
    figures, titles = found.figures, (title_of(trial.base), title_of(trial.version))
    rows = differing(found, reader)
    units = with_words(trial, found, rows.rows[:MOST_BY_API], named=named)
    return {
        "outcome": outcome(*titles, figures),
        **{name: figures[name] for name in ("basis", "units", "samples", "reason", "own", "difference")},
        "caveat": found.caveat,
        "versions": [
            {
                "title": title,
                "coverage": figures["coverage"][at],
                "failed": dict(found.failed[at]),
                "threshold": figures["thresholds"][at],
                **asdict(found.spent[at]),
                "cost": None if found.spent[at].cost is None else str(found.spent[at].cost),
            }
            for at, title in enumerate(titles)
        ],
        "counts": rows.counts,
        "held_back": rows.held_back,
        "flipped": [_as_dict(unit) for unit in units],
    }


def _as_dict(unit: Unit) -> dict[str, Any]:
    """By ids that are the same in every installation."""
    given = asdict(unit)
    given["sample"] = given.pop("external_id")
    del given["title"]
    return given
