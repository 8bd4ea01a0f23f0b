"""Each metric of the library gives the number that its definition says, worked out by hand from what the model said."""

import math
from typing import Any

import pytest

from judges.endpoints.calls import ChatRequest, EmbedRequest
from judges.kinds.ragas import KIND
from judges.kinds.ragas.metrics import METRICS
from tests.judges.kinds.ragas.scripted import (
    SAMPLE,
    Scripted,
    ask,
    asked,
    attributed,
    classes,
    config_of,
    entities,
    statements,
    useful,
    verdicts,
)

EAST, NORTH, BETWEEN = [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]
# Answer: a0 is in context 0 and not in the reference; a1 and a2 only in context 1; a3 in the reference. Context 0 holds
# the reference's statement, so it is the relevant one.
NOISE = [
    statements("g0"),
    statements("a0", "a1", "a2", "a3"),
    *(verdicts(1), verdicts(1, 0, 0, 1)),
    *(verdicts(0), verdicts(0, 1, 1, 0)),
    verdicts(0, 0, 0, 1),
]
QUESTIONS = {SAMPLE.question: EAST, "q0": EAST, "q1": NORTH, "q2": BETWEEN}
ANSWERS = {SAMPLE.answer: EAST, SAMPLE.reference: BETWEEN}

CASES = [
    ("faithfulness", {}, [statements("a", "b", "c"), verdicts(1, 0, 1)], {}, 2 / 3),
    ("faithfulness", {}, [statements("a"), verdicts(0)], {}, 0.0),
    ("answer_relevancy", {}, [asked("q0"), asked("q1"), asked("q2", 1)], QUESTIONS, (1 + 0 + math.sqrt(0.5)) / 3),
    ("answer_relevancy", {"strictness": 1}, [asked("q2")], QUESTIONS, math.sqrt(0.5)),
    ("answer_relevancy", {}, [asked("q0", 1), asked("q1", 1), asked("q2", 1)], QUESTIONS, 0.0),
    ("context_precision", {}, [useful(1), useful(1)], {}, 1.0),
    ("context_precision", {}, [useful(0), useful(1)], {}, 1 / 2),
    ("context_precision", {"against": "answer"}, [useful(0), useful(0)], {}, 0.0),
    ("context_recall", {}, [attributed(1, 0, 1, 1)], {}, 3 / 4),
    (
        "answer_correctness",
        {},
        [statements("a", "b", "c"), statements("d", "e", "f"), classes(2, 1, 1)],
        ANSWERS,
        0.75 * (2 / 3) + 0.25 * math.sqrt(0.5),
    ),
    # F2 of precision 1/2 and recall 1.
    (
        "answer_correctness",
        {"similarity_weight": 0, "beta": 2},
        [statements("a", "b"), statements("c"), classes(1, 1, 0)],
        {},
        5 * (1 / 2) / (4 * (1 / 2) + 1),
    ),
    ("context_entity_recall", {}, [entities("Ada", "London", "1815"), entities("Ada", "London", "cat")], {}, 2 / 3),
    ("context_entity_recall", {}, [entities("Ada"), entities("Ada")], {}, 1.0),
    ("context_entity_recall", {}, [entities("Ada"), entities()], {}, 0.0),
    ("noise_sensitivity", {}, NOISE, {}, 1 / 4),
    ("noise_sensitivity", {"mode": "irrelevant"}, NOISE, {}, 2 / 4),
]


@pytest.mark.parametrize(("metric", "given", "script", "vectors", "number"), CASES)
def test_number(metric: str, given: dict[str, Any], script: list[Any], vectors: Any, number: float) -> None:
    model = Scripted(*script, vectors=vectors)
    outcome = ask(metric, model, **given)
    assert len(outcome.scores) == 1
    assert (outcome.scores[0].status, outcome.scores[0].detail, outcome.scores[0].unit) == ("ok", "", "answer")
    # Seven digits: behind them the library's own numbers say nothing.
    assert outcome.scores[0].number == pytest.approx(number, abs=6e-8)
    assert [reply.key for reply in outcome.replies] == [str(at + 1) for at in range(len(model.asked))]


