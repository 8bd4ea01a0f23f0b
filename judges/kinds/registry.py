"""Which kinds there are. Each is imported when it is asked for: a model library takes seconds to load."""

from __future__ import annotations

from importlib import import_module

from django.utils.translation import gettext as _

from annotate.core.errors import Invalid
from judges.kinds.base import Kind
from judges.models import JudgeKind

# Kind -> the module of its `KIND`. Imported judges have none: nothing here can run them.
_PLACES = {
    key: f"judges.kinds.{key}"
    for key in ("llm", "lexical", "embedding", "nli", "ensemble", "composite", "cascade", "ragas")
}


def kind_named(key: str) -> Kind:
    """Raises Invalid for a kind that can't be run."""
    if key not in _PLACES:
        raise Invalid(
            "kind_not_runnable",
            _("Judges of the kind “%(kind)s” can’t be run here. Those that can: %(known)s.")
            % {"kind": key[:80], "known": ", ".join(_PLACES)},
        )
    kind: Kind = import_module(_PLACES[key]).KIND
    return kind


def runnable_kinds() -> list[str]:
    return [key for key in JudgeKind.values if key in _PLACES]
