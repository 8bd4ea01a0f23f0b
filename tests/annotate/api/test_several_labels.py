"""Several labels of a task in one request, alone or with its submission: all of them or none, and once."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from annotate.models import Label, LabelEvent, Task, Verdict
from annotate.tasks import label_changes, sql
from tests.annotate.api.test_access import ask
from tests.annotate.factories import World, make_sample, say
from tests.clients import client_of


@pytest.fixture
def task(world: World) -> Task:
    make_sample(world.project)
    return world.batch(annotators=[world.ann], overlap=1).tasks.get()


def change(unit: str, criterion: str, value: Any, **more: Any) -> dict[str, Any]:
    return {"unit": unit, "criterion": criterion, "value": value, "revision": 0, "key": str(uuid.uuid4()), **more}


def whole(*, grade: Any = 4) -> list[dict[str, Any]]:
    return [
        change("claim:0", "support", "yes", active_ms=900, active_seconds=7),
        change("claim:1", "support", "no", comment="See two.", guideline_version=None),
        change("answer", "grade", grade),
    ]


def send(world: World, task: Task, labels: Any, to: str = "labels", **more: Any) -> Any:
    return ask(client_of(world.ann), "POST", f"/api/tasks/{task.pk}/{to}/", {"labels": labels, **more})


def stored() -> dict[str, Any]:
    return {label.unit: (label.value, label.comment, label.revision) for label in Label.objects.all()}


WHOLE = {"claim:0": ("yes", "", 1), "claim:1": ("no", "See two.", 1), "answer": (4, "", 1)}


def test_all_are_saved_and_repeated_they_change_nothing(world: World, task: Task) -> None:
    labels = whole()
    first = send(world, task, labels)
    assert first.status_code == 200, first.content
    assert [(one["unit"], one["value"], one["revision"]) for one in first.json()["labels"]] == [
        ("claim:0", "yes", 1), ("claim:1", "no", 1), ("answer", 4, 1),
    ]  # fmt: skip
    assert send(world, task, labels).json() == first.json()
    assert stored() == WHOLE
    assert LabelEvent.objects.count() == 3
    task.refresh_from_db()
    assert (task.status, task.active_seconds) == ("in_progress", 7)
    assert Label.objects.get(unit="claim:0").active_ms == 900


def test_new_and_old_ones_travel_together(world: World, task: Task) -> None:
    say(world.ann, task, "claim:0", "support", "no")
    again = [change("claim:0", "support", None, revision=1, comment="Not sure."), change("answer", "grade", 2)]
    assert [one["revision"] for one in send(world, task, again).json()["labels"]] == [2, 1]
    assert stored() == {"claim:0": (None, "Not sure.", 2), "answer": (2, "", 1)}


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"unit": "claim:7"}, "unknown_unit"),
        ({"unit": "nothing"}, "bad_unit"),
        ({"criterion": "tone"}, "criterion_not_asked"),
        ({"value": 17}, "not_an_option"),
        ({"value": None, "cant_tell": 3}, "bad_cant_tell"),
        ({"active_ms": -1}, "bad_active_ms"),
        ({"guideline_version": 9}, "bad_guideline_version"),
        ({"revision": 3}, "stale"),
        ({"evidence": [{}]}, "bad_evidence"),
    ],
)
def test_one_that_is_wrong_is_named_and_none_is_saved(
    world: World, task: Task, wrong: dict[str, Any], code: str
) -> None:
    labels = [change("claim:0", "support", "yes"), {**change("claim:1", "support", "no"), **wrong}]
    for to in ("labels", "submit"):
        refused = send(world, task, labels, to)
        assert refused.status_code == 422
        assert refused.json()["error"]["code"] == "labels_refused"
        assert [(one["row"], one["code"]) for one in refused.json()["problems"]] == [(2, code)]
    assert stored() == {}


@pytest.mark.parametrize(
    ("labels", "code"),
    [
        ("all", "bad_list"),
        ([7], "not_an_object"),
        ([{}], "missing_field"),
        ([{**change("answer", "grade", 1), "key": "k"}], "bad_key"),
        ([{**change("answer", "grade", 1), "revision": "one"}], "bad_number"),
        ([{**change("answer", "grade", 1), "rater": "ben"}], "unknown_field"),
        ([change("answer", "grade", 1), change("answer", "grade", 2)], "label_twice"),
        ([change(f"claim:{n}", "support", "yes") for n in range(label_changes.MAX_CHANGES + 1)], "too_many_labels"),
        ([{**change("answer", "grade", 1), "active_seconds": "long"}], "bad_active_seconds"),
    ],
)
def test_what_are_no_labels_is_refused(world: World, task: Task, labels: Any, code: str) -> None:
    for to in ("labels", "submit"):
        refused = send(world, task, labels, to)
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, code)
    assert stored() == {}


def test_a_key_stands_for_one_label(world: World, task: Task) -> None:
    key = str(uuid.uuid4())
    said = [change("claim:0", "support", "yes", key=key), change("claim:1", "support", "no", key=key)]
    assert send(world, task, said).json()["error"]["code"] == "label_twice"
    say(world.ann, task, "answer", "grade", 4, key=uuid.UUID(key))
    refused = send(world, task, [said[0], change("claim:1", "support", "no")])
    assert [(one["row"], one["code"]) for one in refused.json()["problems"]] == [(1, "key_reused")]
    assert set(stored()) == {"answer"}


def test_a_submission_takes_along_what_is_not_saved_yet(world: World, task: Task) -> None:
    labels = whole()
    say(world.ann, task, labels[0]["unit"], "support", "yes", key=uuid.UUID(labels[0]["key"]))
    for _ in range(2):
        done = send(world, task, labels, "submit", active_seconds=3)
        assert (done.status_code, done.json()["status"]) == (200, "submitted")
    assert stored() == WHOLE
    assert LabelEvent.objects.count() == 3
    assert Verdict.objects.filter(state="settled").count() == 3
    task.refresh_from_db()
    assert task.active_seconds == 7
    late = send(world, task, [change("answer", "grade", 1, revision=1)], "submit")
    assert (late.status_code, late.json()["error"]["code"]) == (409, "task_submitted")
    assert stored() == WHOLE


@pytest.mark.parametrize("is_taken_back", [True, False])
def test_a_submission_that_lacks_something_saves_nothing(world: World, task: Task, is_taken_back: bool) -> None:
    """What is taken back with it is lacking as well."""
    labels = [whole()[0], whole()[2]]
    if is_taken_back:
        say(world.ann, task, "claim:1", "support", "yes")
        labels.append(change("claim:1", "support", None, revision=1))
    refused = send(world, task, labels, "submit")
    assert refused.json()["missing"] == [{"unit": "claim:1", "criterion": "support"}]
    assert set(stored()) == ({"claim:1"} if is_taken_back else set())


def test_cant_tell_completes_a_task(world: World, task: Task) -> None:
    labels = [*whole()[:2], change("answer", "grade", None, cant_tell="Broken.")]
    assert send(world, task, labels, "submit").status_code == 200


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("to", ["labels", "submit"])
def test_what_changes_between_reading_and_writing_stops_all_of_it(
    world: World, task: Task, monkeypatch: pytest.MonkeyPatch, to: str
) -> None:
    """Another tab saves one of the labels after this request has read it."""
    write, meanwhile = sql.write_labels, [True]

    def late(**given: Any) -> bool:
        if meanwhile.pop() if meanwhile else False:
            _elsewhere(lambda: say(world.ann, task, "claim:1", "support", "unsure"))
        return write(**given)

    monkeypatch.setattr("annotate.tasks.labelling.write_labels", late)
    refused = send(world, task, whole(), to)
    assert [(one["row"], one["code"]) for one in refused.json()["problems"]] == [(2, "stale")]
    assert stored() == {"claim:1": ("unsure", "", 1)}
    task.refresh_from_db()
    assert task.status == "in_progress"


@pytest.mark.django_db(transaction=True)
def test_the_same_request_sent_by_many_at_once_is_one(world: World, task: Task) -> None:
    labels, replies = whole(), []
    start = threading.Barrier(8)

    def submit() -> None:
        start.wait()
        replies.append(send(world, task, labels, "submit").status_code)
        connection.close()

    threads = [threading.Thread(target=submit) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert set(replies) == {200}
    assert stored() == WHOLE
    assert LabelEvent.objects.count() == 3


def _elsewhere(act: Callable[[], Any]) -> None:
    def run() -> None:
        act()
        connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
