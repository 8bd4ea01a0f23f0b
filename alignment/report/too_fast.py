"""Labels that came faster than their raters can have read what they are about: how many, whose, and what kappa would be
without the units that they are on. They count all the same: whoever reads a report decides.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import compress
from typing import Any

from alignment.report.agreement import people_among_themselves
from alignment.report.comparison import Comparison
from alignment.report.decisions import kappa_of_counts
from alignment.report.reference import Reference, passing_of


def too_fast_figures(
    reference: Reference, comparisons: Sequence[Comparison], titles: Sequence[str]
) -> dict[str, Any] | None:
    """None where there are no such labels. ``people``: the raters of some, those with the most first."""
    evidence = reference.evidence
    labels = Counter(compress(evidence.raters, evidence.too_fast))
    if not labels:
        return None
    units = set(compress(evidence.units, evidence.too_fast))
    of = Counter(evidence.raters)
    slow = evidence.kept([not fast for fast in evidence.too_fast])
    ratings = slow.ratings()
    passing = passing_of(slow, ratings)
    return {
        "labels": labels.total(),
        "of": len(evidence.units),
        "units": len(units & reference.positive.keys()),
        "people": [
            {"name": name, "labels": count, "of": of[name]}
            for name, count in sorted(labels.items(), key=lambda row: (-row[1], row[0]))
        ],
        "agreement": people_among_themselves(ratings if passing is None else passing).as_dict(),
        "judges": [
            {
                "title": title,
                "units": sum(unit not in units for unit in one.decisions),
                "kappa": kappa_of_counts(
                    Counter(
                        (reference.positive[unit], passes)
                        for unit, passes in one.decisions.items()
                        if unit not in units
                    )
                ),
            }
            for title, one in zip(titles, comparisons, strict=True)
        ],
    }
