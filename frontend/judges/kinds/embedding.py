"""Judges that compare meaning: vectors of an endpoint's model, or of one on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.models import Project
from frontend.judges.kinds.base import (
    AGAINST,
    MODEL,
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
)
from judges.models import JudgeKind


class EmbeddingForm(TargetForm):
    """Of which model the vectors are, and what is compared with what."""

    field_order = ("criterion", "dimension", "unit", "endpoint", "model", "folder", "against")
    together: ClassVar = (("dimension", "unit"), ("endpoint", "model"))
    rare = ("contexts", "texts_per_request", "pooling")
    same = ("against", "contexts", "model", "texts_per_request", "folder", "pooling")

    against = forms.ChoiceField(label=_("Compared with"), required=False, choices=AGAINST)
    contexts = forms.ChoiceField(
        label=_("Several contexts"),
        required=False,
        choices=[USUAL, ("best", _("the best match")), ("mean", _("the mean over all"))],
    )
    model = MODEL
    texts_per_request = forms.IntegerField(label=_("Texts in one request"), required=False, min_value=1)
    pooling = forms.ChoiceField(
        label=_("Text vector"),
        required=False,
        choices=[USUAL, ("mean", _("mean over its tokens")), ("first", _("first token"))],
    )

    def __init__(self, project: Project, config: Mapping[str, Any], *args: Any, **kwargs: Any) -> None:
        super().__init__(project, config, *args, kinds=("claim", "context", "fact", "entity", "answer"), **kwargs)
        if "folder" in config:
            self.fields["folder"] = folder_field()
            del self.fields["model"], self.fields["texts_per_request"]
        else:
            self.fields["endpoint"] = endpoint_field(project)
            del self.fields["pooling"]
        self.order_fields(self.field_order)

    def config(self) -> dict[str, Any]:
        return {**self.target(), **given(self.cleaned_data, *self.same)}


CHOICES: Mapping[str, Words] = {name: offered(EmbeddingForm, name) for name in ("against", "contexts", "pooling")}


def group(project: Project) -> Group:
    kinds = ("claim", "context", "answer")
    target = {"criterion": first_criterion(project, kinds)}
    return Group(
        kind=JudgeKind.EMBEDDING,
        title=gettext("Semantic similarity"),
        text=gettext("How close two texts are in meaning, whatever the wording."),
        needs=gettext("needs an endpoint or a local model"),
        starts=[
            Start(
                key="embedding-endpoint",
                title=gettext("Embeddings from an endpoint"),
                text=gettext("Vectors from a model at an endpoint."),
                name="embedding",
                config=target,
            ),
            Start(
                key="embedding-folder",
                title=gettext("Embeddings from a local model"),
                text=gettext("Vectors from a model on this server; no data leaves it."),
                name="embedding-local",
                config={**target, "folder": ""},
            ),
        ],
        missing="" if has_local_model() else no_endpoint(project),
    )
