"""The disk of an installation is full while people label: what is said, what is half-made, and what becomes of labels.

    python -m bench.full_disk

`make run` with DATA_DIR on a disk in memory (so as root): first with room for labels and for no file, while a file is
uploaded, a release and a backup are made; then with no room at all, PostgreSQL's and Redis' included, for twenty
seconds. Each time, all of that is tried once more when there is room again; nobody starts anything anew. Labels are
held against a journal, as in `bench.under_faults`.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.at_work import Health, Journal, Labelling, compare
from bench.stage import ROOT, Annotator, demo_samples, figure, heading, make_project, own_folder, same_services
from bench.under_faults import SLUG, headers_of, make_run, new_member, upload

DISK_MB = 900
# Of what is asked here, nothing but labels finds room in so much.
LITTLE = 3_000_000
# In all no more samples than a release is made of while one waits.
ANNOTATORS, SAMPLES_EACH, CONTEXT_BYTES = 5, 300, 3_000
UPLOADED, UPLOADED_BYTES = 200, 30_000
CALM_SECONDS, FULL_SECONDS, WELL_SECONDS = 10.0, 20.0, 300.0


@contextmanager
def own_disk() -> Iterator[Path]:
    """A temporary DATA_DIR that is a disk in memory."""
    with own_folder() as folder:
        mounted = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m,mode=755", "tmpfs", str(folder)]
        subprocess.run(mounted, check=True)
        try:
            yield folder
        finally:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


class Ballast:
    """Takes the room on the disk."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "ballast"

    def fill(self, leave: int) -> None:
        with self._path.open("ab", buffering=0) as file:
            while (room := shutil.disk_usage(self._path).free - leave) > 0:
                try:
                    file.write(bytes(min(room, 1 << 20)))
                except OSError:
                    return

    def drop(self) -> None:
        self._path.unlink()


def main() -> None:
    os.environ["DEMO"] = "small"
    with own_disk() as folder, make_run(folder) as (port, log), same_services():
        people = make_project(
            SLUG,
            samples=demo_samples(ANNOTATORS * SAMPLES_EACH, context_bytes=CONTEXT_BYTES),
            criteria=["relevancy"],
            annotators=ANNOTATORS,
            folder=folder,
        )
        admin, ballast = new_member("admin"), Ballast(folder)
        stop, journal = threading.Event(), Journal(Path(f"{folder}.journal"))
        desks = [Labelling(port, SLUG, one, journal, stop, random.Random(n)) for n, one in enumerate(people)]
        health = Health(port, stop)
        threads = [threading.Thread(target=work) for work in (*(desk.work for desk in desks), health.watch)]
        heading(f"{ANNOTATORS} annotators, a disk of {DISK_MB} MB")
        for thread in threads:
            thread.start()
        try:
            good = _try_all(folder, port, admin, ballast, journal, health)
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        kept = compare(journal.lines(), [line for desk in desks for line in desk.refused])
        for line in log.read_text().splitlines():
            if line.startswith(("PostgreSQL", "Redis", "The ")):
                print(f"  make run said: {line}")
        Path(f"{folder}.journal").unlink()
        sys.exit(0 if kept and good else 1)


def _try_all(folder: Path, port: int, admin: Annotator, ballast: Ballast, journal: Journal, health: Health) -> bool:
    time.sleep(CALM_SECONDS)
    before = _there(folder)
    ballast.fill(LITTLE)
    asked = time.monotonic()
    little = [_upload(folder, port, admin, "little"), _release(port, admin), _backup(folder)]
    figure("room for no file: upload", little[0], "507")
    figure("room for no file: release", little[1], "507")
    figure("room for no file: backup", little[2], "a reason")
    same = _there(folder) == before
    figure("half-made then", "nothing" if same else f"{_there(folder)}, was {before}", "nothing")
    _print_labels(journal, asked)
    ballast.drop()
    good = _all_made(folder, port, admin, "after-little") and same
    before, asked = _there(folder), time.monotonic()
    ballast.fill(0)
    said = [_upload(folder, port, admin, "none"), _release(port, admin), _backup(folder)]
    while time.monotonic() < asked + FULL_SECONDS:
        time.sleep(0.5)
        ballast.fill(0)
    for name, one in zip(("upload", "release", "backup"), said, strict=True):
        figure(f"no room: {name}", one, "503 or 507" if name != "backup" else "a reason")
    _print_labels(journal, asked)
    ballast.drop()
    free = time.monotonic()
    while health.all_well_after(free) is None or not _labels_since(journal, free):
        if time.monotonic() > free + WELL_SECONDS:
            figure("labels go through again", "never")
            return False
        time.sleep(0.5)
    figure("labels go through again after", f"{_labels_since(journal, free)[0] - free:.1f} s")
    same = _there(folder) == before
    figure("half-made then", "nothing" if same else f"{_there(folder)}, was {before}", "nothing")
    return _all_made(folder, port, admin, "after-none") and good and same


