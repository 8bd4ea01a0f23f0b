"""How a batch goes, person by person, and when it will be done as far as its last days tell: for those who run it.
Annotators never see this: it says what others decided.

A fixed number of statements, however many people, tasks and labels: the page asks again while the batch is open.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.db.models import Count, Q
from django.utils import timezone

import alignment
from alignment.base.estimate import Estimate, remark
from annotate.batches.read import counts_by
from annotate.core.rows import fetch_all, fetch_one
from annotate.core.units import no_abstention
from annotate.labels.anchored_read import ANCHORED
from annotate.labels.gold_read import gold_accuracy
from annotate.labels.read import DONE, PAUSE_SECONDS, QUICKEST_SECONDS
from annotate.models import Batch, Flag, Task, User
from annotate.models.batch import OPEN_TASK_STATUSES_SQL, BatchStatus, Purpose, TaskStatus
from annotate.tasks.too_fast_read import too_fast_tasks

PACE_DAYS = 7
# An agreement, a steadiness or a pace of fewer is no figure yet.
FEWEST_UNITS, FEWEST_TASKS = 10, 3


@dataclass(frozen=True)
class PersonBoard:
    """One annotator of a batch. Counts are of all their tasks, those that measure them included and not told apart."""

    user: User
    done: int
    skipped: int
    in_progress: int
    returned: int
    left: int
    flagged: int
    # Submitted far faster than they can be read (annotate.tasks.too_fast_read).
    too_fast: int
    # Tasks per hour at work, over the last seven days.
    pace: float | None
    # Medians, of submitted tasks and of their labels.
    seconds_per_task: float | None
    seconds_per_unit: float | None
    # With verdicts that two or more votes led to, with known answers, and with themselves; none of what was labelled
    # with a judge's proposals.
    agreement: Estimate
    gold: Estimate
    steadiness: Estimate

    @property
    def total(self) -> int:
        return self.done + self.skipped + self.left

    @property
    def percent(self) -> int:
        return 100 * (self.done + self.skipped) // self.total if self.total else 0


def person_boards(batch: Batch) -> list[PersonBoard]:
    """Every user who has, or had, a task of the batch or may take one from its queue, by user name."""
    since = timezone.now() - timedelta(days=PACE_DAYS)
    counts = _counts(batch)
    people = User.objects.filter(Q(pk__in=counts) | Q(pk__in=batch.annotators.values("pk"))).order_by("username")
    times = _times(batch, since)
    flags = counts_by(Flag.objects.filter(task__batch=batch), "raised_by", flagged=Count("id"))
    units = fetch_all(_UNITS, {"batch": batch.pk, "quickest": QUICKEST_SECONDS, "pause": PAUSE_SECONDS})
    seconds = {person: float(median) for person, median in units}
    agreement = _shares(_AGREEMENT, batch)
    gold = {found.username: found.accuracy for found in gold_accuracy(batch)}
    steadiness = _shares(_STEADINESS, batch)
    too_fast = Counter(too_fast_tasks(batch.tasks.values_list("pk", flat=True)).values())
    boards = []
    for user in people:
        per_task, pace = times.get(user.pk, (None, None))
        boards.append(
            PersonBoard(
                user=user,
                **counts[user.pk],
                **flags[user.pk],
                too_fast=too_fast[user.pk],
                pace=pace,
                seconds_per_task=per_task,
                seconds_per_unit=seconds.get(user.pk),
                agreement=_estimate(agreement[user.pk], "agreement with verdicts"),
                gold=_enough(gold.get(user.username, Estimate.undefined(remark("no_known_answers")))),
                steadiness=_estimate(steadiness[user.pk], "agreement with oneself"),
            )
        )
    return boards


def _counts(batch: Batch) -> dict[int, dict[str, int]]:
    return counts_by(
        Task.objects.filter(batch=batch, annotator__isnull=False).exclude(status=TaskStatus.RELEASED),
        "annotator",
        done=Count("id", filter=Q(status=TaskStatus.SUBMITTED)),
        skipped=Count("id", filter=Q(status=TaskStatus.SKIPPED)),
        in_progress=Count("id", filter=Q(status=TaskStatus.IN_PROGRESS)),
        returned=Count("id", filter=Q(status=TaskStatus.RETURNED)),
        left=Count("id", filter=~Q(status__in=[TaskStatus.SUBMITTED, TaskStatus.SKIPPED])),
    )


# A task without any measured second (a script, a browser that blocks it) says nothing about time.
_TIMES = """
    SELECT annotator_id, percentile_cont(0.5) WITHIN GROUP (ORDER BY active_seconds),
           count(*) FILTER (WHERE submitted_at >= %(since)s),
           sum(active_seconds) FILTER (WHERE submitted_at >= %(since)s)
      FROM annotate_task
     WHERE batch_id = %(batch)s AND status = 'submitted' AND active_seconds > 0
     GROUP BY annotator_id
