"""A system is asked the questions of a test set over HTTP, and what it says are responses."""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal
from threading import Thread
from typing import Any

import pytest
from django.db import connection

from annotate.batches.archiving import archive_project, restore_project
from annotate.core.blindness import SYSTEM
from annotate.core.errors import Conflict, Invalid
from annotate.files.import_jobs import push_samples
from annotate.models import AuditEntry, Sample
from systems.models import Response, TargetAsk, TargetReply, TargetRun
from systems.responses.versions import Description, change_version
from systems.targets.read import failures_of, progress_of
from systems.targets.runs import Limits, cancel_run, pause_run, resume_run, start_run
from systems.targets.write import remove_target, set_target
from tests.annotate.factories import World, make_batch
from tests.openai_server import OpenAIServer, Reply, Request, error
from tests.systems.targets.building import (
    BODY,
    REPLY,
    answering,
    asked,
    failures,
    make_questions,
    make_target,
    said,
    version_named,
    worked,
)


def questions_in(server: OpenAIServer) -> list[str]:
    return sorted(request.json["question"] for request in server.requests)


def push(world: World, *rows: dict[str, Any]) -> None:
    document = json.dumps({"samples": rows}).encode()
    push_samples(project=world.project, user=world.alice, version="v7", document=document)


def worked_in_thread(run: TargetRun) -> None:
    try:
        worked(run)
    finally:
        connection.close()


def test_every_question_is_asked_once_and_answered(world: World, server: OpenAIServer) -> None:
    frozen = make_questions(world, 20, reference="R")
    make_target(world, server)
    run = asked(world, frozen)
    progress = progress_of(run)
    assert (run.state, run.planned, progress.answered, progress.failed) == ("done", 20, 20, 0)
    assert (run.requests, run.unpriced, len(server.requests)) == (20, 20, 20)
    assert server.most_at_once <= 4
    assert {request.path for request in server.requests} == {"/v1/ask"}
    assert Response.objects.filter(status="ok", version__name="v7", repeat=0).count() == 20
    sample = Sample.objects.get(external_id="q3@v7")
    assert (sample.question, sample.answer, sample.reference) == ("What is 3?", "It is What is 3?", "R")
    assert sample.contexts == [{"id": "doc of What is 3?", "text": "A passage on What is 3?", "score": 0.5}]
    assert (sample.group_key, sample.pipeline_version) == ("q3", "v7")
    response = Response.objects.get(sample=sample)
    assert response.latency_ms > 0
    assert (response.cost, response.input_tokens) == (None, None)

    again = asked(world, frozen)
    assert (again.state, again.planned, len(server.requests)) == ("done", 0, 20)


def test_the_reply_says_what_it_took(world: World, server: OpenAIServer) -> None:
    usage = {"in": 900, "out": 40, "cost": 0.002}
    server.answers(lambda request: Reply(said(request.json["question"], took=81.5, usage=usage, abstained=True)))
    make_target(world, server)
    run = asked(world, make_questions(world, 2))
    response = Response.objects.first()
    assert response is not None
    assert response.sample is not None
    assert (response.latency_ms, response.input_tokens, response.output_tokens) == (81.5, 900, 40)
    assert (response.cost, response.sample.abstained) == (0.002, True)
    assert (run.cost, run.unpriced) == (Decimal("0.004"), 0)


def test_the_price_of_the_version_makes_a_cost_of_tokens(world: World, server: OpenAIServer) -> None:
    change_version(actor=None, version=version_named(world), said=Description(price={"input": 10, "output": 1_000}))
    server.answers(lambda request: Reply(said(request.json["question"], usage={"in": 1000, "out": 20})))
    make_target(world, server)
    run = asked(world, make_questions(world, 1))
    assert (Response.objects.get().cost, run.cost) == (0.03, Decimal("0.03"))


def test_repeats_are_asked_each(world: World, server: OpenAIServer) -> None:
    frozen = make_questions(world, 3)
    make_target(world, server)
    asked(world, frozen)
    run = asked(world, frozen, repeats=3)
    assert (run.planned, len(server.requests)) == (6, 9)
    assert Counter(request.json["repeat"] for request in server.requests) == {0: 3, 1: 3, 2: 3}
    assert set(Response.objects.values_list("repeat", flat=True)) == {0, 1, 2}
    assert Sample.objects.filter(external_id="q1@v7#2").exists()


