"""A project with a little of everything, as gunicorn serves it, and one beside it; and what all tables hold."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.db import connection

from annotate.models import Project, User
from judges.models import Endpoint
from tests.hostile.outside import Outside, P
from tests.processes import LiveApp

TRAIL = ("annotate_auditentry", "annotate_auditchain")  # tells of imports that failed
# Counts wrong passwords, tokens and invitations.
_MAY_CHANGE = {"annotate_attempts"}
# What is compared of a table of which something has to change; of all others, whole rows.
_COMPARED = {
    # An old one gets another end when it is used, and what it remembers of a page.
    "django_session": "SELECT session_key FROM django_session",
    # Each is used.
    "annotate_apitoken": "SELECT to_jsonb(token) - 'last_used' FROM annotate_apitoken token",
    # One that failed is kept for seven days, and the trail, which is compared, tells of it.
    "annotate_importjob": "SELECT job FROM annotate_importjob job WHERE status <> 'failed'",
}
# Other tests store in the same folder at the same time, so: what rows of this database name.
_FILES = "stored files"

SAMPLE = {
    "id": "kb-001",
    "question": "How long may I return it?",
    "answer": "Within 30 days. Shipping is free.",
    "contexts": [{"id": "c1", "text": "Returns within 30 days."}, {"id": "c2", "text": "Shipping costs 4.90."}],
    "claims": ["Within 30 days.", "Shipping is free."],
}
LABEL = {"sample_id": "kb-001", "unit": "claim:0", "criterion": "support"}
FILES: list[tuple[dict[str, str], list[dict[str, Any]]]] = [
    ({"kind": "samples"}, [SAMPLE, {"id": "kb-002", "question": "Where?", "answer": "In Bern."}]),
    (
        {"kind": "labels"},
        [{**LABEL, "rater": "x", "value": "supported"}, {**LABEL, "rater": "y", "value": "contradicted"}],
    ),
    ({"kind": "scores"}, [{**LABEL, "judge": "claim-checker", "score": "supported"}]),
    (
        {"kind": "questions", "set": "common"},
        [{"id": "t-001", "question": "Why?"}, {"id": "t-002", "question": "Who?"}],
    ),
]
EXPERIMENT = {
    "name": "v4-or-v3",
    "set": "common@1",
    "versions": ["v3", "v4"],
    "metrics": [{"field": "latency_ms"}, {"derived": "faithfulness", "judge": "claim-checker"}],
    "rule": {"primary": "latency_ms", "margin": 1},
}


@pytest.fixture(scope="module")
def outside(standing_app: LiveApp) -> Outside:
    forget()
    outside = Outside(standing_app.port)
    outside.names["csrf"] = outside.ask("GET /login/").cookie("csrf")
    for name in ("alma", "ana"):
        user = User.objects.create_user(name, is_staff=name == "alma")
        outside.log_in(name, standing_app.session_cookie(user)["value"])

    def done(line: str, body: dict[str, Any]) -> Any:
        reply = outside.call(line, json.dumps(body).encode())
        assert reply.status in (200, 201), reply.text
        return reply.json()

    criteria = ["support", "relevance", "relevancy", "preference"]
    for slug in ("demo", "other"):
        done("POST /api/projects/", {"slug": slug, "name": slug, "criteria": criteria})
    done(f"PUT {P}/members/ana/", {"role": "annotator"})
    for form, rows in FILES:
        reply = outside.upload(
            f"{P}/imports/", form, "a.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode()
        )
        assert reply.status == 201, reply.text
    done(f"POST {P}/question-sets/common/freeze/", {})
    for version in ("v3", "v4"):
        answers = [{"question_id": f"t-00{n}", "answer": f"Because {version}.", "latency_ms": n} for n in (1, 2)]
        done(f"POST {P}/responses/", {"version": version, "samples": answers})
    done(f"POST {P}/experiments/", EXPERIMENT)
    done(f"POST {P}/criteria/support/settle/", {"needed": 2})
    batch = {"name": "B", "criteria": ["support"], "annotators": ["ana"], "overlap": 1}
    done(f"POST {P}/batches/", {**batch, "selection": {"method": "list", "samples": ["kb-001"]}})
    done(f"POST {P}/batches/1/open/", {})
    # Has a file that stays.
    done(f"POST {P}/releases/", {"format": "jsonl", "filters": {"include_disputed": True}})
    Endpoint.objects.create(project=Project.objects.get(slug="demo"), name="lab", base_url="https://example.org/v1")
    outside.names |= {
        "sample": str(outside.get(f"{P}/samples/?search=kb-001")["results"][0]["pk"]),
        "verdict": str(outside.get(f"{P}/disputes/?limit=1")["results"][0]["id"]),
        "judge": str(outside.get(f"{P}/judges/")[0]["id"]),
        "task": str(outside.get(f"{P}/work/", "ana")["task"]["id"]),
    }
    return outside


def tables() -> dict[str, str]:
    """A hash of what is compared of each table, and of the stored files: which there are, and their bytes."""
    names = [name for name in connection.introspection.table_names() if name not in _MAY_CHANGE]
    hashed = "md5(coalesce(string_agg(t::text, '\n' ORDER BY t::text), ''))"
    with connection.cursor() as cursor:
        compared = {name: _COMPARED.get(name, f'SELECT * FROM "{name}"') for name in names}
        asked = [f"SELECT '{name}', {hashed} FROM ({rows}) t" for name, rows in compared.items()]
        cursor.execute(" UNION ALL ".join(asked))
        return {**dict(cursor.fetchall()), _FILES: _files()}


def _files() -> str:
    """But those of imports that failed."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name FROM information_schema.columns"
            " WHERE table_schema = current_schema() AND column_name = 'stored_as'"
        )
        asked = [
            f"SELECT stored_as FROM {table} WHERE stored_as <> ''"
            + (" AND status <> 'failed'" if table == "annotate_importjob" else "")
            for (table,) in cursor.fetchall()
        ]
        cursor.execute(" UNION ".join(asked) + " ORDER BY 1")
        names = [name for (name,) in cursor.fetchall()]
    found = hashlib.sha256()
    for name in names:
        content = "gone"
        if default_storage.exists(name):
            with default_storage.open(name) as file:
                content = hashlib.file_digest(file, "sha256").hexdigest()
        found.update(f"{name} {content}\n".encode())
    return found.hexdigest()


_last: dict[str, str] = {}


def forget() -> None:
    """What was there last, where a test takes back what it changed."""
    _last.clear()


@contextmanager
def nothing_stored(*, but: Collection[str] = ()) -> Iterator[None]:
    """Between one such block and the next nothing happens, so that the tables are read once for each."""
    before = _last or tables()
    yield
    after = tables()
    _last.clear()
    _last.update(after)
    assert {name for name in after if before[name] != after[name]} <= set(but)
