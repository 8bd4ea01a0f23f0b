"""Tasks labelled against gunicorn on this machine: four claims and the answer, submitted, the next task received.

    python -m bench.label_loop [--tasks 2000] [--one-by-one]

For 1 and for 8 annotators at once, none of whom ever pauses: tasks per second; p50 and p95 of saving, of submitting and
of the whole task; the count of replies that were not 200; who used the processors. For one annotator also the p50 of
the last 200 tasks against that of the first 200 (flat: a history of labels costs nothing).

What was chosen while the first choice is being saved travels with the submission, as the workspace sends it. With
--one-by-one each choice is saved before the next one is made: what somebody who reads and thinks in between asks of the
server.
"""

from __future__ import annotations

import argparse
import json
import re
import socket
import time
import uuid
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.import_speed import samples
from bench.stage import (
    Annotator,
    Processors,
    Web,
    figure,
    heading,
    make_project,
    median,
    own_services,
    percentile,
    web,
)

# Tasks per annotator that are not counted: they open the server's database connections and prepare its statements.
WARM_UP = 30
CHOICES = [*((f"claim:{n}", "support", "supported") for n in range(4)), ("answer", "relevancy", 4)]
# What Chromium sends with each request of the workspace. The server has to read it all, so it gets it all.
HEADERS = """\
Host: localhost:{port}\r
Connection: keep-alive\r
sec-ch-ua-platform: "Linux"\r
X-CSRFToken: {csrf}\r
User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36\r
Accept: application/json\r
sec-ch-ua: "Chromium";v="140", "Not=A?Brand";v="24"\r
Content-Type: application/json\r
sec-ch-ua-mobile: ?0\r
X-Expected-User: {user_id}\r
Origin: http://localhost:{port}\r
Sec-Fetch-Site: same-origin\r
Sec-Fetch-Mode: cors\r
Sec-Fetch-Dest: empty\r
Referer: http://localhost:{port}/p/{slug}/label/\r
Accept-Encoding: gzip, deflate, br, zstd\r
Accept-Language: en-US,en;q=0.9\r
Cookie: touchstone-session={session}; touchstone-csrf={csrf}\r
"""
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class Client:
    """A browser's connection and headers without the browser. It shares the processors with the server it measures, so
    it does nothing per request that can be done before, and reads of a reply only status, length and body."""

    def __init__(self, port: int, slug: str, annotator: Annotator, patience: float | None = None) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), patience)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        who = {"session": annotator.session, "user_id": annotator.user_id, "csrf": "a" * 32}
        self._headers = HEADERS.format(port=port, slug=slug, **who)

    def send(self, method: str, path: str, data: Any = None, headers: str = "") -> tuple[int, bytes, float]:
        """Status, body, and the seconds from the first byte sent to the last byte received."""
        body = b"" if data is None else json.dumps(data).encode()
        head = f"{method} {path} HTTP/1.1\r\n{self._headers}{headers}Content-Length: {len(body)}\r\n\r\n"
        message = head.encode() + body
        began = time.perf_counter()
        self._socket.sendall(message)
        status, reply = self._receive()
        return status, reply, time.perf_counter() - began

    def _receive(self) -> tuple[int, bytes]:
        received = b""
        while (end := received.find(b"\r\n\r\n")) < 0:
            received += self._more()
        length = _LENGTH.search(received, 0, end)
        assert length is not None, received[:end]
        whole = end + 4 + int(length[1])
        while len(received) < whole:
            received += self._more()
        return int(received[9:12]), received[end + 4 :]

    def _more(self) -> bytes:
        received = self._socket.recv(1 << 16)
        if not received:
            raise ConnectionError("The server closed the connection.")
        return received


@dataclass
class Run:
    """What one annotator measured, in seconds. `began` and `ends` are on the clock that all processes share."""

    began: float
    ends: list[float] = field(default_factory=list)
    save: list[float] = field(default_factory=list)
    submit: list[float] = field(default_factory=list)
    task: list[float] = field(default_factory=list)
    refused: list[int] = field(default_factory=list)


def work(port: int, slug: str, annotator: Annotator, tasks: int, one_by_one: bool) -> Run:
    """The browser's loop: the task in hand and the next one are held, and each submit brings the one after."""
    client = Client(port, slug, annotator)
    task, following = _ask_for_work(client, slug)
    run = Run(began=0.0)
    alone = len(CHOICES) if one_by_one else 1
    for number in range(-WARM_UP, tasks):
        if number == 0:
            run = Run(began=time.perf_counter())
        replies = [_save(client, task, choice) for choice in CHOICES[:alone]]
        finish: dict[str, Any] = {"active_seconds": 5, "exclude": [following]}
        if CHOICES[alone:]:
            finish["labels"] = [label_of(choice, revision=0, key=str(uuid.uuid4())) for choice in CHOICES[alone:]]
        submitted, reply, submit = client.send("POST", f"/api/tasks/{task}/submit/", finish)
        run.save += [seconds for _, seconds in replies]
        run.submit.append(submit)
        run.task.append(submit + sum(seconds for _, seconds in replies))
        run.ends.append(time.perf_counter())
        refused = [status for status in (submitted, *(status for status, _ in replies)) if status != 200]
        if refused:
            run.refused += refused
            task, following = _ask_for_work(client, slug)
        else:
            task, following = following, json.loads(reply)["next"]["id"]
    return run


