"""Redis away for a minute while people label, in the middle of a run: whether all that they submit arrives at once, the
run goes on, and when one that was started meanwhile begins."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from bench.at_work import Labelling, at_work, compare, desks_of
from bench.judges import endpoint_server, llm_version, samples_with_words_of_their_own, wait, worker
from bench.stage import (
    Web,
    demo_samples,
    figure,
    free_port,
    heading,
    import_rows,
    make_project,
    own_services,
    web,
)
from config import embedded

AWAY_SECONDS = 60
LATENCY = 0.2
AT_ONCE = 4
SAMPLES = 700
ANNOTATORS, TASKS_EACH = 10, 200


def main() -> None:
    port, redis_port = free_port(), free_port()
    os.environ["JUDGE_PRIVATE_HOSTS"] = f"127.0.0.1:{port}"
    with own_services() as folder, endpoint_server(port, LATENCY):
        from annotate.projects.write import create_project

        project = create_project(slug="bench", spec={"name": "bench", "criteria": ["support"]})
        import_rows(project, "samples", samples_with_words_of_their_own(SAMPLES), folder)
        version = llm_version(project, port, at_once=AT_ONCE)
        tasks = demo_samples(ANNOTATORS * TASKS_EACH)
        people = make_project("people", samples=tasks, criteria=["relevancy"], annotators=ANNOTATORS, folder=folder)
        own = _OwnRedis(redis_port, folder)
        own.start()
        # For web and worker; this process keeps the other one, and so its messages reach nobody.
        os.environ["REDIS_URL"] = f"redis://127.0.0.1:{redis_port}/0"
        try:
            with worker(), web() as running:
                desks = desks_of(running.port, "people", people, folder)
                with at_work(desks):
                    away = _without(own, running, project, version)
        finally:
            own.stop()
        sys.exit(0 if _all_arrived(desks, away) else 1)


def _all_arrived(desks: list[Labelling], away: tuple[float, float]) -> bool:
    lines = desks[0].journal.lines()
    asked = [line for line in lines if line["what"] == "reply" and away[0] <= line["at"] <= away[1]]
    for name, what in (("labels", "label"), ("submissions", "finish")):
        replies = [line["status"] for line in asked if line["to"] == what]
        figure(f"{name} while Redis was away", f"{len(replies) - replies.count(200)} of {len(replies)} failed", "0")
    kept = compare(lines, [line for desk in desks for line in desk.refused])
    return kept and bool(asked) and all(line["status"] == 200 for line in asked)


def _without(own: _OwnRedis, running: Web, project: object, version: object) -> tuple[float, float]:
    """Between which times it was away."""
    from judges.runs.write import start_run

    heading(f"Redis away for {AWAY_SECONDS} s")
    run = start_run(version=version, scope={"all": True})
    wait(lambda: _done_of(run) > 20)
    own.stop()
    before, began, failed, asked = _done_of(run), time.monotonic(), 0, 0
    while time.monotonic() < began + AWAY_SECONDS:
        asked += 1
        failed += not _answers(running)
        time.sleep(0.2)
    rate = (_done_of(run) - before) / AWAY_SECONDS
    figure("asked while Redis was away", f"{rate:.1f} units/s of {AT_ONCE / LATENCY:.0f}")
    figure("pages while Redis was away", f"{failed} of {asked} failed", "0")
    meanwhile = start_run(version=version, scope={"all": True}, again=True)
    back = time.monotonic()
    own.start()
    wait(lambda: _done_of(meanwhile) > 0)
    figure("a run of that time begins after", f"{time.monotonic() - back:.1f} s", "<= 30 s")
    return began, back


class _OwnRedis:
    def __init__(self, port: int, folder: Path) -> None:
        self._command = [str(embedded.redis_program()), "--port", str(port), "--bind", "127.0.0.1"]
        self._command += ["--dir", str(folder), "--appendonly", "yes", "--save", ""]
        self._port = port
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)
        wait(lambda: _listens(self._port))

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def _done_of(run: object) -> int:
    return int(run.asks.filter(state="done").count())  # type: ignore[attr-defined]


def _answers(running: Web) -> bool:
    try:
        with urllib.request.urlopen(f"{running.url}/login/", timeout=10) as reply:
            return bool(reply.status == 200)
    except OSError:
        return False


def _listens(port: int) -> bool:
    with socket.socket() as trial:
        return trial.connect_ex(("127.0.0.1", port)) == 0


if __name__ == "__main__":
    main()
