"""The page of what a judge gets wrong: what to do first, the units of a group, and when there is nothing to show."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from annotate.labels.consensus import settle_imported
from annotate.models import Label
from config.celery import app as celery_app
from judges import celery_tasks as tasks
from judges.models import Score
from judges.reports.write import freeze_report
from tests.clients import as_user
from tests.judges.api.test_mistakes import member
from tests.judges.building import add_judge
from tests.judges.reports.test_mistakes import world

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    found: list[Any] = []
    monkeypatch.setattr(celery_app, "send_task", lambda name, args, **_: found.append(args))
    return found


def page_of(criterion: Any, judge: str = "j") -> str:
    return f"/p/p/judges/{criterion.project.judges.get(name=judge).pk}/mistakes/{criterion.key}/"


def text_of(client: Client, address: str) -> str:
    reply = client.get(address)
    assert reply.status_code == 200
    return reply.content.decode()


def asked(client: Client, address: str, sent: list[Any]) -> str:
    assert client.post(address).status_code == 302
    page = text_of(client, address)
    assert 'hx-trigger="every 2s"' in page
    tasks.find_mistakes(*sent.pop())
    return text_of(client, address)


def test_from_the_judge_to_what_to_do_first(sent: list[Any]) -> None:
    project, criterion, missed = world()
    alice = as_user(member(project, "alice"))
    address = page_of(criterion)
    freeze_report(criterion=criterion)
    link = f'href="{address}?measures=ok"'
    assert link in text_of(alice, f"/p/p/judges/{project.judges.get(name='j').pk}/")
    assert link in text_of(alice, "/p/p/reports/ok/judge/?judge=j&measures=ok")
    assert "Not grouped yet" in text_of(alice, address)
    page = asked(alice, address, sent)
    assert "Do first:" in page
    assert "Annotators write “<bdi>" in page
    assert "It passes what annotators fail." in page
    assert page.count('class="card lab-unit"') == 3
    # People's reason beside the judge's own.
    assert "The date is wrong" in page
    assert "<bdi>fine</bdi>" in page
    units = text_of(alice, f"{address}?measures=ok&group=1")
    assert units.count('class="card lab-unit"') == min(20, len(missed))
    assert alice.get(f"{address}?group=9").status_code == 404
    # A reviewer reads it as well, once all is decided; who labels doesn't.
    rita = as_user(member(project, "rita", "reviewer"))
    assert "Not grouped yet" in text_of(rita, address)
    settle_imported(project=project, criterion=criterion, needed=2)
    assert "Do first:" in text_of(rita, address)
    assert "Check label" in text_of(rita, f"{address}?group=1")
    assert as_user(member(project, "ann", "annotator")).get(address).status_code == 403


def test_labels_that_changed_since(sent: list[Any]) -> None:
    project, criterion, _ = world()
    alice = as_user(member(project, "alice"))
    assert "changed since" not in asked(alice, page_of(criterion), sent)
    Label.objects.filter(rater__name="bob").first().save()
    assert "changed since" in text_of(alice, page_of(criterion))


def test_nothing_to_group(sent: list[Any]) -> None:
    """No mistakes; so few that they are a list; numbers where nothing passes."""
    project, criterion, _ = world(wrong_every=1000)
    alice = as_user(member(project, "alice"))
    one_wrong = asked(alice, page_of(criterion), sent)
    assert "No words in common" in one_wrong or "No mistakes on the dev set" in one_wrong
    samples = {score.sample.external_id: score.sample for score in Score.objects.select_related("sample")}
    right = {label.sample.external_id: label.value for label in Label.objects.select_related("sample")}
    add_judge(project, "twin", samples, [(name, "answer", value) for name, value in right.items()], dimension="ok")
    assert "No mistakes on the dev set" in asked(alice, page_of(criterion, "twin"), sent)
    criterion.passes = []
    criterion.save()
    add_judge(project, "numbers", samples, [(name, "answer", 0.5) for name in right], dimension="ok")
    assert "Can’t be compared" in asked(alice, page_of(criterion, "numbers"), sent)
    add_judge(project, "mute", {}, [])
    assert alice.get(page_of(criterion, "mute")).status_code == 404
