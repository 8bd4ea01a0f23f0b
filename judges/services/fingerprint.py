"""What a report rests on, in one hash: the same hash, the same figures."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

from annotate.models import Criterion
from annotate.selectors.ratings import UnitKey
from judges.selectors.reference import Reference
from judges.selectors.scores import Series


def fingerprint_of(
    criterion: Criterion, reference: Reference, series: Sequence[Series], parameters: dict[str, Any]
) -> str:
    """SHA-256 over the criterion's version, every rating, verdict and score that went in, and the parameters."""
    digest = hashlib.sha256()

    def add(rows: Iterable[Any]) -> None:
        for row in rows:
            digest.update(json.dumps(row, ensure_ascii=True, sort_keys=True).encode())
            digest.update(b"\n")

    def named(unit: UnitKey) -> tuple[str, str]:
        return reference.names[unit[0]], unit[1]

    columns = reference.columns
    add([criterion.key, criterion.version, criterion.scale, criterion.levels, criterion.passes, parameters])
    # Sorted, so that neither the database's order nor the order of import matters.
    add(sorted(zip(map(named, columns.units), columns.raters, map(json.dumps, columns.values), strict=True)))
    add(sorted((named(unit), json.dumps(value)) for unit, value in reference.verdicts.items()))
    add(sorted((named(unit), is_dev) for unit, is_dev in reference.is_dev.items()))
    for one in series:
        add([*one.name, one.judge.higher_is_better])
        for values in (one.numbers, one.labels, one.failed):
            add(sorted((named(unit), value) for unit, value in values.items()))
    return digest.hexdigest()
