"""From labels to verdicts, by rule. The one home of ties and majorities.

The rule is one statement for one sample of a batch as for a million imported labels: per unit, unanimous votes or more
than half of them settle it, or, in a batch that asks for it (Batch.consensus), only unanimous ones; otherwise, and with
fewer votes than needed, it is disputed and waits for a reviewer.
A batch may instead say how many votes it needs, and what share of them (Batch.settle_votes, Batch.settle_share): with
three asked, two that agree can then be enough when the third person couldn't tell or never came.
The vote on a multi-select criterion is the whole selection: people agree who chose the same options (decision 40).
Free text is no vote and has no verdict. Saying "can't tell" is no vote either, and brings the unit to the reviewer
where votes are missing then, also when no one could tell.

Units that lose a label or their decision by a change of their criterion, and are not asked about again, go to the
reviewers: no task would ever bring another label.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from annotate.core.errors import Invalid
from annotate.core.rows import execute, fetch_all
from annotate.core.scales import require_voted
from annotate.core.trail import note
from annotate.core.units import without_abstentions
from annotate.labels.read import COUNTING, LATEST_FIRST, UNDECIDED, VOTE
from annotate.models import Criterion, Project, User, Verdict
from annotate.models.batch import OPEN_TASK_STATUSES, RUNNING_BATCH_STATUSES, ConsensusRule
from annotate.models.label import DECIDED_METHODS, VerdictState

# `said`: the votes (annotate.labels.read), one per person: the latest, when a person met the unit in two batches; and
# beside them who couldn't tell, whose NULL no count counts. `share`: how many of the votes say the
# most frequent value, as a quotient: 11 of 20 is the same number as the 0.55 that an admin wrote.
# A verdict that a person answers for keeps its value when votes change, and is reopened for another look; its
# confidence is then the share of the new votes or, with Dawid and Skene's model, what it was. An approval was of the
# votes of then.
#
# Samples pass here one by one, each with its last submission, and with one sample it is the length of the plan that
# costs. So there is a statement for given samples and one for all of a criterion, neither reads labels twice, and both
# stay below the 4,096 characters beyond which psycopg parses a statement anew each time.
_SETTLE = f"""
    WITH said AS (
        SELECT DISTINCT ON (l.value IS NULL, l.criterion_id, l.sample_id, l.unit, l.rater_id)
               l.criterion_id, l.sample_id, l.unit, l.rater_id, l.value, l.revision, l.id, l.task_id, r.name
          FROM annotate_label l
          JOIN annotate_rater r ON r.id = l.rater_id
          LEFT JOIN annotate_task t ON t.id = l.task_id
         WHERE l.criterion_id = ANY(%(criteria)s) AND {{these}}
         ORDER BY l.value IS NULL, {LATEST_FIRST}
    ), alike AS (
        SELECT *, count(value) OVER (PARTITION BY criterion_id, sample_id, unit, value) AS n FROM said
    ), units AS (
        SELECT criterion_id, sample_id, unit, count(value) AS n, max(n)::float / nullif(count(value), 0) AS share,
               mode() WITHIN GROUP (ORDER BY value) AS value, bool_or(task_id IS NULL) AS elsewhere,
               coalesce(jsonb_agg(jsonb_build_object('rater', name, 'value', value, 'revision', revision, 'label', id)
                                  ORDER BY rater_id) FILTER (WHERE value IS NOT NULL), '[]') AS votes
          FROM alike GROUP BY criterion_id, sample_id, unit
    ), counted AS (
        {{counted}}
    ), ruled AS (
        SELECT u.*, coalesce(CASE b.consensus
                   WHEN '{ConsensusRule.UNANIMOUS.value}' THEN u.n >= u.needed AND u.share = 1
                   WHEN '{ConsensusRule.THRESHOLD.value}' THEN u.n >= b.settle_votes AND u.share >= b.settle_share
                   ELSE u.n >= u.needed AND u.share > 0.5 END, false) AS settled
          FROM counted u LEFT JOIN annotate_batch b ON b.id = %(batch)s
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
           approved_by_id = NULL, approved_at = NULL,
           batch_id = coalesce(excluded.batch_id, v.batch_id), votes = excluded.votes, agreement = excluded.agreement,
           revision = v.revision + 1, updated_at = now()
     WHERE v.votes IS DISTINCT FROM excluded.votes
"""
# Where all labels say "can't tell", or every vote was taken back, there are no votes: what rested on them can't stand.
_SETTLE_SAMPLES = _SETTLE.format(
    these=f"l.sample_id = ANY(%(samples)s::bigint[]) AND (({VOTE}) OR t.id IS NOT NULL AND {UNDECIDED})",
    counted="""
        SELECT u.*, a.needed
          FROM unnest(%(samples)s::bigint[], %(needed)s::int[]) AS a (sample_id, needed) JOIN (
            SELECT * FROM units
             UNION ALL
            SELECT e.criterion_id, e.sample_id, e.unit, 0, NULL, NULL, false, '[]'
              FROM annotate_verdict e
             WHERE e.criterion_id = ANY(%(criteria)s) AND e.sample_id = ANY(%(samples)s::bigint[]) AND e.votes <> '[]'
               AND NOT EXISTS (SELECT FROM units u WHERE u.criterion_id = e.criterion_id
                                                     AND u.sample_id = e.sample_id AND u.unit = e.unit)
          ) u USING (sample_id)""",
)
_SETTLE_ALL = _SETTLE.format(
    these=COUNTING, counted="SELECT *, %(needed)s::int AS needed FROM units WHERE n >= %(needed)s AND elsewhere"
)


_DECIDED = [method.value for method in DECIDED_METHODS]
# In one order, so that two that lock several can't wait for each other.
_LOCK_SAMPLES = """
    SELECT FROM annotate_sample WHERE id IN (SELECT sample_id FROM annotate_label WHERE criterion_id = %s)
     ORDER BY id FOR NO KEY UPDATE
"""


def lock_labelled_samples(criterion: Criterion) -> None:
    """Locks every sample that has a label of the criterion, as submissions do: what is read afterwards has each label
    that was submitted before, and none comes until the transaction ends."""
    execute(_LOCK_SAMPLES, [criterion.pk])


def settle_samples(*, criterion_ids: Sequence[int], needed: Mapping[int, int], batch_id: int | None) -> int:
    """Writes the verdicts of samples that have no open task in the batch any more, by the batch's rule; with fewer
    votes than needed (by sample) a unit is disputed. batch_id None: by majority. Returns how many verdicts changed.

    The caller's transaction holds the locks on the samples.
    """
    return _settle(_SETTLE_SAMPLES, criterion_ids, batch_id, samples=list(needed), needed=list(needed.values()))


def settle_imported(*, project: Project, criterion: Criterion, needed: int, actor: User | None = None) -> int:
    """Verdicts by majority for every unit with a label made elsewhere and at least `needed` labels, those of submitted
    tasks included. Returns how many changed.

    Units with fewer labels are left without a verdict; those without a majority go to the reviewers. What was labelled
    here alone is left to its batch.
    """
    if isinstance(needed, bool) or not isinstance(needed, int) or not 1 <= needed <= 1000:
        raise Invalid("bad_overlap", _("Labels per unit: must be a whole number, at least 1."))
    if criterion.project_id != project.pk:
        raise Invalid("foreign_criterion", _("This criterion belongs to another project."))
    require_voted(criterion)
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        lock_labelled_samples(criterion)
        written = _settle(_SETTLE_ALL, [criterion.pk], None, needed=needed)
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


def _settle(sql: str, criterion_ids: Sequence[int], batch_id: int | None, **given: Any) -> int:
    return execute(sql, {"criteria": list(criterion_ids), "batch": batch_id, "decided": _DECIDED, **given})


# Samples on which no task will bring a label: neither the batch that asks the new version, nor one that still asks the
# old one. needed: as annotate.batches.relabelling asks for; the batch: the latest that asked, whose rule holds.
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


def settle_what_is_not_asked(old: Criterion, new: Criterion) -> int:
    """Returns how many units wait for a reviewer because of it. Within the transaction that made `relabel_latest`."""
    if new.is_text:
        return 0
    execute(
        _SAMPLES,
        {
            "old": old.pk,
            "new": new.pk,
            "running": [status.value for status in RUNNING_BATCH_STATUSES],
            "open": [status.value for status in OPEN_TASK_STATUSES],
        },
    )
    disputed = without_abstentions(Verdict.objects.filter(criterion=new, state=VerdictState.DISPUTED))
    before = disputed.count()
    execute(_FOR_PEOPLE, {"old": old.pk, "new": new.pk, "decided": _DECIDED})
    by_batch: dict[int | None, dict[int, int]] = defaultdict(dict)
    left = fetch_all("SELECT batch_id, sample_id, needed FROM relabel_left ORDER BY sample_id")
    for batch_id, sample_id, needed in left:
        by_batch[batch_id][sample_id] = needed
    for batch_id, needed in by_batch.items():
        settle_samples(criterion_ids=[new.pk], needed=needed, batch_id=batch_id)
    execute("DROP TABLE relabel_left")
    return disputed.count() - before
