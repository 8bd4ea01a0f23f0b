"""What judges are called in tables and plots."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any


def judge_titles(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """A name for each row: the judge's, with its version and dimension where the name alone would not tell."""
    often = Counter(row["judge"] for row in rows)
    titles = []
    for row in rows:
        version = "" if row["version"] == "1" else f" {row['version']}"
        dimension = f" ({row['dimension']})" if often[row["judge"]] > 1 else ""
        titles.append(f"{row['judge']}{version}{dimension}")
    return titles
