"""The metrics of the RAGAS library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.models import Project
from frontend.base.forms import show_field
from frontend.judges.kinds.base import (
    MODEL,
    SEED,
    STRUCTURED,
    TEMPERATURE,
    ConfigForm,
    Group,
    Start,
    Words,
    endpoint_field,
    given,
    no_endpoint,
    offered,
)
from judges.kinds.ragas import how_to_install, installed_version
from judges.models import JudgeKind

METRIC_WORDS = {
    "faithfulness": (
        _("Faithfulness"),
        _("Share of the answer’s statements supported by the contexts."),
    ),
    "answer_relevancy": (
        _("Answer relevancy"),
        _("How similar questions generated from the answer are to the one asked."),
    ),
    "context_precision": (
        _("Context precision"),
        _("Whether helpful contexts are ranked above the others."),
    ),
    "context_recall": (
        _("Context recall"),
        _("Share of the reference answer supported by the contexts."),
    ),
    "answer_correctness": (
        _("Answer correctness"),
        _("Whether the answer says what the reference answer says, and no more."),
    ),
    "context_entity_recall": (
        _("Context entity recall"),
        _("Share of the reference answer’s entities found in the contexts."),
    ),
    "noise_sensitivity": (
        _("Noise sensitivity"),
        _("Share of the answer that is wrong and comes from the contexts; lower is better."),
    ),
}
# What only some of the metrics have.
OPTIONS = ("embedding_model", "strictness", "against", "similarity_weight", "beta", "mode")
_OF_METRIC = {
    "answer_relevancy": ("embedding_model", "strictness"),
    "context_precision": ("against",),
    "answer_correctness": ("embedding_model", "similarity_weight", "beta"),
    "noise_sensitivity": ("mode",),
}


class RagasForm(ConfigForm):
    """A metric of the library, and the model that it asks."""

    rare = ("strictness", "similarity_weight", "beta", "temperature", "max_tokens", "seed", "structured")
    together: ClassVar = (
        ("endpoint", "model", "embedding_model"),
        ("strictness", "similarity_weight", "beta"),
        ("temperature", "max_tokens", "seed"),
    )
    field_order = ("endpoint", "model", "embedding_model")

    model = MODEL
    embedding_model = forms.CharField(
        label=_("Embedding model"),
        required=False,
        max_length=200,
        help_text=_("Name at the endpoint. Used for semantic similarity."),
    )
    against = forms.ChoiceField(
        label=_("Compared with"),
        choices=(("reference", _("the reference answer")), ("answer", _("the answer"))),
    )
    mode = forms.ChoiceField(
        label=_("Noise from"),
        choices=(("relevant", _("relevant contexts")), ("irrelevant", _("irrelevant contexts"))),
    )
    strictness = forms.IntegerField(label=_("Questions generated per answer"), min_value=1, initial=3)
    similarity_weight = forms.FloatField(
        label=_("Weight of similarity"),
        initial=0.25,
        widget=forms.NumberInput({"step": "any"}),
        help_text=_("From 0 (facts only, no embedding model needed) to 1."),
    )
    beta = forms.FloatField(
        label="β", initial=1, widget=forms.NumberInput({"step": "any"}), help_text=_("Above 1, recall counts more.")
    )
    temperature = TEMPERATURE
    max_tokens = forms.IntegerField(label=_("Maximum output tokens"), min_value=1, initial=2048)
    seed = SEED
    structured = STRUCTURED

    def __init__(self, project: Project, config: Mapping[str, Any], *args: Any, **kwargs: Any) -> None:
        super().__init__(project, config, *args, **kwargs)
        metric = self.metric = config["metric"]
        self.fields["endpoint"] = endpoint_field(project)
        for name in OPTIONS:
            if name not in _OF_METRIC.get(metric, ()):
                del self.fields[name]
        if metric == "answer_relevancy":
            self.fields["embedding_model"].required = True
        show_field(self, "embedding_model", by="similarity_weight", unless=["0"])
        self.order_fields(self.field_order)

    def initial_of(self, config: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in config.items() if name in self.base_fields}

    def config(self) -> dict[str, Any]:
        typed = self.cleaned_data
        return {
            "metric": self.metric,
            **{name: typed[name] for name in ("model", "temperature", "max_tokens", "structured")},
            **given(typed, "seed", *(name for name in OPTIONS if name in typed)),
        }


CHOICES: Mapping[str, Words] = {
    "metric": {name: title for name, (title, _text) in METRIC_WORDS.items()},
    "mode": offered(RagasForm, "mode"),
}


def group(project: Project) -> Group:
    return Group(
        kind=JudgeKind.RAGAS,
        title="RAGAS",
        text=gettext("Metrics of the RAGAS library, one score per answer, through your endpoint."),
        needs=gettext("needs an endpoint and the library"),
        starts=[
            Start(
                key=f"ragas-{metric.replace('_', '-')}",
                title=str(title),
                text=str(text),
                name=f"ragas-{metric.replace('_', '-')}",
                config={"metric": metric},
                higher_is_better=metric != "noise_sensitivity",
            )
            for metric, (title, text) in METRIC_WORDS.items()
        ],
        missing=no_endpoint(project) if installed_version() else how_to_install(),
    )
