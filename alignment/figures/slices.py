"""One judge on parts of the data, told apart by the samples' metadata."""

from collections.abc import Hashable
from typing import Any

from alignment.figures.beside import NOTHING_SAID
from alignment.figures.comparison import Comparison
from alignment.figures.reference import NO_PASSES, Reference
from alignment.figures.seeds import generator
from alignment.slices import MIN_CLUSTERS, Slice, slices_at_threshold

MEASURE = "kappa"
MIN_VALUES, MAX_VALUES = 2, 20
MAX_KEYS = 8
MAX_SLICES = 60

NO_METADATA = "the samples carry no metadata, so there are no parts to tell apart"
NO_KEY = (
    f"no metadata key has {MIN_VALUES} to {MAX_VALUES} values of which one has {MIN_CLUSTERS} decided samples "
    "and leaves as many"
)


def judge_slices(reference: Reference, one: Comparison) -> dict[str, Any]:
    """The judge's decisions on dev for every value of the metadata keys that can tell parts apart, as plain JSON.

    Keys with 2 to 20 values, those that most samples have first, 8 keys and 60 values at most; values of fewer than 10
    samples belong to the rest only. `skipped` names the keys left out, with the reason.
    """
    reason = _refusal(reference, one)
    units = list(one.decisions)
    columns, skipped = _columns(reference, units) if reason is None else ({}, [])
    if reason is None and not columns:
        reason = NO_KEY
    found = _slices(reference, one, units, columns) if reason is None else []
    return {
        "measure": MEASURE,
        "reason": reason,
        "tested": sum(part.p is not None for part in found),
        "slices": [_row(part) for part in found],
        "skipped": skipped[:MAX_KEYS],
        "skipped_in_all": len(skipped),
    }


def _refusal(reference: Reference, one: Comparison) -> str | None:
    if reference.passing is None:
        return NO_PASSES
    if not one.decisions:
        return one.row["at_threshold"]["reason"] or NOTHING_SAID
    return None if any(reference.evidence.metadata.values()) else NO_METADATA


def _slices(
    reference: Reference, one: Comparison, units: list[tuple[str, str]], columns: dict[str, list[Hashable]]
) -> list[Slice]:
    evidence = reference.evidence
    return slices_at_threshold(
        [float(one.decisions[unit]) for unit in units],
        [reference.positive[unit] for unit in units],
        [sample for sample, _ in units],
        0.5,
        columns,
        within="none",
        rng=generator(evidence.seed, "slices", evidence.criterion.key, *one.said.name),
    )


def _columns(
    reference: Reference, units: list[tuple[str, str]]
) -> tuple[dict[str, list[Hashable]], list[dict[str, Any]]]:
    """Of each key that is used the value of every unit, None where it has none or one of too few samples."""
    metadata = reference.evidence.metadata
    samples = {sample for sample, _ in units}
    counts: dict[str, dict[Hashable, int]] = {}
    for sample in sorted(samples):
        for key, value in metadata.get(sample, {}).items():
            values = counts.setdefault(key, {})
            values[value] = values.get(value, 0) + 1
    columns: dict[str, list[Hashable]] = {}
    skipped, slices = [], 0
    for key in sorted(counts, key=lambda key: (-sum(counts[key].values()), key)):
        large = {
            value: value
            for value, count in counts[key].items()
            if count >= MIN_CLUSTERS and len(samples) - count >= MIN_CLUSTERS
        }
        why = _unfit(len(counts[key]), len(large))
        if why is None and (len(columns) == MAX_KEYS or slices + len(large) > MAX_SLICES):
            why = "there are enough others"
        if why is not None:
            skipped.append({"key": key, "values": len(counts[key]), "reason": why})
            continue
        slices += len(large)
        columns[key] = [large.get(metadata.get(sample, {}).get(key)) for sample, _ in units]
    return columns, skipped


def _unfit(values: int, large: int) -> str | None:
    if values < MIN_VALUES:
        return "all samples that have it have the same value"
    if values > MAX_VALUES:
        return f"more than {MAX_VALUES} values"
    return None if large else f"no value has {MIN_CLUSTERS} samples and leaves as many"


def _row(part: Slice) -> dict[str, Any]:
    shown = ("kappa", "tpr", "tnr", "accuracy")
    return {
        "key": part.key,
        "value": part.value,
        "n": part.n,
        "samples": part.clusters,
        **{name: None if part.result is None else getattr(part.result, name).value for name in shown},
        "difference": part.kappa.as_dict(),
        "p_adjusted": part.p_adjusted,
        "worse": part.worse,
    }
