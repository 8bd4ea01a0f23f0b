"""Prompts to start from. A judge that is made from one has the text in its own configuration: a later change of the
template changes no judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from judges.kinds.llm.prompt import PER_SAMPLE, PER_UNIT, names_between

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Template:
    """units: the kinds that it can be asked about. scale: how it is answered where there is no criterion. per: whether
    a request asks about one unit or about all of a sample. needs_requirements: whether a judge has to bring a list of
    them."""

    key: str
    title: str
    about: str
    units: Sequence[str]
    scale: Mapping[str, Any] = field(default_factory=dict)
    per: str = PER_UNIT
    needs_requirements: bool = False

    @cached_property
    def prompt(self) -> str:
        return (_FOLDER / f"{self.key}.txt").read_text(encoding="utf-8").strip()

    @property
    def name(self) -> str:
        return _(self.title)

    @property
    def description(self) -> str:
        return _(self.about)

    @property
    def variables(self) -> list[str]:
        return names_between(self.prompt)


def _grades(low: int, high: int) -> dict[str, Any]:
    return {"answer_with": "number", "min": low, "max": high, "whole": True}


_SUPPORT = [
    {"value": "supported", "label": "", "score": 1.0, "help": "At least one context says so, and none says otherwise."},
    {"value": "contradicted", "label": "", "score": 0.0, "help": "A context says the opposite."},
    {"value": "not in context", "label": "", "score": 0.0, "help": "No context speaks to it."},
]

TEMPLATES: dict[str, Template] = {
    template.key: template
    for template in (
        Template(
            "claim_support",
            gettext_noop("Claim support, with evidence"),
            gettext_noop("Whether the contexts support each claim of the answer, with the deciding words."),
            ("claim",),
            {"options": _SUPPORT},
        ),
        Template(
            "all_claims",
            gettext_noop("Claim support, all claims together"),
            gettext_noop("The same in one request per answer: cheaper, and claims are read in context."),
            ("claim",),
            {"options": _SUPPORT},
            per=PER_SAMPLE,
        ),
        Template(
            "context_relevance",
            gettext_noop("Context relevance"),
            gettext_noop("How much a context helps to answer the question, from 0 to 3."),
            ("context",),
            _grades(0, 3),
        ),
        Template(
            "answer_relevancy",
            gettext_noop("Answer relevancy"),
            gettext_noop("Whether the answer addresses the question, true or not."),
            ("answer",),
            _grades(1, 5),
        ),
        Template(
            "correctness",
            gettext_noop("Correctness"),
            gettext_noop("How correct the answer is compared with the reference answer, from 0 to 10."),
            ("answer",),
            _grades(0, 10),
        ),
        Template(
            "completeness",
            gettext_noop("Completeness"),
            gettext_noop("Whether the answer contains everything in the contexts that the user needs."),
            ("answer",),
            _grades(1, 5),
        ),
        Template(
            "rubric",
            gettext_noop("Rubric with requirements"),
            gettext_noop("Share of your requirements that the answer meets, weighted."),
            ("answer",),
            needs_requirements=True,
        ),
    )
}


def builtin_templates() -> list[Template]:
    """In the order in which they are offered."""
    return list(TEMPLATES.values())
