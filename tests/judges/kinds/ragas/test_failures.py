"""A failure stays a failure: no number of the library's own making, no second request, and who runs the judge sees what
happened as it happened."""

from typing import Any

import pytest
from django.db import OperationalError
from pydantic import BaseModel

from judges.endpoints.calls import Answered, CallFailed, StopRun, TryLater
from judges.kinds.ragas import adapters
from judges.kinds.ragas.metrics import METRICS
from judges.models import ScoreStatus
from tests.judges.kinds.making import sample
from tests.judges.kinds.ragas.scripted import (
    SAMPLE,
    Scripted,
    ask,
    asked,
    attributed,
    classes,
    entities,
    statements,
    useful,
    verdicts,
)

PARSE_ERROR, ERROR = ScoreStatus.PARSE_ERROR, ScoreStatus.ERROR
VECTORS = {SAMPLE.question: [1.0], "q": [1.0], SAMPLE.answer: [1.0], SAMPLE.reference: [1.0]}
# Replies that bring each metric to its end.
GOOD: dict[str, list[Any]] = {
    "faithfulness": [statements("a"), verdicts(1)],
    "answer_relevancy": [asked("q"), asked("q"), asked("q")],
    "context_precision": [useful(1), useful(1)],
    "context_recall": [attributed(1)],
    "answer_correctness": [statements("a"), statements("b"), classes(1, 0, 0)],
    "context_entity_recall": [entities("Ada"), entities("Ada")],
    "noise_sensitivity": [statements("a"), statements("b"), *[verdicts(1)] * 5],
}
EVERY_REQUEST = [(metric, at) for metric, script in GOOD.items() for at in range(len(script))]


def test_the_good_replies_are_good() -> None:
    assert set(GOOD) == set(METRICS)
    for metric, script in GOOD.items():
        assert ask(metric, Scripted(*script, vectors=VECTORS)).scores[0].status == "ok"


@pytest.mark.parametrize(("metric", "at"), EVERY_REQUEST)
def test_every_request_can_fail(metric: str, at: int) -> None:
    """At each of a metric's requests: what the model raises comes out as it is, what it says amiss is a failed score,
    and nothing is asked after it."""
    for bad, status in [
        (Answered("x", text="No.", refusal="No."), ScoreStatus.REFUSED),
        (Answered("x", text=None, finish_reason="content_filter"), ScoreStatus.REFUSED),
        (Answered("x", text='{"statements": ["a', finish_reason="length"), ScoreStatus.TRUNCATED),
        (Answered("x", text=None, finish_reason="stop"), PARSE_ERROR),
        ("", PARSE_ERROR),
        ("Faithfulness: 5", PARSE_ERROR),
        ({}, PARSE_ERROR),
        ({**GOOD[metric][at], "score": 1}, PARSE_ERROR),
    ]:
        model = Scripted(*GOOD[metric][:at], bad, *GOOD[metric], vectors=VECTORS)
        outcome = ask(metric, model)
        (scored,) = outcome.scores
        assert (scored.status, scored.number, scored.label) == (status, None, None), bad
        assert scored.detail
        assert (len(model.asked), len(outcome.replies)) == (at + 1, at + 1), bad
    for raised in (
        TryLater(ERROR, "429", 3.0),
        CallFailed(ScoreStatus.TIMEOUT, "too slow"),
        StopRun("key_refused", "401"),
        OperationalError("the database is away"),
        MemoryError(),
    ):
        model = Scripted(*GOOD[metric][:at], raised, *GOOD[metric], vectors=VECTORS)
        with pytest.raises(type(raised)) as found:
            ask(metric, model)
        assert found.value is raised
        assert len(model.asked) == at + 1


@pytest.mark.parametrize("metric", ["answer_relevancy", "answer_correctness"])
def test_embeddings_that_do_not_come(metric: str) -> None:
    later = TryLater(ERROR, "503")
    with pytest.raises(TryLater) as found:
        ask(metric, Scripted(*GOOD[metric], later, vectors=VECTORS))
    assert found.value is later


