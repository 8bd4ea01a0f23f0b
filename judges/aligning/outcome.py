"""What an alignment came to: which candidate, what the way of choosing is worth, and what it would have claimed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import alignment
from annotate.core.blindness import Reader, samples_still_to_label
from judges.aligning.asking import INNER, SAME_LABELS, answers_of, parts_of, repeat_of, searches_of
from judges.aligning.candidates import WHOLE
from judges.aligning.people import Levels, divided_units
from judges.aligning.read import keys_of, runs_of
from judges.models import Alignment, AlignmentStep

# Of the interval of a gain; it is wide as choosing makes it, see `alignment.select`.
_LEVEL = 0.95


def outcome_of(of: Alignment) -> dict[str, Any]:
    """Plain JSON: {"candidates": [{"name", "kappa", "error", "answered", "same_labels"}], "chosen", "of_folds",
    "before", "after", "gain": estimates, "same_labels", "units", "groups", "wrong", "divided"}.

    kappa of a candidate: cross-validated; error: of its difference to the best one's; None where there is none.
    answered: of how many units it has a value. same_labels: kappa of what was made from all labels with these. wrong:
    on how many units the procedure is; divided: on how many of these people differ among themselves.
    """
    import numpy as np

    levels, said = Levels(of.criterion), answers_of(of)
    keys = [(name, unit) for name, unit, *_rest in of.units]
    people = [level for *_rest, level in of.units]
    groups = [group for _name, _unit, group, *_rest in of.units]
    folds = [fold for _name, _unit, _group, fold, *_rest in of.units]

    def row(place: int, which: int) -> list[int]:
        values = said[repeat_of(place, which if place else INNER)]
        found = (values.get(key, (None, ""))[0] for key in keys)
        return [alignment.NO_ANSWER if value is None else levels.of(value) for value in found]

    places = range(len(of.candidates))
    inner = np.array([row(place, INNER) for place in places])
    same = np.array([row(place, SAME_LABELS) for place in places])
    rng = alignment.seeded(of.seed)
    found = alignment.select(people, inner, groups, folds, levels.count, rng, same_labels=same, level=_LEVEL)
    whole = alignment.choose(people, same, groups, levels.count)
    place_of = dict(zip(sorted(set(folds)), found.of_folds, strict=True))
    procedure = [inner[place_of[fold]][at] for at, fold in enumerate(folds)]
    wrong = {key for key, level, level_said in zip(keys, people, procedure, strict=True) if level != level_said}
    return {
        "candidates": [
            {
                "name": candidate["name"],
                "kappa": _number(found.choice.kappa[place]),
                "error": _number(found.choice.error[place]),
                "answered": int((inner[place] != alignment.NO_ANSWER).sum()),
                "same_labels": _number(whole.kappa[place]),
            }
            for place, candidate in enumerate(of.candidates)
        ],
        "chosen": found.choice.candidate,
        "of_folds": list(found.of_folds),
        "before": found.before.as_dict(),
        "after": found.after.as_dict(),
        "gain": found.gain.as_dict(),
        "same_labels": found.same_labels,
        "units": len(keys),
        "groups": len(set(groups)),
        "wrong": len(wrong),
        "divided": len(wrong & divided_units(of.criterion, {name for name, _unit in wrong})),
    }


def _number(value: float) -> float | None:
    return None if value != value else float(value)


@dataclass(frozen=True, slots=True)
class Found:
    """What the searches came to, that of all of dev and those without a fold. prompt: what the first
    found; "" where it found none that is better, and for a reader who still has to label a sample of dev (held_back).
    asked, proposed, refused: of all together (judges.aligning.search). failed: how many brought nothing to an end."""

    prompt: str
    held_back: bool
    asked: int
    proposed: int
    refused: dict[str, int]
    failed: int


def found_by_search(of: Alignment, *, reader: Reader) -> Found | None:
    """None where there was no search, or it is not known yet what came of it."""
    runs = runs_of(of).filter(terms__step=AlignmentStep.SEARCH.value)
    if of.step in (AlignmentStep.SEARCH, AlignmentStep.START) or not runs.exists():
        return None
    came = searches_of(of)
    refused = Counter[str]()
    for one in came.values():
        refused.update(one["refused"])
    held_back = bool(samples_still_to_label(reader, list(keys_of(of).values())))
    return Found(
        prompt="" if held_back or WHOLE not in came else came[WHOLE]["prompt"],
        held_back=held_back,
        asked=sum(one["asked"] for one in came.values()),
        proposed=sum(one["proposed"] for one in came.values()),
        refused=dict(refused.most_common()),
        failed=len(parts_of(of)) - len(came),
    )
