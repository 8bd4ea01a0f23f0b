"""Evidence as plain JSON and back: what a report keeps, so that its figures can be worked out again anywhere."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from alignment.figures.evidence import Criterion, Evidence, JudgeScores, Option, UnitKey

FORMAT = 1


def evidence_as_dict(evidence: Evidence) -> dict[str, Any]:
    """Columns of equal length for what has many rows; floats keep every digit in JSON."""
    return {
        "format": FORMAT,
        "criterion": asdict(evidence.criterion),
        "seed": evidence.seed,
        "ratings": {**_addresses(evidence.units), "rater": list(evidence.raters), "value": list(evidence.values)},
        "verdicts": _columns(evidence.verdicts),
        "is_dev": dict(evidence.is_dev),
        "judges": [
            {
                "judge": one.judge,
                "version": one.version,
                "dimension": one.dimension,
                "higher_is_better": one.higher_is_better,
                "numbers": _columns(one.numbers),
                "labels": _columns(one.labels),
                "failed": _columns(one.failed),
            }
            for one in evidence.judges
        ],
    }


def evidence_from_dict(found: Mapping[str, Any]) -> Evidence:
    """Raises ValueError for another format, and for columns of unequal length."""
    if found.get("format") != FORMAT:
        raise ValueError(f"evidence of format {found.get('format')!r}; this version reads format {FORMAT}")
    criterion = dict(found["criterion"])
    options = tuple(Option(**option) for option in criterion.pop("options"))
    passes = tuple(criterion.pop("passes"))
    ratings = found["ratings"]
    return Evidence(
        criterion=Criterion(**criterion, options=options, passes=passes),
        seed=found["seed"],
        units=_units(ratings),
        raters=ratings["rater"],
        values=ratings["value"],
        verdicts=_mapping(found["verdicts"]),
        is_dev=found["is_dev"],
        judges=[
            JudgeScores(
                judge=one["judge"],
                version=one["version"],
                dimension=one["dimension"],
                higher_is_better=one["higher_is_better"],
                numbers=_mapping(one["numbers"]),
                labels=_mapping(one["labels"]),
                failed=_mapping(one["failed"]),
            )
            for one in found["judges"]
        ],
    )


def _addresses(units: Sequence[UnitKey]) -> dict[str, list[str]]:
    return {"sample": [sample for sample, _ in units], "unit": [unit for _, unit in units]}


def _columns(values: Mapping[UnitKey, Any]) -> dict[str, list[Any]]:
    return {**_addresses(list(values)), "value": list(values.values())}


def _units(columns: Mapping[str, Sequence[str]]) -> list[UnitKey]:
    return list(zip(columns["sample"], columns["unit"], strict=True))


def _mapping(columns: Mapping[str, Sequence[Any]]) -> dict[UnitKey, Any]:
    return dict(zip(_units(columns), columns["value"], strict=True))
