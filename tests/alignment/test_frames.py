"""Ratings from pandas tables, and estimates and reports as such."""

import math
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from alignment import Estimate, Ratings, krippendorff_alpha, pairwise, sweep
from alignment.base.estimate import remark
from alignment.frames import estimates_frame, report_frames
from alignment.report import report_figures
from tests.alignment.report.building import GRADES, evidence

COLUMNS = ["value", "low", "high", "level", "n", "clusters", "method", "reason"]
BINARY = {"scale": "binary", "levels": ["no", "yes"]}


def table(**columns):
    given = {
        "sample": ["s1", "s1", "s2", "s2"],
        "unit": ["a", "a", "a", "b"],
        "rater": ["ann", "bob", "ann", "ann"],
        "value": ["yes", "no", "no", "yes"],
    }
    return pd.DataFrame({**given, **columns})


def test_ratings_from_a_table_are_those_from_its_columns():
    frame = table()
    found = Ratings.from_frame(frame, unit=["sample", "unit"], cluster="sample", **BINARY)
    units = list(zip(frame["sample"], frame["unit"], strict=True))
    expected = Ratings.from_columns(units, frame["rater"], frame["value"], frame["sample"], **BINARY)
    for name in ("unit", "rater", "value", "cluster"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()
    assert (found.unit_ids, found.raters) == (expected.unit_ids, expected.raters)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_a_row_without_a_value_is_left_out(missing):
    frame = table(value=["yes", missing, "no", "yes"])
    found = Ratings.from_frame(frame, unit=["sample", "unit"], cluster="sample", **BINARY)
    assert (len(found), found.raters) == (3, ("ann",))


def test_values_of_any_column_type_are_matched():
    for kind in ("int64", "float64", "Int64", "Float64", "category"):
        frame = table(value=pd.Series([1, 2, 2, 3]).astype(kind))
        found = Ratings.from_frame(frame, unit=["sample", "unit"], cluster="sample", scale="ordinal", levels=[1, 2, 3])
        assert found.value.tolist() == [0, 1, 1, 2], kind
    frame = table(value=[0.5, 1.5, np.nan, 2.5], rater=[7, 8, 7, 7])
    found = Ratings.from_frame(frame, unit=["sample", "unit"], cluster="sample", scale="interval", levels=None)
    assert (found.value.tolist(), found.raters) == ([0.5, 1.5, 2.5], ("7", "8"))


@pytest.mark.parametrize(
    ("changed", "given", "message"),
    [
        ({}, {"unit": "claim"}, r"no column \['claim'\] for unit; there are \['sample', 'unit', 'rater', 'value'\]"),
        ({}, {"unit": []}, "for unit"),
        ({"rater": ["ann", None, "ann", "ann"]}, {}, "ratings without a rater: 1"),
        ({"sample": ["s1", "s1", None, None]}, {}, "ratings without a unit: 2"),
        ({"sample": ["s1", "s1", None, None]}, {"unit": "unit"}, "ratings without a cluster: 2"),
        ({"value": ["yes", "no", "no", "perhaps"]}, {}, "value 'perhaps' at position 3 is not one of 'no', 'yes'"),
        ({"rater": ["ann"] * 4}, {}, "rated unit .* more than once"),
    ],
)
def test_what_does_not_fit_is_said(changed, given, message):
    with pytest.raises(ValueError, match=message):
        Ratings.from_frame(table(**changed), **{"unit": ["sample", "unit"], "cluster": "sample", **BINARY, **given})


def test_what_is_undefined_is_nan_with_its_reason():
    only_value = Estimate(1.0, None, None, n=3, clusters=3, method="m", reason=remark("no_variation"))
    frame = estimates_frame({"a": Estimate(0.0, -0.5, 0.5, n=9, clusters=4, method="m"), "b": only_value, "c": none()})
    assert list(frame) == COLUMNS
    assert frame.index.names == ["figure"]
    assert frame["value"].tolist()[:2] == [0.0, 1.0]
    assert math.isnan(frame.loc["c", "value"])
    assert frame["low"].isna().tolist() == [False, True, True]
    assert frame["reason"].isna().tolist() == [True, False, False]
    assert frame.loc["c", "reason"] == "no_units"
    assert frame["n"].tolist() == [9, 3, 0]
    assert estimates_frame({"c": none().as_dict()}).equals(estimates_frame({"c": none()}))
    assert none().to_frame()["reason"].tolist() == ["no_units"]


def none():
    return Estimate.undefined(remark("no_units"))


def test_no_estimates_make_an_empty_table_of_the_same_columns():
    for names in (["figure"], ["a", "b"]):
        frame = estimates_frame({}, names)
        assert (list(frame), frame.index.names, len(frame)) == (COLUMNS, names, 0)
        assert frame.dtypes.to_dict() == none().to_frame().dtypes.to_dict()


def test_pairs_have_both_names_as_index(with_gaps):
    pairs = pairwise(with_gaps(1), interval="none")
    frame = estimates_frame({(pair.a, pair.b): pair.kappa for pair in pairs}, ["a", "b"])
    assert frame.loc[("rater 0", "rater 1"), "value"] == pairs[0].kappa.value
    assert frame.index.names == ["a", "b"]


def test_a_sweep_has_a_row_for_each_threshold():
    found = sweep([0.1, 0.4, 0.4, 0.9], [0, 1, 0, 1])
    frame = found.to_frame()
    assert frame.index.tolist() == found.thresholds.tolist()
    assert frame.loc[0.4, ["tn", "fp", "fn", "tp"]].tolist() == [1, 1, 0, 2]
    np.testing.assert_array_equal(frame["mcc"], found.mcc)  # NaN where it is undefined


def test_the_tables_of_a_report():
    figures = report_figures(evidence())
    tables = report_frames(figures)
    judge, ann = figures["judges"][0], figures["annotators"]["people"][0]
    found = tables["judges"].loc[judge["title"]]
    assert found.loc["at_threshold.kappa", "value"] == judge["at_threshold"]["kappa"]["value"]
    assert found.loc["values.pr_auc.fails", "low"] == judge["values"]["pr_auc"]["fails"]["low"]
    undefined = tables["judges"]["value"].isna()
    assert undefined.any()
    assert tables["judges"].loc[undefined, "reason"].notna().all()
    assert tables["annotators"].loc[(ann["name"], "rates.tpr"), "value"] == ann["rates"]["tpr"]["value"]
    assert tables["agreement"].loc["gwet_ac1", "high"] == figures["agreement"]["estimates"]["gwet_ac1"]["high"]
    assert tables["options"]["share"].sum() == pytest.approx(1)
    assert tables["matrix"].loc[("ann", "bob"), "value"] == tables["matrix"].loc[("bob", "ann"), "value"]
    curve = tables["thresholds"].loc[judge["title"]]
    assert curve.loc[judge["sweep"]["best"], "kappa"] == curve["kappa"].max()


@pytest.mark.parametrize("given", [{"judges": []}, {"criterion": GRADES, "values": [1, 4, 2] * 240}])
def test_the_tables_of_other_reports_have_the_same_columns(given):
    usual, found = (report_frames(report_figures(evidence(**fields))) for fields in ({}, given))
    for name, frame in found.items():
        assert frame.columns.tolist() == usual[name].columns.tolist()
        assert name == "options" or frame.dtypes.to_dict() == usual[name].dtypes.to_dict()


def test_pandas_is_loaded_by_who_asks_for_a_table_only():
    code = (
        "import sys, alignment, alignment.report\n"
        "print('pandas' in sys.modules)\n"
        "alignment.Estimate.undefined({'code': 'no_units'}).to_frame()\n"
        "print('pandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_the_same_figure_from_a_table_in_any_order():
    frame = table()
    wanted = {"unit": ["sample", "unit"], "cluster": "sample", **BINARY}
    one, other = (
        krippendorff_alpha(Ratings.from_frame(rows, **wanted), interval="none") for rows in (frame, frame[::-1])
    )
    assert one == other
