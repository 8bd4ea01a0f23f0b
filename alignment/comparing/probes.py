"""What a change that should not matter does to a judge's answers, beside what it says otherwise of itself."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from alignment.base.arrays import Floats, cluster_rows, finite
from alignment.base.estimate import Estimate, remark
from alignment.comparing.measured import compare_shares

#: Effects up to this share of the units are small, larger ones are named.
LEAST_EFFECT = 0.05
#: Of fewer groups there is no figure.
FEWEST_GROUPS = 10

ProbeVerdict = Literal["more", "less", "otherwise", "small", "cannot_tell"]


@dataclass(frozen=True, slots=True)
class ProbeEffect:
    """``effect``: the share of units that became better less that which became worse. ``flips``: the share that became
    otherwise either way, ``again`` that which did so where nothing had been changed, ``excess`` the first less the
    second. ``effect`` is None where nothing says what is better."""

    effect: Estimate | None
    flips: Estimate
    again: Estimate
    excess: Estimate
    verdict: ProbeVerdict


def probe_effect(
    flipped: ArrayLike, again: ArrayLike, gain: ArrayLike | None, group: ArrayLike, *, level: float = 0.95
) -> ProbeEffect:
    """From each unit's answers to what it is, to the same once more, and to what was changed, shape (units,).

    ``flipped`` and ``again``: whether (0 or 1) the changed one, and the repeated one, differs from the first. ``gain``:
    by how much the changed one is better than the first, -1 to 1. Differences are paired, clustered by ``group``, and
    have the intervals of ``compare_shares`` at ``level``: of few groups that differ no narrower than what may have been
    missed. With k probes whose 2k intervals are to hold together: 1 - .05/2k (Bonferroni).

    ``verdict``: *more* or *less* where the effect's interval lies beyond .05 on one side; else *otherwise* where that
    of the excess does; *small* where both end within .05; else it *cannot be told*.

    Undefined: fewer than ten groups. ValueError: values out of range, unequal lengths. Simulated coverage:
    bench/promises/probes.py.

    >>> found = probe_effect([1] * 30 + [0] * 70, [0] * 100, [1] * 30 + [0] * 70, range(100))
    >>> round(found.effect.value, 2), round(found.effect.low, 2), found.verdict
    (0.3, 0.21, 'more')
    """
    moved, noise = finite(flipped, "flipped"), finite(again, "again")
    gained = None if gain is None else finite(gain, "gain")
    groups = cluster_rows(group)[1]
    if groups < FEWEST_GROUPS:
        few = Estimate.undefined(remark("few_groups_probed", n=FEWEST_GROUPS), n=moved.size, clusters=groups)
        return ProbeEffect(None if gained is None else few, few, few, few, "cannot_tell")
    effect = None
    if gained is not None:
        effect = _difference(np.maximum(-gained, 0.0), np.maximum(gained, 0.0), group, level)[2]
    before, after, excess = _difference(noise, moved, group, level)
    return ProbeEffect(effect, after, before, excess, _verdict(effect, excess))


def _difference(before: Floats, after: Floats, group: ArrayLike, level: float) -> tuple[Estimate, Estimate, Estimate]:
    """Both shares, and the second less the first."""
    version, groups = np.repeat([0, 1], before.size), np.tile(np.asarray(group), 2)
    values = np.concatenate([before, after])
    found = compare_shares(version, groups, values, 2, comparison_level=level)
    return found.levels[0], found.levels[1], found.differences[0].figure


def _verdict(effect: Estimate | None, excess: Estimate) -> ProbeVerdict:
    figures = [one for one in (effect, excess) if one is not None]
    ends = [(one.low, one.high) for one in figures if one.low is not None and one.high is not None]
    if len(ends) < len(figures):
        return "cannot_tell"
    if effect is not None and ends[0][0] > LEAST_EFFECT:
        return "more"
    if effect is not None and ends[0][1] < -LEAST_EFFECT:
        return "less"
    if ends[-1][0] > LEAST_EFFECT:
        return "otherwise"
    within = all(low >= -LEAST_EFFECT for low, _ in ends[:-1]) and all(high <= LEAST_EFFECT for _, high in ends)
    return "small" if within else "cannot_tell"
