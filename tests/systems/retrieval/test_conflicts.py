"""Imported judgements that people contradict: whose word counts, and who decides it."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from annotate.batches.steps import open_batch
from annotate.models import AuditEntry, Project, Sample, Verdict
from annotate.projects.deletion import delete_waiting
from systems.models import ComposedSample, Relevance, RelevanceDecision
from tests.annotate.factories import World, decide_unit
from tests.clients import client_of
from tests.systems.building import command
from tests.systems.retrieval.building import Write
from tests.systems.retrieval.pooling import GRADES, figures, label, passage, pool, two_versions

CONFLICTS = "/api/projects/desk/retrieval/conflicts/"
# d is relevant by the file and not by people, a the other way round; b and 15 only have other grades.
QRELS = "q2 0 d 2\nq2 0 a 0\nq2 0 b 1\nq1 0 15 1\nq3 0 unseen 1\n"


@pytest.fixture
def contradicted(world: World, write: Write) -> World:
    two_versions(world, write)
    label(pool())
    command("import_qrels", "desk", write("c.qrels", QRELS), "--set", "support@1")
    return world


def conflicts(world: World) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client_of(world.rita).get(CONFLICTS, {"set": "support@1"}).json()["results"]
    return found


def decide(world: World, holds: str = "imported", **other: Any) -> Any:
    body = {"set": "support@1", "question": "q2", "document": "a", "imported": 0, "people": 3, "holds": holds, **other}
    return client_of(world.rita).post(CONFLICTS, body, content_type="application/json")


def test_a_conflict_is_one_of_relevance(contradicted: World) -> None:
    """Until it is decided, people's word counts and the conflict is counted."""
    assert conflicts(contradicted) == [
        {"question": "q2", "document": "a", "imported": 0, "people": 3, "holds": None},
        {"question": "q2", "document": "d", "imported": 2, "people": 0, "holds": None},
    ]
    found = figures()
    assert found["contradicted"] == 2
    # b and a are relevant, d is not.
    assert found["per_question"]["q2"]["P"] == pytest.approx(2 / 5)
    assert "2 judgements contradicted by annotators" in command(
        "retrieval", "desk", "--set", "support", "--version", "v7"
    )


def test_a_reviewer_decides(contradicted: World) -> None:
    reply = decide(contradicted)
    decided = {"question": "q2", "document": "a", "imported": 0, "people": 3, "holds": "imported"}
    assert (reply.status_code, reply.json()) == (200, decided)
    assert conflicts(contradicted)[-1] == decided
    found = figures()
    assert (found["contradicted"], found["per_question"]["q2"]["P"]) == (1, pytest.approx(1 / 5))
    entry = AuditEntry.objects.get(action="relevance.decided")
    assert (entry.actor, entry.subject, entry.details["document"], entry.details["holds"]) == (
        contradicted.rita, "q2", "a", "imported",
    )  # fmt: skip
    assert decide(contradicted, "people").status_code == 200
    assert figures()["per_question"]["q2"]["P"] == pytest.approx(2 / 5)
    assert RelevanceDecision.objects.count() == 1


def test_another_grade_opens_it_again(contradicted: World) -> None:
    """A decision is on what both said then."""
    decide(contradicted)
    sample = Sample.objects.get(external_id="q2#pool1")
    place = [context["text"] for context in sample.contexts].index(passage("a"))
    verdict = Verdict.objects.get(sample=sample, unit=f"context:{place}")
    decide_unit(contradicted.rita, verdict, 2)
    assert [(one["document"], one["people"], one["holds"]) for one in conflicts(contradicted)] == [
        ("a", 2, None), ("d", 0, None),
    ]  # fmt: skip
    assert figures()["contradicted"] == 2
    stale = decide(contradicted)
    assert (stale.status_code, stale.json()["error"]["code"]) == (409, "other_grades")
    assert decide(contradicted, people=2).status_code == 200
    assert decide(contradicted, document="b", imported=1, people=2).json()["error"]["code"] == "no_contradiction"
    assert decide(contradicted, document="nowhere").json()["error"]["code"] == "no_contradiction"


def test_what_came_with_a_question_can_be_contradicted(world: World, write: Write) -> None:
    two_versions(world, write)
    label(pool(), {**GRADES, "x": 0})
    rows = [{"id": "q3", "question": "Who may restart the queue?", "relevant": ["x"]}]
    command("import_questions", "desk", "support", write("q.jsonl", rows))
    assert conflicts(world) == []
    command("freeze_set", "desk", "support")
    reply = client_of(world.rita).get(CONFLICTS, {"set": "support"})
    assert [(one["document"], one["imported"], one["people"]) for one in reply.json()["results"]] == [("x", 1, 0)]


def test_who_may(contradicted: World) -> None:
    body = {"set": "support@1", "question": "q2", "document": "a", "imported": 0, "people": 3, "holds": "people"}
    for person, read, decided in (
        (contradicted.alice, 200, 200), (contradicted.ann, 403, 403), (contradicted.charlie, 404, 404),
    ):  # fmt: skip
        client = client_of(person)
        assert client.get(CONFLICTS, {"set": "support@1"}).status_code == read
        assert client.post(CONFLICTS, body, content_type="application/json").status_code == decided
    assert decide(contradicted, "both").status_code == 422
    assert decide(contradicted, question="q9").status_code == 404


def test_who_has_passages_to_label_is_told_no_conflict(contradicted: World, write: Write) -> None:
    more = {"question_id": "q3", "pipeline_version": "v9", "contexts": [{"id": "new", "text": "Something new."}]}
    command("import_samples", "desk", write("m.jsonl", [more]))
    open_batch(batch=pool("--annotators", "rita", versions=["v9"]))
    for reply in (client_of(contradicted.rita).get(CONFLICTS, {"set": "support@1"}), decide(contradicted)):
        assert (reply.status_code, reply.json()["error"]["code"]) == (409, "still_to_label")
    assert not RelevanceDecision.objects.exists()


def test_it_all_goes_with_the_project(contradicted: World) -> None:
    decide(contradicted)
    project = contradicted.project
    Project.objects.filter(pk=project.pk).update(deleting_at=timezone.now(), deleting_by=contradicted.alice)
    assert delete_waiting(project.pk)
    for table in (ComposedSample, Relevance, RelevanceDecision):
        assert not table.objects.exists(), table
