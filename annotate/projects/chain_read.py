"""The hash chains of the trail (decision 64): whether they hold, where they end, and a file with which others can check
it. One chain for each project, and one for what belongs to none.

What is hashed is read as it stands and hashed here, not by functions of the database: whoever can rewrite its rows can
rewrite these.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db import connection

from annotate.core.rows import fetch_all, fetch_one
from annotate.migrations._audit_content import CONTENT
from annotate.models import Project

_CHUNK = 2000


@dataclass(frozen=True, slots=True)
class Chain:
    """project: None for what belongs to none. length, hash: where it ends by its own account; None without one."""

    project: int | None
    name: str
    length: int | None
    hash: str | None


@dataclass(frozen=True, slots=True)
class Misfit:
    """The first entry that does not fit; None: those after the last one are missing. code: how it does not."""

    code: str
    chain: Chain
    position: int | None
    id: int | None = None
    action: str = ""


def chains(project: Project | None = None) -> list[Chain]:
    """Of everything, or of the project alone. In the order of their numbers, the installation's first."""
    rows = fetch_all(
        """SELECT known.project_id, p.slug, c.length, c.hash
             FROM (SELECT project_id FROM annotate_auditentry UNION SELECT project_id FROM annotate_auditchain) known
             LEFT JOIN annotate_auditchain c ON c.project_id IS NOT DISTINCT FROM known.project_id
             LEFT JOIN annotate_project p ON p.id = known.project_id
            WHERE %(project)s::bigint IS NULL OR known.project_id = %(project)s
            ORDER BY known.project_id NULLS FIRST""",
        {"project": project and project.pk},
    )
    return [Chain(pk, "(installation)" if pk is None else slug, length, end) for pk, slug, length, end in rows]


def misfit(chain: Chain) -> Misfit | None:
    """The first entry of the chain that does not fit, from its beginning on."""
    last, before = 0, ""
    for pk, action, position, content, said, _actor in _entries(chain, "position > 0", "position"):
        if position != last + 1:
            return Misfit("missing", chain, last + 1)
        last, before = position, _next_hash(before, content)
        if said != before:
            return Misfit("changed", chain, position, pk, action)
    if (last, before) != (chain.length or 0, chain.hash or ""):
        return Misfit("ends_elsewhere", chain, last + 1)
    outside = fetch_one(
        f"SELECT id, action FROM annotate_auditentry e WHERE {_of(chain)} AND (position IS NULL OR position < 1)"
        " ORDER BY id LIMIT 1",
        {"project": chain.project},
    )
    return Misfit("not_chained", chain, None, *outside) if outside else None


def lines(chain: Chain) -> Iterator[str]:
    """JSON, an entry a line, from the first on. The hash is of `content`; names, which may change, stand outside."""
    for _pk, _action, _position, content, said, actor in _entries(chain, "true", "position, e.id"):
        names = {"project": chain.name, "actor": actor}
        yield json.dumps({"hash": said, "content": content, **names}, ensure_ascii=False) + "\n"


def _next_hash(before: str, content: str) -> str:
    return hashlib.sha256(f"{before}\n{content}".encode()).hexdigest()


def _entries(chain: Chain, which: str, order: str) -> Iterator[tuple[Any, ...]]:
    with connection.chunked_cursor() as cursor:
        cursor.execute(
            f"SELECT e.id, e.action, e.position, {CONTENT}, e.hash, u.username FROM annotate_auditentry e"
            f" LEFT JOIN annotate_user u ON u.id = e.actor_id WHERE {_of(chain)} AND {which} ORDER BY {order}",
            {"project": chain.project},
        )
        while rows := cursor.fetchmany(_CHUNK):
            yield from rows


def _of(chain: Chain) -> str:
    return "e.project_id IS NULL" if chain.project is None else "e.project_id = %(project)s"
