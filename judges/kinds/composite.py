"""Composite judges: the weighted sum of other judges' scores, with weights chosen by hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import fsum
from typing import Any

from django.utils.translation import gettext as _

from annotate.core.units import KIND_ORDER, units_of
from annotate.models import Project, Sample
from judges.kinds.base import Config, Item, Kind, NoScore, Outcome, score_each
from judges.kinds.fields import Fields, target
from judges.kinds.members import MOST_MEMBERS, Member, Values, member_fields, member_values, members_in, value_of
from judges.models import LARGEST_SCORE, JudgeKind, JudgeVersion

AS_IS, FLIPPED = "as_is", "flipped"
_LARGEST_WEIGHT = 1e6
_LARGEST_BOUND = 1e9
# Units that a sample has once, where means over its parts can stand.
_WHOLES = ("answer", "sample")


class CompositeKind(Kind):
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

    def units(self, config: Config, sample: Sample) -> Sequence[str]:
        if config["per"] == "sample" and not any(units_of(sample, one["unit"]) for one in config["members"]):
            return []
        return units_of(sample, config["unit"])

    @contextmanager
    def open(self, version: JudgeVersion) -> Iterator[CompositeScorer]:
        yield CompositeScorer(version)


def _complete_member(fields: Fields, project: Project, of: Mapping[str, Any], per: str) -> dict[str, Any]:
    unit = of["unit"] if per == "unit" else fields.choice("unit", KIND_ORDER)
    if per == "unit" and fields.raw("unit") not in (None, unit):
        raise fields.refuse("unit", _("Members are combined unit by unit. For means over a sample, use per: sample."))
    member, version = member_fields(fields, project, unit, of["dimension"])
    weight = fields.number("weight", low=0, high=_LARGEST_WEIGHT)
    if weight == 0:
        raise fields.refuse(
            "weight", _("A weight must be greater than 0. Reverse a member whose score counts against.")
        )
    default = AS_IS if version.judge.higher_is_better else None
    if default is None and fields.raw("direction") is None:
        raise fields.refuse(
            "direction",
            _("Lower scores of “%(judge)s” are better. Specify flipped or as_is.") % {"judge": version.judge.name},
        )
    direction = fields.choice("direction", (AS_IS, FLIPPED), default=default)
    bounds = _range(fields)
    if direction == FLIPPED and bounds is None:
        raise fields.refuse("range", _("A reversed score needs its range: [low, high]."))
    fields.finish()
    return {**member, "unit": unit, "weight": weight, "direction": direction, "range": bounds}


def _range(fields: Fields) -> list[float] | None:
    given = fields.raw("range")
    if given is None:
        return None
    if not isinstance(given, list) or len(given) != 2:
        raise fields.refuse("range", _("Must be two numbers: [low, high]."))
    ends = Fields({"low": given[0], "high": given[1]}, fields.place("range"))
    low, high = (ends.number(end, low=-_LARGEST_BOUND, high=_LARGEST_BOUND) for end in ("low", "high"))
    if low >= high:
        raise fields.refuse("range", _("The first number must be the smaller one."))
    return [low, high]


class CompositeScorer:
    def __init__(self, version: JudgeVersion) -> None:
        config = version.config
        self._project = version.judge.project
        self._config = config
        self._members = list(zip(members_in(config), config["members"], strict=True))
        self._divisor = fsum(part["weight"] for part in config["members"]) if config["normalised"] else 1.0

    def score(self, items: Sequence[Item]) -> Sequence[Outcome]:
        samples = {item.sample.pk for item in items}
        said = member_values(self._project, [member for member, _part in self._members], samples)
        return score_each(items, self._config["dimension"], lambda item: self._sum(item, said))

    def _sum(self, item: Item, said: Sequence[Values]) -> tuple[float, str]:
        terms = [
            (part["weight"], self._value(member, part, its, item), member.judge)
            for (member, part), its in zip(self._members, said, strict=True)
        ]
        number = fsum(weight * value for weight, value, _judge in terms) / self._divisor
        if not -LARGEST_SCORE <= number <= LARGEST_SCORE:
            raise NoScore("The sum is too large for a score.")
        return number, " + ".join(f"{weight:g} × {value:.3g} ({judge})" for weight, value, judge in terms)

    def _value(self, member: Member, part: Mapping[str, Any], said: Values, item: Item) -> float:
        """What is added for one of the configuration's members. Raises NoScore."""
        if self._config["per"] == "unit":
            return _directed(member, part, value_of(member, said, item.sample.pk, item.unit))
        values = [
            _directed(member, part, value_of(member, said, item.sample.pk, unit))
            for unit in units_of(item.sample, part["unit"])
        ]
        if not values:
            raise NoScore(f"The sample has nothing that {member.title} could have scored.")
        return fsum(values) / len(values)


def _directed(member: Member, part: Mapping[str, Any], value: float) -> float:
    """The value, flipped where the configuration says so. Raises NoScore for one outside its range."""
    if part["range"] is None:
        return value
    low, high = part["range"]
    if not low <= value <= high:
        raise NoScore(f"{member.title} gave {value:g}, which is not from {low:g} to {high:g}.")
    return float(low + high - value) if part["direction"] == FLIPPED else value


KIND = CompositeKind()
