"""Judges that tell whether a text entails a unit, by a model on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.models import Project
from frontend.judges.kinds.base import (
    AGAINST,
    Group,
    Start,
    TargetForm,
    Words,
    first_criterion,
    folder_field,
    given,
    has_local_model,
    offered,
)
from judges.kinds import local_models
from judges.models import JudgeKind


class NliForm(TargetForm):
    """Which model tells whether a text entails a unit."""

    field_order = ("criterion", "dimension", "unit", "folder", "against", "entailment")
    rare = ("entailment",)
    same = ("against", "folder", "entailment")

    against = forms.ChoiceField(label=_("Compared with"), required=False, choices=AGAINST)
    entailment = forms.CharField(
        label=_("The model’s name for entailment"),
        required=False,
        max_length=200,
        help_text=_("Leave empty to use config.json."),
    )

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(project, *args, kinds=("claim", "fact", "answer"), **kwargs)
        self.fields["folder"] = folder_field()
        self.order_fields(self.field_order)

    def config(self) -> dict[str, Any]:
        return {**self.target(), **given(self.cleaned_data, *self.same)}


CHOICES: Mapping[str, Words] = {"against": offered(NliForm, "against")}


def group(project: Project) -> Group:
    no_model = "" if has_local_model() else gettext("The server administrator has provided no models yet.")
    return Group(
        kind=JudgeKind.NLI,
        title=gettext("Entailment"),
        text=gettext("Probability that a context entails a claim, from a model on this server."),
        needs=gettext("needs a local model"),
        starts=[
            Start(
                key="nli",
                title=gettext("Entailment of claims"),
                text=gettext("Of several contexts, the most supportive one counts."),
                name="entailment",
                config={"criterion": first_criterion(project, ("claim", "fact", "answer"))},
            )
        ],
        missing=no_model if local_models.is_installed() else local_models.needs_models(),
    )