def test_what_failed_is_a_response_and_asked_again_only_when_wanted(world: World, server: OpenAIServer) -> None:
    frozen = make_questions(world, 6)
    make_target(world, server)
    bad = {"What is 1?", "What is 4?"}

    def some(request: Request) -> Reply:
        return error(400) if request.json["question"] in bad else answering(request)

    server.answers(some)
    run = asked(world, frozen)
    assert (run.state, progress_of(run).answered, progress_of(run).failed) == ("done", 4, 2)
    assert failures() == dict.fromkeys(["q1", "q4"], "The endpoint rejected the request (400).")
    assert [one.revision.question.external_id for one in failures_of(run, reader=SYSTEM)] == ["q1", "q4"]
    assert Sample.objects.count() == 4

    assert asked(world, frozen).planned == 0
    server.requests.clear()
    server.answers(lambda request: error(422) if request.json["question"] == "What is 4?" else answering(request))
    again = asked(world, frozen, only_failed=True)
    assert (again.planned, questions_in(server)) == (2, ["What is 1?", "What is 4?"])
    # The reason is that of the last time.
    assert failures() == {"q4": "The endpoint rejected the request (422)."}
    assert Response.objects.get(question__external_id="q1").status == "ok"


def test_who_labels_an_answer_is_not_told_what_failed_before_it(world: World, server: OpenAIServer) -> None:
    """What was no answer by the pointers of then may be what is to be labelled now, and a run names its version."""
    frozen = make_questions(world, 2)
    make_target(world, server, reply={**REPLY, "answer": "/text"})
    run = asked(world, frozen)
    make_target(world, server)
    asked(world, frozen, only_failed=True)
    answer = Sample.objects.get(external_id="q1@v7")
    make_batch(world.project, [world.alice], samples=[answer.external_id])
    for reader, told in ((world.alice, {"q0"}), (world.rita, {"q0", "q1"})):
        assert {one.revision.question.external_id for one in failures_of(run, reader=reader)} == told


def test_a_pointer_that_is_mended_needs_no_request(world: World, server: OpenAIServer) -> None:
    frozen = make_questions(world, 3)
    make_target(world, server, reply={**REPLY, "answer": "/text"})
    run = asked(world, frozen)
    assert set(failures().values()) == {"The reply has nothing at /text, where answer should be."}
    assert "It is What is 0?" in (failures_of(run, reader=SYSTEM)[0].raw or "")
    make_target(world, server)
    again = asked(world, frozen, only_failed=True)
    assert (progress_of(again).answered, progress_of(again).kept, len(server.requests)) == (3, 3, 3)
    assert Response.objects.filter(status="ok").count() == 3
    assert all(latency > 0 for latency in Response.objects.values_list("latency_ms", flat=True))


def test_a_reply_that_said_no_answer_is_asked_anew(world: World, server: OpenAIServer) -> None:
    frozen = make_questions(world, 2)
    make_target(world, server)
    server.answers(lambda request: Reply({"error": "overloaded"}))
    asked(world, frozen)
    server.answers(answering)
    again = asked(world, frozen, only_failed=True)
    assert (progress_of(again).answered, progress_of(again).kept, len(server.requests)) == (2, 0, 4)


def test_versions_at_one_address_share_no_reply(world: World, server: OpenAIServer) -> None:
    frozen = make_questions(world, 2)
    make_target(world, server)
    asked(world, frozen, version="v7")
    asked(world, frozen, version="v8")
    assert (len(server.requests), TargetReply.objects.count(), Response.objects.count()) == (4, 4, 4)


def test_a_version_may_have_a_target_of_its_own(world: World, server: OpenAIServer) -> None:
    frozen = make_questions(world, 1)
    make_target(world, server)
    make_target(world, server, version=version_named(world, "v8"), path="/v8/ask")
    asked(world, frozen, version="v7")
    asked(world, frozen, version="v8")
    assert [request.path for request in server.requests] == ["/v1/ask", "/v1/v8/ask"]
    remove_target(actor=world.alice, project=world.project, version=version_named(world, "v8"))
    asked(world, frozen, version="v8", repeats=2)
    assert server.requests[-1].path == "/v1/ask"


