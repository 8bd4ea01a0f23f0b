"""Figures printed in the literature, to the digits printed."""

import numpy as np
import pytest
from scipy.special import stdtrit

from alignment import (
    Ratings,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    pairwise,
    paradox_note,
    percent_agreement,
    prevalence,
)
from alignment.agreement.cohen import confusion, kappa_statistic
from alignment.base.estimate import remark
from alignment.base.interval import standard_error
from alignment.base.tables import agreement_columns, disagreement, pairs_within

COHEN = [[0, 4, 1], [0, 8, 0], [0, 1, 5]]
COHEN_1968 = [[88, 14, 18], [10, 40, 10], [2, 6, 12]]
COHEN_1968_DISAGREEMENT = np.array([[0, 1, 3], [1, 0, 6], [3, 6, 0]])
TWO_RATERS = [[13, 0, 0], [0, 20, 7], [0, 4, 56]]
PARADOX = [[118, 5], [2, 0]]

# Fleiss (1971), table 1: 30 patients, the diagnoses of six psychiatrists each (1 depression, 2 personality disorder,
# 3 schizophrenia, 4 neurosis, 5 other).
FLEISS_1971 = [
    "444444",
    "222555",
    "233335",
    "555555",
    "222444",
    "113333",
    "333355",
    "113334",
    "114444",
    "555555",
    "144444",
    "124444",
    "222333",
    "144444",
    "224445",
    "333335",
    "111455",
    "111112",
    "224444",
    "133555",
    "555555",
    "244444",
    "224555",
    "114444",
    "144445",
    "222224",
    "111155",
    "224444",
    "133333",
    "555555",
]

# The table of the encyclopedia article on Fleiss' kappa: ten subjects, fourteen raters, counts in five categories.
FLEISS_10_14 = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]

# Krippendorff (2011), example C: four observers, twelve units, · where a rating is missing.
KRIPPENDORFF_2011 = [
    [None if mark == "·" else int(mark) for mark in row.split()]
    for row in (
        "1 2 3 3 2 1 4 1 2 · · ·",
        "1 2 3 3 2 2 4 1 2 5 · 3",
        "· 3 3 3 2 3 4 2 2 5 1 ·",
        "1 2 3 3 2 4 4 1 2 5 1 ·",
    )
]


def kappa_error(ratings: Ratings, weights: str | None = None) -> float:
    first, second = pairs_within(ratings.unit)
    levels = len(ratings.levels)
    table = confusion(ratings.cluster[first], ratings.value[first], ratings.value[second], levels)
    return standard_error(table.influence(kappa_statistic(disagreement(levels, weights))))


def test_cohen(from_confusion):
    ratings = from_confusion(COHEN)
    assert cohen_kappa(ratings, "a", "b", interval="none").value == pytest.approx(0.4842, abs=5e-5)
    assert cohen_kappa(ratings, "a", "b", "linear", interval="none").value == pytest.approx(0.4701, abs=5e-5)


def test_cohen_error_and_interval(from_confusion):
    ratings = from_confusion(COHEN)
    error, value = kappa_error(ratings), cohen_kappa(ratings, "a", "b", interval="none").value
    assert error == pytest.approx(0.1380, abs=5e-5)
    assert value - 1.959964 * error == pytest.approx(0.2137, abs=5e-5)
    assert value + 1.959964 * error == pytest.approx(0.7547, abs=5e-5)


def test_cohen_1968_with_given_weights(from_confusion):
    ratings = from_confusion(COHEN_1968)
    assert cohen_kappa(ratings, "a", "b", interval="none").value == pytest.approx(0.492, abs=5e-4)
    weighted = cohen_kappa(ratings, "a", "b", COHEN_1968_DISAGREEMENT, interval="none")
    assert weighted.value == pytest.approx(0.348, abs=5e-4)
    assert weighted.method == "Cohen's kappa, given weights"


def test_two_raters(from_confusion):
    ratings = from_confusion(TWO_RATERS)
    assert cohen_kappa(ratings, "a", "b", interval="none").value == pytest.approx(0.7964, abs=5e-5)
    assert kappa_error(ratings) == pytest.approx(0.0589, abs=5e-5)
    assert gwet_ac1(ratings, interval="none").value == pytest.approx(0.8493, abs=5e-5)
    assert krippendorff_alpha(ratings, interval="none").value == pytest.approx(0.7973, abs=6e-5)
    # With two raters and no gaps Fleiss' kappa is Scott's pi.
    assert fleiss_kappa(ratings, interval="none").value == pytest.approx(0.7962, abs=5e-5)