"""


def _times(batch: Batch, since: datetime) -> dict[int, tuple[float, float | None]]:
    """By person: median seconds of a task, and tasks per hour at work."""
    return {
        person: (float(median), 3600 * tasks / seconds if tasks >= FEWEST_TASKS else None)
        for person, median, tasks, seconds in fetch_all(_TIMES, {"batch": batch.pk, "since": since})
    }


# As the browser measured it; else, of labels without such a measure, from the log of choices (annotate.labels.read),
# which is read only of their tasks.
_UNITS = f"""
    WITH tasks AS MATERIALIZED (
        SELECT id, annotator_id FROM annotate_task WHERE batch_id = %(batch)s AND status = 'submitted'
    ), labels AS MATERIALIZED (
        SELECT l.id, l.task_id, l.active_ms FROM annotate_label l
         WHERE l.task_id = ANY(ARRAY(SELECT id FROM tasks)) AND {DONE}
    ), choices AS (
        SELECT l.task_id, l.active_ms, e.revision, extract(epoch FROM e.created_at - lag(e.created_at) OVER (
            PARTITION BY l.task_id ORDER BY e.created_at, e.id)) AS gap
          FROM labels l JOIN annotate_labelevent e ON e.label_id = l.id
         WHERE l.task_id IN (SELECT task_id FROM labels WHERE active_ms IS NULL)
    ), timed AS (
        SELECT task_id, active_ms / 1000.0 AS seconds FROM labels WHERE active_ms IS NOT NULL
         UNION ALL
        SELECT task_id, gap FROM choices
         WHERE revision = 1 AND active_ms IS NULL AND gap >= %(quickest)s AND gap < %(pause)s
    )
    SELECT t.annotator_id, percentile_cont(0.5) WITHIN GROUP (ORDER BY timed.seconds)
      FROM timed JOIN tasks t ON t.id = timed.task_id GROUP BY t.annotator_id
"""


# Of each person and sample: how many labels there were to compare, and how many of them were equal. Who gave the
# only vote for a verdict agrees with it by necessity, so one vote is not enough.
_AGREEMENT = f"""
    WITH tasks AS MATERIALIZED (
        SELECT id, annotator_id, sample_id FROM annotate_task
         WHERE batch_id = %(batch)s AND status = 'submitted' AND purpose = '{Purpose.LABEL.value}'
    ), labels AS MATERIALIZED (
        SELECT l.task_id, l.sample_id, l.unit, l.criterion_id, l.value FROM annotate_label l
         WHERE l.task_id = ANY(ARRAY(SELECT id FROM tasks)) AND l.value IS NOT NULL
           AND {DONE} AND {no_abstention("l")} AND NOT {ANCHORED}
    ), verdicts AS MATERIALIZED (
        SELECT v.sample_id, v.unit, v.criterion_id, v.value FROM annotate_verdict v
         WHERE v.sample_id = ANY(ARRAY(SELECT DISTINCT sample_id FROM tasks))
           AND v.state = 'settled' AND jsonb_array_length(v.votes) >= 2
    )
    SELECT t.annotator_id, count(*) FILTER (WHERE v.value = l.value), count(*)
      FROM tasks t JOIN labels l ON l.task_id = t.id
      JOIN verdicts v ON v.sample_id = l.sample_id AND v.unit = l.unit AND v.criterion_id = l.criterion_id
     GROUP BY t.annotator_id, t.sample_id ORDER BY t.annotator_id, t.sample_id
