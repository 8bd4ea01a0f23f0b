"""Columns as numbers read as the lists they stand for."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from alignment.base.coded import Coded, array_of, different, kept, taken
from alignment.base.ratings import encode

# 1, 1.0 and True are one key of a dictionary.
ITEMS = ["b", "a", None, 1, 1.0, True, 2]
columns = st.lists(st.integers(0, len(ITEMS) - 1)).map(lambda codes: Coded(ITEMS, np.array(codes, dtype=np.int64)))


def spelled(column):
    return list(map(repr, column))


@given(columns, st.randoms())
def test_what_is_asked_of_a_column_is_what_its_list_gives(column, rng):
    rows = list(column)
    assert column == rows
    assert len(column) == len(rows)
    assert spelled(column[place] for place in range(len(rows))) == spelled(rows)
    assert spelled(column[1:3]) == spelled(rows[1:3])
    assert spelled(column.by_appearance()) == spelled(rows)
    assert list(dict.fromkeys(different(column))) == different(rows)
    assert encode(column)[0].tolist() == encode(rows)[0].tolist()
    assert spelled(encode(column)[1]) == spelled(encode(rows)[1])
    # Of what doesn't occur nothing is asked.
    spelling = {id(row): repr(row) for row in rows}
    asked = [array_of(some, lambda row: spelling[id(row)], object).tolist() for some in (column, rows)]
    assert asked == [spelled(rows)] * 2
    places = np.array([rng.randrange(len(rows)) for _ in rows], dtype=np.int64)
    assert spelled(taken(column, places)) == spelled(taken(rows, places))
    chosen = [rng.random() < 0.5 for _ in rows]
    assert spelled(kept(column, chosen)) == spelled(kept(rows, chosen))


def test_a_column_in_order_stays_the_same_object():
    column = Coded(["b", "a"], np.array([0, 0, 1, 0, 1])[:3])
    assert column.by_appearance() is column
    assert column[1:].by_appearance() is not column


def test_many_rows_are_read_in_parts():
    codes = np.arange(120_001) % 3
    assert list(Coded("abc", codes)) == ["abc"[code] for code in codes.tolist()]
