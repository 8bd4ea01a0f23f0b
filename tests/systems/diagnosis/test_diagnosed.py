"""What is said of responses becomes the case that the tree decides, for those who may know it."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate.core.blindness import SYSTEM
from annotate.models import Sample, Verdict
from systems.diagnosis.cases import Diagnosed
from systems.diagnosis.mapping_read import mapping_of
from systems.diagnosis.read import diagnosed
from systems.diagnosis.tree import Asks, Stage
from systems.diagnosis.write import change_mapping
from systems.models import Relevance
from tests.annotate.factories import World, make_batch
from tests.systems.diagnosis.building import GOOD, Desk, Labels, question, response, response_to


def stages(desk: Desk, **asked: Any) -> dict[str, Stage | None]:
    found = diagnosed(desk.project, reader=SYSTEM, **asked)
    return {f"{row.asking.question}@{row.asking.version}": row.diagnosis.stage for row in found.rows}


def only(desk: Desk) -> Diagnosed:
    (found,) = diagnosed(desk.project, reader=SYSTEM).rows
    return found


def map_contradiction(desk: Desk, world: World) -> None:
    given = mapping_of(desk.project).stored() | {Asks.CONTRADICTION: {"criterion": "contradiction", "yes": "fails"}}
    change_mapping(actor=world.alice, project=desk.project, questions=given)


@pytest.mark.parametrize(
    ("changed", "stage"),
    [
        ({}, Stage.NOTHING_WRONG),
        ({"context:1 relevance": 1}, Stage.RETRIEVAL_MISS),
        ({"sample contradiction": "yes"}, Stage.CONTRADICTORY_SOURCES),
        ({"fact:0 fact_in_answer": "partly"}, Stage.CONTEXT_OVERLOAD),
        ({"claim:1 support": "not in context"}, Stage.HALLUCINATION),
        ({"answer correctness": 3}, Stage.POOR_DOCUMENT),
        ({"answer relevancy": 2}, Stage.OFF_TOPIC),
    ],
)
def test_each_stage_is_reached_by_verdicts(world: World, desk: Desk, changed: Labels, stage: Stage) -> None:
    map_contradiction(desk, world)
    desk.ask(question("q1"))
    desk.answer(response("q1"))
    desk.label("q1@v7", {**GOOD, **changed})
    found = only(desk)
    assert (found.diagnosis.stage, found.diagnosis.unasked) == (stage, ())


def test_failed_requests_and_abstentions_need_no_label(desk: Desk) -> None:
    desk.ask(question("q1"), question("q2", type="unanswerable", key_facts=[]), question("q3"))
    refusal = {"answer": "I don't have that information.", "claims": []}
    desk.answer(
        response("q1", **refusal),
        response("q2", **refusal),
        {"question_id": "q3", "pipeline_version": "v7", "status": "failed", "error": "timeout"},
    )
    assert stages(desk) == {
        "q1@v7": Stage.ABSTAINED_WRONGLY,
        "q2@v7": Stage.ABSTAINED_RIGHTLY,
        "q3@v7": Stage.FAILED_REQUEST,
    }


def test_a_criterion_may_say_what_abstains(world: World, desk: Desk) -> None:
    desk.ask(question("q1"))
    desk.answer(response("q1"))
    given = {Asks.ABSTAINED: {"criterion": "relevancy", "yes": "fails"}}
    change_mapping(actor=world.alice, project=desk.project, questions=given)
    assert [fact.asks for fact in only(desk).diagnosis.missing] == [Asks.ABSTAINED]
    desk.label("q1@v7", {"answer relevancy": 1})
    assert only(desk).diagnosis.stage is Stage.ABSTAINED_WRONGLY


def test_what_nobody_settled_is_missing(desk: Desk) -> None:
    desk.ask(question("q1"))
    desk.answer(response("q1"))
    assert [fact.unit for fact in only(desk).diagnosis.missing] == ["context:0", "context:1"]
    desk.label("q1@v7", GOOD, people=1)
    assert [fact.unit for fact in only(desk).diagnosis.missing] == ["context:0", "context:1"]
    desk.label("q1@v7", GOOD)
    # No built-in criterion asks whether contexts contradict each other.
    found = only(desk).diagnosis
    assert (found.stage, found.unasked, found.rank) == (Stage.NOTHING_WRONG, (Stage.CONTRADICTORY_SOURCES,), 2)
    Verdict.objects.filter(unit="claim:1", criterion__key="support").update(state="disputed", value=None, method="")
    assert [(fact.asks, fact.unit) for fact in only(desk).diagnosis.missing] == [(Asks.CLAIM_SUPPORTED, "claim:1")]


def test_cant_tell_is_no_word_on_a_claim(world: World, desk: Desk) -> None:
    desk.ask(question("q1"))
    desk.answer(response("q1"))
    given = mapping_of(desk.project).stored() | {Asks.ANSWER_CORRECT: {"criterion": "correct", "yes": "passes"}}
    change_mapping(actor=world.alice, project=desk.project, questions=given)
    desk.label("q1@v7", {**GOOD, "claim:0 correct": "correct", "claim:1 correct": "can't tell"})
    found = only(desk).diagnosis
    assert (found.stage, [fact.unit for fact in found.missing]) == (None, ["claim:1"])
    Verdict.objects.filter(unit="claim:0", criterion__key="correct").update(
        state="settled", value="incorrect", method="majority"
    )
    assert only(desk).diagnosis.stage is Stage.POOR_DOCUMENT


def test_documents_say_what_is_needed_where_no_person_does(desk: Desk) -> None:
    desk.ask(question("q1", relevant={"c": 2}), question("q2", relevant={"b": 1, "a": 0}), question("q3"))
    desk.answer(*(response(name) for name in ("q1", "q2", "q3")))
    found = {row.asking.question: row.diagnosis for row in diagnosed(desk.project, reader=SYSTEM).rows}
    assert (found["q1"].stage, found["q2"].stage, found["q2"].rank) == (Stage.RETRIEVAL_MISS, None, 2)
    assert [fact.asks for fact in found["q3"].missing] == [Asks.CONTEXT_NEEDED] * 2
    # An imported judgement counts before what came with the question, people's before both, their word on the passage
    # before all.
    asked = response_to("q1").question
    Relevance.objects.create(question=asked, document_id="a", grade=1)
    assert only_of(desk, "q1").rank == 1
    desk.answer(response("q1", "v8"))
    desk.label("q1@v8", {"context:0 relevance": 0})
    assert only_of(desk, "q1").stage is Stage.RETRIEVAL_MISS
    desk.label("q1@v7", {"context:1 relevance": 2})
    assert only_of(desk, "q1").rank == 2


def test_what_people_did_not_judge_may_still_be_needed(desk: Desk) -> None:
    """They see what one version retrieved, and say nothing of what another did."""
    desk.ask(question("q1"))
    other = [{"id": "c", "text": "The port."}]
    desk.answer(response("q1"), response("q1", "v8"), response("q1", "v9", contexts=other))
    desk.label("q1@v7", {"context:1 relevance": 3})
    of = {row.asking.version: row.diagnosis for row in diagnosed(desk.project, reader=SYSTEM).rows}
    assert of["v8"].rank == 2
    assert [fact.asks for fact in of["v9"].missing] == [Asks.CONTEXT_NEEDED]


def only_of(desk: Desk, name: str) -> Any:
    return next(row.diagnosis for row in diagnosed(desk.project, reader=SYSTEM).rows if row.asking.question == name)


def test_a_ranking_without_an_answer_is_a_miss_or_waits_for_an_answer(desk: Desk) -> None:
    desk.ask(question("q1", relevant={"b": 1}), question("q2", relevant={"x": 1}))
    desk.answer(*(response(name) for name in ("q1", "q2")))
    for name in ("q1", "q2"):
        one = response_to(name)
        one.ranking, one.sample = [{"id": "a", "score": None}, {"id": "b", "score": None}], None
        one.save()
    assert only_of(desk, "q2").stage is Stage.RETRIEVAL_MISS
    assert [fact.asks for fact in only_of(desk, "q1").missing] == [Asks.HAS_ANSWER]


def test_a_version_and_a_test_set_are_asked_for(desk: Desk) -> None:
    desk.ask(question("q1"))
    desk.answer(response("q1"), response("q1", "v8"))
    assert stages(desk, version="v8", in_set="support") == {"q1@v8": None}


def test_what_the_reader_still_has_to_label_is_left_out(world: World, desk: Desk) -> None:
    desk.ask(question("q1"), question("q2"))
    desk.answer(response("q1"), response("q2"))
    desk.label("q1@v7", GOOD)
    make_batch(desk.project, [world.rita], samples=["q1@v7"])
    found = diagnosed(desk.project, reader=world.rita)
    assert ([row.asking.question for row in found.rows], found.held_back) == (["q2"], 1)
    assert len(diagnosed(desk.project, reader=world.alice).rows) == 2


def test_as_many_statements_for_many_as_for_few(desk: Desk) -> None:
    def statements(count: int) -> int:
        names = [f"q{number}" for number in range(count)]
        desk.ask(*map(question, names))
        desk.answer(*map(response, names))
        with CaptureQueriesContext(
            connection,
        ) as asked:
            assert len(diagnosed(desk.project, reader=SYSTEM).rows) == count
        return len(asked)

    assert statements(2) == statements(12)


def test_claims_of_an_answer_that_abstains_say_nothing(desk: Desk) -> None:
    desk.ask(question("q1"))
    desk.answer(response("q1"))
    desk.label("q1@v7", {**GOOD, "claim:0 support": "contradicted"})
    Sample.objects.update(abstained=True, abstained_source="person")
    found = only(desk)
    assert (found.diagnosis.stage, found.counts.supported) == (Stage.ABSTAINED_WRONGLY, (0, 0))
