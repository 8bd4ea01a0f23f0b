"""What a look says of all samples, after the product's own queue, with refusals, and over twenty looks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from alignment.judging.decision import PERMITTING, Endpoint
from alignment.report import (
    Chance,
    Criterion,
    Evidence,
    Judged,
    JudgeScores,
    Option,
    applied,
    draw_by_outcome,
    looked,
    outcomes_of,
    reference_of,
)
from bench.promises import SEED, Promise, Row, at_least, at_most, percent, share

PROMISE = Promise(
    place=7,
    title="What a look decides",
    claim="A look's endpoint is of all samples, what was not scored counts as decided wrongly, and the endpoints of "
    "all looks together hold in 95 of 100 series. Its other figures hold in 94 of 100 looks or more, each by itself.",
    worlds="*Queue*: 2,000 answers of which people pass 85 %, a judge with TPR .93 and TNR .70; people label all that "
    "it fails and 20 % of what it passes, half of it is test, and the share of 2,000 new answers is corrected with the "
    "look. *Refusing*: a judge that is right on 95 % of the easy half of 400 answers and guesses on the other, so that "
    "its kappa is .45, leaves the other out; the bar is .60, and 40 % have to be scored. *Twenty looks*: twenty judges "
    "with kappa .50 on one test half of 150. *Before*, a look counted every label alike and left out what was not "
    "scored.",
)
ASKED = Criterion("ok", 1, "OK", "answer", "binary", "OK?", (Option("yes", "Yes"), Option("no", "No")), ("yes",))
PASSES, TPR, TNR = 0.85, 0.93, 0.70
#: In worlds of 1,000 answers.
BEFORE = {"tpr": "0.73 on average", "tnr": "0.92 on average", "rate": "1.00 on average; held in 0.0 %"}
LOOKS = 20


def _labels(names: list[str], values: np.ndarray) -> dict[tuple[str, str], str]:
    return {(name, "answer"): "yes" if value else "no" for name, value in zip(names, values.tolist(), strict=True)}


def _judged(
    seed: int, people: Mapping[tuple[str, str], str], said: JudgeScores, chances: dict[str, Chance], endpoint: Endpoint
) -> Judged:
    names = sorted({name for name, _ in people})
    sides = dict(zip(names, (np.random.default_rng(seed).permutation(len(names)) % 2 == 0).tolist(), strict=True))
    evidence = Evidence(
        criterion=ASKED,
        seed=seed,
        units=list(people),
        raters=["ann"] * len(people),
        values=list(people.values()),
        verdicts={},
        judges=[said],
        is_dev=sides,
        chances=chances,
        endpoint=endpoint,
    )
    return Judged(reference_of(evidence), said)


def after_the_queue(seed: int, size: int = 2000) -> dict[str, Any]:
    """Of one world the figures of a look, and the corrected share of what nobody labelled."""
    rng = np.random.default_rng(seed)
    passed = rng.random(size) < PASSES
    said = np.where(passed, rng.random(size) < TPR, rng.random(size) >= TNR)
    names = [f"s{place:04}" for place in range(size)]
    judge = JudgeScores("judge", "1", "ok", True, labels=_labels(names, said))
    outcomes = outcomes_of(judge, passes=["yes"], threshold=None, samples=names, sizes={})
    chosen = draw_by_outcome(outcomes, {"fail": 1.0, "pass": 0.2}, seed=seed).chosen
    chances = {name: Chance(*chance) for name, chance in chosen.items()}
    people = {unit: value for unit, value in _labels(names, passed).items() if unit[0] in chances}
    found = looked(_judged(seed, people, judge, chances, Endpoint()), 1)
    new = rng.random(size) < PASSES
    scored = np.where(new, rng.random(size) < TPR, rng.random(size) >= TNR)
    rate = applied(
        found.row,
        found.test,
        scored.astype(float).tolist(),
        [f"n{place}" for place in range(size)],
        chances=found.chances,
        passes=scored.tolist(),
        higher_is_better=True,
        groups={},
    ).rate.rate
    return {**{name: found.row[name] for name in ("tpr", "tnr", "kappa")}, "rate": rate.as_dict()}


def _true_kappa(passes: float, tpr: float, tnr: float) -> float:
    judge = passes * tpr + (1 - passes) * (1 - tnr)
    right, luck = passes * tpr + (1 - passes) * tnr, passes * judge + (1 - passes) * (1 - judge)
    return (right - luck) / (1 - luck)


def refusing(seed: int, *, counted: bool = True, size: int = 400) -> bool:
    """Whether a judge that answers only the easy half is permitted. ``counted``: what it leaves out is an error."""
    rng = np.random.default_rng(seed)
    passed, easy = rng.random(size) < 0.5, rng.random(size) < 0.5
    said = np.where(easy, passed ^ (rng.random(size) < 0.05), rng.random(size) < 0.5)
    names = [f"s{place:04}" for place in range(size)]
    labels = {unit: label for unit, label in _labels(names, said).items() if easy[int(unit[0][1:])]}
    judge = JudgeScores("judge", "1", "ok", True, labels=labels)
    endpoint = Endpoint(bar=0.6, coverage=0.4)
    people = {unit: value for unit, value in _labels(names, passed).items() if counted or unit in labels}
    found = looked(_judged(seed, people, judge, dict.fromkeys(names, Chance(1.0, 1)), endpoint), 1)
    return found.row["decision"]["verdict"] in PERMITTING


def twenty_looks(seed: int, size: int = 300) -> bool:
    """Whether the endpoints of twenty looks all hold the true kappa, 0.5."""
    rng = np.random.default_rng(seed)
    names = [f"s{place:04}" for place in range(size)]
    passed = rng.random(size) < 0.5
    every = dict.fromkeys(names, Chance(1.0, 1))
    for number in range(1, LOOKS + 1):
        said = passed ^ (rng.random(size) < 0.25)
        judge = JudgeScores(f"judge {number}", "1", "ok", True, labels=_labels(names, said))
        figure = looked(_judged(seed, _labels(names, passed), judge, every, Endpoint()), number).row["figure"]
        if not figure["low"] <= 0.5 <= figure["high"]:
            return False
    return True


def rows(runs: float) -> Iterator[Row]:
    worlds = max(20, round(2000 * runs))
    found = [after_the_queue(SEED + seed) for seed in range(worlds)]
    true = {"tpr": TPR, "tnr": TNR, "kappa": _true_kappa(PASSES, TPR, TNR), "rate": PASSES}
    titles = {"tpr": "TPR", "tnr": "TNR", "kappa": "kappa", "rate": "corrected share of passes"}
    for name, truth in true.items():
        held = sum(_holds(one[name], truth) for one in found)
        world = f"queue: {titles[name]}, truly {truth:.2f}"
        yield Row(
            world, BEFORE.get(name, ""), f"held in {share(held, worlds)}", "94 % or more", at_least(held, worlds, 0.94)
        )
    before, permitted = (sum(refusing(SEED + seed, counted=one) for seed in range(worlds)) for one in (False, True))
    yield Row(
        "refusing: permitted",
        percent(before / worlds),
        share(permitted, worlds),
        "at most 5 %",
        at_most(permitted, worlds, 0.05),
    )
    held = sum(twenty_looks(SEED + seed) for seed in range(worlds))
    yield Row(
        "twenty looks: all endpoints held",
        "57 %, under new names",
        share(held, worlds),
        "95 % or more",
        at_least(held, worlds, 0.95),
    )


def _holds(found: Mapping[str, Any], truth: float) -> bool:
    return found["low"] is not None and bool(found["low"] <= truth <= found["high"])
