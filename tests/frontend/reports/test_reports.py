import html
import json
import re
from collections.abc import Callable
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate.models import Project, User, Verdict
from annotate.projects.criteria import add_criteria
from annotate.projects.read import one_criterion
from config.celery import app as celery_app
from frontend.base import pages
from judges.reports.blind_read import LOCKED_SINCE
from judges.reports.write import freeze_report
from tests.annotate.factories import decide_unit
from tests.clients import as_user

URL = "/p/help/reports/support/"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The criteria for which the worker was asked for a report."""
    found: list[int] = []
    monkeypatch.setattr(celery_app, "send_task", lambda name, args, **_: found.append(args[0]))
    return found


@pytest.mark.usefixtures("disputes")
def test_a_button_asks_for_the_first_report(
    rita: User,
    project: Project,
    asked: list[int],
    django_capture_on_commit_callbacks: Callable[..., object],
) -> None:
    client = as_user(rita)
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[attr-defined]
        text = client.get(URL).content.decode()
        assert asked == [], "looking asks for nothing"
        assert "It is created 5 minutes after the last change" in text
        assert "Create it now" in text
        assert client.post(URL).url == URL
        text = client.get(URL).content.decode()
    assert asked == [one_criterion(project, "support").pk]
    assert "is being created" in text
    assert f'hx-get="{URL}status/"' in text
    assert "HX-Refresh" not in client.get(f"{URL}status/")


@pytest.mark.usefixtures("disputes", "asked")
def test_shows_the_report_and_says_when_it_is_out_of_date(
    rita: User, project: Project, disputes: list[Verdict]
) -> None:
    client = as_user(rita)
    freeze_report(criterion=one_criterion(project, "support"))
    text = client.get(URL).content.decode()
    assert "Between annotators" in text
    assert "No judge has scores for this criterion yet." in text
    # Two people share two units: too few to read a kappa into.
    assert "of fewer than 10 units" in text
    assert "on 2 common units: too few to rely on" in text
    assert "Update report" not in text
    assert client.get(f"{URL}status/")["HX-Refresh"] == "true"
    decide_unit(rita, disputes[0], "supported", "So it is.")
    text = client.get(URL).content.decode()
    assert "Update report" in text
    assert "It is updated 5 minutes after the last change" in text
    assert client.post(URL).url == URL
    assert "A new report is being created" in client.get(URL).content.decode()


@pytest.mark.usefixtures("disputes")
def test_in_a_large_project_the_page_opens_before_it_is_known(
    rita: User, project: Project, disputes: list[Verdict], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It asks for that part alone, of the same labels; without JavaScript it links to itself."""
    monkeypatch.setattr(pages, "MANY", 1)
    client = as_user(rita)
    for labels in ("settled", "all"):
        freeze_report(criterion=one_criterion(project, "support"), labels=labels)
    for query, more in (("", ""), ("?labels=all", "&amp;labels=all")):
        with CaptureQueriesContext(connection) as queries:
            opened = client.get(URL + query).content.decode()
        assert not [one for one in queries if "sum(revision)" in one["sql"]], "labels are counted"
        assert "Between annotators" in opened
        assert f'hx-get="{URL}status/?figures=1{more}"' in opened
        assert "htmx" in opened.split("</head>")[0]
        (link,) = re.findall(r'<noscript><p><a href="([^"]+)">Check for changes', opened)
        asked = client.get(f"{URL}status/?figures=1{html.unescape(more)}")
        assert "HX-Refresh" not in asked
        for text in (asked.content.decode(), client.get(html.unescape(link)).content.decode()):
            assert text.count('id="report-status"') == 1
            assert "Checking" not in text
            assert "Update report" not in text
    decide_unit(rita, disputes[0], "supported", "So it is.")
    assert "Update report" not in client.get(URL).content.decode()
    assert "Update report" in client.get(f"{URL}status/?figures=1").content.decode()


