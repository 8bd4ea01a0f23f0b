"""The one gate between what a kind of judge says and what is kept: nothing that is not a value gets through as one.
Faults of ours and of kinds go to the log.
"""

from __future__ import annotations

import logging
import math
import traceback
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from annotate.core.errors import Invalid
from annotate.core.scales import normalise
from annotate.core.units import has_unit, parse_unit
from annotate.models import Criterion, Project, Sample
from annotate.projects.read import current_criteria
from judges.kinds.base import Scored
from judges.models import LARGEST_SCORE, ScoreStatus

_MOST_DIMENSION = 120
# Of a text that a judge gives; a reply is bounded by its transport, a kind's own words are not.
_MOST_TEXT = 200_000
_STATUSES = frozenset(ScoreStatus.values)


def storable(text: str) -> str:
    """The text as PostgreSQL can keep it: what it can't hold is marked as lost, never silently dropped."""
    text = text[:_MOST_TEXT].replace("\x00", "\ufffd")
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        # Halves that belong together come together; a lone one is lost.
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


class Gate:
    """Checks scores against the criteria of a project as they are now.

    is_on_scale: whether the judge answers on the criterion's own scale, as a language model does that is told its
    options. All others measure on one of theirs, a share or a probability, as imported scores may.
    """

    def __init__(self, project: Project, *, is_on_scale: bool = True) -> None:
        self._is_on_scale = is_on_scale
        self._criteria: Mapping[str, Criterion] = {criterion.key: criterion for criterion in current_criteria(project)}

    def checked(self, scores: Iterable[object], wanted: Sequence[tuple[str, str]], sample: Sample) -> list[Scored]:
        """Every score that may be kept, each once, with its value if that is one and as a failure if it isn't; and a
        failure for everything that was wanted, (dimension, unit), and of which nothing was said."""
        found: dict[tuple[str, str], Scored] = {}
        for scored in scores:
            if not isinstance(scored, Scored) or not _is_address(scored, sample):
                continue
            key = (scored.dimension, scored.unit)
            found[key] = self._checked(scored) if key not in found else _failed(scored, "It was scored twice.")
        for dimension, unit in wanted:
            if (dimension, unit) not in found:
                found[dimension, unit] = Scored(
                    unit=unit,
                    dimension=dimension,
                    status=ScoreStatus.ERROR,
                    detail="The judge said nothing of it.",
                )
        return list(found.values())

    def _checked(self, scored: Scored) -> Scored:
        rationale, detail = _text(scored.rationale), _text(scored.detail)
        if rationale is not scored.rationale or detail is not scored.detail:
            scored = replace(scored, rationale=rationale, detail=detail)
        if scored.status not in _STATUSES:
            return _failed(scored, "The judge gave a status that there isn't.")
        if scored.status != ScoreStatus.OK:
            scored = replace(scored, status=ScoreStatus(scored.status))
            return replace(scored, number=None, label=None, finding="", confidence=None)
        if (scored.number is None) == (scored.label is None):
            return _failed(scored, "A score is exactly one of a number and a label.")
        if scored.confidence is not None and not 0 <= scored.confidence <= 1:
            scored = replace(scored, confidence=None)
        criterion = self._criteria.get(scored.dimension)
        if criterion is not None and criterion.unit != parse_unit(scored.unit)[0]:
            criterion = None
        if scored.label is not None:
            return _with_label(scored, criterion)
        return _with_number(scored, criterion if self._is_on_scale else None)


def failures(wanted: Sequence[tuple[str, str]], status: ScoreStatus, detail: str) -> list[Scored]:
    """Everything that was wanted, (dimension, unit), as missing."""
    return [
        Scored(unit=unit, dimension=dimension, status=status, detail=storable(detail)) for dimension, unit in wanted
    ]


def _is_address(scored: Scored, sample: Sample) -> bool:
    if not isinstance(scored.dimension, str) or not 0 < len(scored.dimension) <= _MOST_DIMENSION:
        return False
    try:
        return _is_storable(scored.dimension) and has_unit(sample, scored.unit)
    except ValueError:
        return False


# Of one name for each thing that a judge measures.
@lru_cache(maxsize=256)
def _is_storable(dimension: str) -> bool:
    return storable(dimension) == dimension


def _text(text: object) -> str:
    return storable(text) if isinstance(text, str) else ""


def _failed(scored: Scored, detail: str) -> Scored:
    return replace(
        scored, status=ScoreStatus.ERROR, number=None, label=None, detail=detail, finding="", confidence=None
    )


def _with_label(scored: Scored, criterion: Criterion | None) -> Scored:
    if criterion is None or not criterion.options:
        return _failed(scored, "It gave a label, and there is no criterion of this name with options.")
    try:
        label = normalise(criterion, scored.label)
    except Invalid:
        return _failed(scored, "It gave a label that is none of the criterion's options.")
    if isinstance(label, int | float) and not isinstance(label, bool):
        return replace(scored, number=float(label), label=None)
    return replace(scored, label=str(label).lower() if isinstance(label, bool) else label)


def _with_number(scored: Scored, criterion: Criterion | None) -> Scored:
    number = scored.number
    if isinstance(number, bool) or not isinstance(number, int | float):
        return _failed(scored, "It gave something that is no number.")
    if not -LARGEST_SCORE <= number <= LARGEST_SCORE or not math.isfinite(number):
        return _failed(scored, "It gave a number that is not finite.")
    levels = [] if criterion is None else criterion.levels
    steps = [level for level in levels if isinstance(level, int | float) and not isinstance(level, bool)]
    if steps and len(steps) == len(levels) and not min(steps) <= number <= max(steps):
        return _failed(scored, "It gave a number outside the criterion's scale.")
    return scored if type(number) is float else replace(scored, number=float(number))


_log = logging.getLogger(__name__)


def note_fault(error: BaseException, what: str) -> None:
    """Where it happened, and not what the exception says: that may be anything that was sent or came."""
    frames = "".join(traceback.format_tb(error.__traceback__))
    _log.error("%s: %s\n%s", what, type(error).__name__, frames)
