"""One large project, made by the database in an installation that stays.

    python -m bench.scale_data DATA_DIR [--samples 1000000] [--annotators 200]

Samples and the beginning of two judges come in as files, as anybody brings them; batches, tasks, labels, verdicts and
the rest of the scores are written by statements, since services would take hours: with a million samples ten million
labels. What the rows hold is drawn by hashes of their numbers, so that the same arguments give the same project.

Twenty batches of equal size: two with three people a sample, the others with two. The last two are open and half done,
one with its tasks given out, one a queue. A reviewer decided four of five disputes.

With `DATA_DIR` set to the folder, `make run` opens the installation: admin `admin` without a password
(`manage.py changepassword admin`). Stopped, it can be copied as it is (`cp -a`).
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.import_speed import samples as long_samples
from bench.stage import figure, heading, import_rows, own_services

SLUG = "scale"
BATCHES, OPEN = 20, 2
CLAIMS = 4
CRITERIA: list[dict[str, Any]] = [
    {
        "key": "support",
        "unit": "claim",
        "scale": "nominal",
        "prompt": "Do the contexts support it?",
        "options": [{"value": "supported"}, {"value": "contradicted"}],
        "pass": ["supported"],
    },
    {
        "key": "grade",
        "unit": "answer",
        "scale": "ordinal",
        "prompt": "How good is it?",
        "options": [{"value": value} for value in range(1, 6)],
        "pass": [4, 5],
    },
]

# A whole number from 0 below `most`, drawn from the numbers given.
_DRAWN = "((hashint8extended({number}, {seed}) & 1048575) * ({most}) >> 20)"


def drawn(number: str, seed: int, most: str | int) -> str:
    return _DRAWN.format(number=number, seed=seed, most=most)


_BATCH_SAMPLES = f"""
    INSERT INTO annotate_batchsample (batch_id, sample_id, position, overlap, probability, stratum)
    SELECT b.id, s.id, (s.n - 1) %% %(per_batch)s, b.overlap, 1, 1
      FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM annotate_sample WHERE project_id = %(project)s) AS s
      JOIN annotate_batch b ON b.project_id = %(project)s AND b.number = least({BATCHES}, 1 + (s.n - 1) / %(per_batch)s)
"""
# The people of a sample stand side by side among all of them, so that there are `overlap` different ones.
_TASKS = f"""
    INSERT INTO annotate_task (batch_id, sample_id, annotator_id, purpose, tag, position, status, skip_reason,
                               return_message, active_seconds, started_at, submitted_at)
    SELECT bs.batch_id, bs.sample_id,
           CASE WHEN done OR b.strategy = 'balanced'
                THEN (%(people)s::bigint[])[1 + ({drawn("bs.sample_id", 1, "%(annotators)s")} + copy) %% %(annotators)s]
                END,
           'label', '', bs.position * b.overlap + copy, CASE WHEN done THEN 'submitted' ELSE 'pending' END, '', '',
           CASE WHEN done THEN 40 ELSE 0 END, CASE WHEN done THEN at - interval '40 s' END, CASE WHEN done THEN at END
      FROM annotate_batchsample bs JOIN annotate_batch b ON b.id = bs.batch_id
     CROSS JOIN LATERAL generate_series(0, b.overlap - 1) AS copy
     CROSS JOIN LATERAL (SELECT b.status = 'closed' OR bs.position < %(per_batch)s / 2 AS done,
                                timestamptz '2026-01-05 08:00Z' + bs.sample_id * interval '6 s' + copy * interval '9 h'
                                AS at) AS d
     WHERE b.project_id = %(project)s ORDER BY bs.id, copy
"""
# Each says what is true of the unit, but for one time in ten.
_LABELS = f"""
    INSERT INTO annotate_label (task_id, rater_id, sample_id, unit, criterion_id, value, comment, evidence, active_ms,
                                revision, updated_at)
    SELECT t.id, r.id, t.sample_id, u.unit, u.criterion_id,
           CASE WHEN u.at < {CLAIMS}
                THEN CASE WHEN (truth < 4) <> errs THEN '"supported"'::jsonb ELSE '"contradicted"'::jsonb END
                ELSE to_jsonb(1 + CASE WHEN errs THEN (truth + 1) %% 5 ELSE truth END) END,
           '', '[]', 8000, 1, t.submitted_at - (4 - u.at) * interval '8 s'
      FROM annotate_task t JOIN annotate_rater r ON r.user_id = t.annotator_id AND r.project_id = %(project)s
     CROSS JOIN (SELECT 'claim:' || n AS unit, %(support)s::bigint AS criterion_id, n AS at
                   FROM generate_series(0, {CLAIMS - 1}) AS n
                  UNION ALL SELECT 'answer', %(grade)s, {CLAIMS}) AS u
     CROSS JOIN LATERAL (SELECT {drawn("t.sample_id * 8 + u.at", 2, 5)} AS truth,
                                {drawn("t.id * 8 + u.at", 3, 10)} = 0 AS errs) AS d
     WHERE t.status = 'submitted' ORDER BY t.id, u.at
