"""Real data through the real commands: every figure of reference.json that they cover, to 1e-6."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from alignment.report import compare, reference_figures, reference_of
from annotate.models import Project
from frontend.reports.file import report_html
from judges.reports.evidence import evidence_of_look
from judges.reports.write import freeze_report
from tests.judges.building import shared_project
from tests.shared_data import shared_data

pytestmark = pytest.mark.django_db

MTRAG_CUTS = {key: [4] for key in ("naturalness", "appropriateness", "completeness", "faithfulness")}


def run(*arguments: str) -> Any:
    out = StringIO()
    call_command(*arguments, stdout=out)
    return json.loads(out.getvalue())


def run_settle(slug: str, key: str) -> None:
    """An admin says that one label settles a unit."""
    call_command("settle", slug, "--criterion", key, "--needed", "1", stdout=StringIO())


def close(value: float) -> Any:
    return pytest.approx(value, abs=1e-6)


def check_agreement(found: dict[str, Any], expected: dict[str, Any]) -> None:
    kappas = expected["cohen_kappa_pairwise"]["min_common_10"]
    estimates = found["estimates"]
    assert found["units"] == expected["n_units"]
    assert found["ratings"] == expected["n_ratings"]
    assert len(found["raters"]) == expected["n_raters"]
    assert estimates["cohen_kappa_mean"]["value"] == close(kappas["unweighted"]["mean"])
    weighted = estimates["cohen_kappa_mean_weighted_by_common_units"]
    assert weighted["value"] == close(kappas["unweighted"]["mean_weighted_by_common_units"])
    assert estimates["cohen_kappa_linear_mean"]["value"] == close(kappas["linear"]["mean"])
    assert estimates["cohen_kappa_quadratic_mean"]["value"] == close(kappas["quadratic"]["mean"])
    for metric, value in expected["krippendorff_alpha"].items():
        if metric != "library":
            assert estimates[f"krippendorff_alpha_{metric}"]["value"] == close(value)
    assert estimates["gwet_ac1"]["value"] == close(expected["irrcac"]["gwet_ac1"]["value"])
    assert estimates["fleiss_kappa"]["value"] == close(expected["irrcac"]["fleiss_with_missing"]["value"])
    pairs = {(pair["a"], pair["b"]): pair for pair in found["pairs"]}
    for row in expected["cohen_kappa_pairwise"]["pairs"]:
        pair = pairs[tuple(sorted(row["raters"]))]
        assert pair["n"] == row["n"]
        for ours, theirs in (("kappa", "unweighted"), ("linear", "linear"), ("quadratic", "quadratic")):
            assert pair[ours] == (None if row[theirs] is None else close(row[theirs]))


def check_judge(project: Project, key: str, judge: str, expected: dict[str, Any]) -> None:
    """On all units, as the reference values are: with the test half open, as a look has it."""
    evidence = evidence_of_look(project.criteria.get(key=key), judge)
    opened = reference_of(evidence)
    reference, row = reference_figures(opened), compare(opened, evidence.judges[0]).row
    binary = expected["binary"]
    for ours, theirs in (("spearman", "spearman"), ("kendall", "kendall_tau_b"), ("pearson", "pearson")):
        assert row[ours]["value"] == close(expected[theirs])
        assert row[ours]["n"] == expected["n"]
    assert reference["positives"] == binary["positives"]
    assert reference["ties"] == binary["ties_left_out"]
    assert row["roc_auc"]["value"] == close(binary["roc_auc"])
    assert row["roc_auc"]["n"] == binary["n"]
    assert row["sweep_best"] == {
        "threshold": close(binary["best"]["threshold"]),
        "kappa": close(binary["best"]["kappa"]),
        "optimistic": True,
        "reason": None,
    }


def test_mtrag_human() -> None:
    project = shared_project("mtrag_human", unit="answer", passes=MTRAG_CUTS)
    expected = json.loads((shared_data("mtrag_human") / "reference.json").read_text())
    for key, figures in expected["human"].items():
        found = run("agreement", project.slug, "--criterion", key, "--format", "json")
        check_agreement(found, figures)
    for key in MTRAG_CUTS:
        found = run("align", project.slug, "--criterion", key, "--format", "json")
        rows = {row["judge"]: row for row in found["judges"]}
        assert set(rows) == set(expected["judges"])
        for judge, figures in expected["judges"].items():
            check_judge(project, key, judge, figures[key])
            at = rows[judge]["at_threshold"]
            assert at["split"] == "dev"
            assert sum(map(sum, at["confusion"])) == at["kappa"]["n"] < figures[key]["binary"]["n"]
    one = run("align", project.slug, "--criterion", key, "--judge", "RL_F", "--format", "json")
    assert one["judges"] == [rows["RL_F"]]


def test_expertqa_claims() -> None:
    project = shared_project("expertqa_claims", unit="claim", passes={"support": ["complete"]})
    expected = json.loads((shared_data("expertqa_claims") / "reference.json").read_text())
    # One expert labelled each claim. Nobody said yet that this is enough.
    found = run("align", project.slug, "--criterion", "support", "--format", "json")
    assert (found["reference"]["units"], found["reference"]["unsettled"]["elsewhere"]) == (0, 2782)
    every = run("align", project.slug, "--criterion", "support", "--labels", "all", "--format", "json")
    run_settle(project.slug, "support")
    found = run("align", project.slug, "--criterion", "support", "--format", "json")
    (row,) = found["judges"]
    assert every["judges"] == found["judges"]
    check_judge(project, "support", row["judge"], expected["judges"][row["judge"]]["support"])
    # Of dev; of all units it scored 2,300 and missed 482.
    assert row["coverage"] == {"scored": 1183, "failed": 0, "missing": row["coverage"]["missing"], "unlabelled": 1}
    assert 200 < row["coverage"]["missing"] < 282
    for key, figures in expected["human"].items():
        agreement = run("agreement", project.slug, "--criterion", key, "--format", "json")
        assert (agreement["units"], len(agreement["raters"])) == (figures["n_units"], figures["n_raters"])
        assert agreement["pairs"] == []
        assert all(estimate["value"] is None and estimate["reason"] for estimate in agreement["estimates"].values())
    report = freeze_report(criterion=project.criteria.get(key="support"))
    assert len(report.result["agreement"]["raters"]) == 321
    # No two people share a claim, but some share one with the judge's dev half.
    assert [row["title"] for row in report.result["judges"]] == ["baseline_token_recall"]
    assert len(report.result["matrix"]["raters"]) == 21
    assert report.result["people"]["value"] is None
    assert "more are left out." in report_html(report)
