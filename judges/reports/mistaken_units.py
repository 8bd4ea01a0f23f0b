"""Units that a judge gets wrong as people read them: their text, why the judge and people said what they said, and the
verdict that a reviewer can change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotate.core.blindness import Reader, without_held_back
from annotate.models import Verdict
from judges.reports.mistakes import reasons_of
from judges.reports.mistakes_kept import Series
from judges.reports.read import with_words


def units_in_words(
    series: Series, found: Mapping[str, Any], listed: Sequence[Mapping[str, str]], *, reader: Reader
) -> list[dict[str, Any]]:
    """found: as `mistakes` has it; listed: some units of one of its groups, a page of them at most. Each with what
    judges.reports.read.with_words gives it, "reasons" of people, and "verdict": its key, None where there is none."""
    project, criterion = series.criterion.project, series.criterion
    judge = {name: found[name] for name in ("judge", "version", "dimension")}
    (worded,) = with_words(project, [{**judge, "disagreements": listed}], reader=reader)
    units = [(one["sample"], one["unit"]) for one in listed]
    reasons = reasons_of(criterion, units, reader=reader)
    samples = {row["sample"] for row in worded["disagreements"]}
    verdicts = without_held_back(Verdict.objects.filter(criterion=criterion, sample__in=samples), reader=reader)
    keys = {(sample, unit): key for sample, unit, key in verdicts.values_list("sample", "unit", "pk")}
    return [
        {**row, "reasons": reasons.get(unit, []), "verdict": keys.get((row["sample"], row["unit"]))}
        for unit, row in zip(units, worded["disagreements"], strict=True)
    ]
