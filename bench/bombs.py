"""Hostile files, uploaded as a person would: what becomes of each, and of everybody else meanwhile.

    python -m bench.bombs [--of-each 40] [--seed 15] [--format parquet …]

Starts `make run` in a temporary folder. Each file is uploaded, looked at (the preview) and imported; the application
reads it in a process of its own. From outside: by how much the resident memory of any process of web and importer grows
above what it was before the file, how long until the file is refused, and `/readyz` ten times a second.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
import urllib.error
import urllib.request
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from bench.at_work import Health
from bench.hostile_files import FORMATS, OF_EACH, SEED, Bomb, bombs
from bench.stage import Annotator, figure, heading, own_folder, part_of_make_run, same_services, session_of
from bench.under_faults import make_run

SLUG = "bench"
MOST_MB, MOST_SECONDS, MOST_HEALTH_MS = 300, 10, 500
GIVE_UP_SECONDS = 120


@dataclass
class Memory:
    """By how much each process of the application grew since it was last asked, by its id and beginning: a fork of the
    importer above the importer, another new process above nothing."""

    importer: psutil.Process
    web: psutil.Process
    stop: threading.Event
    _before: dict[tuple[int, float], int] = field(default_factory=dict)
    _growth: dict[tuple[int, float], int] = field(default_factory=dict)

    def watch(self) -> None:
        while not self.stop.is_set():
            for part in (self.importer, self.web):
                for process in (part, *_children(part)):
                    self._note(process, part)
            self.stop.wait(0.005)

    def begin(self) -> None:
        """What there is now was there before."""
        everything = [one for part in (self.importer, self.web) for one in (part, *_children(part))]
        self._before, self._growth = {}, {}
        for one in everything:
            with _unless_ended():
                self._before[one.pid, one.create_time()] = _resident(one, "VmRSS:")

    def most(self) -> int:
        return max(self._growth.values(), default=0)

    def _note(self, process: psutil.Process, part: psutil.Process) -> None:
        with _unless_ended():
            key = (process.pid, process.create_time())
            if key in self._before:
                grown = _resident(process, "VmRSS:") - self._before[key]
            else:
                origin = _resident(part, "VmRSS:") if part is self.importer else 0
                grown = _resident(process, "VmHWM:") - origin
            self._growth[key] = max(self._growth.get(key, 0), grown)


def _unless_ended() -> AbstractContextManager[None]:
    # What has ended and was not waited for still has a file, in which no memory stands.
    return suppress(OSError, psutil.NoSuchProcess, IndexError)


def _resident(process: psutil.Process, which: str) -> int:
    return int(Path(f"/proc/{process.pid}/status").read_text().partition(which)[2].split()[0]) * 1024


def _children(part: psutil.Process) -> list[psutil.Process]:
    try:
        return part.children(recursive=True)
    except psutil.NoSuchProcess:
        return []


@dataclass(frozen=True)
class Seen:
    bomb: Bomb
    status: str
    code: str
    seconds: float
    grown_mb: float


class Person:
    """Uploads, looks, imports, and waits for what comes of it."""

    def __init__(self, port: int, admin: Annotator) -> None:
        self._imports = f"http://localhost:{port}/api/projects/{SLUG}/imports/"
        cookie = f"touchstone-session={admin.session}; touchstone-csrf={'a' * 32}"
        self._headers = {"Cookie": cookie, "X-CSRFToken": "a" * 32, "Accept": "application/json"}

    def bring(self, bomb: Bomb) -> tuple[str, str]:
        """How the import ended, and the code of its first error."""
        status, job = self._ask("", self._form(bomb), self._type)
        if status != 200:
            return f"upload {status}", str(job.get("error", {}).get("code"))
        status, began = self._ask(f"{job['id']}/start/", b"{}", "application/json")
        address, until = f"{job['id']}/", time.monotonic() + GIVE_UP_SECONDS
        job = began if status == 422 else self._ask(address)[1]
        while job["status"] in ("waiting", "running") and time.monotonic() < until:
            time.sleep(0.05)
            job = self._ask(address)[1]
        return job["status"], job["errors"][0]["code"] if job["errors"] else ""

    @property
    def _type(self) -> str:
        return f"multipart/form-data; boundary={self._boundary}"

    def _form(self, bomb: Bomb) -> bytes:
        self._boundary = uuid.uuid4().hex
        part = f"--{self._boundary}\r\nContent-Disposition: form-data; name="
        fields = f'{part}"kind"\r\n\r\nsamples\r\n{part}"preview"\r\n\r\n1\r\n'
        head = f'{fields}{part}"file"; filename="{bomb.file_name}"\r\n\r\n'.encode()
        return head + bomb.content + f"\r\n--{self._boundary}--\r\n".encode()

    def _ask(self, path: str, body: bytes | None = None, content_type: str = "") -> tuple[int, dict[str, Any]]:
        headers = {**self._headers, **({"Content-Type": content_type} if body is not None else {})}
        request = urllib.request.Request(self._imports + path, data=body, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=GIVE_UP_SECONDS) as reply:
                return reply.status, json.loads(reply.read())
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read() or b"{}")


def run(port: int, admin: Annotator, chosen: list[str], of_each: int, seed: int) -> Iterator[Seen]:
    person, stop = Person(port, admin), threading.Event()
    memory = Memory(part_of_make_run("config.importer"), part_of_make_run("gunicorn"), stop)
    thread = threading.Thread(target=memory.watch)
    thread.start()
    try:
        for file_format in chosen:
            for bomb in bombs(file_format, of_each, seed):
                memory.begin()
                began = time.monotonic()
                status, code = person.bring(bomb)
                yield Seen(bomb, status, code, time.monotonic() - began, memory.most() / 1e6)
    finally:
        stop.set()
        thread.join()


def measure(chosen: list[str], of_each: int, seed: int) -> bool:
    with own_folder() as folder, make_run(folder) as (port, _log), same_services():
        admin = _project()
        stop = threading.Event()
        health = Health(port, stop)
        watching = threading.Thread(target=health.watch)
        watching.start()
        heading(f"{of_each} hostile files of each format, seed {seed}")
        seen = []
        try:
            for one in run(port, admin, chosen, of_each, seed):
                seen.append(one)
                size = f"{len(one.bomb.content) / 1000:,.0f} kB"
                took = f"{one.status} ({one.code}) after {one.seconds:.2f} s, {one.grown_mb:.0f} MB more"
                figure(one.bomb.name, f"{size:>10}  {took}")
        finally:
            stop.set()
            watching.join()
        return _judge(seen, health)


def _judge(seen: list[Seen], health: Health) -> bool:
    heading("All of them")
    refused = [one for one in seen if one.status == "failed"]
    figure("refused", f"{len(refused)} of {len(seen)}", "all")
    figure("why", ", ".join(f"{code} {n}" for code, n in Counter(one.code for one in refused).most_common()))
    largest = max(seen, key=lambda one: one.grown_mb)
    slowest = max(seen, key=lambda one: one.seconds)
    longest = max(seconds for _at, _status, seconds, _reply in health.answers) * 1000
    well = all(status == 200 for _at, status, _seconds, _reply in health.answers)
    figure("memory grew at most by", f"{largest.grown_mb:.0f} MB ({largest.bomb.name})", f"≤ {MOST_MB} MB")
    figure("longest until refused", f"{slowest.seconds:.1f} s ({slowest.bomb.name})", f"≤ {MOST_SECONDS} s")
    figure("/readyz", f"longest {longest:.0f} ms of {len(health.answers)}, all 200: {well}", f"≤ {MOST_HEALTH_MS} ms")
    return (
        len(refused) == len(seen)
        and well
        and largest.grown_mb <= MOST_MB
        and slowest.seconds <= MOST_SECONDS
        and longest <= MOST_HEALTH_MS
    )


def _project() -> Annotator:
    from annotate.models import User
    from annotate.models.project import Role
    from annotate.projects.write import create_project, set_member

    project = create_project(slug=SLUG, spec={"name": SLUG, "criteria": ["relevancy"]})
    user = User.objects.create_user("bench-admin")
    set_member(project=project, user=user, role=Role.ADMIN)
    return Annotator(user.pk, session_of(user))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--of-each", type=int, default=OF_EACH)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--format", choices=FORMATS, nargs="+", default=list(FORMATS))
    options = parser.parse_args()
    sys.exit(0 if measure(options.format, options.of_each, options.seed) else 1)


if __name__ == "__main__":
    main()
