"""What holds of a criterion's earlier version becomes the new one's: labels, verdicts, known answers.

The statements read what services.relabelling has found out: `relabel_latest`, the labels of the old version that count,
each with whether the change touches it.
"""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _

from annotate.models import Batch, Criterion, User
from annotate.selectors.criterion_change import IS_TOUCHED, Touched, given

# A carried label lies in the task where it was given, and counts as before; in the new one where its rater is asked
# about the sample again.
_LABELS = """
    WITH carried AS (
        INSERT INTO annotate_label (task_id, rater_id, sample_id, unit, criterion_id, value, cant_tell, comment,
                                    evidence, active_ms, revision, updated_at)
        SELECT coalesce(t.id, x.task_id), x.rater_id, x.sample_id, x.unit, %(new)s, x.value, x.cant_tell, x.comment,
               x.evidence, x.active_ms, 1, x.updated_at
          FROM relabel_latest x
          LEFT JOIN annotate_task t
                 ON t.batch_id = %(batch)s AND t.sample_id = x.sample_id AND t.annotator_id = x.user_id
         WHERE NOT x.touched AND NOT EXISTS (
               SELECT FROM annotate_label n
                WHERE n.criterion_id = %(new)s AND n.sample_id = x.sample_id AND n.unit = x.unit
                  AND n.rater_id = x.rater_id)
        RETURNING id, rater_id, sample_id, unit, value, cant_tell, comment, evidence
    )
    INSERT INTO annotate_labelevent (label_id, revision, value, cant_tell, comment, evidence, actor_id,
                                     carried_from_id, idempotency_key, created_at)
    SELECT c.id, 1, c.value, c.cant_tell, c.comment, c.evidence, %(actor)s, x.id, gen_random_uuid(), now()
      FROM carried c JOIN relabel_latest x USING (rater_id, sample_id, unit)
"""


def carry_labels(cursor: Any, new: Criterion, batch: Batch | None, actor: User | None) -> int:
    cursor.execute(_LABELS, {"new": new.pk, "batch": batch.pk if batch else None, "actor": actor.pk if actor else None})
    return int(cursor.rowcount)


# A verdict holds on when the change touches neither it nor any vote that it rests on, and when it does rest on the
# labels as they are: then the same rule would say the same of the carried ones. What a person decided on may differ
# from them (the verdict is reopened then): of those votes the ones that still stand are the carried labels, the others
# stay as they were. Who has read the decision has read it.
_VERDICTS = """
    WITH units AS (
        SELECT x.sample_id, x.unit, bool_or(x.touched) AS touched,
               jsonb_agg(jsonb_build_object('rater', x.name, 'value', x.value, 'revision', x.revision,
                                            'label', x.id) ORDER BY x.rater_id)
                   FILTER (WHERE x.value IS NOT NULL) AS votes_before,
               jsonb_agg(jsonb_build_object('rater', x.name, 'value', x.value, 'revision', n.revision,
                                            'label', n.id) ORDER BY x.rater_id)
                   FILTER (WHERE x.value IS NOT NULL) AS votes
          FROM relabel_latest x
          LEFT JOIN annotate_label n ON n.criterion_id = %(new)s AND n.sample_id = x.sample_id
                                    AND n.unit = x.unit AND n.rater_id = x.rater_id
         GROUP BY x.sample_id, x.unit
    ), carried AS (
        INSERT INTO annotate_verdict (sample_id, unit, criterion_id, batch_id, state, value, method, votes, agreement,
                                      confidence, reason, decided_votes, decided_at, decided_by_id, revision,
                                      updated_at)
        SELECT v.sample_id, v.unit, %(new)s, v.batch_id, v.state, v.value, v.method, coalesce(u.votes, '[]'),
               v.agreement, v.confidence,
               CASE WHEN v.decided_by_id IS NULL THEN v.reason ELSE v.reason || %(note)s END,
               CASE WHEN v.decided_votes = '[]' THEN v.decided_votes
                    WHEN v.decided_votes IS NOT NULL THEN (
                        SELECT jsonb_agg(coalesce(stands.now, d.vote) ORDER BY d.place)
                          FROM jsonb_array_elements(v.decided_votes) WITH ORDINALITY AS d (vote, place)
                          LEFT JOIN LATERAL (
                              SELECT u.votes -> (b.place - 1)::int AS now
                                FROM jsonb_array_elements(u.votes_before) WITH ORDINALITY AS b (vote, place)
                               WHERE b.vote = d.vote) AS stands ON true) END,
               v.decided_at, v.decided_by_id, 1, now()
          FROM annotate_verdict v
          JOIN units u USING (sample_id, unit)
         WHERE v.criterion_id = %(old)s AND NOT u.touched AND v.votes = coalesce(u.votes_before, '[]')
           AND (v.value IS NULL OR NOT ({touched}))
        ON CONFLICT (sample_id, unit, criterion_id) DO NOTHING
        RETURNING id, sample_id, unit
    ), read AS (
        INSERT INTO annotate_lessonread (user_id, verdict_id, revision)
        SELECT r.user_id, c.id, 1
          FROM carried c
          JOIN annotate_verdict v ON v.criterion_id = %(old)s AND v.sample_id = c.sample_id AND v.unit = c.unit
          JOIN annotate_lessonread r ON r.verdict_id = v.id AND r.revision = v.revision
    )
    SELECT count(*) FROM carried
""".format(touched=IS_TOUCHED.format(value="v.value"))


def carry_verdicts(cursor: Any, old: Criterion, new: Criterion, rule: Touched) -> int:
    said = _(" (carried from version %(version)d)") % {"version": old.version}
    cursor.execute(_VERDICTS, {**given(old, rule), "new": new.pk, "note": said})
    (count,) = cursor.fetchone()
    return int(count)


# By the rule of labels: what an annotator who said the same is not asked again, nobody has to set again.
_GOLD = """
    INSERT INTO annotate_goldanswer (sample_id, unit, criterion_id, value, reason, created_by_id, created_at)
    SELECT g.sample_id, g.unit, %(new)s, g.value, g.reason, g.created_by_id, g.created_at
      FROM annotate_goldanswer g
     WHERE g.criterion_id = %(old)s AND NOT ({touched})
    ON CONFLICT (sample_id, unit, criterion_id) DO NOTHING
""".format(touched=IS_TOUCHED.format(value="g.value"))


def carry_gold(cursor: Any, old: Criterion, new: Criterion, rule: Touched) -> int:
    """Of the known answers those that the change leaves alone. The others stay with the old version, and the admin sees
    them as to be set again (selectors.gold.to_set_again)."""
    cursor.execute(_GOLD, {**given(old, rule), "new": new.pk})
    return int(cursor.rowcount)
