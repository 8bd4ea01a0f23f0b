"""What metrics of systems are called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

# Of what adds up from units, and of what is measured.
_DERIVED = {
    "faithfulness": gettext_noop("Faithfulness"),
    "context_precision": gettext_noop("Context precision"),
    "precision_at_k": gettext_noop("Precision@k"),
    "retrieved_precision": gettext_noop("Share of relevant contexts"),
    "reciprocal_rank": gettext_noop("Reciprocal rank"),
    "context_recall": gettext_noop("Context recall"),
    "context_entity_recall": gettext_noop("Context entity recall"),
}
_MEASURED = {
    "latency_ms": gettext_noop("Latency"),
    "first_token_ms": gettext_noop("Time to first token"),
    "input_tokens": gettext_noop("Input tokens"),
    "output_tokens": gettext_noop("Output tokens"),
    "cost": gettext_noop("Cost"),
    "answered": gettext_noop("Answered requests"),
    "abstained": gettext_noop("Abstained"),
    "wrong_abstention": gettext_noop("Wrong abstention"),
    "right_abstention": gettext_noop("Right abstention"),
    "contexts": gettext_noop("Contexts"),
}
_HELP = {
    "faithfulness": gettext_noop("Share of an answer’s claims that its contexts support"),
    "context_precision": gettext_noop("Whether the relevant contexts come first"),
    "context_recall": gettext_noop("Share of the key facts that the contexts have"),
    "retrieved_precision": gettext_noop("Share of the retrieved contexts that are relevant"),
    "latency_ms": gettext_noop("How long the whole answer takes"),
    "answered": gettext_noop("Share of requests that did not fail"),
    "wrong_abstention": gettext_noop("How often it says that it has no answer where there is one"),
    "right_abstention": gettext_noop("How often it says that it has no answer where there is none"),
}


def metric_title(metric: Mapping[str, Any]) -> str:
    """Of a metric of figures, or of a rule: in words, unless it was given a name of its own."""
    name: str = metric.get("metric", metric.get("name"))
    for key, words in (("derived", _DERIVED), ("field", _MEASURED)):
        if metric.get(key) == name and name in words:
            return _(words[name])
    title: str = metric.get("title", name)
    return title


def metric_help(metric: Mapping[str, Any]) -> str:
    """What it is, in a line; "" where its criterion says so."""
    said = _HELP.get(metric.get("derived") or metric.get("field") or "")
    return "" if said is None else _(said)
