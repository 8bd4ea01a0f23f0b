"""Which labels are given, and which of several verdicts on a unit is the latest, for statements by hand.

They stand here since blindness needs them; annotate.labels.read, the home of what counts, has the same for Django's
queries.
"""

from __future__ import annotations

from annotate.models.batch import Purpose, TaskStatus

# Of `annotate_label l LEFT JOIN annotate_task t ON t.id = l.task_id`.
GIVEN = f"(l.task_id IS NULL OR t.status = '{TaskStatus.SUBMITTED.value}' AND t.purpose = '{Purpose.LABEL.value}')"

# Of a verdict and its criterion `c`: `annotate.labels.read.latest_of_unit`. `{verdict}` names the verdict.
IS_LATEST = """
    (c.is_current OR NOT EXISTS (
        SELECT FROM annotate_verdict later JOIN annotate_criterion lc ON lc.id = later.criterion_id
         WHERE later.sample_id = {verdict}.sample_id AND later.unit = {verdict}.unit
           AND lc.key = c.key AND lc.version > c.version))
"""
