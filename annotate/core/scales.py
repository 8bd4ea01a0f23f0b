"""Values on a scale: the one home of what counts as a value of a criterion and what counts as missing."""

from __future__ import annotations

import json
import math
import re
from typing import Any, Protocol

from django.utils.translation import gettext as _

from annotate.core.errors import Invalid
from annotate.core.texts import is_blank, is_storable, same_words

MAX_TEXT = 20_000  # characters of a label that is free text

Value = str | int | float | bool


class Scaled(Protocol):
    """A criterion, as far as its values go: the stored one, or what the labelling loop reads of it."""

    @property
    def key(self) -> str: ...
    @property
    def options(self) -> list[dict[str, Any]]: ...
    @property
    def levels(self) -> list[Any]: ...
    @property
    def is_text(self) -> bool: ...
    @property
    def prefill(self) -> str: ...
    @property
    def is_multi(self) -> bool: ...


def is_missing(value: object) -> bool:
    """None, a spreadsheet's empty cell and NaN are no value; nothing else is guessed to mean "missing"."""
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


# Narrower than float(), which also takes "1_0", " 4 ", "٤" and "infinity".
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")


def as_number(text: str) -> float | None:
    """The finite number that the text spells, if it does."""
    if not _NUMBER.fullmatch(text):
        return None
    number = float(text)
    return number if math.isfinite(number) else None


def _same(level: Value, value: object) -> bool:
    """Whether a value as written means the level: 4, 4.0 and "4" are one level; True is not 1."""
    if isinstance(level, bool) or isinstance(value, bool):
        return level is value or (isinstance(value, str) and value.lower() == str(level).lower())
    if isinstance(level, int | float):
        if isinstance(value, str):
            return as_number(value) == level
        return isinstance(value, int | float) and value == level
    return isinstance(value, str) and value == level


def normalise(criterion: Scaled, value: object) -> Any:
    """The value as the criterion's own option spells it, on a multi-select criterion a list of such, a float on an open
    interval scale, or free text as it is.

    Raises Invalid `not_an_option` with a sentence that lists what is accepted; of a multi-select criterion also
    `bad_selection`, of free text `bad_text` and `text_too_long`.
    """
    if criterion.is_text:
        return _words(criterion, value)
    if criterion.is_multi:
        return _selection(criterion, value)
    if criterion.options:
        return _option(criterion, value)
    number = as_number(value) if isinstance(value, str) else value
    if isinstance(number, bool) or not isinstance(number, int | float) or not _is_finite(number):
        raise Invalid(
            "not_an_option",
            _("%(shown)s is invalid. “%(key)s” must be a finite number.")
            % {"shown": _shown(value), "key": criterion.key},
        )
    return float(number)


def _option(criterion: Scaled, value: object) -> Any:
    for level in criterion.levels:
        if _same(level, value):
            return level
    accepted = ", ".join(str(level) for level in criterion.levels)
    raise Invalid(
        "not_an_option",
        _("%(shown)s is not an option of “%(key)s”. Must be one of %(accepted)s.")
        % {"shown": _shown(value), "key": criterion.key, "accepted": accepted},
    )


def _selection(criterion: Scaled, value: object) -> list[Any]:
    """In the order of the options, so that equal selections are equal values. [] says that none applies."""
    listed = _json_list(value) if isinstance(value, str) else value
    if not isinstance(listed, list):
        said = _("%(shown)s is not a list. “%(key)s” takes a JSON list of its options, [] for none of them.")
        raise Invalid("bad_selection", said % {"shown": _shown(value), "key": criterion.key})
    chosen = [_option(criterion, one) for one in listed]
    ordered = [level for level in criterion.levels if any(level is one for one in chosen)]
    if len(ordered) < len(chosen):
        said = _("%(shown)s holds an option of “%(key)s” more than once.")
        raise Invalid("bad_selection", said % {"shown": _shown(value), "key": criterion.key})
    return ordered


def _json_list(text: str) -> object:
    """As a table of text cells spells it."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _words(criterion: Scaled, value: object) -> str:
    # Not stripped: a browser that sends it again compares it with what it typed.
    if not isinstance(value, str) or not is_storable(value) or is_blank(value):
        raise Invalid("bad_text", _("“%(key)s” must be text, and not empty.") % {"key": criterion.key})
    if len(value) > MAX_TEXT:
        raise Invalid(
            "text_too_long",
            _("The text has %(length)s characters. Shorten it to %(most)s.") % {"length": len(value), "most": MAX_TEXT},
        )
    return value


def require_changed(criterion: Scaled, value: Value, answer: str | None) -> None:
    """Raises Invalid when the text of a criterion that starts with the answer is the answer as it was."""
    if criterion.prefill and answer is not None and same_words(str(value), answer):
        raise Invalid(
            "unchanged",
            _("“%(key)s” is the answer as it was. Change it, or give no value.") % {"key": criterion.key},
        )


def require_rated(criterion: Scaled) -> None:
    """Raises Invalid for what has no figures: no judge, known answer, report or threshold is about free text or a
    selection of several options."""
    require_voted(criterion)
    if criterion.is_multi:
        raise Invalid(
            "multi_select",
            _("“%(key)s” is multi-select, which has verdicts but no figures. Choose another criterion.")
            % {"key": criterion.key},
        )


def require_voted(criterion: Scaled) -> None:
    """Raises Invalid for free text: there is nothing to count, compare or decide."""
    if criterion.is_text:
        raise Invalid(
            "free_text",
            _("“%(key)s” is free text, which has no verdicts and no figures. Choose another criterion.")
            % {"key": criterion.key},
        )


def json_spelling(value: Any) -> str:
    """Two values are one where PostgreSQL's jsonb says so: 4 and 4.0 are, true and 1 are not."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value)


def _is_finite(number: int | float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:  # a whole number beyond 64-bit floating point
        return False


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    return f"“{text[:80]}”"
