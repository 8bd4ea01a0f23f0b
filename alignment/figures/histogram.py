"""How a judge scores what people pass and what they fail."""

from typing import Any

import numpy as np

from alignment.figures.judged import Judged

BINS = 20


def score_histogram(judged: Judged) -> dict[str, Any] | None:
    """Scores of the dev units in 20 bins of equal width from the lowest to the highest, as counts by people's verdict.

    A bin holds its lower edge, the last one both; scores that are all equal share one bin. None for a judge without
    scores on dev, or that answers with labels.
    """
    if judged.answers_labels or not judged.dev:
        return None
    columns = judged.columns(judged.dev)
    score, passes = np.array(columns[0]), np.array(columns[1], dtype=np.bool_)
    lowest, highest = float(score.min()), float(score.max())
    # Halves first: the difference of two floats may be too large for one.
    width = highest / BINS - lowest / BINS
    edges = [lowest + place * width for place in range(BINS)] if width > 0 else [lowest]
    bin_of = np.searchsorted(edges, score, side="right") - 1
    return {
        "edges": [*edges, highest],
        "passes": np.bincount(bin_of[passes], minlength=len(edges)).tolist(),
        "fails": np.bincount(bin_of[~passes], minlength=len(edges)).tolist(),
    }
