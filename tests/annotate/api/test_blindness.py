"""An annotator never sees another's label nor a judge's score: every reply of every route is read.

The others' comments, reasons, values, evidence and names, and the judges' numbers and rationales, are words and figures
that occur nowhere else.
"""

from __future__ import annotations

import re
import uuid
from typing import Any

import pytest

from alignment import Estimate
from annotate.batches.steps import close_batch, reopen_batch
from annotate.models import Batch, Flag, GoldAnswer, Task, Thread, Verdict
from annotate.projects.criteria import add_criteria
from annotate.tasks.labelling import skip_task, submit_task
from annotate.tasks.threads import ask as ask_reviewers
from annotate.tasks.threads import write
from judges.models import (
    PROMISE,
    Alignment,
    Ask,
    CascadeLook,
    GroupSide,
    Judge,
    JudgeVersion,
    Reply,
    Rule,
    Run,
    Score,
    Side,
    Trial,
)
from tests.annotate.api.routes import API, PAGES, Route
from tests.annotate.api.test_access import PUBLIC, ask
from tests.annotate.factories import World, label_all, make_sample, make_world, say
from tests.clients import as_user, client_of
from tests.database import copied_from_world

MARKER = "zebra"
NUMBERS = (0.8173625, 0.6291847, 31.4159265)
OWN = "my own words"
# A name of the kind of thing, not of what it holds.
MARKS = re.compile("|".join([MARKER, *(re.escape(str(number)) for number in NUMBERS)]), re.IGNORECASE)


told = copied_from_world()


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> World:
    """Ann has open tasks, one half done and one submitted; Ben and Chen have said a lot; two judges have scored all."""
    world = make_world()
    add_criteria(
        project=world.project,
        specs=[
            {"key": "measure", "unit": "answer", "scale": "interval", "prompt": "A number", "required": False},
            "corrected_answer",
        ],
    )
    samples = [
        make_sample(
            world.project,
            number,
            contexts=[{"id": "a", "text": f"A striped horse, also called {MARKER[0]}…", "score": NUMBERS[2]}],
            metadata={"model": f"{MARKER}-model"},
            pipeline_version=f"{MARKER}-pipeline",
        )
        for number in range(1, 7)
    ]
    batch = world.batch(criteria=("support", "grade", "measure", "corrected_answer"), overlap=3)
    for task in batch.tasks.exclude(annotator=world.ann).select_related("annotator", "sample", "batch"):
        label_all(task, grade=2)
        say(task.annotator, task, "answer", "measure", NUMBERS[0], comment=f"{MARKER} comment")
        say(task.annotator, task, "answer", "corrected_answer", f"{MARKER} opens at nine.")
        say(
            task.annotator, task, "claim:0", "support", "no", seen=1, comment=f"{MARKER} why",
            evidence=[{"context": 0, "start": 2, "end": 9, "quote": "striped"}],
        )  # fmt: skip
        if task.sample in samples[:4]:
            submit_task(actor=task.annotator, task_id=task.pk)
        elif task.sample == samples[4]:
            skip_task(actor=task.annotator, task_id=task.pk, reason=f"{MARKER} reason")
    mine = list(batch.tasks.filter(annotator=world.ann).order_by("position"))
    label_all(mine[0])
    submit_task(actor=world.ann, task_id=mine[0].pk)
    say(world.ann, mine[1], "answer", "grade", 3, comment=OWN)
    for sample in samples:
        GoldAnswer.objects.create(
            sample=sample, unit="answer", criterion=world.criteria("grade")[0], value=3, reason=f"{MARKER} known"
        )
    Flag.objects.create(
        project=world.project,
        sample=samples[0],
        reason=f"{MARKER} flag",
        raised_by=world.ben,
        resolution=f"{MARKER} done",
    )
    others = batch.tasks.filter(annotator=world.ben, status="in_progress").first()
    assert others is not None
    thread = ask_reviewers(actor=world.ben, task_id=others.pk, text=f"{MARKER} question", idempotency_key=uuid.uuid4())
    given = {"project": world.project, "thread_id": thread.pk, "idempotency_key": uuid.uuid4()}
    write(actor=world.rita, text=f"{MARKER} answer", **given)
    Verdict.objects.filter(state="disputed").update(reason=f"{MARKER} dispute")
    assert Verdict.objects.filter(state="disputed").exists()
    for name in ("lenient", "strict"):
        judge = Judge.objects.create(project=world.project, name=f"{MARKER}-{name}", description=f"{MARKER} judge")
        config = {"prompt": f"{MARKER} prompt", "examples": {"drawn": [{"sample": "s1", "value": f"{MARKER} yes"}]}}
        version = JudgeVersion.objects.create(judge=judge, number=1, label="1", content_hash=name, config=config)
        run = Run.objects.create(version=version, purpose="scores", stop_message=f"{MARKER} stop")
        reply = Reply.objects.create(
            project=world.project, key=name, body={"text": f"{MARKER} reply"}, model=f"{MARKER}-model", latency=0.1
        )
        Ask.objects.create(
            run=run, sample=samples[0], unit="answer", state="done", status="parse_error", detail=f"{MARKER} detail",
            replies=[reply.pk],
        )  # fmt: skip
        for sample in samples:
            Score.objects.create(
                version=version, run=run, sample=sample, unit="answer", dimension="grade",
                number=NUMBERS[1], rationale=f"{MARKER} rationale",
            )  # fmt: skip
        tried = JudgeVersion.objects.create(judge=judge, number=2, label="2", content_hash=f"{name} 2", state="trial")
        Trial.objects.create(
            version=tried, base=version, criterion=world.criteria("grade")[0], dimension="grade", seed=1, wanted=6,
            samples=[sample.external_id for sample in samples], run=Run.objects.create(version=tried),
        )  # fmt: skip
        alignment = Alignment.objects.create(
            base=version, criterion=world.criteria("grade")[0], dimension="grade", seed=1, step="done",
            units=[[one.external_id, "answer", one.external_id, place % 2, 2, 1] for place, one in enumerate(samples)],
            candidates=[{"name": "start", "parts": {}}], result=RESULT,
        )  # fmt: skip
        Rule.objects.create(
            alignment=alignment, proposed=f"{MARKER} rule", text=f"{MARKER} rule", groups=1,
            sources=[[samples[0].external_id, "answer"]],
        )  # fmt: skip
    cheap, dear = JudgeVersion.objects.filter(state="kept").order_by("pk")
    CascadeLook.objects.create(
        project=world.project, criterion_key="grade", criterion=world.criteria("grade")[0], cheap=cheap, dear=dear,
        cheap_dimension="grade", dear_dimension="grade", number=1, level=0.97, promise=PROMISE, fingerprint="f",
        samples={"dev": [], "test": [samples[0].external_id], "chances": {}},
        result={
            "judges": [{"threshold": NUMBERS[1], "coverage": 1.0, "by_confidence": False}] * 2, "drawn_by": [],
            "dev": 3, "units": 3, "groups": 3, "unsettled": 0, "family": [], "certified": [],
        },
    )  # fmt: skip
    return world


