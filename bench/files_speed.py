"""Files as people bring and fetch them: uploads until they are imported, releases until they are downloaded.

    python -m bench.files_speed [--rows 10000]

Against what `make run` starts, in a temporary folder: a file of samples of about 3 KB (question, answer, 5 contexts, 4
claims) and one with two people's labels for each claim and for the answer are uploaded, each until its import is done.
Then the samples with all their texts, and the verdicts on what was labelled, are released and downloaded, three times
each, the first time in processes that have released nothing before. Beside it the largest process that answers
requests, imports or works meanwhile.
"""

from __future__ import annotations

import argparse
import http.client
import json
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import psutil

from bench.import_speed import BLOCK, samples, write_file
from bench.stage import figure, heading, own_folder, same_services
from bench.under_faults import make_run

SLUG = "files"
VERDICTS = [*((f"claim:{n}", "support", "supported") for n in range(4)), ("answer", "relevancy", 4)]
RATERS = ("ana", "ben")
LOOK_SECONDS = 0.02
# Labels of a file settle nothing. As if both had submitted them.
SETTLE = """
    INSERT INTO annotate_verdict (sample_id, unit, criterion_id, state, value, method, votes, agreement, confidence,
                                  reason, revision, updated_at)
    SELECT l.sample_id, l.unit, l.criterion_id, 'settled', (array_agg(l.value))[1], 'unanimous',
           jsonb_agg(jsonb_build_object('rater', r.name, 'value', l.value, 'revision', l.revision, 'label', l.id)),
           1, 1, '', 1, now()
      FROM annotate_label l JOIN annotate_rater r ON r.id = l.rater_id
     WHERE r.project_id = (SELECT id FROM annotate_project WHERE slug = %s)
     GROUP BY l.sample_id, l.unit, l.criterion_id
"""


class Client:
    """One connection, with a token that may do everything."""

    def __init__(self, port: int, token: str) -> None:
        self._http = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
        self._location = ""
        self._headers = {"Authorization": f"Token {token}", "Host": f"localhost:{port}"}

    def ask(self, method: str, path: str, document: Any = None) -> Any:
        headers = dict(self._headers)
        body = None
        if document is not None:
            headers["Content-Type"] = "application/json"
            body = json.dumps(document)
        self._http.request(method, f"/api/projects/{SLUG}/{path}", body, headers)
        return self._read()

    def upload(self, kind: str, path: Path) -> float:
        """Seconds until it is imported."""
        boundary = uuid.uuid4().hex
        part = f"--{boundary}\r\nContent-Disposition: form-data; name="
        head = f'{part}"kind"\r\n\r\n{kind}\r\n{part}"file"; filename="{path.name}"\r\n\r\n'.encode()
        foot = f"\r\n--{boundary}--\r\n".encode()
        began = time.perf_counter()
        self._http.putrequest("POST", f"/api/projects/{SLUG}/imports/", skip_host=True)
        for name, value in self._headers.items():
            self._http.putheader(name, value)
        self._http.putheader("Content-Type", f"multipart/form-data; boundary={boundary}")
        self._http.putheader("Content-Length", str(len(head) + path.stat().st_size + len(foot)))
        self._http.endheaders(head)
        with path.open("rb") as file:
            while block := file.read(BLOCK):
                self._http.send(block)
        self._http.send(foot)
        job = self._read()
        while job["status"] in ("waiting", "running"):
            time.sleep(LOOK_SECONDS)
            job = self.ask("GET", f"imports/{job['id']}/")
        assert job["status"] == "done", job
        return time.perf_counter() - began

    def release(self, document: dict[str, Any]) -> tuple[float, float, int]:
        """Seconds until it is made, and until it is downloaded; its rows."""
        began = time.perf_counter()
        made = self.ask("POST", "releases/", document)
        if "number" not in made:  # the worker makes it
            job = self._location.partition(f"/{SLUG}/")[2]
            while made["status"] in ("waiting", "running"):
                time.sleep(LOOK_SECONDS)
                made = self.ask("GET", job)
            made = self.ask("GET", made["result"].partition(f"/{SLUG}/")[2])
        there = time.perf_counter()
        self._http.request("GET", f"/api/projects/{SLUG}/releases/{made['number']}/file/", headers=self._headers)
        reply = self._http.getresponse()
        assert reply.status == 200, reply.read()
        while reply.read(BLOCK):
            pass
        return there - began, time.perf_counter() - began, int(made["manifest"]["rows"])

    def _read(self) -> Any:
        reply = self._http.getresponse()
        body = reply.read()
        assert reply.status < 300, (reply.status, body)
        self._location = reply.headers.get("Location", "")
        return json.loads(body)


