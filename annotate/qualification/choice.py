"""Which samples a training, a test and each try are made of, from those with known answers."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence

# Sample -> the (criterion, option) pairs of its known answers.
Options = Mapping[int, Collection[tuple[Hashable, str]]]


def draw(options: Options, n: int, rng: random.Random) -> list[int]:
    """n of the samples, or all if there are fewer, in random order: with every option, if so few can hold it, and else
    a fair share of each, so that later draws from what is left find them, too."""
    order = _rarest_first(options, rng)
    chosen = _cover(options, order, n)
    chosen += _spread([sample for sample in order if sample not in chosen], n - len(chosen))
    rng.shuffle(chosen)
    return chosen


def split(
    options: Options, groups: Mapping[int, Hashable], *, training: int, test: int, rng: random.Random
) -> tuple[list[int], list[int]]:
    """Samples to train and to test with, as far as there are so many: no group of samples in both, and every option in
    both, if it can be. groups: of the samples that have one."""

    def apart(samples: Sequence[int]) -> list[int]:
        taken = {groups.get(sample, sample) for sample in samples}
        return [sample for sample in order if groups.get(sample, sample) not in taken]

    order = _rarest_first(options, rng)
    tested = _cover(options, order, test)
    trained = _cover(options, apart(tested), training)
    tested += _spread([sample for sample in apart(trained) if sample not in tested], test - len(tested))
    trained += _spread([sample for sample in apart(tested) if sample not in trained], training - len(trained))
    return trained, tested


def varied(options: Options, samples: Sequence[int]) -> set[Hashable]:
    """The criteria of which the samples hold two options or more: without them kappa is undefined."""
    held = {pair for sample in samples for pair in options[sample]}
    return {criterion for criterion, n in Counter(criterion for criterion, _option in held).items() if n >= 2}


def _rarest_first(options: Options, rng: random.Random) -> list[int]:
    counts = Counter(pair for found in options.values() for pair in set(found))
    order = sorted(options)
    rng.shuffle(order)
    return sorted(order, key=lambda sample: min((counts[pair] for pair in options[sample]), default=0))


def _cover(options: Options, order: Sequence[int], most: int) -> list[int]:
    """A few samples that hold every option, the rarest first."""
    chosen: list[int] = []
    held: set[tuple[Hashable, str]] = set()
    for sample in order:
        if len(chosen) < most and not held.issuperset(options[sample]):
            chosen.append(sample)
            held.update(options[sample])
    return chosen


def _spread(order: Sequence[int], n: int) -> list[int]:
    """n of them at even distances."""
    n = max(0, min(n, len(order)))
    return [order[int((place + 0.5) * len(order) / n)] for place in range(n)]
