"""Annotators label while something goes wrong: what becomes of their labels, and how long a label takes.

    python -m bench.under_faults [none|import|redis|postgres|web …] [--times 20] [--annotators 20]

Each fault has its own `make run`, in a temporary folder: none, for a minute; a 200 MB import with nine small uploads;
`kill -9` of the embedded Redis, once; of PostgreSQL's main process, 10 times; of gunicorn with all its workers, 20
times. The next kill comes some seconds after all is well again. The annotators do what the workspace does: a label that
was not acknowledged is sent again, under its idempotency key, after 1, 2, 4 … at most 30 seconds. Every label is in a
journal before it is sent, and again when the server has acknowledged it. In the end the journal is compared with the
database.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from bench.at_work import Health, Journal, Labelling, compare
from bench.stage import (
    ROOT,
    Annotator,
    demo_samples,
    figure,
    free_port,
    heading,
    make_project,
    median,
    own_folder,
    part_of_make_run,
    percentile,
    same_services,
    session_of,
)

MINUTE = 60.0
SLUG = "bench"
CALM_SECONDS = 15.0
BETWEEN_SECONDS = 8.0
AFTER_SECONDS = 45.0
# `make run` waits 30 s before it starts again what keeps ending.
WELL_SECONDS = 180.0
START_SECONDS = 900
IMPORT_BYTES = 200_000_000
UPLOADS, UPLOADED_SAMPLES = 9, 20


# The application


@contextmanager
def make_run(folder: Path) -> Iterator[tuple[int, Path]]:
    """What `make run` starts; its port, and the file with what it says."""
    port, log = free_port(), folder / "supervisor.log"
    with log.open("wb") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "config.supervisor"],
            cwd=ROOT,
            env={**os.environ, "PORT": str(port), "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + START_SECONDS
        while "Touchstone is at" not in log.read_text():
            if process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"`make run` did not get ready:\n{log.read_text()[-2000:]}")
            time.sleep(0.1)
        yield port, log
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def server_process(folder: Path, name: str) -> psutil.Process:
    """The embedded server itself, not its keeper."""
    for process in psutil.process_iter(["name", "cmdline"]):
        if process.info["name"] == name and str(folder) in " ".join(process.info["cmdline"]):
            return process
    raise SystemExit(f"There is no {name} in {folder}.")


# The faults, each over when it returns.


@dataclass(frozen=True)
class Scene:
    """What a fault finds: the application, an admin's session, and /readyz under watch."""

    folder: Path
    port: int
    admin: Annotator
    health: Health


#: When it happened, each time; and whether all that the fault itself was to do was done.
Over = tuple[list[float], bool]
Fault = Callable[[Scene, int], Over]


def nothing(scene: Scene, times: int) -> Over:
    began = time.monotonic()
    time.sleep(MINUTE * times)
    return [began], True


def kill_redis(scene: Scene, times: int) -> Over:
    return _killed(scene, times, lambda: [server_process(scene.folder, "redis-server")])


def kill_postgres(scene: Scene, times: int) -> Over:
    return _killed(scene, times, lambda: [server_process(scene.folder, "postgres")])


def kill_web(scene: Scene, times: int) -> Over:
    return _killed(scene, times, _web_processes)


def _web_processes() -> list[psutil.Process]:
    """gunicorn's main process and its workers."""
    main = part_of_make_run("gunicorn")
    return [main, *main.children()]


def _killed(scene: Scene, times: int, found: Callable[[], list[psutil.Process]]) -> Over:
    moments: list[float] = []
    for number in range(times):
        if number:
            time.sleep(BETWEEN_SECONDS)
        moments.append(time.monotonic())
        processes = found()
        assert processes, "there is nothing to kill"
        for process in processes:
            process.kill()
        time.sleep(1.0)  # by then /readyz has noticed
        while scene.health.all_well_after(moments[-1]) is None:
            if time.monotonic() > moments[-1] + WELL_SECONDS:
                return moments, False
            time.sleep(0.2)
    time.sleep(AFTER_SECONDS)
    return moments, True


def import_much(scene: Scene, times: int) -> Over:
    """200 MB, and while that is imported nine small files of the same project, all at once."""
    folder, port, admin = scene.folder, scene.port, scene.admin
    large = folder / "large.jsonl"
    with large.open("w", encoding="utf-8") as file:
        for row in demo_samples(IMPORT_BYTES, context_bytes=2_000):
            if file.tell() >= IMPORT_BYTES:
                break
            file.write(json.dumps({**row, "id": f"large-{row['id']}"}) + "\n")
    small = []
    for number in range(UPLOADS):
        path = folder / f"small-{number}.jsonl"
        rows = demo_samples(UPLOADED_SAMPLES)
        path.write_text("".join(json.dumps({**row, "id": f"small-{number}-{row['id']}"}) + "\n" for row in rows))
        small.append(path)
    began = time.monotonic()
    taken = threading.Event()
    with ThreadPoolExecutor(1 + UPLOADS) as pool:
        imports = [pool.submit(_import_file, port, admin, large, taken)]
        taken.wait()
        imports += [pool.submit(_import_file, port, admin, path, threading.Event()) for path in small]
        done = [one.result() for one in imports]
    figure("the import took", f"{time.monotonic() - began:.0f} s")
    return [began], all(done)


