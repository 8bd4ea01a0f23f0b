"""Whether a judge errs more often than was certified, by labels that came in since."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from alignment.drift import watch_drift
from alignment.estimate import Estimate
from alignment.figures.decisions import decisions_at
from alignment.figures.evidence import JudgeScores, UnitKey
from alignment.figures.judged import Judged
from alignment.figures.reference import Reference

ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Audit:
    """error: share of a sample's decisions that are wrong, averaged over the audited samples; its n counts units.

    alarm: when it was shown for the first time that this is more than was certified; None: it was not.
    """

    error: Estimate
    alarm: datetime | None


def audited(
    reference: Reference,
    said: JudgeScores,
    threshold: float | None,
    arrived: Mapping[UnitKey, datetime],
    certified: float,
) -> Audit:
    """The judge's decisions against people's, in the order in which people's became known (``arrived``, of the units
    to be counted). The chance of a false alarm is at most 5 %, however often one looks.

    ``threshold``: the certified one, None for a judge that answers with labels. ``certified``: the error rate not to be
    exceeded, between 0 and 1.
    """
    # A label of a judge that was certified on scores is a failure, and the other way round.
    judged = Judged(reference, replace(said, numbers={}) if threshold is None else replace(said, labels={}))
    units = [unit for unit in judged.decided if unit in arrived]
    decisions = decisions_at(judged, units, threshold)
    wrong = [decisions[unit] != reference.positive[unit] for unit in units]
    moments = sorted({arrived[unit] for unit in units})
    place = {moment: at for at, moment in enumerate(moments)}
    order = np.array([place[arrived[unit]] for unit in units], dtype=np.int64)
    watch = watch_drift(wrong, [sample for sample, _ in units], order, certified, alpha=ALPHA)
    alarm = None if watch.alarm is None else moments[int(watch.arrived[watch.alarm])]
    return Audit(watch.error, alarm)
