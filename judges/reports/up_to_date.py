"""The worker brings reports up to date some time after what they rest on has changed.

Nothing is noted where labels, verdicts or scores are written, by many hands and in bulk. Instead the worker looks now
and then: one small statement when nothing was written since the last look; else the version of each criterion's data is
compared with that of its reports. What a look saw is kept in the cache; should that be lost, changes count as new.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from django.conf import settings
from django.core.cache import cache
from django.db import connection
from django.db.models import Exists, OuterRef
from django.utils import timezone

from annotate.models import (
    Batch,
    BatchCriterion,
    BatchSample,
    ClaimEdit,
    Criterion,
    DeclaredDraw,
    Label,
    Sample,
    Task,
    Verdict,
)
from annotate.models.project import UNRATED_SCALES
from judges.models import AlignmentReport, Judge, JudgeVersion, Requirement, Score
from judges.reports.read import FIGURES_VERSION, data_version, has_report_on, pending_key
from judges.reports.requests import request_report

_TURN = "reports-look"
_SEEN = f"reports-seen:{FIGURES_VERSION}"
# What a version of data is made of (judges.reports.read.data_version), and the reports themselves.
_WATCHED = (
    *(Label, Task, Verdict, Batch, BatchCriterion, BatchSample, Criterion, Sample, ClaimEdit),
    *(DeclaredDraw, Score, Judge, JudgeVersion, Requirement, AlignmentReport),
)


@dataclass(frozen=True, slots=True)
class Change:
    """What a criterion's data are, since when, and whether a report on them was asked for."""

    version: str
    since: datetime
    is_asked: bool = False


@dataclass(slots=True)
class _Seen:
    """writes: how many rows were ever written. changed: by the criterion's primary key, where no report is up to date.
    asked: the criterion whose report was asked for last."""

    writes: int | None = None
    changed: dict[int, Change] = field(default_factory=dict)
    asked: int | None = None


def look_for_reports() -> None:
    """Every worker asks for a look; of those that come at once one is enough."""
    if settings.REPORTS_AFTER_MINUTES and cache.add(_TURN, 1, timeout=settings.REPORTS_LOOK_SECONDS / 2):
        ask_for_due_report(now=timezone.now())


def ask_for_due_report(*, now: datetime) -> Criterion | None:
    """Asks for one report: of the criterion that changed first among those that have not changed for as long as the
    settings say. Returns the criterion; None when none is due, or the last report asked for here is still being made.

    Criteria without labels are left alone.
    """
    still = timedelta(minutes=settings.REPORTS_AFTER_MINUTES)
    seen: _Seen = cache.get(_SEEN) or _Seen()
    writes = _writes()
    if writes != seen.writes:
        seen.writes, seen.changed = writes, _changed(seen.changed, now)
    is_at_work = seen.asked is not None and cache.get(pending_key(seen.asked)) is not None
    criterion = None if is_at_work else _due(seen, now - still)
    if criterion is not None:
        change = seen.changed[criterion.pk]
        # Once: a report that can't be made is not asked for again and again.
        seen.changed[criterion.pk], seen.asked = replace(change, is_asked=True), criterion.pk
        request_report(criterion=criterion)
    cache.set(_SEEN, seen, timeout=None)
    return criterion


def _writes() -> int:
    """How many rows of what reports rest on were ever written, as PostgreSQL counts them."""
    tables = [model._meta.db_table for model in _WATCHED]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0)::bigint FROM pg_stat_user_tables"
            " WHERE relname = ANY(%s)",
            [tables],
        )
        return int(cursor.fetchone()[0])


def _changed(before: dict[int, Change], now: datetime) -> dict[int, Change]:
    labels = Label.objects.filter(criterion=OuterRef("pk"))
    found = {}
    asked = Criterion.objects.filter(Exists(labels), is_current=True, project__deleting_at__isnull=True)
    for criterion in asked.exclude(scale__in=UNRATED_SCALES).order_by("pk"):
        version = data_version(criterion)
        if has_report_on(criterion, version):
            continue
        known = before.get(criterion.pk)
        found[criterion.pk] = known if known is not None and known.version == version else Change(version, now)
    return found


def _due(seen: _Seen, until: datetime) -> Criterion | None:
    waiting = [
        (change.since, pk) for pk, change in seen.changed.items() if change.since <= until and not change.is_asked
    ]
    for _since, pk in sorted(waiting):
        criterion = Criterion.objects.filter(pk=pk, is_current=True).first()
        if criterion is not None:
            return criterion
    return None
