"""Evidence for the tests of a report's figures: answers that people pass or fail, and judges that score them."""

import numpy as np

from alignment.report import Criterion, Evidence, JudgeScores, Option

PASSING = Criterion("ok", 1, "OK", "answer", "binary", "OK?", (Option(True, "yes"), Option(False, "no")), (True,))


def answer(name):
    return (name, "answer")


def judge(scores, name="judge", higher_is_better=True):
    numbers = {answer(sample): float(score) for sample, score in scores.items()}
    return JudgeScores(name, "1", "ok", higher_is_better, numbers=numbers)


def evidence(verdicts, judges=(), *, raters=("ann",), chances=None, seed=1):
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
