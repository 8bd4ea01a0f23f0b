"""A criterion changes: labels, verdicts and known answers that still hold are carried to the new version, and only the
rest is asked again.

Everything is done by statements over all labels at once, in one transaction, and once: a second call finds the batch.
The statements read two temporary tables: `relabel_latest`, the labels of the old version that count, each with whether
the change touches it; and `relabel_asked`, who is asked about which sample.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.batches.checks import check_active, check_due_date, next_number, note_batch
from annotate.batches.criterion_change_read import (
    IS_TOUCHED,
    LATEST,
    Choices,
    Touched,
    change_between,
    given,
    touched_by,
)
from annotate.batches.sample_choice import MAX_SEED
from annotate.core.advisory import no_import_writes
from annotate.core.errors import Conflict, Invalid, Stale
from annotate.core.rows import execute, fetch_all, fetch_one
from annotate.core.trail import note
from annotate.core.units import no_abstention
from annotate.labels.consensus import lock_labelled_samples, settle_what_is_not_asked
from annotate.models import Batch, BatchCriterion, Criterion, Project, User
from annotate.models.batch import BatchStatus, Came
from annotate.projects.criteria import add_criteria

# A carried label lies in the task where it was given, and counts as before; in the new one where its rater is asked
# about the sample again.
_LABELS = """
    WITH carried AS (
        INSERT INTO annotate_label (task_id, rater_id, sample_id, unit, criterion_id, value, cant_tell, comment,
                                    evidence, active_ms, guideline_version, revision, updated_at)
        SELECT coalesce(t.id, x.task_id), x.rater_id, x.sample_id, x.unit, %(new)s, x.value, x.cant_tell, x.comment,
               x.evidence, x.active_ms, x.guideline_version, 1, x.updated_at
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
                                      confidence, reason, decided_votes, decided_at, decided_by_id,
                                      approved_at, approved_by_id, revision, updated_at)
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
               v.decided_at, v.decided_by_id, v.approved_at, v.approved_by_id, 1, now()
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


# By the rule of labels. Known answers that the change touches stay with the old version, and the admin sees them as to
# be set again (annotate.labels.gold_read.to_set_again).
_GOLD = """
    INSERT INTO annotate_goldanswer (sample_id, unit, criterion_id, value, reason, created_by_id, created_at)
    SELECT g.sample_id, g.unit, %(new)s, g.value, g.reason, g.created_by_id, g.created_at
      FROM annotate_goldanswer g
     WHERE g.criterion_id = %(old)s AND NOT ({touched})
    ON CONFLICT (sample_id, unit, criterion_id) DO NOTHING
""".format(touched=IS_TOUCHED.format(value="g.value"))


@dataclass(frozen=True, slots=True)
class Relabelled:
    """carried: labels that hold for the new version; asked: labels that are given anew, in `batch`; left: those that
    no one is asked for. batch None: there was nothing to ask. waiting: units that lost labels or their decision and are
    not asked about again, so that they go to the reviewers. known_answers: those that hold for the new version."""

    criterion: Criterion
    carried: int
    verdicts: int
    asked: int
    left: int
    batch: Batch | None
    waiting: int = 0
    known_answers: int = 0


def change_criterion(
    *,
    actor: User | None,
    project: Project,
    seen: Criterion,
    spec: Mapping[str, Any],
    choices: Choices,
    hand_to: Mapping[int, User] | None = None,
    due_date: date | None = None,
) -> Relabelled:
    """Makes the next version of a criterion and relabels. seen: the version whose impact was shown.

    Raises Stale when there is a later version already, and what `add_criteria` and `relabel` raise.
    """
    with transaction.atomic():
        no_import_writes(project.pk)
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        current = Criterion.objects.get(project=project, key=seen.key, is_current=True)
        if current.pk != seen.pk:
            raise Stale(
                "stale",
                _("Version %(version)d of this criterion was saved in the meantime. Reload and try again.")
                % {"version": current.version},
                current={"version": current.version},
                yours={"version": seen.version},
            )
        new = add_criteria(project=project, specs=[{**spec, "key": seen.key}], actor=actor)[0]
        if new.pk == seen.pk:
            return Relabelled(new, 0, 0, 0, 0, None)
        return relabel(
            actor=actor, project=project, old=seen, new=new, choices=choices, hand_to=hand_to, due_date=due_date
        )


