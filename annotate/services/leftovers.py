"""Units that a change of their criterion takes something from, and about which nobody is asked: reviewers decide them.

Otherwise nothing would ever settle them: no task brings another label.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from annotate.models import Criterion
from annotate.models.batch import OPEN_TASK_STATUSES, RUNNING_BATCH_STATUSES
from annotate.models.verdict import DECIDED_METHODS
from annotate.services.consensus import settle_samples

# Samples on which no task will bring a label: neither the batch that asks the new version, nor one that still asks the
# old one. needed: as services.relabelling asks for; the batch: the latest that asked, whose rule of consensus holds.
_SAMPLES = """
    CREATE TEMPORARY TABLE relabel_left ON COMMIT DROP AS
    SELECT x.sample_id, max(x.batch_id) AS batch_id,
           coalesce((SELECT max(bs.overlap) FROM annotate_batchsample bs
                       JOIN annotate_batchcriterion bc ON bc.batch_id = bs.batch_id AND bc.criterion_id = %(old)s
                      WHERE bs.sample_id = x.sample_id), count(DISTINCT x.rater_id))::int AS needed
      FROM relabel_latest x
     WHERE NOT EXISTS (SELECT FROM annotate_task t
                         JOIN annotate_batch b ON b.id = t.batch_id AND b.status = ANY(%(running)s)
                         JOIN annotate_batchcriterion bc ON bc.batch_id = b.id
                                                        AND bc.criterion_id = ANY(ARRAY[%(old)s, %(new)s])
                        WHERE t.sample_id = x.sample_id AND t.status = ANY(%(open)s) AND t.purpose = 'label')
     GROUP BY x.sample_id
    -- Labels made elsewhere are settled when an admin says so, and not before.
    HAVING max(x.batch_id) IS NOT NULL
        OR EXISTS (SELECT FROM annotate_verdict v WHERE v.criterion_id = %(old)s AND v.sample_id = x.sample_id)
"""
# No rule settles what a person had decided and what has no vote left.
_FOR_PEOPLE = """
    INSERT INTO annotate_verdict (sample_id, unit, criterion_id, batch_id, state, value, method, votes, agreement,
                                  confidence, reason, revision, updated_at)
    SELECT u.sample_id, u.unit, %(new)s, l.batch_id, 'disputed', NULL, '', coalesce(u.votes, '[]'), u.agreement, NULL,
           '', 1, now()
      FROM (SELECT x.sample_id, x.unit, bool_or(x.value IS NOT NULL) AS had_votes,
                   jsonb_agg(jsonb_build_object('rater', x.name, 'value', n.value, 'revision', n.revision,
                                                'label', n.id) ORDER BY x.rater_id)
                       FILTER (WHERE n.value IS NOT NULL) AS votes,
                   max(n.same)::float / nullif(count(n.value), 0) AS agreement
              FROM relabel_latest x
              LEFT JOIN (SELECT *, count(*) OVER (PARTITION BY sample_id, unit, value) AS same
                           FROM annotate_label WHERE criterion_id = %(new)s AND value IS NOT NULL) AS n
                     ON n.sample_id = x.sample_id AND n.unit = x.unit AND n.rater_id = x.rater_id
             GROUP BY x.sample_id, x.unit) AS u
      JOIN relabel_left l USING (sample_id)
      LEFT JOIN annotate_verdict v ON v.criterion_id = %(old)s AND v.sample_id = u.sample_id AND v.unit = u.unit
     WHERE u.votes IS NULL AND u.had_votes OR v.method = ANY(%(decided)s)
    ON CONFLICT (sample_id, unit, criterion_id) DO NOTHING
"""


def settle_what_nobody_is_asked(cursor: Any, old: Criterion, new: Criterion) -> int:
    """Returns how many units wait for a reviewer because of it."""
    cursor.execute(
        _SAMPLES,
        {
            "old": old.pk,
            "new": new.pk,
            "running": [status.value for status in RUNNING_BATCH_STATUSES],
            "open": [status.value for status in OPEN_TASK_STATUSES],
        },
    )
    before = _disputed(cursor, new)
    decided = [method.value for method in DECIDED_METHODS]
    cursor.execute(_FOR_PEOPLE, {"old": old.pk, "new": new.pk, "decided": decided})
    cursor.execute("SELECT batch_id, sample_id, needed FROM relabel_left ORDER BY sample_id")
    by_batch: dict[int | None, dict[int, int]] = defaultdict(dict)
    for batch_id, sample_id, needed in cursor.fetchall():
        by_batch[batch_id][sample_id] = needed
    for batch_id, needed in by_batch.items():
        settle_samples(criterion_ids=[new.pk], needed=needed, batch_id=batch_id)
    cursor.execute("DROP TABLE relabel_left")
    return _disputed(cursor, new) - before


def _disputed(cursor: Any, new: Criterion) -> int:
    cursor.execute("SELECT count(*) FROM annotate_verdict WHERE criterion_id = %s AND state = 'disputed'", [new.pk])
    (count,) = cursor.fetchone()
    return int(count)
