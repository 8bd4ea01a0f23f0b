"""Notices of runs and reports (annotate.projects.notices_read): that one which the user asked for is done, or stopped
by itself."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.utils import timezone

from annotate.core.permissions import ROLES_FOR
from annotate.core.rows import fetch_all
from annotate.models import User
from annotate.projects.notices_read import KEPT, MOST, Notice, as_notices, seen_until

# When a run stopped stands in the audit log; one that goes on is no news.
_RUNS = """
    SELECT CASE r.state WHEN 'done' THEN 'run_done' ELSE 'run_stopped' END AS kind,
           coalesce(stopped.at, r.finished_at) AS at, p.slug, p.name, r.id, g.name, ''
      FROM judges_run r
      JOIN judges_judgeversion v ON v.id = r.version_id
      JOIN judges_judge g ON g.id = v.judge_id
      JOIN annotate_project p ON p.id = g.project_id AND p.deleting_at IS NULL
      JOIN annotate_membership m ON m.project_id = p.id AND m.user_id = r.created_by_id AND m.is_active
      LEFT JOIN LATERAL (
        SELECT max(e.created_at) AS at FROM annotate_auditentry e
         WHERE r.state = 'stopped' AND e.project_id = p.id AND e.created_at > %(after)s
           AND e.action = 'run.stopped' AND e.details -> 'run' = to_jsonb(r.id)) stopped ON true
     WHERE r.created_by_id = %(user)s AND r.purpose <> 'import'
       AND (r.state = 'done' AND r.finished_at > %(after)s OR r.state = 'stopped' AND stopped.at IS NOT NULL)
"""
_REPORTS = """
    SELECT 'report_made', a.created_at, p.slug, p.name, NULL::bigint, c.name, c.key
      FROM judges_alignmentreport a
      JOIN annotate_criterion c ON c.id = a.criterion_id
      JOIN annotate_project p ON p.id = a.project_id AND p.deleting_at IS NULL
      JOIN annotate_membership m ON m.project_id = p.id AND m.user_id = a.created_by_id AND m.is_active
           AND m.role = ANY(%(reads)s)
     WHERE a.created_by_id = %(user)s AND a.created_at > %(after)s
"""
_LATEST = f"({_RUNS} UNION ALL {_REPORTS}) AS found ORDER BY at DESC LIMIT {MOST}"


def judge_notices(user: User) -> list[Notice]:
    """As `notices`."""
    return as_notices(fetch_all(f"SELECT * FROM {_LATEST}", _given(user, timezone.now() - KEPT)), seen_until(user))


def new_judge_notices(user: User) -> int:
    ((count,),) = fetch_all(f"SELECT count(*) FROM (SELECT FROM {_LATEST}) AS new", _given(user, seen_until(user)))
    return int(count)


def _given(user: User, after: datetime) -> dict[str, Any]:
    return {"user": user.pk, "after": after, "reads": sorted(ROLES_FOR["reports.read"])}
