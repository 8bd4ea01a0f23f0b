"""Frozen reports as they are read, with the words of the units on which judges and people, or two judges, differ."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from django.conf import settings
from django.core.cache import cache
from django.db import connection
from django.db.models import Count, Max, Q, QuerySet, Sum
from django.http import Http404
from django.utils.translation import gettext as _

from alignment.base.estimate import Remark, remark
from annotate.batches.draws_read import finished_draw
from annotate.core.blindness import Reader
from annotate.core.errors import Conflict
from annotate.core.rows import fetch_one, first_or_raise
from annotate.core.text_tables import number
from annotate.core.units import unit_number, unit_text
from annotate.models import Criterion, Label, Project, Sample
from annotate.models.project import UnitKind
from annotate.verdicts.ratings_read import UnitKey
from judges.core.scores_read import Said, rationales, scores_that_count
from judges.models import AlignmentReport, ScoreStatus
from judges.reports.blind_read import as_read_by

# Raised when the same data would give other figures or other plots, so that reports are made anew.
FIGURES_VERSION = 13

# What a report compares judges with: settled units (annotate.labels.settled_read), or all that people labelled.
Labels = Literal["settled", "all"]


@dataclass(frozen=True, slots=True)
class ReportState:
    """The latest report of a criterion, whether anything changed since, and whether a new one is being made.

    is_out_of_date: None where nobody looked. after_minutes: how long after the last change the worker makes a new one
    by itself; None: it doesn't."""

    report: AlignmentReport | None
    is_out_of_date: bool | None
    is_pending: bool
    after_minutes: int | None


def latest_report(criterion: Criterion, labels: Labels = "settled", *, reader: Reader) -> AlignmentReport | None:
    """Of those with these labels. Where there is none on settled units, of those with all labels: what an earlier
    version made can still be read."""
    found = _shown_reports(criterion, labels).select_related("criterion", "project").defer("evidence").first()
    if found is None and labels == "settled":
        return latest_report(criterion, "all", reader=reader)
    return None if found is None else as_read_by(found, reader=reader)


def report_state(
    criterion: Criterion, labels: Labels = "settled", *, reader: Reader, looks: bool = True
) -> ReportState:
    """Of the latest report. One with other labels than these is out of date. looks: for changes since, which counts
    every label, task, verdict and score of the criterion."""
    report = latest_report(criterion, labels, reader=reader)
    is_out_of_date: bool | None = report is not None and report.parameters["labels"] != labels
    if report is not None and not is_out_of_date:
        is_out_of_date = report.parameters["data_version"] != data_version(criterion) if looks else None
    return ReportState(
        report=report,
        is_out_of_date=is_out_of_date,
        is_pending=cache.get(pending_key(criterion.pk, labels)) is not None,
        after_minutes=_after_minutes(criterion) if labels == "settled" else None,
    )


def has_report_on(criterion: Criterion, version: str) -> bool:
    """Whether the latest report on settled units is of this version of the criterion's data."""
    versions = _shown_reports(criterion, "settled").values_list("parameters__data_version", flat=True)
    return bool(versions.first() == version)


def _shown_reports(criterion: Criterion, labels: Labels) -> QuerySet[AlignmentReport]:
    """The latest first. One that was reckoned in an earlier way says other things than pages show: a new one is made in
    its place. Data can come back to what they were (a verdict is taken back): then an earlier report is found again,
    and is the latest from then on."""
    shown = {"parameters__figures": FIGURES_VERSION, "parameters__labels": labels}
    return AlignmentReport.objects.filter(criterion=criterion, **shown).order_by("-present_at", "-number")


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
    """One criterion's latest report in short: how many labels it is of, people's figure, and per judge name, kappa and
    decision. matrix: of raters two by two, where people's figure is undefined."""

    number: int
    created_at: datetime
    labels: Labels
    ratings: int
    people: dict[str, Any]
    judges: list[dict[str, Any]]
    matrix: dict[str, Any] | None


# Taken out where it lies: whole results are a hundred times as large.
_OVERVIEW = """
    SELECT DISTINCT ON (criterion_id) criterion_id, number, created_at, parameters->>'labels',
    (result->'agreement'->>'ratings')::int, result->'people', (
        SELECT coalesce(jsonb_agg(jsonb_build_object(
            'title', j->'title', 'judge', j->'judge', 'version', j->'version', 'dimension', j->'dimension',
            'higher_is_better', j->'higher_is_better', 'kappa', j->'kappa', 'decision', j->'decision'
        ) ORDER BY place), '[]') FROM jsonb_array_elements(result->'judges') WITH ORDINALITY AS one(j, place)
    ), CASE WHEN result->'people'->'value' = 'null' THEN result->'matrix' END
    FROM judges_alignmentreport
    WHERE project_id = %(project)s AND parameters->'figures' = to_jsonb(%(figures)s::int)
    ORDER BY criterion_id, parameters->>'labels' = 'settled' DESC, present_at DESC, number DESC
"""


