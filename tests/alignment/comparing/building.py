"""Responses of versions to the same questions, for tests."""

import numpy as np

from alignment import Responses


def responses(values, scores=None, asked=None, *, group=None, chance=1.0, stratum=None, spread=0.0):
    """``values`` and ``scores`` have shape (versions, questions): people's, and the judge's (None: there is no judge).

    ``asked``: of which questions people were asked, of all versions alike or of each; ``spread``: how far below and
    above their value it may lie.
    """
    values = np.asarray(values, dtype=float)
    versions, questions = values.shape
    given = {
        "version": np.repeat(np.arange(versions), questions),
        "group": np.tile(np.arange(questions) if group is None else group, versions),
        "score": np.full(values.shape, np.nan) if scores is None else np.asarray(scores, dtype=float),
        "probability": np.broadcast_to(chance, values.shape),
        "stratum": np.zeros(values.shape, int) if stratum is None else np.broadcast_to(stratum, values.shape),
    }
    asked = np.broadcast_to(True if asked is None else asked, values.shape)
    for name, side in (("least", -1), ("most", 1)):
        given[name] = np.where(asked, np.clip(values + side * np.asarray(spread), 0, 1), np.nan)
    return Responses.of(**{name: np.ravel(column) for name, column in given.items()})


def random_responses(rng, versions=2, questions=300, labelled=80, *, judge=0.85, alike=0.4, good=(0.6, 0.7, 0.65)):
    """Verdicts on questions that are somewhat alike, and a judge that is right that often."""
    common = rng.normal(size=questions)
    luck = np.sqrt(alike) * common + np.sqrt(1 - alike) * rng.normal(size=(versions, questions))
    values = luck < np.array(good[:versions])[:, None] * 2 - 1
    scores = np.where(rng.random(values.shape) < judge, values, ~values)
    asked = rng.permutation(questions) < labelled
    return responses(values, scores, asked, chance=labelled / questions)
