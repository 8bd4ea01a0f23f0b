"""What to say beside a report's intervals when they rest on little."""

from alignment.caveats import interval_caveat, rarer_samples
from alignment.figures.evidence import UnitKey
from alignment.figures.judged import Judged
from alignment.figures.reference import Reference


def caveat_of(judged: Judged, units: list[UnitKey]) -> str | None:
    """For the judge's figures on these units, by people's pass and fail; None where none is needed, or no figure is."""
    if not units:
        return None
    _, positive, samples = judged.columns(units)
    return interval_caveat(clusters=len(set(samples)), rarer=rarer_samples(positive, samples))


def caveat_of_judge(judged: Judged) -> str | None:
    """For the day-to-day figures: on dev; where there is no pass and fail, of a judge's labels by those people gave."""
    if judged.reference.passing is not None:
        return caveat_of(judged, judged.dev)
    human = judged.reference.labels()
    units = [unit for unit in judged.labels if unit in human]
    if not units:
        return None
    samples, codes = [sample for sample, _ in units], {value: code for code, value in enumerate(set(human.values()))}
    return interval_caveat(
        clusters=len(set(samples)), rarer=rarer_samples([codes[human[unit]] for unit in units], samples)
    )


def caveat_of_people(reference: Reference) -> str | None:
    """For people's agreement with each other, on all values."""
    ratings = reference.ratings
    if not len(ratings):
        return None
    samples = len({sample for sample, _ in reference.evidence.units})
    return interval_caveat(clusters=samples, rarer=rarer_samples(ratings.value, ratings.cluster))
