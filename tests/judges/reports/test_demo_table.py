"""What `make run` prints about the demo, by a real worker."""

from __future__ import annotations

import re
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotate.batches.draws_read import how_labelled
from annotate.demo import DEMO_LOGINS, DEMO_SLUG
from annotate.models import User
from judges.demo import create_demo_judges
from judges.management.commands import demo_table
from judges.models import AlignmentReport, Endpoint, Judge, JudgeVersion, Run, RunPurpose
from tests.judges.building import make_project
from tests.processes import Worker

OFFLINE = ["bm25", "citation-check", "key-fact-match", "words-in-contexts"]


def run() -> str:
    out = StringIO()
    call_command("demo_table", stdout=out)
    return out.getvalue()


def test_the_worker_makes_the_table(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    call_command("load_demo", small=True, stdout=StringIO())
    text = run()
    report = AlignmentReport.objects.get()
    assert report.project.slug == DEMO_SLUG
    # All samples that there were when the first batch was made are labelled; those that came since wait.
    came = how_labelled(report.criterion)
    assert [(row.how, row.samples, row.by, row.batch) for row in came.by] == [("all", 47, "Alma", 1)]
    assert (came.chosen, came.unfinished) == (0, 2)
    # A judge whose every decision is the same has a kappa of zero and no interval.
    interval = r"(?: \[−?\d\.\d{3}, −?\d\.\d{3}\])?"
    table = re.findall(rf"^(\S.*?)  +(−?\d\.\d{{3}}){interval}  +(\d+)  +(\d+)$", text, re.MULTILINE)
    assert len(table) == 7, text
    assert table[-1][0] == "between annotators"
    kappa = {name: float(value.replace("−", "-")) for name, value, *_ in table}
    titles = [row["title"] for row in report.result["judges"]]
    assert list(kappa)[:-1] == titles
    # One judge is good and one measures length only: a demo that did not show it would be none.
    assert max(kappa[title] for title in titles) > 0.5
    assert min(kappa[title] for title in titles) < 0.2
    for role, user, password in DEMO_LOGINS:
        assert re.search(rf"^{role} +{user} +{password}$", text, re.MULTILINE)
    # What its judges say is there already: they were run when it was loaded.
    assert {"words-in-contexts", "citation-check"} < kappa.keys()
    runs = Run.objects.filter(purpose=RunPurpose.SCORES)
    failed = {run.version.judge.name: run.planned - run.scores.filter(status="ok").count() for run in runs}
    assert failed == dict.fromkeys(OFFLINE, 0)
    assert {run.state for run in runs} == {"done"}
    assert f"Run here, again by a click: {', '.join(sorted(OFFLINE))}." in text
    assert f"which {demo_table.MODEL_COMMAND} stands in for: claim-support-llm." in text
    # Again: it is there, and no model is asked.
    monkeypatch.setattr(demo_table, "request_report", lambda **_: pytest.fail("asked again"))
    assert run() == text


@pytest.mark.django_db
def test_without_a_demo() -> None:
    assert "manage.py createsuperuser" in run()
    User.objects.create_user("sam")
    assert run() == ""


@pytest.mark.django_db
def test_without_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    call_command("load_demo", small=True, stdout=StringIO())
    monkeypatch.setattr(demo_table, "WAIT_SECONDS", 0.3)
    with pytest.raises(CommandError, match="No worker made the report within"):
        run()


@pytest.mark.django_db
def test_where_no_endpoint_on_this_machine_is_allowed(settings: Any) -> None:
    settings.JUDGE_PRIVATE_HOSTS = []
    create_demo_judges(make_project(DEMO_SLUG, criteria=["support", "relevance", "fact_in_answer"]))
    assert sorted(Judge.objects.values_list("name", flat=True)) == OFFLINE
    assert not Endpoint.objects.exists()


@pytest.mark.django_db
def test_the_model_is_asked_at_the_endpoint() -> None:
    create_demo_judges(make_project(DEMO_SLUG, criteria=["support", "relevance", "fact_in_answer"]))
    version = JudgeVersion.objects.get(judge__name="claim-support-llm")
    assert version.endpoint is not None
    assert (version.endpoint.name, version.endpoint.base_url) == ("lab", "http://127.0.0.1:8001/v1")
    assert not version.runs.exists()
