"""Dev and test: each sample is put on a side once, and stays there."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from alignment import dev_test_split
from annotate.models import Criterion
from judges.models import SplitMember

DEV_SHARE = 0.5


def divide(criterion: Criterion, strata: Mapping[int, bool], names: Mapping[int, str]) -> dict[int, bool]:
    """Whether each sample is dev, by its id. Samples that have no side yet get one now, and keep it: what a threshold
    was chosen on must not become what it is measured on, whatever is labelled later.

    The first division is stratified; those who come later are drawn one by one, by their own id and the project's seed,
    so that neither order nor company decides.

    strata: sample id -> whether most of its units pass. names: sample id -> its own id in the project, by which the
    same data are divided the same way in another installation.
    """
    sides = _stored(criterion)
    new = sorted(strata.keys() - sides.keys(), key=lambda sample: names[sample])
    if new:
        seed = abs(criterion.project.seed)
        if sides:
            chosen = [_drawn(seed, names[sample]) for sample in new]
        else:
            chosen = dev_test_split(
                [names[sample] for sample in new], [strata[sample] for sample in new], seed=seed, dev_share=DEV_SHARE
            ).tolist()
        SplitMember.objects.bulk_create(
            (
                SplitMember(criterion=criterion, sample_id=sample, is_dev=is_dev)
                for sample, is_dev in zip(new, chosen, strict=True)
            ),
            batch_size=5000,
            ignore_conflicts=True,
        )
        # Read again: where two did this at once, the first one's side counts.
        sides = _stored(criterion)
    return sides


def _drawn(seed: int, name: str) -> bool:
    digest = hashlib.blake2b(f"{seed}\x1f{name}".encode(), digest_size=8).digest()
    return int.from_bytes(digest) / 2**64 < DEV_SHARE


def _stored(criterion: Criterion) -> dict[int, bool]:
    return dict(SplitMember.objects.filter(criterion=criterion).values_list("sample_id", "is_dev"))
