"""From labels to verdicts, by rule. The one home of ties and majorities.

The rule is one statement for one sample of a batch as for a million imported labels: per unit, unanimous votes or more
than half of them settle it, or, in a batch that asks for it (Batch.consensus), only unanimous ones; otherwise, and with
fewer votes than needed, it is disputed and waits for a reviewer.
A batch may instead say how many votes it needs, and what share of them (Batch.settle_votes, Batch.settle_share): with
three asked, two that agree can then be enough when the third person couldn't tell or never came.
Saying "can't tell" is no vote, and brings the unit to the reviewer where votes are missing then, even when nobody could
tell.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.db import connection, transaction
from django.utils.translation import gettext as _

from annotate.errors import Invalid
from annotate.models import Batch, Criterion, Project, Sample, Task, User
from annotate.models.batch import OPEN_TASK_STATUSES, ConsensusRule, Purpose
from annotate.models.verdict import DECIDED_METHODS
from annotate.selectors.counting import COUNTING, LATEST_FIRST, UNDECIDED
from annotate.services.audit import note

# `votes`: the labels that count (annotate.selectors.counting), one per person: the latest, when a person met the unit
# in two batches. A verdict that a person answers for keeps its value when votes change, and is reopened for another
# look; its confidence is then the share of the new votes or, with Dawid and Skene's model, what it was.
_SETTLE = f"""
    WITH votes AS (
        SELECT DISTINCT ON (l.criterion_id, l.sample_id, l.unit, l.rater_id)
               l.criterion_id, l.sample_id, l.unit, l.rater_id, l.value, l.revision, l.id, r.name
          FROM annotate_label l
          JOIN annotate_rater r ON r.id = l.rater_id
          LEFT JOIN annotate_task t ON t.id = l.task_id
         WHERE l.criterion_id = ANY(%(criteria)s) AND (%(samples)s::bigint[] IS NULL OR l.sample_id = ANY(%(samples)s))
           AND {COUNTING}
         ORDER BY {LATEST_FIRST}
    ), units AS (
        SELECT criterion_id, sample_id, unit, count(*) AS n,
               jsonb_agg(jsonb_build_object('rater', name, 'value', value, 'revision', revision, 'label', id)
                         ORDER BY rater_id) AS votes
          FROM votes GROUP BY criterion_id, sample_id, unit
         UNION ALL
        SELECT DISTINCT l.criterion_id, l.sample_id, l.unit, 0, '[]'::jsonb
          FROM annotate_label l JOIN annotate_task t ON t.id = l.task_id
         WHERE l.criterion_id = ANY(%(criteria)s) AND (%(samples)s::bigint[] IS NULL OR l.sample_id = ANY(%(samples)s))
           AND {UNDECIDED}
           AND NOT EXISTS (SELECT FROM votes v WHERE v.criterion_id = l.criterion_id AND v.sample_id = l.sample_id
                                                 AND v.unit = l.unit)
         UNION
        -- Every vote was taken back: what rested on them can't stand.
        SELECT e.criterion_id, e.sample_id, e.unit, 0, '[]'::jsonb
          FROM annotate_verdict e
         WHERE e.criterion_id = ANY(%(criteria)s) AND e.sample_id = ANY(%(samples)s::bigint[]) AND e.votes <> '[]'
           AND NOT EXISTS (SELECT FROM votes v WHERE v.criterion_id = e.criterion_id AND v.sample_id = e.sample_id
                                                 AND v.unit = e.unit)
    ), largest AS (
        SELECT DISTINCT ON (criterion_id, sample_id, unit) criterion_id, sample_id, unit, value, count(*) AS agreeing
          FROM votes GROUP BY criterion_id, sample_id, unit, value
         ORDER BY criterion_id, sample_id, unit, count(*) DESC
    ), ruled AS (
        SELECT u.*, g.value, g.agreeing::float / u.n AS share,
               coalesce(CASE b.consensus
                   WHEN %(unanimous)s THEN u.n >= %(needed)s AND g.agreeing = u.n
                   -- The share as a quotient: 11 of 20 is the same number as the 0.55 that somebody wrote.
                   WHEN %(threshold)s THEN u.n >= b.settle_votes AND g.agreeing::float / u.n >= b.settle_share
                   ELSE u.n >= %(needed)s AND 2 * g.agreeing > u.n END, false) AS settled
          FROM units u LEFT JOIN largest g USING (criterion_id, sample_id, unit)
          LEFT JOIN annotate_batch b ON b.id = %(batch)s
         WHERE u.n >= %(needed)s OR NOT %(only_complete)s
    )
    INSERT INTO annotate_verdict AS v
           (sample_id, unit, criterion_id, batch_id, state, value, method, votes, agreement, confidence, reason,
            revision, updated_at)
    SELECT sample_id, unit, criterion_id, %(batch)s,
           CASE WHEN settled THEN 'settled' ELSE 'disputed' END,
           CASE WHEN settled THEN value END,
           CASE WHEN NOT settled THEN '' WHEN share = 1 THEN 'unanimous' ELSE 'majority' END,
           votes, share, CASE WHEN settled THEN share END, '', 1, now()
      FROM ruled ORDER BY sample_id, unit, criterion_id
    ON CONFLICT (sample_id, unit, criterion_id) DO UPDATE SET
           state = CASE WHEN v.method = ANY(%(decided)s) THEN 'reopened' ELSE excluded.state END,
           value = CASE WHEN v.method = ANY(%(decided)s) THEN v.value ELSE excluded.value END,
           method = CASE WHEN v.method = ANY(%(decided)s) THEN v.method ELSE excluded.method END,
           confidence = CASE WHEN v.method = 'dawid_skene' THEN v.confidence
                             WHEN v.method = ANY(%(decided)s)
                             THEN (SELECT avg((vote -> 'value' = v.value)::int)
                                     FROM jsonb_array_elements(excluded.votes) AS vote)
                             ELSE excluded.confidence END,
           -- What was approved was the votes of then.
           approved_by_id = NULL, approved_at = NULL,
           batch_id = coalesce(excluded.batch_id, v.batch_id), votes = excluded.votes, agreement = excluded.agreement,
           revision = v.revision + 1, updated_at = now()
     WHERE v.votes IS DISTINCT FROM excluded.votes