def relabel(
    *,
    actor: User | None,
    project: Project,
    old: Criterion,
    new: Criterion,
    choices: Choices,
    hand_to: Mapping[int, User] | None = None,
    due_date: date | None = None,
) -> Relabelled:
    """Carries the labels of `old` that the change leaves alone over to `new`, with the verdicts that rest on them
    alone, and opens a batch in which people give the others anew: their raters, or for a rater who can't be asked
    (by primary key) the member of `hand_to`, unless that member labelled the sample as well. What loses a label or its
    decision that way, and is on a sample that is not asked about again, waits for a reviewer.

    A label keeps its rater, evidence, comment and day; its event says what it was carried from and who did it. On a
    sample that a rater is asked about again, their carried labels lie in the new task, filled in, and count once it is
    submitted.

    Raises Invalid for versions of different criteria and people who are no members, and Conflict for a version that is
    not the current one.
    """
    if old.project_id != project.pk or new.project_id != project.pk or old.key != new.key or old.version >= new.version:
        raise Invalid(
            "other_criterion", _("Labels can only be carried over from an earlier version of the same criterion.")
        )
    check_due_date(due_date)
    rule = touched_by(change_between(old, new), choices, new_options=new.options, multi=old.is_multi)
    with transaction.atomic():
        no_import_writes(project.pk)
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        if not Criterion.objects.filter(pk=new.pk, is_current=True).exists():
            raise Conflict("not_current", _("Version %(version)d is not the current one.") % {"version": new.version})
        done = Batch.objects.filter(project=project, relabels=old, criteria=new).first()
        if done is not None:
            return Relabelled(new, 0, 0, 0, 0, done)
        check_active(project, (hand_to or {}).values())
        lock_labelled_samples(old)
        asked, left = _look(old, rule, hand_to or {})
        batch = _open(project, old, new, due_date, actor) if asked else None
        carried = execute(
            _LABELS, {"new": new.pk, "batch": batch.pk if batch else None, "actor": actor.pk if actor else None}
        )
        touching = {**given(old, rule), "new": new.pk}
        said = _(" (carried over from version %(version)d)") % {"version": old.version}
        (verdicts,) = fetch_one(_VERDICTS, {**touching, "note": said})
        gold = execute(_GOLD, touching)
        waiting = settle_what_is_not_asked(old, new)
        execute("DROP TABLE relabel_latest, relabel_asked")
        if carried or batch or gold or waiting:
            note(
                actor=actor,
                action="criterion.relabelled",
                subject=new.key,
                project=project,
                before=old.version,
                version=new.version,
                carried=carried,
                verdicts=verdicts,
                asked=asked,
                left=left,
                waiting=waiting,
                known_answers=gold,
                same_meaning=choices.same_meaning,
                reason=choices.reason,
                batch=batch.number if batch else None,
            )
    return Relabelled(new, carried, verdicts, asked, left, batch, waiting, gold)


# The rule of the batch that asked for the labels before.
_CONSENSUS = ("consensus", "settle_share", "settle_votes")

_LOOK = f"CREATE TEMPORARY TABLE relabel_latest ON COMMIT DROP AS {LATEST}"
# Who is asked about which sample: a member for themselves, and a stand-in where they said nothing of their own.
_ASKED = f"""
    CREATE TEMPORARY TABLE relabel_asked ON COMMIT DROP AS
    WITH touched AS (
        SELECT x.sample_id, x.rater_id, x.user_id, count(*) AS labels
          FROM relabel_latest x WHERE x.touched AND {no_abstention("x")}
         GROUP BY x.sample_id, x.rater_id, x.user_id
    ), stand_ins AS (
        SELECT * FROM unnest(%(raters)s::bigint[], %(stand_ins)s::bigint[]) AS s (rater_id, stand_in)
    ), people AS (
        SELECT t.sample_id, t.labels, t.rater_id, coalesce(
                   (SELECT m.user_id FROM annotate_membership m JOIN annotate_user u ON u.id = m.user_id
                     WHERE m.project_id = %(project)s AND m.user_id = t.user_id AND m.is_active AND u.is_active),
                   (SELECT s.stand_in FROM stand_ins s
                     WHERE s.rater_id = t.rater_id AND NOT EXISTS (
                         SELECT FROM relabel_latest own
                          WHERE own.sample_id = t.sample_id AND own.user_id = s.stand_in))) AS user_id
          FROM touched t
    )
    SELECT sample_id, user_id, sum(labels) AS labels FROM people GROUP BY sample_id, user_id
"""


