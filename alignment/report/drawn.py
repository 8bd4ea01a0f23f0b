"""Labelled units as the part of all that they are: those whose sample has a known chance of being labelled, each with
it. Nothing else enters what a look, a certificate or a decision promises.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from alignment.base.arrays import Floats, Ints
from alignment.base.coded import Coded
from alignment.base.estimate import remark
from alignment.report.evidence import Chance
from alignment.report.reference import DEV, TEST, Reference
from alignment.report.units import UnitKey

NO_KNOWN_CHANCE = remark("no_known_chance")
#: Where nobody knows how samples were drawn, figures are of what is labelled, and stand for nothing else.
ALIKE = Chance(1.0, 0)


class Drawn(NamedTuple):
    """Units, and of each its group, and how its sample was drawn."""

    units: Coded[UnitKey]
    cluster: Ints
    probability: Floats
    stratum: Ints

    @property
    def design(self) -> tuple[Ints, Floats, Ints]:
        """As ``weighted`` takes it."""
        return self.cluster, self.probability, self.stratum

    @property
    def places(self) -> Ints:
        """Of the units, among those of the reference."""
        return self.units.codes.astype(np.int64)


def drawn(reference: Reference, units: Iterable[UnitKey]) -> Drawn:
    """Those of known chance; where it is known of no sample, all, by the same."""
    places, (probability, stratum) = reference.units.places(units), reference.chance
    if reference.evidence.chances:
        places = places[reference.has_chance[places]]
        design = probability[places], stratum[places]
    else:
        design = np.full(places.size, ALIKE.probability), np.full(places.size, ALIKE.stratum)
    return Drawn(reference.units.at(places), reference.group[places], *design)


def settled_on(reference: Reference, *, is_dev: bool) -> Coded[UnitKey]:
    """What people settled on a side, scored or not."""
    return reference.units.at(np.flatnonzero(reference.positive.known & (reference.side == (DEV if is_dev else TEST))))


def counted(reference: Reference, settled: Iterable[UnitKey]) -> dict[str, Any]:
    """How many of the settled units have a known chance, of how many samples, and how many have none."""
    places = reference.units.places(settled)
    known = places[reference.has_chance[places]]
    return {
        "units": known.size,
        "samples": reference.samples_of(known).size,
        "left_out": places.size - known.size,
    }
