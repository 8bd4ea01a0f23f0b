"""Qualifications for admins: the list, a form for a new one, and one with its candidates and what is done with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext_lazy

from annotate.batches.qualifications import (
    FEWEST_TESTED,
    MAX_NAME,
    MAX_SAMPLES,
    MAX_TRIES,
    USUAL_KAPPA,
    USUAL_TEST,
    USUAL_TRAINING,
    USUAL_TRIES,
    Asked,
    add_people,
    create_qualification,
    end_qualification,
    grant_try,
    known_counts,
    waive,
    withdraw,
)
from annotate.batches.sample_choice import MAX_SEED
from annotate.models import Criterion, Project, Qualification, User
from annotate.models.batch import BatchStatus
from annotate.projects.read import person_of, rated_criteria
from annotate.qualification.read import (
    Standing,
    changed_criteria,
    one_qualification,
    qualifications_of,
    standings,
)
from frontend.base.forms import offer_members
from frontend.base.pages import ProjectPage, RefusalsShown, project_view, status_of
from frontend.batches.forms import IdsField
from frontend.label.qualification import results_of

STATES = {
    "training": gettext_lazy("Training"),
    "ready": gettext_lazy("Ready for the test"),
    "testing": gettext_lazy("Test"),
    "qualified": gettext_lazy("Qualified"),
    "failed": gettext_lazy("Not passed"),
    "withdrawn": gettext_lazy("Withdrawn"),
}


class QualificationForm(forms.Form):
    name = forms.CharField(label=gettext_lazy("Name"), max_length=MAX_NAME)
    criteria = forms.ModelMultipleChoiceField(
        label=gettext_lazy("Criteria"),
        queryset=Criterion.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": gettext_lazy("Select at least one criterion.")},
    )
    training = forms.IntegerField(
        label=gettext_lazy("Training samples"), min_value=1, max_value=MAX_SAMPLES, initial=USUAL_TRAINING
    )
    test = forms.IntegerField(
        label=gettext_lazy("Samples per test"), min_value=FEWEST_TESTED, max_value=MAX_SAMPLES, initial=USUAL_TEST
    )
    tries = forms.IntegerField(
        label=gettext_lazy("Tries"),
        min_value=1,
        max_value=MAX_TRIES,
        initial=USUAL_TRIES,
        help_text=gettext_lazy("Each uses samples the person hasn’t seen."),
    )
    kappa = forms.FloatField(
        label=gettext_lazy("Minimum kappa"),
        min_value=0.01,
        max_value=1,
        initial=USUAL_KAPPA,
        help_text=gettext_lazy("On each criterion, against the known answers."),
        widget=forms.NumberInput({"step": "0.01"}),
    )
    annotators = forms.ModelMultipleChoiceField(
        label=gettext_lazy("Annotators"),
        queryset=User.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("They start the training at once. You can add others later."),
    )
    training_samples = IdsField(
        label=gettext_lazy("Samples to train with"), help_text=gettext_lazy("Sample IDs, one per line.")
    )
    test_samples = IdsField(
        label=gettext_lazy("Samples to test with"), help_text=gettext_lazy("Sample IDs, one per line.")
    )
    seed = forms.IntegerField(
        label=gettext_lazy("Random seed"),
        min_value=0,
        max_value=MAX_SEED,
        required=False,
        help_text=gettext_lazy("The same seed draws the same samples. Leave empty to generate one."),
    )

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        criteria = self.fields["criteria"]
        criteria.queryset = rated_criteria(project)  # type: ignore[attr-defined]
        criteria.label_from_instance = lambda criterion: criterion.name  # type: ignore[attr-defined]
        offer_members(self.fields["annotators"], project)

    def opens_samples(self) -> bool:
        return self.is_bound and any(
            name in self.errors or name in self.changed_data for name in ("training_samples", "test_samples", "seed")
        )

    def given(self) -> dict[str, Any]:
        """Of a valid form, as create_qualification takes it."""
        given = self.cleaned_data
        numbers = {name: given[name] for name in ("training", "test", "tries")}
        named = {name: given[name] for name in ("training_samples", "test_samples")}
        asked = Asked(criteria=list(given["criteria"]), **numbers, **named)
        return {
            "asked": asked,
            "annotators": list(given["annotators"]),
            **{name: given[name] for name in ("name", "kappa", "seed")},
        }


class PeopleForm(forms.Form):
    annotators = forms.ModelMultipleChoiceField(
        label=gettext_lazy("Add annotators"),
        queryset=User.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": gettext_lazy("Select at least one annotator.")},
    )

    def __init__(self, qualification: Qualification, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["annotators"]
        offer_members(field, qualification.project)
        there = qualification.candidates.values("user")
        field.queryset = field.queryset.exclude(pk__in=there)  # type: ignore[attr-defined]


class ReasonForm(forms.Form):
    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=2000,
        widget=forms.Textarea({"rows": 3}),
        help_text=gettext_lazy("Recorded in the audit log."),
    )


@dataclass(frozen=True)
class Decision:
    """What an admin decides about a person with a reason. done: said afterwards."""

    act: Callable[..., object]
    title: Any
    text: Any
    button: Any
    done: Any


DECISIONS = {
    "waive": Decision(
        waive,
        gettext_lazy("Waive the test for %(name)s?"),
        gettext_lazy("They are then qualified without a result."),
        gettext_lazy("Waive test"),
        gettext_lazy("%(name)s is qualified."),
    ),
    "withdraw": Decision(
        withdraw,
        gettext_lazy("Withdraw the qualification of %(name)s?"),
        gettext_lazy(
            "Their open tasks in batches that require it are reassigned. What they labelled stays and counts. They see "
            "the reason."
        ),
        pgettext_lazy("a qualification", "Withdraw"),
        gettext_lazy("The qualification of %(name)s is withdrawn."),
    ),
}


@project_view("batches", get="qualifications.read")
def listed(page: ProjectPage) -> HttpResponse:
    rows = [{"qualification": one, "is_running": _is_running(one)} for one in qualifications_of(page.project)]
    context = {"rows": rows, "may_change": page.may("qualifications.change")}
    return page.render("batches/qualifications.html", context)


@project_view("batches", get="qualifications.change", post="qualifications.change")
def new(page: ProjectPage) -> HttpResponse:
    form = QualificationForm(page.project, page.data)
    if form.is_valid():
        with RefusalsShown(form, places={"bad_name": "name", "bad_kappa": "kappa"}):
            made = create_qualification(actor=page.user, project=page.project, **form.given())
            messages.success(page.request, _("The qualification is created."))
            return page.redirect("qualification", made.pk)
    criteria = list(rated_criteria(page.project))
    known = list(zip(criteria, known_counts(page.project, criteria), strict=True))
    return page.render("batches/qualification_new.html", {"form": form, "known": known}, status=status_of(form))


@project_view("batches", get="qualifications.read")
def one(page: ProjectPage, qualification_id: int) -> HttpResponse:
    qualification = one_qualification(page.project, qualification_id)
    return _shown(page, qualification, PeopleForm(qualification))


@project_view("batches", post="qualifications.change")
def add(page: ProjectPage, qualification_id: int) -> HttpResponse:
    qualification = one_qualification(page.project, qualification_id)
    form = PeopleForm(qualification, page.data)
    if form.is_valid():
        with RefusalsShown(form):
            new = add_people(
                actor=page.user, qualification=qualification, annotators=list(form.cleaned_data["annotators"])
            )
            said = ngettext("%(n)d annotator added.", "%(n)d annotators added.", len(new))
            messages.success(page.request, said % {"n": len(new)})
            return page.redirect("qualification", qualification_id)
    return _shown(page, qualification, form)


def _shown(page: ProjectPage, qualification: Qualification, form: PeopleForm) -> HttpResponse:
    changed = changed_criteria(qualification)
    context = {
        "qualification": qualification,
        "criteria": qualification.asked_criteria(),
        "changed": changed,
        "rows": [_row(standing) for standing in standings(qualification)],
        "training": qualification.training.batch_samples.count(),
        "test": qualification.test.batch_samples.count(),
        "required_by": qualification.required_by.order_by("number"),
        "is_running": _is_running(qualification),
        "form": form,
        "may_change": page.may("qualifications.change"),
    }
    return page.render("batches/qualification.html", context, status=status_of(form))


def _row(standing: Standing) -> dict[str, Any]:
    last = standing.last
    return {
        "standing": standing,
        "state": STATES[standing.state],
        "results": results_of(last, standing.qualification) if last else [],
    }


def _is_running(qualification: Qualification) -> bool:
    return qualification.test.status == BatchStatus.OPEN


@project_view("batches", post="qualifications.change")
def retry(page: ProjectPage, qualification_id: int, username: str) -> HttpResponse:
    qualification = one_qualification(page.project, qualification_id)
    user = person_of(page.project, username)
    done = _("%(name)s has another try.") % {"name": user.name}
    page.attempt(lambda: grant_try(actor=page.user, qualification=qualification, user=user), done)
    return page.redirect("qualification", qualification_id)


@project_view("batches", get="qualifications.change", post="qualifications.change")
def decide(page: ProjectPage, qualification_id: int, what: str, username: str) -> HttpResponse:
    """GET asks why, POST does it."""
    if what not in DECISIONS:
        raise Http404
    decision = DECISIONS[what]
    qualification, user = one_qualification(page.project, qualification_id), person_of(page.project, username)
    form, named = ReasonForm(page.data), {"name": user.name}
    if form.is_valid():
        with RefusalsShown(form):
            decision.act(actor=page.user, qualification=qualification, user=user, reason=form.cleaned_data["reason"])
            messages.success(page.request, decision.done % named)
            return page.redirect("qualification", qualification_id)
    context = {
        "qualification": qualification,
        "form": form,
        "title": decision.title % named,
        "text": decision.text,
        "button": decision.button,
        "is_danger": what == "withdraw",
    }
    return page.render("batches/qualification_decide.html", context, status=status_of(form))


@project_view("batches", get="qualifications.change", post="qualifications.change")
def end(page: ProjectPage, qualification_id: int) -> HttpResponse:
    """GET asks, POST ends it."""
    qualification = one_qualification(page.project, qualification_id)
    if page.request.method != "POST":
        return page.render("batches/qualification_end.html", {"qualification": qualification})
    done = _("The qualification has ended. Who is qualified stays so.")
    page.attempt(lambda: end_qualification(actor=page.user, qualification=qualification), done)
    return page.redirect("qualification", qualification_id)
