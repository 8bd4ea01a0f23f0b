"""Criteria: checked, added, and versioned when labels rest on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils.text import slugify
from django.utils.translation import gettext as _

from annotate.core.errors import Conflict, Invalid
from annotate.core.hotkeys import RESERVED_HOTKEYS
from annotate.core.rows import next_position
from annotate.core.scales import as_number
from annotate.core.texts import is_storable
from annotate.core.trail import note
from annotate.models import BatchCriterion, Criterion, Project, User
from annotate.models.project import UNRATED_SCALES, Prefill, Scale, UnitKind
from annotate.projects.builtin_criteria import BUILTIN_CRITERIA

_FIELDS = {"key", "name", "unit", "scale", "prompt", "help", "options", "pass", "required", "cant_tell", "prefill"}
_OPTION_FIELDS = {"value", "label", "hotkey", "help"}
MAX_OPTIONS = 50
MAX_VALUE = 200
MAX_NUMBER = 2**53


def add_criteria(
    *, project: Project, specs: Sequence[Mapping[str, Any] | str], actor: User | None = None
) -> list[Criterion]:
    """Adds criteria, given as specifications or as keys of built-in ones. All or none.

    A key that the project has: the same content changes nothing, other content makes the next version.
    """
    checked = [check_spec(spec, where=f"criteria[{index}]") for index, spec in enumerate(specs)]
    keys = [spec["key"] for spec in checked]
    for key in keys:
        if keys.count(key) > 1:
            raise Invalid("duplicate_key", _("The criterion “%(key)s” is listed more than once.") % {"key": key})
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        return [_add_one(project, spec, actor) for spec in checked]


def _add_one(project: Project, spec: dict[str, Any], actor: User | None) -> Criterion:
    columns = {"pass": "passes"}
    content = {columns.get(field, field): value for field, value in spec.items() if field != "key"}
    current = Criterion.objects.filter(project=project, key=spec["key"], is_current=True).first()
    if current is None:
        position = next_position(project.criteria.all())
        added = Criterion.objects.create(project=project, key=spec["key"], position=position, **content)
        note(actor=actor, action="criterion.added", subject=added.key, project=project, version=1)
        return added
    fields = [field for field, value in content.items() if getattr(current, field) != value]
    if not fields:
        return current
    if current.unit != content["unit"]:
        raise Conflict(
            "unit_changed",
            _("“%(key)s” applies to a %(unit)s. Choose another key for a %(wanted)s.")
            % {"key": current.key, "unit": current.unit, "wanted": content["unit"]},
        )
    for scale in UNRATED_SCALES:
        if current.scale != content["scale"] and scale in (current.scale, content["scale"]):
            said = _("“%(key)s” can’t change its scale from or to “%(scale)s”. Choose another key.")
            raise Conflict("scale_changed", said % {"key": current.key, "scale": scale.label})
    if current.prefill != content["prefill"]:
        raise Conflict(
            "prefill_changed",
            _("“%(key)s” can’t change what its field starts with. Choose another key.") % {"key": current.key},
        )
    if _in_use(current):
        action = "criterion.versioned"
        current.is_current = False
        current.save(update_fields=["is_current"])
        changed = Criterion.objects.create(
            project=project,
            key=current.key,
            version=current.version + 1,
            position=current.position,
            **content,
        )
    else:
        action, changed = "criterion.changed", current
        for field, value in content.items():
            setattr(current, field, value)
        current.save(update_fields=list(content))
    note(actor=actor, action=action, subject=changed.key, project=project, version=changed.version, fields=fields)
    return changed


def _in_use(criterion: Criterion) -> bool:
    return (
        criterion.labels.exists()
        or criterion.gold_answers.exists()
        or BatchCriterion.objects.filter(criterion=criterion).exists()
    )


def check_spec(spec: Mapping[str, Any] | str, *, where: str = "criterion") -> dict[str, Any]:
    """A complete, checked specification. Raises Invalid with a sentence that names the place."""
    if isinstance(spec, str):
        if spec not in BUILTIN_CRITERIA:
            known = ", ".join(BUILTIN_CRITERIA)
            raise Invalid("unknown_criterion", f"{where}: “{spec}” is not a built-in criterion. Known: {known}.")
        return check_spec({"key": spec, **BUILTIN_CRITERIA[spec]}, where=where)
    if not isinstance(spec, Mapping):
        raise Invalid("bad_criterion", f"{where}: write an object, or the key of a built-in criterion.")
    unknown = set(spec) - _FIELDS
    if unknown:
        known = ", ".join(sorted(_FIELDS))
        raise Invalid("unknown_field", f"{where}: unknown field “{_first(unknown)}”. Known: {known}.")
    key = _text(spec, "key", where)
    if slugify(key).replace("-", "_") != key.lower().replace("-", "_") or len(key) > 60:
        raise Invalid(
            "bad_key", f"{where}.key: “{key[:80]}” – use up to 60 letters, digits, “-” and “_” without spaces."
        )
    unit = _one_of(spec, "unit", UnitKind.values, where)
    scale = _one_of(spec, "scale", Scale.values, where)
    options = _check_options(spec.get("options", []), scale, where)
    spellings = {_spelling(option["value"]): option["value"] for option in options}
    passing = spec.get("pass", [])
    if not isinstance(passing, list):
        raise Invalid("bad_pass", f"{where}.pass: write a list of option values.")
    if passing and scale == Scale.MULTI:
        raise Invalid("bad_pass", f"{where}.pass: several options can be chosen, so none of them passes; leave it out.")
    for value in passing:
        if _spelling(value) not in spellings:
            reason = "is not the value of an option" if options else "needs options to be one of"
            raise Invalid("bad_pass", f"{where}.pass: “{str(value)[:80]}” {reason}.")
    prefill = _check_prefill(spec.get("prefill", ""), unit, scale, where)
    required = _flag(spec, "required", where, default=not prefill)
    if required and prefill:
        said = f"{where}.required: a field left as it was prefilled is no label; write false or leave it out."
        raise Invalid("bad_required", said)
    # Who has nothing to write leaves the field empty.
    cant_tell = _flag(spec, "cant_tell", where, default=scale != Scale.TEXT)
    if cant_tell and scale == Scale.TEXT:
        said = f"{where}.cant_tell: free text has no “can’t tell”; write false or leave it out."
        raise Invalid("bad_cant_tell", said)
    return {
        "key": key,
        "name": _text(spec, "name", where, default=key.replace("_", " ").capitalize())[:120],
        "unit": unit,
        "scale": scale,
        "prompt": _text(spec, "prompt", where),
        "help": _text(spec, "help", where, default=""),
        "options": options,
        "pass": [spellings[_spelling(value)] for value in passing],
        "required": required,
        "cant_tell": cant_tell,
        "prefill": prefill,
    }


def _check_prefill(value: Any, unit: str, scale: str, where: str) -> str:
    if not isinstance(value, str) or value not in Prefill.values:
        raise Invalid("bad_prefill", f"{where}.prefill: write “answer”, or leave it out.")
    if value and (unit, scale) != (UnitKind.ANSWER, Scale.TEXT):
        raise Invalid("bad_prefill", f"{where}.prefill: only free text about an answer can start with the answer.")
    return value


def _check_options(options: Any, scale: str, where: str) -> list[dict[str, Any]]:
    if not isinstance(options, list):
        raise Invalid("bad_options", f"{where}.options: write a list of options.")
    if not options and scale in (Scale.INTERVAL, Scale.TEXT):
        return []
    if scale == Scale.TEXT:
        raise Invalid("bad_options", f"{where}.options: free text has no options; leave them out.")
    if len(options) < 2 or len(options) > MAX_OPTIONS:
        raise Invalid("bad_options", f"{where}.options: give between 2 and {MAX_OPTIONS} options.")
    if scale == Scale.BINARY and len(options) != 2:
        raise Invalid("bad_options", f"{where}.options: a binary scale has exactly two options.")
    checked = [_check_option(option, scale, f"{where}.options[{index}]") for index, option in enumerate(options)]
    truths = [isinstance(option["value"], bool) for option in checked]
    if any(truths) and not all(truths):
        # Python and pandas hold True for equal to 1.
        raise Invalid("bad_options", f"{where}.options: true and false don't go together with other values.")
    spellings = [_spelling(option["value"]) for option in checked]
    hotkeys = [option["hotkey"] for option in checked if option.get("hotkey")]
    for kind, listed in (("value", spellings), ("hotkey", hotkeys)):
        twice = [item for item in listed if listed.count(item) > 1]
        if twice:
            raise Invalid("duplicate_option", f"{where}.options: the {kind} “{twice[0]}” is given twice.")
    return checked


def _spelling(value: Any) -> str:
    """What two values share that a file can't tell apart: 1, 1.0 and "1"; and true and "TRUE"."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float) and abs(value) <= MAX_NUMBER:
        return repr(float(value))
    number = as_number(value) if isinstance(value, str) else None
    if number is not None:
        return repr(number)
    return value.lower() if isinstance(value, str) and value.lower() in ("true", "false") else str(value)


