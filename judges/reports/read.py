"""Frozen reports as they are read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.db import connection
from django.db.models import Count, Max, Q, QuerySet, Sum
from django.http import Http404
from django.utils.translation import gettext as _

from annotate.batches.draws_read import finished_draw
from annotate.models import Criterion, Label, Project, Task, Verdict
from annotate.models.batch import TaskStatus
from judges.core.scores_read import scores_that_count
from judges.models import AlignmentReport, Judge, ScoreStatus

# Raised when the same data would give other figures or other plots, so that reports are made anew.
FIGURES_VERSION = 5


@dataclass(frozen=True, slots=True)
class ReportState:
    """The latest report of a criterion, whether anything changed since, and whether a new one is being made.

    after_minutes: how long after the last change the worker makes a new one by itself; None: it doesn't."""

    report: AlignmentReport | None
    is_out_of_date: bool
    is_pending: bool
    after_minutes: int | None


def report_state(criterion: Criterion) -> ReportState:
    reports = _shown_reports(criterion).select_related("criterion", "project").defer("evidence")
    # Data can come back to what they were (a verdict is taken back): then an earlier report is the present one.
    current = reports.filter(parameters__data_version=data_version(criterion)).first()
    report = current or reports.first()
    return ReportState(
        report=report,
        is_out_of_date=report is not None and current is None,
        is_pending=cache.get(pending_key(criterion.pk)) is not None,
        after_minutes=_after_minutes(criterion),
    )


def has_report_on(criterion: Criterion, version: str) -> bool:
    """Whether there is a report on this version of the criterion's data."""
    return _shown_reports(criterion).filter(parameters__data_version=version).exists()


def _shown_reports(criterion: Criterion) -> QuerySet[AlignmentReport]:
    """One that was reckoned in an earlier way says other things than pages show: a new one is made in its place."""
    return AlignmentReport.objects.filter(criterion=criterion, parameters__figures=FIGURES_VERSION)


def _after_minutes(criterion: Criterion) -> int | None:
    """As judges.reports.up_to_date has it."""
    minutes: int = settings.REPORTS_AFTER_MINUTES
    return minutes if minutes and criterion.is_current and Label.objects.filter(criterion=criterion).exists() else None


def reports_of(project: Project) -> QuerySet[AlignmentReport]:
    """Without the heavy columns, newest first."""
    return (
        AlignmentReport.objects.filter(project=project)
        .select_related("criterion", "created_by")
        .defer("result", "plots", "evidence")
    )


@dataclass(frozen=True, slots=True)
class Overview:
    """One criterion's latest report in short: people's figure, and per judge name, kappa and verdict; and its plot."""

    number: int
    created_at: datetime
    people: dict[str, Any]
    judges: list[dict[str, Any]]
    forest: str


# Taken out where it lies: whole results are a hundred times as large.
_OVERVIEW = """
    SELECT DISTINCT ON (criterion_id) criterion_id, number, created_at, result->'people', (
        SELECT coalesce(jsonb_agg(jsonb_build_object(
            'title', j->'title', 'judge', j->'judge', 'dimension', j->'dimension', 'kappa', j->'kappa',
            'trust', j->'trust'
        ) ORDER BY place), '[]') FROM jsonb_array_elements(result->'judges') WITH ORDINALITY AS one(j, place)
    ), coalesce(plots->>'forest', '')
    FROM judges_alignmentreport
    WHERE project_id = %(project)s AND parameters->'figures' = to_jsonb(%(figures)s::int)
    ORDER BY criterion_id, number DESC
"""


def overview(project: Project) -> dict[int, Overview]:
    """Of each criterion, by its primary key, the latest report that pages can show."""
    with connection.cursor() as cursor:
        cursor.execute(_OVERVIEW, {"project": project.pk, "figures": FIGURES_VERSION})
        return {
            criterion: Overview(number, created_at, json.loads(people), json.loads(judges), forest)
            for criterion, number, created_at, people, judges, forest in cursor.fetchall()
        }


def one_report(project: Project, number: int) -> AlignmentReport:
    found = (
        AlignmentReport.objects.filter(project=project, number=number).select_related("criterion", "project").first()
    )
    if found is None:
        raise Http404(_("This project has no report %(number)s.") % {"number": number})
    return found


def is_shown(report: AlignmentReport) -> bool:
    """Whether pages can show it: it was reckoned the way figures are reckoned now. Its JSON can always be read."""
    return bool(report.parameters["figures"] == FIGURES_VERSION)


def data_version(criterion: Criterion) -> str:
    """Changes whenever a rating, a verdict or a score that could count changes, how a judge is read, or how we reckon;
    a few counts, cheap on every page view.

    It may change without the figures changing (a second version of a label that says the same); what a report rests on
    exactly is its fingerprint.
    """
    labels = Label.objects.filter(criterion=criterion).aggregate(Count("pk"), Sum("revision"), Max("updated_at"))
    tasks = Task.objects.filter(batch__project_id=criterion.project_id, status=TaskStatus.SUBMITTED).aggregate(
        Count("pk"), Max("submitted_at")
    )
    verdicts = Verdict.objects.filter(criterion=criterion).aggregate(Count("pk"), Sum("revision"), Max("updated_at"))
    # What is said by which version: one may be kept as another is dropped, and a failed score be asked for again.
    scores = scores_that_count(criterion).aggregate(
        Count("pk"), Max("pk"), Sum("version"), ok=Count("pk", filter=Q(status=ScoreStatus.OK))
    )
    counts = [value for counted in (labels, tasks, verdicts, scores) for value in counted.values()]
    draw = finished_draw(criterion)
    lower = Judge.objects.filter(project_id=criterion.project_id, higher_is_better=False).order_by("pk")
    falling = ",".join(str(judge) for judge in lower.values_list("pk", flat=True))
    return "/".join(map(str, [FIGURES_VERSION, *counts, falling, None if draw is None else draw.pk]))


def pending_key(criterion_id: int) -> str:
    return f"report-pending:{criterion_id}"
