"""From a kind of judge to its form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.http import QueryDict

from annotate.models import Project
from frontend.forms.judge_kinds import lexical, llm, members
from frontend.forms.judge_kinds.base import ConfigForm
from judges.models import JudgeKind

Make = Callable[..., ConfigForm]
_FORMS: dict[str, Make] = {
    JudgeKind.LEXICAL: lexical.form,
    JudgeKind.LLM: llm.form,
    JudgeKind.ENSEMBLE: members.ensemble_form,
    JudgeKind.COMPOSITE: members.composite_form,
}


def has_form(kind: str) -> bool:
    return kind in _FORMS


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
    return _FORMS[kind](project, config, data, prefix=prefix, endpoint=endpoint)
