"""A large upload, its import, a release of it and the download, with files on disk and in an S3 server (moto).

    python -m bench.object_storage [--megabytes 300] [--store disk|s3]

From outside, on `make run` in a temporary folder: by how much the largest web process grew in each step, how large the
process became that imports, and how long it took. Without `--store` both are measured, one after the other.
"""

from __future__ import annotations

import argparse
import hashlib
import http.client
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import psutil

from bench.bombs import Memory
from bench.import_speed import samples
from bench.stage import ROOT, figure, heading, own_folder, part_of_make_run, same_services, session_of
from bench.under_faults import make_run

SLUG, BOUNDARY = "bench", "8c1f0f3e5d"
ROW_BYTES = 3_300
PATIENCE_SECONDS = 1800
MOST_MB = 32


class Person:
    def __init__(self, port: int, session: str) -> None:
        cookie = f"touchstone-session={session}; touchstone-csrf={'a' * 32}"
        self._port, self._headers = port, {"Cookie": cookie, "X-CSRFToken": "a" * 32}

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> http.client.HTTPResponse:
        client = http.client.HTTPConnection("localhost", self._port, timeout=PATIENCE_SECONDS)
        client.request(method, f"/api/projects/{SLUG}/{path}", body, {**self._headers, **headers})
        return client.getresponse()

    def send(self, path: str, said: Any) -> Any:
        return json.load(self.ask("POST", path, json.dumps(said), **{"Content-Type": "application/json"}))

    def upload(self, file: Path) -> Any:
        part = f"--{BOUNDARY}\r\nContent-Disposition: form-data; name="
        head = f'{part}"kind"\r\n\r\nsamples\r\n{part}"preview"\r\n\r\n1\r\n{part}"file"; filename="a.jsonl"\r\n\r\n'
        end = f"\r\n--{BOUNDARY}--\r\n"

        def body() -> Iterator[bytes]:
            yield head.encode()
            with file.open("rb") as content:
                while chunk := content.read(1 << 20):
                    yield chunk
            yield end.encode()

        length = str(len(head) + file.stat().st_size + len(end))
        kind = f"multipart/form-data; boundary={BOUNDARY}"
        return json.load(self.ask("POST", "imports/", body(), **{"Content-Type": kind, "Content-Length": length}))


def measure(megabytes: int, folder: Path, port: int, person: Person) -> bool:
    file = folder / "upload.jsonl"
    with file.open("wb") as written:
        for sample in samples(megabytes * 1_000_000 // ROW_BYTES):
            written.write(orjson.dumps(sample) + b"\n")
    web, importer = part_of_make_run("gunicorn"), part_of_make_run("config.importer")
    small = folder / "small.jsonl"
    small.write_bytes(orjson.dumps(next(samples(1))) + b"\n")
    # Both processes, so that what they load at first is not counted.
    _step("first uploads, of one row", web, lambda: [person.upload(small) for _ in range(8)])
    job = _step("upload and preview", web, lambda: person.upload(file))
    figure("  bytes", f"{job['size']:,}")
    memory = Memory(threading.Event())
    memory.follow(importer)
    watching = threading.Thread(target=memory.watch)
    watching.start()

    def imported() -> Any:
        person.send(f"imports/{job['id']}/start/", {})
        while (found := json.load(person.ask("GET", f"imports/{job['id']}/")))["status"] in ("waiting", "running"):
            time.sleep(0.5)
        return found

    done = _step("import", web, imported)
    memory.stop.set()
    watching.join()
    figure("  ended, largest process", f"{done['status']}, {memory.take() / 1e6:.0f} MB")
    release = _step(
        "release", web, lambda: person.send("releases/", {"format": "jsonl", "filters": {"rows": "samples"}})
    )
    figure("  bytes", f"{release['manifest']['bytes']:,}")

    def downloaded() -> str:
        digest, reply = hashlib.sha256(), person.ask("GET", f"releases/{release['number']}/file/")
        while chunk := reply.read(1 << 20):
            digest.update(chunk)
        return digest.hexdigest()

    return _step("download", web, downloaded) == release["manifest"]["sha256"]


def _step(name: str, web: psutil.Process, do: Callable[[], Any]) -> Any:
    workers = web.children()
    before = {}
    for worker in workers:
        Path(f"/proc/{worker.pid}/clear_refs").write_text("5")  # its peak begins anew
        before[worker.pid] = worker.memory_info().rss
    began = time.monotonic()
    found = do()
    took = time.monotonic() - began
    grew = max(_peak(worker.pid) - before[worker.pid] for worker in workers)
    figure(name, f"{took:.1f} s, web grew by {grew / 1e6:.0f} MB", f"≤ {MOST_MB} MB")
    return found


def _peak(pid: int) -> int:
    return int(Path(f"/proc/{pid}/status").read_text().partition("VmHWM:")[2].split()[0]) * 1024


@contextmanager
def _s3(folder: Path) -> Iterator[None]:
    from tests import s3_server

    server = s3_server.start(folder / "s3.log")
    os.environ |= server.environment()
    try:
        yield
    finally:
        server.process.stop()


def run(store: str, megabytes: int) -> bool:
    from contextlib import nullcontext

    os.environ["DEMO"] = "small"
    with (
        own_folder() as folder,
        same_services(),
        _s3(folder) if store == "s3" else nullcontext(),
        make_run(folder) as (port, _log),
    ):
        from annotate.models import User
        from annotate.projects.write import create_project

        admin = User.objects.create_superuser("bench")
        create_project(slug=SLUG, spec={"name": SLUG, "criteria": ["support"]}, created_by=admin)
        heading(f"{megabytes} MB, {store}")
        return measure(megabytes, folder, port, Person(port, session_of(admin)))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--megabytes", type=int, default=300)
    parser.add_argument("--store", choices=("disk", "s3"))
    chosen = parser.parse_args()
    if chosen.store:
        sys.exit(not run(chosen.store, chosen.megabytes))
    command = [sys.executable, "-m", "bench.object_storage", "--megabytes", str(chosen.megabytes), "--store"]
    ended = [subprocess.run([*command, store], cwd=ROOT).returncode for store in ("disk", "s3")]
    sys.exit(any(ended))


if __name__ == "__main__":
    main()
