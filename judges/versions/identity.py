"""The identity of a judge version: versions with the same content hash are one."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from django.utils.translation import gettext as _

from annotate.core.errors import Conflict
from judges.kinds.base import Kind
from judges.kinds.registry import kind_named
from judges.models import JudgeVersion


def content_hash(kind: Kind, config: Any, endpoint: str | None) -> str:
    """SHA-256 of everything that decides what a version says.

    An endpoint counts by its name: its address is part of the key that each reply is kept under.
    """
    what = {"kind": kind.key, "code_version": kind.code_version, "config": config, "endpoint": endpoint}
    return hashlib.sha256(canonical_json(what)).hexdigest()


def check_code(version: JudgeVersion) -> None:
    """Raises Conflict when the code that runs here is not the one that the version was made by: its scores would be
    another judge's."""
    if kind_named(version.judge.kind).code_version != version.code_version:
        raise Conflict(
            "other_code",
            _(
                "Version %(n)s of “%(name)s” was created with an older release that scores differently. Save the "
                "judge again to create a version that can run."
            )
            % {"n": version.label, "name": version.judge.name},
        )


def imported_content_hash(config: Any) -> str:
    """Of a version whose scores came from a file: it has no kind, no code and no endpoint. Never to be changed, or
    existing versions would get another identity."""
    return hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest()


def canonical_json(what: Any) -> bytes:
    return json.dumps(what, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
