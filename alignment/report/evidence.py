"""What the figures on one criterion rest on: what people said, what judges scored, and how samples are divided.

A report keeps its evidence as plain JSON, so that its figures can be worked out again anywhere: with the same
randomness, one generator for each figure.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np

from alignment.base.ratings import Ratings, Scale

# A unit: its sample's own id, which is the same in every installation, and the address within the sample.
UnitKey = tuple[str, str]
Value = bool | int | float | str


@dataclass(frozen=True, slots=True)
class Option:
    """A level of the scale, and how people read it."""

    value: Value
    label: str


@dataclass(frozen=True, slots=True)
class Criterion:
    """What was asked. ``options`` is empty on an interval scale without levels; ``passes`` are the values that pass."""

    key: str
    version: int
    name: str
    unit: str
    scale: Scale
    prompt: str
    options: tuple[Option, ...]
    passes: tuple[Value, ...]

    @property
    def levels(self) -> list[Value]:
        return [option.value for option in self.options]


@dataclass(frozen=True, eq=False, slots=True)
class JudgeScores:
    """All that one version of a judge said under one name for it (``dimension``).

    A unit is in one of the three: a number, a label (one of the criterion's levels), or the reason why there is none.
    """

    judge: str
    version: str
    dimension: str
    higher_is_better: bool
    numbers: Mapping[UnitKey, float] = field(default_factory=dict)
    labels: Mapping[UnitKey, Value] = field(default_factory=dict)
    failed: Mapping[UnitKey, str] = field(default_factory=dict)
    # What it said when it was asked again about the same units: of each unit one or more numbers (float), or labels.
    again: Mapping[UnitKey, Sequence[Value]] = field(default_factory=dict)

    @property
    def name(self) -> tuple[str, str, str]:
        return self.judge, self.version, self.dimension


class Before(NamedTuple):
    """A label that its rater has replaced by one of a later task."""

    unit: UnitKey
    rater: str
    value: Value


class Chance(NamedTuple):
    """How a labelled sample came to be labelled: with which probability it was drawn, and among which others.

    Stratum 0 holds those known before the draw: each stands for itself alone, with probability 1.
    """

    probability: float
    stratum: int


@dataclass(frozen=True, eq=False, slots=True)
class Evidence:
    """``units``, ``raters``, ``values``: one row per label that counts, in the order of unit and rater; beside them
    ``days`` ("2026-11-21", UTC), None where the day is unknown, as of labels made elsewhere, and ``seconds`` since the
    rater's choice before it in the same task, None where there is none or the gap is too long to have been work.

    ``before``: labels that the same rater had given the same unit, and that no longer count.
    ``verdicts``: the values that reviewers or the rule settled. ``is_dev``: the side of each sample that has one.
    ``judges``: of each judge its latest version; ``earlier``: the versions before it. ``metadata``: of each sample with
    labels, the values that may name a slice. ``chances``: of every sample of the latest finished draw, labelled or
    skipped, and of every sample labelled before it; the draw stands for samples that came later. Empty when nothing was
    drawn. ``seed``: the project's.

    ``sizes``: of each sample with labels, how many units of the criterion's kind it has; empty where it has one of
    them. ``whole``: what judges gave such samples as a whole (unit "answer"), of each judge its latest version.
    ``measures``: which metric a dimension of these names; a dimension that names none is compared with each.
    """

    criterion: Criterion
    seed: int
    units: Sequence[UnitKey]
    raters: Sequence[str]
    values: Sequence[Value]
    verdicts: Mapping[UnitKey, Value]
    judges: Sequence[JudgeScores] = ()
    is_dev: Mapping[str, bool] = field(default_factory=dict)
    days: Sequence[str | None] = ()
    seconds: Sequence[float | None] = ()
    before: Sequence[Before] = ()
    earlier: Sequence[JudgeScores] = ()
    metadata: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    chances: Mapping[str, Chance] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)
    whole: Sequence[JudgeScores] = ()
    measures: Mapping[str, str] = field(default_factory=dict)

    def ratings(self) -> Ratings:
        """The labels on the criterion's own scale; the cluster is the sample."""
        return Ratings.from_columns(
            self.units,
            self.raters,
            self.values,
            [sample for sample, _ in self.units],
            scale=self.criterion.scale,
            levels=self.criterion.levels or None,
        )


FORMAT = 2
_BY_UNIT = ("numbers", "labels", "failed", "again")


def evidence_as_dict(evidence: Evidence) -> dict[str, Any]:
    """Columns of equal length for what has many rows; floats keep every digit in JSON."""
    return {
        "format": FORMAT,
        "criterion": asdict(evidence.criterion),
        "seed": evidence.seed,
        "ratings": {
            **_addresses(evidence.units),
            "rater": list(evidence.raters),
            "value": list(evidence.values),
            "day": list(evidence.days),
            "seconds": list(evidence.seconds),
        },
        "before": {
            **_addresses([row.unit for row in evidence.before]),
            "rater": [row.rater for row in evidence.before],
            "value": [row.value for row in evidence.before],
        },
        "verdicts": _columns(evidence.verdicts),
        "is_dev": dict(evidence.is_dev),
        "metadata": {sample: dict(values) for sample, values in evidence.metadata.items()},
        "chances": {
            "sample": list(evidence.chances),
            "probability": [chance.probability for chance in evidence.chances.values()],
            "stratum": [chance.stratum for chance in evidence.chances.values()],
        },
        "judges": [_said(one) for one in evidence.judges],
        "earlier": [_said(one) for one in evidence.earlier],
        "sizes": dict(evidence.sizes),
        "whole": [_said(one) for one in evidence.whole],
        "measures": dict(evidence.measures),
    }


def evidence_from_dict(found: Mapping[str, Any]) -> Evidence:
    """Raises ValueError for another format, and for columns of unequal length."""
    if found.get("format") != FORMAT:
        raise ValueError(f"evidence of format {found.get('format')!r}; this version reads format {FORMAT}")
    criterion = dict(found["criterion"])
    options = tuple(Option(**option) for option in criterion.pop("options"))
    passes = tuple(criterion.pop("passes"))
    ratings, before = found["ratings"], found["before"]
    chances = zip(*(found["chances"][name] for name in ("sample", "probability", "stratum")), strict=True)
    return Evidence(
        criterion=Criterion(**criterion, options=options, passes=passes),
        seed=found["seed"],
        units=_units(ratings),
        raters=ratings["rater"],
        values=ratings["value"],
        verdicts=_mapping(found["verdicts"]),
        is_dev=found["is_dev"],
        judges=[_scores(one) for one in found["judges"]],
        days=ratings["day"],
        seconds=ratings["seconds"],
        before=list(map(Before, _units(before), before["rater"], before["value"])),
        earlier=[_scores(one) for one in found["earlier"]],
        metadata=found["metadata"],
        chances={sample: Chance(*chance) for sample, *chance in chances},
        sizes=found["sizes"],
        whole=[_scores(one) for one in found["whole"]],
        measures=found["measures"],
    )


def _said(one: JudgeScores) -> dict[str, Any]:
    values = {each.name: getattr(one, each.name) for each in fields(one)}
    return {name: _columns(value) if name in _BY_UNIT else value for name, value in values.items()}


def _scores(one: Mapping[str, Any]) -> JudgeScores:
    values: dict[str, Any] = {each.name: one[each.name] for each in fields(JudgeScores)}
    return JudgeScores(**values | {name: _mapping(values[name]) for name in _BY_UNIT})


def _addresses(units: Sequence[UnitKey]) -> dict[str, list[str]]:
    return {"sample": [sample for sample, _ in units], "unit": [unit for _, unit in units]}


def _columns(values: Mapping[UnitKey, Any]) -> dict[str, list[Any]]:
    return {**_addresses(list(values)), "value": list(values.values())}


def _units(columns: Mapping[str, Sequence[str]]) -> list[UnitKey]:
    return list(zip(columns["sample"], columns["unit"], strict=True))


def _mapping(columns: Mapping[str, Sequence[Any]]) -> dict[UnitKey, Any]:
    return dict(zip(_units(columns), columns["value"], strict=True))


def generator(seed: int, *names: object) -> np.random.Generator:
    """The generator behind one figure: it hangs on the project's seed and on what the figure is about, so that a figure
    is the same whichever others are asked for with it."""
    digest = hashlib.sha256("\x1f".join(map(str, (seed, *names))).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16]))
