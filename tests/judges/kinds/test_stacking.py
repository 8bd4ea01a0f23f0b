"""Logistic stacking: against the likelihood itself, and what it refuses."""

import random

import numpy as np
import pytest
from scipy.optimize import minimize

from judges.kinds.stacking import FOLDS, Curve, NotStacked, fit_stack, fold_of


def _data(samples: int = 60, units: int = 4) -> tuple[list[list[float]], list[bool], list[str]]:
    rng = random.Random(4)
    rows, passes, names = [], [], []
    for sample in range(samples):
        for _ in range(units):
            truth = rng.random() < 0.6
            rows.append(
                [rng.gauss(1.0 if truth else 0.0, 1), 10 + 5 * rng.gauss(1.5 if truth else 0.0, 1), rng.random()]
            )
            passes.append(truth)
            names.append(f"s-{sample}")
    return rows, passes, names


MEMBERS = ["one", "two", "noise"]


def test_the_fit_has_the_least_penalised_loss() -> None:
    rows, passes, names = _data()
    whole = fit_stack(rows, passes, names, MEMBERS, 7).whole
    table = np.array(rows)
    features = (table - table.mean(0)) / table.std(0)
    signs = np.where(passes, 1.0, -1.0)

    def loss(parameters: np.ndarray) -> float:
        heights = parameters[0] + features @ parameters[1:]
        return float(np.logaddexp(0, -signs * heights).sum() + parameters[1:] @ parameters[1:] / 2)

    found = minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-8})
    assert [whole.intercept, *whole.weights] == pytest.approx(found.x, abs=1e-4)
    assert whole.centres == pytest.approx(table.mean(0))
    assert abs(whole.weights[2]) < min(whole.weights[:2])


def test_probabilities_are_calibrated_and_better_than_the_share() -> None:
    rows, passes, names = _data(samples=200)
    stack = fit_stack(rows, passes, names, MEMBERS, 7)
    crossed = np.array([stack.folds[fold_of(7, name)].probability(row) for row, name in zip(rows, names, strict=True)])
    truth = np.array(passes)
    assert stack.brier == pytest.approx(np.mean((crossed - truth) ** 2))
    assert stack.brier < 0.7 * stack.brier_of_share
    order = np.argsort(crossed)
    for part in np.array_split(order, 4):
        assert crossed[part].mean() == pytest.approx(truth[part].mean(), abs=0.08)


def test_a_fold_does_not_rest_on_its_own_samples() -> None:
    rows, passes, names = _data()
    before = fit_stack(rows, passes, names, MEMBERS, 7)
    turned = [not one if fold_of(7, name) == 2 else one for one, name in zip(passes, names, strict=True)]
    after = fit_stack(rows, turned, names, MEMBERS, 7)
    assert after.folds[2] == before.folds[2]
    assert all(after.folds[fold] != before.folds[fold] for fold in range(FOLDS) if fold != 2)
    assert after.whole != before.whole


def test_the_same_fit_again_and_in_any_order() -> None:
    rows, passes, names = _data()
    assert fit_stack(rows, passes, names, MEMBERS, 7) == fit_stack(rows, passes, names, MEMBERS, 7)
    backwards = fit_stack(rows[::-1], passes[::-1], names[::-1], MEMBERS, 7)
    assert backwards.whole.weights == pytest.approx(fit_stack(rows, passes, names, MEMBERS, 7).whole.weights, abs=1e-6)


def test_members_that_make_no_error_still_have_a_fit() -> None:
    names = [f"s-{n}" for n in range(40)]
    passes = [n % 2 == 0 for n in range(40)]
    stack = fit_stack(
        [[float(one), float(n % 7)] for n, one in enumerate(passes)], passes, names, ["exact", "other"], 1
    )
    assert stack.brier < 0.05
    assert 0 < stack.whole.probability([0.0, 0.0]) < 0.5 < stack.whole.probability([1.0, 0.0]) < 1


def test_folds_follow_from_the_samples_own_id() -> None:
    dealt = [fold_of(7, f"s-{n}") for n in range(1000)]
    assert [fold_of(7, f"s-{n}") for n in range(1000)] == dealt
    assert min(dealt.count(fold) for fold in range(FOLDS)) > 150
    assert dealt != [fold_of(8, f"s-{n}") for n in range(1000)]


def test_extreme_scores_have_a_probability() -> None:
    curve = Curve(intercept=0.5, weights=[2.0], centres=[0.0], spreads=[1e-3])
    assert [curve.probability([x]) for x in (-1e90, 0.0, 1e90)] == [0.0, pytest.approx(0.6225, abs=1e-4), 1.0]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda rows, passes, names: (rows, [True] * len(passes), names), "Annotators pass all or none"),
        (lambda rows, passes, names: ([], [], []), "of the 0 dev units"),
        (lambda rows, passes, names: (rows[:30], passes[:30], names[:30]), "Too few dev verdicts"),
        (lambda rows, passes, names: (rows, passes, ["one"] * len(names)), "of 1 samples"),
        (lambda rows, passes, names: ([[*row[:2], 3.0] for row in rows], passes, names), "noise gives every one"),
    ],
)
def test_what_it_refuses(change, why: str) -> None:
    with pytest.raises(NotStacked) as error:
        fit_stack(*change(*_data()), MEMBERS, 7)
    assert why in str(error.value)
