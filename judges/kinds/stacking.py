"""Logistic stacking: from several judges' scores to one calibrated probability that people would pass the unit.

Fitted once, cross-fitted by sample, or by group where samples share one: a hash of its name gives its fold, which is
the same in every installation.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.utils.translation import gettext as _

# With fewer verdicts, weights are mostly chance: the rarer of pass and fail needs this many units, and this many for
# each member; and the units are of at least this many samples.
FEWEST_RARER = 10
RARER_PER_MEMBER = 5
FEWEST_SAMPLES = 20
FOLDS = 5


class NotStacked(Exception):
    """There is no fit on these data; its text says why, in a sentence."""


@dataclass(frozen=True, slots=True)
class Curve:
    """P(pass) = 1 / (1 + exp(−(intercept + Σ weight·(score − centre)/spread))), weights in the members' order."""

    intercept: float
    weights: Sequence[float]
    centres: Sequence[float]
    spreads: Sequence[float]

    def terms(self, scores: Sequence[float]) -> list[float]:
        """What each member adds to the log-odds."""
        return [
            weight * ((score - centre) / spread)
            for weight, score, centre, spread in zip(self.weights, scores, self.centres, self.spreads, strict=True)
        ]

    def probability(self, scores: Sequence[float]) -> float:
        height = self.intercept + math.fsum(self.terms(scores))
        # By the sign, so that no exponential overflows.
        return 1 / (1 + math.exp(-height)) if height >= 0 else 1 - 1 / (1 + math.exp(min(height, 700.0)))


@dataclass(frozen=True, slots=True)
class Stack:
    """whole: fitted on everything; folds: each without the samples of one fold. brier, brier_of_share: mean squared
    error of the cross-fitted probabilities, and of the share that passes taken for every unit."""

    whole: Curve
    folds: Sequence[Curve]
    units: int
    samples: int
    passing: int
    brier: float
    brier_of_share: float


def fold_of(seed: int, name: str) -> int:
    """0..FOLDS-1, of a sample by its own id, or of a group by its name."""
    digest = hashlib.blake2b(f"{seed}\x1fstack\x1f{name}".encode(), digest_size=8).digest()
    return int.from_bytes(digest) % FOLDS


def fit_stack(
    scores: Sequence[Sequence[float]], passes: Sequence[bool], samples: Sequence[str], members: Sequence[str], seed: int
) -> Stack:
    """scores: shape (units, members); passes, samples (or their groups): of each unit. members: their names, for error
    messages.

    Raises NotStacked.
    """
    table, target = np.asarray(scores, dtype=float).reshape(len(passes), len(members)), np.asarray(passes, dtype=bool)
    _require_enough(target, samples, members)
    for column, name in zip(table.T, members, strict=True):
        if np.ptp(column) == 0:
            raise NotStacked(_("%(member)s gives every one of these units the same score.") % {"member": name})
    fold = np.asarray([fold_of(seed, name) for name in samples])
    curves = []
    crossed = np.empty(len(target))
    for left_out in range(FOLDS):
        inside = fold == left_out
        if target[~inside].all() or not target[~inside].any():
            raise NotStacked(
                _("Without fold %(fold)d of %(folds)d, annotators pass all units or none.")
                % {"fold": left_out + 1, "folds": FOLDS}
            )
        curve = _fit(table[~inside], target[~inside])
        curves.append(curve)
        crossed[inside] = [curve.probability(row) for row in table[inside].tolist()]
    return Stack(
        whole=_fit(table, target),
        folds=curves,
        units=len(target),
        samples=len(set(samples)),
        passing=int(target.sum()),
        brier=float(np.mean((crossed - target) ** 2)),
        brier_of_share=float(target.mean() * (1 - target.mean())),
    )


def _require_enough(target: Any, samples: Sequence[str], members: Sequence[str]) -> None:
    passing, failing = int(target.sum()), int((~target).sum())
    if not passing or not failing:
        raise NotStacked(
            _(
                "Annotators pass all or none of the %(units)d dev units that all members scored, so nothing can be "
                "learnt."
            )
            % {"units": len(target)}
        )
    rarer = max(FEWEST_RARER, RARER_PER_MEMBER * len(members))
    if min(passing, failing) < rarer or len(set(samples)) < FEWEST_SAMPLES:
        raise NotStacked(
            _(
                "Too few dev verdicts: %(passing)d units pass and %(failing)d fail, of %(samples)d samples. It takes "
                "%(rarer)d of each, from %(fewest)d samples."
            )
            % {
                "passing": passing,
                "failing": failing,
                "samples": len(set(samples)),
                "rarer": rarer,
                "fewest": FEWEST_SAMPLES,
            }
        )


def _fit(table: Any, target: Any) -> Curve:
    """Maximum likelihood with a weak penalty on standardised scores, so that it exists even where the members tell
    passes from fails without an error."""
    # It takes two seconds to load, which would slow every page that lists this kind of judge.
    from sklearn.linear_model import LogisticRegression

    centres = table.mean(0)
    spreads = table.std(0)
    # A member that is constant without one fold.
    spreads[spreads == 0] = 1.0
    model = LogisticRegression(C=1.0, tol=1e-8, max_iter=1000)
    model.fit((table - centres) / spreads, target.astype(np.int64))
    return Curve(
        intercept=float(model.intercept_[0]),
        weights=model.coef_[0].tolist(),
        centres=centres.tolist(),
        spreads=spreads.tolist(),
    )
