"""What stands beside an interval that may be too narrow: when, which, and that it says what was measured."""

import re

import numpy as np
import pytest

from alignment import interval_caveat, rarer_samples
from alignment.base.caveats import FEW_OF_THE_RARER, FEW_SAMPLES, VERY_FEW_OF_THE_RARER
from tests.conftest import ROOT

PAGE = ROOT / "docs" / "coverage.md"


@pytest.mark.parametrize(
    ("clusters", "rarer", "expected"),
    [
        (40, None, None),
        (39, None, FEW_SAMPLES),
        (400, 20, None),
        (400, 19, FEW_OF_THE_RARER),
        (39, 19, FEW_SAMPLES),
        (400, 9, VERY_FEW_OF_THE_RARER),
        (39, 9, VERY_FEW_OF_THE_RARER),
        (0, 0, VERY_FEW_OF_THE_RARER),
    ],
)
def test_when(clusters, rarer, expected):
    assert interval_caveat(clusters=clusters, rarer=rarer) == expected


def test_samples_with_the_rarer_value():
    sample = np.arange(100) // 5
    value = np.zeros(100, dtype=bool)
    value[[0, 1, 7, 50]] = True
    assert rarer_samples(value, sample) == rarer_samples(~value, sample) == 3
    assert rarer_samples([1, 1, 2, 3, 1], [1, 2, 3, 4, 4]) == 2
    assert rarer_samples(["good", "good"], [1, 2]) == rarer_samples([], []) == 0
    with pytest.raises(ValueError, match="differ in length"):
        rarer_samples([1], [1, 2])


def measured(section, columns, keep):
    """The percentages of some columns of a section's table, of the rows that ``keep`` accepts."""
    text = PAGE.read_text(encoding="utf-8").split(f"## {section}", 1)[1].split("\n## ")[0]
    head, _, *rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line[:1] == "|"]
    named = [dict(zip(head, row, strict=True)) for row in rows]
    cells = [row[column] for row in named if keep(row) for column in columns if row[column] != "—"]
    return [float(re.match(r"\**([\d.]+)", cell).group(1)) for cell in cells]


def test_the_caveats_say_what_was_measured():
    """Of two categories: tenths of 30 samples are very few, of 100 few; halves of 30 are few samples only."""

    def low(units, rarer, samples):
        def keep(row):
            return (row["units per sample"], row["rarer category"], row["samples"]) == (units, rarer, samples)

        kappas = measured("Cohen's kappa", ["jackknife"], keep)
        figures = kappas + measured("Krippendorff's alpha", ["alpha", "AC1"], keep)
        columns = ["ROC AUC", "Spearman"]
        return min(figures + measured("ROC AUC", columns, lambda row: keep(row | {"rarer category": row["passes"]})))

    assert VERY_FEW_OF_THE_RARER["held"] == int(low("1", "0.1", "30"))
    assert FEW_OF_THE_RARER["held"] == int(low("1", "0.1", "100"))
    assert FEW_SAMPLES["held"] == int(min(low("1", "0.5", "30"), low("5", "0.5", "30"), low("5", "0.1", "30")))
    everything = [low(units, rarer, "400") for units in ("1", "5") for rarer in ("0.5", "0.1")]
    assert min([*everything, low("1", "0.5", "100"), low("5", "0.5", "100")]) >= 92


def test_kappas_of_two_values_need_no_caveat_where_one_is_rare():
    """Nor do alpha and AC1. Of 30 samples with a tenth of them rare most have no interval at all."""

    def keep(row):
        return row["rarer category"] == "0.1"

    kappas = measured("Cohen's kappa", ["jackknife"], keep)
    assert len(kappas) == 18
    assert min(kappas + measured("Krippendorff's alpha", ["alpha", "AC1"], keep)) >= 92