@pytest.mark.parametrize(
    "vector", [[], [0.0, 0.0], [float("nan"), 1.0], [float("inf"), 1.0], [1e308, 1e308], [1.0, 2.0, 3.0]]
)
@pytest.mark.parametrize("metric", ["answer_relevancy", "answer_correctness"])
def test_embeddings_without_a_direction(metric: str, vector: list[float]) -> None:
    """The library calls such texts wholly unlike, or gives NaN."""
    for text in ("q", SAMPLE.question) if metric == "answer_relevancy" else (SAMPLE.answer, SAMPLE.reference):
        vectors = {**{each: [1.0, 1.0] for each in VECTORS}, text: vector}
        (scored,) = ask(metric, Scripted(*GOOD[metric], vectors=vectors)).scores
        assert (scored.status in (PARSE_ERROR, ERROR), scored.number) == (True, None)


def test_too_few_vectors() -> None:
    class Short(Scripted):
        def embed(self, request: Any) -> Answered:
            return Answered("x", vectors=[[1.0]])

    (scored,) = ask("answer_relevancy", Short(*GOOD["answer_relevancy"])).scores
    assert scored.status == PARSE_ERROR


UNDONE = [
    # Of these the library makes 1, 0 or another number by itself.
    ("faithfulness", [statements()], ERROR),
    ("faithfulness", [statements("", " ")], ERROR),
    ("faithfulness", [statements("a", "b"), verdicts(1)], PARSE_ERROR),
    ("faithfulness", [statements("a"), verdicts(1, 0)], PARSE_ERROR),
    ("faithfulness", [statements("a"), verdicts()], PARSE_ERROR),
    ("faithfulness", [statements("a"), verdicts(2)], PARSE_ERROR),
    ("faithfulness", [statements("a"), verdicts(-1)], PARSE_ERROR),
    ("answer_relevancy", [asked("")], PARSE_ERROR),
    ("answer_relevancy", [asked("q", 2)], PARSE_ERROR),
    ("context_precision", [useful(1), useful(7)], PARSE_ERROR),
    ("context_recall", [attributed()], ERROR),
    ("context_recall", [attributed(1, 5)], PARSE_ERROR),
    ("answer_correctness", [statements()], ERROR),
    ("answer_correctness", [statements("a"), statements()], ERROR),
    ("answer_correctness", [statements("a"), statements("b"), classes(0, 0, 0)], PARSE_ERROR),
    ("context_entity_recall", [entities()], ERROR),
    ("context_entity_recall", [entities(" ")], ERROR),
    ("noise_sensitivity", [statements()], ERROR),
    ("noise_sensitivity", [statements("a"), statements()], ERROR),
    ("noise_sensitivity", [statements("a", "b"), statements("c"), verdicts(1)], PARSE_ERROR),
    ("noise_sensitivity", [statements("a"), statements("b"), verdicts(1), verdicts()], PARSE_ERROR),
    # The last is about the answer, where those before it in its place were about the reference.
    (
        "noise_sensitivity",
        [statements("a"), statements("b", "c"), *[verdicts(1), verdicts(1, 0)] * 2, verdicts(1)],
        PARSE_ERROR,
    ),
    # Numbers in other words.
    (
        "faithfulness",
        [statements("a"), '{"statements": [{"statement": "a", "reason": "r", "verdict": "1"}]}'],
        PARSE_ERROR,
    ),
    (
        "faithfulness",
        [statements("a"), '{"statements": [{"statement": "a", "reason": "r", "verdict": true}]}'],
        PARSE_ERROR,
    ),
    (
        "faithfulness",
        [statements("a"), '{"statements": [{"statement": "a", "reason": "r", "verdict": 0.5}]}'],
        PARSE_ERROR,
    ),
    (
        "faithfulness",
        [statements("a"), '{"statements": [{"statement": "a", "reason": "r", "verdict": NaN}]}'],
        PARSE_ERROR,
    ),
    ("context_precision", ['{"reason": "r", "verdict": 0, "verdict": 1}'], PARSE_ERROR),
    ("context_precision", ['{"reason": "r", "verdict": 1} {"reason": "r", "verdict": 1}'], PARSE_ERROR),
    ("context_precision", ['Sure! {"reason": "r", "verdict": 1}'], PARSE_ERROR),
    ("context_precision", ['[{"reason": "r", "verdict": 1}]'], PARSE_ERROR),
    ("context_precision", ["1"], PARSE_ERROR),
]


