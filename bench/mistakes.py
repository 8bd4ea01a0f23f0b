"""What a judge gets wrong, in words, of 20,000 mistakes: from the request until the result can be read.

    python -m bench.mistakes [--samples 40000]

Four claims of each sample; people fail half of them, and the judge passes half of those that people fail: for one of
four planted causes, which people name where they wrote a reason, or for none. Two raters; half of the samples are dev.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Iterator
from pathlib import Path
from subprocess import Popen
from typing import Any
from urllib.request import Request, urlopen

from bench.judges import cpu_of, peak_of, worker
from bench.stage import figure, heading, import_rows, own_services, pages, session_of, web

SEED = 20261130
CLAIMS = 4
CRITERION = {
    "key": "support",
    "unit": "claim",
    "scale": "nominal",
    "prompt": "Is the claim supported?",
    "options": [{"value": "yes"}, {"value": "no"}],
    "pass": ["yes"],
}
CAUSES = ("date", "amount", "negation", "citation")
TOPICS = ("law", "travel", "health", "money")
# Of units that people fail, how many the judge passes; of these, how many have a cause; how many have a comment.
WRONG, CAUSED, COMMENTED = 0.5, 0.6, 0.3


class World:
    """Of each unit what people and the judge say, and why."""

    def __init__(self, count: int) -> None:
        chance = random.Random(SEED)
        self.names = [f"s{number:06}" for number in range(count)]
        self.units = []
        for name in self.names:
            for place in range(CLAIMS):
                fails = chance.random() < 0.5
                missed = fails and chance.random() < WRONG
                cause = chance.choice(CAUSES) if missed and chance.random() < CAUSED else None
                self.units.append((name, f"claim:{place}", fails, missed, cause))

    def samples(self) -> Iterator[dict[str, Any]]:
        chance = random.Random(SEED + 1)
        for at, name in enumerate(self.names):
            own = self.units[at * CLAIMS : (at + 1) * CLAIMS]
            claims = [
                {"text": " ".join([*_words(chance, 25), *([f"marker{cause}"] if cause else [])])} for *_, cause in own
            ]
            contexts = [{"id": f"c{place}", "text": " ".join(_words(chance, 120))} for place in range(3)]
            row = {"id": name, "question": "What is it?", "answer": " ".join(_words(chance, 100))}
            yield {**row, "claims": claims, "contexts": contexts, "metadata": {"topic": chance.choice(TOPICS)}}

    def labels(self) -> Iterator[dict[str, Any]]:
        chance = random.Random(SEED + 2)
        for name, unit, fails, _missed, cause in self.units:
            for rater in ("ann", "bob"):
                row = {"sample_id": name, "unit": unit, "rater": rater, "criterion": "support"}
                why = {"comment": _reason(chance, cause)} if fails and chance.random() < COMMENTED else {}
                yield {**row, "value": "no" if fails else "yes", **why}

    def scores(self) -> Iterator[dict[str, Any]]:
        for name, unit, fails, missed, _cause in self.units:
            row = {"sample_id": name, "judge": "j", "unit": unit, "criterion": "support"}
            yield {**row, "score": "no" if fails and not missed else "yes", "rationale": "It is in the passages."}


def _words(chance: random.Random, count: int) -> list[str]:
    return [f"w{int(chance.paretovariate(0.8)) % 20_000}" for _ in range(count)]


def _reason(chance: random.Random, cause: str | None) -> str:
    return " ".join([*_words(chance, 8), *(["the", cause, "is", "wrong"] if cause else ["not", "supported"])])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=40_000)
    asked = parser.parse_args()
    with own_services() as folder:
        from annotate.projects.write import create_project

        project = create_project(slug="bench", spec={"name": "bench", "criteria": [CRITERION]})
        token, judge = _filled(project, World(asked.samples), folder)
        with worker() as child, web() as running:
            _find(f"{running.url}/api/projects/bench/judges/{judge}/mistakes/support/", token, child)
            pages(
                running, session_of(project.memberships.get().user), f"/p/bench/judges/{judge}/mistakes/support/", ("",)
            )


def _filled(project: Any, world: World, folder: Path) -> tuple[str, int]:
    """The token of an admin, and the judge's key."""
    from django.db import connection

    from annotate.labels.consensus import settle_imported
    from annotate.models import User
    from annotate.models.account import Scope
    from annotate.models.project import Role
    from annotate.projects.accounts import make_token
    from annotate.projects.write import set_member

    for kind in ("samples", "labels", "scores"):
        import_rows(project, kind, getattr(world, kind)(), folder)
    settle_imported(project=project, criterion=project.criteria.get(), needed=2)
    user = User.objects.create_user("bench", preferences={"introduced": True})
    set_member(project=project, user=user, role=Role.ADMIN)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return make_token(actor=user, name="bench", scopes=Scope.values)[1], project.judges.get().pk


def _find(url: str, token: str, child: Popen[bytes]) -> None:
    def ask(method: str) -> dict[str, Any]:
        headers = {"Authorization": f"Token {token}", "Content-Type": "application/json"}
        body = b"{}" if method == "POST" else None
        with urlopen(Request(url, body, headers, method=method)) as reply:
            return dict(json.load(reply))

    ask("GET")
    began, busy = time.monotonic(), cpu_of(child)
    with peak_of(child) as peak:
        assert ask("POST")["requested"]
        while (state := ask("GET"))["found"] is None:
            time.sleep(0.5)
    clock, spent, found = time.monotonic() - began, cpu_of(child) - busy, state["found"]
    groups = [group for way in found["directions"] for group in way["groups"]]
    heading(f"{found['wrong']:,} mistakes on {found['units']:,} units of dev")
    figure("from the request to the result", f"{clock:.1f} s", "20 s")
    figure("the worker's processor time", f"{spent:.1f} s, libraries loaded")
    figure("memory of a process, at most", f"{peak['one'] / 2**20:.0f} MiB", "400 MiB")
    figure("found", f"{len(groups)} groups, with {sum(group['units'] for group in groups):,} of the mistakes")
    for group in groups[:6]:
        figure(f"  {group['units']:,} by {group['by']}", " · ".join(group["terms"]))


if __name__ == "__main__":
    main()
