"""The next task of a pull queue, with 10,000 free tasks and with 1,000,000.

    python -m bench.queue [--takes 300] [--many 1000000]

In one run, taking turns, so that a busy machine is as bad for both: the time of one `take_task` (what `POST work/` does
after authorising) for somebody who is new to the batch, for somebody who has done a thousand of its tasks, and where
every task needs one of ten kinds of expertise, of which the person has four. Aim: p95 with a million at most 1.5 times
that with ten thousand.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from typing import Any

from bench.stage import figure, heading, median, own_services, percentile

COPIES = 3
TAGS = 10
DONE_BEFORE = 1000
WARM_UP = 30
AIM = 1.5

_SAMPLES = """
    INSERT INTO annotate_sample
           (project_id, external_id, question, answer, contexts, claims, claims_source, key_facts, entities,
            retrieved_doc_ids, relevant_doc_ids, pipeline_version, metadata, content_hash)
    SELECT %(project)s, %(prefix)s || n, 'When does it open?', 'At nine.',
           '[{"id": null, "text": "Open from nine.", "score": null}]', '[]', 'file', '[]', '[]', '{}', '{}', '', '{}',
           decode('00', 'hex')
      FROM generate_series(1, %(samples)s) AS n
"""
_BATCH_SAMPLES = """
    INSERT INTO annotate_batchsample (batch_id, sample_id, position, overlap, tag)
    SELECT %(batch)s, id, row_number() OVER (ORDER BY id) - 1, %(copies)s,
           CASE WHEN %(tags)s = 0 THEN '' ELSE 't' || (id %% greatest(%(tags)s, 1)) END
      FROM annotate_sample WHERE project_id = %(project)s AND starts_with(external_id, %(prefix)s)
"""
_TASKS = """
    INSERT INTO annotate_task (batch_id, sample_id, purpose, tag, position, status, skip_reason, return_message,
                               active_seconds)
    SELECT s.batch_id, s.sample_id, 'label', s.tag, s.position * %(copies)s + copy, 'pending', '', '', 0
      FROM annotate_batchsample s CROSS JOIN generate_series(0, %(copies)s - 1) AS copy
     WHERE s.batch_id = %(batch)s ORDER BY s.position, copy
"""
_DO_BEFORE = """
    UPDATE annotate_task SET annotator_id = %(user)s, status = 'submitted', submitted_at = now()
     WHERE batch_id = %(batch)s AND position < %(done)s * %(copies)s AND position %% %(copies)s = 0
"""


@dataclass(frozen=True)
class Queue:
    """One batch, and the times that its next tasks took, in seconds."""

    batch: Any
    times: list[float]


def make_queue(project: Any, user: Any, *, tasks: int, tags: int, done: int) -> Queue:
    """An open pull batch with so many tasks, made by the database: the services would take minutes for a million."""
    from django.db import connection

    from annotate.models import Batch

    number = project.batches.count() + 1
    batch = Batch.objects.create(
        project=project, number=number, name=f"{tasks:,}", overlap=COPIES, strategy="pull", status="open", seed=number
    )
    batch.annotators.add(user)
    batch.batch_criteria.create(criterion=project.criteria.get(), position=0)
    given = {
        "project": project.pk,
        "batch": batch.pk,
        "user": user.pk,
        "samples": tasks // COPIES,
        "copies": COPIES,
        "prefix": f"{number}-",
        "tags": tags,
        "done": done,
    }
    with connection.cursor() as cursor:
        for statement in (_SAMPLES, _BATCH_SAMPLES, _TASKS, *([_DO_BEFORE] if done else [])):
            cursor.execute(statement, given)
        cursor.execute("ANALYZE annotate_sample, annotate_batchsample, annotate_task")
    return Queue(batch, [])


def take(queue: Queue, user: Any) -> float:
    from annotate.models import Task
    from annotate.tasks.task_queue import take_task

    began = time.perf_counter()
    task = take_task(user=user, project=queue.batch.project, batch_number=queue.batch.number)
    took = time.perf_counter() - began
    assert task is not None
    # Done at once, so that the next call has to take another.
    Task.objects.filter(pk=task["id"]).update(status="skipped", skip_reason="measured")
    return took


def compare(name: str, user: Any, queues: list[Queue], takes: int) -> None:
    for turn in range(-WARM_UP, takes):
        for queue in queues:
            took = take(queue, user)
            if turn >= 0:
                queue.times.append(took * 1000)
    heading(name)
    for queue in queues:
        figure(
            f"{queue.batch.name} tasks",
            f"p50 {median(queue.times):5.2f} ms   p95 {percentile(queue.times, 95):5.2f} ms",
        )
    few, many = (percentile(queue.times, 95) for queue in queues)
    figure("p95, many against few", f"{many / few:.2f} times as long", f"≤ {AIM}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--takes", type=int, default=300, help="from each queue")
    parser.add_argument("--few", type=int, default=10_000)
    parser.add_argument("--many", type=int, default=1_000_000)
    asked = parser.parse_args()
    with own_services():
        from annotate.models import Membership, User
        from annotate.projects.write import create_project, set_member

        spec = {"name": "Bench", "criteria": ["relevancy"]}
        project = create_project(slug="bench", spec=spec)
        for name, tags, done in (
            ("Somebody new", 0, 0),
            (f"Somebody who has done {DONE_BEFORE:,} tasks", 0, DONE_BEFORE),
            ("By expertise: four of ten", TAGS, 0),
        ):
            user = User.objects.create_user(f"person-{tags}-{done}")
            set_member(project=project, user=user, role="annotator")
            Membership.objects.filter(user=user).update(tags=[f"t{number}" for number in range(4)] if tags else [])
            queues = [make_queue(project, user, tasks=size, tags=tags, done=done) for size in (asked.few, asked.many)]
            compare(name, user, queues, asked.takes)


if __name__ == "__main__":
    main()
