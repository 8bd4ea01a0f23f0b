"""Dev and test: each sample is put on a side once, and stays there."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence

import alignment
from annotate.models import Criterion
from annotate.samples.read import samples_named
from judges.models import SplitMember

DEV_SHARE = 0.5


def divide(criterion: Criterion, strata: Mapping[str, bool]) -> dict[str, bool]:
    """Whether each sample is dev, by its own id. Samples that have no side yet get one now, and keep it: a threshold
    must never be measured on the samples that it was chosen on, whatever is labelled later.

    The first division is stratified. Later samples are taken in an order drawn by the project's seed, and each gets the
    side that has too few of its stratum; where neither has, a draw decides. So the division stays stratified even when
    the first report was opened with a single label.

    strata: the sample's own id -> whether most of its units pass. By that id the same data are divided the same way in
    every installation.
    """
    sides = sides_of(criterion)
    new = _new_sides(criterion, sides, strata)
    if not new:
        return sides
    ids = dict(samples_named(criterion.project, new).values_list("external_id", "pk"))
    SplitMember.objects.bulk_create(
        (SplitMember(criterion=criterion, sample_id=ids[name], is_dev=is_dev) for name, is_dev in new.items()),
        batch_size=5000,
        ignore_conflicts=True,
    )
    # Read again: where two processes did this at once, the first one's side counts.
    return sides_of(criterion)


def as_divided(criterion: Criterion, strata: Mapping[str, bool]) -> dict[str, bool]:
    """What `divide` would return now. Nothing is stored, so samples without a side may get another one later."""
    sides = sides_of(criterion)
    return {**sides, **_new_sides(criterion, sides, strata)}


def _new_sides(criterion: Criterion, sides: Mapping[str, bool], strata: Mapping[str, bool]) -> dict[str, bool]:
    new = sorted(strata.keys() - sides.keys())
    if not new:
        return {}
    seed = abs(criterion.project.seed)
    if sides:
        chosen = _balanced(seed, new, sides, strata)
    else:
        chosen = alignment.dev_test_split(new, [strata[name] for name in new], seed=seed, dev_share=DEV_SHARE).tolist()
    return dict(zip(new, chosen, strict=True))


def _balanced(seed: int, new: Sequence[str], sides: Mapping[str, bool], strata: Mapping[str, bool]) -> list[bool]:
    """The sides of the new samples, in their order."""
    count = Counter((strata[name], is_dev) for name, is_dev in sides.items() if name in strata)
    chosen = {}
    for name in sorted(new, key=lambda name: drawn(seed, name)):
        dev, test = count[strata[name], True], count[strata[name], False]
        due = DEV_SHARE * (dev + test + 1)
        # The number due lies between two whole numbers, and the draw picks one of them in proportion.
        is_dev = dev + drawn(seed, name, "side") < due
        chosen[name] = is_dev
        count[strata[name], is_dev] += 1
    return [chosen[name] for name in new]


def drawn(seed: int, name: str, what: str = "order") -> float:
    """Between 0 and 1, the same in every installation."""
    digest = hashlib.blake2b(f"{seed}\x1f{what}\x1f{name}".encode(), digest_size=8).digest()
    return int.from_bytes(digest) / 2**64


def sides_of(criterion: Criterion) -> dict[str, bool]:
    """Whether each sample that has a side is dev; nothing is drawn."""
    return dict(SplitMember.objects.filter(criterion=criterion).values_list("sample__external_id", "is_dev"))
