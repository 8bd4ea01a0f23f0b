"""How long a choice took: as the browser measured it, else as far as the log of choices can tell."""

from __future__ import annotations

from django.db import connection

from annotate.models import Criterion

# A gap of so many seconds was a pause.
PAUSE_SECONDS = 600
# No hand is quicker: a script sent these, or one key set several.
QUICKEST_SECONDS = 0.2

_GAPS = """
    WITH choices AS (
        SELECT l.id, l.criterion_id, l.active_ms, e.revision, extract(epoch FROM e.created_at - lag(e.created_at) OVER (
            PARTITION BY l.task_id ORDER BY e.created_at, e.id)) AS gap
        FROM annotate_labelevent e JOIN annotate_label l ON l.id = e.label_id
        WHERE l.task_id IN (SELECT DISTINCT task_id FROM annotate_label WHERE criterion_id = %(criterion)s)
          AND e.carried_from_id IS NULL
    )
    SELECT id, round(coalesce(active_ms / 1000.0, gap)::numeric, 1)::float8 FROM choices
    WHERE criterion_id = %(criterion)s AND revision = 1
      AND coalesce(active_ms / 1000.0, gap) >= %(quickest)s
      AND (active_ms IS NOT NULL OR gap < %(pause)s)
"""


def seconds_per_choice(criterion: Criterion) -> dict[int, float]:
    """Of each label the seconds of work that the browser measured for it; where it measured none, of its first choice
    the seconds since the choice before it in the same task, on any criterion.

    Left out are labels that came faster than a hand; and of those without a measure the first choice of a task, which
    has none before it, and choices after a pause of ten minutes or more.
    """
    with connection.cursor() as cursor:
        cursor.execute(_GAPS, {"criterion": criterion.pk, "quickest": QUICKEST_SECONDS, "pause": PAUSE_SECONDS})
        return dict(cursor.fetchall())
