"""Evidence as plain JSON and back: what a report keeps, so that its figures can be worked out again anywhere."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from alignment.figures.evidence import Before, Chance, Criterion, Evidence, JudgeScores, Option, UnitKey

FORMAT = 2
_BY_UNIT = ("numbers", "labels", "failed", "again")


def evidence_as_dict(evidence: Evidence) -> dict[str, Any]:
    """Columns of equal length for what has many rows; floats keep every digit in JSON."""
    return {
        "format": FORMAT,
        "criterion": asdict(evidence.criterion),
        "seed": evidence.seed,
        "ratings": {
            **_addresses(evidence.units),
            "rater": list(evidence.raters),
            "value": list(evidence.values),
            "day": list(evidence.days),
            "seconds": list(evidence.seconds),
        },
        "before": {
            **_addresses([row.unit for row in evidence.before]),
            "rater": [row.rater for row in evidence.before],
            "value": [row.value for row in evidence.before],
        },
        "verdicts": _columns(evidence.verdicts),
        "is_dev": dict(evidence.is_dev),
        "metadata": {sample: dict(values) for sample, values in evidence.metadata.items()},
        "chances": {
            "sample": list(evidence.chances),
            "probability": [chance.probability for chance in evidence.chances.values()],
            "stratum": [chance.stratum for chance in evidence.chances.values()],
        },
        "judges": [_said(one) for one in evidence.judges],
        "earlier": [_said(one) for one in evidence.earlier],
        "sizes": dict(evidence.sizes),
        "whole": [_said(one) for one in evidence.whole],
        "measures": dict(evidence.measures),
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
        judges=[_scores(one) for one in found["judges"]],
        days=ratings["day"],
        seconds=ratings["seconds"],
        before=list(map(Before, _units(found["before"]), found["before"]["rater"], found["before"]["value"])),
        earlier=[_scores(one) for one in found["earlier"]],
        metadata=found["metadata"],
        chances=_chances(found["chances"]),
        sizes=found["sizes"],
        whole=[_scores(one) for one in found["whole"]],
        measures=found["measures"],
    )


def _chances(columns: Mapping[str, Sequence[Any]]) -> dict[str, Chance]:
    rows = zip(columns["sample"], columns["probability"], columns["stratum"], strict=True)
    return {sample: Chance(probability, stratum) for sample, probability, stratum in rows}


def _said(one: JudgeScores) -> dict[str, Any]:
    return {
        "judge": one.judge,
        "version": one.version,
        "dimension": one.dimension,
        "higher_is_better": one.higher_is_better,
        **{name: _columns(getattr(one, name)) for name in _BY_UNIT},
    }


def _scores(one: Mapping[str, Any]) -> JudgeScores:
    return JudgeScores(
        judge=one["judge"],
        version=one["version"],
        dimension=one["dimension"],
        higher_is_better=one["higher_is_better"],
        **{name: _mapping(one[name]) for name in _BY_UNIT},
    )


def _addresses(units: Sequence[UnitKey]) -> dict[str, list[str]]:
    return {"sample": [sample for sample, _ in units], "unit": [unit for _, unit in units]}


def _columns(values: Mapping[UnitKey, Any]) -> dict[str, list[Any]]:
    return {**_addresses(list(values)), "value": list(values.values())}


def _units(columns: Mapping[str, Sequence[str]]) -> list[UnitKey]:
    return list(zip(columns["sample"], columns["unit"], strict=True))


def _mapping(columns: Mapping[str, Sequence[Any]]) -> dict[UnitKey, Any]:
    return dict(zip(_units(columns), columns["value"], strict=True))
