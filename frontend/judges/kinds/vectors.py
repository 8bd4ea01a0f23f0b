"""Judges that read meaning instead of words: embeddings, from an endpoint or a local model, and entailment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from annotate.models import Project
from frontend.judges.kinds.base import AGAINST, USUAL, TargetForm, endpoint_field, given, target_initial
from judges.kinds.local_models import model_names


def folder_field() -> forms.ChoiceField:
    return forms.ChoiceField(
        label=_("Model"),
        choices=[(name, name) for name in model_names()],
        help_text=_("A folder that the operator of this installation has put there. Nothing is downloaded."),
    )


class EmbeddingForm(TargetForm):
    """Of which model the vectors are, and what is held against what."""

    field_order = ("criterion", "dimension", "unit", "endpoint", "model", "folder", "against")
    together: ClassVar = (("dimension", "unit"), ("endpoint", "model"))
    rare = ("contexts", "texts_per_request", "pooling")

    against = forms.ChoiceField(label=_("Held against"), required=False, choices=AGAINST)
    contexts = forms.ChoiceField(
        label=_("Several contexts"),
        required=False,
        choices=[USUAL, ("best", _("the one that fits best")), ("mean", _("the mean over all"))],
    )
    model = forms.CharField(label=_("Model"), max_length=200, help_text=_("As the endpoint calls it."))
    texts_per_request = forms.IntegerField(label=_("Texts in one request"), required=False, min_value=1)
    pooling = forms.ChoiceField(
        label=_("A text’s vector is"),
        required=False,
        choices=[USUAL, ("mean", _("the mean over its tokens")), ("first", _("that of its first token"))],
    )

    def __init__(self, project: Project, *args: Any, is_local: bool, **kwargs: Any) -> None:
        super().__init__(project, *args, kinds=("claim", "context", "fact", "entity", "answer"), **kwargs)
        if is_local:
            self.fields["folder"] = folder_field()
            del self.fields["model"], self.fields["texts_per_request"]
        else:
            self.fields["endpoint"] = endpoint_field(project)
            del self.fields["pooling"]
        self.order_fields(self.field_order)

    def config(self) -> dict[str, Any]:
        names = ("against", "contexts", "model", "texts_per_request", "folder", "pooling")
        return {**self.target(), **given(self.cleaned_data, *names)}


class NliForm(TargetForm):
    """Which model tells whether a text entails a unit."""

    field_order = ("criterion", "dimension", "unit", "folder", "against", "entailment")
    rare = ("entailment",)

    against = forms.ChoiceField(label=_("Held against"), required=False, choices=AGAINST)
    entailment = forms.CharField(
        label=_("The model’s name for entailment"),
        required=False,
        max_length=200,
        help_text=_("Empty: as its config.json says."),
    )

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(project, *args, kinds=("claim", "fact", "answer"), **kwargs)
        self.fields["folder"] = folder_field()
        self.order_fields(self.field_order)

    def config(self) -> dict[str, Any]:
        return {**self.target(), **given(self.cleaned_data, "against", "folder", "entailment")}


def embedding_form(
    project: Project, config: Mapping[str, Any], data: QueryDict | None, *, prefix: str, endpoint: str | None
) -> EmbeddingForm:
    same = ("against", "contexts", "model", "texts_per_request", "folder", "pooling")
    initial = {**target_initial(config), **given(config, *same)}
    if endpoint is not None:
        initial["endpoint"] = endpoint
    return EmbeddingForm(project, data, prefix=prefix, initial=initial, is_local="folder" in config)


def nli_form(
    project: Project, config: Mapping[str, Any], data: QueryDict | None, *, prefix: str, endpoint: str | None
) -> NliForm:
    initial = {**target_initial(config), **given(config, "against", "folder", "entailment")}
    return NliForm(project, data, prefix=prefix, initial=initial)