def overview(project: Project) -> dict[int, Overview]:
    """Of each criterion, by its primary key, the latest report that pages can show; one on settled units, where there
    is one."""
    with connection.cursor() as cursor:
        cursor.execute(_OVERVIEW, {"project": project.pk, "figures": FIGURES_VERSION})
        return {
            criterion: Overview(
                number, at, labels, ratings, json.loads(people), json.loads(judges), json.loads(matrix or "null")
            )
            for criterion, number, at, labels, ratings, people, judges, matrix in cursor.fetchall()
        }


def one_report(project: Project, number: int, *, reader: Reader) -> AlignmentReport:
    reports = AlignmentReport.objects.filter(project=project, number=number).select_related("criterion", "project")
    missing = Http404(_("Report %(number)s not found in this project.") % {"number": number})
    return as_read_by(first_or_raise(reports, missing), reader=reader)


def is_shown(report: AlignmentReport) -> bool:
    """Whether pages can show it: it was reckoned the way figures are reckoned now. Its JSON can always be read."""
    return bool(report.parameters["figures"] == FIGURES_VERSION)


def require_shown(report: AlignmentReport) -> None:
    """Raises Conflict."""
    if not is_shown(report):
        raise Conflict(
            "earlier_version", _("This report is from an earlier version of Touchstone. Its JSON is still available.")
        )


def data_version(criterion: Criterion) -> str:
    """Changes whenever a rating, a verdict or a score that could count changes, which units are settled, which samples
    are one group, how a judge is read, what it must show, or how we reckon; counts over all of these.

    It may change without the figures changing (a second version of a label that says the same); what a report rests on
    exactly is its fingerprint.
    """
    found = fetch_one(
        _COUNTS, {"criterion": criterion.pk, "project": criterion.project_id, "criterion_key": criterion.key}
    )
    counts, (grouped, *of_claims, falling, declared, required, has_draws) = list(found[:10]), found[10:]
    # What is said by which version: one may be kept as another is dropped, and a failed score be asked for again.
    scores = scores_that_count(criterion).aggregate(
        Count("pk"), Max("pk"), Sum("version"), ok=Count("pk", filter=Q(status=ScoreStatus.OK))
    )
    counts += scores.values()
    # A sample comes to a group once, and stays.
    counts += [grouped] if grouped else []
    if criterion.unit == UnitKind.CLAIM:
        counts += [value for value in of_claims if value]
    draw = finished_draw(criterion) if has_draws else None
    drawn = [None if draw is None else draw.pk, declared]
    return "/".join(map(str, [FIGURES_VERSION, *counts, falling, *drawn, required]))


# Every part is one row. In a small project pages ask on every view, and each statement of its own would cost it half a
# millisecond.
_COUNTS = """
    SELECT * FROM
        (SELECT count(*), sum(revision), max(updated_at) FROM annotate_label
          WHERE criterion_id = %(criterion)s) labels,
        (SELECT count(*), max(t.submitted_at) FROM annotate_task t JOIN annotate_batch b ON b.id = t.batch_id
          WHERE b.project_id = %(project)s AND t.status = 'submitted') tasks,
        (SELECT count(*), sum(revision), max(updated_at) FROM annotate_verdict
          WHERE criterion_id = %(criterion)s) verdicts,
        (SELECT count(single_labels_at), max(single_labels_at) FROM annotate_batch
          WHERE project_id = %(project)s) singles,
        (SELECT count(*) FROM annotate_sample WHERE project_id = %(project)s AND group_key <> '') grouped,
        (SELECT count(*), sum(id) FROM annotate_sample WHERE project_id = %(project)s AND abstained) abstaining,
        (SELECT max(e.id) FROM annotate_claimedit e JOIN annotate_sample s ON s.id = e.sample_id
          WHERE s.project_id = %(project)s) edits,
        (SELECT coalesce(string_agg(id::text, ',' ORDER BY id), '') FROM judges_judge
          WHERE project_id = %(project)s AND NOT higher_is_better) falling,
        (SELECT max(declared_at) FROM annotate_declareddraw
          WHERE project_id = %(project)s AND key = %(criterion_key)s) declared,
        (SELECT max(updated_at) FROM judges_requirement
          WHERE project_id = %(project)s AND criterion_key = %(criterion_key)s) required,
        (SELECT EXISTS (SELECT FROM annotate_batchsample s JOIN annotate_batch b ON b.id = s.batch_id
                         WHERE b.project_id = %(project)s AND s.probability IS NOT NULL)) draws
"""


