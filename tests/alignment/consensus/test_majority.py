"""One label per unit, and the others' label for each rating: against counting one by one, and crowd-kit's majority."""

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alignment import Ratings, consensus_labels, reference_majority, rest_label
from alignment.consensus.majority import TIE

DIMENSIONS = ("naturalness", "appropriateness", "completeness", "faithfulness")


def winner(values, rule):
    """By hand, from a list of level codes."""
    counts = Counter(values).most_common()
    if not counts or (len(counts) > 1 and counts[1][1] == counts[0][1]):
        return TIE
    if rule == "majority" and 2 * counts[0][1] <= len(values):
        return TIE
    return counts[0][0]


@st.composite
def tables(draw):
    units, raters, levels = draw(st.integers(1, 8)), draw(st.integers(1, 6)), draw(st.integers(2, 4))
    cells = [(unit, rater) for unit in range(units) for rater in range(raters)]
    chosen = draw(st.lists(st.sampled_from(cells), unique=True, min_size=1))
    values = draw(st.lists(st.integers(0, levels - 1), min_size=len(chosen), max_size=len(chosen)))
    unit, rater = np.array(chosen).T
    return Ratings(
        unit * 7, rater, np.array(values), unit // 2, tuple(range(levels)), "nominal", tuple("abcdef"[:raters])
    )


@settings(max_examples=100, deadline=None)
@given(tables(), st.sampled_from(["majority", "plurality"]))
def test_against_counting(ratings, rule):
    found = consensus_labels(ratings, rule)
    by_unit = [ratings.value[ratings.unit == unit].tolist() for unit in found.unit_ids]
    assert found.label.tolist() == [winner(values, rule) for values in by_unit]
    assert found.size.tolist() == [len(values) for values in by_unit]
    assert found.share == pytest.approx([max(Counter(values).values()) / len(values) for values in by_unit])
    assert found.ties == found.label.tolist().count(TIE)
    rest = [
        winner(ratings.value[(ratings.unit == unit) & (ratings.rater != rater)].tolist(), rule)
        for unit, rater in zip(ratings.unit, ratings.rater, strict=True)
    ]
    assert rest_label(ratings, rule).tolist() == rest


def test_two_levels_are_the_binary_reference(with_gaps):
    ratings = with_gaps(3, levels=2)
    found, reference = consensus_labels(ratings), reference_majority(ratings, [2])
    decided = found.label != TIE
    assert [unit for unit, kept in zip(found.unit_ids, decided, strict=True) if kept] == list(reference.unit_ids)
    assert (found.label[decided] == 1).tolist() == reference.positive.tolist()
    assert found.ties == reference.ties
    assert consensus_labels(ratings, "plurality").label.tolist() == found.label.tolist()


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_crowd_kit_where_it_has_no_ties_to_break(mtrag, dimension):
    ratings = mtrag.ratings(dimension)
    lines = (mtrag.folder / "reference_crowdkit.jsonl").read_text(encoding="utf-8").splitlines()
    theirs = {
        (row["sample_id"], row["unit"]): row["majority"]
        for row in map(json.loads, lines)
        if row["dimension"] == dimension
    }
    found = consensus_labels(ratings, "plurality")
    ours = {unit: found.levels[code] for unit, code in zip(found.unit_ids, found.label, strict=True) if code != TIE}
    assert len(ours) == len(theirs) - found.ties
    assert ours == {unit: theirs[unit] for unit in ours}


def test_nothing_and_nonsense(from_rows):
    empty = consensus_labels(from_rows([], "xy", "binary"))
    assert (empty.label.tolist(), empty.ties) == ([], 0)
    assert rest_label(from_rows([], "xy", "binary")).tolist() == []
    with pytest.raises(ValueError, match="needs levels"):
        consensus_labels(from_rows([[0.5]], None, "interval"))
    with pytest.raises(ValueError, match="majority, plurality"):
        consensus_labels(from_rows(["xy"], "xy", "binary"), "median")


def test_a_million_ratings():
    rng = np.random.default_rng(2)
    units = 350_000
    ratings = Ratings(
        np.repeat(np.arange(units), 3),
        np.tile([0, 1, 2], units),
        rng.integers(0, 4, 3 * units),
        np.repeat(np.arange(units), 3),
        tuple("wxyz"),
        "nominal",
        ("a", "b", "c"),
    )
    # Two of three agree unless all differ: 1 - 4·3·2/4³.
    assert (consensus_labels(ratings).label != TIE).mean() == pytest.approx(1 - 24 / 64, abs=0.01)
    first, second, third = ratings.value.reshape(-1, 3).T
    others = [np.where(one == other, one, TIE) for one, other in ((second, third), (first, third), (first, second))]
    assert np.array_equal(rest_label(ratings), np.column_stack(others).ravel())
