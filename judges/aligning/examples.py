"""Which units of dev make good examples: unlike each other, or hard for the judge, with every value in turn."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import zip_longest
from typing import Any, Literal

from judges.aligning.people import Unit
from judges.kinds.base import Config
from judges.kinds.llm.examples import LONGEST_REASON, Example, example_of
from judges.kinds.llm.nearest import likeness
from judges.kinds.llm.prompt import sample_names, texts_in

Way = Literal["diverse", "hard"]


class Pool:
    """The units that examples can be of, with people's first reason. How alike they are is found once for all choices
    from them: it takes longer than all that is chosen."""

    def __init__(self, config: Config, units: Sequence[Unit]) -> None:
        shown = sample_names(config["prompt"])
        self._made: list[tuple[Unit, Example]] = []
        for unit in sorted(units, key=lambda unit: unit.key):
            example = example_of(unit.sample, unit.unit, unit.value, shown)
            if example is not None:
                reason = next((text for text in unit.reasons if len(text) <= LONGEST_REASON), "")
                self._made.append((unit, {**example, **({"reason": reason} if reason else {})}))
        texts = [" ".join(texts_in(example["shows"].values())) for _unit, example in self._made]
        self._alike: Any = likeness(texts) if texts else None

    def examples(
        self, without_fold: int | None, wrong: Collection[tuple[str, str]], count: int, way: Way
    ) -> list[Example]:
        """At most so many, of different samples, as a judge's configuration has them.

        wrong: the units that the judge gets wrong. diverse: of each value the one that is least like those before it,
        the first being the most usual one; hard: those that the judge gets wrong first. The same units in any order
        give the same.
        """
        made = self._made
        order = self._spread([place for place, (unit, _one) in enumerate(made) if unit.fold != without_fold])
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

    def _spread(self, places: Sequence[int]) -> list[int]:
        """These places, each the farthest from all before it (by the nearest of them); the first is the nearest to
        all."""
        import numpy as np

        if not places:
            return []
        alike = self._alike[np.ix_(places, places)]
        order = [int(alike.sum(axis=0).argmax())]
        nearest = alike[order[0]].copy()
        left = np.ones(len(places), dtype=bool)
        left[order[0]] = False
        for _ in range(len(places) - 1):
            at = int(np.where(left, nearest, np.inf).argmin())
            order.append(at)
            left[at] = False
            nearest = np.maximum(nearest, alike[at])
        return [places[at] for at in order]
