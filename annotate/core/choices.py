"""Options as people choose among them: the best one first, so that key 1 is the best one everywhere, each with what it
means. What is stored, exported and put to judges keeps the order of the scale (decision 37)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from annotate.models import Criterion
from annotate.models.project import Scale, UnitKind

PASS, FAIL, UNDECIDED = "pass", "fail", "undecided"
# The built-in value that answers, and says that it can't be judged.
CANT_TELL = "can't tell"


def choices(*, unit: str, scale: str, options: Sequence[dict[str, Any]], passes: Sequence[Any]) -> list[dict[str, Any]]:
    """Each with a `meaning`: pass, fail, undecided, or "" where nothing passes or two answers are compared, of which
    the passing one is only a side."""
    is_read = bool(passes) and unit != UnitKind.SAMPLE
    shown = [{**option, "meaning": _meaning(option["value"], passes) if is_read else ""} for option in options]
    if not is_read or _has_keys_of_its_own(options):
        return shown
    if scale == Scale.ORDINAL:
        best_last = shown[-1]["meaning"] == PASS and shown[0]["meaning"] != PASS
        return shown[::-1] if best_last else shown
    if scale in (Scale.BINARY, Scale.NOMINAL):
        return sorted(shown, key=lambda option: (PASS, FAIL, UNDECIDED).index(option["meaning"]))
    return shown


def choices_of(criterion: Criterion) -> list[dict[str, Any]]:
    return choices(unit=criterion.unit, scale=criterion.scale, options=criterion.options, passes=criterion.passes)


def _meaning(value: Any, passes: Sequence[Any]) -> str:
    if any(type(one) is type(value) and one == value for one in passes):
        return PASS
    return UNDECIDED if value == CANT_TELL else FAIL


def _has_keys_of_its_own(options: Sequence[dict[str, Any]]) -> bool:
    """Keys that somebody assigned, or numbers, of which each is its own key."""
    labels = [str(option.get("label", "")) for option in options]
    return any(option.get("hotkey") for option in options) or all(label.isdecimal() for label in labels)
