"""Versions of the system: made as samples name them, and described by people and pipelines."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from annotate.core.errors import Conflict, Invalid
from annotate.core.texts import check_json, is_storable, words_or_raise
from annotate.core.trail import note
from annotate.files.import_jobs import check_version
from annotate.models import Project, User
from systems.models import SystemVersion

_MAX_KEYS = 100
_MAX_TEXT = 100
_MAX_VALUE = 10_000
_MAX_TAGS = 20


def versions_named(project: Project, names: Collection[str]) -> dict[str, SystemVersion]:
    """By name; those that are not there are made."""
    found = _by_name(project, names)
    missing = sorted(set(names) - found.keys())
    if missing:
        SystemVersion.objects.bulk_create(
            (SystemVersion(project=project, name=name) for name in missing), ignore_conflicts=True
        )
        found |= _by_name(project, missing)
    return found


def _by_name(project: Project, names: Collection[str]) -> dict[str, SystemVersion]:
    return {one.name: one for one in SystemVersion.objects.filter(project=project, name__in=names)}


@dataclass(frozen=True)
class Description:
    """What a person or a pipeline says of a version; None: nothing, it stays as it is."""

    configuration: Any = None
    commit: Any = None
    parent_commit: Any = None
    price: Any = None
    tags: Any = None
    is_baseline: Any = None


def create_version(*, actor: User | None, project: Project, name: object, said: Description) -> SystemVersion:
    """Raises Conflict for a name that is there, and Invalid."""
    name, wanted = check_version(name), _checked(said)
    with transaction.atomic():
        _turn(project)
        if SystemVersion.objects.filter(project=project, name=name).exists():
            raise Conflict("version_exists", _("Version “%(name)s” is there already.") % {"name": name})
        _make_way(project, wanted)
        version = SystemVersion.objects.create(project=project, name=name, created_by=actor, **wanted)
        note(actor=actor, action="version.created", subject=name, project=project, **_noted(wanted))
    return version


def change_version(*, actor: User | None, version: SystemVersion, said: Description) -> SystemVersion:
    """Changes what differs. Raises Invalid."""
    wanted = _checked(said)
    with transaction.atomic():
        _turn(version.project)
        version.refresh_from_db()
        changed = {name: value for name, value in wanted.items() if getattr(version, name) != value}
        if changed:
            _make_way(version.project, changed)
            for name, value in changed.items():
                setattr(version, name, value)
            version.save(update_fields=list(changed))
            note(
                actor=actor,
                action="version.changed",
                subject=version.name,
                project=version.project,
                fields=sorted(changed),
                **_noted(changed),
            )
    return version


def _turn(project: Project) -> None:
    """One change of a project's versions at a time: one of them is the baseline."""
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)


def _make_way(project: Project, wanted: Mapping[str, Any]) -> None:
    if wanted.get("is_baseline"):
        SystemVersion.objects.filter(project=project, is_baseline=True).update(is_baseline=False)


def _noted(wanted: Mapping[str, Any]) -> dict[str, Any]:
    return {"baseline": wanted["is_baseline"]} if "is_baseline" in wanted else {}


def _checked(said: Description) -> dict[str, Any]:
    checks: dict[str, Callable[[Any], Any]] = {
        "configuration": _configuration,
        "commit": lambda value: _text("commit", value),
        "parent_commit": lambda value: _text("parent_commit", value),
        "price": _price,
        "tags": _tags,
        "is_baseline": _is_baseline,
    }
    given = {name: getattr(said, name) for name in checks}
    return {name: checks[name](value) for name, value in given.items() if value is not None}


def _configuration(value: Any) -> dict[str, Any]:
    refused = Invalid(
        "bad_configuration",
        _("configuration: must be an object of at most %(most)d keys with texts, numbers, true or false.")
        % {"most": _MAX_KEYS},
    )
    if not isinstance(value, dict) or len(value) > _MAX_KEYS:
        raise refused
    for key, one in value.items():
        if not isinstance(key, str) or not 0 < len(key) <= _MAX_TEXT or not isinstance(one, str | int | float | bool):
            raise refused
        if isinstance(one, str) and len(one) > _MAX_VALUE:
            raise refused
    check_json(value)
    return value


def _text(name: str, value: Any) -> str:
    if not is_storable(value) or len(value) > _MAX_TEXT:
        said = _("%(field)s: must be a text of at most %(most)d characters.")
        raise Invalid(f"bad_{name}", said % {"field": name, "most": _MAX_TEXT})
    return str(value).strip()


def _price(value: Any) -> dict[str, float]:
    if (
        not isinstance(value, dict)
        or not value.keys() <= {"input", "output"}
        or not all(map(_is_amount, value.values()))
    ):
        raise Invalid("bad_price", _("price: must be {input, output}, numbers from 0, for a million tokens."))
    return {name: float(one) for name, one in value.items()}


def _is_amount(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and value >= 0 and math.isfinite(value)


def _tags(value: Any) -> list[str]:
    refused = Invalid("bad_tags", _("tags: must be a list of at most %(most)d texts, each once.") % {"most": _MAX_TAGS})
    if not isinstance(value, list) or len(value) > _MAX_TAGS:
        raise refused
    tags = [words_or_raise(tag, refused, most=_MAX_TEXT) for tag in value]
    if len(set(tags)) < len(tags):
        raise refused
    return tags


def _is_baseline(value: Any) -> bool:
    if not isinstance(value, bool):
        raise Invalid("bad_baseline", _("baseline: must be true or false."))
    return value
