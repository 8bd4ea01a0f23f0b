"""Which units of dev make good examples: unlike each other, or hard for the judge, with every value in turn."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import zip_longest
from typing import Literal

from judges.aligning.people import Unit
from judges.kinds.base import Config
from judges.kinds.llm.examples import LONGEST_REASON, Example, example_of
from judges.kinds.llm.nearest import likeness
from judges.kinds.llm.prompt import sample_names, texts_in

Way = Literal["diverse", "hard"]


def examples_of(
    config: Config, units: Sequence[Unit], wrong: Collection[tuple[str, str]], count: int, way: Way
) -> list[Example]:
    """At most so many, of different samples, as a judge's configuration has them, with people's first reason.

    wrong: the units that the judge gets wrong. diverse: of each value the one that is least like those before it, the
    first being the most usual one; hard: those that the judge gets wrong first. The same units in any order give the
    same.
    """
    shown = sample_names(config["prompt"])
    made: list[tuple[Unit, Example]] = []
    for unit in sorted(units, key=lambda unit: unit.key):
        example = example_of(unit.sample, unit.unit, unit.value, shown)
        if example is not None:
            reason = next((text for text in unit.reasons if len(text) <= LONGEST_REASON), "")
            made.append((unit, {**example, **({"reason": reason} if reason else {})}))
    order = _spread([" ".join(texts_in(example["shows"].values())) for _unit, example in made])
    if way == "hard":
        order.sort(key=lambda place: made[place][0].key not in wrong)
    by_value: dict[str, list[int]] = {}
    for place in order:
        by_value.setdefault(repr(made[place][0].value), []).append(place)
    chosen: list[Example] = []
    taken: set[str] = set()
    for turn in zip_longest(*(by_value[value] for value in sorted(by_value))):
        for place in turn:
            if place is None or made[place][0].sample.external_id in taken:
                continue
            if len(chosen) == count:
                return chosen
            taken.add(made[place][0].sample.external_id)
            chosen.append(made[place][1])
    return chosen


def _spread(texts: Sequence[str]) -> list[int]:
    """Places, each the farthest from all before it (by the nearest of them); the first is the nearest to all."""
    import numpy as np

    if not texts:
        return []
    alike = likeness(texts)
    order = [int(alike.sum(axis=0).argmax())]
    nearest = alike[order[0]].copy()
    left = np.ones(len(texts), dtype=bool)
    left[order[0]] = False
    for _ in range(len(texts) - 1):
        place = int(np.where(left, nearest, np.inf).argmin())
        order.append(place)
        left[place] = False
        nearest = np.maximum(nearest, alike[place])
    return order
