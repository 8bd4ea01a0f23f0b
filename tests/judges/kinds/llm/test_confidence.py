"""How sure a model was: the probability of the tokens that its value is written with, or unknown, never a guess."""

from __future__ import annotations

import json
from math import log
from typing import Any

import pytest

from annotate.core.blindness import SYSTEM
from judges.core.scores_read import judge_scores
from judges.endpoints.keys import Secret
from judges.endpoints.reading import read_chat
from judges.endpoints.redaction import Redaction
from judges.kinds.base import Refused, Scored
from judges.models import Finding, Reply, Score, ScoreStatus
from judges.runs.read import findings_of
from judges.runs.write import start_run
from tests.annotate.factories import World, make_samples, make_world
from tests.clients import client_of
from tests.judges.kinds.llm.making import Scripted, complete, numbers, of_claims, options, said, told
from tests.judges.runs.building import endpoint_at, llm_judge, worked
from tests.openai_server import OpenAIServer, Request, chat

# (token, how likely): the value's own are those that a test names.
Tokens = list[tuple[str, float]]


def reply(tokens: Tokens, text: str | None = None, *, key: Secret | None = None, **first: Any) -> Any:
    """As it is read from a server's body. first: fields of the first token in place of its own."""
    body = chat(
        "".join(token for token, _ in tokens) if text is None else text,
        logprobs=[(token, log(one)) for token, one in tokens],
    ).body
    body["choices"][0]["logprobs"]["content"][0] |= first
    return read_chat(json.dumps(body).encode(), Redaction(key))


def confidence(config: dict[str, Any], answered: Any) -> list[float | Finding]:
    one = told("It opens at nine.", "It closes at ten.")
    found = said({**config, "confidence": "logprobs"}, Scripted(answered), one)
    assert all(score.status == ScoreStatus.OK for score in found)
    assert all((score.confidence is None) is bool(score.finding) for score in found)
    return [_known(score) for score in found]


def _known(score: Scored) -> Any:
    return score.finding or round(score.confidence or 0, 9)


def test_the_tokens_of_the_value_and_no_others() -> None:
    whole: Tokens = [('{"', 0.9), ("value", 0.8), ('": "', 0.7), ("not", 0.6), (' so"', 0.5), ("}", 0.4)]
    plain = options("so", "not so", rationale=False)
    assert confidence(plain, reply(whole)) == [0.3]
    # In a block of code, with the value's own word in the reason, in characters of several bytes and a token of half a
    # character, and with tokens of thought before the text and an end behind it, which are no part of it.
    text = '```json\n{"reason": "\u201cnot so\u201d: 否", "value": "not so"}\n```'
    parts = [('```json\n{"reason": "\u201cnot so\u201d: ', 0.1), ("否", 0.1), ('", "value": "', 0.1)]
    tokens: Tokens = [("Hm.", 0.1), *parts, ("not so", 0.25), ('"}\n```', 0.1), ("<|end|>", 0.1)]
    assert confidence(options("so", "not so"), reply(tokens, text)) == [0.25]
    body = chat(text, logprobs=[(token, log(one)) for token, one in tokens]).body
    content = body["choices"][0]["logprobs"]["content"]
    halves = [
        {**content[2], "token": "\\x", "bytes": part} for part in (list("否".encode())[:1], list("否".encode())[1:])
    ]
    content[2:3] = halves
    assert confidence(options("so", "not so"), read_chat(json.dumps(body).encode(), Redaction(None))) == [0.25]
    assert confidence(
        numbers(0, 10, rationale=False), reply([('{"value": ', 0.9), ("1", 0.5), (".5", 0.5), ("}", 0.9)])
    ) == [0.25]


def test_each_of_several_answers_has_its_own() -> None:
    tokens: Tokens = [
        ('{"2": {"value": "', 0.9),
        ("no", 0.5),
        ('"}, "1": {"value": "', 0.9),
        ("yes", 0.8),
        ('"}}', 0.9),
    ]
    assert confidence(of_claims("yes", "no", rationale=False), reply(tokens)) == [0.8, 0.5]


