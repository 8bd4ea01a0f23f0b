"""What `make run` prints about the demo, by a real worker."""

from __future__ import annotations

import re
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotate.demo import DEMO_LOGINS, DEMO_SLUG
from judges.management.commands import demo_table
from judges.models import AlignmentReport
from tests.conftest import Worker


def run() -> str:
    out = StringIO()
    call_command("demo_table", stdout=out)
    return out.getvalue()


def test_the_worker_makes_the_table(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    call_command("load_demo", stdout=StringIO())
    text = run()
    report = AlignmentReport.objects.get()
    assert report.project.slug == DEMO_SLUG
    # A judge whose every decision is the same has a kappa of zero and no interval.
    interval = r"(?: \[-?\d\.\d{3}, -?\d\.\d{3}\])?"
    table = re.findall(rf"^(\S.*?)  +(-?\d\.\d{{3}}){interval}  +(\d+)  +(\d+)$", text, re.MULTILINE)
    assert len(table) == 5, text
    assert table[-1][0] == "people with each other"
    kappa = {name: float(value) for name, value, *_ in table}
    titles = [row["title"] for row in report.result["judges"]]
    assert list(kappa)[:-1] == titles
    # One judge is good and one measures length only: a demo that did not show it would be none.
    assert max(kappa[title] for title in titles) > 0.5
    assert min(kappa[title] for title in titles) < 0.2
    for role, user, password in DEMO_LOGINS:
        assert re.search(rf"^{role} +{user} +{password}$", text, re.MULTILINE)
    # Again: it is there, and nobody is asked.
    monkeypatch.setattr(demo_table, "request_report", lambda **_: pytest.fail("asked again"))
    assert run() == text


@pytest.mark.django_db
def test_without_a_demo() -> None:
    with pytest.raises(CommandError, match="There is no project “demo”"):
        run()


@pytest.mark.django_db
def test_without_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    call_command("load_demo", stdout=StringIO())
    monkeypatch.setattr(demo_table, "WAIT_SECONDS", 0.3)
    with pytest.raises(CommandError, match="No worker made the report within"):
        run()