ESTIMATE = Estimate(0.25, 0.125, 0.375, n=6, clusters=6, method="kappa").as_dict()
RESULT = {
    "candidates": [{"name": "start", "kappa": 0.25, "error": 0.0, "answered": 6, "same_labels": 0.25}],
    "chosen": 0, "of_folds": [0, 0], "before": ESTIMATE, "after": ESTIMATE, "gain": ESTIMATE, "same_labels": 0.25,
    "units": 6, "groups": 6, "wrong": 1, "divided": 0,
}  # fmt: skip


def plausible(world: World) -> list[dict[str, Any]]:
    """Values for the parameters of routes: every task, every verdict, every sample, so that nothing is missed."""
    batch = Batch.objects.get()
    ids = {
        "task_id": list(Task.objects.values_list("pk", flat=True)),
        "verdict_id": list(Verdict.objects.values_list("pk", flat=True)),
        "sample_id": list(world.project.samples.values_list("pk", flat=True)),
        "run_id": list(Run.objects.values_list("pk", flat=True)),
        "judge_id": list(Judge.objects.values_list("pk", flat=True)),
        "trial_id": list(Trial.objects.values_list("pk", flat=True)),
        "alignment_id": list(Alignment.objects.values_list("pk", flat=True)),
        "look_id": list(CascadeLook.objects.values_list("pk", flat=True)),
        "rule_id": list(Rule.objects.values_list("pk", flat=True)),
        "key": ["grade", "support", "measure"],
        "gold_id": list(GoldAnswer.objects.values_list("pk", flat=True)),
        "flag_id": list(Flag.objects.values_list("pk", flat=True)),
        "thread_id": list(Thread.objects.values_list("pk", flat=True)),
        "username": ["ann", "ben"],
        "step": ["open", "pause", "close"],
        "form": ["json", "html", "zip"],
    }
    fixed = {
        "slug": "desk",
        "number": batch.number,
        "version": 1,
        "job_id": "00000000-0000-4000-8000-000000000000",
        "token_id": "ts_0123456789ab",
        "invite_id": 1,
        "link_id": 1,
        "view_id": 1,
        "question_id": 1,
        "version_id": 1,
        "asking_id": 1,
        "set_name": "support",
        "experiment_name": "v2-or-v1",
        "response_id": 1,
        "qualification_id": 1,
        "what": "waive",
        "of": "units",
        "schedule_id": 1,
        "image_name": "0" * 32,
        "token": "no-such-invitation",
        "name": "statistics",
        "start": "lexical-token-overlap",
    }
    most = max(len(values) for values in ids.values())
    return [{**fixed, **{name: values[n % len(values)] for name, values in ids.items()}} for n in range(most)]


def urls_of(route: Route, world: World) -> list[str]:
    return sorted({route.url(values) for values in plausible(world)})


