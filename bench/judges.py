"""Runs of judges in a real worker: an LLM judge at an endpoint that takes 200 ms for every reply, and a lexical one."""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from subprocess import DEVNULL, Popen
from threading import Event, Thread
from typing import Any

import psutil

from bench.stage import (
    ROOT,
    demo_samples,
    figure,
    heading,
    import_rows,
    own_services,
    processor_seconds,
    running_module,
)

LATENCY = 0.2
AT_ONCE = 32
UNITS = 2_000
LEXICAL_SAMPLES = 10_000
LIMIT_SECONDS = 600


def main() -> None:
    port = free_port()
    os.environ["JUDGE_PRIVATE_HOSTS"] = f"127.0.0.1:{port}"
    with own_services() as folder, endpoint_server(port), worker() as child:
        from annotate.projects.write import create_project

        project = create_project(slug="bench", spec={"name": "bench", "criteria": ["support"]})
        import_rows(project, "samples", samples_with_words_of_their_own(LEXICAL_SAMPLES), folder)
        _llm(project, port, child)
        _lexical(project, child)


def free_port() -> int:
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        return int(trial.getsockname()[1])


@contextmanager
def endpoint_server(port: int, latency: float = LATENCY) -> Iterator[None]:
    """The server of the tests, in a process of its own."""
    command = [sys.executable, "-m", "tests.openai_server", "--port", str(port), "--latency", str(latency)]
    process = Popen(command, cwd=ROOT, stdout=DEVNULL)
    try:
        wait(lambda: answers(port))
        yield
    finally:
        process.terminate()
        process.wait()


def worker() -> AbstractContextManager[Popen[bytes]]:
    """The worker of `make run`; `kill -9` in the end."""
    return running_module("config.worker", end=signal.SIGKILL)


def llm_version(project: Any, port: int, *, at_once: int = AT_ONCE) -> Any:
    """A judge of claim support at the server."""
    from judges.endpoints.write import create_endpoint
    from judges.versions.write import create_judge

    create_endpoint(project=project, name="loopback", base_url=f"http://127.0.0.1:{port}/v1", concurrency=at_once)
    config = {"template": "claim_support", "model": "overlap-small", "criterion": "support"}
    judge = create_judge(project=project, name="support", kind="llm", config=config, endpoint="loopback")
    return judge.versions.get()


def is_done(run: Any) -> bool:
    run.refresh_from_db()
    assert run.state in ("running", "done"), (run.state, run.stop_message)
    return bool(run.state == "done")


def samples_with_words_of_their_own(count: int) -> Iterator[dict[str, Any]]:
    """The demo's over and over, each with words of its own, so that no question is asked twice."""
    for number, row in enumerate(demo_samples(count)):
        first, *others = row["contexts"]
        yield {**row, "contexts": [{**first, "text": f"{first['text']} ({number})"}, *others]}


def _llm(project: Any, port: int, child: Popen[bytes]) -> None:
    from judges.runs.write import start_run

    heading(f"An LLM judge, {UNITS:,} units, a reply takes {LATENCY * 1000:.0f} ms, {AT_ONCE} at once")
    version = llm_version(project, port)
    # The first run of a process loads the libraries.
    first = start_run(version=version, scope={"samples": _names(project, 10)})
    wait(lambda: is_done(first))
    names = names_of_units(project, UNITS)
    began, cpu = time.monotonic(), cpu_of(child)
    run = start_run(version=version, scope={"samples": names})
    asked = run.planned
    with peak_of(child) as peak:
        wait(lambda: is_done(run))
    seconds = time.monotonic() - began
    ideal = asked * LATENCY / AT_ONCE
    failed = run.asks.exclude(status="ok").count()
    figure("units", f"{asked:,}, {failed} failed")
    figure("rate", f"{asked / seconds:.1f} units/s ({seconds:.1f} s)")
    figure("of the ideal rate", f"{ideal / seconds:.1%} of {AT_ONCE / LATENCY:.0f} units/s", ">= 90 %")
    figure("the worker's processor time", f"{(cpu_of(child) - cpu) * 1000 / asked:.2f} ms per unit")
    figure("memory of a process, at most", f"{peak['one'] / 2**20:.0f} MiB", "<= 300 MiB")
    figure(
        "memory of the worker, at most",
        f"{peak['all'] / 2**20:.0f} MiB in {peak['processes']} processes",
        "<= 300 MiB",
    )