@contextmanager
def watched() -> Iterator[dict[str, float]]:
    """The peak of the resident memory, in MB, of the largest process of each sort below this one; filled at the end."""
    stop, peaks = threading.Event(), dict[str, float]()

    def watch() -> None:
        while not stop.wait(LOOK_SECONDS * 2):
            for process in psutil.Process().children(recursive=True):
                _note(process, peaks)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield peaks
    finally:
        stop.set()
        thread.join()


def _note(process: psutil.Process, peaks: dict[str, float]) -> None:
    try:
        command = " ".join(process.cmdline())
        now = process.memory_info().rss / 1e6
    except psutil.NoSuchProcess:
        return
    for sort, mark in (("web", "gunicorn"), ("importer", "config.importer"), ("worker", "celeryd")):
        if mark in command:
            peaks[sort] = max(peaks.get(sort, 0), now)


def write_labels(path: Path, count: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        for row in samples(count):
            for (unit, criterion, value), rater in product(VERDICTS, RATERS):
                about = {"sample_id": row["id"], "unit": unit, "criterion": criterion}
                file.write(json.dumps({**about, "rater": rater, "value": value}) + "\n")


def make_admin() -> str:
    """Who may do everything in a new project; the token."""
    from annotate.models import User
    from annotate.models.account import Scope
    from annotate.models.project import Role
    from annotate.projects.accounts import make_token
    from annotate.projects.write import create_project, set_member

    user = User.objects.create_user("bench")
    project = create_project(slug=SLUG, spec={"name": SLUG, "criteria": ["support", "relevancy"]})
    set_member(project=project, user=user, role=Role.ADMIN)
    return make_token(actor=user, name="bench", scopes=Scope.values)[1]


def measure(folder: Path, port: int, rows: int) -> None:
    from django.db import connection

    client = Client(port, make_admin())
    files = {"samples": folder / "samples.jsonl", "labels": folder / "labels.jsonl"}
    write_file(files["samples"], "jsonl", rows)
    write_labels(files["labels"], rows)
    counts = {"samples": rows, "labels": rows * len(VERDICTS) * len(RATERS)}
    heading(f"{counts['samples']:,} samples, {counts['labels']:,} labels")
    for kind, path in files.items():
        with watched() as peaks:
            seconds = client.upload(kind, path)
        mib = path.stat().st_size / BLOCK
        speed = f"{seconds:.2f} s, {counts[kind] / seconds:,.0f} rows/s, {mib:,.0f} MiB"
        figure(f"{kind}: upload until imported", speed, "≤ 1.5 s, or ≥ 10,000 rows/s" if kind == "samples" else "")
        figure("  largest processes, MB", _shown(peaks), "web ≤ 250, importer ≤ 300")
    with connection.cursor() as cursor:
        cursor.execute(SETTLE, [SLUG])
    wanted = {
        "samples with texts": ({"format": "jsonl", "filters": {"rows": "samples"}}, "≥ 8,000 rows/s"),
        "verdicts": ({"format": "jsonl", "filters": {}}, "≥ 40,000 rows/s"),
    }
    for name, (document, aim) in wanted.items():
        for time_of in ("first", "second", "third"):
            with watched() as peaks:
                made, fetched, count = client.release(document)
            speed = f"{count / made:,.0f} rows/s; {made:.2f} s, fetched after {fetched:.2f} s"
            figure(f"{name}, {time_of} release", speed, aim)
        figure("  largest processes, MB", _shown(peaks), "≤ 300")


def _shown(peaks: dict[str, float]) -> str:
    return "   ".join(f"{sort} {peak:.0f}" for sort, peak in sorted(peaks.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", type=int, default=10_000)
    options = parser.parse_args()
    with own_folder() as folder, make_run(folder) as (port, _log), same_services():
        measure(folder, port, options.rows)


if __name__ == "__main__":
    main()
