"""What judges that are made of others offer as their members."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from annotate.models import Project
from annotate.models.project import UnitKind
from frontend.judges.table import judge_rows


def member_key(judge: str, version: str, dimension: str, unit: str) -> str:
    return json.dumps([judge, version, dimension, unit], ensure_ascii=False)


def member_choices(project: Project, config: Mapping[str, Any], unit: str | None = None) -> list[tuple[str, str]]:
    """What every judge in use measures, and the members that the configuration has already, of whatever version."""
    wanted = [
        (row.judge.name, row.version.label, one.dimension, one.unit)
        for row in judge_rows(project)
        if row.version is not None
        for one in row.measures
        if unit in (None, one.unit)
    ]
    wanted += [
        (one["judge"], one["version"], one["dimension"], one.get("unit", config["unit"]))
        for one in config.get("members", ())
    ]
    return [
        (member_key(*one), f"{one[0]} ({one[1]}): {one[2]}, {UnitKind(one[3]).label}") for one in dict.fromkeys(wanted)
    ]


def chosen_members(config: Mapping[str, Any]) -> list[str]:
    return [
        member_key(one["judge"], one["version"], one["dimension"], one.get("unit", config["unit"]))
        for one in config.get("members", ())
    ]
