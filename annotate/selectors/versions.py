"""Which of several versions of a criterion speaks for a unit."""

from __future__ import annotations

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotate.models import Verdict

# Of a verdict and its criterion `c`: `latest_of_unit` for statements by hand. `{verdict}` names the verdict.
IS_LATEST = """
    (c.is_current OR NOT EXISTS (
        SELECT FROM annotate_verdict later JOIN annotate_criterion lc ON lc.id = later.criterion_id
         WHERE later.sample_id = {verdict}.sample_id AND later.unit = {verdict}.unit
           AND lc.key = c.key AND lc.version > c.version))
"""


def latest_of_unit(verdicts: QuerySet[Verdict]) -> QuerySet[Verdict]:
    """Without those of a unit that has a verdict on a later version of the same criterion: labels that were carried
    over, or given anew, took their place."""
    later = Verdict.objects.filter(
        sample=OuterRef("sample"),
        unit=OuterRef("unit"),
        criterion__key=OuterRef("criterion__key"),
        criterion__version__gt=OuterRef("criterion__version"),
    )
    # Few verdicts are on earlier versions, and only of those is it asked. Else tables that were just filled, of which
    # the planner knows nothing yet, are joined row by row: minutes for a few hundred verdicts.
    return verdicts.filter(Q(criterion__is_current=True) | ~Exists(later))
