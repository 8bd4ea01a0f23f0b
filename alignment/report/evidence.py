"""What the figures on one criterion rest on: what people said, what judges scored, and how samples are divided.

A report keeps its evidence as plain JSON, so that its figures can be worked out again anywhere: with the same
randomness, one generator for each figure.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import chain
from typing import Any, Literal, NamedTuple, Self, cast

import numpy as np

from alignment.base.coded import Coded, different, kept
from alignment.base.ratings import Ratings, Scale, encode
from alignment.judging.decision import Endpoint

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
    # Samples of which its answers are left out, since they are closed for another criterion that it is compared with.
    closed: Collection[str] = ()

    @property
    def name(self) -> tuple[str, str, str]:
        return self.judge, self.version, self.dimension

    @property
    def asked(self) -> set[UnitKey]:
        """Units that it was asked about, whatever came of that."""
        return {*self.numbers, *self.labels, *self.failed}

    def without(self, samples: Collection[str]) -> Self:
        """Without what it said of these."""
        left: dict[str, Any] = {
            name: {unit: said for unit, said in getattr(self, name).items() if unit[0] not in samples}
            for name in _BY_UNIT
        }
        return replace(self, **left)


DEFAULT = Endpoint()
# Its fields that are of units.
_BY_UNIT = ("numbers", "labels", "failed", "again")


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


class DrawnBy(NamedTuple):
    """Labelled samples whose chances are known: how many, and how they came.

    ``how``: "all", "random" or "planned", of batch number ``batch``; "before" it, so that they stand for themselves; or
    "declared_all", "declared_random", "declared_column", of labels made elsewhere (``batch`` None). ``by``: who drew or
    declared it, "" on the command line; ``day``: when (UTC).
    """

    how: str
    samples: int
    by: str
    day: str
    batch: int | None


# Why a unit is not settled: one label that only its rater stands behind, given here or made elsewhere; or several that
# are still open, as their batch goes on or a reviewer has to decide.
Unsettled = Literal["single", "elsewhere", "open"]


class Declared(NamedTuple):
    """Units that one label settles because an admin said so: how many, who, on which day (UTC), and for which batch.
    ``batch`` None: for labels made elsewhere. ``by`` "": on the command line."""

    units: int
    by: str
    day: str
    batch: int | None


@dataclass(frozen=True, eq=False, slots=True)
class Evidence:
    """``units``, ``raters``, ``values``: one row per label that counts, in the order of unit and rater; beside them
    ``days`` ("2026-11-21", UTC), None where the day is unknown, as of labels made elsewhere, and ``seconds`` since the
    rater's choice before it in the same task, None where there is none or the gap is too long to have been work; and
    ``too_fast``: whether it came faster than its rater can have read what it is about; and ``waiting``: whether it is
    no part of its unit's value before its batch is done with it, since labels made elsewhere settle the unit so far.

    ``before``: labels that the same rater had given the same unit, and that no longer count.
    ``verdicts``: the values that reviewers or the rule settled. ``unsettled``: units with labels that settle nothing
    yet, which judges are compared with only where ``settled_only`` is false. ``declared``: whose word it is that single
    labels settle units. ``is_dev``: whether each sample that is dev or test is dev; on neither side are samples that
    are kept for comparing systems, and those that have none yet. ``groups``: of each sample that varies together with
    others, such as the answers to one question, the name of their group; every other sample is its own.
    ``judges``: of each judge its latest version; ``earlier``: the versions before it. ``metadata``: of each sample with
    labels, the values that may name a slice. ``chances``: of every sample of the latest finished draw, labelled or
    skipped, of every sample labelled before it, and of those labelled elsewhere of which it was declared. A labelled
    sample that is not in it was chosen, and is in no guarantee. Empty when nothing was drawn. ``drawn_by``: where the
    chances of the labelled ones are from. ``nameless``: further chances, of samples that are closed (``locked``).
    ``seed``: the project's.

    ``sizes``: of each sample with labels, how many units of the criterion's kind it has; empty where it has one of
    them. ``dropped``: of those of them that have such, the indices that are no units any more.
    ``whole``: what judges gave such samples as a whole (unit "answer"), of each judge its latest version.
    ``measures``: which metric a dimension of these names; a dimension that names none is compared with each.
    ``abstained``: how many answers of the project abstain; they have no claims, and are in none of the rest.
    ``versions``: of each sample with scores or labels the version of the pipeline that answered; empty where it is one.
    ``endpoint``: what a judge was declared to have to show before it may decide.
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
    too_fast: Sequence[bool] = ()
    waiting: Sequence[bool] = ()
    before: Sequence[Before] = ()
    earlier: Sequence[JudgeScores] = ()
    metadata: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    chances: Mapping[str, Chance] = field(default_factory=dict)
    drawn_by: Sequence[DrawnBy] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    dropped: Mapping[str, Sequence[int]] = field(default_factory=dict)
    whole: Sequence[JudgeScores] = ()
    measures: Mapping[str, str] = field(default_factory=dict)
    unsettled: Mapping[UnitKey, Unsettled] = field(default_factory=dict)
    settled_only: bool = True
    declared: Sequence[Declared] = ()
    abstained: int = 0
    versions: Mapping[str, str] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=dict)
    endpoint: Endpoint = DEFAULT
    nameless: Sequence[Chance] = ()

    def group_of(self, sample: str) -> str:
        """What varies together: the cluster of intervals, and what folds and sides are made of."""
        return self.groups.get(sample, sample)

    def clusters(self, units: Iterable[UnitKey]) -> list[str]:
        """The group of each unit."""
        if not self.groups:
            return [sample for sample, _ in units]
        group_of = self.groups.get
        return [group_of(sample, sample) for sample, _ in units]

    def samples(self) -> list[str]:
        """Those of which people or judges said something, in order."""
        said: list[Iterable[UnitKey]] = [different(self.units), self.verdicts, (row.unit for row in self.before)]
        said += [getattr(one, name) for one in (*self.judges, *self.earlier, *self.whole) for name in _BY_UNIT]
        return sorted({sample for units in said for sample, _ in units})

    def deciding(self) -> Self:
        """Only with the labels that say what a unit's value is."""
        if not (self.settled_only and any(self.waiting)):
            return self
        return self.kept([not waits for waits in self.waiting])

    def _alone(self) -> set[UnitKey]:
        """Units of which nothing counts: of one label that settles nothing."""
        return {unit for unit, why in self.unsettled.items() if why != "open"} if self.settled_only else set()

    def without_single(self) -> Self:
        """Without units of one label that settles nothing."""
        alone = self._alone()
        if not alone:
            return self
        rest = {unit: why for unit, why in self.unsettled.items() if unit not in alone}
        return replace(self.kept([unit not in alone for unit in self.units]), unsettled=rest)

    def locked(self) -> Self:
        """What may be shown or exported before a look: without what judges said of samples that people labelled and
        that are not dev. Labels stay, so people's agreement is of all. A planned draw goes by what judges say, so of
        such samples its chances are told without their names.

        Where the criterion says nowhere what passes there are no halves, and nothing is closed.
        """
        closed = self.closed()
        if not closed:
            return self
        judges: dict[str, Any] = {
            name: [one.without(closed) for one in getattr(self, name)] for name in ("judges", "earlier", "whole")
        }
        if not any(row.how == "planned" for row in self.drawn_by):
            return replace(self, **judges)
        named = {sample: chance for sample, chance in self.chances.items() if sample not in closed}
        nameless = sorted(chance for sample, chance in self.chances.items() if sample in closed)
        return replace(self, **judges, chances=named, nameless=(*self.nameless, *nameless))

    def closed(self) -> set[str]:
        """Samples of the test half, and those with a unit that counts, or is open, and no side of the two."""
        if not self.criterion.passes:
            return set()
        alone = self._alone()
        labelled = {unit[0] for unit in chain(different(self.units), self.verdicts) if unit not in alone}
        tested = {sample for sample, is_dev in self.is_dev.items() if not is_dev}
        return tested | {sample for sample in labelled if not self.is_dev.get(sample, False)}

    def kept(self, rows: Sequence[bool]) -> Self:
        """Only with these labels."""
        columns: dict[str, Any] = {name: kept(getattr(self, name), rows) for name in _BY_LABEL}
        return replace(self, **columns)

    def ratings(self) -> Ratings:
        """The labels on the criterion's own scale; the cluster is the sample's group."""
        code, names = encode(self.units)
        return Ratings.from_columns(
            Coded(names, code),
            self.raters,
            self.values,
            Coded(self.clusters(cast("tuple[UnitKey, ...]", names)), code),
            scale=self.criterion.scale,
            levels=self.criterion.levels or None,
        )


