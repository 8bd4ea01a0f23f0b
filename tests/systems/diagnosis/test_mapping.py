"""Which criteria answer what the tree asks: proposed, stored by an admin, copied with the project."""

from __future__ import annotations

from typing import Any

import pytest

from annotate.core.errors import Invalid
from annotate.models import AuditEntry
from judges.endpoints.duplicate import duplicate_project
from systems.diagnosis.mapping_read import mapping_of
from systems.diagnosis.write import change_mapping
from systems.models import DiagnosisMapping
from tests.annotate.factories import World
from tests.systems.diagnosis.building import Desk


def named(desk: Desk) -> dict[str, str]:
    return {name: one.criterion.key for name, one in mapping_of(desk.project).asked.items()}


def test_built_in_criteria_are_recognised(desk: Desk) -> None:
    assert named(desk) == {
        "context_needed": "relevance",
        "fact_in_contexts": "fact_in_context",
        "fact_in_answer": "fact_in_answer",
        "claim_supported": "support",
        "answer_correct": "correctness",
        "on_topic": "relevancy",
        "claim_correct": "correct",
        "support_source": "evidence",
        "failure": "failure",
    }
    found = mapping_of(desk.project)
    assert not found.is_stored
    assert found.stored()["failure"]["stages"] == {
        "none": "nothing_wrong",
        "retrieval miss": "retrieval_miss",
        "context overload": "context_overload",
        "hallucination": "hallucination",
        "poor document": "poor_document",
    }


def test_criteria_of_ones_own_are_not_guessed(world: World) -> None:
    # `support` there is on claims and passes, as the built-in one; `relevance` passes nowhere.
    assert {name: one.criterion.key for name, one in mapping_of(world.project).asked.items()} == {
        "claim_supported": "support"
    }


def test_an_admin_stores_another_one(world: World, desk: Desk) -> None:
    given = {
        "contradiction": {"criterion": "contradiction", "yes": "fails"},
        "failure": {"criterion": "failure", "stages": {"none": "nothing_wrong"}},
        "on_topic": None,
    }
    found = change_mapping(actor=world.alice, project=desk.project, questions=given)
    assert (found.is_stored, named(desk)) == (True, {"contradiction": "contradiction", "failure": "failure"})
    assert found.asked["contradiction"].yes == "fails"
    (entry,) = AuditEntry.objects.filter(action="diagnosis.mapped")
    assert (entry.actor, entry.details) == (
        world.alice,
        {"questions": {"contradiction": "contradiction", "failure": "failure"}},
    )
    change_mapping(actor=world.alice, project=desk.project, questions=given)
    assert AuditEntry.objects.filter(action="diagnosis.mapped").count() == 1


@pytest.mark.parametrize(
    ("questions", "told"),
    [
        ([], "questions: must be an object"),
        ({"colour": {"criterion": "support"}}, "“colour” is no question"),
        ({"on_topic": "relevancy"}, "on_topic: must be an object with criterion, yes"),
        ({"on_topic": {"criterion": "none"}}, "criterion “none” not found"),
        ({"on_topic": {"criterion": ["relevancy"]}}, "not found"),
        ({"on_topic": {"criterion": "support"}}, "criterion “support” can’t answer this question"),
        ({"support_source": {"criterion": "correct"}}, "criterion “correct” can’t answer this question"),
        ({"on_topic": {"criterion": "relevancy", "yes": "no"}}, "yes: must be “passes” or “fails”"),
        ({"on_topic": {"criterion": "relevancy", "stages": {}}}, "must be an object with"),
        ({"failure": {"criterion": "failure", "stages": {"x": "off_topic"}}}, "stages: must be an object"),
        ({"failure": {"criterion": "failure", "stages": {"none": "fine"}}}, "stages: must be an object"),
        ({"failure": {"criterion": "failure", "stages": {"none": ["off_topic"]}}}, "stages: must be an object"),
        ({"failure": {"criterion": "relevancy"}}, "name the stage of at least one value"),
    ],
)
def test_what_it_cannot_be(world: World, desk: Desk, questions: Any, told: str) -> None:
    with pytest.raises(Invalid) as refused:
        change_mapping(actor=world.alice, project=desk.project, questions=questions)
    assert refused.value.code == "bad_mapping"
    assert told in refused.value.message
    assert not DiagnosisMapping.objects.exists()


def test_a_duplicate_of_the_project_has_it_too(world: World, desk: Desk) -> None:
    plain = duplicate_project(actor=world.alice, project=desk.project, slug="plain", name="Plain")
    assert not mapping_of(plain).is_stored
    given = {"contradiction": {"criterion": "contradiction", "yes": "fails"}}
    change_mapping(actor=world.alice, project=desk.project, questions=given)
    made = duplicate_project(actor=world.alice, project=desk.project, slug="made", name="Made")
    assert (mapping_of(made).is_stored, mapping_of(made).stored()) == (True, given)
    assert mapping_of(made).asked["contradiction"].criterion.project == made
