"""Labelled units as the part of all that they are: those whose sample has a known chance of being labelled, each with
it. Nothing else enters what a look, a certificate or a decision promises.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from alignment.base.estimate import remark
from alignment.report.evidence import Chance, Evidence, UnitKey
from alignment.report.reference import Reference

NO_KNOWN_CHANCE = remark("no_known_chance")
#: Where nobody knows how samples were drawn, figures are of what is labelled, and stand for nothing else.
ALIKE = Chance(1.0, 0)


class Drawn(NamedTuple):
    """Units, and of each its group, and how its sample was drawn."""

    units: list[UnitKey]
    cluster: list[str]
    probability: list[float]
    stratum: list[int]

    @property
    def design(self) -> tuple[list[str], list[float], list[int]]:
        """As ``weighted`` takes it."""
        return self.cluster, self.probability, self.stratum


def drawn(reference: Reference, units: Iterable[UnitKey]) -> Drawn:
    """Those of known chance; where it is known of no sample, all, by the same."""
    chances = reference.evidence.chances
    kept = [unit for unit in units if not chances or unit[0] in chances]
    of_unit = [chances.get(sample, ALIKE) for sample, _ in kept]
    return Drawn(kept, reference.clusters(kept), [one.probability for one in of_unit], [one.stratum for one in of_unit])


def settled_on(reference: Reference, *, is_dev: bool) -> list[UnitKey]:
    """What people settled on a side, scored or not."""
    sides = reference.evidence.is_dev
    return [unit for unit in reference.positive if sides.get(unit[0]) is is_dev]


def counted(evidence: Evidence, settled: Sequence[UnitKey]) -> dict[str, Any]:
    """How many of the settled units have a known chance, of how many samples, and how many have none."""
    known = [unit for unit in settled if unit[0] in evidence.chances]
    return {
        "units": len(known),
        "samples": len({sample for sample, _ in known}),
        "left_out": len(settled) - len(known),
    }
