"""From a kind of judge to its form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.http import QueryDict

from annotate.models import Project
from frontend.judges.kinds import lexical, llm, members, ragas, vectors
from frontend.judges.kinds.base import ConfigForm
from judges.models import JudgeKind

Make = Callable[..., ConfigForm]
_FORMS: dict[str, Make] = {
    JudgeKind.LEXICAL: lexical.form,
    JudgeKind.LLM: llm.form,
    JudgeKind.RAGAS: ragas.form,
    JudgeKind.EMBEDDING: vectors.embedding_form,
    JudgeKind.NLI: vectors.nli_form,
    JudgeKind.ENSEMBLE: members.ensemble_form,
    JudgeKind.COMPOSITE: members.composite_form,
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
    return _FORMS[kind](project, config, data, prefix=prefix, endpoint=endpoint)