"""
_LABEL_EVENTS = """
    INSERT INTO annotate_labelevent (label_id, revision, value, comment, evidence, actor_id, idempotency_key,
                                     created_at)
    SELECT l.id, 1, l.value, '', '[]', r.user_id, gen_random_uuid(), l.updated_at
      FROM annotate_label l JOIN annotate_rater r ON r.id = l.rater_id
"""
_VERDICTS = f"""
    WITH units AS (
        SELECT l.sample_id, l.unit, l.criterion_id, max(t.batch_id) AS batch_id, count(*) AS n,
               mode() WITHIN GROUP (ORDER BY l.value) AS value, max(l.updated_at) + interval '1 s' AS at,
               jsonb_agg(jsonb_build_object('rater', r.name, 'value', l.value, 'revision', 1, 'label', l.id)
                         ORDER BY r.id) AS votes
          FROM annotate_label l JOIN annotate_rater r ON r.id = l.rater_id JOIN annotate_task t ON t.id = l.task_id
         GROUP BY l.sample_id, l.unit, l.criterion_id
    ), counted AS (
        SELECT u.*, {drawn("u.sample_id", 4, 5)} > 0 AS by_reviewer,
               (SELECT count(*) FROM jsonb_array_elements(votes) AS vote WHERE vote -> 'value' = u.value)::float / n
               AS share
          FROM units u
    )
    INSERT INTO annotate_verdict (sample_id, unit, criterion_id, batch_id, state, value, method, votes, agreement,
                                  confidence, reason, decided_votes, decided_at, decided_by_id, revision, updated_at)
    SELECT sample_id, unit, criterion_id, batch_id, CASE WHEN settled THEN 'settled' ELSE 'disputed' END,
           CASE WHEN settled THEN value END,
           CASE WHEN share = 1 THEN 'unanimous' WHEN share > 0.5 THEN 'majority' WHEN settled THEN 'adjudicated' ELSE ''
                END,
           votes, share, CASE WHEN settled THEN share END, '', CASE WHEN decided THEN votes END,
           CASE WHEN decided THEN at END, CASE WHEN decided THEN %(reviewer)s::bigint END, 1, at
      FROM counted CROSS JOIN LATERAL (SELECT share > 0.5 OR by_reviewer AS settled,
                                              share <= 0.5 AND by_reviewer AS decided) AS d
     ORDER BY sample_id, unit
"""
_VERDICT_EVENTS = """
    INSERT INTO annotate_verdictevent (verdict_id, revision, state, value, method, votes, confidence, reason, actor_id,
                                       created_at)
    SELECT id, 1, state, value, method, votes, confidence, reason, decided_by_id, updated_at FROM annotate_verdict
"""
# Of the samples after those in the files, up to a share of all: a number near the truth, or the more likely option.
_SCORES = f"""
    INSERT INTO judges_score (version_id, run_id, sample_id, unit, dimension, repeat, status, number, label, rationale)
    SELECT f.version_id, f.run_id, s.id, u.unit, f.dimension, 0, 'ok',
           CASE WHEN u.at = {CLAIMS} THEN (truth + {drawn("s.id", 5, 100)} / 100.0) / 5 END,
           CASE WHEN u.at < {CLAIMS} THEN CASE WHEN truth < 4 THEN 'supported' ELSE 'contradicted' END END, ''
      FROM (SELECT DISTINCT version_id, run_id, dimension FROM judges_score) AS f
      JOIN (SELECT 'claim:' || n AS unit, 'support' AS dimension, n AS at FROM generate_series(0, {CLAIMS - 1}) AS n
             UNION ALL SELECT 'answer', 'grade', {CLAIMS}) AS u ON u.dimension = f.dimension
     CROSS JOIN (SELECT id FROM annotate_sample WHERE project_id = %(project)s ORDER BY id LIMIT %(scored)s OFFSET 10)
                AS s
     CROSS JOIN LATERAL (SELECT {drawn("s.id * 8 + u.at", 2, 5)} AS truth) AS d
"""
_FLAGS = """
    INSERT INTO annotate_flag (project_id, sample_id, reason, raised_by_id, created_at, resolution, resolved_at,
                               resolved_by_id)
    SELECT project_id, id, 'The context is cut off.', %(reviewer)s, created_at, '',
           CASE WHEN id %% 4 > 0 THEN created_at END, CASE WHEN id %% 4 > 0 THEN %(reviewer)s::bigint END
      FROM annotate_sample WHERE project_id = %(project)s AND id %% 200 = 0
