"""Groups of which only a part was drawn: what may stand for a group where figures are means over groups."""

from collections import defaultdict
from collections.abc import Collection

from alignment.report.evidence import Evidence, generator
from alignment.report.units import UnitKey


def whole_or_by_lot(evidence: Evidence, units: Collection[UnitKey]) -> list[UnitKey]:
    """Of these units those by which their groups count, each group with one chance, that of its samples.

    Where samples are drawn and not groups, a large group is drawn in part more often than its samples' chance says,
    and its parts are not independent. So one of all its samples is chosen by lot, before anything is known of them,
    and the group counts by that one if it was drawn; one by one, samples have the chance that is kept. A group of which
    every sample was drawn by the same chance counts as a whole: so it is where whole groups are drawn, and where it is
    by luck, the one chosen by lot is among them, and is as good as any other.

    A group's samples are those that anything is known of (``Evidence.samples``, ``Evidence.groups``). Without chances
    all units are returned.
    """
    if not evidence.chances or not evidence.groups:
        return list(units)
    members: dict[str, list[str]] = defaultdict(list)
    for sample in sorted({*evidence.samples(), *evidence.groups}):
        members[evidence.group_of(sample)].append(sample)
    standing = {group: _standing(evidence, group, samples) for group, samples in members.items()}
    return [unit for unit in units if unit[0] in standing[evidence.group_of(unit[0])]]


def _standing(evidence: Evidence, group: str, samples: list[str]) -> list[str]:
    chances = {evidence.chances.get(sample) for sample in samples}
    if len(chances) == 1:
        return samples
    return [samples[generator(evidence.seed, "lot", group).integers(len(samples))]]
