"""What share of units pass by people: these, others like them, and whatever becomes of what is not settled."""

from typing import Any

import numpy as np

from alignment.agreement.people_like_these import PeopleShare, share_by_people_like_these
from alignment.base.arrays import Floats, Ints, cluster_rows, first_places
from alignment.judging.weighted import weighted_mean
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
    settled = _of(reference, reference.positive.places, drawn)
    passed = reference.positive.values_at[settled].astype(np.float64)
    these = weighted_mean(passed, *_design(reference, settled, drawn), bounds=(0.0, 1.0))
    like_these = _like_these(reference, drawn)
    return {
        "these": these.as_dict(),
        "like_these": like_these.share.as_dict(),
        "people": like_these.people,
        "left_out": like_these.left_out,
        **_bounds(reference, settled, drawn),
    }


def _of(reference: Reference, places: Ints, drawn: bool) -> Ints:
    """Those of these units that count."""
    return places[reference.has_chance[places]] if drawn else places


def _design(reference: Reference, places: Ints, drawn: bool) -> tuple[Ints, Floats, Ints]:
    if drawn:
        return design_of(reference, places)
    return reference.group[places], np.ones(places.size), np.zeros(places.size, np.int64)


def _like_these(reference: Reference, drawn: bool) -> PeopleShare:
    passing = reference.passing
    assert passing is not None
    counts = ~reference.alone & reference.has_chance if drawn else ~reference.alone
    kept = counts[reference.rated][passing.unit]
    weight = 1 / _design(reference, reference.rated[passing.unit[kept]], drawn)[1]
    return share_by_people_like_these(passing.value[kept] == 1, passing.rater[kept], passing.cluster[kept], weight)


def _is_drawn_in_part(reference: Reference) -> bool:
    """Whether samples weigh alike, but some that were drawn have no label."""
    _, stratum = reference.chance
    return bool(stratum[reference.positive.places].any()) and bool(_skipped(reference))


def _skipped(reference: Reference) -> list[str]:
    """Drawn samples without any label."""
    return sorted(reference.evidence.chances.keys() - set(reference.units.samples))


def _bounds(reference: Reference, settled: Ints, drawn: bool) -> dict[str, Any]:
    evidence, (probability, stratum) = reference.evidence, reference.chance
    labelled = _of(reference, np.arange(len(reference.units)), drawn)
    undecided = labelled[~reference.positive.known[labelled]]
    weight, skipped, unlabelled = np.ones(len(reference.units)), list[str](), 0.0
    if drawn:
        # Labelled samples stand for closed ones of their stratum too (``Evidence.locked``).
        first = labelled[first_places(*cluster_rows(reference.units.sample[labelled]))]
        stands_for = np.bincount(stratum[first], 1 / probability[first])
        closed = np.bincount(
            np.array([one.stratum for one in evidence.nameless], dtype=np.int64),
            [1 / one.probability for one in evidence.nameless],
            stands_for.size,
        )
        share = closed[: stands_for.size][stratum[labelled]] / stands_for[stratum[labelled]]
        weight[labelled] = (1 + share) / probability[labelled]
        skipped = _skipped(reference)
        unlabelled = sum(1 / evidence.chances[sample].probability for sample in skipped) * len(labelled)
        unlabelled /= max(reference.samples_of(labelled).size, 1)
    # One after the other, as in every version: sums of arrays go by pairs.
    passed = sum(weight[settled[reference.positive.values_at[settled]]].tolist())
    unknown = sum(weight[undecided].tolist()) + unlabelled
    total = sum(weight[settled].tolist()) + unknown
    return {
        "undecided": undecided.size,
        "skipped": len(skipped),
        "none": passed / total if total else None,
        "every": (passed + unknown) / total if total else None,
    }