def pending_key(criterion_id: int, labels: Labels = "settled") -> str:
    return f"report-pending:{criterion_id}:{labels}"


_EXCERPT = 280
_RATIONALE = 500


def with_words(project: Project, judges: Sequence[dict[str, Any]], *, reader: Reader) -> list[dict[str, Any]]:
    """The judges of a report, each row of their `disagreements` with the unit's text and the judge's reason, and with
    the sample's key in this installation."""
    rows = [row for judge in judges for row in judge["disagreements"]]
    wanted = [_said(judge, row) for judge in judges for row in judge["disagreements"]]
    texts, reasons = _texts(project, rows), rationales(project, wanted, reader=reader)
    return [
        {
            **judge,
            "disagreements": [
                {**row, **texts[row["sample"], row["unit"]], "rationale": _reason(reasons, judge, row)}
                for row in judge["disagreements"]
            ],
        }
        for judge in judges
    ]


def with_both_words(
    project: Project,
    first: Mapping[str, Any],
    second: Mapping[str, Any],
    rows: Sequence[dict[str, Any]],
    *,
    reader: Reader,
) -> list[dict[str, Any]]:
    """The rows of units that two judges decide differently, each with the unit's text and both judges' reasons.

    Read when they are shown, not when the report is frozen: of all pairs of judges one or two are ever looked at, and
    their words together would outweigh the report. Scores and the addresses of units don't change. The key of a sample
    that is gone is None.
    """
    texts = _texts(project, rows)
    reasons = rationales(project, [_said(judge, row) for judge in (first, second) for row in rows], reader=reader)
    return [
        {
            **row,
            **texts[row["sample"], row["unit"]],
            "first_rationale": _reason(reasons, first, row),
            "second_rationale": _reason(reasons, second, row),
        }
        for row in rows
    ]


def _said(judge: Mapping[str, Any], row: dict[str, Any]) -> Said:
    return judge["judge"], judge["version"], judge["dimension"], (row["sample"], row["unit"])


def _reason(reasons: Mapping[Said, str], judge: Mapping[str, Any], row: dict[str, Any]) -> str:
    return _excerpt(reasons.get(_said(judge, row), ""), _RATIONALE)


def _texts(project: Project, rows: Sequence[dict[str, Any]]) -> dict[UnitKey, dict[str, Any]]:
    """Of each unit of the rows: its sample's key here and own id, its words, and its number."""
    names = {row["sample"] for row in rows}
    samples = {one.external_id: one for one in Sample.objects.filter(project=project, external_id__in=names)}
    found = {}
    for name, unit in {(row["sample"], row["unit"]) for row in rows}:
        sample = samples.get(name)
        found[name, unit] = {
            "sample": None if sample is None else sample.pk,
            "external_id": name,
            "text": "" if sample is None else _excerpt(words_of(sample, unit), _EXCERPT),
            "unit_number": None if sample is None else unit_number(sample, unit),
        }
    return found


def words_of(sample: Sample, unit: str) -> str:
    """The words of the unit. A claim that was dropped after it had been labelled has none any more."""
    try:
        return unit_text(sample, unit)
    except IndexError:
        return ""


def _excerpt(text: str, limit: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def said_by_judge(value: Any, score: float | None, basis: str) -> str:
    """Pass or fail, or the label, with the score behind it."""
    text = str(value) if basis == "labels" else (_("pass") if value else _("fail"))
    return text if score is None else f"{text} ({number(score)})"


def outcome(first: str, second: str, pair: Mapping[str, Any]) -> Remark:
    """Which of two agrees more with people. `pair`: as alignment.report compares them; first, second: their names."""
    kappa = pair["difference"]["kappa"]
    if pair["reason"] is not None:
        return remark("cannot_be_compared", why=pair["reason"])
    if not sum(pair["flips"].values()):
        return remark("all_decided_alike", first=first, second=second, units=pair["units"])
    if kappa["value"] is None:
        return remark("difference_unknown", why=kappa["reason"])
    value = round(kappa["value"], 2)
    if kappa["low"] is None:
        return remark("difference_without_interval", first=first, second=second, kappa=value, why=kappa["reason"])
    low, high = round(kappa["low"], 2), round(kappa["high"], 2)
    if kappa["low"] > 0:
        return remark("second_agrees_more", first=first, second=second, kappa=value, low=low, high=high)
    if kappa["high"] < 0:
        return remark("second_agrees_less", first=first, second=second, kappa=value, low=low, high=high)
    return remark("no_difference_shown", first=first, second=second, kappa=value, low=low, high=high)
