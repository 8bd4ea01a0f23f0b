"""Evidence of made-up people and judges, for the figures of a report."""

from typing import Any

import numpy as np

from alignment.report import Comparison, Criterion, Evidence, JudgeScores, Option, Reference, compare, reference_of

PASS_FAIL = Criterion(
    "ok", 1, "OK", "claim", "binary", "Is it?", (Option("fail", "Fail"), Option("pass", "Pass")), ("pass",)
)
GRADES = Criterion(
    "grade", 1, "Grade", "claim", "ordinal", "How good?", tuple(Option(n, str(n)) for n in (1, 2, 3, 4)), (3, 4)
)
KINDS = Criterion("kind", 1, "Kind", "claim", "nominal", "Which?", tuple(Option(kind, kind) for kind in "abc"), ())


def evidence(
    samples: int = 120,
    *,
    claims: int = 2,
    people: tuple[str, ...] = ("ann", "bob", "cat"),
    right: float = 0.85,
    judge_right: float = 0.8,
    seed: int = 1,
    **fields: Any,
) -> Evidence:
    """All people label every claim; the judge's scores are the truth, turned round now and then."""
    rng = np.random.default_rng(seed)
    units = [(f"s{sample:03}", f"claim:{claim}") for sample in range(samples) for claim in range(claims)]
    truth = {unit: bool(rng.random() < 0.6) for unit in units}
    rows = [(unit, name, truth[unit] == (rng.random() < right)) for unit in units for name in people]
    numbers = {
        unit: float(rng.uniform(0.5, 1.0) if truth[unit] == (rng.random() < judge_right) else rng.uniform(0.0, 0.5))
        for unit in units
    }
    given = {
        "criterion": PASS_FAIL,
        "seed": 5,
        "units": [unit for unit, _, _ in rows],
        "raters": [name for _, name, _ in rows],
        "values": ["pass" if passes else "fail" for _, _, passes in rows],
        "verdicts": {},
        "judges": [JudgeScores("judge", "1", "ok", True, numbers)],
        "is_dev": {sample: place % 2 == 0 for place, sample in enumerate(sorted({unit[0] for unit in units}))},
    }
    return Evidence(**{**given, **fields})


def compared(found: Evidence, place: int = 0) -> tuple[Reference, Comparison]:
    reference = reference_of(found)
    return reference, compare(reference, found.judges[place])


PASSING = Criterion("ok", 1, "OK", "answer", "binary", "OK?", (Option(True, "yes"), Option(False, "no")), (True,))


def answer(name):
    return (name, "answer")


def judge(scores, name="judge", higher_is_better=True):
    numbers = {answer(sample): float(score) for sample, score in scores.items()}
    return JudgeScores(name, "1", "ok", higher_is_better, numbers=numbers)


def evidence_of(verdicts, judges=(), *, raters=("ann",), chances=None, seed=1):
    """verdicts: of each labelled sample pass or fail, given alike by all raters; every other sample is dev."""
    names = sorted(verdicts)
    rows = [(answer(name), rater, bool(verdicts[name])) for name in names for rater in raters]
    units, said, values = (list(column) for column in zip(*rows, strict=True)) if rows else ([], [], [])
    return Evidence(
        criterion=PASSING,
        seed=seed,
        units=units,
        raters=said,
        values=values,
        verdicts={},
        judges=list(judges),
        is_dev={name: place % 2 == 0 for place, name in enumerate(names)},
        chances=chances or {},
    )


def population(size, rng):
    """Samples with the truth and two judges' scores; the first judge errs where the second is unsure."""
    names = [f"s{place:05}" for place in range(size)]
    truth = rng.random(size) < 0.7
    hard = rng.random(size) < 0.3
    first = np.where(hard, rng.random(size), np.where(truth, 0.7, 0.1) + 0.2 * rng.random(size))
    second = np.where(hard, 0.5, np.where(truth, 0.8, 0.2)) + 0.1 * rng.random(size)
    by_name = [dict(zip(names, column.tolist(), strict=True)) for column in (truth, first, second)]
    return names, *by_name
