"""What a judge must show on a criterion before it may decide: the declared endpoint with its bar, and what goes with
it."""

from __future__ import annotations

import math
from typing import Any, cast

from django.db import transaction
from django.utils.translation import gettext as _

import alignment
from annotate.core.errors import Invalid
from annotate.core.scales import require_rated
from annotate.core.trail import note
from annotate.models import Criterion, Project, User
from judges.models import CascadeLook, Look, Measure, Requirement

# Of each measure the lowest bar: a kappa of 0 is guessing, and half a kappa below people is no agreement with them.
LOWEST_BAR = {Measure.KAPPA: 0.0, Measure.KAPPA_LESS_PEOPLE: -0.5}
# A share to be bounded above, or below, that excludes less than half says nothing.
HIGHEST_RISK = LOWEST_COVERAGE = 0.5


def endpoint_of(criterion: Criterion) -> alignment.Endpoint:
    """As the statistics take it."""
    found = requirement_of(criterion)
    return alignment.Endpoint(cast("Any", found.measure), found.bar, found.risk, found.coverage)


def requirement_of(criterion: Criterion) -> Requirement:
    """The one declared for all versions of the criterion; not stored where the defaults hold."""
    named = {"project_id": criterion.project_id, "criterion_key": criterion.key}
    return Requirement.objects.filter(**named).first() or Requirement(**named)


def require(
    *, criterion: Criterion, measure: Any, bar: Any, risk: Any, coverage: Any, actor: User | None = None
) -> Requirement:
    """Declares what judges must show on the criterion. Later looks use it; what earlier ones decided stays as stated.

    After a look it is declared by what that showed. So the next look has another number, also on the same labels, and
    the trail says how many there were.

    Raises Invalid, naming the field, for what is no measure or lies outside its range.
    """
    require_rated(criterion)
    if measure not in Measure.values:
        raise _bad("measure", _("must be one of %(known)s.") % {"known": ", ".join(Measure.values)})
    lowest = LOWEST_BAR[Measure(measure)]
    given = {
        "measure": measure,
        "bar": _within("bar", bar, lowest, 1, _("from %(lowest)s, and below 1.") % {"lowest": f"{lowest:g}"}),
        "risk": _within("risk", risk, 0.01, HIGHEST_RISK, _("from 0.01, and below 0.5.")),
        "coverage": _within("coverage", coverage, LOWEST_COVERAGE, math.nextafter(1, 2), _("from 0.5 to 1.")),
    }
    named = {"project_id": criterion.project_id, "criterion_key": criterion.key}
    with transaction.atomic():
        # Locked as by looks: one is taken by what was declared before it, or by what is declared after.
        Project.objects.select_for_update(no_key=True).get(pk=criterion.project_id)
        found = requirement_of(criterion)
        before = {name: getattr(found, name) for name in given}
        if found.pk is not None and before == given:
            return found
        for name, value in given.items():
            setattr(found, name, value)
        found.updated_by = actor
        found.save()
        said = {**given, "looks": sum(kind.objects.filter(**named).count() for kind in (Look, CascadeLook))}
        note(actor=actor, action="criterion.required", subject=criterion.key, project=criterion.project, **said)
    return found


def _within(field: str, value: Any, low: float, below: float, range_in_words: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value < below:
        raise _bad(field, _("must be a number, %(range)s") % {"range": range_in_words})
    return float(value)


def _bad(field: str, problem: str) -> Invalid:
    return Invalid("bad_requirement", f"{field}: {problem}", field=field, problem=problem)
