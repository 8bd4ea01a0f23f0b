"""Replies that are no answer, through a real connection and the whole kind: none of them becomes a score."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from judges.endpoints.calls import Model
from judges.endpoints.client import open_client
from judges.models import ScoreStatus
from tests.judges.building import unsaved_endpoint
from tests.judges.kinds.llm.making import numbers, of_claims, options, said, told, values
from tests.openai_server import OpenAIServer, Reply, chat

REFUSED, TRUNCATED, PARSE_ERROR = ScoreStatus.REFUSED, ScoreStatus.TRUNCATED, ScoreStatus.PARSE_ERROR

# Judges, each with a reply that is an answer, and what it means. Every malformed reply is held against all of them.
JUDGES = {
    "words": (options("good", "bad"), '{"reason": "r", "value": "good"}', ["good"]),
    "grades": (options(1, 2, 3, 4, 5), '{"reason": "r", "value": 5}', [5.0]),
    "truths": (options(True, False), '{"reason": "r", "value": true}', [True]),
    "number": (numbers(0, 1), '{"reason": "r", "value": 0.5}', [0.5]),
    "whole": (numbers(0, 10, whole=True), '{"reason": "r", "value": 5}', [5.0]),
    "bare": (numbers(1, 5, whole=True, rationale=False), '{"value": 5}', [5.0]),
    "claims": (
        of_claims("good", "bad"),
        '{"1": {"reason": "r", "value": "good"}, "2": {"reason": "r", "value": "bad"}}',
        ["good", "bad"],
    ),
    "rubric": (
        options(1, 5, prompt="{{requirements}}\n{{answer}}", requirements=[{"text": "a"}, {"text": "b"}]),
        '{"1": {"reason": "r", "met": true}, "2": {"reason": "r", "met": false}}',
        [0.5],
    ),
}
SAMPLE = told("It opens at nine.", "It closes at five.")

OF_ALL = {
    # Nothing, or not JSON
    "empty": "",
    "blanks": " \n\t ",
    "null": "null",
    "words": "I would say it is good.",
    "a bare number": "5",
    "a bare text": '"good"',
    "a bare truth": "true",
    "a number in words": "five out of five",
    "score in prose": "Score: 5",
    "value in prose": "The value is 5 and the answer is good.",
    "master key colon": ":",
    "master key process": "Thought process:",
    "master key step": "Let's solve this problem step by step.",
    "a list": '[{"reason": "r", "value": "good"}]',
    "an empty list": "[]",
    "an empty object": "{}",
    "XML": "<reason>r</reason><value>5</value>",
    "YAML": "reason: r\nvalue: 5",
    "single quotes": "{'reason': 'r', 'value': 'good'}",
    "no quotes": "{reason: r, value: good}",
    "a comment": '{"reason": "r", "value": 5 /* sure */}',
    "a line comment": '{"reason": "r", // why\n "value": 5}',
    "a comma too much": '{"reason": "r", "value": 5,}',
    "a comma too few": '{"reason": "r" "value": 5}',
    "cut off": '{"reason": "r", "value": ',
    "cut off in a text": '{"reason": "r, "value": "goo',
    "one brace too many": '{"reason": "r", "value": 5}}',
    "single object after words": 'Here you are: {"reason": "r", "value": 5}',
    "words after an object": '{"reason": "r", "value": 5} I hope this helps.',
    "two objects": '{"reason": "r", "value": 5}{"reason": "r", "value": 5}',
    "two objects on lines": '{"reason": "r", "value": 5}\n{"reason": "r", "value": 1}',
    "a block beside words": 'Sure!\n```json\n{"reason": "r", "value": 5}\n```',
    "two blocks": '```json\n{"reason": "r", "value": 5}\n```\n```json\n{"reason": "r", "value": 1}\n```',
    "an unclosed block": '```json\n{"reason": "r", "value": 5}',
    "an empty block": "```json\n```",
    "a block of words": "```\n5\n```",
    "a byte order mark": '\ufeff{"reason": "r", "value": 5}',
    "a no-break space": '\u00a0{"reason": "r", "value": 5}',
    "full-width brackets": "｛\u201creason\u201d: \u201cr\u201d, \u201cvalue\u201d: 5｝",
    "a JSON text of JSON": json.dumps('{"reason": "r", "value": 5}'),
    "a thought before it": '<think>good</think>{"reason": "r", "value": 5}',
    "a tool call in words": '{"name": "score", "arguments": {"reason": "r", "value": 5}}',
    # Fields
    "wrapped": '{"answer": {"reason": "r", "value": 5}}',
    "another name": '{"reason": "r", "score": 5}',
    "another case": '{"Reason": "r", "Value": 5}',
    "a field too many": '{"reason": "r", "value": 5, "confidence": 0.9}',
    "a field twice": '{"reason": "r", "value": 1, "value": 5}',
    "a field twice, once escaped": '{"reason": "r", "value": 1, "v\\u0061lue": 5}',
    "only why": '{"reason": "r"}',
    "why is a number": '{"reason": 5, "value": 5}',
    "why is nothing": '{"reason": null, "value": 5}',
    "a prototype": '{"__proto__": {"value": 5}, "reason": "r"}',
    # Values
    "no value": '{"reason": "r", "value": null}',
    "an empty value": '{"reason": "r", "value": ""}',
    "a list of one": '{"reason": "r", "value": [5]}',
    "an object": '{"reason": "r", "value": {"value": 5}}',
    "not a number": '{"reason": "r", "value": NaN}',
    "infinity": '{"reason": "r", "value": Infinity}',
    "minus infinity": '{"reason": "r", "value": -Infinity}',
    "beyond all numbers": '{"reason": "r", "value": 1e400}',
    "a huge number": '{"reason": "r", "value": 99999999999999999999999999}',
    "a small negative": '{"reason": "r", "value": -1}',
    "beyond the scale": '{"reason": "r", "value": 11}',
    "a hair beyond": '{"reason": "r", "value": 10.000000001}',
    "a number as text": '{"reason": "r", "value": "5"}',
    "a fraction": '{"reason": "r", "value": "5/5"}',
    "per cent": '{"reason": "r", "value": "100 %"}',
    "a leading zero": '{"reason": "r", "value": 05}',
    "a plus": '{"reason": "r", "value": +5}',
    "no digit behind the point": '{"reason": "r", "value": 5.}',
    "no digit before the point": '{"reason": "r", "value": .5}',
    "hexadecimal": '{"reason": "r", "value": 0x5}',
    "another script's digit": '{"reason": "r", "value": ٥}',
    "an underscore": '{"reason": "r", "value": 1_0}',
    "true as word": '{"reason": "r", "value": "true"}',
    "Python's true": '{"reason": "r", "value": True}',
    "an option's other case": '{"reason": "r", "value": "Good"}',
    "an option with a blank": '{"reason": "r", "value": "good "}',
    "an option's letters from another script": '{"reason": "r", "value": "gооd"}',
    "two options": '{"reason": "r", "value": "good|bad"}',
    "an option with NUL": '{"reason": "r", "value": "good\\u0000"}',
    "half a character": '{"reason": "r", "value": "good\\ud800"}',
    "half a character in why": '{"reason": "\\udfff", "value": 5}',
    "a raw NUL": '{"reason": "r", "value": "good\x00"}',
    "a raw line break in a text": '{"reason": "a\nb", "value": 5}',
    "deep": '{"reason": "r", "value": ' + "[" * 3000 + "]" * 3000 + "}",
    "deep objects": '{"a":' * 500 + "1" + "}" * 500,
}
# Answers to one judge, that are none to another.
OF_SOME = {
    "a truth": ('{"reason": "r", "value": true}', {"truths"}),
    "five": ('{"reason": "r", "value": 5}', {"grades", "whole"}),
    "five in halves": ('{"reason": "r", "value": 5.0}', set()),
    "five by powers": ('{"reason": "r", "value": 5e0}', set()),
    "a half": ('{"reason": "r", "value": 0.5}', {"number"}),
    "one": ('{"reason": "r", "value": 1}', {"grades", "number", "whole"}),
    "minus nothing": ('{"reason": "r", "value": -0.0}', {"number"}),
    "good": ('{"reason": "r", "value": "good"}', {"words"}),
    "value alone": ('{"value": 5}', {"bare"}),
    "in a block": ('```json\n{"reason": "r", "value": 5}\n```', {"grades", "whole"}),
    "in an unnamed block": ('\n```\n{"reason": "r", "value": 5}\n```\n', {"grades", "whole"}),
    "with blanks around it": ('\r\n\t {"value" : "good" , "reason" : ""}\n', {"words"}),
}
NOT_A_REPLY = {
    "no choices": Reply({"choices": []}),
    "no message": Reply({"choices": [{}]}),
    "an empty body": Reply(b""),
    "a page": Reply(b"<html>5</html>"),
    "content of parts": Reply({"choices": [{"message": {"content": [{"type": "text", "text": '{"value": 5}'}]}}]}),
    "content as object": Reply({"choices": [{"message": {"content": {"reason": "r", "value": 5}}}]}),
    "a tool's call": Reply(
        {"choices": [{"message": {"content": None, "tool_calls": [{"function": {"arguments": '{"value": 5}'}}]}}]}
    ),
    "NaN in the envelope": Reply(b'{"choices": [{"message": {"content": "{}"}}], "x": NaN}'),
}
OTHER_WAYS = {
    "refused": (chat(None, refusal="No."), REFUSED),
    "refused beside a score": (chat('{"reason": "r", "value": 5}', refusal="No."), REFUSED),
    "filtered": (chat('{"reason": "r", "value": 5}', finish_reason="content_filter"), REFUSED),
    "cut off": (chat('{"reason": "r", "val', finish_reason="length"), TRUNCATED),
    "cut off behind a whole object": (chat('{"reason": "r", "value": 5}', finish_reason="length"), TRUNCATED),
}


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as one:
        yield one


@pytest.fixture(scope="module")
def model(server: OpenAIServer) -> Iterator[Model]:
    with open_client(unsaved_endpoint(server)) as client:
        yield client


def ask(server: OpenAIServer, model: Model, judge: str, reply: Any) -> list[Any]:
    server.forget()
    server.script(reply if isinstance(reply, Reply) else chat(reply))
    return list(said(JUDGES[judge][0], model, SAMPLE))


def test_there_are_enough_of_them() -> None:
    assert len(OF_ALL) + len(NOT_A_REPLY) + len(OTHER_WAYS) >= 90


@pytest.mark.parametrize("judge", JUDGES)
def test_no_score_is_invented(judge: str, server: OpenAIServer, model: Model) -> None:
    _config, good, meaning = JUDGES[judge]
    assert values(ask(server, model, judge, good)) == meaning
    cases: list[tuple[str, Any, ScoreStatus]] = [(name, text, PARSE_ERROR) for name, text in OF_ALL.items()]
    cases += [(name, reply, PARSE_ERROR) for name, reply in NOT_A_REPLY.items()]
    cases += [(name, reply, status) for name, (reply, status) in OTHER_WAYS.items()]
    cases += [(name, text, PARSE_ERROR) for name, (text, fits) in OF_SOME.items() if judge not in fits]
    for name, reply, status in cases:
        scores = ask(server, model, judge, reply)
        assert len(scores) == len(meaning), name
        for score in scores:
            assert (score.status, score.number, score.label, score.rationale) == (status, None, None, ""), name
            # Our own words, without any of the model's.
            assert score.detail.endswith("."), name
            assert "5" not in score.detail, name


@pytest.mark.parametrize("name", OF_SOME)
def test_what_is_an_answer_is_taken(name: str, server: OpenAIServer, model: Model) -> None:
    text, fits = OF_SOME[name]
    for judge in sorted(fits):
        (score,) = ask(server, model, judge, text)
        assert score.status == ScoreStatus.OK, judge
        assert (score.number is None) != (score.label is None)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ('{"1": {"reason": "r", "value": "good"}}', ["good", None]),
        ('{"2": {"reason": "r", "value": "bad"}, "1": {"reason": "r", "value": "good"}}', ["good", "bad"]),
        ('{"1": {"reason": "r", "value": "good"}, "2": {"reason": "r", "value": "fine"}}', ["good", None]),
        ('{"1": {"reason": "r", "value": "good"}, "2": "good"}', ["good", None]),
        ('{"1": {"reason": "r", "value": "good"}, "2": null}', ["good", None]),
        # The model counts otherwise, so nothing is known of any claim.
        ('{"0": {"reason": "r", "value": "good"}, "1": {"reason": "r", "value": "good"}}', [None, None]),
        (
            json.dumps({number: {"reason": "r", "value": "good"} for number in "123"}),
            [None, None],
        ),
        ('{"1": {"reason": "r", "value": "good"}, "1": {"reason": "r", "value": "bad"}}', [None, None]),
        ('{"01": {"reason": "r", "value": "good"}, "2": {"reason": "r", "value": "good"}}', [None, None]),
        ('{"1": {"reason": "r", "value": "good"}, "note": "none"}', [None, None]),
        ('{"claims": {"1": {"reason": "r", "value": "good"}}}', [None, None]),
    ],
)
def test_all_claims_at_once(reply: str, expected: list[Any], server: OpenAIServer, model: Model) -> None:
    scores = ask(server, model, "claims", reply)
    assert [score.unit for score in scores] == ["claim:0", "claim:1"]
    assert values(scores) == expected
    assert [score.status for score in scores] == [PARSE_ERROR if one is None else "ok" for one in expected]


@pytest.mark.parametrize(
    "reply",
    [
        '{"1": {"reason": "r", "met": true}}',
        '{"1": {"reason": "r", "met": true}, "2": {"reason": "r", "met": 1}}',
        '{"1": {"reason": "r", "met": true}, "2": {"reason": "r", "met": "true"}}',
        '{"1": {"reason": "r", "met": true}, "2": {"reason": "r", "met": null}}',
        '{"1": {"reason": "r", "met": true}, "2": {"met": true}}',
        '{"1": {"reason": "r", "met": true}, "2": {"reason": "r", "met": true}, "3": {"reason": "r", "met": true}}',
    ],
)
def test_a_rubric_is_met_in_full_view_or_not_scored(reply: str, server: OpenAIServer, model: Model) -> None:
    (score,) = ask(server, model, "rubric", reply)
    assert (score.status, score.number) == (PARSE_ERROR, None)
