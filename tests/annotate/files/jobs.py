"""What a process of its own does with an upload, done here."""

from __future__ import annotations

import uuid
from typing import Any

from rest_framework.response import Response
from rest_framework.test import APIClient

from annotate.files.import_queue import run_job

URL = "/api/projects/p/imports/"


def imported(api: APIClient, reply: Response) -> dict[str, Any]:
    """The import that this reply is about, once it has run."""
    job = reply.json()
    if reply.status_code == 202:
        run_job(uuid.UUID(job["id"]))
    return api.get(f"{URL}{job['id']}/").json()
