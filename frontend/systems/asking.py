"""Runs that ask a version the questions of a test set: started, watched, paused, resumed and cancelled; what failed,
and asking only that again."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpResponse, HttpResponseNotAllowed
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotate.core.errors import Refusal
from annotate.files.import_jobs import check_version
from annotate.models import Project
from frontend.base.pages import ProjectPage, RefusalsShown, project_view, status_of
from frontend.judges.run_start import budget_field
from frontend.judges.run_words import TONES
from frontend.judges.runs import CAN_GO_ON, ENDED
from judges.models import RunState
from systems.models import FrozenSet, SystemVersion, TargetRun
from systems.responses.versions import versions_named
from systems.targets.read import TargetProgress, failures_of, frozen_asked, one_run, progress_of
from systems.targets.runs import MOST_REPEATS, Limits, cancel_run, pause_run, resume_run, start_run

_PLACES = {"bad_version": "version", "bad_repeats": "repeats", "bad_budget": "budget", "bad_requests": "requests"}


class LimitsForm(forms.Form):
    budget = budget_field(
        label=gettext_lazy("Budget"),
        help_text=gettext_lazy("In the currency of the prices. The run stops at this cost, if replies say theirs."),
    )
    requests = forms.IntegerField(
        label=gettext_lazy("Maximum requests"),
        required=False,
        min_value=1,
        max_value=2**31 - 1,
        help_text=gettext_lazy("Leave empty for no limit."),
    )

    def limits(self) -> Limits:
        return Limits(self.cleaned_data["budget"], self.cleaned_data["requests"])


class AskForm(LimitsForm):
    version = forms.CharField(
        label=gettext_lazy("Version"),
        max_length=100,
        help_text=gettext_lazy("An existing version, or the name of a new one."),
        widget=forms.TextInput({"list": "versions", "autocomplete": "off", "spellcheck": "false"}),
    )
    test_set = forms.ChoiceField(label=gettext_lazy("Test set"))
    repeats = forms.IntegerField(
        label=gettext_lazy("Repeats"),
        min_value=1,
        max_value=MOST_REPEATS,
        initial=1,
        help_text=gettext_lazy("How many answers each question should have. Those that are there are not asked again."),
    )
    only_failed = forms.BooleanField(label=gettext_lazy("Ask again what failed, and nothing else"), required=False)
    field_order = ("version", "test_set", "repeats", "only_failed")

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        sets = FrozenSet.objects.filter(question_set__project=project).order_by("-frozen_at", "-pk")
        names = [one.manifest["set"] for one in sets]
        self.fields["test_set"].choices = [(name, name) for name in names]  # type: ignore[attr-defined]

    @property
    def has_sets(self) -> bool:
        return bool(self.fields["test_set"].choices)  # type: ignore[attr-defined]


@project_view("systems", get="systems.ask", post="systems.ask")
def new(page: ProjectPage) -> HttpResponse:
    asked = page.request.GET
    form = AskForm(page.project, page.data, initial={"version": asked.get("version"), "test_set": asked.get("set")})
    if form.is_valid():
        with RefusalsShown(form, places=_PLACES):
            given = form.cleaned_data
            frozen = frozen_asked(page.project, given["test_set"])
            name = check_version(given["version"])
            with transaction.atomic():
                started = start_run(
                    actor=page.user,
                    version=versions_named(page.project, [name])[name],
                    frozen_set=frozen,
                    repeats=given["repeats"],
                    only_failed=given["only_failed"],
                    limits=form.limits(),
                )
            return page.redirect("asking", started.run.pk)
    versions = SystemVersion.objects.filter(project=page.project).order_by("-id").values_list("name", flat=True)
    return page.render("systems/asking_new.html", {"form": form, "versions": versions}, status=status_of(form))


@project_view("systems", get="systems.ask")
def run(page: ProjectPage, asking_id: int) -> HttpResponse:
    found = one_run(page.project, asking_id)
    return _page(page, found, LimitsForm(initial={"budget": found.budget, "requests": found.most_requests}))


def _page(page: ProjectPage, found: TargetRun, form: LimitsForm) -> HttpResponse:
    rows = page.rows(failures_of(found, reader=page.user))
    context = {
        **_state(page, found),
        "has_ended": found.state in ENDED,
        "can_pause": found.state == RunState.RUNNING and page.may("systems.ask"),
        "can_resume": found.state in CAN_GO_ON,
        "can_cancel": found.state not in ENDED,
        "form": form,
        "rows": rows,
    }
    return page.render("systems/asking.html", context, status=status_of(form))


@project_view("systems", get="systems.ask")
def progress(page: ProjectPage, asking_id: int) -> HttpResponse:
    """The part of the page that a browser asks for again: nothing (204) when it would look the same, and the whole page
    once the run is in another state."""
    found = one_run(page.project, asking_id)
    context, asked = _state(page, found), page.request.GET
    if asked.get("state") == found.state and asked.get("seen") == context["seen"]:
        return HttpResponse(status=204)
    reply = page.render("systems/partials/asking_progress.html", context)
    if asked.get("state") != found.state:
        reply["HX-Refresh"] = "true"
    return reply


def _state(page: ProjectPage, found: TargetRun) -> dict[str, Any]:
    come = progress_of(found)
    counted = (come.answered, come.failed, come.requests, come.is_waiting_for_worker)
    return {
        "project": page.project,
        "run": found,
        "progress": come,
        "tone": TONES[RunState(found.state)],
        "said": _said(found, come),
        "percent": 100 * come.done // come.planned if come.planned else 0,
        "seen": "-".join(str(int(one)) for one in counted),
        "goes_on": found.state == RunState.RUNNING,
    }


def _said(found: TargetRun, come: TargetProgress) -> str:
    """How it stands, in a sentence that stays the same while it goes on."""
    if found.state == RunState.RUNNING and found.version.project.archived_at is not None:
        return _("The project is archived. The run continues once it is restored.")
    if found.state == RunState.RUNNING and come.is_waiting_for_worker:
        return _("Waiting for the worker. If this takes long, no worker is running. The run continues once one starts.")
    if found.state == RunState.RUNNING:
        return _("Running. You can leave this page; the run continues.")
    if found.state == RunState.PAUSED:
        return _("Paused. Answers are kept. Resume to ask the rest.")
    if found.state == RunState.STOPPED:
        return _("Stopped by an error. Answers are kept. Fix the cause, then resume.")
    if found.state == RunState.CANCELLED:
        return _("Cancelled. Answers that came are kept.")
    if not come.planned and found.only_failed:
        return _("Nothing to ask: no request failed.")
    if not come.planned:
        return _("Nothing to ask: every question has a response.")
    if come.failed:
        return _("Done. Failed requests count as failed until you ask them again.")
    return _("Done. Every question was answered.")


@project_view("systems", get="systems.ask", post="systems.ask")
def step(page: ProjectPage, asking_id: int, step: str) -> HttpResponse:
    """POST does it; GET asks, before a run is cancelled."""
    found = one_run(page.project, asking_id)
    if step == "cancel" and page.request.method != "POST":
        if found.state in ENDED:
            return page.redirect("asking", found.pk)
        return page.render("systems/asking_cancel.html", {"run": found, "progress": progress_of(found)})
    if step not in ("pause", "resume", "cancel", "again"):
        raise Http404
    if page.request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    if step == "pause":
        page.attempt(lambda: pause_run(run=found, actor=page.user), _("Run paused."))
    elif step == "cancel":
        page.attempt(lambda: cancel_run(run=found, actor=page.user), _("Run cancelled."))
    elif step == "again":
        return _again(page, found)
    else:
        return _resume(page, found)
    return page.redirect("asking", found.pk)


def _resume(page: ProjectPage, found: TargetRun) -> HttpResponse:
    form = LimitsForm(page.data)
    if form.is_valid():
        with RefusalsShown(form, places=_PLACES):
            resume_run(run=found, limits=form.limits(), actor=page.user)
            messages.success(page.request, _("Run resumed."))
            return page.redirect("asking", found.pk)
    return _page(page, found, form)


def _again(page: ProjectPage, found: TargetRun) -> HttpResponse:
    """Only what failed, of the same version and set, with the same limits."""
    limits = Limits(found.budget, found.most_requests)
    try:
        started = start_run(
            actor=page.user, version=found.version, frozen_set=found.frozen_set, only_failed=True, limits=limits
        )
    except Refusal as refusal:
        messages.error(page.request, refusal.message)
        return page.redirect("asking", found.pk)
    return page.redirect("asking", started.run.pk)
