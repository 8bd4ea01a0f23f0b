"""Everybody's labels, and the people whose figures a report lists by name."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from alignment.arrays import Floats, Ints, renumbered
from alignment.figures.reference import Reference
from alignment.figures.seeds import generator
from alignment.ratings import Ratings, encode

MAX_ANNOTATORS = 30


@dataclass(frozen=True, eq=False, slots=True)
class Listed:
    """``base``: the labels as agreement is measured on them, pass or fail where the criterion has passes.

    ``shown``: codes of the raters with the most units, those with the most first; ``names``: theirs. ``days``,
    ``seconds`` (NaN for None): as in the evidence, in the order of ``base``. ``place``: of each label its rater's
    place among those shown, after the last of them for everybody else.
    """

    reference: Reference
    base: Ratings
    shown: Ints
    names: list[str]
    units: list[int]
    samples: list[int]
    days: list[str | None]
    seconds: Floats
    place: Ints

    @property
    def rows(self) -> int:
        """Those shown, and all together."""
        return len(self.names) + 1

    def rng(self, figure: str) -> np.random.Generator:
        evidence = self.reference.evidence
        return generator(evidence.seed, "annotators", figure, evidence.criterion.key)


def listed_people(reference: Reference) -> Listed:
    """Of more than 30 people those with the most units are shown."""
    evidence = reference.evidence
    base = reference.ratings if reference.passing is None else reference.passing
    counts = np.bincount(base.rater, minlength=len(base.raters))
    order = sorted(range(len(base.raters)), key=lambda code: (-counts[code], base.raters[code]))
    shown = np.array(order[:MAX_ANNOTATORS], dtype=np.int64)
    places = np.full(len(base.raters), shown.size)
    places[shown] = np.arange(shown.size)
    sorting = _sorting(reference, base)
    days: Sequence[str | None] = evidence.days or [None] * len(base)
    gaps: Sequence[float | None] = evidence.seconds or [None] * len(base)
    return Listed(
        reference=reference,
        base=base,
        shown=shown,
        names=[base.raters[code] for code in shown],
        units=counts[shown].tolist(),
        samples=_samples(base)[shown].tolist(),
        days=[days[at] for at in sorting.tolist()],
        seconds=np.array([np.nan if gap is None else gap for gap in gaps], dtype=np.float64)[sorting],
        place=places[base.rater],
    )


def _sorting(reference: Reference, base: Ratings) -> Ints:
    """Where each of the ratings stands in the evidence: they are sorted by unit, then by rater."""
    code_of = {name: code for code, name in enumerate(base.raters)}
    rater = np.array([code_of[name] for name in reference.evidence.raters], dtype=np.int64)
    return np.lexsort((rater, encode(reference.evidence.units)[0]))


def _samples(base: Ratings) -> Ints:
    """How many samples each rater labelled."""
    present, cluster = renumbered(base.cluster)
    pairs, _ = renumbered(base.rater * max(present.size, 1) + cluster)
    return np.bincount(pairs // max(present.size, 1), minlength=len(base.raters))