"""
_STEADINESS = f"""
    SELECT t.annotator_id, count(*) FILTER (WHERE f.value = l.value), count(*)
      FROM annotate_task t
      JOIN annotate_label l ON l.task_id = t.id AND l.value IS NOT NULL
      JOIN annotate_task earlier ON earlier.batch_id = t.batch_id AND earlier.sample_id = t.sample_id
           AND earlier.annotator_id = t.annotator_id AND earlier.purpose = '{Purpose.LABEL.value}'
           AND earlier.status = 'submitted'
      JOIN annotate_label f ON f.task_id = earlier.id AND f.unit = l.unit AND f.criterion_id = l.criterion_id
           AND f.value IS NOT NULL
     WHERE t.batch_id = %(batch)s AND t.status = 'submitted' AND t.purpose = '{Purpose.REPEAT.value}'
       AND {no_abstention("l")} AND NOT {ANCHORED}
     GROUP BY t.annotator_id, t.sample_id ORDER BY t.annotator_id, t.sample_id
"""


def _shares(statement: str, batch: Batch) -> dict[int, list[tuple[int, int]]]:
    found = defaultdict(list)
    for person, hits, trials in fetch_all(statement, {"batch": batch.pk}):
        found[person].append((hits, trials))
    return found


def _enough(found: Estimate) -> Estimate:
    if found.n >= FEWEST_UNITS:
        return found
    return Estimate.undefined(remark("fewer_units_than", n=FEWEST_UNITS), n=found.n, clusters=found.clusters)


def _estimate(samples: list[tuple[int, int]], name: str) -> Estimate:
    """Clustered by sample."""
    hits, trials = [hit for hit, _ in samples], [tried for _, tried in samples]
    return _enough(alignment.clustered_share(hits, trials, name=name, undefined=remark("no_units")))


_OPEN = f"""
    SELECT count(*) FILTER (WHERE status IN {OPEN_TASK_STATUSES_SQL}),
           count(*) FILTER (WHERE status IN ('submitted', 'skipped')),
           count(*) FILTER (WHERE status = 'submitted' AND submitted_at >= %(since)s),
           count(*) FILTER (WHERE status = 'submitted' AND active_seconds > 0),
           percentile_cont(0.5) WITHIN GROUP (ORDER BY active_seconds)
               FILTER (WHERE status = 'submitted' AND active_seconds > 0)
      FROM annotate_task WHERE batch_id = %(batch)s
"""
# A forecast beyond this would only say that almost nothing happens.
LONGEST_DAYS = 3650


@dataclass(frozen=True)
class Forecast:
    """left: tasks; work_seconds: time at work that they need; done_on: the day at the pace of the last days. None:
    too little has happened to tell."""

    left: int
    finished: int
    work_seconds: int | None
    done_on: date | None
    due: date | None
    today: date

    @property
    def is_late(self) -> bool:
        """It will not be done in time, or the time is over."""
        if self.due is None or not self.left:
            return False
        return self.is_overdue or (self.done_on is not None and self.done_on > self.due)

    @property
    def is_overdue(self) -> bool:
        return self.due is not None and self.left > 0 and self.due < self.today

    @property
    def percent(self) -> int:
        whole = self.left + self.finished
        return 100 * self.finished // whole if whole else 0


def forecast(batch: Batch, *, now: datetime | None = None) -> Forecast:
    now = now or timezone.now()
    since = max(now - timedelta(days=PACE_DAYS), batch.opened_at or now)
    left, finished, lately, timed, median = fetch_one(_OPEN, {"batch": batch.pk, "since": since})
    done_on = None
    if batch.status == BatchStatus.OPEN and left and lately >= FEWEST_TASKS:
        # A batch that was opened this morning counts as a whole day: people also sleep.
        days = max((now - since) / timedelta(days=1), 1.0)
        ahead = left * days / lately
        done_on = timezone.localdate(now + timedelta(days=ahead)) if ahead <= LONGEST_DAYS else None
    return Forecast(
        left=left,
        finished=finished,
        work_seconds=round(left * median) if left and timed >= FEWEST_TASKS else None,
        done_on=done_on,
        due=batch.due_date,
        today=timezone.localdate(now),
    )
