"""Agreement, alignment and frozen reports by API."""

from __future__ import annotations

import uuid
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import models
from annotate.api.base import ProjectAPIView
from annotate.api.jobs import ACCEPTED, Job, accepted, job_as_reply, one_job, shown
from annotate.api.schema import Error, answers
from annotate.core.job_state import JobState, state_of_job
from annotate.models.job import JobKind
from annotate.projects.read import criterion_named, one_rated_criterion
from annotate.verdicts.evidence_read import agreement
from judges.api import reports_serializers as shapes
from judges.certificates.decision_read import rulings_on
from judges.models import AlignmentReport
from judges.reports.evidence import align
from judges.reports.read import ReportState, one_report, report_state, reports_of
from judges.reports.reproduction import bundle
from judges.reports.requests import request_job


class AgreementView(ProjectAPIView):
    actions = {"GET": "reports.read"}

    @answers(shapes.Agreement)
    def get(self, request: Request, slug: str, key: str) -> dict[str, Any]:
        """How well people agree with each other on a criterion.

        As `manage.py agreement` prints it: percent, kappa, alpha and AC1, each with its interval, or with the reason
        why it is undefined (docs/statistics.md). People have numbers where the project hides names.
        """
        return agreement(one_rated_criterion(self.project, key), reader=self.user)


class AlignmentView(ProjectAPIView):
    actions = {"GET": "reports.read"}

    @answers(shapes.Alignment, query=shapes.AlignmentAsked)
    def get(self, request: Request, asked: dict[str, str], slug: str, key: str) -> dict[str, Any]:
        """How well judges agree with people on a criterion.

        As `manage.py align` prints it: every judge, or the one named, at the threshold that is best on the dev half of
        the samples, measured there by cross-fitting (docs/statistics.md). Samples get their half at a report or a look;
        those without one are not on dev yet. Before the first of these there is nothing to compare judges on (404).

        `looks` has the decision of judges that were looked at on test: it rules, whatever dev says.

        Judges are compared with what people settled. `labels=all`: with all that they labelled.
        """
        settled_only = asked.get("labels", "settled") == "settled"
        criterion = one_rated_criterion(self.project, key)
        found = align(criterion, asked.get("judge") or None, stores=False, settled_only=settled_only)
        named = {row["judge"] for row in found["judges"]}
        return {**found, "looks": [one for one in rulings_on(criterion) if one["judge"] in named]}


class ReportStateView(ProjectAPIView):
    actions = {"GET": "reports.read"}

    @answers(shapes.ReportState, query=shapes.ReportStateAsked)
    def get(self, request: Request, asked: dict[str, Any], slug: str, key: str) -> ReportState:
        """The latest report of a criterion, and whether it is out of date.

        `number` is null when there is none. `is_out_of_date`: something it rests on changed since. `is_pending`: a new
        one is on its way. `labels=all`: of reports that compare judges with all that people labelled.
        """
        return report_state(one_rated_criterion(self.project, key), asked.get("labels", "settled"), reader=self.user)


class ReportsView(ProjectAPIView):
    actions = {"GET": "reports.read", "POST": "reports.freeze"}

    @answers(shapes.ReportPage, query=shapes.ReportsAsked)
    def get(self, request: Request, asked: dict[str, str], slug: str) -> QuerySet[AlignmentReport]:
        """The project's frozen reports, newest first, page by page.

        Without their figures, which each report has.
        """
        reports, key = reports_of(self.project), asked.get("criterion")
        return reports.filter(criterion__key=key) if key else reports

    @answers(
        shapes.ReportRequested,
        takes=shapes.ReportRequest,
        status=202,
        headers=ACCEPTED,
        also={503: OpenApiResponse(Error, "The worker can't be reached just now.")},
    )
    def post(self, request: Request, data: dict[str, Any], slug: str) -> Response:
        """Has the worker freeze a report on the data as they are now.

        Its job says when it is there. `requested` is false when you have one on its way already. When nothing changed
        since the last report, that one is the result. It compares judges with what people settled; with `labels` all,
        with all that they labelled.
        """
        criterion = criterion_named(self.project, str(data["criterion"]))
        labels = data.get("labels", "settled")
        job, is_new = request_job(criterion=criterion, user=self.user, labels=labels)
        reply = {"requested": is_new, **shown(request, slug, _state(job))}
        return accepted(request, slug, reply, f"report-jobs/{job.pk}/")


class ReportJobView(ProjectAPIView):
    actions = {"GET": "reports.read"}

    @answers(Job)
    def get(self, request: Request, slug: str, job_id: uuid.UUID) -> Response:
        """How a report is that the worker freezes.

        Once it is done, `result` is its address.
        """
        return job_as_reply(request, slug, _state(one_job(self.project, JobKind.REPORT, job_id)))


def _state(job: models.Job) -> JobState:
    return state_of_job(job, "reports/{}/")


class ReportView(ProjectAPIView):
    actions = {"GET": "reports.read"}

    @answers(shapes.Report)
    def get(self, request: Request, slug: str, number: int) -> AlignmentReport:
        """One report with all its figures.

        Parameters, the fingerprint of the data, and every estimate. A report never changes; single units of samples
        that you still have to label or to decide are left out, and people have numbers where the project hides names.
        """
        return one_report(self.project, number, reader=self.user)


class ReportBundleView(ProjectAPIView):
    actions = {"GET": "reports.read"}

    @answers(OpenApiTypes.BINARY, status=(200, "application/zip"), conflict=True)
    def get(self, request: Request, slug: str, number: int) -> HttpResponse:
        """Everything that a report rests on, to work it out again.

        A ZIP with the report, its evidence, the ratings as a table, and a script that recomputes every figure. Refused
        (409) when it rests on samples that you still have to label or to decide, and where the project hides names from
        you.
        """
        report = one_report(self.project, number, reader=self.user)
        name = f"{slug}-{report.criterion.key}-report-{number}.zip"
        return HttpResponse(
            bundle(report, shapes.Report.show(report), reader=self.user),
            content_type="application/zip",
            headers={"Content-Disposition": f'attachment; filename="{name}"'},
        )