"""
FILLED = {
    "annotate_batchsample": _BATCH_SAMPLES,
    "annotate_task": _TASKS,
    "annotate_label": _LABELS,
    "annotate_labelevent": _LABEL_EVENTS,
    "annotate_verdict": _VERDICTS,
    "annotate_verdictevent": _VERDICT_EVENTS,
    "judges_score": _SCORES,
    "annotate_flag": _FLAGS,
}


def samples(count: int) -> Iterator[dict[str, Any]]:
    """Those of `bench.import_speed`, shorter: about 700 bytes each, the first ones with their texts in Chinese."""
    rng = random.Random(20260902)
    han = "退货政策说明用户可以在三十天内申请退款门店营业时间为上午九点到晚上八点保修期两年"
    for number, row in enumerate(long_samples(count)):
        claims = [claim[:40].strip() + "." for claim in row["claims"]]
        if number < count // 100:
            claims = ["".join(rng.choices(han, k=12)) + "。" for _ in claims]
            row["question"] = "".join(rng.choices(han, k=14)) + "？"
        row |= {"claims": claims, "answer": " ".join(claims), "reference": row["reference"][:40]}
        row["contexts"] = [{**context, "text": context["text"][:60]} for context in row["contexts"][:2]]
        topics = {"topic": f"topic {number % 12}", "source": f"desk {number % 4}", "long": number % 2 == 0}
        yield {**row, "metadata": topics, "pipeline_version": f"v{1 + number * 8 // count}"}


def scores(rows: int) -> Iterator[dict[str, Any]]:
    for number in range(rows):
        yield {"judge": "grader", "sample_id": f"sample-{number}", "unit": "answer", "criterion": "grade", "score": 0.5}
        yield {
            "judge": "checker",
            "sample_id": f"sample-{number}",
            "unit": "claim:0",
            "criterion": "support",
            "label": "supported",
        }


@contextmanager
def filled_at_once(cursor: Any, table: str) -> Iterator[None]:
    """Without the table's indexes, foreign keys and triggers until it is full: rows would take several times as
    long."""
    cursor.execute(
        """SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint
            WHERE conrelid = %s::regclass AND contype IN ('u', 'f')""",
        [table],
    )
    constraints = cursor.fetchall()
    for name, _ in constraints:
        cursor.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
    cursor.execute(
        """SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index
            WHERE indrelid = %s::regclass AND NOT indisprimary""",
        [table],
    )
    indexes = cursor.fetchall()
    for name, _ in indexes:
        cursor.execute(f"DROP INDEX {name}")
    cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
    yield
    cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")
    for name, definition in constraints:
        cursor.execute(f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition}")
    for _, definition in indexes:
        cursor.execute(definition)


def fill(given: dict[str, Any]) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        for setting in ("maintenance_work_mem = '1GB'", "work_mem = '512MB'", "synchronous_commit = off"):
            cursor.execute(f"SET {setting}")
        for table, statement in FILLED.items():
            began = time.perf_counter()
            with filled_at_once(cursor, table):
                cursor.execute(statement, given)
                rows = cursor.rowcount
            cursor.execute(f"VACUUM (ANALYZE) {table}")
            figure(table, f"{rows:,} rows, {time.perf_counter() - began:.0f} s")
        cursor.execute("VACUUM (ANALYZE)")


def make(folder: Path, count: int, annotators: int) -> None:
    from annotate.models import Batch, User
    from annotate.models.project import Role
    from annotate.projects.write import create_project, set_member

    admin = User.objects.create_user("admin", is_superuser=True, preferences={"introduced": True})
    reviewer = User.objects.create_user("reviewer", preferences={"introduced": True})
    project = create_project(slug=SLUG, spec={"name": "Scale", "criteria": CRITERIA}, created_by=admin)
    set_member(project=project, user=reviewer, role=Role.REVIEWER)
    people = [
        User.objects.create_user(f"annotator-{number:03}", preferences={"introduced": True})
        for number in range(annotators)
    ]
    for user in people:
        set_member(project=project, user=user, role=Role.ANNOTATOR)

    began = time.perf_counter()
    import_rows(project, "samples", samples(count), folder)
    import_rows(project, "scores", scores(min(10, count)), folder)
    figure("annotate_sample", f"{count:,} rows, {time.perf_counter() - began:.0f} s")
    criteria = list(project.criteria.order_by("pk"))
    for number in range(1, BATCHES + 1):
        is_open = number > BATCHES - OPEN
        batch = Batch.objects.create(
            project=project,
            number=number,
            name=f"Part {number}",
            overlap=3 if number <= OPEN else 2,
            strategy="pull" if number == BATCHES else "balanced",
            status="open" if is_open else "closed",
            selection={"method": "random", "n": count // BATCHES, "seed": number, "came": "drawn"},
            seed=number,
            created_by=admin,
        )
        batch.annotators.set(people)
        for place, criterion in enumerate(criteria):
            batch.batch_criteria.create(criterion=criterion, position=place)
    keys = {criterion.key: criterion.pk for criterion in criteria}
    fill(
        {
            "project": project.pk,
            "people": [user.pk for user in people],
            "annotators": annotators,
            "reviewer": reviewer.pk,
            "per_batch": max(1, count // BATCHES),
            "scored": count // 5,
            **keys,
        }
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="DATA_DIR", help="one that isn't there yet")
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--annotators", type=int, default=200)
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True)
    heading(f"{asked.samples:,} samples, {asked.annotators} annotators")
    with own_services(asked.folder) as folder:
        make(folder, asked.samples, asked.annotators)


if __name__ == "__main__":
    main()