def test_what_is_sent(world: World, server: OpenAIServer) -> None:
    server.answers(lambda request: Reply(said("so")))
    turns = [{"role": "user", "text": "Hello"}, {"role": "assistant", "text": "Good day"}]
    frozen = make_questions(world, 1, earlier_turns=turns)
    change_version(actor=None, version=version_named(world), said=Description(configuration={"top_k": 5, "fast": True}))
    make_target(
        world,
        server,
        path="/ask?k={{configuration.top_k}}&id={{question_id}}",
        headers={"X-Team": "search"},
        body={
            "messages": "{{messages}}",
            "history": "{{ turns }}",
            "options": ["{{configuration.top_k}}", "{{configuration.fast}}", 3, None],
            "prompt": "For {{version}}, repeat {{repeat}}: {{question}}",
        },
    )
    asked(world, frozen)
    (request,) = server.requests
    spoken = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Good day"}]
    assert request.json == {
        "messages": [*spoken, {"role": "user", "content": "What is 0?"}],
        "history": spoken,
        "options": [5, True, 3, None],
        "prompt": "For v7, repeat 0: What is 0?",
    }
    assert (request.method, request.path) == ("POST", "/v1/ask?k=5&id=q0")
    assert request.headers["x-team"] == "search"
    assert "authorization" not in request.headers


def test_a_get_request_has_its_question_in_the_path(world: World, server: OpenAIServer) -> None:
    server.answers(lambda request: Reply(["A passage", "Another one"]))
    make_target(world, server, method="GET", path="/search?q={{question}}", body=None, reply={"contexts": ""})
    asked(world, make_questions(world, 1))
    (request,) = server.requests
    assert (request.method, request.path, request.body) == ("GET", "/v1/search?q=What%20is%200%3F", b"")
    # A system that only retrieves has no answer.
    sample = Sample.objects.get()
    assert (sample.answer, [one["text"] for one in sample.contexts]) == (None, ["A passage", "Another one"])


def test_starting_twice_is_one_start(world: World, server: OpenAIServer) -> None:
    frozen = make_questions(world, 2)
    make_target(world, server)
    version = version_named(world)
    first = start_run(actor=world.alice, version=version, frozen_set=frozen)
    second = start_run(actor=world.alice, version=version, frozen_set=frozen)
    assert (first.is_new, second.is_new, second.run) == (True, False, first.run)
    with pytest.raises(Conflict) as refused:
        start_run(actor=world.alice, version=version, frozen_set=frozen, repeats=2)
    assert refused.value.code == "asked_already"
    worked(first.run)
    assert len(server.requests) == 2


def test_paused_resumed_and_cancelled(world: World, server: OpenAIServer) -> None:
    frozen = make_questions(world, 4)
    make_target(world, server)
    version = version_named(world)
    run = start_run(actor=world.alice, version=version, frozen_set=frozen).run
    pause_run(run=run, actor=world.alice)
    assert worked(run).state == "paused"
    assert not server.requests
    other = start_run(actor=world.alice, version=version, frozen_set=frozen)
    assert other.is_new
    with pytest.raises(Conflict, match=f"Run {other.run.pk} asks the same"):
        resume_run(run=run, actor=world.alice)
    cancel_run(run=other.run, actor=world.alice)
    with pytest.raises(Conflict, match="cancelled"):
        resume_run(run=other.run, actor=world.alice)
    resume_run(run=run, actor=world.alice)
    assert worked(run).state == "done"
    assert len(server.requests) == 4
    actions = list(
        AuditEntry.objects.filter(action__startswith="asking.").order_by("pk").values_list("action", flat=True)
    )
    assert actions == [
        "asking.started", "asking.paused", "asking.started", "asking.cancelled", "asking.resumed", "asking.done",
    ]  # fmt: skip


def test_a_budget_stops_it(world: World, server: OpenAIServer) -> None:
    server.answers(lambda request: Reply(said(request.json["question"], usage={"cost": 1})))
    frozen = make_questions(world, 12)
    make_target(world, server, at={"concurrency": 1})
    run = asked(world, frozen, limits=Limits(budget=Decimal(5)))
    assert (run.state, run.stop_code) == ("stopped", "budget")
    assert 5 <= run.cost <= 6  # one was under way
    with pytest.raises(Conflict, match="Increase it"):
        resume_run(run=run)
    resume_run(run=run, limits=Limits(budget=Decimal(100)))
    assert worked(run).state == "done"
    assert (len(server.requests), run.cost) == (12, Decimal(12))


