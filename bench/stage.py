"""The stage that the benchmarks share: services of their own, gunicorn as `make run` starts it, projects with samples.

Nothing here touches an existing installation: the database lives in a temporary folder and goes with it.
"""

from __future__ import annotations

import http.client
import json
import os
import resource
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import psutil

from config import embedded
from config.supervisor import WEB

ROOT = Path(__file__).resolve().parent.parent
READY_SECONDS = 60
GRACE_SECONDS = 10
# These would lead a benchmark to somebody's data, or to an application unlike the one that `make run` starts.
_FOREIGN = (
    "ALLOWED_HOSTS",
    "DATABASE_POOLER_URL",
    "DATABASE_URL",
    "DEBUG",
    "HOST",
    "REDIS_URL",
    "SECRET_KEY",
    "STATIC_ROOT",
    "TOUCHSTONE_ENV",
)


# Services


@contextmanager
def own_folder(kept: Path | None = None) -> Iterator[Path]:
    """A temporary DATA_DIR, or this one, which stays; and no setting of this machine's."""
    for name in _FOREIGN:
        os.environ.pop(name, None)
    with nullcontext(kept) if kept else tempfile.TemporaryDirectory(prefix="ts-") as folder:
        os.chmod(folder, 0o755)  # run as root, PostgreSQL works as another user and must pass
        os.environ["DATA_DIR"] = str(folder)
        yield Path(folder)


@contextmanager
def own_services(kept: Path | None = None) -> Iterator[Path]:
    """PostgreSQL and Redis in a temporary folder or in this one, which is returned, and Django on them with its tables
    made."""
    with own_folder(kept) as folder, same_services():
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        yield folder