# The columns of an evidence with a row per label.
_BY_LABEL = ("units", "raters", "values", "days", "seconds", "too_fast", "waiting")
FORMAT = 3


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
            "too_fast": list(evidence.too_fast),
            "waiting": list(evidence.waiting),
        },
        "before": {
            **_addresses([row.unit for row in evidence.before]),
            "rater": [row.rater for row in evidence.before],
            "value": [row.value for row in evidence.before],
        },
        "verdicts": _columns(evidence.verdicts),
        "unsettled": _columns(evidence.unsettled),
        "settled_only": evidence.settled_only,
        "declared": [row._asdict() for row in evidence.declared],
        "is_dev": dict(evidence.is_dev),
        "metadata": {sample: dict(values) for sample, values in evidence.metadata.items()},
        "chances": {
            "sample": list(evidence.chances),
            "probability": [chance.probability for chance in evidence.chances.values()],
            "stratum": [chance.stratum for chance in evidence.chances.values()],
        },
        "drawn_by": [row._asdict() for row in evidence.drawn_by],
        "judges": [_said(one) for one in evidence.judges],
        "earlier": [_said(one) for one in evidence.earlier],
        "sizes": dict(evidence.sizes),
        "dropped": {sample: list(indices) for sample, indices in evidence.dropped.items()},
        "whole": [_said(one) for one in evidence.whole],
        "measures": dict(evidence.measures),
        "abstained": evidence.abstained,
        "versions": dict(evidence.versions),
        **({"groups": dict(evidence.groups)} if evidence.groups else {}),
        "endpoint": evidence.endpoint.as_dict(),
        **({"nameless": [list(chance) for chance in evidence.nameless]} if evidence.nameless else {}),
    }


