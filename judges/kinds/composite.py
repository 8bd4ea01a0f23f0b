"""Composite judges: the weighted sum of other judges' scores, with weights that somebody chose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import fsum
from typing import Any

from django.utils.translation import gettext as _

from annotate.core.units import KIND_ORDER, units_of
from annotate.models import Project, Sample
from judges.kinds.base import Config, Item, Outcome, Scored, Size
from judges.kinds.fields import Fields, target
from judges.kinds.members import (
    MOST_MEMBERS,
    Member,
    Missing,
    Said,
    member_fields,
    members_in,
    value_of,
    what_they_say,
)
from judges.models import LARGEST_SCORE, JudgeKind, JudgeVersion, ScoreStatus

AS_IS, FLIPPED = "as_is", "flipped"
_LARGEST_WEIGHT = 1e6
_LARGEST_BOUND = 1e9
# Units that a sample has once, where means over its parts can stand.
_WHOLES = ("answer", "sample")


class CompositeKind:
    """Its configuration: {"criterion" or "dimension" and "unit", "per", "normalised", "members"}.

    per: "unit" adds what the members say of the same unit; "sample" adds the means, over all of a sample's units of
    each member's kind, of what they say of those.
    normalised: the sum is divided by the sum of the weights, so that it stays on its members' common scale.
    A member: {"judge", "version", "dimension", "passes", "weight", "direction", "range", "unit"}. direction: "flipped"
    takes low + high − score, for a range of [low, high]; one whose lower scores are better must say which.
    """

    key = JudgeKind.COMPOSITE.value
    code_version = 1

    def complete(self, config: Any, project: Project) -> dict[str, Any]:
        fields = Fields(config)
        per = fields.choice("per", ("unit", "sample"), default="unit")
        of = target(fields, project, KIND_ORDER if per == "unit" else _WHOLES)
        members = fields.objects("members", fewest=1, most=MOST_MEMBERS)
        complete = {
            **of,
            "per": per,
            "normalised": fields.truth("normalised", default=True),
            "members": [_complete_member(member, project, of, per) for member in members],
        }
        fields.finish()
        return complete

    def asks_model(self, config: Config) -> bool:
        return False

    def dimensions(self, config: Config) -> Sequence[tuple[str, str]]:
        return [(config["unit"], config["dimension"])]

    def units(self, config: Config, sample: Sample) -> Sequence[str]:
        if config["per"] == "sample" and not any(units_of(sample, one["unit"]) for one in config["members"]):
            return []
        return units_of(sample, config["unit"])

    def size(self, config: Config, sample: Sample) -> Size:
        return Size(requests=0, tokens_in=0, tokens_out=0)

    def members(self, config: Config) -> Sequence[tuple[str, str]]:
        return [(member["judge"], member["version"]) for member in config["members"]]

    @contextmanager
    def open(self, version: JudgeVersion) -> Iterator[CompositeScorer]:
        yield CompositeScorer(version)


def _complete_member(fields: Fields, project: Project, of: Mapping[str, Any], per: str) -> dict[str, Any]:
    unit = of["unit"] if per == "unit" else fields.choice("unit", KIND_ORDER)
    if per == "unit" and fields.raw("unit") not in (None, unit):
        raise fields.refuse("unit", _("Members are added unit by unit; for means over a sample take per: sample."))
    member, version = member_fields(fields, project, unit, of["dimension"])
    weight = fields.number("weight", low=0, high=_LARGEST_WEIGHT)
    if weight == 0:
        raise fields.refuse("weight", _("A weight is greater than 0; a member whose score counts against is flipped."))
    default = AS_IS if version.judge.higher_is_better else None
    if default is None and fields.raw("direction") is None:
        raise fields.refuse(
            "direction",
            _("Lower scores of “%(judge)s” are better: say whether it is flipped or taken as_is.")
            % {"judge": version.judge.name},
        )
    direction = fields.choice("direction", (AS_IS, FLIPPED), default=default)
    bounds = _range(fields)
    if direction == FLIPPED and bounds is None:
        raise fields.refuse("range", _("To be flipped, a score needs the range that it comes from: [low, high]."))
    fields.finish()
    return {**member, "unit": unit, "weight": weight, "direction": direction, "range": bounds}


def _range(fields: Fields) -> list[float] | None:
    given = fields.raw("range")
    if given is None:
        return None
    if not isinstance(given, list) or len(given) != 2:
        raise fields.refuse("range", _("This takes two numbers: [low, high]."))
    ends = Fields({"low": given[0], "high": given[1]}, fields.place("range"))
    low, high = (ends.number(end, low=-_LARGEST_BOUND, high=_LARGEST_BOUND) for end in ("low", "high"))
    if low >= high:
        raise fields.refuse("range", _("The first number must be the smaller one."))
    return [low, high]


@dataclass(frozen=True, slots=True)
class _Part:
    """A member with how it counts."""

    member: Member
    unit: str
    weight: float
    is_flipped: bool
    bounds: Sequence[float] | None

    def counted(self, value: float) -> float | Missing:
        if self.bounds is None:
            return value
        low, high = self.bounds
        if not low <= value <= high:
            return Missing(f"{self.member.title} gave {value:g}, which is not from {low:g} to {high:g}.")
        return low + high - value if self.is_flipped else value


class CompositeScorer:
    def __init__(self, version: JudgeVersion) -> None:
        config = version.config
        self._project = version.judge.project
        self._config = config
        self._parts = [
            _Part(member, one["unit"], one["weight"], one["direction"] == FLIPPED, one["range"])
            for member, one in zip(members_in(config), config["members"], strict=True)
        ]
        self._divisor = fsum(part.weight for part in self._parts) if config["normalised"] else 1.0

    def score(self, items: Sequence[Item]) -> Sequence[Outcome]:
        samples = {item.sample.pk for item in items}
        said = what_they_say(self._project, [part.member for part in self._parts], samples)
        return [Outcome([self._scored(item, said)]) for item in items]

    def _scored(self, item: Item, said: Sequence[Said]) -> Scored:
        dimension = self._config["dimension"]
        values = []
        for part, its in zip(self._parts, said, strict=True):
            value = self._value(part, its, item)
            if isinstance(value, Missing):
                return Scored(item.unit, dimension, ScoreStatus.ERROR, detail=value.why)
            values.append(value)
        number = fsum(part.weight * value for part, value in zip(self._parts, values, strict=True)) / self._divisor
        if not -LARGEST_SCORE <= number <= LARGEST_SCORE:
            return Scored(item.unit, dimension, ScoreStatus.ERROR, detail="The sum is too large for a score.")
        terms = (
            f"{part.weight:g} × {value:.3g} ({part.member.judge})"
            for part, value in zip(self._parts, values, strict=True)
        )
        return Scored(item.unit, dimension, number=number, rationale=" + ".join(terms))

    def _value(self, part: _Part, said: Said, item: Item) -> float | Missing:
        if self._config["per"] == "unit":
            return _counted(part, said, item.sample.pk, item.unit)
        values = []
        for unit in units_of(item.sample, part.unit):
            value = _counted(part, said, item.sample.pk, unit)
            if isinstance(value, Missing):
                return value
            values.append(value)
        if not values:
            return Missing(f"The sample has nothing that {part.member.title} could have scored.")
        return fsum(values) / len(values)


def _counted(part: _Part, said: Said, sample: int, unit: str) -> float | Missing:
    value = value_of(part.member, said, sample, unit)
    return value if isinstance(value, Missing) else part.counted(value)


KIND = CompositeKind()
