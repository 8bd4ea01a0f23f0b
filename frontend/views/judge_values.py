"""What may be chosen in a judge's configuration, in the words of its form."""

from __future__ import annotations

from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from frontend.forms.judge_kinds.lexical import LexicalForm
from frontend.forms.judge_kinds.llm import LLMForm
from frontend.forms.judge_kinds.ragas import RagasForm
from frontend.forms.judge_kinds.starts import LEXICAL, RAGAS
from frontend.forms.judge_kinds.vectors import EmbeddingForm

_Words = dict[str, str | Promise]


def _offered(form: Any, name: str) -> _Words:
    return {value: words for value, words in form.base_fields[name].choices if value}


_CHOICES: dict[str, _Words] = {
    "measure": {name: title for name, (title, _text) in LEXICAL.items()},
    "metric": {name: title for name, (title, _text) in RAGAS.items()},
    "against": _offered(LexicalForm, "against"),
    "share": _offered(LexicalForm, "share"),
    "contexts": _offered(LexicalForm, "contexts") | _offered(EmbeddingForm, "contexts"),
    "unspaced": _offered(LexicalForm, "unspaced"),
    "pooling": _offered(EmbeddingForm, "pooling"),
    "mode": _offered(RagasForm, "mode"),
    "answer_with": _offered(LLMForm, "answer_with"),
    # Shorter than in the form, which gives advice.
    "per": {"unit": gettext_lazy("each unit"), "sample": gettext_lazy("all units of a sample together")},
}


def choice_words(name: str, value: Any) -> str | None:
    """None for a field in which nothing is chosen, and for a value that no form offers."""
    words = _CHOICES.get(name, {}).get(value) if isinstance(value, str) else None
    return None if words is None else str(words)