@pytest.mark.parametrize(("metric", "script", "status"), UNDONE)
def test_what_is_no_value(metric: str, script: list[Any], status: ScoreStatus) -> None:
    model = Scripted(*script, *GOOD[metric], vectors=VECTORS)
    (scored,) = ask(metric, model).scores
    assert (scored.status, scored.number) == (status, None)
    assert scored.detail.endswith(".")
    assert len(model.asked) == len(script)


def test_one_block_of_code_is_taken() -> None:
    block = '```json\n{"reason": "r", "verdict": 1}\n```'
    assert ask("context_precision", Scripted(block, block)).scores[0].number == 1.0


class _Form(BaseModel):
    statements: list[str]


def test_what_the_library_swallows_comes_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Should a version of it catch what a model raises, and go on with a number or an exception of its own."""

    class Swallowing:
        def __init__(self, llm: Any, ends: Any) -> None:
            self.llm, self.ends = llm, ends

        async def ascore(self, **_: Any) -> Any:
            try:
                await self.llm.agenerate("p", _Form)
            except Exception:  # noqa: BLE001 - the bad habit that is tested
                pass
            if isinstance(self.ends, Exception):
                raise self.ends
            return type("Result", (), {"value": self.ends})

    for ends in (0.0, ValueError("planted words")):
        monkeypatch.setattr(adapters, "metric_for", lambda config, llm, _, ends=ends: (Swallowing(llm, ends), ()))
        later = TryLater(ERROR, "429")
        with pytest.raises(TryLater) as found:
            ask("faithfulness", Scripted(later))
        assert found.value is later
        (scored,) = ask("faithfulness", Scripted("no")).scores
        assert (scored.status, scored.number) == (PARSE_ERROR, None)
    # And what it raises by itself is no infrastructure's failure; its words may quote the sample.
    (scored,) = ask("faithfulness", Scripted(statements("a"))).scores
    assert (scored.status, scored.detail) == (ERROR, "The RAGAS library failed (ValueError).")
    for ends in (float("nan"), None, float("inf"), "0.5", True):
        monkeypatch.setattr(adapters, "metric_for", lambda config, llm, _, ends=ends: (Swallowing(llm, ends), ()))
        (scored,) = ask("faithfulness", Scripted(statements("a"))).scores
        assert (scored.status, scored.number, scored.detail) == (ERROR, None, "The RAGAS library gave no number.")


def test_what_has_gone_from_the_sample_is_not_asked_about() -> None:
    model = Scripted()
    (scored,) = ask("context_recall", model, of=sample(contexts=["c"], reference=None)).scores
    assert (scored.status, model.asked) == (ERROR, [])


@pytest.mark.parametrize("metric", METRICS)
def test_contexts_are_never_opened(metric: str, watched: list[tuple[str, str]], tmp_path: Any) -> None:
    """CVE-2025-45691: a context that is an address or a path was read. It is words here, as they are."""
    secret = tmp_path / "secret.png"
    secret.write_bytes(b"\x89PNG planted")
    places = [
        f"file://{secret}",
        str(secret),
        "http://198.51.100.7/x.png",
        "https://example.org/",
        "data:image/png;base64,AA==",
    ]
    one = sample(question=places[0], answer=places[1], reference=places[2], contexts=places)
    script = list(GOOD[metric])
    if metric in ("context_precision", "noise_sensitivity"):
        script += script[-1:] * 2 * len(places)
    vectors = {text: [1.0] for text in (*places, "q")}
    watched.clear()
    model = Scripted(*script, vectors=vectors)
    assert ask(metric, model, of=one).scores[0].status == "ok"
    assert [what for what in watched if str(secret) in what[1] or "etc" in what[1]] == []
    assert not any("planted" in str(request) for request in model.asked)