def _import_file(port: int, admin: Annotator, path: Path, taken: threading.Event) -> bool:
    """Uploads a file, says so, and waits until it is imported; one that the server has no time for is sent again.
    Returns whether it was imported."""
    began = time.monotonic()
    statuses = []
    while True:
        status, reply, wait = upload(port, admin, path)
        statuses.append(status)
        if status in (201, 202):
            break
        if status not in (0, 409, 429, 503):
            taken.set()
            figure(path.name, f"refused: {status} {reply}")
            return False
        time.sleep(wait)
    answered = time.monotonic() - began
    taken.set()
    while reply["status"] in ("waiting", "running"):
        time.sleep(0.5)
        url = f"http://localhost:{port}/api/projects/{SLUG}/imports/{reply['id']}/"
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers_of(port, admin)), timeout=60) as answer:
            reply = json.loads(answer.read())
    took = f"answered {statuses} after {answered:.1f} s, {reply['status']} after {time.monotonic() - began:.1f} s"
    figure(path.name, took)
    return bool(reply["status"] == "done")


def headers_of(port: int, person: Annotator) -> dict[str, str]:
    cookie = f"touchstone-session={person.session}; touchstone-csrf={'a' * 32}"
    return {"Cookie": cookie, "X-CSRFToken": "a" * 32, "Accept": "application/json", "Host": f"localhost:{port}"}


def upload(port: int, admin: Annotator, path: Path) -> tuple[int, Any, float]:
    """A file of samples. Status (0: no reply), the reply's JSON, and for how long the server asks one to wait."""
    boundary = uuid.uuid4().hex
    part = f"--{boundary}\r\nContent-Disposition: form-data; name="
    head = f'{part}"kind"\r\n\r\nsamples\r\n{part}"file"; filename="{path.name}"\r\n\r\n'.encode()
    foot = f"\r\n--{boundary}--\r\n".encode()
    sent = {**headers_of(port, admin), "Content-Type": f"multipart/form-data; boundary={boundary}"}
    sent["Content-Length"] = str(len(head) + path.stat().st_size + len(foot))
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    try:
        connection.putrequest("POST", f"/api/projects/{SLUG}/imports/", skip_host=True)
        for name, value in sent.items():
            connection.putheader(name, value)
        connection.endheaders()
        connection.send(head)
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                connection.send(block)
        connection.send(foot)
        reply = connection.getresponse()
        return reply.status, json.loads(reply.read() or b"{}"), float(reply.headers.get("Retry-After") or 1)
    except (OSError, http.client.HTTPException):
        return 0, {}, 1.0
    finally:
        connection.close()


FAULTS: dict[str, tuple[str, int, Fault]] = {
    "none": ("nothing goes wrong", 1, nothing),
    "import": ("a 200 MB import and nine small uploads", 1, import_much),
    "redis": ("kill -9 of Redis", 1, kill_redis),
    "postgres": ("kill -9 of PostgreSQL", 10, kill_postgres),
    "web": ("kill -9 of gunicorn and its workers", 20, kill_web),
}


# One run


def measure(name: str, samples: int, times: int | None, annotators: int) -> bool:
    """Whether every acknowledged label is there, once, and a label took no longer than is aimed at."""
    title, usual, fault = FAULTS[name]
    times = times or usual
    with own_folder() as folder, make_run(folder) as (port, log), same_services():
        people = make_project(
            SLUG,
            samples=demo_samples(annotators * samples),
            criteria=["relevancy"],
            annotators=annotators,
            folder=folder,
        )
        admin = new_member("admin")
        stop, journal = threading.Event(), Journal(folder / "journal.jsonl")
        desks = [
            Labelling(port, SLUG, annotator, journal, stop, random.Random(number))
            for number, annotator in enumerate(people)
        ]
        health = Health(port, stop)
        threads = [threading.Thread(target=one.work) for one in desks]
        threads.append(threading.Thread(target=health.watch))
        heading(f"{annotators} annotators, {title}, {times} times")
        for thread in threads:
            thread.start()
        try:
            time.sleep(CALM_SECONDS)
            moments, all_done = fault(Scene(folder, port, admin, health), times)
            ended = time.monotonic()
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        is_quick = _print(journal.lines(), health, moments, ended)
        kept = compare(journal.lines(), [line for desk in desks for line in desk.refused])
        for line in log.read_text().splitlines():
            if line.startswith(("PostgreSQL", "Redis", "The ")):
                print(f"  make run said: {line}")
        return kept and all_done and (is_quick or fault is not import_much)