def test_paradox(from_confusion):
    ratings = from_confusion(PARADOX)
    percent = percent_agreement(ratings, interval="none")
    kappa = cohen_kappa(ratings, "a", "b", interval="none")
    ac1 = gwet_ac1(ratings, interval="none")
    assert percent.value == pytest.approx(0.944, abs=5e-4)
    assert kappa.value == pytest.approx(-0.023, abs=5e-4)
    assert ac1.value == pytest.approx(0.941, abs=6e-4)
    assert paradox_note(kappa, percent, ac1) == (remark("kappa_paradox", kappa=-0.02, percent=0.94, ac1=0.94))
    assert [tuple(share) for share in prevalence(ratings)] == [(0, 243 / 250, 243), (1, 7 / 250, 7)]


def test_no_paradox_where_kappa_is_high(from_confusion):
    ratings = from_confusion(TWO_RATERS)
    (pair,) = pairwise(ratings, interval="none")
    assert paradox_note(pair.kappa, pair.percent, gwet_ac1(ratings, interval="none")) is None


def test_fleiss_1971(from_rows):
    rows = [[int(patient[rater]) for patient in FLEISS_1971] for rater in range(6)]
    kappa = fleiss_kappa(from_rows(rows, range(1, 6), "nominal"), interval="none")
    assert kappa.value == pytest.approx(0.4302, abs=5e-5)
    assert kappa.n == 30
    # The z of statistical packages: the error if there were chance agreement only (Fleiss, Nee & Landis, 1979).
    p = np.bincount([int(mark) for patient in FLEISS_1971 for mark in patient], minlength=6)[1:] / 180
    by_chance = p * (1 - p)
    error = np.sqrt(2 / (30 * 6 * 5) * (by_chance.sum() ** 2 - (by_chance * (1 - 2 * p)).sum())) / by_chance.sum()
    assert kappa.value / error == pytest.approx(17.65, abs=5e-3)


def test_fleiss_fourteen_raters(from_rows):
    subjects = [[level for level, count in enumerate(row) for _ in range(count)] for row in FLEISS_10_14]
    ratings = from_rows(list(zip(*subjects, strict=True)), range(5), "nominal")
    assert fleiss_kappa(ratings, interval="none").value == pytest.approx(0.210, abs=5e-4)


@pytest.mark.parametrize(("metric", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_krippendorff_2011(from_rows, metric, alpha):
    ratings = from_rows(KRIPPENDORFF_2011, range(1, 6))
    assert krippendorff_alpha(ratings, metric, interval="none").value == pytest.approx(alpha, abs=5e-4)


def test_krippendorff_2011_without_a_list_of_levels(from_rows):
    ratings = from_rows(KRIPPENDORFF_2011, None, "interval")
    assert krippendorff_alpha(ratings, "interval", interval="none").value == pytest.approx(0.849, abs=5e-4)


def test_gwet_on_the_same_matrix(from_rows):
    ratings = from_rows(KRIPPENDORFF_2011, range(1, 6))
    ac1 = gwet_ac1(ratings, interval="none")
    assert ac1.value == pytest.approx(0.775, abs=5e-4)
    assert ac1.n == 11
    assert fleiss_kappa(ratings, interval="none").value == pytest.approx(0.761, abs=5e-4)
    assert percent_agreement(ratings, interval="none").value == pytest.approx(0.818, abs=5e-4)


def test_gwet_error(from_rows):
    """The printed .143 divides the units' corrected agreement by a fixed 11/12 of the units, and by n(n - 1), not n².

    Ours divides by the units that have two ratings, counted anew in every resample, and is .119. The two are the same
    where every unit has two ratings: test_reference_data.py holds that to 1e-6.
    """
    totals, n, _ = agreement_columns(from_rows(KRIPPENDORFF_2011, range(1, 6)))
    assert n == 11

    def ac1_with_fixed_share(columns):
        units = columns[..., 2:].sum(axis=-1)
        shares = columns[..., 2:] / units[..., None]
        expected = (shares * (1 - shares)).sum(axis=-1) / 4
        corrected = (columns[..., 0] - expected * columns[..., 1]) / (1 - expected)
        return corrected / (11 / 12 * units)

    error = standard_error(totals.influence(ac1_with_fixed_share)) * np.sqrt(12 / 11)
    assert error == pytest.approx(0.143, abs=5e-4)
    ours = gwet_ac1(from_rows(KRIPPENDORFF_2011, range(1, 6)), interval="influence")
    assert (ours.value - ours.low) / stdtrit(10, 0.975) == pytest.approx(0.119, abs=5e-4)
