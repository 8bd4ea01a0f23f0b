"""What a target may send instead of an answer: each is a failed response that says what it was, and the run goes on."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from annotate.core.blindness import SYSTEM
from annotate.models import Sample
from judges.endpoints.keys import Secret
from judges.endpoints.redaction import Redaction
from judges.models import Endpoint
from judges.runs.open_run import MANY_REFUSED
from systems.models import Response, TargetReply
from systems.targets.read import failures_of, progress_of
from systems.targets.replies import read_body
from tests.annotate.factories import World
from tests.openai_server import OpenAIServer, Reply, Request, error
from tests.systems.targets.building import answering, asked, failures, make_questions, make_target, said

SECRET = "sk-target-1234567890abcdef"
HITS = said("")["hits"]


def raw(text: str) -> bytes:
    return text.encode()


def with_usage(text: str) -> bytes:
    return raw(f'{{"answer": "A", "hits": [], "usage": {text}}}')


BAD: dict[str, tuple[Reply, str]] = {
    "redirect": (
        Reply(status=302, headers={"Location": "http://127.0.0.1/elsewhere"}),
        "The endpoint redirected the request (302), which is not followed. Check the base URL.",
    ),
    "html": (Reply(raw("<!doctype html><h1>Log in</h1>")), "The reply is HTML or XML, not JSON."),
    "half": (Reply(raw('{"answer": "Half of')), "The reply is not JSON, or only half of it ("),
    "empty": (Reply(b""), "The reply is empty."),
    "not text": (Reply(b'{"answer": "caf\xe9"}'), "The reply is not UTF-8 (byte 16)."),
    "nan": (Reply(with_usage('{"cost": NaN}')), "The reply has NaN or Infinity, which is not JSON."),
    "infinite": (Reply(with_usage('{"cost": 1e999}')), "The reply "),
    "negative": (
        Reply(with_usage('{"cost": -1}')),
        "The reply has no number from 0 at /usage/cost, where cost should be.",
    ),
    "negative latency": (
        Reply(said("x", took=-5)),
        "The reply has no number from 0 at /took, where latency_ms should be.",
    ),
    "half a token": (
        Reply(with_usage('{"in": 1.5}')),
        "The reply has no whole number from 0 at /usage/in, where input_tokens should be.",
    ),
    "no answer": (Reply({"hits": HITS}), "The reply has nothing at /answer, where answer should be."),
    "no text": (Reply({"answer": ["A"], "hits": HITS}), "The reply has no text at /answer, where answer should be."),
    "blank": (Reply({"answer": " ", "hits": HITS}), "The reply has an empty text at /answer, where answer should be."),
    "null": (Reply({"answer": None, "hits": HITS}), "The reply has no text at /answer, where answer should be."),
    "no list": (Reply({"answer": "A", "hits": {}}), "The reply has no list at /hits, where contexts should be."),
    "bare context": (
        Reply({"answer": "A", "hits": ["text"]}),
        "The reply has nothing at /hits/0/body, where context_text should be.",
    ),
    "bad score": (
        Reply({"answer": "A", "hits": [{"id": "d", "body": "B", "score": "high"}]}),
        "The reply has no finite number at /hits/0/score, where context_score should be.",
    ),
    "perhaps": (
        Reply(said("x", abstained="perhaps")),
        "The reply has no true or false at /abstained, where abstained should be.",
    ),
    "deep": (
        Reply(raw('{"answer": "A", "x": ' + "[" * 300 + "]" * 300 + "}")),
        "The reply is nested more than 100 levels",
    ),
    "large": (Reply(b" " * 100 * 1024 * 1024), "The endpoint’s reply is larger than 1 MiB."),
    "packed": (
        Reply(gzip.compress(b" " * 100 * 1024 * 1024), headers={"Content-Encoding": "gzip"}),
        "The endpoint’s reply is larger than 1 MiB.",
    ),
    "not storable": (
        Reply({"answer": ". ".join(f"Sentence {n} is here" for n in range(3000)) + ".", "hits": HITS}),
        "The answer can't be stored. answer: ",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_one_bad_reply_is_one_failure(world: World, server: OpenAIServer, name: str) -> None:
    reply, why = BAD[name]
    frozen = make_questions(world, 4)
    make_target(world, server)
    server.answers(lambda request: reply if request.json["question"] == "What is 2?" else answering(request))
    run = asked(world, frozen)
    assert (run.state, progress_of(run).answered, progress_of(run).failed) == ("done", 3, 1)
    ((question, said_of_it),) = failures().items()
    assert (question, said_of_it[: len(why)]) == ("q2", why)
    assert failures_of(run, reader=SYSTEM).get().detail == said_of_it
    assert Sample.objects.count() == 3
    assert not Response.objects.get(status="failed").latency_ms


def test_a_target_that_hangs_is_given_up_after_some_tries(world: World, server: OpenAIServer) -> None:
    make_target(world, server, at={"timeout_seconds": 1})
    server.answers(
        lambda request: Reply(hangs=True) if request.json["question"] == "What is 2?" else answering(request)
    )
    run = asked(world, make_questions(world, 4))
    assert (run.state, progress_of(run).answered) == ("done", 3)
    assert failures() == {"q2": "The endpoint did not answer in time."}
    assert run.requests == 3 + 4


def test_what_passes_is_tried_again(world: World, server: OpenAIServer) -> None:
    frozen = make_questions(world, 3)
    make_target(world, server)
    server.script(error(503), Reply(hangs_up=True), error(429, retry_after=0))
    run = asked(world, frozen)
    assert (run.state, progress_of(run).answered, run.requests) == ("done", 3, 6)


def test_a_target_that_is_away_stops_the_run_and_nothing_has_failed(world: World, server: OpenAIServer) -> None:
    frozen = make_questions(world, 12)
    make_target(world, server)
    server.answers(lambda request: error(500, retry_after=0))
    run = asked(world, frozen)
    assert (run.state, run.stop_code, Response.objects.count()) == ("stopped", "endpoint_away", 0)


def test_a_target_that_fails_on_everything_is_stopped_early(world: World, server: OpenAIServer) -> None:
    frozen = make_questions(world, 2 * MANY_REFUSED)
    make_target(world, server)
    server.answers(lambda request: Reply({"detail": "no"}))
    run = asked(world, frozen)
    assert (run.state, run.stop_code) == ("stopped", "refused")
    assert run.stop_message == (
        f"{MANY_REFUSED} requests in a row failed: The reply has nothing at /answer, where answer should be."
    )
    # What was under way still came in.
    assert MANY_REFUSED <= Response.objects.count() < MANY_REFUSED + 10


def test_an_address_that_is_not_allowed(world: World, server: OpenAIServer, settings: Any) -> None:
    frozen = make_questions(world, 2)
    make_target(world, server)
    settings.JUDGE_PRIVATE_HOSTS = []
    run = asked(world, frozen)
    assert (run.state, run.stop_code) == ("stopped", "private_address")
    assert not server.requests


def test_a_key_that_is_refused_stops_the_run(world: World, server: OpenAIServer) -> None:
    frozen = make_questions(world, 2)
    make_target(world, server)
    server.key = SECRET
    run = asked(world, frozen)
    assert (run.state, run.stop_code, Response.objects.count()) == ("stopped", "refused_key", 0)


@pytest.mark.parametrize("headers", [{}, {"X-API-Key": "{{key}}"}])
def test_the_key_is_sent_and_kept_nowhere(
    world: World, server: OpenAIServer, headers: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_KEY_RAG", SECRET)
    frozen = make_questions(world, 3)
    make_target(world, server, headers=headers, at={"key_source": "environment", "key_variable": "JUDGE_KEY_RAG"})

    def telling(request: Request) -> Reply:
        """What it was sent, in an answer, in a passage, or in a reply that can't be read."""
        number = request.json["question"][8]
        if number == "0":
            return Reply(said("x", answer=f"The key is {SECRET}", echo={SECRET: json.dumps(dict(request.headers))}))
        if number == "1":
            return Reply({"answer": "A", "hits": [{"id": SECRET, "body": SECRET[::-1], "score": 1}]})
        return Reply(raw(f"<p>{SECRET}</p>"))

    server.answers(telling)
    asked(world, frozen)
    for request in server.requests:
        sent = [request.headers.get("authorization"), request.headers.get("x-api-key")]
        assert sent == ([None, SECRET] if headers else [f"Bearer {SECRET}", None])
    kept = [str(list(model.objects.values())) for model in (Sample, Response, TargetReply, Endpoint)]
    assert Response.objects.filter(status="ok").count() == 2
    assert not any(SECRET in text or SECRET[::-1] in text for text in kept)
    assert "The key is [key]" in kept[0]


DIGITS = "12345678901234567"


@pytest.mark.parametrize(
    ("key", "body"),
    [
        # Whoever reads JSON sees the last of two fields with one name.
        (SECRET, f'{{"answer": "A", "echo": "{SECRET}", "echo": ""}}'),
        (SECRET, f'{{"answer": "A", "sent": {{"key": "\\u0073{SECRET[1:]}", "key": 1}}}}'),
        (DIGITS, f'{{"answer": "A", "trace": {DIGITS}}}'),
        (DIGITS, f'{{"answer": "A", "trace": [[-{DIGITS}]]}}'),
    ],
)
def test_the_key_is_kept_in_no_field(key: str, body: str) -> None:
    text, problem = read_body(body.encode(), Redaction(Secret(key)))
    assert (json.loads(text)["answer"], problem) == ("A", "")
    assert key[1:] not in text
    # Without a key to look for, numbers stay.
    assert str(json.loads(body)) == str(json.loads(read_body(body.encode(), Redaction(None))[0]))
