"""From labels to verdicts, by rule. The one home of ties and majorities.

The rule is one statement for one sample of a batch as for a million imported labels: per unit, unanimous votes or more
than half of them settle it, or, in a batch that asks for it (Batch.consensus), only unanimous ones; otherwise, and with
fewer votes than needed, it is disputed and waits for a reviewer.
Saying "can't tell" is no vote, but brings the unit to the reviewer, even when nobody could tell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.db import connection, transaction
from django.utils.translation import gettext as _

from annotate.errors import Invalid
from annotate.models import Criterion, Project, User
from annotate.models.batch import ConsensusRule
from annotate.models.verdict import DECIDED_METHODS
from annotate.selectors.counting import COUNTING, LATEST_FIRST, UNDECIDED
from annotate.services.audit import note

_THESE = "(%(samples)s::bigint[] IS NULL OR l.sample_id = ANY(%(samples)s::bigint[]))"
# `votes`: the labels that count (annotate.selectors.counting), one per person: the latest, when a person met the unit
# in two batches. A verdict that a person answers for keeps its value when votes change, and is reopened for another
# look; its confidence is then the share of the new votes or, with Dawid and Skene's model, what it was.
_SETTLE = f"""
    WITH asked AS (
        SELECT * FROM unnest(%(samples)s::bigint[], %(needed)s::int[]) AS a (sample_id, needed)
    ), votes AS (
        SELECT DISTINCT ON (l.criterion_id, l.sample_id, l.unit, l.rater_id)
               l.criterion_id, l.sample_id, l.unit, l.rater_id, l.value, l.revision, l.id, r.name
          FROM annotate_label l
          JOIN annotate_rater r ON r.id = l.rater_id
          LEFT JOIN annotate_task t ON t.id = l.task_id
         WHERE l.criterion_id = ANY(%(criteria)s) AND {_THESE}
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
         WHERE l.criterion_id = ANY(%(criteria)s) AND {_THESE}
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
    ), counted AS (
        SELECT u.*, coalesce(a.needed, %(of_all)s) AS needed FROM units u LEFT JOIN asked a USING (sample_id)
    ), ruled AS (
        SELECT u.*, g.value, g.agreeing::float / u.n AS share,
               u.n >= u.needed AND coalesce(CASE (SELECT consensus FROM annotate_batch WHERE id = %(batch)s)
                   WHEN %(unanimous)s THEN g.agreeing = u.n ELSE 2 * g.agreeing > u.n END, false) AS settled
          FROM counted u LEFT JOIN largest g USING (criterion_id, sample_id, unit)
         WHERE u.n >= u.needed OR %(of_all)s::int IS NULL
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


def settle_samples(*, criterion_ids: Sequence[int], needed: Mapping[int, int], batch_id: int | None) -> int:
    """Writes the verdicts of samples that nobody in the batch is at work on any more, by the batch's rule; with fewer
    votes than needed (by sample) a unit is disputed. batch_id None: by majority. Returns how many verdicts changed.

    The caller's transaction holds the locks on the samples.
    """
    return _settle(criterion_ids, needed=needed, of_all=None, batch_id=batch_id)


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
        written = _settle([criterion.pk], needed=None, of_all=needed, batch_id=None)
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
    criterion_ids: Sequence[int], *, needed: Mapping[int, int] | None, of_all: int | None, batch_id: int | None
) -> int:
    """needed: of the samples to settle. None: all samples, those of their units that have at least `of_all` votes."""
    with connection.cursor() as cursor:
        cursor.execute(
            _SETTLE,
            {
                "criteria": list(criterion_ids),
                "samples": None if needed is None else list(needed),
                "needed": None if needed is None else list(needed.values()),
                "of_all": of_all,
                "batch": batch_id,
                "unanimous": ConsensusRule.UNANIMOUS.value,
                "decided": [method.value for method in DECIDED_METHODS],
            },
        )
        return cursor.rowcount
