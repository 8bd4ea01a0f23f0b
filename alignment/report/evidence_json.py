"""Evidence as plain JSON, and back."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from alignment.base.coded import Coded
from alignment.judging.decision import Endpoint
from alignment.report.evidence import (
    BY_UNIT,
    Before,
    Chance,
    Criterion,
    Declared,
    DrawnBy,
    Evidence,
    JudgeScores,
    Option,
    Unsettled,
)
from alignment.report.units import ByUnit, UnitKey, parts_of

FORMAT = 3
# Of what a judge said, left out where there is none: evidence of before has no such fields.
_RARE = ("closed", "confidence", "learned")


def evidence_as_dict(evidence: Evidence) -> dict[str, Any]:
    """Columns of equal length for what has many rows; floats keep every digit in JSON."""
    return _plain(evidence_in_columns(evidence))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return list(map(_plain, value)) if isinstance(value, list | Coded) else value


def evidence_in_columns(evidence: Evidence) -> dict[str, Any]:
    """As `evidence_as_dict`, with columns of many rows as they are held: for whoever spells a part at a time."""
    return {
        "format": FORMAT,
        "criterion": asdict(evidence.criterion),
        "seed": evidence.seed,
        "ratings": {
            **_addresses(evidence.units),
            "rater": _column(evidence.raters),
            "value": _column(evidence.values),
            "day": _column(evidence.days),
            "seconds": _column(evidence.seconds),
            "too_fast": _column(evidence.too_fast),
            "waiting": _column(evidence.waiting),
        },
        "before": {
            **_addresses([row.unit for row in evidence.before]),
            "rater": [row.rater for row in evidence.before],
            "value": [row.value for row in evidence.before],
        },
        "verdicts": _columns(evidence.verdicts),
        "unsettled": _columns(evidence.unsettled),
        "settled_only": evidence.settled_only,
        "declared": [row._asdict() for row in evidence.declared],
        "is_dev": dict(evidence.is_dev),
        "metadata": dict(evidence.metadata),
        "chances": {
            "sample": list(evidence.chances),
            "probability": [chance.probability for chance in evidence.chances.values()],
            "stratum": [chance.stratum for chance in evidence.chances.values()],
        },
        "drawn_by": [row._asdict() for row in evidence.drawn_by],
        "judges": [_said(one) for one in evidence.judges],
        "earlier": [_said(one) for one in evidence.earlier],
        "sizes": dict(evidence.sizes),
        "dropped": {sample: list(indices) for sample, indices in evidence.dropped.items()},
        "whole": [_said(one) for one in evidence.whole],
        "measures": dict(evidence.measures),
        "abstained": evidence.abstained,
        "versions": dict(evidence.versions),
        **({"groups": dict(evidence.groups)} if evidence.groups else {}),
        "endpoint": evidence.endpoint.as_dict(),
        **({"nameless": [list(chance) for chance in evidence.nameless]} if evidence.nameless else {}),
    }


def evidence_from_dict(found: Mapping[str, Any]) -> Evidence:
    """Raises ValueError for another format, and for columns of unequal length."""
    if found.get("format") == 2:
        found = _of_before(found)
    if found.get("format") != FORMAT:
        raise ValueError(f"evidence of format {found.get('format')!r}; this version reads formats 2 and {FORMAT}")
    criterion = dict(found["criterion"])
    options = tuple(Option(**option) for option in criterion.pop("options"))
    passes = tuple(criterion.pop("passes"))
    ratings, before = found["ratings"], found["before"]
    chances = zip(*(found["chances"][name] for name in ("sample", "probability", "stratum")), strict=True)
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
        too_fast=ratings["too_fast"],
        waiting=ratings["waiting"],
        before=list(map(Before, _units(before), before["rater"], before["value"])),
        earlier=[_scores(one) for one in found["earlier"]],
        metadata=found["metadata"],
        chances={sample: Chance(*chance) for sample, *chance in chances},
        drawn_by=[DrawnBy(**row) for row in found["drawn_by"]],
        sizes=found["sizes"],
        whole=[_scores(one) for one in found["whole"]],
        measures=found["measures"],
        unsettled=_mapping(found["unsettled"]),
        settled_only=found["settled_only"],
        declared=[Declared(**row) for row in found["declared"]],
        abstained=found["abstained"],
        dropped=found["dropped"],
        versions=found["versions"],
        groups=found.get("groups", {}),
        endpoint=Endpoint(**found.get("endpoint", {})),
        nameless=[Chance(*chance) for chance in found.get("nameless", ())],
    )


def _of_before(found: Mapping[str, Any]) -> dict[str, Any]:
    """Format 2 as the present one. Judges were compared with all that was labelled; which units were still open is not
    known of it, nor how fast labels came."""
    labels = Counter(_units(found["ratings"]))
    verdicts = _mapping(found["verdicts"])
    alone: dict[UnitKey, Unsettled] = {
        unit: "single" for unit, count in labels.items() if count == 1 and unit not in verdicts
    }
    since = {
        "unsettled": _columns(alone),
        "settled_only": False,
        "declared": [],
        "drawn_by": [],
        "abstained": 0,
        "dropped": {},
        "versions": {},
        "ratings": {**found["ratings"], "too_fast": [], "waiting": []},
    }
    return {**found, **since, "format": FORMAT}


def _said(one: JudgeScores) -> dict[str, Any]:
    names = [each.name for each in fields(one) if each.name not in _RARE or getattr(one, each.name)]
    values = {name: getattr(one, name) for name in names}
    return {name: _columns(value) if name in BY_UNIT else value for name, value in values.items()}


def _scores(one: Mapping[str, Any]) -> JudgeScores:
    return JudgeScores(**{**one, **{name: _mapping(one[name]) for name in BY_UNIT if name in one}})


def _column(values: Sequence[Any]) -> Sequence[Any]:
    return values if isinstance(values, Coded) else list(values)


def _addresses(units: Iterable[UnitKey]) -> dict[str, Sequence[str]]:
    samples, sample, addresses, address = parts_of(units)
    return {"sample": Coded(samples, sample), "unit": Coded(addresses, address)}


def _columns(values: Mapping[UnitKey, Any]) -> dict[str, Sequence[Any]]:
    column = values.column if isinstance(values, ByUnit) else list(values.values())
    return {**_addresses(values), "value": column if isinstance(column, Coded) else list(values.values())}


def _units(columns: Mapping[str, Sequence[str]]) -> list[UnitKey]:
    return list(zip(columns["sample"], columns["unit"], strict=True))


def _mapping(columns: Mapping[str, Sequence[Any]]) -> dict[UnitKey, Any]:
    return dict(zip(_units(columns), columns["value"], strict=True))
