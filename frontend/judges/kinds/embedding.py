"""Judges that compare meaning: vectors of an endpoint's model, or of one on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.models import Project
from frontend.judges.kinds.base import (
    AGAINST,
    USUAL,
    Group,
    Start,
    TargetForm,
    Words,
    endpoint_field,
    first_criterion,
    folder_field,
    given,
    has_local_model,
    no_endpoint,
    offered,
    target_initial,
)
from judges.models import JudgeKind


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


def form(
    project: Project, config: Mapping[str, Any], data: QueryDict | None, *, prefix: str, endpoint: str | None
) -> EmbeddingForm:
    same = ("against", "contexts", "model", "texts_per_request", "folder", "pooling")
    initial = {**target_initial(config), **given(config, *same)}
    if endpoint is not None:
        initial["endpoint"] = endpoint
    return EmbeddingForm(project, data, prefix=prefix, initial=initial, is_local="folder" in config)


CHOICES: Mapping[str, Words] = {name: offered(EmbeddingForm, name) for name in ("against", "contexts", "pooling")}


def group(project: Project) -> Group:
    kinds = ("claim", "context", "answer")
    target = {"criterion": first_criterion(project, kinds)}
    return Group(
        kind=JudgeKind.EMBEDDING,
        title=gettext("Likeness of meaning"),
        text=gettext("How near two texts are as vectors, however they are worded."),
        needs=gettext("needs an endpoint or a local model"),
        starts=[
            Start(
                key="embedding-endpoint",
                kind=JudgeKind.EMBEDDING,
                title=gettext("Embeddings of an endpoint"),
                text=gettext("Vectors from a model at an endpoint."),
                name="embedding",
                config=target,
            ),
            Start(
                key="embedding-folder",
                kind=JudgeKind.EMBEDDING,
                title=gettext("Embeddings of a local model"),
                text=gettext("Vectors from a model on this machine; nothing leaves it."),
                name="embedding-local",
                config={**target, "folder": ""},
            ),
        ],
        missing="" if has_local_model() else no_endpoint(project),
    )
