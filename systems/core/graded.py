"""Which criteria say how good something is, and not only whether."""

from __future__ import annotations

from annotate.models import Criterion
from annotate.models.project import Scale


def is_graded(criterion: Criterion) -> bool:
    """Whether values count by where they lie among the levels, and not as pass or fail."""
    return criterion.scale in (Scale.ORDINAL, Scale.INTERVAL) and len(criterion.levels) > 2
