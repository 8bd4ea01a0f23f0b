"""What a report rests on, in one hash: the same hash, the same figures."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import orjson

from alignment.report import Evidence, UnitKey


def fingerprint_of(evidence: Evidence, parameters: dict[str, Any]) -> str:
    """SHA-256 over the criterion's version, every rating, verdict and score that went in, and the parameters."""
    digest = hashlib.sha256()

    def add(part: Any) -> None:
        digest.update(orjson.dumps(part))
        digest.update(b"\n")

    criterion = evidence.criterion
    add([criterion.key, criterion.version, criterion.scale, criterion.levels, list(criterion.passes)])
    add(json.dumps(parameters, sort_keys=True))
    # Sorted, so that neither the database's order nor the order of import matters.
    order = sorted(range(len(evidence.units)), key=lambda row: (evidence.units[row], evidence.raters[row]))
    for column in (evidence.units, evidence.raters, evidence.values, evidence.days, evidence.seconds):
        add([column[row] for row in order] if column else None)
    add(sorted(evidence.verdicts.items(), key=_unit))
    add(sorted(evidence.is_dev.items()))
    # Named tuples are no tuples to orjson.
    add([tuple(row) for row in sorted(evidence.before, key=str)])
    add(sorted((sample, sorted(values.items())) for sample, values in evidence.metadata.items()))
    add([(name, *chance) for name, chance in sorted(evidence.chances.items())])
    add(sorted(evidence.sizes.items()))
    add(sorted(evidence.measures.items()))
    for judges in (evidence.judges, evidence.earlier, evidence.whole):
        add(len(judges))
        for judge in judges:
            add([*judge.name, judge.higher_is_better])
            for values in (judge.numbers, judge.labels, judge.failed, judge.again):
                add(sorted(values.items(), key=_unit))
    return digest.hexdigest()


def _unit(row: tuple[UnitKey, Any]) -> UnitKey:
    return row[0]