def evidence_from_dict(found: Mapping[str, Any]) -> Evidence:
    """Raises ValueError for another format, and for columns of unequal length."""
    if found.get("format") == 2:
        found = _of_before(found)
    if found.get("format") != FORMAT:
        raise ValueError(f"evidence of format {found.get('format')!r}; this version reads formats 2 and {FORMAT}")
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
        too_fast=ratings["too_fast"],
        waiting=ratings["waiting"],
        before=list(map(Before, _units(before), before["rater"], before["value"])),
        earlier=[_scores(one) for one in found["earlier"]],
        metadata=found["metadata"],
        chances={sample: Chance(*chance) for sample, *chance in chances},
        drawn_by=[DrawnBy(**row) for row in found["drawn_by"]],
        sizes=found["sizes"],
        whole=[_scores(one) for one in found["whole"]],
        measures=found["measures"],
        unsettled=_mapping(found["unsettled"]),
        settled_only=found["settled_only"],
        declared=[Declared(**row) for row in found["declared"]],
        abstained=found["abstained"],
        dropped=found["dropped"],
        versions=found["versions"],
        groups=found.get("groups", {}),
        endpoint=Endpoint(**found.get("endpoint", {})),
        nameless=[Chance(*chance) for chance in found.get("nameless", ())],
    )


def _of_before(found: Mapping[str, Any]) -> dict[str, Any]:
    """Format 2 as the present one. Judges were compared with all that was labelled; which units were still open is not
    known of it, nor how fast labels came."""
    labels = Counter(_units(found["ratings"]))
    verdicts = _mapping(found["verdicts"])
    alone: dict[UnitKey, Unsettled] = {
        unit: "single" for unit, count in labels.items() if count == 1 and unit not in verdicts
    }
    since = {
        "unsettled": _columns(alone),
        "settled_only": False,
        "declared": [],
        "drawn_by": [],
        "abstained": 0,
        "dropped": {},
        "versions": {},
        "ratings": {**found["ratings"], "too_fast": [], "waiting": []},
    }
    return {**found, **since, "format": FORMAT}


def _said(one: JudgeScores) -> dict[str, Any]:
    values = {each.name: getattr(one, each.name) for each in fields(one) if each.name != "closed" or one.closed}
    return {name: _columns(value) if name in _BY_UNIT else value for name, value in values.items()}


def _scores(one: Mapping[str, Any]) -> JudgeScores:
    return JudgeScores(**{**one, **{name: _mapping(one[name]) for name in _BY_UNIT}})


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