def _lexical(project: Any, child: Popen[bytes]) -> None:
    from judges.runs.write import start_run
    from judges.versions.write import create_judge

    for measure in ("token_overlap", "rouge_l"):
        heading(f"A lexical judge ({measure}), every claim of {LEXICAL_SAMPLES:,} samples")
        config = {"measure": measure, "unit": "claim", "dimension": measure}
        judge = create_judge(project=project, name=measure, kind="lexical", config=config)
        figure("the judge alone", f"{_alone(project, judge.versions.get()):,.0f} units/s", ">= 5,000")
        began, cpu = time.monotonic(), cpu_of(child)
        run = start_run(version=judge.versions.get(), scope={"all": True})
        with peak_of(child) as peak:
            wait(lambda run=run: is_done(run))
        seconds = time.monotonic() - began
        figure(
            "from start to done",
            f"{run.planned / seconds:,.0f} units/s ({run.planned:,} in {seconds:.1f} s)",
            ">= 5,000",
        )
        figure("the worker's processor time", f"{(cpu_of(child) - cpu) * 1e6 / run.planned:.0f} µs per unit")
        figure("memory of a process, at most", f"{peak['one'] / 2**20:.0f} MiB", "<= 300 MiB")


def _alone(project: Any, version: Any) -> float:
    """Units per second, of 2,000 samples that are in memory, here and not in the worker."""
    from judges.kinds.base import Item
    from judges.kinds.registry import kind_named

    kind = kind_named(version.judge.kind)
    samples = list(project.samples.order_by("id")[:2_000])
    items = [Item(sample, unit, 0) for sample in samples for unit in kind.units(version.config, sample)]
    with kind.open(version) as scorer:
        began = time.perf_counter()
        scorer.score(items)
        return len(items) / (time.perf_counter() - began)


def _names(project: Any, count: int) -> list[str]:
    return list(project.samples.order_by("id").values_list("external_id", flat=True)[:count])


def names_of_units(project: Any, count: int) -> list[str]:
    """Of the first samples that have so many claims together."""
    names = []
    for name, claims in project.samples.order_by("id").values_list("external_id", "claims").iterator():
        if count <= 0:
            break
        names.append(name)
        count -= len(claims)
    return names


@contextmanager
def peak_of(child: Popen[bytes]) -> Iterator[dict[str, int]]:
    """The most that one of the worker's processes, and all of them, have in memory meanwhile; what all share counts
    once."""
    peak = {"one": 0, "all": 0, "processes": 0}
    ended = Event()

    def watch() -> None:
        while not ended.wait(0.5):
            sizes = [process.memory_full_info() for process in _processes(child)]
            peak["one"] = max(peak["one"], *(size.rss for size in sizes))
            peak["all"] = max(peak["all"], sum(size.pss for size in sizes))
            peak["processes"] = max(peak["processes"], len(sizes))

    thread = Thread(target=watch)
    thread.start()
    try:
        yield peak
    finally:
        ended.set()
        thread.join()


def _processes(child: Popen[bytes]) -> list[psutil.Process]:
    main = psutil.Process(child.pid)
    return [main, *main.children(recursive=True)]


def cpu_of(child: Popen[bytes]) -> float:
    return sum(processor_seconds(process) for process in _processes(child))


def answers(port: int) -> bool:
    with socket.socket() as trial:
        return trial.connect_ex(("127.0.0.1", port)) == 0


def wait(condition: Callable[[], bool]) -> None:
    """Looks seldom enough to leave the processor to what is measured."""
    deadline = time.monotonic() + LIMIT_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"not within {LIMIT_SECONDS} s"
        time.sleep(0.1)


if __name__ == "__main__":
    main()
