"""The server that others test against keeps to the protocol, by the word of the official client."""

from __future__ import annotations

import time
from typing import Any

import openai
import pytest

from judges.endpoints.client import open_client
from judges.kinds.llm import builtin_templates
from judges.kinds.llm.judging import extract_claims
from tests.judges.building import unsaved_endpoint
from tests.judges.kinds.llm.making import complete, said, told
from tests.openai_server import OpenAIServer, Reply, chat, error

SCHEMA = {
    "type": "object",
    "properties": {
        "label": {"enum": ["supported", "partially", "unsupported"]},
        "score": {"type": "integer", "minimum": 0, "maximum": 10},
        "evidence": {"type": "array", "items": {"type": "string"}},
    },
}
PROMPT = "Context:\nThe cat sat on the mat. Dogs bark.\n\nClaim: {}\n\nAnswer with an object."


def ask(server: OpenAIServer, prompt: str = "hello", **more: object) -> str:
    with openai.OpenAI(base_url=server.url, api_key="k", max_retries=0) as client:
        reply = client.chat.completions.create(model="m", messages=[{"role": "user", "content": prompt}], **more)  # type: ignore[call-overload]
    return str(reply.choices[0].message.content)


def test_its_own_answers(openai_server: OpenAIServer) -> None:
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA}}
    found = ask(openai_server, PROMPT.format("The cat sat on the mat"), response_format=form)
    assert found == '{"label": "supported", "score": 10, "evidence": ["The cat sat on the mat."]}'
    assert '"unsupported", "score": 0' in ask(openai_server, PROMPT.format("Birds fly south"), response_format=form)
    half = PROMPT.format("The cat sat") + " Judge {}."
    half = half.replace("The cat sat on the mat.", "The cat and the dog.")
    for manner, score in (("fairly", 5), ("strictly", 2), ("generously", 7)):
        assert f'"score": {score}' in ask(openai_server, half.format(manner), response_format=form)
    with openai.OpenAI(base_url=openai_server.url, api_key="k", max_retries=0) as client:
        assert [len(row.embedding) for row in client.embeddings.create(model="m", input=["a", "b"]).data] == [64, 64]
        assert client.models.list().data[0].id == "overlap-small"


def test_script_then_function_then_its_own(openai_server: OpenAIServer) -> None:
    openai_server.answers(lambda request: f"asked {request.prompt}")
    openai_server.script(
        chat("first"), "second", error(429, retry_after=3), Reply(hangs_up=True), Reply({"a": 1}, cut=3)
    )
    assert [ask(openai_server), ask(openai_server)] == ["first", "second"]
    with pytest.raises(openai.RateLimitError):
        ask(openai_server)
    for _ in range(2):
        with pytest.raises(openai.APIConnectionError):
            ask(openai_server)
    assert ask(openai_server) == "asked hello"
    assert [request.prompt for request in openai_server.requests] == ["hello"] * 6


def test_key_limit_and_hanging(openai_server: OpenAIServer) -> None:
    openai_server.key = "other"
    with pytest.raises(openai.AuthenticationError):
        ask(openai_server)
    openai_server.key = "k"
    openai_server.limit(1, 3600.0)
    openai_server.script(Reply(hangs=True))
    with pytest.raises(openai.APITimeoutError):
        ask(openai_server, timeout=0.2)
    with pytest.raises(openai.RateLimitError):
        ask(openai_server)
    openai_server.forget()
    with openai_server.held(), pytest.raises(openai.APITimeoutError):
        ask(openai_server, timeout=0.2)
    assert openai_server.requests[0].at < time.monotonic()


SAMPLE = told("It opens at nine.", "Bears like honey.", question="When does it open?", reference="It opens at nine.")
SAMPLE.contexts = [{"id": None, "text": "Daily it opens at nine sharp.", "score": None}]


@pytest.mark.parametrize("template", builtin_templates(), ids=lambda template: template.key)
def test_it_scores_by_every_template(template: Any, openai_server: OpenAIServer) -> None:
    given: dict[str, Any] = {"dimension": "mine", "unit": template.units[0], "model": "m", "template": template.key}
    if template.needs_requirements:
        given["requirements"] = [{"text": "It says when it opens."}, {"text": "It is polite."}]
    with open_client(unsaved_endpoint(openai_server)) as model:
        scores = said(complete(given), model, SAMPLE)
    assert scores
    assert {score.status for score in scores} == {"ok"}
    assert all(score.rationale for score in scores)
    if template.key == "claim_support":
        # And what the context has gets the better score.
        assert [score.number for score in scores] == [1.0, 0.0]


def test_it_finds_a_claim(openai_server: OpenAIServer) -> None:
    with open_client(unsaved_endpoint(openai_server)) as model:
        claims = extract_claims(SAMPLE, {"model": "m"}, model)
    assert len(claims) == 1