"""


# In one order, so that two that lock several can't wait for each other.
_LOCK_SAMPLES = """
    SELECT FROM annotate_sample WHERE id IN (SELECT sample_id FROM annotate_label WHERE criterion_id = %s)
     ORDER BY id FOR NO KEY UPDATE
"""


def settle_sample(*, sample_id: int, criterion_ids: Sequence[int], needed: int, batch_id: int) -> int:
    """Writes the verdicts of a sample that nobody in the batch is at work on any more, by the batch's rule. Returns how
    many changed.

    The caller's transaction holds the lock on the sample.
    """
    return _settle(criterion_ids, samples=[sample_id], needed=needed, batch_id=batch_id, only_complete=False)


def settle_unfinished(*, batch: Batch) -> int:
    """When labelling ends in a batch with a threshold, the people who came may be enough: writes the verdicts of
    samples that others had still to label. Returns how many changed.

    The caller's transaction has ended labelling and holds the lock on the batch.
    """
    if batch.consensus != ConsensusRule.THRESHOLD:
        return 0
    left = Task.objects.filter(batch=batch, purpose=Purpose.LABEL, status__in=OPEN_TASK_STATUSES)
    samples = Sample.objects.select_for_update(no_key=True).filter(pk__in=left.values("sample_id")).order_by("id")
    # Whoever submitted meanwhile is waited for here; whoever comes later finds that labelling has ended.
    locked = list(samples.values_list("id", flat=True))
    criteria = list(batch.criteria.values_list("id", flat=True))
    return _settle(criteria, samples=locked, needed=batch.overlap, batch_id=batch.pk, only_complete=False)


def settle_imported(*, project: Project, criterion: Criterion, needed: int, actor: User | None = None) -> int:
    """Verdicts for every unit with at least `needed` labels, made here or elsewhere, by majority. Returns how many
    changed.

    Units with fewer labels are left without a verdict; those without a majority go to the reviewers.
    """
    if isinstance(needed, bool) or not isinstance(needed, int) or not 1 <= needed <= 1000:
        raise Invalid("bad_overlap", _("Say how many labels a unit needs: a whole number from 1."))
    if criterion.project_id != project.pk:
        raise Invalid("foreign_criterion", _("This criterion belongs to another project."))
    with transaction.atomic():
        Project.objects.select_for_update().get(pk=project.pk)
        # As whoever submits does, or the votes of just now would be written over with those of just before.
        with connection.cursor() as cursor:
            cursor.execute(_LOCK_SAMPLES, [criterion.pk])
        written = _settle([criterion.pk], samples=None, needed=needed, batch_id=None, only_complete=True)
        note(
            actor=actor,
            action="verdicts.settled",
            subject=criterion.key,
            project=project,
            version=criterion.version,
            needed=needed,
            written=written,
        )
    return written


def _settle(
    criterion_ids: Sequence[int],
    *,
    samples: Sequence[int] | None,
    needed: int,
    batch_id: int | None,
    only_complete: bool,
) -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            _SETTLE,
            {
                "criteria": list(criterion_ids),
                "samples": samples,
                "needed": needed,
                "batch": batch_id,
                "only_complete": only_complete,
                "unanimous": ConsensusRule.UNANIMOUS.value,
                "threshold": ConsensusRule.THRESHOLD.value,
                "decided": [method.value for method in DECIDED_METHODS],
            },
        )
        return cursor.rowcount
