"""Experiments: what one says, the questions whose answers changed, and drawing what people label."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotate.core.errors import Conflict
from annotate.models import User
from annotate.projects.read import active_annotators
from annotate.tasks.mail import public_url
from frontend.base.forms import offer_members
from frontend.base.pages import ProjectPage, RefusalsShown, project_view, status_of
from frontend.systems.experiment_file import experiment_html, rule_context
from frontend.systems.experiment_steps import FEWEST_TO_DRAW, own_work, steps_of
from frontend.systems.experiment_text import experiment_markdown
from frontend.systems.first_screen import first_screen
from frontend.systems.versions import MEASURES
from systems.experiments.draw import USUAL_OVERLAP
from systems.experiments.figures import freeze_figures
from systems.experiments.pairs import draw_batch
from systems.experiments.read import ExperimentState, one_experiment, require_shown, shown_figures
from systems.models import Experiment, SystemVersion
from systems.responses.read import figures_of_each

_SEED = 1


@project_view("systems", get="systems.read")
def experiment(page: ProjectPage, experiment_name: str) -> HttpResponse:
    """By its latest figures; `?version=` names another candidate."""
    found = one_experiment(page.project, experiment_name)
    state = ExperimentState(found)
    context = {
        "experiment": found,
        "state": state,
        "may_change": page.may("systems.change"),
        "may_draw": page.may("batches.change"),
    }
    try:
        require_shown(found, reader=page.user)
    except Conflict as refusal:
        work = own_work(page, state)
        return page.render("systems/experiment.html", {**context, "held_back": refusal.message, "own_work": work})
    if state.figures is not None:
        context |= _shown(page, state, state.figures.result)
    return page.render("systems/experiment.html", context)


def _shown(page: ProjectPage, state: ExperimentState, result: Mapping[str, Any]) -> dict[str, Any]:
    asked = page.request.GET.get("version") or next(one for one in result["versions"] if one != result["baseline"])
    try:
        screen = first_screen(result, asked)
    except LookupError as error:
        raise Http404(_("System version not found.")) from error
    return {
        "screen": screen,
        "steps": list(steps_of(page, state, screen)),
        **rule_context(result),
        "took": _took([one.version for one in state.versions]),
        "permalink": f"?{urlencode({'version': screen.candidate})}",
    }


def _took(versions: Sequence[SystemVersion]) -> list[dict[str, Any]]:
    """What their responses took, for the table of versions."""
    found = figures_of_each(versions)
    return [
        {
            "version": version,
            "figures": found[version.pk],
            "measures": [(*MEASURES[one.name], one) for one in found[version.pk].measures],
        }
        for version in versions
    ]


@project_view("systems", post="systems.change")
def work_out(page: ProjectPage, experiment_name: str) -> HttpResponse:
    """The figures of the data as they are now."""
    found = one_experiment(page.project, experiment_name)
    page.attempt(lambda: freeze_figures(experiment=found, user=page.user), _("The figures are up to date."))
    return page.redirect("experiment", experiment_name)


@project_view("systems", get="systems.read")
def download(page: ProjectPage, experiment_name: str, form: str) -> HttpResponse:
    """The figures as a page of their own (html), for a pull request (md), or as data (json)."""
    try:
        result = shown_figures(one_experiment(page.project, experiment_name), reader=page.user).result
    except Conflict as refusal:
        messages.error(page.request, refusal.message)
        return page.redirect("experiment", experiment_name)
    if form == "html":
        content, kind = experiment_html(result, page.project), "text/html"
    elif form == "md":
        content, kind = (
            experiment_markdown(result, public_url("experiment", page.project.slug, experiment_name)),
            "text/markdown",
        )
    elif form == "json":
        content, kind = json.dumps(result, ensure_ascii=False, indent=1, allow_nan=False), "application/json"
    else:
        raise Http404(_("There is no such file."))
    headers = {"Content-Disposition": f'attachment; filename="{page.project.slug}-{experiment_name}.{form}"'}
    return HttpResponse(content, content_type=f"{kind}; charset=utf-8", headers=headers)


class DrawForm(forms.Form):
    ask = forms.TypedChoiceField(
        label=gettext_lazy("Annotators are asked"), widget=forms.RadioSelect, coerce=int, initial=0
    )
    both_orders = forms.BooleanField(
        label=gettext_lazy("Each pair of answers twice, also exchanged"),
        required=False,
        help_text=gettext_lazy(
            "Only for answers side by side. It doubles the work; either version is first equally often anyway."
        ),
    )
    questions = forms.IntegerField(
        label=gettext_lazy("Questions"),
        min_value=1,
        help_text=gettext_lazy("Drawn at random. Annotators see the answers to them, and not the versions."),
    )
    annotators = forms.ModelMultipleChoiceField(
        label=gettext_lazy("Annotators"), queryset=User.objects.none(), widget=forms.CheckboxSelectMultiple
    )
    overlap = forms.IntegerField(label=gettext_lazy("Annotators per sample"), min_value=1)
    single_labels = forms.BooleanField(
        label=gettext_lazy("A single label resolves a unit"),
        required=False,
        help_text=gettext_lazy(
            "For one annotator per sample: otherwise their labels count for nothing until a reviewer approves them. "
            "Reports name you as deciding this."
        ),
    )
    seed = forms.IntegerField(
        label=gettext_lazy("Seed"),
        initial=_SEED,
        help_text=gettext_lazy("Gives the order in which questions are drawn. Later draws follow it."),
    )

    def __init__(self, page: ProjectPage, experiment: Experiment) -> None:
        wanted = page.request.GET.get("questions", "")
        questions = int(wanted) if wanted.isdecimal() and len(wanted) < 9 else FEWEST_TO_DRAW
        people = active_annotators(page.project)
        overlap = max(1, min(USUAL_OVERLAP, len(people)))
        super().__init__(page.data, initial={"questions": questions, "annotators": people, "overlap": overlap})
        offer_members(self.fields["annotators"], page.project)
        state = ExperimentState(experiment)
        self.candidates = state.candidates
        said = _("which answer is better, %(version)s or %(baseline)s")
        better = [said % {"version": name, "baseline": state.baseline} for name in self.candidates]
        asked = [_("about each answer, what the metrics need"), *better]
        cast("forms.ChoiceField", self.fields["ask"]).choices = list(enumerate(asked))
        if experiment.seed is not None:
            self.fields.pop("seed")

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        if given.get("overlap") == 1 and not given["single_labels"]:
            said = _("One label per sample resolves nothing. Let a single label resolve a unit, or ask two annotators.")
            self.add_error("overlap", said)
        return given


@project_view("systems", get="batches.change", post="batches.change")
def draw(page: ProjectPage, experiment_name: str) -> HttpResponse:
    """A POST draws, and opens the batch."""
    found = one_experiment(page.project, experiment_name)
    form = DrawForm(page, found)
    if form.is_valid():
        given = form.cleaned_data
        places = {
            "bad_questions": "questions",
            "too_many_questions": "questions",
            "bad_overlap": "overlap",
            "bad_both_orders": "both_orders",
            "no_preference": "ask",
        }
        with RefusalsShown(form, places=places):
            drawn = draw_batch(
                actor=page.user,
                experiment=found,
                questions=given["questions"],
                seed=given.get("seed", found.seed),
                annotators=list(given["annotators"]),
                overlap=given["overlap"],
                single_labels=given["single_labels"],
                beside=["", *form.candidates][given["ask"]],
                both_orders=given["both_orders"],
            )
            return page.redirect("batch", drawn.batch.number)
    return page.render("systems/experiment_draw.html", {"form": form, "experiment": found}, status=status_of(form))
