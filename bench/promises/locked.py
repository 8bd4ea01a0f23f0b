"""What reports tell of the test half: the attack that read it, before and now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from alignment.base.tables import kappa
from alignment.report import Criterion, Evidence, JudgeScores, Option, compare, reference_figures, reference_of
from bench.promises import SEED, Promise, Row, percent, share

Cells = tuple[int, int, int, int]
PASSING = Criterion("ok", 1, "OK", "answer", "binary", "OK?", (Option("no", "No"), Option("yes", "Yes")), ("yes",))


def told(evidence: Evidence) -> dict[str, Any]:
    """What a report says of the first judge, and of people's reference."""
    reference = reference_of(evidence)
    return {"reference": reference_figures(reference), "judge": compare(reference, evidence.judges[0]).row}


def attack(report: Mapping[str, Any]) -> Cells | None:
    """(tn, fp, fn, tp) on test of a judge that answers with labels, from what its report says, where one matrix alone
    fits: AUC and best kappa of all units, the matrix of dev, and how many units people pass and fail."""
    row, reference = report["judge"], report["reference"]
    (tn, fp), (fn, tp) = row["at_threshold"]["confusion"]
    passes = reference["positives"] - fn - tp
    fails = reference["units"] - reference["positives"] - tn - fp
    wrong_passes, missed = (grid.ravel() for grid in np.meshgrid(np.arange(fails + 1), np.arange(passes + 1)))
    cells = np.stack([fails - wrong_passes, wrong_passes, missed, passes - missed])
    every = cells + np.array([[tn], [fp], [fn], [tp]])
    auc = (every[0] / (every[0] + every[1]) + every[3] / (every[2] + every[3])) / 2
    fits = np.isclose(auc, row["roc_auc"]["value"], atol=1e-9)
    fits &= np.isclose(kappa(every.T.astype(np.float64)), row["sweep_best"]["kappa"], atol=1e-9)
    found = cells.T[fits]
    return tuple(found[0].tolist()) if len(found) == 1 else None


def world(rng: np.random.Generator, samples: int) -> tuple[Evidence, Cells]:
    """People pass 70 %; a judge that answers with labels is right in 80 %. And its matrix on test."""
    names = [f"s{place:03}" for place in range(samples)]
    people = rng.random(samples) < 0.7
    said = people ^ (rng.random(samples) < 0.2)
    is_dev = rng.permutation(samples) < samples // 2
    units = [(name, "answer") for name in names]
    labels = {unit: "yes" if passes else "no" for unit, passes in zip(units, said.tolist(), strict=True)}
    evidence = Evidence(
        criterion=PASSING,
        seed=1,
        units=units,
        raters=["ann"] * samples,
        values=["yes" if passes else "no" for passes in people.tolist()],
        verdicts={},
        judges=[JudgeScores("judge", "1", "ok", True, labels=labels)],
        is_dev=dict(zip(names, is_dev.tolist(), strict=True)),
    )
    cells = np.bincount(2 * people[~is_dev] + said[~is_dev], minlength=4).tolist()
    return evidence, (cells[0], cells[1], cells[2], cells[3])


def other_answers(evidence: Evidence) -> Evidence:
    """The same, but that the judge says the opposite on test."""
    (judge,) = evidence.judges
    other = {"yes": "no", "no": "yes"}
    labels = {unit: said if evidence.is_dev[unit[0]] else other[str(said)] for unit, said in judge.labels.items()}
    return replace(evidence, judges=[replace(judge, labels=labels)])


PROMISE = Promise(
    place=2,
    title="The test half is locked",
    claim="No figure that is shown or exported before a look depends on what a judge said of a labelled test unit, and "
    "no answer of a judge there is shown; [decision 32](decisions/0032-what-is-locked.md) says what that leaves out.",
    worlds="A judge that answers with labels, right in 80 % where people pass 70 %; half of the samples are test. From "
    "its report its exact matrix on test is worked out. *Before*, AUC and best kappa were of all units. In the last "
    "row the judge says the opposite on all of test: in how many worlds does its report change?",
)


def rows(runs: float) -> Iterator[Row]:
    rng, worlds = np.random.default_rng([SEED, PROMISE.place]), max(10, round(1000 * runs))
    changed = before_changed = 0
    for samples in (60, 120, 200):
        before = after = 0
        for _ in range(worlds):
            evidence, truth = world(rng, samples)
            said = told(evidence.locked())
            before += attack(told(evidence)) == truth
            after += attack(said) == truth
            before_changed += told(other_answers(evidence)) != told(evidence)
            changed += told(other_answers(evidence).locked()) != said
        name = f"{samples} samples: the test matrix is read"
        yield Row(name, percent(before / worlds), share(after, worlds), "by luck only", after <= max(2, 0.02 * worlds))
    count = 3 * worlds
    yield Row(
        "the report changes with test", percent(before_changed / count), share(changed, count), "never", not changed
    )
