"""What a deleted account leaves to reports: they are not out of date, and every figure is the same."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest

from annotate.members.account_deletion import delete_account
from annotate.models import Rater, User
from judges.reports.evidence import align
from judges.reports.read import data_version
from judges.reports.reproduction import reproduce
from judges.reports.write import freeze_report
from tests.judges.building import add_judge, graded_project, scores_like

pytestmark = pytest.mark.django_db


in_one_order = partial(json.dumps, sort_keys=True)


def named(figures: Any, name: str) -> Any:
    """The figures with this name for Ann, and lists in one order: people stand in that of their names."""
    if isinstance(figures, dict):
        return {key: named(value, name) for key, value in figures.items()}
    if isinstance(figures, list):
        return sorted((named(one, name) for one in figures), key=in_one_order)
    return name if figures == "ann" else figures


def test_figures_stay_and_so_does_the_report() -> None:
    project, samples = graded_project()
    add_judge(project, "good", samples, scores_like(samples), dimension="grade")
    grade = project.criteria.get(key="grade")
    ann = User.objects.create_user("ann")
    Rater.objects.filter(project=project, name="ann").update(user=ann)
    report = freeze_report(criterion=grade)
    before, version, stored = align(grade), data_version(grade), (report.fingerprint, report.result)

    pseudonym = delete_account(actor=None, user=ann, confirm="ann")

    assert data_version(grade) == version
    report.refresh_from_db()
    assert (report.fingerprint, report.result) == stored
    assert reproduce(report) == []
    assert align(grade) == before
    # Another report: who asks for one gets the same figures under the pseudonym.
    anew = freeze_report(criterion=grade)
    assert anew.fingerprint != report.fingerprint
    assert named(anew.result, pseudonym) == named(report.result, pseudonym)
    assert "ann" not in anew.result["agreement"]["raters"]