def _labels_since(journal: Journal, moment: float) -> list[float]:
    return [line["at"] for line in journal.lines() if line["what"] == "acknowledged" and line["at"] > moment]


def _print_labels(journal: Journal, since: float) -> None:
    sent = [line for line in journal.lines() if line["what"] == "reply" and line["at"] > since]
    statuses = Counter(line["status"] for line in sent if line["to"] in ("label", "finish"))
    figure("labels and submissions meanwhile", str(dict(statuses)))


def _there(folder: Path) -> dict[str, Any]:
    """What an import, a release or a backup leaves, whole or not."""
    from django.db import connection

    from annotate.models import Release, Sample

    connection.close()  # the server that it was made to may be another by now
    files = [one for name in ("media", "uploads") for one in (folder / name).rglob("*") if one.is_file()]
    backups = [one.name for one in folder.glob("*.tar*")]
    counts = {"samples": Sample.objects.count(), "releases": Release.objects.count()}
    return {**counts, "files": len(files), "backups": len(backups)}


def _all_made(folder: Path, port: int, admin: Annotator, name: str) -> bool:
    """With room again."""
    uploaded, released, backed_up = _upload(folder, port, admin, name), _release(port, admin), _backup(folder)
    figure("with room again", f"upload {uploaded}, release {released}, backup {backed_up}", "done, 201, done")
    return (uploaded, released, backed_up) == ("done", "201", "done")


def _upload(folder: Path, port: int, admin: Annotator, name: str) -> str:
    path = Path(f"{folder}.{name}.jsonl")
    rows = demo_samples(UPLOADED, context_bytes=UPLOADED_BYTES)
    path.write_text("".join(json.dumps({**row, "id": f"{name}-{row['id']}"}) + "\n" for row in rows))
    try:
        status, reply, _wait = upload(port, admin, path)
    finally:
        path.unlink()
    while status in (201, 202) and reply["status"] in ("waiting", "running"):
        time.sleep(0.5)
        asked, reply = _ask(port, admin, "GET", f"imports/{reply['id']}/")
        if asked != 200:
            reply = {"status": "running"}
    return str(reply["status"]) if status in (201, 202) else _said(status, reply)


def _release(port: int, admin: Annotator) -> str:
    status, reply = _ask(port, admin, "POST", "releases/", {"format": "jsonl", "filters": {"rows": "samples"}})
    return str(status) if status == 201 else _said(status, reply)


def _said(status: int, reply: Any) -> str:
    return f"{status} {(reply.get('error') or {}).get('message', '')}".strip()


def _ask(port: int, admin: Annotator, method: str, path: str, data: Any = None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    sent = {**headers_of(port, admin), "Content-Type": "application/json"}
    try:
        connection.request(method, f"/api/projects/{SLUG}/{path}", json.dumps(data) if data else None, sent)
        reply = connection.getresponse()
        return reply.status, json.loads(reply.read() or b"{}")
    except (OSError, http.client.HTTPException, json.JSONDecodeError):
        return 0, {}
    finally:
        connection.close()


def _backup(folder: Path) -> str:
    path = folder / f"{time.monotonic()}.tar"
    command = [sys.executable, "manage.py", "backup", str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode == 0:
        path.unlink()
        return "done"
    return done.stderr.strip().splitlines()[-1].replace(str(path), "FILE")


if __name__ == "__main__":
    main()
