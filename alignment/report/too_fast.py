"""Labels that came faster than their raters can have read what they are about: how many, whose, and what kappa would be
without the units that they are on. They count all the same: whoever reads a report decides.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from alignment.base.coded import array_of, kept
from alignment.report.agreement import people_among_themselves
from alignment.report.comparison import Comparison
from alignment.report.decisions import cells_of, kappa_of_counts
from alignment.report.reference import Reference, passing_of


def too_fast_figures(
    reference: Reference, comparisons: Sequence[Comparison], titles: Sequence[str]
) -> dict[str, Any] | None:
    """None where there are no such labels. ``people``: the raters of some, those with the most first."""
    evidence = reference.evidence
    fast = array_of(evidence.too_fast, bool, np.bool_)
    if not fast.any():
        return None
    labels = Counter(kept(evidence.raters, fast))
    is_slow = np.ones(len(reference.units), dtype=np.bool_)
    is_slow[reference.units.places(kept(evidence.units, fast))] = False
    decided = [one.decisions.only(is_slow) for one in comparisons]
    of = Counter(evidence.raters)
    rest = evidence.kept(~fast)
    ratings = rest.ratings()
    passing = passing_of(rest, ratings)
    return {
        "labels": labels.total(),
        "of": len(evidence.units),
        "units": int((reference.positive.known & ~is_slow).sum()),
        "people": [
            {"name": name, "labels": count, "of": of[name]}
            for name, count in sorted(labels.items(), key=lambda row: (-row[1], row[0]))
        ],
        "agreement": people_among_themselves(ratings if passing is None else passing).as_dict(),
        "judges": [
            {"title": title, "units": len(slow), "kappa": kappa_of_counts(cells_of(one.judged, slow))}
            for title, one, slow in zip(titles, comparisons, decided, strict=True)
        ],
    }
