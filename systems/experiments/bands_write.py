"""An admin says what is poor, fair, good and excellent, and what a project aims at."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from annotate.core.errors import Invalid
from annotate.core.trail import note
from annotate.models import Project, User
from systems.experiments.bands_read import NO_BANDS, Bands, ProjectBands, bands_of, metrics_with_bands
from systems.models import MetricBands

# It also refuses what is no number of JSON, and whole numbers that no float holds.
_MOST = 1e15


def change_bands(*, actor: User | None, project: Project, metrics: Any) -> ProjectBands:
    """Stores those of all metrics: what is not in it has none. Raises Invalid, naming the metric."""
    known = metrics_with_bands(project)
    if not isinstance(metrics, dict):
        raise Invalid("bad_bands", _("metrics: must be an object."))
    found = {name: _bands(name, given, known) for name, given in metrics.items()}
    wanted = {name: one.stored() for name, one in found.items() if one != NO_BANDS}
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        stored = MetricBands.objects.filter(project=project).first()
        if stored is None or stored.metrics != wanted:
            stored = stored or MetricBands(project=project)
            stored.metrics, stored.updated_by = wanted, actor
            stored.save()
            note(actor=actor, action="bands.changed", subject=project.name, project=project, metrics=sorted(wanted))
    return bands_of(project)


def copy_bands(*, actor: User, project: Project, made: Project) -> None:
    """Into a project that was made with the same criteria; where nothing was stored, nothing is."""
    stored = MetricBands.objects.filter(project=project).first()
    if stored is not None:
        known = metrics_with_bands(made)
        kept = {name: one for name, one in stored.metrics.items() if name in known}
        change_bands(actor=actor, project=made, metrics=kept)


def _bands(name: str, given: Any, known: dict[str, str]) -> Bands:
    if name not in known:
        said = _("“%(name)s” is no metric of this project. Known: %(known)s.")
        raise Invalid("bad_bands", said % {"name": name[:80], "known": ", ".join(known)})
    if not isinstance(given, dict) or not given.keys() <= {"limits", "target"}:
        raise _bad(name, _("must be an object with “limits” and “target”."))
    limits, target = given.get("limits", []), given.get("target")
    if not isinstance(limits, list) or len(limits) not in (0, 3) or not all(map(_is_number, limits)):
        raise _bad(name, _("limits: must be three numbers, where fair, good and excellent begin, or none."))
    falls = known[name] == "lower"
    if any(after >= before if falls else after <= before for before, after in pairwise(limits)):
        raise _bad(name, _("limits: each must be better than the one before it."))
    if target is not None and not _is_number(target):
        raise _bad(name, _("target: must be a number."))
    return Bands(tuple(map(float, limits)), None if target is None else float(target))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _MOST


def _bad(name: str, problem: str) -> Invalid:
    return Invalid("bad_bands", f"{name}: {problem}", field=name, problem=problem)
