"""What a judge gets wrong by API: asked for, found by the worker, kept; and without what a reader must not know yet."""

from __future__ import annotations

from typing import Any

import pytest
from kombu.exceptions import OperationalError

from annotate.models import Label, User
from annotate.projects.write import set_member
from config.celery import app as celery_app
from judges import celery_tasks as tasks
from tests.annotate.factories import make_batch
from tests.clients import client_of
from tests.judges.reports.test_mistakes import world

pytestmark = pytest.mark.django_db


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    found: list[Any] = []
    monkeypatch.setattr(celery_app, "send_task", lambda name, args, **_: found.append((name, args)))
    return found


def member(project: Any, name: str, role: str = "admin") -> User:
    user = User.objects.create_user(name)
    set_member(project=project, user=user, role=role)
    return user


def address(criterion: Any) -> str:
    judge = criterion.project.judges.get(name="j")
    return f"/api/projects/p/judges/{judge.pk}/mistakes/{criterion.key}/"


def state(user: User, criterion: Any) -> dict[str, Any]:
    reply = client_of(user).get(address(criterion))
    assert reply.status_code == 200, reply.content
    return reply.json()


def ask(user: User, criterion: Any, sent: list[Any]) -> None:
    assert client_of(user).post(address(criterion), {}, format="json").status_code == 202
    while sent:
        name, args = sent.pop()
        assert name == tasks.find_mistakes.name
        tasks.find_mistakes(*args)


def test_from_the_request_to_the_result(sent: list[Any]) -> None:
    project, criterion, missed = world()
    alice, carl = member(project, "alice"), member(project, "carl")
    nothing = {"found": None, "made_at": None, "is_out_of_date": None, "is_pending": False}
    assert state(alice, criterion) == nothing
    replies = [client_of(alice).post(address(criterion), {}, format="json") for _ in range(2)]
    assert [one.json()["requested"] for one in replies] == [True, False]
    assert replies[0]["Location"].endswith(f"{address(criterion)}?dimension=ok")
    assert state(alice, criterion) == {**nothing, "is_pending": True}
    ask(alice, criterion, sent)
    found = state(alice, criterion)
    assert (found["is_pending"], found["is_out_of_date"]) == (False, False)
    assert (found["found"]["wrong"], found["found"]["held_back"]) == (len(missed), 0)
    # One for all readers, who need not ask again.
    assert state(carl, criterion)["found"] == found["found"]
    ask(carl, criterion, sent)
    assert state(alice, criterion) == found
    label = Label.objects.filter(rater__name="bob").first()
    label.revision += 1
    label.save()
    assert state(carl, criterion)["is_out_of_date"]
    ask(carl, criterion, sent)
    after = state(alice, criterion)
    assert after["made_at"] > found["made_at"]
    assert not after["is_out_of_date"]


def test_who_still_has_to_label_gets_a_result_of_their_own(sent: list[Any]) -> None:
    """Also where the samples came to them after the result for all was made."""
    project, criterion, missed = world()
    alice, bea = member(project, "alice"), member(project, "bea")
    ask(alice, criterion, sent)
    held_back = set(sorted(missed)[:4])
    make_batch(project, [bea], samples=sorted(held_back))
    assert state(bea, criterion)["found"] is None
    ask(bea, criterion, sent)
    found = state(bea, criterion)["found"]
    assert (found["held_back"], found["wrong"]) == (4, len(missed) - 4)
    (way,) = found["directions"]
    assert {one["sample"] for group in (*way["groups"], way["rest"]) for one in group["listed"]} == missed - held_back
    assert state(alice, criterion)["found"]["wrong"] == len(missed)


def test_what_is_refused(sent: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    project, criterion, _ = world()
    alice, ann = member(project, "alice"), member(project, "ann", "annotator")
    assert client_of(ann).get(address(criterion)).status_code == 403
    assert client_of(ann).post(address(criterion), {}, format="json").status_code == 403
    reply = client_of(alice).get(f"{address(criterion)}?dimension=other")
    assert reply.status_code == 404
    assert "has no scores" in reply.json()["error"]["message"]

    def away(*_: object, **__: object) -> None:
        raise OperationalError("no")

    monkeypatch.setattr(celery_app, "send_task", away)
    assert client_of(alice).post(address(criterion), {}, format="json").status_code == 503
    assert not state(alice, criterion)["is_pending"]