def test_a_budget_needs_replies_that_say_their_cost(world: World, server: OpenAIServer) -> None:
    make_target(world, server, at={"concurrency": 1})
    run = asked(world, make_questions(world, 12), limits=Limits(budget=Decimal(5)))
    assert (run.state, run.stop_code) == ("stopped", "unpriced")


def test_no_more_requests_than_it_may(world: World, server: OpenAIServer) -> None:
    frozen = make_questions(world, 12)
    make_target(world, server)
    run = asked(world, frozen, limits=Limits(requests=5))
    assert (run.state, run.stop_code, len(server.requests), run.requests) == ("stopped", "requests", 5, 5)
    assert Response.objects.count() == 5
    with pytest.raises(Conflict):
        resume_run(run=run)
    resume_run(run=run, limits=Limits(requests=12))
    assert (worked(run).state, len(server.requests)) == ("done", 12)


@pytest.mark.parametrize(
    ("limits", "code"), [(Limits(budget=Decimal(0)), "bad_budget"), (Limits(requests=0), "bad_requests")]
)
def test_limits_that_are_none(world: World, server: OpenAIServer, limits: Limits, code: str) -> None:
    make_target(world, server)
    with pytest.raises(Invalid) as refused:
        asked(world, make_questions(world, 1), limits=limits)
    assert refused.value.code == code


def test_without_a_target_nothing_starts(world: World, server: OpenAIServer) -> None:
    frozen = make_questions(world, 1)
    with pytest.raises(Conflict) as refused:
        asked(world, frozen)
    assert refused.value.code == "no_target"
    make_target(world, server, body={"q": "{{question}}", "k": "{{configuration.top_k}}"})
    with pytest.raises(Invalid, match="The configuration of “v7” has no “top_k”"):
        asked(world, frozen)


def test_a_target_that_is_changed_or_removed_meanwhile(world: World, server: OpenAIServer) -> None:
    frozen = make_questions(world, 1)
    make_target(world, server)
    version = version_named(world)
    run = start_run(actor=world.alice, version=version, frozen_set=frozen).run
    remove_target(actor=world.alice, project=world.project)
    assert (worked(run).state, run.stop_code) == ("stopped", "no_target")
    set_target(
        actor=world.alice,
        project=world.project,
        said={"endpoint": "rag", "path": "/new", "body": BODY, "reply": REPLY},
    )
    resume_run(run=run)
    assert (worked(run).state, server.requests[0].path) == ("done", "/v1/new")


def test_an_archived_project_is_not_asked_for(world: World, server: OpenAIServer) -> None:
    frozen = make_questions(world, 2)
    make_target(world, server)
    run = start_run(actor=world.alice, version=version_named(world), frozen_set=frozen).run
    archive_project(actor=world.alice, project=world.project)
    assert worked(run).state == "running"
    assert not server.requests
    restore_project(actor=world.alice, project=world.project)
    assert worked(run).state == "done"


def test_an_answer_from_elsewhere_is_not_asked_for(world: World, server: OpenAIServer) -> None:
    frozen = make_questions(world, 3)
    make_target(world, server)
    run = start_run(actor=world.alice, version=version_named(world), frozen_set=frozen).run
    push(world, {"question_id": "q1", "answer": "Mine."})
    assert worked(run).state == "done"
    assert questions_in(server) == ["What is 0?", "What is 2?"]
    assert Sample.objects.get(external_id="q1@v7").answer == "Mine."
    assert TargetAsk.objects.filter(run=run).count() == 2


def test_an_answer_that_comes_while_it_is_asked_stays(world: World, server: OpenAIServer) -> None:
    frozen = make_questions(world, 2)
    make_target(world, server)
    run = start_run(actor=world.alice, version=version_named(world), frozen_set=frozen).run
    with server.held():
        thread = Thread(target=worked_in_thread, args=[run])
        thread.start()
        server.wait_for(2)
        push(world, {"question_id": "q1", "answer": "Mine."})
    thread.join(30)
    run.refresh_from_db()
    assert run.state == "done"
    answers = dict(Sample.objects.values_list("external_id", "answer"))
    assert answers == {"q0@v7": "It is What is 0?", "q1@v7": "Mine."}
