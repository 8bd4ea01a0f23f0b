"""Alice, Rita, Ann, Ben, Chen, Charlie and Dora, made through the services that pages and the API use."""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from annotate.batches.steps import open_batch
from annotate.batches.write import create_batch
from annotate.core.units import units_of
from annotate.models import (
    Batch,
    Criterion,
    Label,
    LabelEvent,
    Project,
    Sample,
    Task,
    Thread,
    ThreadMessage,
    User,
    Verdict,
)
from annotate.models.thread import ThreadState
from annotate.projects.read import current_criteria
from annotate.projects.write import create_project, set_member
from annotate.tasks.label_changes import LabelInput
from annotate.tasks.labelling import save_label, submit_task
from annotate.tasks.task_queue import take_task
from annotate.verdicts.adjudication import decide

TRISTATE = {
    "key": "support",
    "unit": "claim",
    "scale": "nominal",
    "prompt": "Supported?",
    "options": [{"value": "yes"}, {"value": "no"}, {"value": "unsure"}],
    "pass": ["yes"],
}
GRADE = {
    "key": "grade",
    "unit": "answer",
    "scale": "ordinal",
    "prompt": "How good?",
    "options": [{"value": n} for n in range(1, 6)],
    "pass": [4, 5],
}
OPTIONAL = {
    "key": "relevance",
    "unit": "context",
    "scale": "interval",
    "prompt": "How relevant, 0 to 1?",
    "required": False,
}


@dataclass
class World:
    """A support project with its people, and Dora's project next door."""

    alice: User  # admin
    rita: User  # reviewer
    ann: User
    ben: User
    chen: User
    charlie: User  # a stranger with an account
    dora: User  # admin of the other project
    project: Project
    other: Project

    @property
    def annotators(self) -> list[User]:
        return [self.ann, self.ben, self.chen]

    def criteria(self, *keys: str) -> list[Criterion]:
        found = {criterion.key: criterion for criterion in self.project.criteria.filter(is_current=True)}
        return [found[key] for key in keys or found]

    def batch(
        self,
        *,
        criteria: Sequence[str] = ("support", "grade"),
        annotators: Sequence[User] | None = None,
        overlap: int = 2,
        **more: Any,
    ) -> Batch:
        people = self.annotators if annotators is None else annotators
        given = {"criteria": self.criteria(*criteria), "overlap": overlap, "created_by": self.alice, **more}
        return make_batch(self.project, people, **given)


def make_world() -> World:
    people = {
        name: User.objects.create_user(name, password=f"{name}-secret-words")
        for name in ("alice", "rita", "ann", "ben", "chen", "charlie", "dora")
    }
    project = create_project(
        slug="desk",
        spec={"name": "Support desk", "criteria": [TRISTATE, GRADE, OPTIONAL]},
        created_by=people["alice"],
    )
    set_member(project=project, user=people["rita"], role="reviewer")
    for name in ("ann", "ben", "chen"):
        set_member(project=project, user=people[name], role="annotator")
    other = create_project(slug="next-door", spec={"name": "Next door", "criteria": [GRADE]}, created_by=people["dora"])
    return World(**people, project=project, other=other)


def make_batch(
    project: Project,
    annotators: Sequence[User],
    *,
    samples: Sequence[str] | None = None,
    opened: bool = True,
    **more: Any,
) -> Batch:
    """Each annotator is asked all current criteria of these samples, or of all, unless more says otherwise."""
    given: dict[str, Any] = {
        "name": "A batch",
        "criteria": list(current_criteria(project)),
        "overlap": len(annotators),
        "selection": {"method": "all"} if samples is None else {"method": "list", "samples": samples},
        "seed": 1,
        **more,
    }
    batch = create_batch(project=project, annotators=annotators, **given)
    return open_batch(batch=batch) if opened else batch


def make_sample(project: Project, number: int = 1, **fields: Any) -> Sample:
    content: dict[str, Any] = {
        "question": f"Question {number}?",
        "answer": "It opens at nine. It closes at five.",
        "contexts": [
            {"id": "a", "text": "Open from nine 😀 daily", "score": 0.7},
            {"id": None, "text": "营业时间：九点", "score": None},
        ],
        "claims": [
            {"text": "It opens at nine.", "start": 0, "end": 17},
            {"text": "It closes at five.", "start": 18, "end": 36},
        ],
        **fields,
    }
    return Sample.objects.create(project=project, external_id=f"s{number}", content_hash=b"0" * 16, **content)


def make_samples(project: Project, count: int, **fields: Any) -> list[Sample]:
    return [make_sample(project, number, **fields) for number in range(1, count + 1)]


