"""Starting a run: over which samples, at what price; or in one click, over what has no score yet."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.utils.translation import gettext as _

from annotate.core.errors import Refusal
from frontend.forms.runs import RunForm
from frontend.views.base import ProjectPage, project_view, refuse, status_of
from frontend.views.run_estimate import estimate_page
from judges.kinds.registry import kind_named, runnable_kinds
from judges.models import Judge, JudgeVersion, Run, RunState
from judges.selectors.judges import one_judge
from judges.selectors.kept_versions import current_version
from judges.services.runs import estimate_run, start_run

EVERYTHING = {"all": True}
# What the service may say -> the field that it is about.
_PLACES = {"bad_budget": "budget", "no_price": "budget", "unknown_batch": "batch", "unknown_pipeline": "pipeline"}


@project_view("judges", get="judges.run", post="judges.run")
def start(page: ProjectPage, judge_id: int) -> HttpResponse:
    judge, version = _runnable(page, judge_id)
    form = _form(page, version)
    status = status_of(form)
    if form.is_valid():
        try:
            run = start_run(version=version, **form.wanted(), **form.terms(), actor=page.user)
        except Refusal as refusal:
            status = refuse(form, refusal, _PLACES.get(refusal.code))
        else:
            return page.redirect("run", run.pk)
    context = {"judge": judge, "version": version, "form": form, "asks_model": asks_model(version)}
    return page.render("frontend/run_new.html", context, status=status)


@project_view("judges", post="judges.run")
def estimate(page: ProjectPage, judge_id: int) -> HttpResponse:
    """What the form, as far as it is filled in, would ask for. Stores nothing; the form shows what is wrong itself."""
    _judge, version = _runnable(page, judge_id)
    form = _form(page, version)
    return estimate_page(
        page,
        form,
        lambda: estimate_run(version=version, **form.wanted()),
        asks_model=asks_model(version),
        brings_scores=True,
    )


@project_view("judges", post="judges.run")
def at_once(page: ProjectPage, judge_id: int) -> HttpResponse:
    """One click: whatever has no score yet, or everything once more when nothing is left. What costs something is
    looked at first."""
    _judge, version = _runnable(page, judge_id)
    if asks_model(version):
        return page.redirect("judge-run", judge_id)
    try:
        left = estimate_run(version=version, scope=EVERYTHING).asks
        run = start_run(version=version, scope=EVERYTHING, again=not left, actor=page.user)
    except Refusal as refusal:
        messages.error(page.request, refusal.message)
        return page.redirect("judge", judge_id)
    if is_nothing_left(run):
        messages.info(
            page.request,
            _("The samples have nothing that version %(label)s could score.") % {"label": version.label},
        )
        return page.redirect("judge", judge_id)
    if not left:
        messages.info(
            page.request,
            _("Every unit had its score already, so all are asked about once more: that shows how steady it is."),
        )
    return page.redirect("run", run.pk)


def is_nothing_left(run: Run) -> bool:
    return run.state == RunState.DONE and run.planned == 0


def can_be_run(judge: Judge, version: JudgeVersion | None) -> bool:
    return version is not None and judge.kind in runnable_kinds()


def asks_model(version: JudgeVersion) -> bool:
    """Whether its scores come from a model at an endpoint: slower than here, and perhaps paid."""
    return kind_named(version.judge.kind).asks_model(version.config)


def _runnable(page: ProjectPage, judge_id: int) -> tuple[Judge, JudgeVersion]:
    judge = one_judge(page.project, judge_id)
    version = current_version(judge)
    if version is None or not can_be_run(judge, version):
        raise Http404(_("There is nothing of this judge that can be run."))
    return judge, version


def _form(page: ProjectPage, version: JudgeVersion) -> RunForm:
    endpoint = version.endpoint
    return RunForm(page.project, page.data, currency=endpoint.currency if endpoint else None)
