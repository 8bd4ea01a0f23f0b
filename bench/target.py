"""A run that asks a target, in a real worker: one that takes 200 ms for every reply, 32 at once. The time until every
answer is a stored response, against the ideal."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bench.judges import AT_ONCE, LATENCY, answers, cpu_of, free_port, wait, worker
from bench.stage import ROOT, figure, heading, import_rows, own_services

QUESTIONS = 2_000
CONTEXTS = 5
_PASSAGE = "The service listens on port 8000 unless the environment says otherwise. " * 8


def main() -> None:
    port = free_port()
    os.environ["JUDGE_PRIVATE_HOSTS"] = f"127.0.0.1:{port}"
    with own_services() as folder, _system(port), worker() as child:
        from annotate.projects.write import create_project

        project = create_project(slug="bench", spec={"name": "bench", "criteria": ["support"]})
        _ask(project, port, folder, child)


@contextmanager
def _system(port: int) -> Iterator[None]:
    """In a process of its own."""
    process = subprocess.Popen([sys.executable, "-m", "bench.target", "serve", str(port)], cwd=ROOT)
    try:
        wait(lambda: answers(port))
        yield
    finally:
        process.terminate()
        process.wait()


def serve(port: int) -> None:
    """Answers each question with passages of 3 kB."""
    import asyncio

    from tests.openai_server import OpenAIServer, Reply, Request

    def said(request: Request) -> Reply:
        question = request.json["question"]
        passages = [{"id": f"d{n}", "text": f"{_PASSAGE} {question} {n}"} for n in range(CONTEXTS)]
        return Reply({"answer": f"{_PASSAGE} {question}", "contexts": passages})

    server = OpenAIServer(port=port, latency=LATENCY)
    server.keeps_requests = False
    server.answers(said)
    asyncio.run(server.serve(lambda: None))


def _ask(project: Any, port: int, folder: Any, child: subprocess.Popen[bytes]) -> None:
    from judges.endpoints.write import create_endpoint
    from systems.models import Response
    from systems.questions.write import freeze_set
    from systems.responses.versions import versions_named
    from systems.targets.runs import start_run
    from systems.targets.write import set_target

    heading(f"A target, {QUESTIONS:,} questions, a reply takes {LATENCY * 1000:.0f} ms, {AT_ONCE} at once")
    rows = ({"id": f"q{n}", "question": f"What is said of number {n}?"} for n in range(QUESTIONS))
    import_rows(project, "questions", rows, folder, set="support")
    frozen = freeze_set(actor=None, project=project, name="support").frozen
    create_endpoint(project=project, name="rag", base_url=f"http://127.0.0.1:{port}", concurrency=AT_ONCE)
    pointers = {"answer": "/answer", "contexts": "/contexts", "context_text": "/text", "context_id": "/id"}
    body = {"question": "{{question}}"}
    said = {"endpoint": "rag", "path": "/ask", "body": body, "reply": pointers}
    set_target(actor=None, project=project, said=said)
    for name in ("warm", "v7"):  # the first run of a process loads the libraries
        version = versions_named(project, [name])[name]
        began, cpu = time.monotonic(), cpu_of(child)
        run = start_run(actor=None, version=version, frozen_set=frozen).run
        wait(lambda run=run: _is_done(run))
    seconds = time.monotonic() - began
    stored = Response.objects.filter(version=version, status="ok").count()
    figure("responses", f"{stored:,} of {QUESTIONS:,}")
    figure("rate", f"{stored / seconds:.1f} responses/s ({seconds:.1f} s)")
    ideal = QUESTIONS * LATENCY / AT_ONCE
    figure("of the ideal rate", f"{ideal / seconds:.1%} of {AT_ONCE / LATENCY:.0f} responses/s", ">= 90 %")
    figure("the worker's processor time", f"{(cpu_of(child) - cpu) * 1000 / QUESTIONS:.2f} ms per response")


def _is_done(run: Any) -> bool:
    run.refresh_from_db()
    assert run.state in ("running", "done"), (run.state, run.stop_message)
    return bool(run.state == "done")


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serve(int(sys.argv[2]))
    else:
        main()
