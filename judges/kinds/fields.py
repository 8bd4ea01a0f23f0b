"""Reading a configuration field by field, each by its type and with its default; and the fields that kinds share."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from annotate.core.units import KIND_ORDER
from annotate.models import Criterion, Project, Sample
from annotate.models.project import UNRATED_SCALES
from annotate.projects.read import rated_criteria
from judges.kinds.base import Refused

LONGEST_DIMENSION = 120


class Fields:
    """The fields of one object, read one by one; `finish` refuses those that were not read.

    path: where the object is in the configuration, which precedes the names of its fields.
    """

    def __init__(self, given: Any, path: str = "") -> None:
        if not isinstance(given, Mapping):
            raise Refused(path, _("Must be an object: {…}."))
        self._given = given
        self._path = path
        self._known: list[str] = []

    def place(self, name: str) -> str:
        return f"{self._path}.{name}" if self._path else name

    def refuse(self, name: str, message: str) -> Refused:
        return Refused(self.place(name), message)

    def is_null(self, name: str) -> bool:
        """Whether it was given as null, which is not the same as left out."""
        return name in self._given and self.raw(name) is None

    def raw(self, name: str, default: Any = None) -> Any:
        """The value as it was given; the default where there is none, or null."""
        self._known.append(name)
        value = self._given.get(name)
        return default if value is None else value

    def text(self, name: str, *, default: str | None = None, longest: int = 200) -> str:
        value = self.raw(name)
        if value is None and default is not None:
            return default
        if not isinstance(value, str) or not value.strip() or len(value) > longest or "\0" in value:
            raise self.refuse(name, _("Must be text of 1 to %(longest)d characters.") % {"longest": longest})
        return value

    def choice(self, name: str, options: Collection[str], *, default: str | None = None) -> str:
        value = self.raw(name, default)
        if not isinstance(value, str) or value not in options:
            raise self.refuse(name, _("Must be one of: %(options)s.") % {"options": ", ".join(options)})
        return value

    def truth(self, name: str, *, default: bool | None = None) -> bool:
        value = self.raw(name, default)
        if not isinstance(value, bool):
            raise self.refuse(name, _("Must be true or false."))
        return value

    def number(self, name: str, *, default: float | None = None, low: float = -1e9, high: float = 1e9) -> float:
        value = self.raw(name)
        if value is None and default is not None:
            return default
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise self.refuse(name, _("Must be a number from %(low)g to %(high)g.") % {"low": low, "high": high})
        return float(value)

    def whole(self, name: str, *, default: int | None = None, low: int = 0, high: int = 1_000_000) -> int:
        value = self.raw(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise self.refuse(name, _("Must be a whole number from %(low)d to %(high)d.") % {"low": low, "high": high})
        return value

    def objects(self, name: str, *, fewest: int, most: int) -> list[Fields]:
        value = self.raw(name)
        if not isinstance(value, Sequence) or isinstance(value, str) or not fewest <= len(value) <= most:
            raise self.refuse(
                name, _("Must be a list of %(fewest)d to %(most)d objects.") % {"fewest": fewest, "most": most}
            )
        return [Fields(one, self.place(f"{name}.{index}")) for index, one in enumerate(value)]

    def finish(self) -> None:
        unknown = [name for name in self._given if name not in self._known]
        if unknown:
            raise self.refuse(
                str(unknown[0])[:80],
                _("Unknown field. Must be one of: %(known)s.") % {"known": ", ".join(self._known)},
            )


def target(fields: Fields, project: Project, kinds: Collection[str] = KIND_ORDER) -> dict[str, Any]:
    """What the scores are of: {"criterion": key or None, "dimension", "unit"}.

    Either a criterion, which says the kind of unit and names the dimension; or a dimension of the judge's own and its
    kind of unit. kinds: those that the judge can score.
    """
    key = fields.raw("criterion")
    if key is None:
        dimension = fields.text("dimension", longest=LONGEST_DIMENSION)
        unit = fields.choice("unit", kinds)
        if _criterion(project, dimension) is not None:
            raise fields.refuse(
                "dimension",
                _("“%(key)s” is a criterion of this project. Use it as the criterion.") % {"key": dimension},
            )
        return {"criterion": None, "dimension": dimension, "unit": unit}
    criterion = _criterion(project, key)
    if criterion is None:
        known = rated_criteria(project).values_list("key", flat=True)
        raise fields.refuse(
            "criterion", _("Must be one of the project’s criteria: %(keys)s.") % {"keys": ", ".join(known)}
        )
    if criterion.scale in UNRATED_SCALES:
        said = _("“%(key)s” is %(scale)s: no judge scores it.")
        raise fields.refuse("criterion", said % {"key": criterion.key, "scale": criterion.get_scale_display().lower()})
    if criterion.unit not in kinds:
        raise fields.refuse(
            "criterion",
            _("“%(key)s” applies to units of the kind “%(unit)s”. Must be one of: %(kinds)s.")
            % {"key": criterion.key, "unit": criterion.unit, "kinds": ", ".join(kinds)},
        )
    for name, value in (("dimension", criterion.key), ("unit", criterion.unit)):
        if fields.raw(name) not in (None, value):
            raise fields.refuse(name, _("Already set by the criterion: %(value)s.") % {"value": value})
    return {"criterion": criterion.key, "dimension": criterion.key, "unit": criterion.unit}


def _criterion(project: Project, key: Any) -> Criterion | None:
    return project.criteria.filter(key=key, is_current=True).first() if isinstance(key, str) else None


def sampling_fields(fields: Fields, *, max_tokens: int, fewest: int) -> dict[str, Any]:
    """{"temperature", "max_tokens", "seed"} of a judge that asks a chat model.

    temperature: null leaves it to the server, as some models demand. max_tokens: the default, at least `fewest`.
    """
    no_temperature = fields.is_null("temperature")
    return {
        "temperature": None if no_temperature else fields.number("temperature", default=0.0, low=0.0, high=2.0),
        "max_tokens": fields.whole("max_tokens", default=max_tokens, low=fewest, high=32_768),
        "seed": None if fields.raw("seed") is None else fields.whole("seed", high=2**31 - 1),
    }


# What the text of a unit can be compared with, and how each is worded in a sentence.
SOURCES = {
    "contexts": "the contexts",
    "question": "the question",
    "answer": "the answer",
    "reference": "the reference answer",
}
_OWN = {"context": "contexts", "answer": "answer"}


def against_field(fields: Fields, unit: str, default: str) -> str:
    """The field that names one, except the text that the unit itself is part of. unit: its kind."""
    return fields.choice("against", [name for name in SOURCES if name != _OWN.get(unit)], default=default)


def source_texts(sample: Sample, name: str) -> list[str]:
    """One for each context, one of any other."""
    if name == "contexts":
        return [context["text"] for context in sample.contexts]
    return [getattr(sample, name) or ""]


def has_source(sample: Sample, name: str) -> bool:
    """Whether the sample has such a text at all. An empty question is there, and its score fails; a reference or answer
    that is None and an empty list of contexts are not there."""
    return bool(sample.contexts) if name == "contexts" else getattr(sample, name) is not None