@pytest.mark.parametrize(
    ("why", "how"),
    [
        (Finding.OTHER_LOGPROBS, {"text": '{"value":  "so"}'}),
        (Finding.OTHER_LOGPROBS, {"logprob": 0.5}),
        (Finding.OTHER_LOGPROBS, {"logprob": None}),
        (Finding.OTHER_LOGPROBS, {"logprob": True}),
        (Finding.OTHER_LOGPROBS, {"bytes": [1000]}),
        (Finding.OTHER_LOGPROBS, {"bytes": None, "token": None}),
    ],
)
def test_what_is_not_known_is_no_number(why: Finding, how: dict[str, Any]) -> None:
    plain = options("so", "not so", rationale=False)
    assert confidence(plain, reply([('{"value": "', 0.9), ("so", 0.9), ('"}', 0.9)], **how)) == [why]


def test_none_where_the_endpoint_gives_none_and_where_its_key_was_in_the_text() -> None:
    plain = options("so", "not so")
    assert confidence(plain, '{"reason": "", "value": "so"}') == [Finding.NO_LOGPROBS]
    twice: Tokens = [('{"value": "', 0.9), ("so", 0.9), ('"}', 0.9)]
    assert confidence(options("so", "not so", rationale=False), reply(2 * twice, '{"value": "so"}')) == [
        Finding.OTHER_LOGPROBS
    ]
    key = Secret("sk-abcdefgh12345678")
    with_key = reply([('{"reason": "sk-abcdefgh12345678", "value": "', 0.9), ("so", 0.9), ('"}', 0.9)], key=key)
    assert "sk-abcdefgh" not in with_key.text
    assert confidence(plain, with_key) == [Finding.OTHER_LOGPROBS]


def test_without_it_nothing_is_another_judge_or_another_question() -> None:
    plain = options("so", "not so")
    assert "confidence" not in plain
    assert options("so", "not so", confidence="none") == plain
    repeats, logprobs = (options("so", "not so", confidence=way) for way in ("repeats", "logprobs"))
    asked = []
    for config in (plain, repeats, logprobs):
        model = Scripted('{"reason": "", "value": "so"}')
        assert said(config, model, told())[0].confidence is None
        asked += model.asked
    assert asked[0] == asked[1]
    assert [one.logprobs for one in asked] == [False, False, True]
    rubric = {
        "dimension": "tone",
        "unit": "answer",
        "model": "m",
        "template": "rubric",
        "requirements": [{"text": "a"}],
    }
    with pytest.raises(Refused, match="several answers"):
        complete({**rubric, "confidence": "repeats"})


@pytest.fixture
def world(transactional_db: None, openai_server: OpenAIServer) -> World:
    world = make_world()
    endpoint_at(world, openai_server, "main")
    make_samples(world.project, 3)
    return world


def test_it_is_stored_and_the_same_from_kept_replies(world: World, openai_server: OpenAIServer) -> None:
    def answer(request: Request) -> Any:
        assert request.json["logprobs"] is True
        likely = 0.5 if "Question 1?" in request.prompt else 0.75
        tokens = [('{"value": "', -0.1), ("yes", log(likely)), ('"}', -0.1)]
        return chat('{"value": "yes"}', logprobs=None if "Question 2?" in request.prompt else tokens)

    openai_server.answers(answer)
    version = llm_judge(world, rationale=False, confidence="logprobs")
    run = worked(start_run(version=version, scope={"all": True}))
    assert findings_of(run, reader=SYSTEM) == {"no_logprobs": 2}
    (found,), _ = judge_scores(world.project.criteria.get(key="support"), reader=SYSTEM)
    wanted = {(name, f"claim:{claim}"): likely for name, likely in (("s1", 0.5), ("s3", 0.75)) for claim in (0, 1)}
    assert found.confidence == pytest.approx(wanted)
    assert len(found.labels) == 6
    rows = client_of(world.alice).get(f"/api/projects/desk/runs/{run.pk}/scores/").json()["results"]
    assert {(row["sample"], row["unit"]): row["confidence"] for row in rows if row["sample"] != "s2"} == dict(
        found.confidence
    )
    assert {row["confidence"] for row in rows if row["sample"] == "s2"} == {None}
    Score.objects.all().delete()
    worked(start_run(version=version, scope={"all": True}))
    (again,), _ = judge_scores(world.project.criteria.get(key="support"), reader=SYSTEM)
    assert again.confidence == found.confidence
    assert len(openai_server.requests) == 6 == Reply.objects.count()
