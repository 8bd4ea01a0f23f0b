"""What an experiment is made from (docs/formats.md: experiment.json), read strictly: what is wrong is named with its
place, and nothing is stored."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from django.http import Http404
from django.utils.translation import gettext as _

import alignment
from annotate.core.errors import Invalid
from annotate.core.texts import check_json
from annotate.models import Criterion, Project
from judges.core.scores_read import BUILT_IN
from judges.models import Judge
from systems.core.answer_criteria import answer_criteria
from systems.core.graded import is_graded
from systems.core.response_fields import FIELDS
from systems.core.set_names import numbered
from systems.models import FrozenSet, Response, SystemVersion
from systems.questions.read import one_frozen

MOST_VERSIONS = 20
MOST_METRICS = 50
_MOST_NAME = 100
_FIELDS = {"set", "versions", "baseline", "metrics", "rule"}
_OF_METRIC = {"name", "criterion", "derived", "field", "judge", "direction"}
_OF_RULE = {"primary", "margin", "guards", "level"}
_DIRECTIONS = ("higher", "lower")
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Specification:
    """metrics, guards: as `models.ExperimentRule` has them."""

    frozen_set: FrozenSet | None
    versions: list[SystemVersion]
    baseline: SystemVersion
    metrics: list[dict[str, Any]]
    primary: str
    margin: float
    guards: list[dict[str, Any]]
    level: float


def read_specification(project: Project, said: Any) -> Specification:
    """Raises Invalid."""
    spec = _object(said, "experiment", _FIELDS, {"versions", "metrics", "rule"})
    check_json(spec)
    versions = _versions(project, spec["versions"])
    frozen = _frozen(project, spec.get("set"))
    metrics = _metrics(project, spec["metrics"])
    rule = _object(spec["rule"], "rule", _OF_RULE, {"primary", "margin"})
    names = [metric["name"] for metric in metrics]
    primary = _one_of(rule["primary"], "rule.primary", names)
    return Specification(
        frozen_set=frozen,
        versions=versions,
        baseline=_baseline(spec.get("baseline"), versions),
        metrics=metrics,
        primary=primary,
        margin=_margin(rule["margin"], "rule.margin"),
        guards=_guards(rule.get("guards", []), names, primary),
        level=_level(rule.get("level", LEVEL)),
    )


def _refuse(where: str, why: str, **given: Any) -> NoReturn:
    raise Invalid("bad_experiment", f"{where}: {why % given}")


def _object(said: Any, where: str, known: set[str], needed: set[str]) -> Mapping[str, Any]:
    if not isinstance(said, Mapping):
        _refuse(where, _("must be an object."))
    unknown = sorted(str(name) for name in set(said) - known)
    if unknown:
        _refuse(
            where,
            _("unknown field “%(name)s”. Known: %(known)s."),
            name=unknown[0][:80],
            known=", ".join(sorted(known)),
        )
    missing = sorted(needed - set(said))
    if missing:
        _refuse(where, _("“%(name)s” is missing."), name=missing[0])
    return said


def _list(said: Any, where: str, *, least: int, most: int) -> Sequence[Any]:
    if not isinstance(said, list) or not least <= len(said) <= most:
        _refuse(where, _("must be a list of %(least)d to %(most)d."), least=least, most=most)
    return said


def _text(said: Any, where: str) -> str:
    if not isinstance(said, str) or not said.strip() or len(said) > _MOST_NAME:
        _refuse(where, _("must be a text of up to %(most)d characters."), most=_MOST_NAME)
    return said


def _one_of(said: Any, where: str, known: Sequence[str]) -> str:
    if not isinstance(said, str) or said not in known:
        _refuse(where, _("“%(name)s” is none of %(known)s."), name=str(said)[:80], known=", ".join(known))
    return said


def _number(said: Any, where: str) -> float:
    if isinstance(said, bool) or not isinstance(said, int | float) or not math.isfinite(said):
        _refuse(where, _("must be a number."))
    return float(said)


def _margin(said: Any, where: str) -> float:
    margin = _number(said, where)
    if margin < 0:
        _refuse(where, _("must be 0 or more."))
    return margin


def _level(said: Any) -> float:
    level = _number(said, "rule.level")
    if not 0.5 <= level < 1:
        _refuse("rule.level", _("must be from 0.5 to less than 1, such as 0.95."))
    return level


def _versions(project: Project, said: Any) -> list[SystemVersion]:
    names = [
        _text(name, f"versions[{at}]") for at, name in enumerate(_list(said, "versions", least=2, most=MOST_VERSIONS))
    ]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        _refuse("versions", _("“%(name)s” is named twice."), name=twice)
    found = {one.name: one for one in SystemVersion.objects.filter(project=project, name__in=names)}
    with_responses = set(
        Response.objects.filter(version__in=found.values()).values_list("version__name", flat=True).distinct()
    )
    for at, name in enumerate(names):
        if name not in found:
            known = SystemVersion.objects.filter(project=project).order_by("name").values_list("name", flat=True)[:20]
            _refuse(
                f"versions[{at}]",
                _("there is no version “%(name)s”. Versions: %(known)s."),
                name=name,
                known=", ".join(known) or _("none yet"),
            )
        if name not in with_responses:
            _refuse(f"versions[{at}]", _("“%(name)s” has no responses."), name=name)
    return [found[name] for name in names]


def _baseline(said: Any, versions: Sequence[SystemVersion]) -> SystemVersion:
    if said is None:
        return versions[0]
    name = _one_of(said, "baseline", [one.name for one in versions])
    return next(one for one in versions if one.name == name)


def _frozen(project: Project, said: Any) -> FrozenSet | None:
    if said is None:
        return None
    named = numbered(_text(said, "set"))
    if named is None:
        _refuse("set", _("“%(name)s” is not frozen. Name it with its number, such as %(name)s@1."), name=said)
    try:
        return one_frozen(project, *named)
    except Http404 as error:
        raise Invalid("bad_experiment", f"set: {error}") from error


def _guards(said: Any, names: Sequence[str], primary: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for at, one in enumerate(_list(said, "rule.guards", least=0, most=MOST_METRICS)):
        where = f"rule.guards[{at}]"
        guard = _object(one, where, {"metric", "margin"}, {"metric", "margin"})
        name = _one_of(guard["metric"], f"{where}.metric", names)
        if name == primary:
            _refuse(where, _("“%(name)s” is the primary metric; it is no guard as well."), name=name)
        if any(other["metric"] == name for other in found):
            _refuse(where, _("“%(name)s” is a guard already."), name=name)
        found.append({"metric": name, "margin": _margin(guard["margin"], f"{where}.margin")})
    return found


# Metrics


def _metrics(project: Project, said: Any) -> list[dict[str, Any]]:
    criteria = {one.key: one for one in answer_criteria(project)}
    judges = set(Judge.objects.filter(project=project).values_list("name", flat=True))
    found: list[dict[str, Any]] = []
    for at, one in enumerate(_list(said, "metrics", least=1, most=MOST_METRICS)):
        where = f"metrics[{at}]"
        metric = _metric(_object(one, where, _OF_METRIC, set()), where, criteria, judges)
        if any(other["name"] == metric["name"] for other in found):
            _refuse(where, _("“%(name)s” is there already. Give it another name."), name=metric["name"])
        found.append(metric)
    return found


def _metric(said: Mapping[str, Any], where: str, criteria: Mapping[str, Criterion], judges: set[str]) -> dict[str, Any]:
    if "field" in said:
        metric = _of_field(said, where)
    elif "derived" in said:
        metric = _derived(said, where, criteria)
    elif "criterion" in said:
        metric = _of_criterion(said, where, criteria)
    else:
        _refuse(where, _("names neither a “criterion” nor “derived” nor a “field”."))
    if "judge" in said:
        metric["judge"] = _one_of(said["judge"], f"{where}.judge", sorted(judges) or [_("no judge yet")])
    if "name" in said:
        metric["name"] = _text(said["name"], f"{where}.name")
    return metric


def _of_field(said: Mapping[str, Any], where: str) -> dict[str, Any]:
    for other in ("criterion", "derived", "judge"):
        if other in said:
            _refuse(where, _("what is measured has no “%(name)s”."), name=other)
    name = _one_of(said["field"], f"{where}.field", list(FIELDS))
    direction = FIELDS[name].direction
    if "direction" in said:
        wanted = _one_of(said["direction"], f"{where}.direction", _DIRECTIONS)
        if direction not in (None, wanted):
            _refuse(f"{where}.direction", _("of “%(name)s” it is “%(is)s”."), **{"name": name, "is": direction})
        direction = wanted
    if direction is None:
        _refuse(where, _("“%(name)s” has no direction. Say “direction”: higher or lower is better."), name=name)
    return {"name": name, "field": name, "direction": direction}


def _of_criterion(said: Mapping[str, Any], where: str, criteria: Mapping[str, Criterion]) -> dict[str, Any]:
    key = _one_of(said["criterion"], f"{where}.criterion", list(criteria))
    if not is_graded(criteria[key]) and not criteria[key].passes:
        _refuse(
            where,
            _("criterion “%(key)s” has no direction: it says nowhere what passes, and has no levels in order."),
            key=key,
        )
    return {"name": key, "criterion": key, **_higher(said, where)}


def _derived(said: Mapping[str, Any], where: str, criteria: Mapping[str, Criterion]) -> dict[str, Any]:
    of_kind = alignment.report.derived_metrics()
    kinds = {name: kind for kind, names in of_kind.items() for name in names}
    name = _one_of(said["derived"], f"{where}.derived", list(kinds))
    kind = kinds[name]
    keys = [key for key, one in criteria.items() if one.unit == kind]
    if "criterion" in said:
        key = _one_of(said["criterion"], f"{where}.criterion", keys or [_("no criterion on this kind of unit")])
    elif BUILT_IN[kind] in keys:
        key = BUILT_IN[kind]
    elif len(keys) == 1:
        key = keys[0]
    elif keys:
        _refuse(where, _("“%(name)s” may be of %(known)s. Say which “criterion”."), name=name, known=", ".join(keys))
    else:
        _refuse(where, _("“%(name)s” needs a criterion that asks about each %(kind)s."), name=name, kind=kind)
    if not criteria[key].passes:
        _refuse(where, _("criterion “%(key)s” says nowhere what passes."), key=key)
    return {"name": name, "derived": name, "criterion": key, **_higher(said, where)}


def _higher(said: Mapping[str, Any], where: str) -> dict[str, Any]:
    if said.get("direction", "higher") != "higher":
        _refuse(f"{where}.direction", _("of what annotators decide it is “higher”."))
    return {"direction": "higher"}
