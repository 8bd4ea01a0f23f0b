"""Starting a run: over which samples, at what price; or in one click, over what has no score yet. A form, as far as it
is filled in, tells what a model would be asked."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any
from uuid import uuid4

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotate.core.errors import Invalid, Refusal
from annotate.models import Project
from annotate.projects.read import work_batches
from frontend.base.forms import show_field
from frontend.base.pages import ProjectPage, RefusalsShown, project_view, status_of
from frontend.judges.run_words import duration, estimated
from frontend.reports.shown import money
from judges.core.scores_read import current_version
from judges.kinds.registry import kind_named, runnable_kinds
from judges.models import Endpoint, Judge, JudgeVersion, RunState
from judges.runs.write import RequestKey, RunEstimate, estimate_run, start_run
from judges.versions.read import one_judge


def budget_field(**changes: Any) -> forms.DecimalField:
    """An amount of money, to the millionth; empty for none."""
    return forms.DecimalField(
        required=False,
        min_value=0,
        max_digits=14,
        decimal_places=6,
        widget=forms.NumberInput({"step": "any"}),
        **changes,
    )


class BudgetForm(forms.Form):
    """Of something that asks a judge's model: with a last field for how much it may cost, where it costs anything.

    budget_help: what happens when it would cost more.
    """

    budget_help: Any
    # Sent twice, by a second click or by going back, it starts nothing else.
    key = forms.UUIDField(required=False, initial=uuid4, widget=forms.HiddenInput)

    def __init__(self, *args: Any, endpoint: Endpoint | None, **kwargs: Any) -> None:
        """endpoint: the one that is paid; None: nothing is."""
        super().__init__(*args, **kwargs)
        if endpoint is not None:
            label = gettext_lazy("Budget in %(currency)s") % {"currency": endpoint.currency}
            self.fields["budget"] = budget_field(label=label, help_text=self.budget_help)

    def terms(self) -> dict[str, Any]:
        """What only the run itself is asked with, and no estimate."""
        return {"budget": self.cleaned_data.get("budget"), "key": self._request_key()}

    def _request_key(self) -> RequestKey | None:
        key = self.cleaned_data.get("key")
        # As a dict, a field that was chosen from several times has all its values.
        sent = {name: values for name, values in dict(self.data).items() if name != "csrfmiddlewaretoken"}
        return None if key is None else RequestKey.of(key, sent)


def shown_counts(asks: int, requests: int, *estimates: RunEstimate) -> dict[str, str]:
    """How many there are, as people read it, of one estimate or of several together."""
    is_estimated = any(one.is_estimated for one in estimates)
    return {
        "asks_shown": estimated(asks, is_estimated=is_estimated),
        "requests_shown": estimated(requests, is_estimated=is_estimated),
        "unfit_shown": estimated(sum(one.unfit for one in estimates), is_estimated=is_estimated),
    }


def estimate_page(
    page: ProjectPage,
    form: BudgetForm,
    estimated: Callable[[], RunEstimate],
    *,
    asks_model: bool = True,
    brings_scores: bool = False,
) -> HttpResponse:
    """estimated: called once the form is valid. Stores nothing; the form shows what is wrong itself."""
    found, problem, budget = None, "", None
    if form.is_valid():
        budget = form.cleaned_data.get("budget")
        try:
            found = estimated()
        except Refusal as refusal:
            problem = refusal.message
    context = {
        "estimate": found,
        "problem": problem,
        "asks_model": asks_model,
        "brings_scores": brings_scores,
        **(shown_counts(found.asks, found.requests, found) if found else {}),
        "time": duration(found.seconds) if found else "",
        "cost": money(found.cost, found.currency) if found else "",
        "over_budget": bool(found and budget is not None and found.cost is not None and found.cost > budget),
    }
    return page.render("judges/partials/run_estimate.html", context)


ALL, BATCH, PIPELINE = "all", "batch", "pipeline"
MAX_REPEATS = 20


class RunForm(BudgetForm):
    """Over which samples a judge runs, how often it is asked, and for how much."""

    budget_help = gettext_lazy("The run stops at this budget. Leave empty for no limit.")

    scope = forms.ChoiceField(
        label=gettext_lazy("Samples"),
        initial=ALL,
        widget=forms.RadioSelect,
        choices=(
            (ALL, gettext_lazy("All samples")),
            (BATCH, gettext_lazy("Samples of a batch")),
            (PIPELINE, gettext_lazy("Samples of a pipeline version")),
        ),
    )
    batch = forms.TypedChoiceField(label=gettext_lazy("Batch"), required=False, coerce=int, empty_value=None)
    pipeline = forms.ChoiceField(label=gettext_lazy("Pipeline version"), required=False)
    repeats = forms.IntegerField(
        label=gettext_lazy("Repeats"),
        min_value=1,
        max_value=MAX_REPEATS,
        initial=1,
        help_text=gettext_lazy("More than one measures the judge’s repeatability."),
    )
    again = forms.BooleanField(
        label=gettext_lazy("Score all units again"),
        required=False,
        help_text=gettext_lazy("Otherwise only units without a score are processed, failed ones included."),
    )
    fresh = forms.BooleanField(
        label=gettext_lazy("Ignore cached replies"),
        required=False,
        help_text=gettext_lazy("Identical requests are sent and charged again."),
    )

    def __init__(self, project: Project, *args: Any, endpoint: Endpoint | None, **kwargs: Any) -> None:
        super().__init__(*args, endpoint=endpoint, **kwargs)
        batches = [
            (batch.number, f"{batch.number} · {batch.name}") for batch in work_batches(project).order_by("-number")
        ]
        pipelines = project.samples.exclude(pipeline_version="").order_by("pipeline_version")
        versions = [(name, name) for name in pipelines.values_list("pipeline_version", flat=True).distinct()]
        offered = {ALL: True, BATCH: bool(batches), PIPELINE: bool(versions)}
        self.fields["scope"].choices = [one for one in self.fields["scope"].choices if offered[one[0]]]  # type: ignore[attr-defined]
        for name, choices in ((BATCH, batches), (PIPELINE, versions)):
            if choices:
                self.fields[name].choices = choices  # type: ignore[attr-defined]
            else:
                del self.fields[name]
            show_field(self, name, by="scope", at=[name], needed=True)
        if endpoint is None:
            del self.fields["fresh"]

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        for name in (BATCH, PIPELINE):
            if given.get("scope") == name and not given.get(name) and name not in self.errors:
                self.add_error(name, gettext_lazy("Select one."))
        return given

    def wanted(self) -> dict[str, Any]:
        """What an estimate and the run itself are asked with."""
        given = self.cleaned_data
        chosen = given["scope"]
        # As judges.runs.laying reads it.
        scope = {ALL: True} if chosen == ALL else {chosen: given[chosen]}
        return {"scope": scope, "repeats": given["repeats"], "again": given["again"]}

    def terms(self) -> dict[str, Any]:
        return {**super().terms(), "fresh": self.cleaned_data.get("fresh", False)}


class ResumeForm(forms.Form):
    """How much a run that goes on may cost in all."""

    budget = budget_field()

    def __init__(self, *args: Any, currency: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["budget"].label = gettext_lazy("Budget of the whole run in %(currency)s") % {"currency": currency}


def new_budget(page: ProjectPage, endpoint: Endpoint | None) -> Decimal | None:
    """What was entered to resume with; None leaves the budget as it is. Raises Invalid for what is no amount."""
    if endpoint is None:
        return None
    form = ResumeForm(page.request.POST, currency=endpoint.currency)
    if not form.is_valid():
        text = page.request.POST["budget"][:40]
        raise Invalid("bad_budget", _("“%(text)s” is not a valid amount.") % {"text": text})
    found: Decimal | None = form.cleaned_data["budget"]
    return found


EVERYTHING = {"all": True}
# What the service may say -> the field that it is about.
_PLACES = {"bad_budget": "budget", "no_price": "budget", "unknown_batch": "batch", "unknown_pipeline": "pipeline"}


@project_view("judges", get="judges.run", post="judges.run")
def start(page: ProjectPage, judge_id: int) -> HttpResponse:
    judge, version = _runnable(page, judge_id)
    form = _form(page, version)
    if form.is_valid():
        with RefusalsShown(form, places=_PLACES):
            run = start_run(version=version, **form.wanted(), **form.terms(), actor=page.user)
            return page.redirect("run", run.pk)
    context = {"judge": judge, "version": version, "form": form, "asks_model": asks_model(version)}
    return page.render("judges/run_new.html", context, status=status_of(form))


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
    if run.state == RunState.DONE and run.planned == 0:
        messages.info(
            page.request,
            _("Version %(label)s can’t score any of these samples.") % {"label": version.label},
        )
        return page.redirect("judge", judge_id)
    if not left:
        messages.info(
            page.request,
            _("All units had scores already, so all are scored again. This measures repeatability."),
        )
    return page.redirect("run", run.pk)


def can_be_run(judge: Judge, version: JudgeVersion | None) -> bool:
    return version is not None and judge.kind in runnable_kinds()


def asks_model(version: JudgeVersion) -> bool:
    """Whether its scores come from a model at an endpoint: slower than here, and perhaps paid."""
    return kind_named(version.judge.kind).asks_model(version.config)


def _runnable(page: ProjectPage, judge_id: int) -> tuple[Judge, JudgeVersion]:
    judge = one_judge(page.project, judge_id)
    version = current_version(judge)
    if version is None or not can_be_run(judge, version):
        raise Http404(_("This judge can’t be run here."))
    return judge, version


def _form(page: ProjectPage, version: JudgeVersion) -> RunForm:
    return RunForm(page.project, page.data, endpoint=version.endpoint)