def _look(old: Criterion, rule: Touched, hand_to: Mapping[int, User]) -> tuple[int, int]:
    """Makes the temporary tables. Returns how many labels people are asked for, and how many no one is asked for."""
    execute(_LOOK, given(old, rule))
    execute("CREATE INDEX ON relabel_latest (sample_id, user_id)")
    execute("ANALYZE relabel_latest")
    stand_ins = [user.pk for user in hand_to.values()]
    execute(_ASKED, {"project": old.project_id, "raters": list(hand_to), "stand_ins": stand_ins})
    return fetch_one(
        "SELECT coalesce(sum(labels) FILTER (WHERE user_id IS NOT NULL), 0)::bigint,"
        " coalesce(sum(labels) FILTER (WHERE user_id IS NULL), 0)::bigint FROM relabel_asked"
    )


# How many labels a unit of the sample needs, as the batches that asked the old version said; for labels made elsewhere
# as many as there were people.
_SAMPLES = """
    INSERT INTO annotate_batchsample (batch_id, sample_id, position, overlap, tag)
    SELECT %(batch)s, a.sample_id, row_number() OVER (ORDER BY a.sample_id) - 1,
           coalesce((SELECT max(bs.overlap) FROM annotate_batchsample bs
                       JOIN annotate_batchcriterion bc ON bc.batch_id = bs.batch_id AND bc.criterion_id = %(old)s
                      WHERE bs.sample_id = a.sample_id),
                    (SELECT count(DISTINCT x.rater_id) FROM relabel_latest x WHERE x.sample_id = a.sample_id)),
           ''
      FROM (SELECT DISTINCT sample_id FROM relabel_asked WHERE user_id IS NOT NULL) AS a
"""
_TASKS = """
    INSERT INTO annotate_task (batch_id, sample_id, annotator_id, purpose, tag, position, status, skip_reason,
                               return_message, active_seconds)
    SELECT %(batch)s, sample_id, user_id, 'label', '',
           row_number() OVER (PARTITION BY user_id ORDER BY sample_id) - 1, 'pending', '', '', 0
      FROM relabel_asked WHERE user_id IS NOT NULL
"""


def _open(project: Project, old: Criterion, new: Criterion, due_date: date | None, actor: User | None) -> Batch:
    before = Batch.objects.filter(criteria=old).order_by("-number").first()
    annotators = [user for (user,) in fetch_all("SELECT DISTINCT user_id FROM relabel_asked WHERE user_id IS NOT NULL")]
    people = len(annotators)
    batch = Batch.objects.create(
        project=project,
        number=next_number(project),
        name=_("%(name)s, version %(version)d: relabelling") % {"name": new.name, "version": new.version},
        status=BatchStatus.OPEN,
        overlap=min(before.overlap, people) if before else people,
        relabels=old,
        selection={
            "method": "relabel",
            "criterion": old.key,
            "from": old.version,
            "to": new.version,
            "came": Came.RENEWED,
        },
        seed=random.SystemRandom().randint(0, MAX_SEED),
        due_date=due_date,
        created_by=actor,
        opened_at=timezone.now(),
        **({name: getattr(before, name) for name in _CONSENSUS} if before else {}),
    )
    BatchCriterion.objects.create(batch=batch, criterion=new, position=0)
    samples = execute(_SAMPLES, {"batch": batch.pk, "old": old.pk})
    tasks = execute(_TASKS, {"batch": batch.pk})
    batch.annotators.set(annotators)
    note_batch(actor, batch, "opened", samples=samples, tasks=tasks)
    return batch
