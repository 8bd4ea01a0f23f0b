"""Runs of judges that ask a model, in this process, at a real server on loopback."""

from __future__ import annotations

from collections import Counter

from annotate.core.blindness import SYSTEM
from judges.models import Ask, Score, ScoreStatus
from judges.models import Reply as Kept
from judges.runs.kept_replies import salted
from judges.runs.outcomes import storable
from judges.runs.read import LONGEST_RAW, failures, progress_of
from judges.runs.write import start_run
from tests.annotate.factories import World, make_sample, make_samples
from tests.judges.runs.building import asked_of, endpoint_at, plain_judge, worked
from tests.openai_server import OpenAIServer, error


def test_every_unit_is_asked_about_once(world: World, server: OpenAIServer) -> None:
    make_samples(world.project, 20)
    version = plain_judge(world, endpoint_at(world, server))
    run = worked(start_run(version=version, scope={"all": True}))
    progress = progress_of(run)
    assert (progress.state, progress.planned, progress.by_status) == ("done", 40, {"ok": 40})
    assert (len(server.requests), Kept.objects.count(), progress.kept) == (40, 40, 0)
    assert (progress.unpriced, progress.share, progress.failed) == (40, 1.0, 0)
    assert set(Score.objects.values_list("number", flat=True)) == {0.5}
    assert server.most_at_once <= 4

    nothing = start_run(version=version, scope={"all": True})
    assert (nothing.state, nothing.planned) == ("done", 0)


def test_repeats_are_draws_of_their_own(world: World, server: OpenAIServer) -> None:
    make_samples(world.project, 2)
    version = plain_judge(world, endpoint_at(world, server))
    worked(start_run(version=version, scope={"all": True}))
    more = worked(start_run(version=version, scope={"all": True}, repeats=3))
    assert (more.planned, len(server.requests)) == (8, 12)
    again = worked(start_run(version=version, scope={"all": True}, again=True, repeats=2))
    assert (again.first_repeat, again.planned, len(server.requests)) == (3, 8, 20)
    assert Counter(Score.objects.values_list("repeat", flat=True)) == dict.fromkeys(range(5), 4)


def test_what_failed_is_asked_again_and_what_is_good_never_changes(world: World, server: OpenAIServer) -> None:
    make_samples(world.project, 2)
    version = plain_judge(world, endpoint_at(world, server))
    server.answers(lambda request: "no idea" if asked_of(request) == "s1 claim:0" else "0.5")
    run = worked(start_run(version=version, scope={"all": True}))
    assert progress_of(run).by_status == {"ok": 3, "parse_error": 1}
    (failure,) = failures(run, reader=SYSTEM)
    assert (failure.sample, failure.unit, failure.status, failure.raw) == ("s1", "claim:0", "parse_error", "no idea")
    bad = Score.objects.exclude(status=ScoreStatus.OK).get()
    assert (bad.number, bad.label) == (None, None)

    server.answers(lambda request: "0.9")
    second = worked(start_run(version=version, scope={"all": True}))
    assert (second.planned, second.state, len(server.requests)) == (1, "done", 5)
    assert sorted(Score.objects.values_list("status", "number")) == [("ok", 0.5)] * 3 + [("ok", 0.9)]


def test_an_unchanged_question_is_not_paid_twice(world: World, server: OpenAIServer) -> None:
    make_samples(world.project, 3)
    endpoint = endpoint_at(world, server, price_in=1, price_out=1)
    first = worked(start_run(version=plain_judge(world, endpoint), scope={"all": True}))
    assert first.cost > 0
    other = plain_judge(world, endpoint, name="the same in other words", unit="claim", note="changes no question")
    second = worked(start_run(version=other, scope={"all": True}))
    progress = progress_of(second)
    assert (len(server.requests), progress.done, progress.kept, progress.cost) == (6, 6, 6, 0)
    assert Ask.objects.get(run=second, unit="claim:1", sample__external_id="s3").replies

    fresh = plain_judge(world, endpoint, name="asked anew", note="neither does this")
    third = worked(start_run(version=fresh, scope={"all": True}, fresh=True))
    assert (len(server.requests), progress_of(third).kept, third.cost) == (12, 0, first.cost)
    key = Kept.objects.order_by("pk")[0].key
    assert Kept.objects.filter(key=salted(key, third.pk)).exists()


def test_the_same_question_at_the_same_time_is_asked_once(world: World, server: OpenAIServer) -> None:
    make_samples(world.project, 4)
    endpoint = endpoint_at(world, server, concurrency=8)
    runs = [
        start_run(version=plain_judge(world, endpoint, name=name, note=name), scope={"all": True})
        for name in ("one", "two")
    ]
    server.latency = 0.02
    worked(runs[0])
    runs[1].refresh_from_db()
    assert [runs[1].state, len(server.requests), Score.objects.count()] == ["done", 8, 16]


def test_runs_at_one_endpoint_take_turns(world: World, server: OpenAIServer) -> None:
    make_samples(world.project, 20)
    endpoint = endpoint_at(world, server)
    for name in ("one", "two"):
        run = start_run(version=plain_judge(world, endpoint, name=name, model=name), scope={"all": True})
    worked(run)
    models = [request.json["model"] for request in server.requests]
    assert Counter(models) == {"one": 40, "two": 40}
    assert min(Counter(models[:20]).values()) >= 5


def test_replies_that_came_before_a_failure_are_kept(world: World, server: OpenAIServer) -> None:
    make_sample(world.project)
    version = plain_judge(world, endpoint_at(world, server), unit="answer", requests=3)
    server.script("0.1", "0.2", error(400, "no such thing"))
    run = worked(start_run(version=version, scope={"all": True}))
    assert progress_of(run).by_status == {"error": 1}
    assert (Kept.objects.count(), len(Ask.objects.get().replies), failures(run, reader=SYSTEM)[0].raw) == (2, 2, "0.2")


def test_what_the_database_cannot_hold_is_marked_as_lost(world: World, server: OpenAIServer) -> None:
    make_sample(world.project)
    version = plain_judge(world, endpoint_at(world, server), unit="answer")
    server.answers(lambda request: "a\x00b")
    run = worked(start_run(version=version, scope={"all": True}))
    assert progress_of(run).by_status == {"parse_error": 1}
    assert failures(run, reader=SYSTEM)[0].raw == "a\ufffdb"
    assert storable("\ud83d\ude00 \ud83d") == "😀 \ufffd"


def test_of_a_long_reply_that_failed_the_beginning_is_shown(world: World, server: OpenAIServer) -> None:
    make_sample(world.project)
    version = plain_judge(world, endpoint_at(world, server), unit="answer")
    server.answers(lambda request: "no number " * 90_000)
    run = worked(start_run(version=version, scope={"all": True}))
    (failure,) = failures(run, reader=SYSTEM)
    assert failure.raw == "no number " * (LONGEST_RAW // 10)
    assert len(Kept.objects.get().body["text"]) > LONGEST_RAW
