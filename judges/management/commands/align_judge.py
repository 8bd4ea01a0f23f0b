"""manage.py align_judge SLUG JUDGE [--criterion KEY] [--samples N] [--seed N] [--search N] [--budget X] [--estimate]
manage.py align_judge SLUG JUDGE --try NUMBER [--candidate NAME] [--samples N] [--budget X]"""

from __future__ import annotations

from argparse import ArgumentParser
from random import Random
from typing import Any

from annotate.core.errors import Refusal
from annotate.projects.read import criterion_named, project_named
from judges.aligning.asking import searches_of
from judges.aligning.candidates import WHOLE
from judges.aligning.read import runs_of, spent
from judges.aligning.write import (
    MOST_SAMPLES,
    advance,
    estimate_alignment,
    start_alignment,
    try_candidate,
)
from judges.core.scores_read import current_version
from judges.lab.write import DEFAULT_SAMPLES
from judges.management.runs import RunCommand, amount_of
from judges.models import Alignment, AlignmentStep, Judge, Run
from judges.runs.places import place_of
from judges.runs.read import RunProgress, progress_of
from judges.runs.work import work
from judges.versions.read import judge_named


class Command(RunCommand):
    help = (
        "Bring an LLM judge closer to people on the dev set, and measure honestly whether it helped. Nothing changes "
        "the active version: --try makes a version on trial of what was found. Exit code 0: done; 1: stopped, "
        "paused or cancelled; 2: it could not start."
    )
    working = "aligning"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="the project’s short name")
        parser.add_argument("judge", help="the judge’s name")
        parser.add_argument("--criterion", metavar="KEY", help="which criterion; by default the judge’s own")
        parser.add_argument("--samples", type=int, metavar="N", help="at most this many dev samples")
        parser.add_argument("--seed", type=int, metavar="N")
        parser.add_argument(
            "--search",
            type=int,
            default=0,
            metavar="N",
            help="search for a better prompt too, with at most N requests for each fold and for all of dev",
        )
        parser.add_argument("--budget", metavar="AMOUNT", help="stop at this budget, in the endpoint’s currency")
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--estimate", action="store_true", help="only say what it would take, at most")
        what.add_argument(
            "--try", type=int, dest="tried", metavar="NUMBER", help="start a trial of what this one found"
        )
        parser.add_argument("--candidate", default="", metavar="NAME", help="with --try: another than the chosen one")

    def handle(self, *args: Any, **options: Any) -> None:
        judge = judge_named(project_named(options["slug"]), options["judge"])
        budget = amount_of(options["budget"])
        if options["tried"] is not None:
            of = Alignment.objects.filter(base__judge=judge, pk=options["tried"]).first()
            if of is None:
                raise Refusal("unknown_alignment", f"“{judge.name}” has no alignment {options['tried']}.")
            samples = options["samples"] or DEFAULT_SAMPLES
            trial = try_candidate(of=of, name=options["candidate"], samples=samples, budget=budget)
            self.stdout.write(
                f"Version {trial.version.label} of “{judge.name}” is on trial on {len(trial.samples)} samples."
            )
            return
        given = {**_asked(judge, options["criterion"]), "samples": options["samples"] or MOST_SAMPLES}
        given["search"] = options["search"]
        if options["estimate"]:
            found = estimate_alignment(**given, seed=options["seed"] or 0)
            cost = "unknown" if found.cost is None else f"{found.cost:.4f} {found.currency}"
            self.stdout.write(f"At most {found.requests:,} requests about {found.samples:,} samples; cost: {cost}.")
            return
        of = start_alignment(**given, seed=options["seed"], budget=budget)
        self.stdout.write(f"Alignment {of.pk} of “{judge.name}”: {len(of.units):,} units of the dev set.")
        self._to_its_end(of)

    def _to_its_end(self, of: Alignment) -> None:
        while of.step != AlignmentStep.DONE:
            run = of.run
            assert run is not None
            self._work_on(of, run)
            advance(of.pk)
            of.refresh_from_db()
        for line in lines_of(of):
            self.stdout.write(line)

    def _work_on(self, of: Alignment, run: Run) -> None:
        self.wait(run, lambda: _look(of, run), lambda: work(place_of(run), rng=Random(), in_worker=False))


def _asked(judge: Judge, criterion: str | None) -> dict[str, Any]:
    version = current_version(judge)
    if version is None:
        raise Refusal("no_version", f"No version of “{judge.name}” is in use.")
    key = criterion or version.config.get("criterion")
    if not key:
        raise Refusal("other_question", f"“{judge.name}” answers no criterion.")
    return {"version": version, "criterion": criterion_named(judge.project, key)}


def _look(of: Alignment, run: Run) -> tuple[RunProgress, str]:
    progress = progress_of(run)
    return progress, f"{of.get_step_display()}: {progress.done:,} of {progress.expected:,}"


def lines_of(of: Alignment) -> list[str]:
    """What it came to: whether it helped, by how much, what the same labels would have claimed; then the rules."""
    result = of.result
    assert result is not None
    gain, chosen = result["gain"], result["candidates"][result["chosen"]]["name"]
    helped = gain["low"] is not None and gain["low"] > 0
    lines = [
        "Improvement shown on dev." if helped else "No improvement shown.",
        f"Kappa before {_told(result['before'])}, of the procedure {_told(result['after'])}, gain {_told(gain)}.",
        f"On {result['units']:,} units of {result['groups']:,} groups.",
        f"Choosing and reporting on the same labels would have claimed {_number(result['same_labels'])}.",
        f"Chosen: {chosen}. Spent: {_spent(of)}.",
    ]
    rules = [f"  {rule.text} (from {rule.groups} groups)" for rule in of.rules.all()]
    if rules:
        lines += ["Rules found:", *rules]
    whole = searches_of(of).get(WHOLE)
    if whole is not None and whole["prompt"]:
        lines += ["Prompt found by search:", whole["prompt"]]
    return lines


def _spent(of: Alignment) -> str:
    """Of replies of unknown price nobody knows it."""
    unpriced = sum(runs_of(of).values_list("unpriced", flat=True))
    if unpriced:
        return f"unknown, as {unpriced:,} replies have no price"
    assert of.base.endpoint is not None
    return f"{spent(of):.4f} {of.base.endpoint.currency}"


def _told(estimate: dict[str, Any]) -> str:
    if estimate["low"] is None:
        return _number(estimate["value"])
    return f"{_number(estimate['value'])} [{_number(estimate['low'])}, {_number(estimate['high'])}]"


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.2f}"
