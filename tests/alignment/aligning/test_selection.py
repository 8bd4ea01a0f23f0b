"""Choosing among candidates: by the definition, with another library's kappa, and where there is nothing to gain."""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from alignment import NO_ANSWER, choose, select
from alignment.calibration.split import folds


def world(seed, groups=60, size=2, candidates=4, better=(), levels=2, missing=0.0):
    """People; the start and candidates that answer a third of the units anew. better: by how much of their errors
    these candidates are mended."""
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(groups), size)
    people = rng.integers(0, levels, cluster.size)

    def answers():
        return np.where(rng.random(cluster.size) < 0.75, people, rng.integers(0, levels, cluster.size))

    rows = [answers()]
    for place in range(1, candidates + 1):
        row = np.where(rng.random(cluster.size) < 0.3, answers(), rows[0])
        if place in dict(better):
            row = np.where(rng.random(cluster.size) < dict(better)[place], people, row)
        rows.append(row)
    said = np.array(rows)
    said[rng.random(said.shape) < missing] = NO_ANSWER
    return people, said, cluster, folds(list(range(groups)), [True] * groups, 4, rng)[cluster]


@pytest.mark.parametrize("seed", range(8))
def test_the_simplest_within_an_error_of_the_best_by_leaving_groups_out(seed):
    people, said, cluster, _ = world(seed, groups=40)
    kappas = [cohen_kappa_score(people, row) for row in said]
    best = int(np.argmax(kappas))
    left = np.array(
        [[cohen_kappa_score(people[cluster != one], row[cluster != one]) for row in said] for one in range(40)]
    )
    away = left - left[:, [best]]
    errors = np.sqrt(39 / 40 * np.square(away - away.mean(axis=0)).sum(axis=0))
    found = choose(people, said, cluster, 2)
    assert found.kappa == pytest.approx(kappas)
    assert found.error == pytest.approx(errors, rel=1e-6, abs=1e-12)
    assert found.best == best
    assert found.candidate == next(at for at, kappa in enumerate(kappas) if kappa >= kappas[best] - errors[at])


@pytest.mark.parametrize("levels", [2, 3])
def test_no_answer_is_a_wrong_answer(levels):
    people, said, cluster, _ = world(3, levels=levels, missing=0.2)
    wrong = 1 - people if levels == 2 else np.full_like(people, levels)
    expected = [cohen_kappa_score(people, np.where(row == NO_ANSWER, wrong, row)) for row in said]
    assert choose(people, said, cluster, levels).kappa == pytest.approx(expected)


def test_the_procedure_is_measured_by_labels_that_it_was_not_chosen_by():
    people, said, cluster, fold = world(5, candidates=6, better=[(3, 0.4)])
    found = select(people, said, cluster, fold, 2, np.random.default_rng(0))
    procedure = np.empty_like(people)
    for one in range(4):
        apart = fold != one
        chosen = choose(people[apart], said[:, apart], cluster[apart], 2).candidate
        assert found.of_folds[one] == chosen
        procedure[fold == one] = said[chosen, fold == one]
    assert found.after.value == pytest.approx(cohen_kappa_score(people, procedure))
    assert found.before.value == pytest.approx(cohen_kappa_score(people, said[0]))
    assert found.gain.value == pytest.approx(found.after.value - found.before.value)
    assert (found.choice.candidate, found.gain.level) == (3, 0.95)


def test_what_it_says_does_not_hang_on_the_order_of_units_or_the_names_of_groups_and_folds():
    people, said, cluster, fold = world(7, better=[(2, 0.3)], missing=0.1)
    found = select(people, said, cluster, fold, 2, np.random.default_rng(0), same_labels=said)
    order = np.random.default_rng(1).permutation(people.size)
    again = select(
        people[order], said[:, order], 900 - cluster[order], np.array(list("dacb"))[fold[order]], 2,
        np.random.default_rng(2), same_labels=said[:, order],
    )  # fmt: skip
    assert again.choice.candidate == found.choice.candidate
    assert sorted(again.of_folds) == sorted(found.of_folds)
    for one, other in ((found.before, again.before), (found.after, again.after), (found.gain, again.gain)):
        assert other.value == pytest.approx(one.value)
    assert again.gain.low == pytest.approx(found.gain.low, abs=0.02)
    assert found.same_labels == again.same_labels == pytest.approx(max(found.choice.kappa))


def test_a_start_that_nothing_improves_is_kept():
    people, said, cluster, fold = world(11, candidates=0)
    found = select(people, said, cluster, fold, 2, np.random.default_rng(0))
    assert (found.choice.candidate, found.of_folds) == (0, (0, 0, 0, 0))
    assert (found.gain.value, found.gain.low) == (0, None)
    assert found.gain.reason == {"code": "no_variation"}


def test_people_who_all_say_the_same_leave_no_kappa_to_choose_by():
    people, cluster = np.ones(40, dtype=int), np.arange(40)
    said = np.ones((2, 40), dtype=int)
    found = select(people, said, cluster, cluster % 4, 2, np.random.default_rng(0), same_labels=said)
    assert (found.choice.candidate, found.same_labels) == (0, None)
    assert np.isnan(found.choice.kappa).all()
    assert found.gain.value is None
    assert found.gain.reason == {"code": "one_category"}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"people": [0, 2]}, "positions of levels, 0 to 1"),
        ({"answers": [[0, 3]]}, "0 to 1, or -1"),
        ({"answers": np.zeros((0, 2), dtype=int)}, "a candidate and a unit"),
        ({"answers": [[0, 1, 1]]}, "differ in length"),
        ({"fold": [1, 1]}, "at least 2 folds"),
        ({"cluster": [7, 7]}, "a cluster lies in two folds"),
    ],
)
def test_what_makes_no_sense_is_refused(change, why):
    given = {"people": [0, 1], "answers": [[0, 1]], "cluster": [1, 2], "fold": [0, 1], **change}
    with pytest.raises(ValueError, match=why):
        select(**given, levels=2, rng=np.random.default_rng(0))


def test_nothing_to_gain_is_not_claimed_to_be_one():
    """Ten candidates as good as the start: 95 % intervals lie above 0 in 2.5 % of worlds."""
    claims, rng = 0, np.random.default_rng(4)
    for seed in range(200):
        gain = select(*world(seed, candidates=10), 2, rng).gain
        claims += gain.low is not None and gain.low > 0
    # Above 5 %: by chance in one of ten thousand, were it 2.5 %.
    assert claims <= 14
