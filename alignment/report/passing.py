"""What share of units pass by people: these, others like them, and whatever becomes of what is not settled."""

from collections import defaultdict
from typing import Any, cast

import numpy as np

from alignment.agreement.people_like_these import PeopleShare, share_by_people_like_these
from alignment.judging.weighted import weighted_mean
from alignment.report.evidence import UnitKey
from alignment.report.planned import design_of, is_drawn
from alignment.report.reference import NO_PASSES, Reference


def passing_figures(reference: Reference) -> dict[str, Any]:
    """{"reason", "labelled", "all"} as plain JSON; ``reason``: why there is nothing, as without passing values.

    ``labelled``: of the labelled units, each alike. ``all``: of all samples, by what each drawn one stands for
    (``Evidence.chances``); None without a draw, and where it is the same. Each has

    - ``these``: the share of settled units that pass, as these people settle them; the interval is over samples alone.
    - ``like_these``: the share of a person's labels that pass, over samples and people; ``people``: how many it rests
      on; ``left_out``: how many labelled too little. Labels that settle nothing by themselves don't count.
    - ``undecided``: units that are labelled and not settled, or split in half; ``skipped``: drawn samples without any
      label; ``none``, ``every``: the share if none, or every one, of all these came to pass. A skipped sample is taken
      to have as many units as a labelled one has on average.
    """
    if reference.passing is None:
        return {"reason": NO_PASSES, "labelled": None, "all": None}
    speaks_for_all = is_drawn(reference) or _is_drawn_in_part(reference)
    of_all = _shares(reference, True) if speaks_for_all else None
    return {"reason": None, "labelled": _shares(reference, False), "all": of_all}


def _shares(reference: Reference, drawn: bool) -> dict[str, Any]:
    settled = _of(reference, list(reference.positive), drawn)
    passed = [float(reference.positive[unit]) for unit in settled]
    these = weighted_mean(passed, *_design(reference, settled, drawn), bounds=(0.0, 1.0))
    like_these = _like_these(reference, drawn)
    return {
        "these": these.as_dict(),
        "like_these": like_these.share.as_dict(),
        "people": like_these.people,
        "left_out": like_these.left_out,
        **_bounds(reference, settled, drawn),
    }


def _of(reference: Reference, units: list[UnitKey], drawn: bool) -> list[UnitKey]:
    chances = reference.evidence.chances
    return [unit for unit in units if unit[0] in chances] if drawn else units


def _design(reference: Reference, units: list[UnitKey], drawn: bool) -> tuple[list[str], list[float], list[int]]:
    if drawn:
        return design_of(reference, units)
    return reference.clusters(units), [1.0] * len(units), [0] * len(units)


def _like_these(reference: Reference, drawn: bool) -> PeopleShare:
    passing, chances = reference.passing, reference.evidence.chances
    assert passing is not None
    units = cast("tuple[UnitKey, ...]", passing.unit_ids)
    unsettled = reference.evidence.unsettled if reference.evidence.settled_only else {}
    counts = [unsettled.get(unit) in (None, "open") and (not drawn or unit[0] in chances) for unit in units]
    kept = np.array(counts, dtype=np.bool_)[passing.unit]
    _, probability, _ = _design(reference, [units[code] for code in passing.unit[kept].tolist()], drawn)
    return share_by_people_like_these(
        passing.value[kept], passing.rater[kept], passing.cluster[kept], 1 / np.array(probability, dtype=np.float64)
    )


def _is_drawn_in_part(reference: Reference) -> bool:
    """Whether samples weigh alike, but some that were drawn have no label."""
    chances = reference.evidence.chances
    labelled = {sample for sample, _ in reference.positive} & chances.keys()
    return any(chances[sample].stratum for sample in labelled) and bool(_skipped(reference))


def _skipped(reference: Reference) -> list[str]:
    """Drawn samples without any label."""
    return sorted(reference.evidence.chances.keys() - {sample for sample, _ in reference.units})


def _bounds(reference: Reference, settled: list[UnitKey], drawn: bool) -> dict[str, Any]:
    chances = reference.evidence.chances
    labelled = _of(reference, reference.units, drawn)
    undecided = [unit for unit in labelled if unit not in reference.positive]
    seen = {sample for sample, _ in labelled}
    skipped = _skipped(reference) if drawn else []

    # Labelled samples stand for closed ones of their stratum too (``Evidence.locked``).
    stands_for: dict[int, float] = defaultdict(float)
    for sample in seen if drawn else ():
        stands_for[chances[sample].stratum] += 1 / chances[sample].probability
    closed: dict[int, float] = defaultdict(float)
    for chance in reference.evidence.nameless if drawn else ():
        closed[chance.stratum] += 1 / chance.probability

    def weight(sample: str) -> float:
        if not drawn:
            return 1.0
        probability, stratum = chances[sample]
        share = closed[stratum] / stands_for[stratum] if sample in seen else 0.0
        return (1 + share) / probability

    passed = sum(weight(unit[0]) for unit in settled if reference.positive[unit])
    unknown = sum(weight(sample) for sample, _ in undecided)
    unknown += sum(weight(sample) for sample in skipped) * len(labelled) / max(len(seen), 1)
    total = sum(weight(sample) for sample, _ in settled) + unknown
    return {
        "undecided": len(undecided),
        "skipped": len(skipped),
        "none": passed / total if total else None,
        "every": (passed + unknown) / total if total else None,
    }
