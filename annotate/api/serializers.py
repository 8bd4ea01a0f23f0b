"""One declaration for each request and each reply: what a `Shape` declares is read from a request, written into a
reply, and described in the OpenAPI schema (docs/decisions/0016-one-declaration-per-reply.md).

A Shape has the fields of a JSON object, in the order in which a reply has them. In a reply, a field is the attribute or
key of its name, or of its `source` (a path with dots, null where a step of it is; `*`: the thing itself), or what a
method `get_<field>(thing)` returns. Values go out as they are; the kinds of fields that write them otherwise are
`Written`. A key that is not required may be missing. In a request, `Checked` fields check what they are given; the
others leave that to the services, which have their own words for it.

`of` names a model, a dataclass or a TypedDict, and `shows` the fields of the reply in their order: those that the class
doesn't declare are of that, and so are the ones it declares with `Of`, which adds what the schema says of them.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import deepcopy
from datetime import date, datetime
from decimal import Decimal
from types import UnionType
from typing import Any, ClassVar, cast, get_args, get_origin, get_type_hints

from django.db import models
from django.utils.translation import gettext_lazy as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema_field
from rest_framework import serializers as s
from rest_framework.utils.field_mapping import ClassLookupDict

from annotate.core.errors import Invalid
from annotate.core.texts import is_storable

Getter = Callable[[Any], Any]


# Of a model's fields by their type; of what a text looks like, a reply promises nothing.
_OF_COLUMNS: Any = ClassLookupDict(
    {**s.ModelSerializer.serializer_field_mapping, models.SlugField: s.CharField, models.EmailField: s.CharField}
)
_OF_TYPES: dict[Any, type[s.Field]] = {
    str: s.CharField, int: s.IntegerField, float: s.FloatField, bool: s.BooleanField, datetime: s.DateTimeField,
}  # fmt: skip


_SCALAR: dict[str, Any] = {"oneOf": [{"type": "string"}, {"type": "number"}, {"type": "boolean"}]}


@extend_schema_field({"oneOf": [*_SCALAR["oneOf"], {"type": "array", "items": _SCALAR}]})
class Value(s.JSONField):
    """A value on a criterion's scale; of a multi-select criterion the list of its options that were chosen."""


@extend_schema_field({"type": "object", "additionalProperties": {}})
class FreeObject(s.JSONField):
    """An object whose keys are the data's own."""


@extend_schema_field(
    {
        "type": "object",
        "properties": {"code": {"type": "string"}},
        "required": ["code"],
        "additionalProperties": {},
        "description": "What is to be said about a figure: a code, and the parameters that go into its words "
        "(docs/remarks.md).",
    }
)
class Remark(s.DictField):
    """A remark (alignment.base.estimate)."""


class Written(s.Field):
    """A field that a reply has otherwise than the thing."""


class Moment(Written, s.DateTimeField):
    """With its offset in digits: +00:00, where a plain DateTimeField has a Z."""

    def to_representation(self, value: datetime) -> str:
        return value.isoformat()


class Digits(Written, s.CharField):
    """An amount of money as a text, which keeps its digits."""

    def to_representation(self, value: Decimal) -> str:
        return str(value)


class Price(Written, s.FloatField):
    """An amount of money as a number."""

    def to_representation(self, value: Decimal) -> float:
        return float(value)


# A field of a request that is checked here, not by a service. code, says: its refusal. empty: whether an empty text is
# taken as null. of: the type of each value in an object or a list.
class Checked(s.Field):
    code = ""
    says: Any = ""
    empty = False
    of: Any = object

    def __init__(
        self, *args: Any, code: str = "", says: Any = "", empty: bool = False, of: Any = None, **options: Any
    ) -> None:
        super().__init__(*args, **options)
        self.code, self.says, self.empty = code or self.code, says or self.says, empty or self.empty
        self.of = of or self.of

    def refused(self, **named: Any) -> Invalid:
        return Invalid(self.code or f"bad_{self.field_name}", str(self.says) % {"field": self.field_name, **named})

    def accepts(self, value: Any) -> bool:
        """Whether the value is taken as it is."""
        raise NotImplementedError

    def to_internal_value(self, value: Any) -> Any:
        if not self.accepts(value):
            raise self.refused()
        return value


