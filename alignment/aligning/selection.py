"""Choosing one of several candidates for a judge on dev, and what such a choice is worth, without looking at test."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from alignment.agreement.cohen import kappa_statistic
from alignment.base.arrays import Floats, Ints, cluster_rows, first_places, level_positions, same_length
from alignment.base.estimate import Estimate
from alignment.base.interval import NO_SPREAD, normal_quantile
from alignment.base.tables import disagreement
from alignment.base.totals import Totals
from alignment.judging.paired import PairedLabels, paired_labels

#: In a candidate's row: it has no answer on the unit.
NO_ANSWER = -1
#: Draws of what the procedure's gain is where no candidate is better than the start.
DRAWS = 4_000


@dataclass(frozen=True, eq=False, slots=True)
class Choice:
    """``candidate`` and ``best``: places in the order of simplicity; ``best`` has the greatest kappa. ``kappa`` of each
    with people, NaN where undefined, and ``error``: the paired standard error of its difference to the best's; both of
    shape (candidates,)."""

    candidate: int
    best: int
    kappa: Floats
    error: Floats


@dataclass(frozen=True, eq=False, slots=True)
class Selection:
    """What choosing comes to.

    ``choice``: from all folds, which is the candidate to take. ``of_folds``: what is chosen without each fold, by the
    same rule. ``before``: kappa of the start with people; ``after``: of the procedure, whose answers on a fold are
    those of what was chosen without it; ``gain``: after less before. ``same_labels``: kappa of the best candidate on
    the very labels that it was made and chosen from, None where nobody asked for it: what is claimed where nothing is
    held back.
    """

    choice: Choice
    of_folds: tuple[int, ...]
    before: Estimate
    after: Estimate
    gain: Estimate
    same_labels: float | None


def choose(people: ArrayLike, answers: ArrayLike, cluster: ArrayLike, levels: int) -> Choice:
    """The simplest candidate whose kappa is within one paired standard error of the best one's.

    ``people``, shape (units,), holds positions in the levels; ``answers``, shape (candidates, units), too, or
    ``NO_ANSWER``, which counts as wrong: as the opposite of two levels, as a level of its own of more. Candidates come
    in the order of simplicity, the start (no change) first. The standard error of kappa_c - kappa_best is the
    jackknife's over clusters, so that what makes all candidates err on a unit cancels. Where every kappa is undefined
    the first is chosen.

    ValueError: no candidate, unequal lengths, positions that are no level.

    Source: one-standard-error rule, Breiman, Friedman, Olshen & Stone (1984), Classification and Regression Trees,
    §3.4.3; here with the error of the difference, as both are measured on the same units.

    >>> people = [0, 1] * 20
    >>> start, better = [0] * 40, [0, 1] * 19 + [0, 0]
    >>> choose(people, [start, better, better], range(40), 2).candidate
    1
    """
    human, said, row = _columns(people, answers, cluster, levels)
    return _chosen(*_kappas(human, said, row, levels))


def select(
    people: ArrayLike,
    answers: ArrayLike,
    cluster: ArrayLike,
    fold: ArrayLike,
    levels: int,
    rng: np.random.Generator,
    *,
    same_labels: ArrayLike | None = None,
    level: float = 0.95,
) -> Selection:
    """``choose``, with the figure of the whole procedure.

    As ``choose``; ``answers`` are cross-validated: of each unit, what the candidate says whose examples and rules come
    from the other folds alone. ``fold``, shape (units,), is the same for all units of a cluster. For each fold a
    candidate is chosen on the others, and answers on it: those answers together are the procedure's, which did not
    see the labels that it is measured by. (What was made without a fold did see the fold that it is chosen for, though
    it is not measured there.) The first candidate is the start. ``same_labels``, of the shape of ``answers``: what
    candidates made from all labels say on the same units.

    The folds' gains hang together, as what is lucky on one is chosen for the others: an interval that takes the
    procedure's answers as given is too narrow (with candidates that are no better than the start up to 6 % of 95 %
    intervals lie above 0, not 2.5). So that of ``gain`` is as many standard errors wide as the gain of the same
    procedure is from 0, in 95 % of draws, where no candidate differs from the start but by chance: groups' jackknife
    influences times random signs, chosen from and measured fold by fold. The other intervals are the jackknife's.

    ValueError: fewer than two folds, a cluster in two of them, and as ``choose``.

    Source: nested cross-validation, Varma & Simon (2006), BMC Bioinformatics 7; why not the best figure itself:
    Cawley & Talbot (2010), JMLR 11; why not the plain interval: Bates, Hastie & Tibshirani (2024), JASA 119; random
    signs: Wu (1986), Annals of Statistics 14.

    >>> people = [0, 1] * 20
    >>> found = select(people, [[0] * 40, people], range(40), [0, 0, 1, 1] * 10, 2, np.random.default_rng(1))
    >>> found.choice.candidate, found.of_folds, found.before.value, found.after.value
    (1, (1, 1), 0.0, 1.0)
    """
    human, said, row = _columns(people, answers, cluster, levels)
    folds, of_fold = np.unique(np.asarray(fold), return_inverse=True)
    same_length(people=human, fold=of_fold)
    fold_of_row = of_fold[first_places(row, int(row.max()) + 1)]
    if folds.size < 2:
        raise ValueError(f"at least 2 folds, not {folds.size}")
    if (fold_of_row[row] != of_fold).any():
        raise ValueError("a cluster lies in two folds")
    chosen = [
        choose(human[apart], said[:, apart], row[apart], levels).candidate
        for apart in (of_fold != one for one in range(folds.size))
    ]
    procedure = said[np.array(chosen)[of_fold], np.arange(human.size)]
    kappas, moved = _kappas(human, said, row, levels)
    errors = _errors_without_gain(moved, fold_of_row, rng, level)

    def compared(at: float) -> PairedLabels:
        return paired_labels(
            human.tolist(),
            said[0].tolist(),
            procedure.tolist(),
            row.tolist(),
            scale="nominal",
            levels=range(_size(levels)),
            interval="jackknife",
            level=at,
        )

    plain, wide = compared(level), compared(2 * float(ndtr(max(errors, normal_quantile(level)))) - 1)
    together = None
    if same_labels is not None:
        best = choose(human, same_labels, row, levels)
        together = None if np.isnan(best.kappa).all() else float(best.kappa[best.best])
    return Selection(
        choice=_chosen(kappas, moved),
        of_folds=tuple(chosen),
        before=plain.first.kappa,
        after=plain.second.kappa,
        gain=replace(wide.kappa, level=level, method=f"{wide.kappa.method}, as wide as choosing makes it"),
        same_labels=together,
    )


def _errors_without_gain(moved: Floats, fold: Ints, rng: np.random.Generator, level: float) -> float:
    """How many standard errors the procedure's gain is from 0, at the ``level`` quantile of both sides, where groups
    move kappas as they do and no candidate is better.

    ``moved``, shape (groups, candidates), ``fold``, shape (groups,).
    """
    gains = np.nan_to_num(moved - moved[:, :1])
    apart = np.sqrt(np.square(gains[:, :, None] - gains[:, None, :]).sum(axis=0))
    of_fold = np.eye(int(fold.max()) + 1)[fold]
    signs = rng.choice((-1.0, 1.0), size=(DRAWS, fold.size))
    # Of each draw and fold, what each candidate gains there: (draws, folds, candidates).
    drawn = np.einsum("dg,gf,gc->dfc", signs, of_fold, gains, optimize=True)
    others = drawn.sum(axis=1, keepdims=True) - drawn
    best = others.argmax(axis=2)
    # As `_chosen`, whose errors are those of the other folds alone.
    larger = np.sqrt(fold.size / (fold.size - of_fold.sum(axis=0)))
    scaled = others * np.square(larger)[:, None]
    near = scaled >= np.take_along_axis(scaled, best[..., None], 2) - apart[best] * larger[:, None]
    chosen = near.argmax(axis=2)
    total = np.take_along_axis(drawn, chosen[..., None], 2)[..., 0].sum(axis=1)
    squares = of_fold.T @ np.square(gains)
    error = np.sqrt(squares[np.arange(squares.shape[0]), chosen].sum(axis=1))
    away = np.divide(total, error, out=np.zeros(DRAWS), where=error > NO_SPREAD)
    return float(np.quantile(away, (1 + level) / 2))


def _kappas(human: Ints, said: Ints, row: Ints, levels: int) -> tuple[Floats, Floats]:
    """Kappa of each candidate with people, (candidates,), and how it moves without each group, (groups, candidates)."""
    size = _size(levels)
    kappa_of = kappa_statistic(disagreement(size, None))
    tables = [Totals.of(row, one, np.ones(one.size), size**2) for one in human * size + said]
    kappas = np.array([float(kappa_of(table.sums())) for table in tables])
    return kappas, np.column_stack([table.jackknife(kappa_of) for table in tables])


def _chosen(kappa: Floats, moved: Floats) -> Choice:
    if np.isnan(kappa).all():
        return Choice(0, 0, kappa, np.zeros(kappa.size))
    best = int(np.nanargmax(kappa))
    error = np.sqrt(np.square(moved - moved[:, [best]]).sum(axis=0))
    # Where leaving a group out leaves no kappa, only what is as good is as good.
    near = kappa >= kappa[best] - np.nan_to_num(error)
    return Choice(int(np.flatnonzero(near)[0]), best, kappa, error)


def _size(levels: int) -> int:
    """Of the tables: what has no answer is a level of its own, but of two levels the wrong one."""
    return levels if levels == 2 else levels + 1


def _columns(people: ArrayLike, answers: ArrayLike, cluster: ArrayLike, levels: int) -> tuple[Ints, Ints, Ints]:
    """People's positions, (units,); the candidates' with what counts as wrong in place of no answer, (candidates,
    units); clusters numbered from 0."""
    human, (row, _) = level_positions(people, levels, "people"), cluster_rows(cluster)
    said = np.atleast_2d(np.asarray(answers))
    if not said.size:
        raise ValueError("a choice needs a candidate and a unit")
    same_length(people=human, answers=said[0], cluster=row)
    if not np.isin(said, np.arange(NO_ANSWER, _size(levels))).all():
        raise ValueError(f"answers hold positions of levels, 0 to {levels - 1}, or {NO_ANSWER}")
    wrong = 1 - human if levels == 2 else np.full_like(human, levels)
    return human, np.where(said == NO_ANSWER, wrong, said).astype(np.int64), row
