"""Which of several versions of a criterion speaks for a unit."""

from __future__ import annotations

from django.db.models import Exists, OuterRef, QuerySet

from annotate.models import Verdict


def latest_of_unit(verdicts: QuerySet[Verdict]) -> QuerySet[Verdict]:
    """Without those of a unit that has a verdict on a later version of the same criterion: labels that were carried
    over, or given anew, took their place."""
    later = Verdict.objects.filter(
        sample=OuterRef("sample"),
        unit=OuterRef("unit"),
        criterion__key=OuterRef("criterion__key"),
        criterion__version__gt=OuterRef("criterion__version"),
    )
    return verdicts.filter(~Exists(later))
