"""`manage.py agreement` and `manage.py align`: what they print, in which form, and how they refuse."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotate.models import Project
from tests.conftest import ROOT
from tests.database import copied_from_world
from tests.judges.building import add_judge, graded_project, scores_like

pytestmark = pytest.mark.django_db

ESTIMATE = {"value", "low", "high", "n", "clusters", "method", "reason"}
ESTIMATES = [
    "percent_agreement",
    "cohen_kappa_mean",
    "cohen_kappa_mean_weighted_by_common_units",
    "cohen_kappa_linear_mean",
    "cohen_kappa_quadratic_mean",
    "scott_pi_mean",
    "fleiss_kappa",
    "krippendorff_alpha_nominal",
    "krippendorff_alpha_ordinal",
    "krippendorff_alpha_interval",
    "krippendorff_alpha_ratio",
    "icc_one_way",
    "icc_agreement",
    "icc_consistency",
    "gwet_ac1",
    "gwet_ac2_linear",
    "gwet_ac2_quadratic",
    "brennan_prediger",
]
CORRELATIONS = {"spearman", "kendall", "pearson", "roc_auc"}
RATES = {"kappa", "tpr", "tnr", "f1", "precision", "accuracy", "mcc", "ac1"}


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> Project:
    project, samples = graded_project()
    add_judge(project, "good", samples, scores_like(samples), dimension="grade")
    add_judge(project, "bad | judge", samples, scores_like(samples, wrong_every=2), dimension="grade")
    return project


project = copied_from_world()


def run(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def run_json(*arguments: str) -> Any:
    def refuse(constant: str) -> None:
        pytest.fail(f"{constant} is no JSON")

    return json.loads(run(*arguments, "--format", "json"), parse_constant=refuse)


def is_estimate(value: dict[str, Any]) -> bool:
    return set(value) == {*ESTIMATE, "level"} and (value["value"] is not None or bool(value["reason"]))


def test_agreement_as_json(project: Project) -> None:
    found = run_json("agreement", "desk", "--criterion", "grade")
    assert list(found) == ["criterion", "scale", "units", "ratings", "raters", "estimates", "pairs", "version"]
    assert (found["criterion"], found["scale"]) == ("grade", "ordinal")
    assert (found["units"], found["ratings"], found["raters"]) == (32, 64, ["ann", "ben"])
    assert list(found["estimates"]) == ESTIMATES
    assert all(map(is_estimate, found["estimates"].values()))
    (pair,) = found["pairs"]
    assert set(pair) == {"a", "b", "n", "kappa", "linear", "quadratic"} | {"low", "high", "reason"}
    assert (pair["a"], pair["b"], pair["n"]) == ("ann", "ben", 32)
    assert pair["kappa"] == found["estimates"]["cohen_kappa_mean"]["value"]
    assert pair["kappa"] < pair["linear"] < pair["quadratic"] < 1


def test_align_as_json(project: Project) -> None:
    found = run_json("align", "desk", "--criterion", "grade")
    assert list(found) == ["criterion", "version", "reference", "judges"]
    assert {"method", "units", "positives", "ties"} <= set(found["reference"])
    assert [row["judge"] for row in found["judges"]] == ["bad | judge", "good"]
    for row in found["judges"]:
        assert {"judge", "version", "coverage", *CORRELATIONS, "at_threshold", "sweep_best"} <= set(row)
        assert {"scored", "failed", "missing"} <= set(row["coverage"])
        assert all(is_estimate(row[name]) for name in CORRELATIONS)
        at = row["at_threshold"]
        assert set(at) == {"threshold", "split", *RATES, "confusion", "left_out", "reason"}
        assert all(is_estimate(at[name]) for name in RATES)
        assert at["split"] == "dev"
        (tn, fp), (fn, tp) = at["confusion"]
        assert tn + fp + fn + tp == at["kappa"]["n"] == at["kappa"]["clusters"]
        assert at["tpr"]["value"] == pytest.approx(tp / (fn + tp))
        assert at["tnr"]["value"] == pytest.approx(tn / (tn + fp))
        assert set(row["sweep_best"]) == {"threshold", "kappa", "optimistic", "reason"}
        assert row["sweep_best"]["optimistic"] is True


def test_the_same_twice(project: Project) -> None:
    for command in ("agreement", "align"):
        assert run(command, "desk", "--criterion", "grade") == run(command, "desk", "--criterion", "grade")


def test_one_judge_has_the_figures_it_has_among_all(project: Project) -> None:
    every = run_json("align", "desk", "--criterion", "grade")["judges"]
    (one,) = run_json("align", "desk", "--criterion", "grade", "--judge", "good")["judges"]
    assert one == every[1]


def test_tables(project: Project) -> None:
    people = run("agreement", "desk", "--criterion", "grade")
    assert "64 ratings of 32 units by 2 raters" in people
    assert "ann – ben" in people
    assert all(name in people for name in ESTIMATES)
    judges = run("align", "desk", "--criterion", "grade")
    assert "verdict where there is one, else the majority of the labels; ties left out; " in judges
    assert "The test half stays closed until somebody looks" in judges
    assert {line.split("  ")[0] for line in judges.splitlines()} >= {"judge", "good", "bad | judge"}


def test_markdown(project: Project) -> None:
    text = run("align", "desk", "--criterion", "grade", "--format", "markdown")
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len(table) == 4
    # A bar in a name would be one more column.
    assert {line.replace("\\|", "").count("|") for line in table} == {table[0].count("|")}
    assert "bad \\| judge" in text


def test_html_without_storing_a_report(project: Project) -> None:
    text = run("align", "desk", "--criterion", "grade", "--format", "html", "--judge", "good")
    assert text.startswith("<!doctype html>")
    assert ">good<" in text
    assert "bad | judge" not in text
    assert not project.reports.exists()


@pytest.mark.parametrize("form", ["json", "table", "markdown", "html"])
def test_out(form: str, project: Project, tmp_path: Path) -> None:
    path = tmp_path / "out"
    arguments = ["align", "desk", "--criterion", "grade", "--format", form]
    assert run(*arguments, "--out", str(path)) == f"Wrote {path}.\n"
    assert path.read_text(encoding="utf-8") == run(*arguments)


@pytest.mark.parametrize("command", ["agreement", "align"])
@pytest.mark.parametrize(
    ("slug", "key", "named"),
    [("nowhere", "grade", ["nowhere", "desk"]), ("desk", "nothing", ["nothing", "support, grade, relevance"])],
)
def test_unknown_names(command: str, slug: str, key: str, named: list[str], project: Project) -> None:
    with pytest.raises(CommandError) as refused:
        run(command, slug, "--criterion", key)
    assert all(name in str(refused.value) for name in named)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("form", ["json", "table", "markdown", "html"])
def test_an_unknown_judge(form: str, project: Project) -> None:
    with pytest.raises(CommandError, match=r"^Judge “nobody” not found in “desk”\. Judges: bad \| judge, good\.$"):
        run("align", "desk", "--criterion", "grade", "--judge", "nobody", "--format", form)


def test_a_file_that_cannot_be_written(project: Project, tmp_path: Path) -> None:
    path = tmp_path / "missing" / "out"
    with pytest.raises(CommandError, match="No such file or directory"):
        run("align", "desk", "--criterion", "grade", "--out", str(path))


@pytest.mark.parametrize(
    "arguments",
    [
        ["agreement", "desk", "--criterion", "grade", "--format", "html"],
        ["align", "desk", "--criterion", "grade", "--format", "pdf"],
        ["align", "desk"],
        ["align"],
    ],
)
def test_bad_arguments(arguments: list[str], project: Project) -> None:
    with pytest.raises(CommandError, match=r"^Error: "):
        call_command(*arguments)


def test_an_error_is_one_line_and_an_exit_code() -> None:
    from django.db import connection

    name, host = connection.settings_dict["NAME"], connection.settings_dict["HOST"]
    user = connection.settings_dict["USER"]
    environment = {**os.environ, "DATABASE_URL": f"postgresql://{user}@/{name}?host={host}"}
    done = subprocess.run(
        [sys.executable, "manage.py", "align", "nowhere", "--criterion", "grade"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == "CommandError: There is no project “nowhere”. Projects: none yet.\n"
