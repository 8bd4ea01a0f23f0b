"""A report can be worked out again, here from what it keeps and anywhere from its download."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import json
import os
import re
import subprocess
import sys
import zipfile
from dataclasses import asdict, replace
from io import StringIO
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.core.management import CommandError, call_command

from alignment import krippendorff_alpha
from alignment.report import (
    Before,
    Declared,
    Evidence,
    JudgeScores,
    differences,
    evidence_as_dict,
    evidence_from_dict,
)
from annotate.core.blindness import SYSTEM
from annotate.core.errors import Conflict
from annotate.models import Label, Project, User
from annotate.projects.write import set_member
from judges.api.reports_serializers import Report
from judges.models import AlignmentReport
from judges.reports.evidence import fingerprint_of, full_evidence
from judges.reports.reproduction import bundle, pack, reproduce
from judges.reports.write import freeze_report
from tests.conftest import ROOT
from tests.database import copied_from_world
from tests.judges.building import add_judge, add_samples, graded_project, scores_like, settle_all

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> AlignmentReport:
    project, samples = graded_project()
    add_judge(project, "good", samples, scores_like(samples), dimension="grade")
    scores = enumerate(scores_like(samples))
    broken = [(name, unit, None if place % 5 == 0 else score) for place, (name, unit, score) in scores]
    add_judge(project, "broken", samples, broken, dimension="grade", higher_is_better=False)
    add_judge(project, "in words", samples, [(name, "answer", "4") for name in samples], dimension="grade")
    return freeze_report(criterion=project.criteria.get(key="grade"))


report = copied_from_world()


def test_evidence_comes_back_from_json_as_it_was(report: AlignmentReport) -> None:
    evidence = _with_everything(full_evidence(report.criterion))
    back = evidence_from_dict(json.loads(json.dumps(evidence_as_dict(evidence))))
    for name in (
        "criterion",
        "seed",
        "verdicts",
        "is_dev",
        "before",
        "metadata",
        "sizes",
        "dropped",
        "measures",
        "unsettled",
        "declared",
    ):
        assert getattr(back, name) == getattr(evidence, name)
    for name in ("units", "raters", "values", "days", "seconds"):
        assert list(getattr(back, name)) == list(getattr(evidence, name))
    for name in ("judges", "earlier", "whole"):
        assert [asdict(one) for one in getattr(back, name)] == [asdict(one) for one in getattr(evidence, name)]
    assert (len(back.judges), len(back.earlier)) == (3, 1)
    # From the database its columns are numbers, from the file they are lists.
    assert fingerprint_of(back, {}) == fingerprint_of(evidence, {})
    with pytest.raises(ValueError, match="reads formats 2 and 3"):
        evidence_from_dict({"format": 1})


def test_evidence_is_packed_a_part_at_a_time_as_it_would_be_at_once(
    report: AlignmentReport, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = full_evidence(report.criterion)
    monkeypatch.setattr("judges.reports.evidence._ROWS_AT_ONCE", 2)
    for evidence in (found, _with_everything(found), _nothing()):
        assert gzip.decompress(pack(evidence)) == orjson.dumps(evidence_as_dict(evidence))


def _with_everything(evidence: Evidence) -> Evidence:
    """What few projects have: dates, gaps, earlier labels, earlier versions, answers to the same question again."""
    unit = evidence.units[0]
    return replace(
        evidence,
        days=["2026-11-21", *[None] * (len(evidence.units) - 1)],
        seconds=[4.5, *[None] * (len(evidence.units) - 1)],
        before=[Before(unit, "ann", 1)],
        earlier=[replace(evidence.judges[0], version="0", again={unit: [0.5, 1.0]})],
        metadata={unit[0]: {"topic": "tax", "length": 3, "long": False}},
        sizes={unit[0]: 3},
        dropped={unit[0]: [1]},
        whole=[replace(evidence.judges[0], dimension="faithfulness")],
        measures={"faithfulness": "faithfulness"},
        unsettled={unit: "single"},
        declared=[Declared(2, "Alice", "2026-11-21", 3)],
    )


def test_every_figure_is_the_same_whatever_happened_since(report: AlignmentReport) -> None:
    Label.objects.filter(criterion=report.criterion).update(value=1)
    assert reproduce(report) == []
    out = StringIO()
    call_command("reproduce", "desk", "1", stdout=out)
    assert out.getvalue() == "Report 1 on “grade”: every figure is the same.\n"


def test_a_figure_that_was_changed_is_found(report: AlignmentReport) -> None:
    report.refresh_from_db()
    report.result["judges"][1]["at_threshold"]["kappa"]["value"] += 1e-6
    report.save()
    err = StringIO()
    with pytest.raises(CommandError, match="Report 1 differs in 1 place"):
        call_command("reproduce", "desk", "1", stderr=err)
    assert err.getvalue().startswith("judges[1].at_threshold.kappa.value: ")
    with pytest.raises(CommandError, match="Report 9 not found"):
        call_command("reproduce", "desk", "9")


def test_the_download_recomputes_itself_without_django_or_database(report: AlignmentReport, tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(bundle(report, Report.show(report), reader=SYSTEM))) as archive:
        archive.extractall(tmp_path)
    ratings = list(csv.DictReader((tmp_path / "ratings.csv").read_text(encoding="utf-8").splitlines()))
    assert len(ratings) == 64
    assert ratings[0] == {"sample_id": "s00", "unit": "answer", "rater": "ann", "value": "1"}
    assert _recompute(tmp_path) == (0, "Report 1 on “grade”: every figure is the same.\n", "")

    evidence = json.loads((tmp_path / "evidence.json").read_text())
    evidence["ratings"]["value"][0] = 5
    (tmp_path / "evidence.json").write_text(json.dumps(evidence))
    code, out, err = _recompute(tmp_path)
    assert (code, out) == (1, "")
    assert "comes out differently" in err


def _recompute(folder: Path) -> tuple[int, str, str]:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "recompute.py"], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


def test_a_download_tells_no_reviewer_what_is_said_of_what_still_waits(report: AlignmentReport) -> None:
    """Of what no person has labelled, anywhere in the evidence: under a name for the whole, in an earlier version, as a
    label, as a failure, and as what was said again."""
    project, rita = report.project, User.objects.create_user("rita")
    set_member(project=project, user=rita, role="reviewer")
    Project.objects.filter(pk=project.pk).update(show_names=True)
    settle_all(project)
    report.project.refresh_from_db()
    assert bundle(report, {}, reader=rita)
    add_samples(project, ["waits"])
    evidence = full_evidence(report.criterion)
    waits = ("waits", "answer")
    scores: list[dict[str, Any]] = [
        {"numbers": {waits: 0.5}},
        {"labels": {waits: 4}},
        {"failed": {waits: "error"}},
        {"again": {waits: [0.5]}},
    ]
    for place, said in itertools.product(("judges", "earlier", "whole"), scores):
        one = JudgeScores("judge", "1", "grade", True, **said)
        report.evidence = pack(replace(evidence, **{place: [one]}))
        with pytest.raises(Conflict) as refused:
            bundle(report, {}, reader=rita)
        assert refused.value.code == "held_back", (place, said)


def test_the_notebook_runs_in_a_download(
    report: AlignmentReport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with zipfile.ZipFile(io.BytesIO(bundle(report, Report.show(report), reader=SYSTEM))) as archive:
        archive.extractall(tmp_path)
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "notebook.md").read_text(encoding="utf-8")
    cells = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    found: dict[str, Any] = {}
    for place, cell in enumerate(cells):
        exec(compile(cell, f"docs/notebook.md, cell {place + 1}", "exec"), found)
    figures = json.loads((tmp_path / "report.json").read_text())["figures"]
    kappas = {judge["title"]: judge["at_threshold"]["kappa"]["value"] for judge in figures["judges"]}
    assert found["kappa"]["value"].to_dict() == kappas
    assert found["undefined"]["reason"].notna().all()
    alpha = krippendorff_alpha(found["ratings"], interval="none").value
    assert alpha == figures["agreement"]["estimates"]["krippendorff_alpha_nominal"]["value"]


def test_differences() -> None:
    same = {"a": [1, 2.0, None], "b": {"c": "x"}}
    assert list(differences(same, {"a": [1, 2.0 + 1e-12, None], "b": {"c": "x"}})) == []
    assert list(differences(same, {"a": [1, 2.1, 0], "b": {}})) == [
        "a[1]: 2.0 and 2.1",
        "a[2]: None and 0",
        "b.c: 'x' and None",
    ]
    assert list(differences(True, 1)) == [": True and 1"]


def test_what_does_not_fit_together() -> None:
    with pytest.raises(ValueError, match="shorter"):
        evidence_from_dict(
            {
                **evidence_as_dict(_nothing()),
                "verdicts": {"sample": ["a"], "unit": [], "value": []},
            }
        )


def _nothing() -> Evidence:
    from alignment.report import Criterion

    asked = Criterion("grade", 1, "Grade", "answer", "ordinal", "How good?", (), ())
    return Evidence(asked, 1, [], [], [], {})