def _check_option(option: Any, scale: str, where: str) -> dict[str, Any]:
    if not isinstance(option, Mapping) or "value" not in option:
        raise Invalid("bad_option", f"{where}: write an object with “value” and “label”.")
    unknown = set(option) - _OPTION_FIELDS
    if unknown:
        raise Invalid("unknown_field", f"{where}: unknown field “{_first(unknown)}”.")
    value = option["value"]
    if not isinstance(value, str | int | float | bool) or value == "":
        raise Invalid("bad_option", f"{where}.value: write a text or a number.")
    if isinstance(value, str) and not (is_storable(value) and len(value) <= MAX_VALUE):
        raise Invalid("bad_option", f"{where}.value: write a text of at most {MAX_VALUE} characters.")
    # Beyond this, whole numbers and floats are no longer the same numbers.
    if isinstance(value, int | float) and not abs(value) <= MAX_NUMBER:
        raise Invalid("bad_option", f"{where}.value: write a number between -2⁵³ and 2⁵³.")
    if scale == Scale.INTERVAL and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise Invalid("bad_option", f"{where}.value: an interval scale has numbers as values.")
    checked: dict[str, Any] = {"value": value, "label": _text(option, "label", where, default=str(value))}
    hotkey = option.get("hotkey")
    if hotkey is not None and hotkey != "":
        if not isinstance(hotkey, str) or len(hotkey.lower()) != 1 or not hotkey.isprintable() or hotkey == " ":
            raise Invalid("bad_hotkey", f"{where}.hotkey: write one character.")
        if hotkey.lower() in RESERVED_HOTKEYS:
            raise Invalid("bad_hotkey", f"{where}.hotkey: “{hotkey}” already has a meaning in the workspace.")
        checked["hotkey"] = hotkey.lower()
    help_text = _text(option, "help", where, default="")
    if help_text:
        checked["help"] = help_text
    return checked


def _text(spec: Mapping[str, Any], field: str, where: str, default: str | None = None) -> str:
    value = spec.get(field)
    if value is None or value == "":
        if default is None:
            raise Invalid("missing_field", _("%(where)s.%(field)s is missing.") % {"where": where, "field": field})
        return default
    if not is_storable(value):
        raise Invalid("bad_text", f"{where}.{field}: write a text.")
    return value


def _flag(spec: Mapping[str, Any], field: str, where: str, *, default: bool = True) -> bool:
    value = spec.get(field, default)
    if not isinstance(value, bool):
        raise Invalid(f"bad_{field}", f"{where}.{field}: write true or false.")
    return value


def _one_of(spec: Mapping[str, Any], field: str, known: Sequence[str], where: str) -> str:
    value = _text(spec, field, where)
    if value not in known:
        raise Invalid(f"bad_{field}", f"{where}.{field}: “{value[:80]}” – choose one of {', '.join(known)}.")
    return value


def _first(names: set[Any]) -> str:
    return min(str(name) for name in names)[:80]
