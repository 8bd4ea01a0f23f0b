"""Aligning a judge in a real worker, at an endpoint that takes 200 ms for every reply, 32 at once.

    python -m bench.aligning_speed

500 labelled units of dev, four folds, every candidate that there is, against the time that the endpoint alone takes.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from subprocess import DEVNULL, Popen
from typing import Any

from bench.judges import AT_ONCE, LATENCY, answers, cpu_of, free_port, is_done, llm_version, peak_of, wait
from bench.stage import ROOT, figure, heading, own_services, running_module

UNITS = 500
CRITERION = {
    "key": "support",
    "unit": "claim",
    "scale": "nominal",
    "prompt": "Is the claim supported?",
    "options": [{"value": "yes"}, {"value": "no"}],
    "pass": ["yes"],
}
# About what three passages have.
CONTEXT_WORDS = 120


def main() -> None:
    if sys.argv[1:2] == ["--serve"]:
        _serve(int(sys.argv[2]))
        return
    port = free_port()
    os.environ["JUDGE_PRIVATE_HOSTS"] = f"127.0.0.1:{port}"
    with own_services(), _server(port), running_module("config.worker", end=signal.SIGKILL) as child:
        _align(port, child)


def _serve(port: int) -> None:
    """The server of the tests, with a model that finds rules and follows them."""
    from tests.judges.aligning.planted import PlantedModel
    from tests.openai_server import OpenAIServer, Request

    model = PlantedModel(seed=1)

    def answer(request: Request) -> Any:
        model.prompts.clear()
        return model(request)

    server = OpenAIServer(port=port, latency=LATENCY)
    server.keeps_requests = False
    server.answers(answer)
    asyncio.run(server.serve(lambda: None))


@contextmanager
def _server(port: int) -> Iterator[None]:
    process = Popen([sys.executable, "-m", "bench.aligning_speed", "--serve", str(port)], cwd=ROOT, stdout=DEVNULL)
    try:
        wait(lambda: answers(port))
        yield
    finally:
        process.terminate()
        process.wait()


def _labelled() -> Any:
    """Half of the groups become dev."""
    from annotate.labels.consensus import settle_imported
    from annotate.models import Sample
    from annotate.projects.write import create_project
    from judges.reports.evidence import settled_on_dev
    from tests.judges.aligning.planted import claims
    from tests.judges.building import add_labels, add_samples

    project = create_project(slug="bench", spec={"name": "bench", "criteria": [CRITERION]})
    chance, names = random.Random(1), [f"s{number:04}" for number in range(2 * UNITS)]
    samples = add_samples(project, names, question="When?", answer="Then.")
    support = project.criteria.get(key="support")
    rows = []
    for number, (name, claim) in enumerate(zip(names, claims(2 * UNITS, chance), strict=True)):
        words = [" ".join(f"w{chance.randrange(5_000)}" for _ in range(CONTEXT_WORDS)) for _ in range(3)]
        one = samples[name]
        one.claims, one.contexts = [{"text": claim.text}], [{"text": text} for text in words]
        one.group_key = f"g{number // 2}"
        rows += [(name, "claim:0", rater, claim.people_say()) for rater in "xy"]
    Sample.objects.bulk_update(samples.values(), ["claims", "contexts", "group_key"])
    add_labels(support, samples, rows)
    settle_imported(project=project, criterion=support, needed=2)
    settled_on_dev(support)
    return support


def _align(port: int, child: Popen[bytes]) -> None:
    from judges.aligning.write import runs_of, start_alignment
    from judges.models import Ask, Reply
    from judges.runs.write import start_run

    support = _labelled()
    version = llm_version(support.project, port)
    # The first run of a process loads the libraries.
    first = start_run(version=version, scope={"samples": ["s0000", "s0001"]})
    wait(lambda: is_done(first))
    began, cpu, replies = time.monotonic(), cpu_of(child), Reply.objects.count()
    of = start_alignment(version=version, criterion=support, seed=1)
    seconds = Counter[str]()
    with peak_of(child) as peak:
        last = began
        while of.step != "done":
            time.sleep(0.1)
            step = of.step
            of.refresh_from_db()
            of.run.refresh_from_db()
            assert of.run.state in ("running", "done"), (of.run.state, of.run.stop_message)
            now = time.monotonic()
            seconds[step if of.run.state == "running" else "between steps"] += now - last
            last = now
    wall, used = time.monotonic() - began, cpu_of(child) - cpu
    asks = Ask.objects.filter(run__in=runs_of(of)).count()
    sent = Reply.objects.count() - replies
    ideal = sent * LATENCY / AT_ONCE
    heading(f"An alignment, a reply takes {LATENCY * 1000:.0f} ms, {AT_ONCE} at once")
    figure("units, candidates", f"{len(of.units)}, {len(of.candidates)}")
    figure("asks", f"{asks:,}, of which {asks - sent:,} had the reply to an equal one")
    figure("of the ideal rate", f"{ideal / wall:.1%} ({wall:.1f} s, {ideal:.1f} s of the endpoint)", ">= 85 %")
    figure("more than the endpoint takes", f"{(wall - ideal) / wall:.1%} of the time", "<= 10 %")
    figure("in steps", ", ".join(f"{step} {spent:.1f} s" for step, spent in seconds.items()))
    figure("the worker's processor time", f"{used * 1000 / asks:.2f} ms per ask")
    figure("memory of a process, at most", f"{peak['one'] / 2**20:.0f} MiB", "<= 400 MiB")
    figure("memory of the worker, at most", f"{peak['all'] / 2**20:.0f} MiB in {peak['processes']} processes")


if __name__ == "__main__":
    main()
