"""From a kind of judge to what is shown of it: its form, the words of its configuration, and what one may start from.

Each kind is one module, called as in judges.kinds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.http import QueryDict

from annotate.models import Project
from frontend.judges.kinds import composite, embedding, ensemble, lexical, llm, nli, ragas
from frontend.judges.kinds.base import ConfigForm, Group, Start, Words
from judges.kinds.registry import runnable_kinds
from judges.models import Endpoint, JudgeKind, JudgeVersion


@dataclass(frozen=True, slots=True)
class ShownKind:
    """choices: of the fields in which something is chosen, what may be, in words."""

    form: type[ConfigForm]
    group: Callable[[Project], Group]
    choices: Mapping[str, Words] = field(default_factory=dict)


# In the order in which they cost.
_KINDS: dict[str, ShownKind] = {
    JudgeKind.LEXICAL: ShownKind(lexical.LexicalForm, lexical.group, lexical.CHOICES),
    JudgeKind.LLM: ShownKind(llm.LLMForm, llm.group, llm.CHOICES),
    JudgeKind.RAGAS: ShownKind(ragas.RagasForm, ragas.group, ragas.CHOICES),
    JudgeKind.EMBEDDING: ShownKind(embedding.EmbeddingForm, embedding.group, embedding.CHOICES),
    JudgeKind.NLI: ShownKind(nli.NliForm, nli.group, nli.CHOICES),
    JudgeKind.ENSEMBLE: ShownKind(ensemble.EnsembleForm, ensemble.group),
    JudgeKind.COMPOSITE: ShownKind(composite.CompositeForm, composite.group),
}


def config_form(
    kind: str, project: Project, config: Mapping[str, Any], data: QueryDict | None, endpoint: Endpoint | None = None
) -> ConfigForm:
    """The form of a judge of this kind, filled in from the configuration and its endpoint, unless it was sent."""
    return _KINDS[kind].form(project, config, data, endpoint=endpoint)


def version_form(version: JudgeVersion, data: QueryDict | None, *, hidden: Collection[str]) -> ConfigForm:
    """The form that makes the next version from this one. hidden: what its reader may not know (judges.versions.read):
    it stays as the version has it."""
    judge = version.judge
    form = config_form(judge.kind, judge.project, version.config, data, version.endpoint)
    if "rules" in hidden:
        form.keep_hidden("rules")
    return form


def choice_words(name: str, value: Any) -> str | None:
    """None for a field in which nothing is chosen, and for a value that no form offers."""
    if not isinstance(value, str):
        return None
    for kind in _KINDS.values():
        if (words := kind.choices.get(name, {}).get(value)) is not None:
            return str(words)
    return None


def groups(project: Project) -> list[Group]:
    """What one may start a judge from: for each kind that runs here its templates."""
    return [kind.group(project) for name, kind in _KINDS.items() if name in runnable_kinds()]


def start_named(project: Project, key: str) -> tuple[str, Start] | None:
    """The template of that name, after the kind of judge that it makes."""
    found = ((group.kind, start) for group in groups(project) for start in group.starts if start.key == key)
    return next(found, None)
