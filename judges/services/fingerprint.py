"""What a report rests on, in one hash: the same hash, the same figures."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from alignment.figures import Evidence


def fingerprint_of(evidence: Evidence, parameters: dict[str, Any]) -> str:
    """SHA-256 over the criterion's version, every rating, verdict and score that went in, and the parameters."""
    digest = hashlib.sha256()

    def add(rows: Iterable[Any]) -> None:
        for row in rows:
            digest.update(json.dumps(row, ensure_ascii=True, sort_keys=True).encode())
            digest.update(b"\n")

    criterion = evidence.criterion
    add([criterion.key, criterion.version, criterion.scale, criterion.levels, list(criterion.passes), parameters])
    # Sorted, so that neither the database's order nor the order of import matters.
    add(sorted(zip(evidence.units, evidence.raters, map(json.dumps, evidence.values), strict=True)))
    add(sorted((unit, json.dumps(value)) for unit, value in evidence.verdicts.items()))
    add(sorted(evidence.is_dev.items()))
    if evidence.days:
        add(sorted(zip(evidence.units, evidence.raters, evidence.days, evidence.seconds, strict=True), key=str))
    add(sorted(evidence.before, key=str))
    add(sorted((sample, dict(values)) for sample, values in evidence.metadata.items()))
    add(sorted(evidence.chances.items()))
    for judges in (evidence.judges, evidence.earlier):
        add([len(judges)])
        for judge in judges:
            add([*judge.name, judge.higher_is_better])
            for values in (judge.numbers, judge.labels, judge.failed, judge.again):
                add(sorted((unit, json.dumps(value)) for unit, value in values.items()))
    return digest.hexdigest()
