"""From a kind of judge to what is shown of it: its form, the words of its configuration, and what one may start from.

Each kind is one module, called as in judges.kinds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, cast

from django.http import QueryDict

from annotate.models import Project
from frontend.judges.kinds import composite, embedding, ensemble, lexical, llm, nli, ragas
from frontend.judges.kinds.base import ConfigForm, Group, Start, Words
from judges.kinds.registry import runnable_kinds
from judges.models import JudgeKind


class ShownKind(Protocol):
    """CHOICES: of the fields in which something is chosen, what may be, in words."""

    CHOICES: Mapping[str, Words]

    def form(
        self, project: Project, config: Mapping[str, Any], data: QueryDict | None, *, prefix: str, endpoint: str | None
    ) -> ConfigForm: ...

    def group(self, project: Project) -> Group: ...


# In the order in which they cost.
_KINDS: dict[str, ShownKind] = {
    JudgeKind.LEXICAL: cast("ShownKind", lexical),
    JudgeKind.LLM: cast("ShownKind", llm),
    JudgeKind.RAGAS: cast("ShownKind", ragas),
    JudgeKind.EMBEDDING: cast("ShownKind", embedding),
    JudgeKind.NLI: cast("ShownKind", nli),
    JudgeKind.ENSEMBLE: cast("ShownKind", ensemble),
    JudgeKind.COMPOSITE: cast("ShownKind", composite),
}


def config_form(
    kind: str,
    project: Project,
    config: Mapping[str, Any],
    data: QueryDict | None,
    *,
    prefix: str,
    endpoint: str | None = None,
) -> ConfigForm:
    """The form of a judge of this kind, filled in from the configuration unless it was sent."""
    return _KINDS[kind].form(project, config, data, prefix=prefix, endpoint=endpoint)


def choice_words(name: str, value: Any) -> str | None:
    """None for a field in which nothing is chosen, and for a value that no form offers."""
    if not isinstance(value, str):
        return None
    for kind in _KINDS.values():
        if (words := kind.CHOICES.get(name, {}).get(value)) is not None:
            return str(words)
    return None


def groups(project: Project) -> list[Group]:
    """What one may start a judge from: for each kind that runs here its templates."""
    return [kind.group(project) for name, kind in _KINDS.items() if name in runnable_kinds()]


def start_named(project: Project, key: str) -> Start | None:
    return next((start for group in groups(project) for start in group.starts if start.key == key), None)
