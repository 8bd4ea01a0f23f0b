"""What to say beside a report's intervals when they rest on little."""

from alignment.base.caveats import interval_caveat, rarer_samples
from alignment.base.estimate import Remark
from alignment.base.ratings import encode
from alignment.report.evidence import UnitKey
from alignment.report.judged import Judged
from alignment.report.reference import Reference


def caveat_of(judged: Judged, units: list[UnitKey]) -> Remark | None:
    """For the judge's figures on these units, by people's pass and fail; None where none is needed, or no figure is."""
    if not units:
        return None
    _, positive, samples = judged.columns(units)
    return interval_caveat(clusters=len(set(samples)), rarer=rarer_samples(positive, samples))


def caveat_of_judge(judged: Judged) -> Remark | None:
    """For the day-to-day figures: on dev; where there is no pass and fail, of a judge's labels by those people gave."""
    if judged.reference.passing is not None:
        return caveat_of(judged, judged.dev)
    human = judged.reference.labels()
    units = [unit for unit in judged.labels if unit in human]
    if not units:
        return None
    samples, values = judged.reference.clusters(units), encode([human[unit] for unit in units])[0]
    return interval_caveat(clusters=len(set(samples)), rarer=rarer_samples(values, samples))


def caveat_of_people(reference: Reference) -> Remark | None:
    """For people's agreement with each other, on all values."""
    ratings = reference.ratings
    if not len(ratings):
        return None
    return interval_caveat(clusters=ratings.n_clusters, rarer=rarer_samples(ratings.value, ratings.cluster))
