"""Scheduled audits over the API."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.utils import timezone
from rest_framework.request import Request

from annotate.api import audits_serializers as shapes
from annotate.api.base import ProjectAPIView
from annotate.api.batches import criteria_keyed, required
from annotate.api.schema import answers
from annotate.batches.audits_read import one_schedule, schedules_of
from annotate.batches.audits_write import (
    change_schedule,
    create_schedule,
    end_schedule,
    pause_schedule,
    resume_schedule,
)
from annotate.models import AuditSchedule, Project
from annotate.projects.read import people_of


class AuditSchedulesView(ProjectAPIView):
    actions = {"GET": "schedules.read", "POST": "schedules.change"}

    @answers(shapes.AuditSchedule(many=True))
    def get(self, request: Request, slug: str) -> Iterable[AuditSchedule]:
        """The audit schedules, with what they made."""
        return schedules_of(self.project)

    @answers(shapes.AuditSchedule, takes=shapes.AuditScheduleCreation, status=201)
    def post(self, request: Request, data: dict[str, Any], slug: str) -> AuditSchedule:
        """Sets up batches of new samples, drawn at random every so many weeks.

        New are samples that were imported since the batch before, have no label on one of the criteria and no place in
        a batch that still asks one. The first batch is made on the first such weekday after today.
        """
        given = _given(self.project, data)
        made = create_schedule(project=self.project, actor=self.user, today=timezone.localdate(), **given)
        return one_schedule(self.project, made.pk)


class AuditScheduleView(ProjectAPIView):
    actions = {"GET": "schedules.read", "PATCH": "schedules.change", "DELETE": "schedules.change"}

    @answers(shapes.AuditSchedule)
    def get(self, request: Request, slug: str, schedule_id: int) -> AuditSchedule:
        """One audit schedule, with what it made."""
        return one_schedule(self.project, schedule_id)

    @answers(shapes.AuditSchedule, takes=shapes.AuditScheduleChange, conflict=True)
    def patch(self, request: Request, data: dict[str, Any], slug: str, schedule_id: int) -> AuditSchedule:
        """Changes, pauses or resumes a schedule.

        A field that is left out stays as it is. One that has ended is refused (409).
        """
        schedule, today = one_schedule(self.project, schedule_id), timezone.localdate()
        status = data.pop("status", None)
        with transaction.atomic():
            change_schedule(actor=self.user, schedule=schedule, today=today, **_given(self.project, data))
            if status is not None:
                act = resume_schedule if status == "active" else pause_schedule
                act(actor=self.user, schedule=schedule, today=today)
        return one_schedule(self.project, schedule_id)

    @answers()
    def delete(self, request: Request, slug: str, schedule_id: int) -> None:
        """Ends a schedule.

        It makes no more batches. Its history stays, and so do the batches that it made.
        """
        schedule = one_schedule(self.project, schedule_id)
        end_schedule(actor=self.user, schedule=schedule, today=timezone.localdate())


def _given(project: Project, data: dict[str, Any]) -> dict[str, Any]:
    given = dict(data)
    if "filter" in given:
        given["conditions"] = given.pop("filter")
    if "criteria" in given:
        given["criteria"] = criteria_keyed(project, given["criteria"])
    if "requires" in given:
        given["requires"] = required(project, given["requires"])
    if "annotators" in given:
        given["annotators"] = people_of(project, given["annotators"])
    return given
