"""An admin's part in scheduled audits: setting one up, changing, pausing, resuming and ending it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from django.db import transaction
from django.http import Http404
from django.utils.translation import gettext as _

from annotate.batches.audits_read import date_after_last
from annotate.batches.checks import check_criteria, check_flag, check_people, check_requires
from annotate.batches.sample_choice import new_seed
from annotate.core.errors import Conflict, Invalid
from annotate.core.rows import first_or_raise
from annotate.core.texts import words_or_raise
from annotate.core.trail import note
from annotate.models import AuditSchedule, Criterion, Project, Qualification, User
from annotate.models.audit import EVERY_WEEKS, ScheduleStatus
from annotate.samples.read import matching_samples

MAX_SAMPLES, MAX_OVERLAP, MAX_DAYS, MAX_NAME = 10_000, 100, 365, 180
# Beside criteria and annotators, which go together with other tables.
_PLAIN = ("name", "weeks", "weekday", "samples", "conditions", "overlap", "days", "opens", "requires")
SETTINGS = (*_PLAIN, "criteria", "annotators")


def create_schedule(
    *,
    project: Project,
    actor: User | None,
    today: date,
    name: str,
    criteria: Sequence[Criterion],
    annotators: Sequence[User],
    samples: int,
    weeks: int = 1,
    weekday: int = 0,
    conditions: Mapping[str, Any] | None = None,
    overlap: int = 2,
    days: int = 7,
    opens: bool = True,
    requires: Qualification | None = None,
) -> AuditSchedule:
    """The first batch is made on the first such weekday after today. Raises Invalid."""
    given = _checked(
        project,
        {
            "name": name, "criteria": criteria, "annotators": annotators, "samples": samples, "weeks": weeks,
            "weekday": weekday, "overlap": overlap, "days": days, "opens": opens, "requires": requires,
            "conditions": {} if conditions is None else conditions,
        },
    )  # fmt: skip
    with transaction.atomic():
        schedule = AuditSchedule(project=project, seed=new_seed(), created_by=actor)
        _set(schedule, given, today=today)
        schedule.save()
        schedule.annotators.set(given["annotators"])
        _note(actor, schedule, "created", on=schedule.next_on.isoformat())
    return schedule


def change_schedule(*, actor: User | None, schedule: AuditSchedule, today: date, **settings: Any) -> AuditSchedule:
    """Some of SETTINGS; what is not named stays as it is. Another rhythm counts from the last batch. Raises Invalid,
    and Conflict when the schedule has ended."""
    with transaction.atomic():
        schedule = _locked(schedule, ScheduleStatus.ACTIVE, ScheduleStatus.PAUSED)
        if settings.keys() & {"annotators", "overlap"}:
            stands = {"annotators": list(schedule.annotators.all()), "overlap": schedule.overlap}
            settings = {**stands, **settings}
        given = _checked(schedule.project, settings)
        changed = sorted(name for name, value in given.items() if _differs(schedule, name, value))
        if changed:
            _set(schedule, {name: given[name] for name in changed}, today=today)
            # What was in the way may be gone; the worker says so if not.
            schedule.problem = None
            schedule.save()
            if "annotators" in changed:
                schedule.annotators.set(given["annotators"])
            _note(actor, schedule, "changed", fields=changed)
    return schedule


def pause_schedule(*, actor: User | None, schedule: AuditSchedule, today: date) -> AuditSchedule:
    """No batches until it is resumed. Repeating it changes nothing."""
    return _switch(actor, schedule, ScheduleStatus.ACTIVE, ScheduleStatus.PAUSED, "paused")


def resume_schedule(*, actor: User | None, schedule: AuditSchedule, today: date) -> AuditSchedule:
    """From the next date on: what would have been due meanwhile is not made up for."""
    return _switch(actor, schedule, ScheduleStatus.PAUSED, ScheduleStatus.ACTIVE, "resumed", today=today)


def end_schedule(*, actor: User | None, schedule: AuditSchedule, today: date) -> AuditSchedule:
    """For good. Its history stays, and so do the batches that it made."""
    with transaction.atomic():
        schedule = _locked(schedule)
        if schedule.status != ScheduleStatus.ENDED:
            schedule.status, schedule.problem = ScheduleStatus.ENDED, None
            schedule.save(update_fields=["status", "problem"])
            _note(actor, schedule, "ended")
    return schedule


def _switch(
    actor: User | None,
    schedule: AuditSchedule,
    before: ScheduleStatus,
    after: ScheduleStatus,
    what: str,
    today: date | None = None,
) -> AuditSchedule:
    with transaction.atomic():
        schedule = _locked(schedule, before, after)
        if schedule.status == before:
            schedule.status = after
            if today is not None and schedule.next_on <= today:
                schedule.next_on = _next(schedule, today)
            schedule.save(update_fields=["status", "next_on"])
            _note(actor, schedule, what)
    return schedule


def _locked(schedule: AuditSchedule, *expected: ScheduleStatus) -> AuditSchedule:
    """As it is now. The project first, as where a batch is made."""
    Project.objects.select_for_update(no_key=True).get(pk=schedule.project_id)
    gone = Http404(_("Audit schedule not found in this project."))
    found = first_or_raise(
        AuditSchedule.objects.select_for_update(no_key=True, of=("self",)).select_related("project")
        .filter(pk=schedule.pk), gone,
    )  # fmt: skip
    if expected and found.status not in expected:
        raise Conflict("schedule_ended", _("This audit schedule has ended. Create another one."))
    return found


def _set(schedule: AuditSchedule, given: Mapping[str, Any], *, today: date) -> None:
    for name in _PLAIN:
        if name in given:
            setattr(schedule, name, given[name])
    if "criteria" in given:
        schedule.criteria = [criterion.key for criterion in given["criteria"]]
    if given.keys() & {"weeks", "weekday"}:
        schedule.next_on = _next(schedule, today)


def _next(schedule: AuditSchedule, today: date) -> date:
    there = schedule if schedule.pk else None
    return date_after_last(there, weeks=schedule.weeks, weekday=schedule.weekday, today=today)


def _differs(schedule: AuditSchedule, name: str, value: Any) -> bool:
    if name == "criteria":
        return {criterion.key for criterion in value} != set(schedule.criteria)
    if name == "annotators":
        return {user.pk for user in value} != set(schedule.annotators.values_list("pk", flat=True))
    return bool(value != getattr(schedule, name))


def _checked(project: Project, given: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(given)
    if "name" in found:
        said = _("Enter a schedule name of up to %(most)d characters.") % {"most": MAX_NAME}
        found["name"] = words_or_raise(found["name"], Invalid("bad_name", said), most=MAX_NAME)
    if "criteria" in found:
        check_criteria(project, found["criteria"])
    for name, low, high in (
        ("weekday", 0, 6), ("samples", 1, MAX_SAMPLES), ("overlap", 1, MAX_OVERLAP), ("days", 1, MAX_DAYS),
    ):  # fmt: skip
        if name in found:
            _check_whole(found[name], name, low, high)
    if "annotators" in found:
        check_people(project, found["annotators"], found["overlap"])
    if "weeks" in found and (isinstance(found["weeks"], bool) or found["weeks"] not in EVERY_WEEKS):
        known = ", ".join(map(str, EVERY_WEEKS))
        raise Invalid("bad_weeks", _("weeks: must be one of %(known)s.") % {"known": known})
    if "conditions" in found:
        if not isinstance(found["conditions"], Mapping):
            raise Invalid("bad_filter", _("filter: must be an object of metadata keys and values."))
        matching_samples(project, found["conditions"])  # raises what is wrong with it
    if "requires" in found:
        check_requires(project, found["requires"])
    if "opens" in found:
        check_flag(found["opens"], "opens")
    return found


def _check_whole(value: Any, name: str, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        said = _("%(name)s: must be a whole number from %(low)d to %(high)d.")
        raise Invalid("bad_number", said % {"name": name, "low": low, "high": high})


def _note(actor: User | None, schedule: AuditSchedule, what: str, **details: Any) -> None:
    note(
        actor=actor, action=f"schedule.{what}", subject=schedule.name, project=schedule.project,
        schedule=schedule.name, **details,
    )  # fmt: skip