@contextmanager
def same_services() -> Iterator[None]:
    """Django on the services that the environment names: for a process that a benchmark starts."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    with embedded.ensure_services():
        import django
        from django.db import connection

        django.setup()
        try:
            yield
        finally:
            connection.close()


@dataclass(frozen=True)
class Web:
    """A running gunicorn."""

    port: int
    pid: int

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"


@contextmanager
def web() -> Iterator[Web]:
    """gunicorn with the configuration of `make run`, static files collected and hashed, on a free port."""
    from config.prepare import collect_static

    collect_static()
    port = free_port()
    os.environ["PORT"] = str(port)
    with running_module(*WEB) as child:
        running = Web(port, child.pid)
        _wait_until_healthy(running, child)
        yield running


@contextmanager
def running_module(*command: str, end: signal.Signals = signal.SIGTERM) -> Iterator[subprocess.Popen[bytes]]:
    """`python -m COMMAND`, a process group of its own, which ends with us. end: what it gets afterwards."""
    child = subprocess.Popen(
        [sys.executable, "-m", *command],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=embedded.die_with_parent(signal.SIGKILL),  # noqa: PLW1509 (no threads here)
    )
    try:
        yield child
    finally:
        for sent in (end, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.killpg(child.pid, sent)
            with suppress(subprocess.TimeoutExpired):
                child.wait(GRACE_SECONDS)


def part_of_make_run(name: str) -> psutil.Process:
    """The process with this in its title that the `make run` which we started has started, or is about to."""
    give_up_at = time.monotonic() + 30
    while time.monotonic() < give_up_at:
        for process in psutil.Process().children(recursive=True):
            with suppress(psutil.Error):
                parent = process.parent()
                if name in " ".join(process.cmdline()) and parent and "config.supervisor" in parent.cmdline():
                    return process
        time.sleep(0.2)
    raise SystemExit(f"There is no {name}.")


def free_port() -> int:
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        return int(trial.getsockname()[1])


def _wait_until_healthy(running: Web, child: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while True:
        try:
            with urllib.request.urlopen(f"{running.url}/readyz", timeout=5):
                return
        except OSError as error:
            if child.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"gunicorn did not get ready: {error}") from None
        time.sleep(0.05)


# Projects


@dataclass(frozen=True)
class Annotator:
    """Who labels, with the value of a session cookie that logs them in."""

    user_id: int
    session: str


def demo_samples(count: int, *, context_bytes: int = 0, in_one: bool = False) -> Iterator[dict[str, Any]]:
    """The demo's samples over and over under new ids; with `context_bytes`, contexts of that size in all, or one."""
    with (ROOT / "fixtures" / "demo" / "samples.jsonl").open(encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    for number, row in enumerate(islice(cycle(rows), count)):
        contexts = row["contexts"][:1] if in_one else row["contexts"]
        if context_bytes:
            share = context_bytes // len(contexts)
            contexts = [{**context, "text": _lengthened(context["text"], share)} for context in contexts]
        yield {**row, "id": f"{row['id']}-{number}", "contexts": contexts}


def _lengthened(text: str, size: int) -> str:
    """The text again and again, a line each time, until it has `size` bytes."""
    line = f"{text}\n"
    return line * max(1, size // len(line.encode()))


def make_project(
    slug: str,
    *,
    samples: Iterable[dict[str, Any]],
    criteria: Sequence[str],
    annotators: int,
    folder: Path,
    overlap: int = 1,
    strategy: str = "balanced",
) -> list[Annotator]:
    """A project with one open batch, in which every sample is labelled by `overlap` of the annotators, who are
    returned."""
    from django.db import connection

    from annotate.batches.steps import open_batch
    from annotate.batches.write import create_batch
    from annotate.models import Project, User
    from annotate.models.project import Role
    from annotate.projects.write import create_project, set_member

    project: Project = create_project(slug=slug, spec={"name": slug, "criteria": list(criteria)})
    users = [
        User.objects.create_user(f"{slug}-{number}", preferences={"introduced": True}) for number in range(annotators)
    ]
    for user in users:
        set_member(project=project, user=user, role=Role.ANNOTATOR)
    import_rows(project, "samples", samples, folder)
    batch = create_batch(
        project=project,
        name="First",
        criteria=list(project.criteria.all()),
        annotators=users,
        overlap=overlap,
        strategy=strategy,
        selection={"method": "all"},
        seed=1,
    )
    open_batch(batch=batch)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return [Annotator(user.pk, session_of(user)) for user in users]


def import_rows(project: Any, kind: str, rows: Iterable[dict[str, Any]], folder: Path, **options: Any) -> None:
    """Samples, labels, scores or questions, from a file as anybody would bring them."""
    from annotate.files.import_jobs import import_file
    from annotate.models.transfer import ImportStatus

    path = folder / f"{project.slug}.jsonl"
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    job = import_file(project=project, user=None, kind=kind, path=path, mapping={}, options=options)
    assert job.status == ImportStatus.DONE, job.errors[:3]
    path.unlink()


def session_of(user: Any) -> str:
    from django.conf import settings
    from django.test import Client

    client = Client()
    client.force_login(user)
    return client.cookies[settings.SESSION_COOKIE_NAME].value


# Figures


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def percentile(values: Sequence[float], percent: int) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


def heading(text: str) -> None:
    """With the load of the machine, as figures of a busy one say little."""
    print(f"\n{text}   [{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}]", flush=True)


def figure(name: str, value: str, aim: str = "") -> None:
    print(f"  {name:<34} {value:<38} {f'aim: {aim}' if aim else ''}".rstrip(), flush=True)


def pages(running: Web, session: str, folder: str, parts: Sequence[str], aim: str = "100 ms") -> None:
    """How long each page of a folder takes over HTTP, of twenty requests."""
    from django.conf import settings

    headers = {"Cookie": f"{settings.SESSION_COOKIE_NAME}={session}", "Accept-Encoding": "gzip"}
    client = http.client.HTTPConnection("localhost", running.port)
    for part in parts:
        times, size = [], 0
        for _ in range(20):
            began = time.perf_counter()
            client.request("GET", f"{folder}{part}", headers=headers)
            reply = client.getresponse()
            size = len(reply.read())
            times.append((time.perf_counter() - began) * 1000)
            assert reply.status == 200, f"{part}: {reply.status}"
        # The first of each of two processes has templates to read.
        figure(
            part or "first page",
            f"median {median(times):.0f} ms, first {times[0]:.0f} ms, {size / 1000:,.0f} kB",
            aim,
        )


class Processors:
    """Who used the processors from here on, so that a reader can judge the clients and the calm of the machine."""

    def __init__(self, web: Web, folder: Path) -> None:
        ours = [process for process in psutil.process_iter(["name", "cmdline"]) if _serves(process, folder)]
        self._roots = {
            "gunicorn": [psutil.Process(web.pid)],
            "PostgreSQL": [process for process in ours if process.info["name"] == "postgres"],
            "Redis": [process for process in ours if process.info["name"] == "redis-server"],
        }
        self._before = self._seconds()

    def used(self) -> dict[str, float]:
        """Seconds of each since the start, "others" and the "total" there was to use among them. "Clients" are
        processes of ours that have ended since."""
        now = self._seconds()
        spent = {name: now[name] - self._before[name] for name in now}
        total, busy = spent.pop("total"), spent.pop("busy")
        return {**spent, "others": max(0.0, busy - sum(spent.values())), "total": total}

    def _seconds(self) -> dict[str, float]:
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        machine = psutil.cpu_times()
        guests = machine.guest + machine.guest_nice  # counted in user and nice as well
        total = sum(machine) - guests
        return {
            "clients": ended.ru_utime + ended.ru_stime,
            **{name: sum(map(_tree_seconds, roots)) for name, roots in self._roots.items()},
            "busy": total - machine.idle - machine.iowait,
            "total": total,
        }


def _serves(process: psutil.Process, folder: Path) -> bool:
    """A PostgreSQL main process or a Redis with its files in this folder."""
    return process.info["name"] in ("postgres", "redis-server") and str(folder) in " ".join(process.info["cmdline"])


def _tree_seconds(root: psutil.Process) -> float:
    return sum(map(processor_seconds, (root, *root.children(recursive=True))))


def processor_seconds(process: psutil.Process) -> float:
    """What a process has used so far; nothing for one that has just ended."""
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return times.user + times.system
