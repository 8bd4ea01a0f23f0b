"""Builders of ratings, and the shared real data with figures from independent libraries."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from alignment import Ratings, Scale
from tests.shared_data import shared_data


class Dataset:
    """One folder of the shared data: its human ratings, judge scores, and reference figures."""

    def __init__(self, name: str) -> None:
        self.folder = shared_data(name)
        self.dimensions: dict[str, Any] = self._json("dataset.json")["dimensions"]
        self.reference: dict[str, Any] = self._json("reference.json")
        self.human = list(self._lines("human.jsonl"))
        self.judge = list(self._lines("judge.jsonl"))

    def ratings(self, dimension: str, scale: Scale | None = None) -> Ratings:
        rows = [row for row in self.human if row["dimension"] == dimension]
        units = [(row["sample_id"], row["unit"]) for row in rows]
        return Ratings.from_columns(
            units,
            [row["rater"] for row in rows],
            [row["value"] for row in rows],
            [unit[0] for unit in units],
            scale=scale or self.dimensions[dimension]["scale"],
            levels=self.dimensions[dimension]["levels"],
        )

    def passes(self, dimension: str) -> list[Any]:
        facts = self.dimensions[dimension]
        return facts.get("positive") or [level for level in facts["levels"] if level >= facts["cut"]]

    def scores(self, judge: str) -> dict[tuple[str, str], float]:
        return {(row["sample_id"], row["unit"]): row["score"] for row in self.judge if row["judge"] == judge}

    def _json(self, name: str) -> Any:
        return json.loads((self.folder / name).read_text(encoding="utf-8"))

    def _lines(self, name: str) -> Iterator[Any]:
        with (self.folder / name).open(encoding="utf-8") as lines:
            yield from map(json.loads, lines)


@pytest.fixture(scope="session")
def mtrag() -> Dataset:
    return Dataset("mtrag_human")


@pytest.fixture(scope="session")
def expertqa() -> Dataset:
    return Dataset("expertqa_claims")


@pytest.fixture(scope="session")
def mtbench() -> Dataset:
    return Dataset("mtbench_pairs")


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20250601)


@pytest.fixture(scope="session")
def from_confusion() -> Callable[..., Ratings]:
    """Two raters, "a" by row and "b" by column, from a confusion matrix; every unit its own cluster."""

    def build(table: Sequence[Sequence[int]], scale: Scale = "ordinal") -> Ratings:
        cells = [(i, j) for i, row in enumerate(table) for j, count in enumerate(row) for _ in range(count)]
        units = list(range(len(cells)))
        return Ratings.from_columns(
            units * 2,
            ["a"] * len(units) + ["b"] * len(units),
            [i for i, _ in cells] + [j for _, j in cells],
            units * 2,
            scale=scale,
            levels=range(len(table)),
        )

    return build


@pytest.fixture(scope="session")
def from_rows() -> Callable[..., Ratings]:
    """One row of values per rater, None where a rating is missing; clusters are units unless given."""

    def build(
        rows: Sequence[Sequence[Any]],
        levels: Iterable[Any] | None,
        scale: Scale = "ordinal",
        clusters: Sequence[Any] | None = None,
    ) -> Ratings:
        given = [
            (unit, f"rater {rater}", value, unit if clusters is None else clusters[unit])
            for rater, row in enumerate(rows)
            for unit, value in enumerate(row)
            if value is not None
        ]
        columns = list(zip(*given, strict=True)) if given else [(), (), (), ()]
        return Ratings.from_columns(*columns, scale=scale, levels=levels)

    return build


@pytest.fixture(scope="session")
def with_gaps() -> Callable[..., Ratings]:
    """Random raters who mostly follow a hidden value, in clusters of several units, with a third of ratings missing."""

    def build(seed: int, units: int = 400, raters: int = 5, levels: int = 4, per_cluster: int = 2) -> Ratings:
        rng = np.random.default_rng(seed)
        hidden = np.repeat(rng.integers(levels, size=units // per_cluster + 1), per_cluster)[:units]
        slips = rng.integers(-1, 2, size=(raters, units)) * (rng.random((raters, units)) < 0.5)
        value = np.clip(hidden + slips, 0, levels - 1)
        rater, unit = np.nonzero(rng.random((raters, units)) < 0.67)
        return Ratings(
            unit=unit,
            rater=rater,
            value=value[rater, unit],
            cluster=unit // per_cluster,
            levels=tuple(range(1, levels + 1)),
            scale="ordinal",
            raters=tuple(f"rater {code}" for code in range(raters)),
        )

    return build
