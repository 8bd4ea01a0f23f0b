"""Schemathesis against the API, once for each role: does any request, as the OpenAPI document describes it or not, get
an answer that the document doesn't know?

    python -m bench.fuzz_api [--minutes 30] [--roles stranger annotator reviewer admin] [--seed 18]

Starts gunicorn and a worker in a temporary folder, with two projects that have something of everything. Each role has a
token that may do whatever the role may. Parameters of addresses mostly name what is there; names in bodies often do.
Half of the time goes to single requests, half to sequences of them that follow from one another.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from bench.judges import worker
from bench.stage import Web, heading, own_services, web

# The last one may change most, and take away what the others need.
ROLES = {"stranger": "outsider", "annotator": "ann", "reviewer": "rita", "admin": "alice"}
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
)
# What comes first is repeated until the time is over, and would leave none for what comes next.
PHASES = ("examples,coverage,fuzzing", "stateful")
IN_ADDRESSES, IN_BODIES = 0.9, 0.5
# In bodies and queries: what names something of the project.
NAMES = {
    "criterion": ["grade", "support"],
    "criteria[*]": ["grade", "support"],
    "annotators[*]": ["ann", "ben", "chen"],
    "unit": ["answer", "claim:0"],
    "username": ["ann", "ben", "chen"],
}
# Parts of a file are bytes as well.
HOOKS = """\
import schemathesis

schemathesis.serializer.alias("application/offset+octet-stream", "application/octet-stream")
"""


def settings_for(token: str, own: dict[str, Any], seed: int) -> str:
    """Schemathesis's own file. Addresses that share a parameter's name share its values."""
    values: dict[str, list[Any]] = {}
    for name, value in own.items():
        known = values.setdefault(f"path.{name.rpartition('/')[2]}", [])
        known.append(value if isinstance(value, int) else str(value))
    for name, several in NAMES.items():
        values[f"body.{name}"] = list(several)
        if "[" not in name:
            values[f"query.{name}"] = list(several)
    lines = [f"seed = {seed}", 'hooks = "hooks.py"', f"headers = {{ Authorization = {json.dumps(f'Token {token}')} }}"]
    for number, (name, several) in enumerate(values.items()):
        chance = IN_ADDRESSES if name.startswith("path.") else IN_BODIES
        lines += [f"[dictionaries.d{number}]", f"values = {json.dumps(several)}"]
        lines += [f"[parameters.{json.dumps(name)}]", f'dictionary = "d{number}"', f"probability = {chance}"]
    return "\n".join(lines)


def run(role: str, phases: str, options: argparse.Namespace, running: Web, given: Path) -> bool:
    heading(f"{role}, {phases}, {options.minutes / len(PHASES):g} minutes, seed {options.seed}")
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(given)]
    command += ["run", "openapi.yaml", "--url", running.url]
    command += ["--checks", ",".join(CHECKS), "--phases", phases]
    command += ["--max-time", str(round(options.minutes * 60 / len(PHASES))), "--request-timeout", "60"]
    command += ["--continue-on-failure", "--generation-database", "none", "--warnings", "off", "--no-color"]
    return subprocess.run(command, cwd=given.parent).returncode == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--roles", nargs="+", choices=ROLES, default=list(ROLES))
    parser.add_argument("--seed", type=int, default=18)
    options = parser.parse_args()
    os.environ["JUDGE_PRIVATE_HOSTS"] = "127.0.0.1"  # where the world's endpoint would be
    os.environ.setdefault("LOG_LEVEL", "ERROR")  # each refusal is a warning
    with own_services() as folder, web() as running, worker():
        from django.db import connection

        from annotate.files.releases import make_release
        from annotate.models import Release, User
        from annotate.models.account import Scope
        from annotate.projects.accounts import make_token
        from tests.annotate.api.conftest import _both

        both = _both()
        with connection.cursor() as cursor:  # of the world's releases only the rows are there, which stay as they are
            cursor.execute("ALTER TABLE annotate_release DISABLE TRIGGER USER")
            Release.objects.all().delete()
            cursor.execute("ALTER TABLE annotate_release ENABLE TRIGGER USER")
        make_release(project=both.world.project, user=both.world.alice, file_format="jsonl")
        (folder / "hooks.py").write_text(HOOKS)
        # By us: Schemathesis gives up after ten seconds, which a busy machine takes.
        with urlopen(f"{running.url}/api/schema/", timeout=300) as document:
            (folder / "openapi.yaml").write_bytes(document.read())
        kept = []
        for role in options.roles:
            _token, text = make_token(actor=User.objects.get(username=ROLES[role]), scopes=list(Scope))
            given = folder / f"{role}.toml"
            given.write_text(settings_for(text, both.own, options.seed))
            kept += [run(role, phases, options, running, given) for phases in PHASES]
    sys.exit(0 if all(kept) else 1)


if __name__ == "__main__":
    main()
