"""When two versions of a judge are one: when they have the same content hash."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from judges.kinds.base import Kind


def content_hash(kind: Kind, config: Any, endpoint: str | None) -> str:
    """SHA-256 of everything that decides what a version says.

    An endpoint counts by its name: where that leads to is part of what each reply is kept under.
    """
    what = {"kind": kind.key, "code_version": kind.code_version, "config": config, "endpoint": endpoint}
    return hashlib.sha256(canonical_json(what)).hexdigest()


def imported_content_hash(config: Any) -> str:
    """Of a version whose scores a file brought: it has no kind, no code and no endpoint. Written as it always was, or
    versions of before would be others."""
    return hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest()


def canonical_json(what: Any) -> bytes:
    return json.dumps(what, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