class Text(Checked, s.CharField):
    code = "bad_text"
    says = "%(field)s: write a text."

    def accepts(self, value: Any) -> bool:
        return is_storable(value)


class Whole(Checked, s.IntegerField):
    """A whole number from JSON or from a query string."""

    def __init__(self, *args: Any, low: int = 0, high: int = 2**31 - 1, **options: Any) -> None:
        super().__init__(*args, **options)
        self.low, self.high = low, high

    def to_internal_value(self, value: Any) -> int:
        return whole_number(value, str(self.field_name), low=self.low, high=self.high)


class Number(Checked, s.FloatField):
    code = "bad_number"
    says = "%(field)s: a number."

    def to_internal_value(self, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.refused()
        return float(value)


class Truth(Checked, s.BooleanField):
    says = "%(field)s: true or false."

    def accepts(self, value: Any) -> bool:
        return isinstance(value, bool)


class Day(Checked, s.DateField):
    code = "bad_date"
    says = "%(field)s: a date such as 2026-12-31."
    empty = True

    def to_internal_value(self, value: Any) -> date:
        try:
            return date.fromisoformat(value)
        except (TypeError, ValueError) as error:
            raise self.refused() from error


class Keyed(Checked, s.DictField):
    """An object whose keys a service knows."""

    says = "%(field)s: write an object."

    def accepts(self, value: Any) -> bool:
        return isinstance(value, dict) and all(isinstance(one, self.of) for one in value.values())


class Listed(Checked, s.ListField):
    def accepts(self, value: Any) -> bool:
        return isinstance(value, list) and all(isinstance(one, self.of) for one in value)


class Key(Checked, s.UUIDField):
    code = "bad_key"
    says = "%(field)s: a UUID."

    def to_internal_value(self, value: Any) -> uuid.UUID:
        try:
            return uuid.UUID(value)
        except (AttributeError, TypeError, ValueError):
            raise self.refused() from None


class Several(Checked, s.ListField):
    """Of a Shape; what is wrong with one of them says with which."""

    code = "bad_list"
    says = "%(field)s: write a list."

    def to_internal_value(self, value: Any) -> list[dict[str, Any]]:
        if not isinstance(value, list):
            raise self.refused()
        taken = []
        for number, one in enumerate(value, 1):
            try:
                taken.append(cast("Shape", self.child).take(one))
            except Invalid as error:
                error.message = f"{self.field_name}: {number}. {error.message}"
                raise
        return taken


class Names(Listed):
    """Of users."""

    child = s.CharField()
    says = _("%(field)s: must be a list of user names.")
    of = str


class Numbers(Listed):
    child = s.IntegerField()

    def accepts(self, value: Any) -> bool:
        return isinstance(value, list) and all(type(one) is int for one in value)


class Choice(Checked, s.CharField):
    code = "bad_choice"
    says = _("%(name)s: must be one of %(known)s.")

    def __init__(self, choices: Sequence[str], **options: Any) -> None:
        super().__init__(**options)
        self.choices = choices

    def to_internal_value(self, value: Any) -> Any:
        if value not in self.choices:
            raise self.refused(name=self.field_name, known=", ".join(self.choices))
        return value


def whole_number(value: Any, name: str, *, low: int = 0, high: int = 2**31 - 1) -> int:
    """A whole number from JSON or from a query string."""
    if isinstance(value, str) and value.isdecimal() and len(value) <= 10:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise Invalid("bad_number", f"{name}: a whole number from {low} to {high}.")
    return value


class Of(s.Field):
    """A field of what the Shape is `of`, with what the schema says of it."""

    def __init__(self, note: str = "", **options: Any) -> None:
        super().__init__(**options)
        self.options = {**options, "help_text": note} if note else options


def _derived(of: Any, name: str, declared: s.Field | None) -> s.Field:
    if declared is not None and not isinstance(declared, Of):
        return declared
    options = {} if declared is None else declared.options
    source = options.get("source", name)
    if not issubclass(of, models.Model):
        hint = get_type_hints(of).get(source) or get_type_hints(getattr(of, source).fget)["return"]
        return _of_type(hint, **options)
    column = of._meta.get_field(source)
    field: s.Field = _OF_COLUMNS[column](**{**({"allow_null": True} if column.null else {}), **options})
    return field


def _of_type(hint: Any, **options: Any) -> s.Field:
    if isinstance(hint, UnionType) and type(None) in get_args(hint):
        (hint,) = (one for one in get_args(hint) if one is not type(None))
        options["allow_null"] = True
    inside = get_args(hint)
    if inside:
        kind = s.DictField if issubclass(get_origin(hint), Mapping) else s.ListField
        return kind(child=_of_type(inside[-1 if kind is s.DictField else 0]), **options)
    return _OF_TYPES[hint](**options)


def _getter(path: str) -> Getter:
    if path == "*":
        return lambda thing: thing
    first, *rest = path.split(".")

    def get(thing: Any) -> Any:
        value = _step(thing, first)
        for name in rest:
            value = None if value is None else _step(value, name)
        return value

    return get


def _step(thing: Any, name: str) -> Any:
    return thing[name] if isinstance(thing, dict) else getattr(thing, name)


def _writer(field: Any) -> Getter | None:
    one = field.child if isinstance(field, s.ListSerializer) else field
    if isinstance(one, Shape):
        show = type(one).show
        return show if one is field else lambda things: [show(thing) for thing in things]
    return field.to_representation if isinstance(field, Written) else None


def _taken(field: Any, value: Any) -> Any:
    if not isinstance(field, Checked):
        return value
    if (value is None and field.allow_null) or (value == "" and field.empty):
        return None
    return field.to_internal_value(value)


_IN_QUERY: dict[Any, Any] = {s.IntegerField: OpenApiTypes.INT, s.FloatField: OpenApiTypes.NUMBER}


class With:
    """A thing to be shown, with the values of fields that it does not have itself."""

    def __init__(self, thing: Any, **fields: Any) -> None:
        self.thing = thing
        self.fields = fields


class _WithOptions(s.SerializerMetaclass):
    """Hands what stands behind a class's name to __init_subclass__, which the one of REST framework doesn't."""

    def __new__(cls, name: str, bases: Any, attrs: dict[str, Any], **options: Any) -> Any:
        attrs["_declared_fields"] = cls._get_declared_fields(bases, attrs)
        return type.__new__(cls, name, bases, attrs, **options)

    def __init__(self, name: str, bases: Any, attrs: dict[str, Any], **options: Any) -> None:
        super().__init__(name, bases, attrs)


class Shape(s.Serializer, metaclass=_WithOptions):
    # Of each field: its name, the key or attribute that it is where that is all, and how it is got and written.
    _steps: ClassVar[list[tuple[str, str | None, bool, Getter, Getter | None]]]

    def __init_subclass__(
        cls, *, of: Any = None, shows: str = "", named: Mapping[str, s.Field] | None = None, required: str | None = None
    ) -> None:
        """named: fields whose names Python can't have. required: which fields of a request are, and no others."""
        super().__init_subclass__()
        declared = {**cls._declared_fields, **(named or {})}
        if shows:
            declared = {name: _derived(of, name, declared.get(name)) for name in shows.split()}
        if required is not None:
            declared = {name: deepcopy(field) for name, field in declared.items()}
            for name, field in declared.items():
                options: dict[str, Any] = getattr(field, "_kwargs")  # noqa: B009 - what copies of it are made with
                options["required"] = field.required = name in required.split()
        cls._declared_fields = declared
        one = cls()
        cls._steps = []
        for name, field in declared.items():
            field.field_name = name
            own = None if hasattr(s.Serializer, f"get_{name}") else getattr(one, f"get_{name}", None)
            path = field.source or name
            key = None if own or "." in path or path == "*" else path
            cls._steps.append((name, key, bool(field.required), own or _getter(path), _writer(field)))

    @classmethod
    def query_parameters(cls) -> list[OpenApiParameter]:
        """Of a query, for the schema."""
        return [
            OpenApiParameter(
                name,
                next((known for kind, known in _IN_QUERY.items() if isinstance(field, kind)), OpenApiTypes.STR),
                required=field.required,
                description=str(field.help_text),
                enum=getattr(field, "choices", None),
            )
            for name, field in cls._declared_fields.items()
        ]

    @classmethod
    def show(cls, thing: Any) -> dict[str, Any]:
        """The thing as a reply has it."""
        if isinstance(thing, dict):
            return {
                name: value if write is None or value is None else write(value)
                for name, key, is_required, get, write in cls._steps
                if is_required or key in thing
                for value in [get(thing) if key is None else thing[key]]
            }
        given: Mapping[str, Any] = {}
        if isinstance(thing, With):
            given, thing = thing.fields, thing.thing
        shown = {}
        for name, key, is_required, get, write in cls._steps:
            if name not in given and not is_required and key is not None and not hasattr(thing, key):
                continue
            value = given[name] if name in given else get(thing)
            shown[name] = value if write is None or value is None else write(value)
        return shown

    @classmethod
    def take(cls, data: Any, *, known: Collection[str] | None = None) -> dict[str, Any]:
        """What a request's JSON has. known: of the fields those that it may have. Raises Invalid when it is no object,
        for unknown and for missing fields, and for what a field can't take."""
        if not isinstance(data, dict):
            raise Invalid("not_an_object", "Send a JSON object.")
        fields = {name: field for name, field in cls._declared_fields.items() if known is None or name in known}
        unknown = sorted(set(data) - set(fields))
        if unknown:
            names = ", ".join(sorted(fields)) or "none"
            raise Invalid("unknown_field", f"Unknown field “{unknown[0][:80]}”. Known: {names}.")
        missing = sorted(name for name, field in fields.items() if field.required and name not in data)
        if missing:
            raise Invalid("missing_field", f"The field “{missing[0]}” is missing.")
        return {name: _taken(fields[name], value) for name, value in data.items()}

    @classmethod
    def take_query(cls, given: Mapping[str, str]) -> dict[str, Any]:
        """What a request's query has; what else is in it is for others. Raises Invalid as `take`."""
        fields = cls._declared_fields
        for name, field in fields.items():
            if field.required and not given.get(name):
                raise Invalid("missing_parameter", f"The parameter “{name}” is missing.")
        return {name: _taken(field, given[name]) for name, field in fields.items() if name in given}


# JSON that is kept, or made elsewhere: shown as it is. (Docstrings here would be descriptions in the schema.)
class Stored(Shape):
    @classmethod
    def show(cls, thing: Any) -> dict[str, Any]:
        return thing if isinstance(thing, dict) else super().show(thing)


# What a list route with ?limit=&offset= replies; each declares `results`. most: how many at once.
class Page(Shape):
    most: ClassVar[int] = 1000

    count = s.IntegerField()
    next = s.CharField(allow_null=True)
    previous = s.CharField(allow_null=True)


class Rows:
    """What a page is cut out of, where its rows are read together. read: those of some of `found`."""

    def __init__(self, found: models.QuerySet[Any], read: Callable[[list[Any]], Sequence[Any]]) -> None:
        self.found, self.read = found, read

    def count(self) -> int:
        return self.found.count()

    def __getitem__(self, part: slice) -> Sequence[Any]:
        return self.read(list(self.found[part]))


class Nothing(Shape):
    """A request without a body."""
