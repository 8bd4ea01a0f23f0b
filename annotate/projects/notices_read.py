"""Notices: what happened since a user last looked that concerns them. Nothing is written for it: the audit log, imports
and the user's own rows say it already; the user keeps only until when they have seen it (User.notices_seen_at).

No notice tells what was said, of which sample, or by whom: it names the project and leads to where that is shown, by
the rules of that page.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from annotate.core.permissions import ROLES_FOR
from annotate.core.rows import fetch_all
from annotate.models import User
from annotate.models.project import NOTICED_ACTIONS

# What is older is on the pages it is about, and no notice any more.
KEPT = timedelta(days=30)
MOST = 100


@dataclass(frozen=True, slots=True)
class Notice:
    """kind: what happened, as a code. number: of the batch, the qualification, the thread, the task or the run that it
    is about; None for an import, a report and a certificate. name: of the batch, the qualification, the judge, the file
    or a report's criterion; "" for others. key: of the criterion of a report or a certificate."""

    kind: str
    at: datetime
    slug: str
    project: str
    number: int | None
    name: str
    key: str
    is_new: bool


# What concerns the user of the entries of their projects, and the number it leads to. The entries first, of which there
# are few; then each is looked up by its number, since a plan that joins all tasks would read all tasks.
_ENTRIES = f"""
    SELECT CASE e.action WHEN 'thread.answered' THEN 'answered' WHEN 'thread.asked' THEN 'asked'
                         WHEN 'task.returned' THEN 'returned' WHEN 'batch.adjudicating' THEN 'disputes'
                         WHEN 'certificate.ended' THEN
                           CASE e.details ->> 'code' WHEN 'drift' THEN 'drifted' ELSE 'certificate_ended' END
                         WHEN 'qualification.waived' THEN 'qualified'
                         WHEN 'qualification.tested' THEN
                           CASE WHEN (e.details ->> 'passed')::boolean THEN 'qualified' ELSE 'not_qualified' END
                         ELSE 'given' END AS kind,
           e.created_at AS at, e.slug, e.project,
           coalesce(e.details ->> 'thread', e.details ->> 'number', e.details ->> 'task')::bigint AS number,
           CASE WHEN e.action ~ '^(batch|qualification)[.]' THEN e.subject
                ELSE coalesce(own.batch, e.details ->> 'judge', '') END AS name,
           CASE WHEN e.action = 'certificate.ended' THEN e.details ->> 'criterion' ELSE '' END AS key
      FROM (
        SELECT e.*, p.slug, p.name AS project, m.role
          FROM annotate_membership m
          JOIN annotate_project p ON p.id = m.project_id AND p.deleting_at IS NULL
          JOIN annotate_auditentry e ON e.project_id = p.id AND e.created_at > %(after)s
               AND e.action IN ({", ".join(f"'{action}'" for action in NOTICED_ACTIONS)})
         WHERE m.user_id = %(user)s AND m.is_active
           AND (e.actor_id IS DISTINCT FROM %(user)s OR e.action = 'qualification.tested')
        OFFSET 0) e
      LEFT JOIN LATERAL (
        SELECT b.name AS batch FROM annotate_task t JOIN annotate_batch b ON b.id = t.batch_id
         WHERE e.action LIKE 'task.%%' AND t.id = (e.details ->> 'task')::bigint AND t.annotator_id = %(user)s
         LIMIT 1) own ON true
     WHERE CASE e.action
             WHEN 'thread.answered' THEN (
               SELECT th.asked_by_id = %(user)s FROM annotate_thread th WHERE th.id = (e.details ->> 'thread')::bigint)
             WHEN 'qualification.tested' THEN (e.details ->> 'candidate')::bigint = %(user)s
             WHEN 'qualification.waived' THEN (e.details ->> 'candidate')::bigint = %(user)s
             WHEN 'thread.asked' THEN e.role = ANY(%(answers)s)
             WHEN 'batch.adjudicating' THEN e.role = ANY(%(decides)s)
             WHEN 'certificate.ended' THEN e.role = ANY(%(certifies)s)
             WHEN 'batch.opened' THEN EXISTS (
               SELECT FROM annotate_batch o JOIN annotate_batch_annotators a ON a.batch_id = o.id
                WHERE o.project_id = e.project_id AND o.number = (e.details ->> 'number')::int
                  AND a.user_id = %(user)s)
             ELSE own.batch IS NOT NULL END
"""
_IMPORTS = """
    SELECT CASE j.status WHEN 'done' THEN 'imported' ELSE 'import_failed' END, j.finished_at, p.slug, p.name,
           NULL::bigint, j.file_name, ''
      FROM annotate_importjob j
      JOIN annotate_project p ON p.id = j.project_id AND p.deleting_at IS NULL
      JOIN annotate_membership m ON m.project_id = p.id AND m.user_id = j.created_by_id AND m.is_active
     WHERE j.created_by_id = %(user)s AND j.status IN ('done', 'failed') AND j.finished_at > %(after)s
"""
_LATEST = f"({_ENTRIES} UNION ALL {_IMPORTS}) AS found ORDER BY at DESC LIMIT {MOST}"


def notices(user: User) -> list[Notice]:
    """Those of the last days, the latest first; new ones are those since the user marked them as read."""
    since = seen_until(user)
    rows = fetch_all(f"SELECT * FROM {_LATEST}", _given(user, timezone.now() - KEPT))
    return as_notices(rows, since)


def new_notices(user: User) -> int:
    """How many are new; no more than MOST are counted. For the header of every page."""
    ((count,),) = fetch_all(f"SELECT count(*) FROM (SELECT FROM {_LATEST}) AS new", _given(user, seen_until(user)))
    return int(count)


def as_notices(rows: Iterable[tuple[Any, ...]], since: datetime) -> list[Notice]:
    return [
        Notice(kind, at, slug, project, number, name, key, is_new=at > since)
        for kind, at, slug, project, number, name, key in rows
    ]


def seen_until(user: User) -> datetime:
    """Who never marked any: all since their account was made."""
    return max(user.notices_seen_at or user.date_joined, timezone.now() - KEPT)


def _given(user: User, after: datetime) -> dict[str, Any]:
    return {
        "user": user.pk,
        "after": after,
        "answers": sorted(ROLES_FOR["threads.answer"]),
        "decides": sorted(ROLES_FOR["adjudication.decide"]),
        "certifies": sorted(ROLES_FOR["certificates.issue"]),
    }
