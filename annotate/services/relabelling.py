"""A criterion evolves: what its labels still say is carried to the new version, and only the rest is asked again.

Everything is done by statements over all labels at once, in one transaction, and once: a second call finds the batch.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db import connection, transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.errors import Conflict, Invalid, Stale
from annotate.models import Batch, BatchCriterion, BatchSample, Criterion, Membership, Project, Task, User
from annotate.models.batch import BatchStatus
from annotate.selectors.criterion_change import LATEST, Choices, Touched, change_between, given, touched_by
from annotate.services.audit import note
from annotate.services.batch_checks import check_due_date
from annotate.services.batches import MAX_SEED
from annotate.services.carrying import carry_gold, carry_labels, carry_verdicts
from annotate.services.criteria import add_criteria
from annotate.services.leftovers import settle_what_nobody_is_asked


@dataclass(frozen=True, slots=True)
class Relabelled:
    """carried: labels that hold for the new version; asked: labels that are given anew, in `batch`; left: those that
    nobody is asked for. batch None: there was nothing to ask. waiting: units that lost labels or their decision, about
    which nobody is asked, so that reviewers are. known_answers: those that hold for the new version."""

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
        Project.objects.select_for_update().get(pk=project.pk)
        current = Criterion.objects.get(project=project, key=seen.key, is_current=True)
        if current.pk != seen.pk:
            raise Stale(
                "stale",
                _("Somebody made version %(version)d of this criterion in the meantime.")
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
    alone, and opens a batch in which people give the others anew: whoever gave them, or for a rater who can't be asked
    (by primary key) the member of `hand_to`, unless that member labelled the sample as well. What loses a label or its
    decision that way, and is on a sample that nobody is asked about, waits for a reviewer.

    A label keeps its rater, evidence, comment and day; its event says what it was carried from and who did it. On a
    sample that somebody is asked about again, their carried labels lie in the new task, filled in, and count once it is
    submitted.

    Raises Invalid for versions of different criteria and people who are no members, and Conflict for a version that is
    not the current one.
    """
    if old.project_id != project.pk or new.project_id != project.pk or old.key != new.key or old.version >= new.version:
        raise Invalid("other_criterion", _("Labels are carried from an earlier version of the same criterion."))
    check_due_date(due_date)
    rule = touched_by(change_between(old, new), choices, new_options=new.options)
    with transaction.atomic():
        Project.objects.select_for_update().get(pk=project.pk)
        if not Criterion.objects.filter(pk=new.pk, is_current=True).exists():
            raise Conflict("not_current", _("Version %(version)d is not the current one.") % {"version": new.version})
        done = Batch.objects.filter(project=project, relabels=old, criteria=new).first()
        if done is not None:
            return Relabelled(new, 0, 0, 0, 0, done)
        people = _people(project, hand_to or {})
        with connection.cursor() as cursor:
            _lock_samples(cursor, old)
            counts = _look(cursor, old, rule, people)
            batch = _open(cursor, project, old, new, due_date, actor) if counts["asked"] else None
            carried = carry_labels(cursor, new, batch, actor)
            verdicts = carry_verdicts(cursor, old, new, rule)
            gold = carry_gold(cursor, old, new, rule)
            waiting = settle_what_nobody_is_asked(cursor, old, new)
            cursor.execute("DROP TABLE relabel_latest, relabel_asked")
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
                asked=counts["asked"],
                left=counts["left"],
                waiting=waiting,
                known_answers=gold,
                same_meaning=choices.same_meaning,
                reason=choices.reason,
                batch=batch.number if batch else None,
            )
    return Relabelled(new, carried, verdicts, counts["asked"], counts["left"], batch, waiting, gold)


def _people(project: Project, hand_to: Mapping[int, User]) -> dict[int, int]:
    """Rater -> who is asked in their place."""
    members = set(
        Membership.objects.filter(project=project, is_active=True, user__is_active=True).values_list(
            "user_id", flat=True
        )
    )
    for user in hand_to.values():
        if user.pk not in members:
            raise Invalid("not_a_member", _("%(name)s is not an active member of this project.") % {"name": user.name})
    return {rater: user.pk for rater, user in hand_to.items()}


def _lock_samples(cursor: Any, old: Criterion) -> None:
    """As submissions do: a label is either here when we look, or stays with the old version."""
    cursor.execute(
        "SELECT FROM annotate_sample WHERE id IN (SELECT sample_id FROM annotate_label WHERE criterion_id = %s)"
        " ORDER BY id FOR NO KEY UPDATE",
        [old.pk],
    )


_LOOK = f"CREATE TEMPORARY TABLE relabel_latest ON COMMIT DROP AS {LATEST}"
# Who is asked about which sample: a member for themselves, and a stand-in where they said nothing of their own.
_ASKED = """
    CREATE TEMPORARY TABLE relabel_asked ON COMMIT DROP AS
    WITH touched AS (
        SELECT x.sample_id, x.rater_id, x.user_id, count(*) AS labels
          FROM relabel_latest x WHERE x.touched GROUP BY x.sample_id, x.rater_id, x.user_id
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


def _look(cursor: Any, old: Criterion, rule: Touched, people: Mapping[int, int]) -> dict[str, int]:
    cursor.execute(_LOOK, given(old, rule))
    cursor.execute("CREATE INDEX ON relabel_latest (sample_id, user_id)")
    cursor.execute("ANALYZE relabel_latest")
    cursor.execute(
        _ASKED, {"project": old.project_id, "raters": list(people), "stand_ins": [people[rater] for rater in people]}
    )
    cursor.execute(
        "SELECT coalesce(sum(labels) FILTER (WHERE user_id IS NOT NULL), 0)::bigint,"
        " coalesce(sum(labels) FILTER (WHERE user_id IS NULL), 0)::bigint FROM relabel_asked"
    )
    asked, left = cursor.fetchone()
    return {"asked": asked, "left": left}


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


def _open(
    cursor: Any, project: Project, old: Criterion, new: Criterion, due_date: date | None, actor: User | None
) -> Batch:
    before = Batch.objects.filter(criteria=old).order_by("-number").first()
    cursor.execute("SELECT count(DISTINCT user_id) FROM relabel_asked")
    (people,) = cursor.fetchone()
    batch = Batch.objects.create(
        project=project,
        number=(project.batches.aggregate(last=Max("number"))["last"] or 0) + 1,
        name=_("%(name)s, version %(version)d: labels given anew") % {"name": new.name, "version": new.version},
        status=BatchStatus.OPEN,
        overlap=min(before.overlap, people) if before else people,
        relabels=old,
        selection={"method": "relabel", "criterion": old.key, "from": old.version, "to": new.version},
        seed=random.SystemRandom().randint(0, MAX_SEED),
        due_date=due_date,
        created_by=actor,
        opened_at=timezone.now(),
        **({"consensus": before.consensus} if before else {}),
    )
    BatchCriterion.objects.create(batch=batch, criterion=new, position=0)
    cursor.execute(_SAMPLES, {"batch": batch.pk, "old": old.pk})
    cursor.execute(_TASKS, {"batch": batch.pk})
    cursor.execute("SELECT DISTINCT user_id FROM relabel_asked WHERE user_id IS NOT NULL")
    batch.annotators.set([user for (user,) in cursor.fetchall()])
    note(
        actor=actor,
        action="batch.opened",
        subject=batch.name,
        project=project,
        number=batch.number,
        samples=BatchSample.objects.filter(batch=batch).count(),
        tasks=Task.objects.filter(batch=batch).count(),
    )
    return batch
