"""A certified judge at work: its new scores, what share of them would pass by people, and whether it errs more often
than was certified, by labels that came in since.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np

from alignment.base.arrays import Bools, Floats, Ints
from alignment.base.caveats import interval_caveat
from alignment.base.estimate import Estimate, Remark
from alignment.base.tables import FN, FP, TP
from alignment.calibration.calibrators import Calibrator
from alignment.judging.drift import watch_drift
from alignment.judging.prevalence import CorrectedRate, corrected_rate
from alignment.judging.threshold import decide
from alignment.judging.triage import far_from
from alignment.report.decisions import decisions_at
from alignment.report.drawn import ALIKE
from alignment.report.evidence import Chance, JudgeScores
from alignment.report.judged import Judged
from alignment.report.reference import Reference
from alignment.report.units import UnitKey

ALPHA = 0.05


@dataclass(frozen=True, eq=False, slots=True)
class Applied:
    """Arrays of shape (scores,). probability and grade (a position among the criterion's levels) are None where the
    certificate has no calibrator for them; in_region where it has no region. caveat: what to say beside the rate."""

    verdict: Bools
    probability: Floats | None
    grade: Ints | None
    in_region: Bools | None
    rate: CorrectedRate
    caveat: Remark | None


def applied(
    result: Mapping[str, Any],
    test: Mapping[str, Sequence[int]],
    scores: Sequence[float],
    samples: Sequence[str | None],
    *,
    chances: Mapping[str, tuple[float, int]],
    higher_is_better: bool,
    passes: Sequence[bool] | None = None,
    groups: Mapping[str, str],
) -> Applied:
    """What a look makes of new scores.

    ``result``, ``test`` and ``chances`` are the look's row, cells and chances (``looked``). ``samples`` names the
    sample of each score, None for one that stands alone; scores of one sample, and test units of the same sample, are
    one cluster, and so are all of samples of one group (``groups``, as in Evidence). ``passes``: of a judge that
    answers with labels, whether each of them passes.

    ``rate`` is of the whole batch: the share that the judge passes, and the share that people would pass, corrected for
    the judge's errors on test (``corrected_rate``), in which a test unit weighs one over the chance of its sample.
    """
    given = np.asarray(scores, dtype=np.float64)
    threshold = result["threshold"]
    if threshold is None:
        assert passes is not None
        verdict = np.asarray(passes, dtype=np.bool_)
    else:
        verdict = decide(given, threshold, higher_is_better)
    stored = (result[name]["calibrator"] for name in ("calibrated", "cutpoints"))
    calibrator, cuts = (None if one is None else Calibrator.from_dict(one) for one in stored)
    distance = result["region"]["distance"]
    cells = [(sample, cell) for sample, counts in test.items() for cell, n in enumerate(counts) for _ in range(n)]
    judge, people = (np.array([cell in passed for _, cell in cells], dtype=np.bool_) for passed in ((FP, TP), (FN, TP)))
    code: dict[Hashable, int] = {}
    drawn = [Chance(*chances[sample]) if chances else ALIKE for sample, _ in cells]
    labelled = [code.setdefault(groups.get(sample, sample), len(code)) for sample, _ in cells]
    # A score without a sample is named by its place, which no sample's name equals.
    others = [
        code.setdefault(place if name is None else groups.get(name, name), len(code))
        for place, name in enumerate(samples)
    ]
    return Applied(
        verdict=verdict,
        probability=None if calibrator is None else calibrator.probability(given),
        grade=None if cuts is None else cuts.verdict(given),
        in_region=None if distance is None else far_from(given, threshold, distance),
        rate=corrected_rate(
            judge,
            people,
            labelled,
            verdict,
            others,
            probability=[chance.probability for chance in drawn],
            stratum=[chance.stratum for chance in drawn],
            interval="jackknife",
        ),
        # By the groups on test.
        caveat=interval_caveat(clusters=len(set(labelled))),
    )


@dataclass(frozen=True, slots=True)
class Audit:
    """error: share of a sample's decisions that are wrong, averaged over the audited samples; its n counts units.
    settled, scored, failed: of how many units people are done, how many of them the judge scored, and how many it was
    asked about without a score; groups: those that they are of.

    alarm: the first labels of the sample by which it is shown that this is more than was certified; None: it is not.
    streaks: it would be, had errors not come in a row or all at once; a rise can't be told from a streak.
    """

    error: Estimate
    settled: int
    scored: int
    failed: int
    groups: int
    alarm: datetime | None
    streaks: bool


def audited(
    reference: Reference,
    said: JudgeScores,
    threshold: float | None,
    arrived: Mapping[UnitKey, datetime],
    certified: float,
) -> Audit:
    """The judge's decisions against people's, in the order in which people's first labels came (``arrived``, of the
    units to be counted, settled or not). The chance of a false alarm is at most 5 %, however often one looks, also
    where errors come in streaks, and where what people differ on is settled late. What the judge was asked about and
    did not score is decided wrongly, as in the rate that was certified; what it was not asked about is in neither.

    ``threshold``: the certified one, None for a judge that answers with labels. ``certified``: the error rate not to be
    exceeded, between 0 and 1.
    """
    # A label of a judge that was certified on scores is a failure, and the other way round.
    judged = Judged(reference, replace(said, numbers={}) if threshold is None else replace(said, labels={}))
    units = sorted(arrived.keys() & said.asked)
    scored = [unit for unit in units if unit in judged.scores]
    decisions = decisions_at(judged, scored, threshold)
    positive = reference.positive
    waiting = [unit not in positive for unit in units]
    wrong = [unit in positive and decisions.get(unit) != positive[unit] for unit in units]
    moments = sorted({arrived[unit] for unit in units})
    place = {moment: at for at, moment in enumerate(moments)}
    order = np.array([place[arrived[unit]] for unit in units], dtype=np.int64)
    clusters = reference.clusters(units)
    watch = watch_drift(wrong, clusters, order, certified, waiting=waiting, alpha=ALPHA)
    settled = sorted(arrived.keys() & positive.keys())
    return Audit(
        error=watch.error,
        settled=len(settled),
        scored=len(positive.keys() & set(scored)),
        failed=len(positive.keys() & set(units) - set(scored)),
        groups=len(set(reference.clusters(settled))),
        alarm=None if watch.alarm is None else moments[int(watch.arrived[watch.alarm])],
        streaks=watch.streaks,
    )
