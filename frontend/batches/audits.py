"""Scheduled audits: the list, the form of one, and one with its next dates and its history."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseNotAllowed
from django.utils import timezone
from django.utils.dates import WEEKDAYS
from django.utils.translation import gettext_lazy as _

from annotate.batches.audits_read import (
    AuditPlan,
    asked_criteria,
    audited_by,
    date_after_last,
    one_schedule,
    plan_audit,
    schedules_of,
)
from annotate.batches.audits_write import (
    MAX_DAYS,
    MAX_NAME,
    MAX_SAMPLES,
    SETTINGS,
    change_schedule,
    create_schedule,
    end_schedule,
    pause_schedule,
    resume_schedule,
)
from annotate.batches.checks import check_people
from annotate.core.errors import Refusal
from annotate.models import AuditSchedule, Project
from annotate.models.audit import EVERY_WEEKS, ScheduleStatus
from annotate.projects.read import criterion_names, current_criteria
from frontend.base.pages import ProjectPage, RefusalsShown, project_view, status_of
from frontend.batches.audit_words import how_often, made, problem_in_words
from frontend.batches.forms import QuestionsForm, offer_qualifications, requires_field

STEPS: dict[str, tuple[Callable[..., AuditSchedule], Any]] = {
    "pause": (pause_schedule, _("The schedule is paused. Resume it to make batches again.")),
    "resume": (resume_schedule, _("The schedule is active again.")),
    "end": (end_schedule, _("The schedule has ended. Its batches and its history stay.")),
}
_HOW_OFTEN = {1: _("Every week"), 2: _("Every 2 weeks"), 4: _("Every 4 weeks")}


class ScheduleForm(QuestionsForm):
    due_date = None  # type: ignore[assignment]
    samples = forms.IntegerField(
        label=_("Samples per batch"),
        min_value=1,
        max_value=MAX_SAMPLES,
        initial=20,
        help_text=_("Drawn at random. All, if fewer are new."),
    )
    weeks = forms.TypedChoiceField(
        label=_("Frequency"), coerce=int, choices=[(weeks, _HOW_OFTEN[weeks]) for weeks in EVERY_WEEKS], initial=1
    )
    weekday = forms.TypedChoiceField(label=_("Weekday"), coerce=int, choices=list(WEEKDAYS.items()), initial=0)
    days = forms.IntegerField(
        label=_("Days until due"),
        min_value=1,
        max_value=MAX_DAYS,
        initial=7,
        help_text=_("After the batch is made."),
    )
    requires = requires_field()
    opens = forms.TypedChoiceField(
        label=_("New batches"),
        coerce=lambda value: value == "open",
        initial="open",
        widget=forms.RadioSelect,
        choices=(
            ("open", _("Open at once: annotators get their tasks")),
            ("draft", _("Stay drafts until an admin opens them")),
        ),
    )

    def __init__(self, project: Project, *args: Any, of: AuditSchedule | None = None, **kwargs: Any) -> None:
        super().__init__(project, *args, conditions=None if of is None else of.conditions, **kwargs)
        offer_qualifications(self.fields["requires"], project)
        self.fields["name"].max_length = MAX_NAME  # type: ignore[attr-defined]
        self.fields["name"].widget.attrs["maxlength"] = MAX_NAME
        if of is not None:
            plain = ("name", "samples", "weeks", "weekday", "days", "overlap")
            self.initial = {
                **{name: getattr(of, name) for name in plain},
                "opens": "open" if of.opens else "draft",
                "requires": of.requires_id,
                "annotators": [user.pk for user in of.annotators.all()],
                "criteria": [criterion.pk for criterion in asked_criteria(of)],
                **self.initial,
            }

    def opens_filter(self) -> bool:
        names = [field.name for field in self.metadata_fields()]
        return self.differs(*names) or any(self.fields[name].initial for name in names)

    def settings(self) -> dict[str, Any]:
        """Of a valid form, as annotate.batches.audits_write takes them."""
        given = {**self.cleaned_data, "conditions": self.conditions()}
        lists = {name: list(given[name]) for name in ("criteria", "annotators")}
        return {name: given[name] for name in SETTINGS} | lists


@project_view("batches", get="schedules.read")
def schedules(page: ProjectPage) -> HttpResponse:
    names = criterion_names(page.project)
    found = [_in_list(one, names) for one in schedules_of(page.project)]
    found.sort(key=lambda row: row["schedule"].status == ScheduleStatus.ENDED)
    return page.render("batches/audits.html", {"rows": found, "may_change": page.may("schedules.change")})


def _in_list(schedule: AuditSchedule, names: dict[str, str]) -> dict[str, Any]:
    last = next(iter(schedule.audits.all()), None)
    return {"schedule": schedule, "how_often": how_often(schedule), "last": None if last is None else made(last, names)}


@project_view("batches", get="schedules.change", post="schedules.change")
def new(page: ProjectPage) -> HttpResponse:
    form = ScheduleForm(page.project, page.data, initial=_asked(page))
    if form.is_valid():
        with RefusalsShown(form):
            made = create_schedule(project=page.project, actor=page.user, today=timezone.localdate(), **form.settings())
            messages.success(page.request, _("The audit schedule is set up."))
            return page.redirect("audits-one", made.pk)
    return page.render("batches/audits_form.html", {"form": form}, status=status_of(form))


def _asked(page: ProjectPage) -> dict[str, Any]:
    """The criterion that the address may name, as the page of a certificate does."""
    found = current_criteria(page.project).filter(key=page.request.GET.get("criterion", "").replace("\0", "")).first()
    return {} if found is None else {"criteria": [found.pk]}


@project_view("batches", get="schedules.change", post="schedules.change")
def edit(page: ProjectPage, schedule_id: int) -> HttpResponse:
    found = one_schedule(page.project, schedule_id)
    form = ScheduleForm(page.project, page.data, of=found)
    if form.is_valid():
        with RefusalsShown(form):
            change_schedule(actor=page.user, schedule=found, today=timezone.localdate(), **form.settings())
            messages.success(page.request, _("Saved."))
            return page.redirect("audits-one", schedule_id)
    return page.render("batches/audits_form.html", {"form": form, "schedule": found}, status=status_of(form))


@project_view("batches", post="schedules.change")
def preview(page: ProjectPage) -> HttpResponse:
    return _previewed(page, None)


@project_view("batches", post="schedules.change")
def edit_preview(page: ProjectPage, schedule_id: int) -> HttpResponse:
    return _previewed(page, one_schedule(page.project, schedule_id))


def _previewed(page: ProjectPage, schedule: AuditSchedule | None) -> HttpResponse:
    """When the form, as far as it is filled in, would make batches, and of what today. Stores nothing."""
    sent = page.request.POST.copy()
    sent["name"] = sent.get("name") or "…"
    form, plan, problem = ScheduleForm(page.project, sent, of=schedule), None, ""
    if form.is_valid():
        given = form.settings()
        try:
            check_people(page.project, given["annotators"], given["overlap"])
            plan = plan_audit(
                project=page.project,
                first=_first(schedule, given["weeks"], given["weekday"], timezone.localdate()),
                after=0 if schedule is None else schedule.last_sample,
                **{
                    name: given[name]
                    for name in ("criteria", "conditions", "annotators", "overlap", "samples", "weeks")
                },
            )
        except Refusal as refusal:
            problem = refusal.message
    return page.render("batches/partials/audit_plan.html", {"plan": plan, "problem": problem})


def _first(schedule: AuditSchedule | None, weeks: int, weekday: int, today: date) -> date:
    if schedule is not None and (schedule.weeks, schedule.weekday) == (weeks, weekday) and schedule.next_on > today:
        return schedule.next_on
    return date_after_last(schedule, weeks=weeks, weekday=weekday, today=today)


@project_view("batches", get="schedules.read")
def schedule(page: ProjectPage, schedule_id: int) -> HttpResponse:
    found = one_schedule(page.project, schedule_id)
    names, criteria = criterion_names(page.project), asked_criteria(found)
    people, gone = audited_by(found)
    context = {
        "schedule": found,
        "how_often": how_often(found),
        "problem": problem_in_words(found.problem, names),
        "criteria": [names.get(key, key) for key in found.criteria],
        "people": people,
        "gone": gone,
        "plan": None if found.status == ScheduleStatus.ENDED else _plan(found),
        "rows": [made(audit, names) for audit in found.audits.all()],
        "may_change": page.may("schedules.change") and found.status != ScheduleStatus.ENDED,
        "is_overdue": found.status == ScheduleStatus.ACTIVE and found.next_on <= timezone.localdate(),
    }
    return page.render("batches/audits_one.html", {**context, "asks_nothing": not criteria})


def _plan(schedule: AuditSchedule) -> AuditPlan:
    return plan_audit(
        project=schedule.project,
        criteria=asked_criteria(schedule),
        conditions=schedule.conditions,
        annotators=audited_by(schedule)[0],
        overlap=schedule.overlap,
        samples=schedule.samples,
        weeks=schedule.weeks,
        first=_first(schedule, schedule.weeks, schedule.weekday, timezone.localdate()),
        after=schedule.last_sample,
    )


@project_view("batches", get="schedules.change", post="schedules.change")
def step(page: ProjectPage, schedule_id: int, step: str) -> HttpResponse:
    """POST does it; GET asks, where it ends something."""
    if step not in STEPS:
        raise Http404
    act, done = STEPS[step]
    found = one_schedule(page.project, schedule_id)
    if page.request.method != "POST":
        if step != "end":
            return HttpResponseNotAllowed(["POST"])
        return page.render("batches/audits_end.html", {"schedule": found})
    page.attempt(lambda: act(actor=page.user, schedule=found, today=timezone.localdate()), str(done))
    return page.redirect("audits-one", schedule_id)