@pytest.mark.usefixtures("disputes")
def test_downloads(rita: User, alice: User, project: Project) -> None:
    client = as_user(rita)
    freeze_report(criterion=one_criterion(project, "support"))
    page = client.get(f"{URL}1.html")
    assert 'filename="help-support-report-1.html"' in page["Content-Disposition"]
    assert "<style>" in page.content.decode()
    assert json.loads(client.get(f"{URL}1.json").content)["criterion"] == "support"
    # Who said what, and what judges said of what is not decided, can't be left out of it.
    assert "Ask an admin for it" in client.get(f"{URL}1.zip", follow=True).content.decode()
    Project.objects.update(show_names=True)
    assert "still have to label or decide" in client.get(f"{URL}1.zip", follow=True).content.decode()
    with ZipFile(BytesIO(as_user(alice).get(f"{URL}1.zip").content)) as archive:
        assert set(archive.namelist()) == {"report.json", "evidence.json", "ratings.csv", "recompute.py"}
    for wrong in (f"{URL}2.json", f"{URL}1.exe", "/p/help/reports/relevance/1.json", "/p/help/reports/none/"):
        assert client.get(wrong).status_code == 404


@pytest.mark.usefixtures("disputes")
def test_an_annotator_may_not_download(ben: User, charlie: User, project: Project) -> None:
    freeze_report(criterion=one_criterion(project, "support"))
    assert as_user(ben).get(f"{URL}1.json").status_code == 403
    assert as_user(charlie).get(f"{URL}1.json").status_code == 404


@pytest.mark.usefixtures("disputes")
def test_the_number_of_queries_does_not_grow(rita: User, project: Project) -> None:
    client = as_user(rita)
    client.get("/p/help/reports/")
    with CaptureQueriesContext(connection) as few:
        client.get("/p/help/reports/")
    for criterion in add_criteria(project=project, specs=["support", "relevance", "failure"]):
        freeze_report(criterion=criterion)
    with CaptureQueriesContext(connection) as many:
        client.get("/p/help/reports/")
    assert len(many) == len(few)


def test_the_overview_shows_every_criterion_and_asks_for_what_is_missing(
    rita: User,
    project: Project,
    asked: list[int],
    django_capture_on_commit_callbacks: Callable[..., object],
) -> None:
    client = as_user(rita)
    criteria = {criterion.key: criterion.pk for criterion in project.criteria.all()}
    freeze_report(criterion=one_criterion(project, "support"))
    text = client.get("/p/help/reports/").content.decode()
    assert "No judge has scores yet" not in text, "it has no labels either"
    assert text.count("No labels yet") == 1
    assert text.count("No report yet") == len(criteria) - 1
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[attr-defined]
        shown = client.post("/p/help/reports/", follow=True).content.decode()
    assert sorted(asked) == sorted(pk for key, pk in criteria.items() if key != "support")
    assert "being created" in shown


def test_it_is_said_only_where_it_is_so_that_the_worker_makes_one(
    rita: User, project: Project, disputes: list[Verdict], settings: Any
) -> None:
    add_criteria(project=project, specs=["failure"])
    client = as_user(rita)
    assert "minutes after the last change" in client.get(URL).content.decode()
    # There are no labels by it.
    assert "after the last change" not in client.get("/p/help/reports/failure/").content.decode()
    settings.REPORTS_AFTER_MINUTES = 1
    assert "It is created 1 minute after the last change" in client.get(URL).content.decode()
    settings.REPORTS_AFTER_MINUTES = 0
    assert "after the last change" not in client.get(URL).content.decode()


def test_a_report_of_an_earlier_way_of_reckoning_is_not_shown(rita: User, project: Project) -> None:
    old = freeze_report(criterion=one_criterion(project, "support"))
    old.parameters["figures"] = LOCKED_SINCE - 1
    old.result = {"people": "of earlier versions", "judges": ["with figures of the test half"]}
    old.save()
    client = as_user(rita)
    assert "No report yet." in client.get(URL).content.decode()
    assert "No report yet" in client.get("/p/help/reports/").content.decode()
    assert "still available as JSON" in client.get(f"{URL}{old.number}.html", follow=True).content.decode()
    assert json.loads(client.get(f"{URL}{old.number}.json").content)["result"] == {"people": "of earlier versions"}