def read(reply: Any) -> str:
    body = b"".join(reply.streaming_content) if reply.streaming else reply.content
    return body.decode(errors="replace") + str(dict(reply.headers))


def assert_blind(reply: Any, what: str) -> str:
    text = read(reply)
    found = MARKS.search(text)
    assert found is None, f"{what} shows {found[0]!r}: …{text[max(0, found.start() - 200) : found.end() + 50]}…"
    assert reply.status_code < 500, what
    return text


# A parameter that is refused is named in the refusal, hence no judge's real name.
PARAMETERS = {"limit": "1000", "search": "s", "criterion": "grade", "batch": "1", "judge": "z-strict"}


def queries_of(route: Route) -> list[str]:
    """Without a parameter, with each that the route reads, and with one that it refuses: it reads no other."""
    read = [f"?{name}={value}" for name, value in PARAMETERS.items() if name in route.view.params]
    return ["", *read, "?unknown=1"]


@pytest.mark.parametrize("route", [route for route in API if route.path not in PUBLIC], ids=str)
def test_no_endpoint_tells(told: World, route: Route) -> None:
    client = client_of(told.ann)
    for url in urls_of(route, told):
        if "GET" in route.methods:
            for query in queries_of(route):
                assert_blind(client.get(url + query), url + query)
        for method in route.methods:
            if method != "GET":
                for headers in ({}, {"If-Match": "1", "Idempotency-Key": "5f0c1fb0-0d63-4f0a-9a55-2f1f0ad1e5f1"}):
                    assert_blind(ask(client, method, url, {}, **headers), f"{method} {url}")


def test_the_loop_never_tells_and_shows_ones_own(told: World) -> None:
    """Also after others have submitted, after submitting oneself, and in a batch that was closed and opened again."""
    client = client_of(told.ann)
    texts = []
    for _ in range(10):
        task = client.get("/api/projects/desk/work/").json()["task"]
        if task is None:
            break
        url = f"/api/tasks/{task['id']}/"
        texts.append(assert_blind(client.get(url), url))
        row = Task.objects.get(pk=task["id"])
        close_batch(batch=row.batch)
        texts.append(assert_blind(client.get(url), url))
        reopen_batch(batch=row.batch)
        for label in task["labels"]:
            stale = {"unit": label["unit"], "criterion": label["criterion"], "value": 1}
            headers = {"If-Match": "99", "Idempotency-Key": "5f0c1fb0-0d63-4f0a-9a55-2f1f0ad1e5f1"}
            texts.append(assert_blind(ask(client, "PUT", url + "labels/", stale, **headers), url))
        texts.append(assert_blind(ask(client, "POST", url + "submit/"), url))
        label_missing(told, row)
        texts.append(assert_blind(ask(client, "POST", url + "submit/"), url))
        texts.append(assert_blind(client.get(url), url))
    assert not Task.objects.filter(annotator=told.ann).exclude(status="submitted").exists()
    assert sum(OWN in text for text in texts) >= 3, "one's own labels are shown"


def label_missing(world: World, task: Task) -> None:
    given = set(task.labels.filter(value__isnull=False).values_list("unit", flat=True))
    for unit, criterion, value in (
        ("claim:0", "support", "yes"),
        ("claim:1", "support", "yes"),
        ("answer", "grade", 4),
    ):
        if unit not in given:
            say(world.ann, task, unit, criterion, value)


@pytest.mark.parametrize("route", PAGES, ids=str)
def test_no_page_tells(told: World, route: Route) -> None:
    client = as_user(told.ann)
    for url in urls_of(route, told):
        for query in ("", "?criterion=grade", "?batch=1"):
            assert_blind(client.get(url + query, follow=True), url + query)


def test_the_workspace_shows_ones_own(told: World) -> None:
    client = as_user(told.ann)
    assert OWN in read(client.get("/p/desk/label/"))


def test_the_markers_would_be_seen(told: World) -> None:
    """The search finds them where they may be: in what a reviewer reads."""
    client = client_of(told.rita)
    verdict = Verdict.objects.filter(state="disputed", unit="claim:0").first() or Verdict.objects.get(unit="claim:0")
    assert MARKS.search(read(client.get(f"/api/projects/desk/disputes/{verdict.pk}/")))
    assert MARKS.search(read(client.get("/api/projects/desk/samples/")))
    run = Run.objects.order_by("pk").first()
    assert run is not None
    # Of dev: of test, and before the division, it is told to nobody.
    sides = [
        GroupSide(project=told.project, criterion_key=key, group=name, side=Side.DEV)
        for key in told.project.criteria.values_list("key", flat=True)
        for name in told.project.samples.values_list("external_id", flat=True)
    ]
    GroupSide.objects.bulk_create(sides, ignore_conflicts=True)
    for who, part in (("alice", "failures/"), ("alice", "scores/"), ("rita", "")):
        url = f"/api/projects/desk/runs/{run.pk}/{part}"
        assert MARKS.search(read(client_of(getattr(told, who)).get(url))), url
