"""A judge with two versions and a trial of the second, on a criterion with a dev and a test half."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotate.models import Criterion, Label, Project, Rater, Sample
from judges.models import Judge, JudgeVersion, Run, RunPurpose, Score, Trial, VersionState
from judges.reports.evidence import settled_on_dev
from tests.judges.building import add_labels, add_samples, make_project

# In everything that people and judges say of a sample of the test half, and in nothing else.
CLOSED = "of-the-closed-half"


@dataclass(frozen=True)
class World:
    project: Project
    criterion: Criterion
    samples: Mapping[str, Sample]
    dev: list[str]
    test: list[str]
    judge: Judge
    base: JudgeVersion
    version: JudgeVersion


def trial_world(slug: str = "lab", *, numbers: bool = False, count: int = 60, passes: bool = True) -> World:
    """Two people, who differ now and then, on three claims of each of `count` samples, and two versions of a judge of
    which the second errs less. numbers: scores in place of labels. passes: whether the criterion says what passes."""
    spec: Any = {
        "key": "support",
        "unit": "claim",
        "scale": "nominal",
        "prompt": "Supported?",
        "options": [{"value": value, "label": value.title()} for value in ("supported", "contradicted", "silent")],
        "pass": ["supported"] if passes else [],
    }
    project = make_project(slug, criteria=[spec])
    criterion = project.criteria.get()
    samples = add_samples(project, [f"s{place:03}" for place in range(count)])
    rng = np.random.default_rng(3)
    values = ("supported", "contradicted", "silent")
    units = [(name, f"claim:{at}") for name in samples for at in range(3)]
    truth = {unit: values[rng.choice(3, p=(0.6, 0.25, 0.15))] for unit in units}
    rows = [(*unit, rater, _erring(rng, truth[unit], values, 0.08)) for unit in units for rater in ("ann", "ben")]
    # A third annotator settles what the two don't.
    rows += [(*unit, "cat", truth[unit]) for unit in units]
    add_labels(criterion, samples, rows)
    dev = settled_on_dev(criterion)
    test = sorted(set(samples) - set(dev)) if passes else []
    judge = Judge.objects.create(project=project, name="checker")
    world = World(project, criterion, samples, dev, test, judge, _version(judge, 1), _version(judge, 2))
    for version, wrong in ((world.base, 0.3), (world.version, 0.12)):
        add_scores(
            version,
            samples,
            {
                unit: _score(rng, _erring(rng, truth[unit], values, wrong), numbers)
                for unit in units
                # Nothing was asked of test; if anything had been, it must not be seen.
                if rng.random() > 0.03
            },
        )
    _mark(world)
    return world


def _version(judge: Judge, number: int) -> JudgeVersion:
    return JudgeVersion.objects.create(
        judge=judge,
        number=number,
        label=str(number),
        config={"prompt": f"Prompt {number}."},
        content_hash=str(number),
        state=VersionState.KEPT if number == 1 else VersionState.TRIAL,
    )


def _erring(rng: np.random.Generator, value: str, values: tuple[str, ...], rate: float) -> str:
    return values[(values.index(value) + 1 + int(rng.integers(2))) % 3] if rng.random() < rate else value


def _score(rng: np.random.Generator, value: str, numbers: bool) -> str | float:
    if not numbers:
        return value
    return round(float(np.clip(rng.normal(0.7 if value == "supported" else 0.3, 0.12), 0, 1)), 2)


def add_scores(
    version: JudgeVersion,
    samples: Mapping[str, Sample],
    said: Mapping[tuple[str, str], Any],
    dimension: str = "support",
) -> None:
    run = Run.objects.create(version=version, purpose=RunPurpose.TRIAL)
    Score.objects.bulk_create(
        Score(
            version=version,
            run=run,
            sample=samples[sample],
            unit=unit,
            dimension=dimension,
            number=None if isinstance(value, str) else value,
            label=value if isinstance(value, str) else None,
            rationale=f"Version {version.label} on {unit} of {sample}.",
        )
        for (sample, unit), value in said.items()
    )


def _mark(world: World) -> None:
    """Comments, evidence and reasons: in the open on dev, marked on test."""
    for rater in Rater.objects.filter(project=world.project):
        labels = rater.labels.filter(sample__external_id__in=world.dev)
        labels.update(comment=f"{rater.name} says so", evidence=[_span("Paris")])
    closed = Label.objects.filter(criterion=world.criterion, sample__external_id__in=world.test)
    closed.update(comment=CLOSED, evidence=[_span(CLOSED)])
    Score.objects.filter(version__judge=world.judge, sample__external_id__in=world.test).update(rationale=CLOSED)
    world.project.samples.filter(external_id__in=world.test).update(answer=CLOSED, question=CLOSED)


def _span(quote: str) -> dict[str, Any]:
    return {"context": 0, "start": 0, "end": len(quote), "quote": quote}


def make_trial(world: World, *, samples: list[str] | None = None, **more: Any) -> Trial:
    """Of the world's two versions on all of dev; done."""
    given: dict[str, Any] = {
        "version": world.version,
        "base": world.base,
        "criterion": world.criterion,
        "dimension": "support",
        "seed": 1,
        "samples": world.dev if samples is None else samples,
        "run": world.version.runs.get(),
        **more,
    }
    return Trial.objects.create(wanted=len(given["samples"]), **given)