def new_member(role: str) -> Annotator:
    """Of the benchmark's project, who logs in with this role."""
    from annotate.models import Project, User
    from annotate.projects.write import set_member

    user = User.objects.create_user(f"bench-{role}")
    set_member(project=Project.objects.get(slug=SLUG), user=user, role=role)
    return Annotator(user.pk, session_of(user))


def _print(lines: list[dict[str, Any]], health: Health, moments: list[float], ended: float) -> bool:
    """Whether a label and a look at /readyz took no longer than is aimed at."""
    began = moments[0]
    replies = [line for line in lines if line["what"] == "reply" and line["to"] == "label"]
    good = [line for line in replies if line["status"] == 200]
    calm = [line["seconds"] * 1000 for line in good if line["at"] < began]
    during = [line["seconds"] * 1000 for line in good if began <= line["at"] <= ended]
    figure("a label before", f"p50 {median(calm):.0f} ms   p95 {percentile(calm, 95):.0f} ms   n {len(calm)}")
    figure(
        "a label during",
        f"p50 {median(during):.0f} ms   p95 {percentile(during, 95):.0f} ms   n {len(during)}",
        "p95 ≤ 300 ms (import)",
    )
    finished = [
        line["seconds"] * 1000
        for line in lines
        if line["what"] == "reply" and (line["to"], line["status"]) == ("finish", 200) and began <= line["at"] <= ended
    ]
    figure("a submission, with the next task", f"p50 {median(finished):.0f} ms   p95 {percentile(finished, 95):.0f} ms")
    chosen = {line["key"]: line["at"] for line in lines if line["what"] == "chosen"}
    waited = [line["at"] - chosen[line["key"]] for line in lines if line["what"] == "acknowledged"]
    figure("from choice to acknowledgement", f"p95 {percentile(waited, 95):.2f} s   longest {max(waited):.1f} s")
    idle = sum(line["what"] == "finished" for line in lines)
    figure("annotators without work left", str(idle), "0, or give them more --samples")
    failed = [line for line in replies if line["status"] != 200]
    figure("not acknowledged, sent again", f"{len(failed)} {dict(Counter(line['status'] for line in failed))}")
    figure("labels go through again after", _longest(good, failed, moments))
    well = health.all_well_after(moments[-1])
    figure("/readyz: all parts answer after", "never" if well is None else f"{well:.1f} s (the last time)")
    statuses = dict(Counter(status for _at, status, _seconds, _reply in health.answers))
    longest = max(one[2] for one in health.answers) * 1000
    figure("/readyz", f"longest {longest:.0f} ms {statuses}", "≤ 500 ms")
    return percentile(during, 95) <= 300 and longest <= 500


def _longest(good: list[dict[str, Any]], failed: list[dict[str, Any]], moments: list[float]) -> str:
    """Of all times the longest from the fault to the first label after the last that failed."""
    waits = []
    for began, over in zip(moments, [*moments[1:], float("inf")], strict=True):
        last = max((line["at"] for line in failed if began <= line["at"] < over), default=began)
        first = min((line["at"] for line in good if line["at"] > last), default=None)
        if first is None:
            return "never"
        waits.append(first - began)
    return f"{max(waits):.1f} s (the longest of {len(waits)})"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("faults", nargs="*", choices=[[], *FAULTS], default=list(FAULTS))
    parser.add_argument("--samples", type=int, default=400, help="for each annotator; about one a second is labelled")
    parser.add_argument("--times", type=int, help="how often something is killed, in place of what is usual")
    parser.add_argument("--annotators", type=int, default=20)
    options = parser.parse_args()
    if len(options.faults) == 1:
        sys.exit(0 if measure(options.faults[0], options.samples, options.times, options.annotators) else 1)
    given = ["--samples", str(options.samples), "--annotators", str(options.annotators)]
    given += ["--times", str(options.times)] if options.times else []
    # Django's settings name one database for the life of a process.
    failed = [
        fault
        for fault in options.faults
        if subprocess.run([sys.executable, "-m", "bench.under_faults", fault, *given], cwd=ROOT).returncode
    ]
    if failed:
        sys.exit(f"Not as it should be: {', '.join(failed)}")


if __name__ == "__main__":
    main()
