"""People's side of a criterion's evidence, as the alignment module reads it."""

from __future__ import annotations

from typing import cast

from alignment.figures import Criterion as Asked
from alignment.figures import Evidence, Option
from alignment.ratings import Scale
from annotate.models import Criterion
from annotate.selectors.ratings import rating_columns, verdict_values


def evidence_of(criterion: Criterion) -> Evidence:
    """What people said: labels that count, and verdicts that hold. Judges and the split are for those who have them."""
    columns = rating_columns(criterion)
    return Evidence(
        criterion=_asked(criterion),
        seed=criterion.project.seed,
        units=columns.units,
        raters=columns.raters,
        values=columns.values,
        verdicts=verdict_values(criterion),
    )


def _asked(criterion: Criterion) -> Asked:
    return Asked(
        key=criterion.key,
        version=criterion.version,
        name=criterion.name,
        unit=criterion.unit,
        scale=cast("Scale", criterion.scale),
        prompt=criterion.prompt,
        options=tuple(
            Option(option["value"], option.get("label") or str(option["value"])) for option in criterion.options
        ),
        passes=tuple(criterion.passes),
    )