def many_verdicts(criterion: Criterion, unit: str, count: int) -> None:
    """So many samples at once, by statements: of every second this unit is disputed, of the others settled. Not in a
    transaction."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO annotate_sample (project_id, external_id, question, answer, contexts, claims, claims_source,"
            " key_facts, entities, retrieved_doc_ids, relevant_doc_ids, pipeline_version, metadata, content_hash)"
            " SELECT %s, 'm' || n, 'Q?', 'A.', '[]', %s, 'file', '[]', '[]', '{}', '{}', '', '{}', ''"
            "   FROM generate_series(1, %s) AS n",
            [criterion.project_id, json.dumps([{"text": "A.", "start": 0, "end": 2}]), count],
        )
        # At once: the checks of foreign keys were planned when the table was small, and would read all of it each time.
        cursor.execute("VACUUM ANALYZE annotate_sample")
        cursor.execute(
            "INSERT INTO annotate_verdict"
            " (sample_id, unit, criterion_id, state, value, method, votes, agreement, reason, revision, updated_at)"
            " SELECT id, %s, %s, CASE WHEN id %% 2 = 0 THEN 'disputed' ELSE 'settled' END,"
            "        CASE WHEN id %% 2 = 1 THEN '1'::jsonb END, CASE WHEN id %% 2 = 1 THEN 'majority' ELSE '' END,"
            """        '[{"rater": "ann", "value": 1, "revision": 1, "label": 1}]',"""
            "        0.5 + (id %% 3) / 10.0, '', 1, now()"
            "   FROM annotate_sample WHERE project_id = %s AND external_id LIKE 'm%%'",
            [unit, criterion.pk, criterion.project_id],
        )
        cursor.execute("VACUUM ANALYZE annotate_verdict")


def take(user: User, batch: Batch, *exclude: Task) -> Task | None:
    """The user's next task of the batch, taken from its queue if need be."""
    found = take_task(
        user=user, project=batch.project, batch_number=batch.number, exclude=[task.pk for task in exclude]
    )
    return Task.objects.select_related("annotator", "sample", "batch").get(pk=found["id"]) if found else None


def must_take(user: User, batch: Batch, *exclude: Task) -> Task:
    task = take(user, batch, *exclude)
    assert task is not None
    return task


def run_out(*tasks: Task) -> None:
    """As if their leases had run out a minute ago."""
    Task.objects.filter(pk__in=[task.pk for task in tasks]).update(
        lease_expires_at=timezone.now() - timedelta(minutes=1)
    )


def say(
    user: User,
    task: Task,
    unit: str,
    criterion: str,
    value: Any,
    *,
    seen: int = 0,
    key: uuid.UUID | None = None,
    **more: Any,
) -> dict[str, Any]:
    return save_label(
        actor=user,
        task_id=task.pk,
        said=LabelInput(unit=unit, criterion=criterion, value=value, **more),
        expected_revision=seen,
        idempotency_key=key or uuid.uuid4(),
    )


def label_all(task: Task, *, support: Any = "yes", grade: Any = 4) -> None:
    """Everything that is required. A function is asked for the value of each unit."""
    for criterion, given in (("support", support), ("grade", grade)):
        asked = task.batch.criteria.filter(key=criterion).first()
        for unit in units_of(task.sample, asked.unit) if asked else []:
            say(task.annotator, task, unit, criterion, given(unit) if callable(given) else given)


def finish(task: Task, *, support: Any = "yes", grade: Any = 4) -> None:
    label_all(task, support=support, grade=grade)
    submit_task(actor=task.annotator, task_id=task.pk)


def decide_unit(reviewer: User, verdict: Verdict, value: Any, reason: str = "So.") -> Verdict:
    return decide(
        reviewer=reviewer, project=verdict.sample.project, verdict_id=verdict.pk, value=value, reason=reason,
        expected_revision=verdict.revision,
    )  # fmt: skip


def stored() -> dict[str, Any]:
    """Everything that labelling may change, to see that nothing did."""
    return {
        "labels": list(Label.objects.order_by("id").values_list("id", "value", "comment", "evidence", "revision")),
        "events": LabelEvent.objects.count(),
        "tasks": list(Task.objects.order_by("id").values_list("id", "status", "skip_reason", "active_seconds")),
        "verdicts": list(Verdict.objects.order_by("id").values_list("id", "state", "value", "reason", "revision")),
    }


@contextmanager
def rewriting_history() -> Iterator[None]:
    """Lets a test move what happened to another day, which the database refuses the application."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        yield
        cursor.execute("SET LOCAL session_replication_role = DEFAULT")


def concurrently(*calls: Callable[[], Any]) -> list[Any]:
    """Calls everything at once, each in a thread with a connection of its own. Exceptions are results."""
    barrier = threading.Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        try:
            connection.ensure_connection()
            barrier.wait(30)
            return call()
        except Exception as error:  # noqa: BLE001 - the test looks at it
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(run, calls))


def while_holding(hold: Callable[[], Any], call: Callable[[], Any], then: Callable[[], Any] | None = None) -> Any:
    """Runs `call` so that it waits for a lock that `hold` takes, and gets it when `hold`'s transaction commits.

    then: what that transaction goes on to do while `call` waits."""
    results: list[Any] = []

    def run() -> None:
        results.extend(concurrently(call))

    thread = threading.Thread(target=run)
    with transaction.atomic():
        hold()
        thread.start()
        _wait_until_somebody_waits()
        if then is not None:
            then()
    thread.join(30)
    return results[0]


def _wait_until_somebody_waits() -> None:
    for _ in range(2000):
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_locks l WHERE NOT l.granted AND l.pid <> pg_backend_pid()")
            if cursor.fetchone()[0]:
                return
        time.sleep(0.005)
    pytest.fail("Nothing waits for the lock.")


def plain(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def help_with(task: Task, reviewer: User) -> None:
    """Makes the task's labels such as were saved after a reviewer had answered a question about its sample."""
    asked = {"project": task.batch.project, "sample": task.sample, "task": task, "asked_by": task.annotator}
    thread = Thread.objects.create(**asked, state=ThreadState.ANSWERED, length=2, last_answer=2)
    for number, author in ((1, task.annotator), (2, reviewer)):
        ThreadMessage.objects.create(
            thread=thread, number=number, author=author, text="Sure?" if number == 1 else "Yes."
        )
    task.labels.update(updated_at=timezone.now())