def label_of(choice: tuple[str, str, Any], **more: Any) -> dict[str, Any]:
    unit, criterion, value = choice
    said = {"unit": unit, "criterion": criterion, "value": value, "cant_tell": "", "comment": "", "evidence": []}
    return {**said, "active_seconds": 3, "active_ms": 900, **more}


def _save(client: Client, task: int, choice: tuple[str, str, Any]) -> tuple[int, float]:
    versions = f'If-Match: "0"\r\nIdempotency-Key: {uuid.uuid4()}\r\n'
    status, _, seconds = client.send("PUT", f"/api/tasks/{task}/labels/", label_of(choice), versions)
    return status, seconds


def _ask_for_work(client: Client, slug: str) -> tuple[int, int]:
    """The ids of the next two tasks."""
    ids: list[int] = []
    while len(ids) < 2:
        status, reply, _ = client.send("GET", f"/api/projects/{slug}/work/?exclude={','.join(map(str, ids))}")
        if status != 200:
            raise SystemExit(f"Asked for work, the server answered {status}: {reply[:500]!r}")
        ids.append(json.loads(reply)["task"]["id"])
    return ids[0], ids[1]


def measure(
    running: Web, folder: Path, slug: str, annotators: list[Annotator], tasks: int, one_by_one: bool
) -> list[Run]:
    processors = Processors(running, folder)
    with ProcessPoolExecutor(len(annotators)) as pool:
        runs = [pool.submit(work, running.port, slug, annotator, tasks, one_by_one) for annotator in annotators]
        results = [run.result() for run in runs]
    heading(f"{len(annotators)} annotator(s), {tasks * len(annotators):,} tasks of {len(CHOICES)} labels")
    print_runs(results)
    print_processors(processors.used(), tasks=(tasks + WARM_UP) * len(annotators))
    return results


def print_runs(runs: list[Run]) -> None:
    alone = len(runs) == 1
    figure("tasks per second", f"{tasks_per_second(runs):.0f}", "" if alone else "≥ 110")
    for name in ("save", "submit", "task"):
        times = [one * 1000 for run in runs for one in getattr(run, name)]
        shown = f"p50 {median(times):5.1f} ms   p95 {percentile(times, 95):5.1f} ms"
        figure(name, shown, "p95 ≤ 100 ms" if name == "task" and not alone else "")
    refused = [status for run in runs for status in run.refused]
    figure("replies other than 200", f"{len(refused)} {sorted(set(refused)) or ''}", "0")


def tasks_per_second(runs: list[Run]) -> float:
    """While all are at work: from when the last one began until the first one is through."""
    began, ended = max(run.began for run in runs), min(run.ends[-1] for run in runs)
    return sum(began < end <= ended for run in runs for end in run.ends) / (ended - began)


def print_processors(used: dict[str, float], *, tasks: int) -> None:
    """The time per task hardly depends on how busy the machine is, unlike everything that a clock says."""
    total, others = used.pop("total"), used.pop("others")
    each = {name: seconds / tasks * 1000 for name, seconds in used.items()}
    figure("processor time per task", ", ".join(f"{name} {ms:.1f} ms" for name, ms in each.items()))
    figure("  of the server in all", f"{sum(each.values()) - each['clients']:.1f} ms", "≤ 16 ms")
    shares = ", ".join(f"{name} {seconds / total:.0%}" for name, seconds in used.items())
    figure("processors", f"{shares}, other programs {others / total:.0%}")


def print_flatness(run: Run) -> None:
    ends = 200
    if len(run.task) >= 2 * ends:
        ratio = median(run.task[-ends:]) / median(run.task[:ends])
        figure(f"last {ends} tasks against the first", f"{ratio:.2f} times as long", "flat")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tasks", type=int, default=2000, help="of one annotator alone; of eight, a quarter each")
    parser.add_argument("--one-by-one", action="store_true", help="save each choice before the next one is made")
    options = parser.parse_args()
    with own_services() as folder:
        projects = {}
        for annotators, each in ((1, options.tasks), (8, options.tasks // 4)):
            slug = f"bench-{annotators}"
            # Two more than are finished: the loop always holds the task in hand and the next one.
            rows = samples(annotators * (each + WARM_UP + 2))
            criteria = sorted({criterion for _unit, criterion, _value in CHOICES})
            people = make_project(slug, samples=rows, criteria=criteria, annotators=annotators, folder=folder)
            projects[slug] = (people, each)
        with web() as running:
            for slug, (people, each) in projects.items():
                runs = measure(running, folder, slug, people, each, options.one_by_one)
                if len(people) == 1:
                    print_flatness(runs[0])


if __name__ == "__main__":
    main()
