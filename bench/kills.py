"""`kill -9` of the worker, twenty times in the middle of a run: what is lost, scored twice, or asked again."""

from __future__ import annotations

import os
import time

from bench.judges import is_done, llm_version, samples_with_words_of_their_own, wait, worker
from bench.stage import figure, heading, import_rows, own_services
from tests.openai_server import OpenAIServer

KILLS = 20
AT_ONCE = 8
SAMPLES = 2_000


def main() -> None:
    with OpenAIServer() as server:
        os.environ["JUDGE_PRIVATE_HOSTS"] = f"127.0.0.1:{server.port}"
        with own_services() as folder:
            from annotate.projects.write import create_project

            project = create_project(slug="bench", spec={"name": "bench", "criteria": ["support"]})
            import_rows(project, "samples", samples_with_words_of_their_own(SAMPLES), folder)
            _killed(project, llm_version(project, server.port, at_once=AT_ONCE), server)


def _killed(project: object, version: object, server: OpenAIServer) -> None:
    from judges.models import Reply, Score
    from judges.runs.write import start_run

    heading(f"{KILLS} times kill -9, {SAMPLES:,} samples, {AT_ONCE} at once")
    run = start_run(version=version, scope={"all": True})  # type: ignore[arg-type]
    asked = sum(map(len, project.samples.values_list("claims", flat=True)))  # type: ignore[attr-defined]
    began = time.monotonic()
    for _kill in range(KILLS):
        with worker():
            enough = len(server.requests) + asked // (KILLS + 5)
            wait(lambda enough=enough: len(server.requests) >= enough)
    with worker():
        wait(lambda: is_done(run))
    seconds = time.monotonic() - began
    scores = Score.objects.filter(run=run, status="ok")
    units = scores.values("sample", "unit", "repeat").distinct().count()
    figure("units", f"{asked:,}")
    figure("lost", f"{asked - run.asks.filter(state='done', status='ok').count()}", "0")
    figure("scored twice", f"{scores.count() - units}", "0")
    figure("without a score", f"{asked - units}", "0")
    figure("replies kept", f"{Reply.objects.count():,}")
    figure("asked again", f"{len(server.requests) - asked}", f"<= {KILLS * AT_ONCE} ({AT_ONCE} in flight at each)")
    figure("in all", f"{seconds:.0f} s, {seconds / (KILLS + 1):.1f} s for each start of the worker")


if __name__ == "__main__":
    main()
