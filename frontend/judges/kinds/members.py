"""What judges that are made of others offer as their members."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from annotate.models import Project
from annotate.models.project import UnitKind
from annotate.projects.read import criterion_names
from frontend.judges.table import judge_rows


def member_choices(project: Project, config: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What every judge in use measures, and the members that the configuration has already, of whatever version."""
    in_use = [
        (row.judge.name, row.version.label, one.dimension, one.unit)
        for row in judge_rows(project)
        if row.version is not None
        for one in row.measures
    ]
    names = criterion_names(project)
    return [
        (_key(one), f"{one[0]} ({one[1]}): {names.get(one[2], one[2])}, {UnitKind(one[3]).label}")
        for one in dict.fromkeys([*in_use, *_members(config)])
    ]


def chosen_members(config: Mapping[str, Any]) -> list[str]:
    return [_key(one) for one in _members(config)]


def _members(config: Mapping[str, Any]) -> list[tuple[str, str, str, str]]:
    """Judge, version, dimension and unit of each."""
    return [
        (one["judge"], one["version"], one["dimension"], one.get("unit", config["unit"]))
        for one in config.get("members", ())
    ]


def _key(member: tuple[str, str, str, str]) -> str:
    return json.dumps(member, ensure_ascii=False)