def test_every_metric_has_a_case() -> None:
    assert {case[0] for case in CASES} == set(METRICS)


@pytest.mark.parametrize(("metric", "given", "script", "vectors", "number"), CASES)
def test_the_estimate_counts_the_requests(
    metric: str, given: dict[str, Any], script: list[Any], vectors: Any, number: float
) -> None:
    model = Scripted(*script, vectors=vectors)
    ask(metric, model, **given)
    config = config_of(metric, **given)
    size = KIND.size(config, SAMPLE)
    chats = [request for request in model.asked if isinstance(request, ChatRequest)]
    really_in = sum(len(request.messages[0]["content"]) for request in chats) // 4
    assert size.requests == len(model.asked)
    assert 0.7 * really_in <= size.tokens_in <= 1.3 * really_in
    assert 0 < size.tokens_out <= len(chats) * config["max_tokens"]


def test_what_is_sent() -> None:
    model = Scripted(asked("q0"), asked("q1"), asked("q2"), vectors=QUESTIONS)
    ask("answer_relevancy", model, repeat=2, seed=10, temperature=0.5, max_tokens=99)
    chats = [request for request in model.asked if isinstance(request, ChatRequest)]
    assert {request.messages[0]["content"] for request in chats} == {chats[0].messages[0]["content"]}
    assert SAMPLE.answer in chats[0].messages[0]["content"]
    # The same words three times, and none of the three is read from what is kept of another one or another repeat.
    assert [(request.draw, request.seed) for request in chats] == [(6, 16), (7, 17), (8, 18)]
    assert {(request.model, request.temperature, request.max_tokens) for request in chats} == {("m", 0.5, 99)}
    assert chats[0].schema is not None
    assert chats[0].schema["additionalProperties"] is False
    assert set(chats[0].schema["required"]) == {"question", "noncommittal"}
    embeds = [request for request in model.asked if isinstance(request, EmbedRequest)]
    assert [list(request.texts) for request in embeds] == [[SAMPLE.question], ["q0", "q1", "q2"]]
    assert {(request.model, request.draw) for request in embeds} == {("e", 2)}


def test_objects_within_are_closed_too_and_a_schema_can_be_left_out() -> None:
    model = Scripted(attributed(1))
    ask("context_recall", model)
    (request,) = model.asked
    assert isinstance(request, ChatRequest)
    assert request.schema is not None
    assert [one["additionalProperties"] for one in request.schema["$defs"].values()] == [False]
    model = Scripted(attributed(1))
    ask("context_recall", model, structured=False, temperature=None, seed=None)
    (request,) = model.asked
    assert isinstance(request, ChatRequest)
    assert (request.schema, request.temperature, request.seed, request.draw) == (None, None, None, 0)


def test_the_same_words_again_are_the_same_question_where_a_metric_does_not_draw() -> None:
    """Statements of an answer that is its own reference are found once, and paid once."""
    model = Scripted(statements("a"), statements("a"), classes(1, 0, 0))
    ask("answer_correctness", model, repeat=1, similarity_weight=0)
    assert [request.draw for request in model.asked] == [1, 1, 1]


def test_reasons_are_the_models_own() -> None:
    found = ask("faithfulness", Scripted(statements("s0", "s1"), verdicts(1, 0))).scores[0]
    assert found.rationale == "1 · s0 — r0\n0 · s1 — r1"
    found = ask("context_entity_recall", Scripted(entities("Ada", "1815"), entities("Ada"))).scores[0]
    assert found.rationale == "Ada, 1815\nAda"
    model = Scripted(statements("a"), statements("b"), classes(1, 0, 1))
    found = ask("answer_correctness", model, similarity_weight=0).scores[0]
    assert found.rationale == "TP · s — r\nFN · s — r"
    model = Scripted(asked("q0"), vectors=QUESTIONS)
    assert ask("answer_relevancy", model, strictness=1).scores[0].rationale == "0 · q0"
