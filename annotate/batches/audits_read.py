"""Audit schedules: those of a project, with their history and what the next batch would be drawn from. Permissions are
not checked here."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db.models import Exists, OuterRef, Prefetch, QuerySet
from django.http import Http404
from django.utils.translation import gettext as _

from annotate.batches.draws_read import WAITING
from annotate.core.rows import first_or_raise
from annotate.core.weekly_dates import dates_from, next_date
from annotate.labels.read import counting_labels
from annotate.models import AuditSchedule, BatchSample, Criterion, Project, Sample, ScheduledAudit, User
from annotate.models.audit import ScheduleStatus
from annotate.projects.read import active_members, current_criteria
from annotate.qualification.read import qualified
from annotate.samples.read import asked_by, matching_samples

SHOWN_DATES = 4


def schedules_of(project: Project) -> QuerySet[AuditSchedule]:
    """With annotators and history; those that have ended last."""
    return (
        AuditSchedule.objects.filter(project=project)
        .prefetch_related(
            Prefetch("annotators", User.objects.order_by("username")),
            Prefetch("audits", ScheduledAudit.objects.select_related("batch").order_by("-due_on")),
        )
        .order_by("id")
    )


def one_schedule(project: Project, schedule_id: int) -> AuditSchedule:
    found = schedules_of(project).select_related("project").filter(pk=schedule_id)
    return first_or_raise(found, Http404(_("Audit schedule not found in this project.")))


def is_audited(project: Project, key: str) -> bool:
    """Whether a schedule asks this criterion, paused or not."""
    schedules = AuditSchedule.objects.filter(project=project, criteria__contains=[key])
    return schedules.exclude(status=ScheduleStatus.ENDED).exists()


def stuck_schedules(project: Project) -> int:
    """How many can't make the batch that is due."""
    active = AuditSchedule.objects.filter(project=project, status=ScheduleStatus.ACTIVE)
    return active.filter(problem__isnull=False).count()


def asked_criteria(schedule: AuditSchedule) -> list[Criterion]:
    """As they are now; without those that the project no longer has."""
    return [one for one in current_criteria(schedule.project) if one.key in schedule.criteria]


def audited_by(schedule: AuditSchedule) -> tuple[list[User], list[User]]:
    """Its annotators that can be asked, and those that can't: no active members any more, or not qualified."""
    people = list(schedule.annotators.order_by("username"))
    there = set(active_members(schedule.project))
    if schedule.requires is not None:
        there &= qualified(schedule.requires)
    return [user for user in people if user.pk in there], [user for user in people if user.pk not in there]


def eligible_samples(
    project: Project, criteria: Sequence[Criterion], conditions: Mapping[str, Any], *, after: int
) -> QuerySet[Sample]:
    """New samples (imported after the one with this primary key) that match, of which one of the criteria asks
    something, and that have neither a label on any of them nor a place in a batch that still asks one of them; in any
    version of these."""
    keys = [criterion.key for criterion in criteria]
    labels = counting_labels().filter(criterion__key__in=keys, sample=OuterRef("pk"))
    waiting = BatchSample.objects.filter(
        sample=OuterRef("pk"), batch__status__in=WAITING, batch__criteria__key__in=keys
    )
    new = asked_by(matching_samples(project, conditions).filter(pk__gt=after), *criteria)
    return new.filter(~Exists(labels), ~Exists(waiting))


def date_after_last(schedule: AuditSchedule | None, *, weeks: int, weekday: int, today: date) -> date:
    """The first date of this rhythm; schedule: one that is there, whose last batch it counts from."""
    audits = ScheduledAudit.objects.filter(schedule=schedule) if schedule is not None else ScheduledAudit.objects.none()
    last = audits.order_by("-due_on").values_list("due_on", flat=True).first()
    return next_date(weekday, weeks, today=today, last=last)


@dataclass(frozen=True, slots=True)
class AuditPlan:
    """What the next batches would be, as of today. dates: of the next ones. eligible: samples that one made today would
    be drawn from; samples: how many it would have, before samples of one group are drawn together."""

    dates: list[date]
    eligible: int
    samples: int
    tasks: int
    people: int


def plan_audit(
    *,
    project: Project,
    criteria: Sequence[Criterion],
    conditions: Mapping[str, Any],
    annotators: Collection[User],
    overlap: int,
    samples: int,
    weeks: int,
    first: date,
    after: int = 0,
) -> AuditPlan:
    eligible = eligible_samples(project, criteria, conditions, after=after).count()
    drawn = min(samples, eligible)
    dates = list(dates_from(first, weeks, SHOWN_DATES))
    return AuditPlan(dates, eligible, drawn, drawn * overlap, len(annotators))
