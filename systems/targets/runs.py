"""Runs that ask a version the questions of a test set: started, paused, resumed, cancelled, stopped and done."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.core.errors import Conflict, Invalid
from annotate.core.trail import note
from annotate.models import User
from judges.models import RunState
from systems.models import FrozenSet, SystemVersion, TargetRun
from systems.targets.read import left_to_ask, target_of
from systems.targets.template import check_configuration
from systems.targets.waking import wake

MOST_REPEATS = 100
_MOST_BUDGET = 10**8
_CAN_GO_ON = (RunState.PAUSED, RunState.STOPPED)


@dataclass(frozen=True, slots=True)
class Limits:
    """budget: in the currency of the prices. requests: at most so many. None: no limit."""

    budget: Decimal | None = None
    requests: int | None = None

    def check(self) -> None:
        """Raises Invalid."""
        if self.budget is not None and not (self.budget.is_finite() and 0 < self.budget < _MOST_BUDGET):
            raise Invalid("bad_budget", _("Budget: must be above 0."), field="budget")
        if self.requests is not None and not 0 < self.requests < 2**31:
            raise Invalid("bad_requests", _("Requests: must be a whole number from 1."), field="requests")


@dataclass(frozen=True, slots=True)
class Starting:
    """is_new: False where the same run was under way already."""

    run: TargetRun
    is_new: bool


def start_run(
    *,
    actor: User | None,
    version: SystemVersion,
    frozen_set: FrozenSet,
    repeats: int = 1,
    only_failed: bool = False,
    limits: Limits | None = None,
) -> Starting:
    """Asks what has no response yet, or, with only_failed, what failed, whatever its repeat. The worker does it.

    Started again while it is under way it is the same run. Raises Invalid, and Conflict where the version has no
    target, or a run of it with other terms is under way.
    """
    limits = limits or Limits()
    limits.check()
    if type(repeats) is not int or not 1 <= repeats <= MOST_REPEATS:
        words = _("Repeats: must be a whole number from 1 to %(most)s.")
        raise Invalid("bad_repeats", words % {"most": MOST_REPEATS}, field="repeats")
    terms: dict[str, Any] = {
        "repeats": 1 if only_failed else repeats,
        "only_failed": only_failed,
        "budget": None if limits.budget is None else round(limits.budget, 6),
        "most_requests": limits.requests,
    }
    with transaction.atomic():
        version = _turn(version)
        _require_target(version)
        under_way = TargetRun.objects.filter(version=version, frozen_set=frozen_set, state=RunState.RUNNING).first()
        if under_way is not None:
            _require_same(under_way, terms)
            return Starting(under_way, is_new=False)
        run = TargetRun(version=version, frozen_set=frozen_set, created_by=actor, **terms)
        run.planned = len(left_to_ask(run))
        if not run.planned:
            run.state, run.finished_at = RunState.DONE, timezone.now()
        run.save()
        _note(run, actor, "asking.started", set=frozen_set.manifest["set"], planned=run.planned)
        if run.planned:
            transaction.on_commit(lambda: wake(version.project_id))
    return Starting(run, is_new=True)


def pause_run(*, run: TargetRun, actor: User | None = None) -> TargetRun:
    """Nothing new goes out; what is under way still comes in."""
    with transaction.atomic():
        return _changed(_locked(run), actor, "asking.paused", RunState.PAUSED, (RunState.RUNNING,))


def resume_run(*, run: TargetRun, limits: Limits | None = None, actor: User | None = None) -> TargetRun:
    """A paused run, or one that stopped by itself, goes on. limits: new ones, for all of it; those that are None stay.
    Raises Conflict where its limit is reached, or another run of the same is under way."""
    limits = limits or Limits()
    limits.check()
    with transaction.atomic():
        _turn(run.version)
        run = _locked(run)
        _require_target(run.version)
        run.budget = run.budget if limits.budget is None else round(limits.budget, 6)
        run.most_requests = run.most_requests if limits.requests is None else limits.requests
        if run.state in _CAN_GO_ON:
            if (reached := limit_reached(run)) is not None:
                raise Conflict(*reached)
            alike = TargetRun.objects.filter(version=run.version, frozen_set=run.frozen_set, state=RunState.RUNNING)
            if other := alike.first():
                raise Conflict("asked_already", _("Run %(n)d asks the same just now.") % {"n": other.pk})
        run.stop_code = run.stop_message = ""
        run = _changed(run, actor, "asking.resumed", RunState.RUNNING, _CAN_GO_ON)
        transaction.on_commit(lambda: wake(run.version.project_id))
    return run


def cancel_run(*, run: TargetRun, actor: User | None = None) -> TargetRun:
    """What waits is never asked; what is under way still comes in, and what came stays."""
    with transaction.atomic():
        run = _locked(run)
        run.finished_at = timezone.now()
        return _changed(run, actor, "asking.cancelled", RunState.CANCELLED, (RunState.RUNNING, *_CAN_GO_ON))


def limit_reached(run: TargetRun) -> tuple[str, str] | None:
    """(code, message)"""
    if run.budget is not None and run.cost >= run.budget:
        return "budget", _("The budget of this run is spent. Increase it to resume.")
    if run.most_requests is not None and run.requests >= run.most_requests:
        return "requests", _("This run has sent as many requests as it may. Allow more to resume.")
    return None


def stop_run(run_id: int, code: str, message: str) -> None:
    """By itself. What waits stays, for when it is resumed."""
    with transaction.atomic():
        run = _locked(TargetRun(pk=run_id))
        if run.state == RunState.RUNNING:
            run.stop_code, run.stop_message = code[:40], message
            _changed(run, None, "asking.stopped", RunState.STOPPED, (RunState.RUNNING,))


def finish_run(run_id: int) -> bool:
    """Whether nothing was left to ask, so that it is done now."""
    with transaction.atomic():
        run = _locked(TargetRun(pk=run_id))
        if run.state != RunState.RUNNING or left_to_ask(run):
            return False
        run.finished_at = timezone.now()
        _changed(run, None, "asking.done", RunState.DONE, (RunState.RUNNING,))
        return True


def _turn(version: SystemVersion) -> SystemVersion:
    """One start of a version at a time."""
    versions = SystemVersion.objects.select_for_update(of=("self",), no_key=True).select_related("project")
    return versions.get(pk=version.pk)


def _require_target(version: SystemVersion) -> None:
    target = target_of(version)
    if target is None:
        raise Conflict("no_target", _("No target is defined: say where “%(name)s” is asked.") % {"name": version.name})
    check_configuration(target.path, target.body, version)


def _require_same(run: TargetRun, terms: dict[str, Any]) -> None:
    if any(getattr(run, name) != value for name, value in terms.items()):
        raise Conflict(
            "asked_already",
            _("Run %(n)d of this version and test set is under way with other terms. Cancel it, or wait.")
            % {"n": run.pk},
        )


def _locked(run: TargetRun) -> TargetRun:
    runs = TargetRun.objects.select_for_update(of=("self",))
    return runs.select_related("version__project", "frozen_set").get(pk=run.pk)


def _changed(run: TargetRun, actor: User | None, action: str, to: RunState, allowed: tuple[RunState, ...]) -> TargetRun:
    if run.state not in allowed:
        raise Conflict("run_state", _("This run is %(state)s.") % {"state": run.get_state_display().lower()})
    run.state = to
    run.save(update_fields=["state", "stop_code", "stop_message", "budget", "most_requests", "finished_at"])
    _note(run, actor, action, **({"code": run.stop_code} if run.stop_code else {}))
    return run


def _note(run: TargetRun, actor: User | None, action: str, **more: Any) -> None:
    note(actor=actor, action=action, subject=run.version.name, project=run.version.project, run=run.pk, **more)
