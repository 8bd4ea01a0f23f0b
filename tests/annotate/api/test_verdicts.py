"""Reviewers' and annotators' routes about verdicts: the queue's parts, sending back, settling many, lessons."""

from __future__ import annotations

import json
from typing import Any

import pytest

from annotate.models import Batch, Verdict
from tests.annotate.factories import World, finish, make_samples
from tests.clients import client_of
from tests.judges.building import add_judge

DESK = "/api/projects/desk/"


@pytest.fixture
def batch(world: World) -> Batch:
    """Ann and Ben disagree about the answers of two samples and agree about their claims."""
    make_samples(world.project, 2)
    batch = world.batch(annotators=[world.ann, world.ben])
    for task in batch.tasks.order_by("id"):
        finish(task, support="yes", grade=1 if task.annotator == world.ann else 5)
    return batch


def ask(user: Any, method: str, path: str, body: Any = None, **headers: str) -> Any:
    return client_of(user).generic(
        method, DESK + path, None if body is None else json.dumps(body), "application/json",
        headers=headers,
    )  # fmt: skip


def test_parts_of_the_queue(world: World, batch: Batch) -> None:
    def count(query: str) -> Any:
        reply = ask(world.rita, "GET", f"disputes/?{query}")
        return reply.json()["count"] if reply.status_code == 200 else (reply.status_code, reply.json()["error"]["code"])

    assert count("") == count(f"batch={batch.number}") == count("state=disputed") == count("order=sample") == 2
    assert count("batch=99") == count("state=reopened") == count("state=returned") == count("state=short") == 0
    assert count("state=lost") == count("order=new") == (422, "bad_choice")
    assert count("batch=x") == (422, "bad_number")
    page = ask(world.rita, "GET", "disputes/?limit=1&offset=1").json()
    assert (page["count"], len(page["results"])) == (2, 1)


def test_sending_back(world: World, batch: Batch) -> None:
    verdict = Verdict.objects.filter(state="disputed").first()
    assert verdict is not None
    url = f"disputes/{verdict.pk}/"
    shown = ask(world.rita, "GET", url).json()
    assert shown["unit_text"] == shown["sample"]["answer"]
    letters = {label["value"]: label["letter"] for label in shown["labels"]}
    reply = ask(world.rita, "POST", url + "return/", {"annotator": letters[1], "message": "Look again."})
    assert (reply.status_code, reply.json()) == (200, {"annotator": letters[1], "status": "returned"})
    assert ask(world.rita, "GET", "disputes/?state=returned").json()["count"] == 1
    assert ask(world.rita, "GET", "disputes/").json()["count"] == 1
    assert [label["returned"] for label in ask(world.rita, "GET", url).json()["labels"] if label["value"] == 1] == [
        True
    ]
    assert ask(world.rita, "POST", url + "return/", {"annotator": "Z", "message": "No."}).status_code == 422
    assert ask(world.rita, "POST", url + "return/", {"annotator": letters[5], "message": " "}).status_code == 422


def test_settling_many_at_once(world: World, batch: Batch) -> None:
    Verdict.objects.filter(unit="claim:0").update(state="disputed", value=None, method="", confidence=None)
    given: dict[str, Any] = {"agreement": 0.66}
    preview = ask(world.rita, "POST", "disputes/accept/", {**given, "dry_run": True}).json()
    assert (preview["considered"], preview["would_settle"], preview["more"]) == (4, 2, 0)
    assert preview["by_value"] == [{"criterion": "support", "value": "yes", "n": 2}]
    given |= {"seen": preview["seen"], "reason": "All agree."}
    for _ in range(2):
        reply = ask(world.rita, "POST", "disputes/accept/", given)
        assert (reply.status_code, reply.json()) == (200, {"settled": 2, "left": 0})
    assert Verdict.objects.filter(method="accepted").count() == 2


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 422, "no_reason"),
        ({"dry_run": True}, 422, "bad_agreement"),
        ({"dry_run": "yes"}, 422, "bad_dry_run"),
        ({"method": "chance"}, 422, "bad_method"),
        ({"method": "dawid_skene", "dry_run": True}, 422, "unknown_criterion"),
        ({"method": "dawid_skene", "dry_run": True, "criterion": "grade"}, 409, "not_identified"),
        ({"method": "dawid_skene", "criterion": "grade", "seen": [[1, 1, 4]], "reason": 5}, 422, "no_reason"),
        ({"agreement": 0.7, "votes": "2", "dry_run": True}, 422, "bad_votes"),
        ({"agreement": 0.7, "batch": "one", "dry_run": True}, 422, "bad_number"),
        ({"agreement": 0.7, "criterion": 5, "dry_run": True}, 422, "unknown_criterion"),
        ({"agreement": 0.7, "why": 1}, 422, "unknown_field"),
    ],
)
def test_bad_acceptances(world: World, batch: Batch, body: Any, status: int, code: str) -> None:
    reply = ask(world.rita, "POST", "disputes/accept/", body)
    assert (reply.status_code, reply.json()["error"]["code"]) == (status, code)


def test_lessons(world: World, batch: Batch) -> None:
    verdict = Verdict.objects.get(sample__external_id="s1", unit="answer")
    ask(world.rita, "PUT", f"disputes/{verdict.pk}/", {"value": 5, "reason": "It says nine."}, **{"If-Match": "1"})
    assert ask(world.ann, "GET", "lessons/").json()["count"] == 0, "labelling goes on"
    Batch.objects.filter(pk=batch.pk).update(status="closed")
    (lesson,) = ask(world.ann, "GET", "lessons/").json()["results"]
    assert (lesson["mine"], lesson["verdict"], lesson["reason"], lesson["is_new"]) == (1, 5, "It says nine.", True)
    assert not {"who", "decided_by", "votes", "labels"} & set(lesson)
    assert ask(world.ben, "GET", "lessons/").json()["count"] == 0
    assert ask(world.ann, "GET", "lessons/?criterion=support").json()["count"] == 0
    assert ask(world.ann, "POST", "lessons/", {"read": [lesson["id"]]}).json() == {"marked": 1}
    assert ask(world.ann, "GET", "lessons/").json()["results"][0]["is_new"] is False
    for bad in ("all", [1.5], [None], list(range(1001))):
        assert ask(world.ann, "POST", "lessons/", {"read": bad}).status_code == 422


def test_no_judge_is_in_what_a_reviewer_reads(world: World, batch: Batch) -> None:
    verdict = Verdict.objects.filter(state="disputed").first()
    assert verdict is not None
    rows = [("s", "answer", 4.0625)]
    add_judge(world.project, "okapi", {"s": verdict.sample}, rows, dimension="grade", rationale="okapi says")
    world.project.show_judges = True
    world.project.save()
    ask(world.rita, "PUT", f"disputes/{verdict.pk}/", {"value": 5, "reason": "So."}, **{"If-Match": "1"})
    for path in ("disputes/", f"disputes/{verdict.pk}/", "lessons/"):
        text = ask(world.rita, "GET", path).content.decode()
        assert "okapi" not in text
        assert "4.0625" not in text
