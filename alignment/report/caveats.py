"""What to say beside a report's intervals when they rest on little."""

from collections.abc import Mapping, Sequence

import numpy as np

from alignment.base.caveats import interval_caveat, rarer_samples
from alignment.base.estimate import Remark, remark
from alignment.base.ratings import encode
from alignment.report.judged import Judged
from alignment.report.reference import Reference
from alignment.report.units import UnitKey


def caveat_of(judged: Judged, units: Sequence[UnitKey]) -> Remark | None:
    """For the judge's decisions on these units; None where none is needed, or no figure is."""
    group = judged.columns(units)[2]
    return interval_caveat(clusters=np.unique(group).size) if units else None


def caveat_of_auc(judged: Judged) -> Remark | None:
    """For how well its scores sort units, by people's pass and fail."""
    if judged.reference.passing is None or judged.answers_labels or not judged.decided:
        return None
    _, positive, samples = judged.columns(judged.decided)
    return interval_caveat(clusters=np.unique(samples).size, rarer=rarer_samples(positive, samples))


def caveat_of_judge(judged: Judged) -> Remark | None:
    """For the day-to-day figures: on dev; where there is no pass and fail, of a judge's labels by those people gave."""
    if judged.reference.passing is not None:
        return caveat_of(judged, judged.dev)
    human = judged.reference.labels()
    both = human.only(judged.scores.known)
    if not both:
        return None
    samples, values = judged.reference.group[both.places], encode(both.column)[0]
    rarer = rarer_samples(values, samples) if _is_ordered(judged.reference) else None
    return interval_caveat(clusters=np.unique(samples).size, rarer=rarer)


def caveat_of_people(reference: Reference) -> Remark | None:
    """For people's agreement with each other, on all values."""
    ratings = reference.ratings
    if not len(ratings):
        return None
    rarer = rarer_samples(ratings.value, ratings.cluster) if _is_ordered(reference) else None
    return interval_caveat(clusters=ratings.n_clusters, rarer=rarer)


def learned_remark(learned: Mapping[str, int]) -> Remark | None:
    """For a judge's figures on dev, of labels that a version was made from (``JudgeScores.learned``)."""
    if not learned:
        return None
    return remark(
        "learned_from_labels", rules=learned["rules"], examples=learned["examples"], samples=learned["samples"]
    )


def _is_ordered(reference: Reference) -> bool:
    """Weighted kappas and alpha of ordered levels don't know how far away the rare ones are."""
    return reference.ratings.scale in ("ordinal", "interval")
