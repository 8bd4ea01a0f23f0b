"""The forms of an experiment: which versions, on which questions, and the rule by which they are compared, which can
change later."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Exists, OuterRef
from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

import alignment
from annotate.models import Project
from frontend.base.pages import ProjectPage, RefusalsShown, project_view, status_of
from frontend.systems.metric_names import metric_title
from judges.models import Judge
from systems.core.answer_criteria import answer_criteria
from systems.core.graded import is_graded
from systems.core.response_fields import FIELDS
from systems.experiments.read import ExperimentState, one_experiment
from systems.experiments.specification import LEVEL
from systems.experiments.write import create_experiment
from systems.models import ExperimentRule, FrozenSet, Response, SystemVersion

ROLES = (
    ("", gettext_lazy("Left out")),
    ("primary", gettext_lazy("Primary metric")),
    ("guard", gettext_lazy("Guard")),
    ("exploratory", gettext_lazy("Exploratory")),
)
_MARGIN = 0.05


@dataclass(frozen=True, slots=True)
class Offer:
    """A metric that can be compared. said: as experiment.json says it; name: as the rule names it."""

    name: str
    title: str
    said: dict[str, str]
    takes_judge: bool


def offers_of(project: Project) -> list[Offer]:
    """Of every criterion and of all that is derived from it, then what is measured."""
    found: list[Offer] = []
    kinds = alignment.report.derived_metrics()
    for criterion in answer_criteria(project).order_by("id"):
        if criterion.passes:
            derived = [name for name in kinds.get(criterion.unit, []) if not any(one.name == name for one in found)]
            found += [_offer({"name": name, "derived": name}, {"criterion": criterion.key}) for name in derived]
        if criterion.passes or is_graded(criterion):
            found.append(Offer(criterion.key, criterion.name, {"criterion": criterion.key}, True))
    for name, field in FIELDS.items():
        # What is better has to be said of the others: in a file.
        if field.direction is not None:
            found.append(_offer({"name": name, "field": name}))
    return found


def _offer(metric: dict[str, str], more: dict[str, str] | None = None) -> Offer:
    said = {key: value for key, value in metric.items() if key != "name"}
    return Offer(metric["name"], metric_title(metric), said | (more or {}), "derived" in metric)


class MetricsForm(forms.Form):
    """Of each metric on offer `role_N`, `judge_N` and `margin_N`."""

    def __init__(self, data: Any, project: Project, standing: ExperimentRule | None = None) -> None:
        super().__init__(data)
        self._level = LEVEL if standing is None else standing.level
        self._offers = offers_of(project) if standing is None else _offers_by(standing, offers_of(project))
        judges = [("", _("Annotators alone"))]
        judges += [(name, name) for name in Judge.objects.filter(project=project).values_list("name", flat=True)]
        for place, offer in enumerate(self._offers):
            said = {"title": offer.title}
            self._add(f"role_{place}", _("Role of %(title)s") % said, forms.ChoiceField(choices=ROLES))
            margin = forms.FloatField(min_value=0, initial=_MARGIN if offer.takes_judge else 0)
            self._add(f"margin_{place}", _("Margin of %(title)s") % said, margin)
            if offer.takes_judge:
                self._add(f"judge_{place}", _("Judge of %(title)s") % said, forms.ChoiceField(choices=judges))
        if standing is not None:
            self._begin_with(standing)

    def _add(self, name: str, label: str, field: forms.Field) -> None:
        field.required = False
        field.label = label
        field.widget.attrs["aria-label"] = label
        self.fields[name] = field

    def _begin_with(self, standing: ExperimentRule) -> None:
        """Its metrics are the first on offer."""
        guards = {one["metric"]: one["margin"] for one in standing.guards}
        for place, metric in enumerate(standing.metrics):
            name, role = metric["name"], "exploratory"
            if name == standing.primary:
                role, self.initial[f"margin_{place}"] = "primary", standing.margin
            elif name in guards:
                role, self.initial[f"margin_{place}"] = "guard", guards[name]
            self.initial[f"role_{place}"] = role
            self.initial[f"judge_{place}"] = metric.get("judge", "")

    @property
    def metrics(self) -> Iterator[tuple[Offer, forms.BoundField, forms.BoundField | None, forms.BoundField]]:
        """A metric with its role, its judge where it takes one, and its margin."""
        for place, offer in enumerate(self._offers):
            judge = self[f"judge_{place}"] if offer.takes_judge else None
            yield offer, self[f"role_{place}"], judge, self[f"margin_{place}"]

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        if [given.get(f"role_{place}") for place in range(len(self._offers))].count("primary") != 1:
            raise forms.ValidationError(_("Choose one primary metric."))
        return given

    def rule(self) -> dict[str, Any]:
        """`metrics` and `rule`, as experiment.json has them (docs/formats.md)."""
        given = self.cleaned_data
        metrics, guards, rule = [], [], {}
        for place, offer in enumerate(self._offers):
            role, judge = given[f"role_{place}"], given.get(f"judge_{place}")
            margin = given[f"margin_{place}"] or 0.0
            if role:
                metrics.append({**offer.said, **({"judge": judge} if judge else {})})
            if role == "primary":
                rule = {"primary": offer.name, "margin": margin}
            elif role == "guard":
                guards.append({"metric": offer.name, "margin": margin})
        return {"metrics": metrics, "rule": {**rule, "guards": guards, "level": self._level}}


def _offers_by(standing: ExperimentRule, offers: list[Offer]) -> list[Offer]:
    """The metrics of the rule in their order, also those that no form offers, then all others on offer."""
    own = [_as_it_stands(metric) for metric in standing.metrics]
    names = {offer.name for offer in own}
    return own + [offer for offer in offers if offer.name not in names]


def _as_it_stands(metric: dict[str, Any]) -> Offer:
    said: dict[str, str] = {key: metric[key] for key in ("name", "criterion", "derived", "field") if key in metric}
    if "field" in metric:
        said["direction"] = metric["direction"]
    return Offer(metric["name"], metric_title(metric), said, "field" not in metric)


class ExperimentForm(MetricsForm):
    name = forms.SlugField(
        label=gettext_lazy("Name"),
        max_length=60,
        help_text=gettext_lazy("a–z, 0–9, “-” and “_”, such as smaller-chunks."),
    )
    frozen = forms.ModelChoiceField(
        label=gettext_lazy("Test set"),
        queryset=FrozenSet.objects.none(),
        required=False,
        empty_label=gettext_lazy("All questions that the versions share"),
    )
    versions = forms.ModelMultipleChoiceField(
        label=gettext_lazy("Versions"),
        queryset=SystemVersion.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        to_field_name="name",
    )
    baseline = forms.ModelChoiceField(
        label=gettext_lazy("Baseline"),
        queryset=SystemVersion.objects.none(),
        empty_label=None,
        to_field_name="name",
        help_text=gettext_lazy("The others are compared with it."),
    )

    def __init__(self, data: Any, project: Project) -> None:
        super().__init__(data, project)
        answering = Exists(Response.objects.filter(version=OuterRef("pk")))
        versions = SystemVersion.objects.filter(answering, project=project).order_by("-is_baseline", "-id")
        for name in ("versions", "baseline"):
            self.fields[name].queryset = versions  # type: ignore[attr-defined]
        frozen = FrozenSet.objects.filter(question_set__project=project).select_related("question_set")
        self.fields["frozen"].queryset = frozen.order_by("-id")  # type: ignore[attr-defined]
        self.fields["frozen"].label_from_instance = lambda one: one.manifest["set"]  # type: ignore[attr-defined]

    @property
    def about(self) -> list[forms.BoundField]:
        return [self[name] for name in ("name", "frozen", "versions", "baseline")]

    def specification(self) -> dict[str, Any]:
        """As experiment.json has it (docs/formats.md)."""
        given = self.cleaned_data
        baseline: SystemVersion = given["baseline"]
        others = [one.name for one in given["versions"] if one != baseline]
        said = {"versions": [baseline.name, *others], **self.rule()}
        if given["frozen"] is not None:
            said["set"] = given["frozen"].manifest["set"]
        return said


@project_view("systems", get="systems.change", post="systems.change")
def new(page: ProjectPage) -> HttpResponse:
    form = ExperimentForm(page.data, page.project)
    if form.is_valid():
        with RefusalsShown(form, places={"bad_name": "name", "other_experiment": "name"}):
            said = form.specification()
            made = create_experiment(actor=page.user, project=page.project, name=form.cleaned_data["name"], said=said)
            return page.redirect("experiment", made.experiment.name)
    return page.render("systems/experiment_new.html", {"form": form}, status=status_of(form))


@project_view("systems", get="systems.change", post="systems.change")
def change_rule(page: ProjectPage, experiment_name: str) -> HttpResponse:
    """Sets the next rule; what is compared stays."""
    state = ExperimentState(one_experiment(page.project, experiment_name))
    form = MetricsForm(page.data, page.project, state.rule)
    if form.is_valid():
        with RefusalsShown(form):
            made = create_experiment(
                actor=page.user, project=page.project, name=experiment_name, said={**state.compared, **form.rule()}
            )
            said = (
                _("Rule %(n)d is in force.") if made.is_changed else _("Nothing has changed: rule %(n)d is in force.")
            )
            messages.success(page.request, said % {"n": made.rule.number})
            return page.redirect("experiment", experiment_name)
    context = {"form": form, "state": state, "experiment": state.experiment}
    return page.render("systems/experiment_rule.html", context, status=status_of(form))
