"""Runs of judges: started, paused, resumed and cancelled; what one would take, before it is started."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Avg, F, Max
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.core.errors import Conflict, Invalid, key_reused
from annotate.core.trail import note
from annotate.models import Sample, User
from judges.kinds.base import Size
from judges.kinds.registry import kind_named
from judges.models import (
    WITHOUT_SCORES,
    Ask,
    AskState,
    JudgeVersion,
    Reply,
    Run,
    RunPurpose,
    RunState,
    VersionState,
)
from judges.runs.laying import CHUNK, check_scope, lay_chunk, samples_in
from judges.runs.places import place_of
from judges.runs.purposes import asked_units, purpose_of
from judges.runs.queue import finish
from judges.runs.work import wake
from judges.versions.identity import check_code

MOST_REPEATS = 100
_LAST_REPEAT = 32_767
# Up to this many samples, each counted once per repeat, the run is laid before the call returns. Above, the worker does
# it, and how much there is to ask is estimated.
_LAID_AT_ONCE = 2 * CHUNK
# From this many samples on, the estimate goes by a part of them.
_MEASURED = 500
# Of the endpoint's latest replies.
_RECENT_REPLIES = 200
_MILLION = Decimal(1_000_000)


@dataclass(frozen=True, slots=True)
class RunEstimate:
    """About what a run would take.

    cost: in `currency`; None when the endpoint's prices aren't known. seconds: None when nothing is known yet about how
    fast the endpoint, or the judge, is. samples: in the scope. unfit: how many of these the judge has nothing to score
    in: no unit of its kind, or not all that its prompt needs. is_estimated: a part of the samples stood for all;
    otherwise asks and unfit are counted.
    """

    asks: int
    requests: int
    tokens_in: int
    tokens_out: int
    cost: Decimal | None
    currency: str | None
    seconds: float | None
    samples: int
    unfit: int
    is_estimated: bool


def estimate_run(
    *,
    version: JudgeVersion,
    scope: Any,
    repeats: int = 1,
    again: bool = False,
    purpose: str = RunPurpose.SCORES,
    terms: Mapping[str, Any] | None = None,
) -> RunEstimate:
    """Of many samples some are measured, evenly spread, and stand for all. Raises Invalid as `start_run` does."""
    run = _planned(version, scope, repeats, again, purpose, terms)
    asked = purpose_of(run)
    samples, count = _evenly_chosen(run)
    wanted = asked.to_ask(list(samples.values())) if samples else []
    known = {pk: asked.size(samples[pk]) for pk in {sample for sample, _unit, _repeat in wanted}}
    sizes = [known[sample] for sample, _unit, _repeat in wanted]
    unfit = []
    if asked.brings_scores:
        unfit = [one for one in samples.values() if not asked_units(version, one)]
    return priced(
        version,
        _scaled_up(len(wanted), samples, count),
        Size(
            requests=_scaled_up(sum(size.requests for size in sizes), samples, count),
            tokens_in=_scaled_up(sum(size.tokens_in for size in sizes), samples, count),
            tokens_out=_scaled_up(sum(size.tokens_out for size in sizes), samples, count),
        ),
        samples=count,
        unfit=_scaled_up(len(unfit), samples, count),
        is_estimated=len(samples) < count,
    )


def priced(
    version: JudgeVersion, asks: int, size: Size, *, samples: int, unfit: int = 0, is_estimated: bool
) -> RunEstimate:
    """size: of all of it together."""
    requests, tokens_in, tokens_out = (round(n) for n in (size.requests, size.tokens_in, size.tokens_out))
    endpoint = version.endpoint
    cost = None
    if endpoint is not None and endpoint.price_in is not None and endpoint.price_out is not None:
        cost = (endpoint.price_in * tokens_in + endpoint.price_out * tokens_out) / _MILLION
    return RunEstimate(
        asks=asks,
        requests=requests,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost=cost,
        currency=None if endpoint is None else endpoint.currency,
        seconds=_seconds(version, asks, requests),
        samples=samples,
        unfit=unfit,
        is_estimated=is_estimated,
    )


def _evenly_chosen(run: Run) -> tuple[dict[int, Sample], int]:
    """Some of the run's samples, evenly spread over all of them, by key; and how many there are."""
    project = run.version.judge.project
    ids = list(samples_in(project, run.scope).values_list("pk", flat=True))
    some = ids[:: max(1, -(-len(ids) // _MEASURED))]
    samples = samples_in(project, {"all": True}).filter(pk__in=some)
    return {sample.pk: sample for sample in samples}, len(ids)


def _scaled_up(n: float, some: Mapping[int, Sample], count: int) -> int:
    return round(n * count / len(some)) if some else 0


@dataclass(frozen=True, slots=True)
class RequestKey:
    """Of a request that may come twice. digest: of all that it asks for, as it was sent."""

    key: UUID
    digest: str

    @classmethod
    def of(cls, key: UUID, asked: Any) -> RequestKey:
        """asked: all of it, as what JSON can hold."""
        said = json.dumps(asked, sort_keys=True, default=str)
        return cls(key, hashlib.sha256(said.encode()).hexdigest())


def start_run(
    *,
    version: JudgeVersion,
    scope: Any,
    repeats: int = 1,
    again: bool = False,
    fresh: bool = False,
    budget: Decimal | None = None,
    purpose: str = RunPurpose.SCORES,
    terms: Mapping[str, Any] | None = None,
    actor: User | None = None,
    key: RequestKey | None = None,
) -> Run:
    """Asks for everything in the scope that has no good score yet in the repeats 0 to `repeats` − 1; again=True: for
    every unit once more, as `repeats` further repeats after the highest there is. When nothing is left to ask, the run
    is done at once. fresh: replies that are kept from earlier are not used. terms: what a purpose that isn't scores has
    beside; the caller has checked them. key: of a request that may come twice; the second time it returns the run of
    the first.

    Raises Invalid for a judge that can't be run, a scope that is none, and a budget that can't be kept, Conflict for a
    version that was dropped.
    """
    with transaction.atomic():
        if key is not None and (known := run_started_by(key, actor)) is not None:
            return known
        budget = _checked_budget(version, budget)
        # Two callers that ask for further repeats at the same time get different ones.
        version = (
            JudgeVersion.objects.select_for_update(of=("self",))
            .select_related("judge__project", "endpoint")
            .get(pk=version.pk)
        )
        run = _planned(version, scope, repeats, again, purpose, terms)
        run.is_fresh = fresh
        run.budget = budget
        if key is not None:
            run.idempotency_key, run.request_digest = key.key, key.digest
        run.created_by = actor
        run.started_at = timezone.now()
        run.save(force_insert=True)
        note(
            actor=actor,
            action="run.started",
            subject=version.judge.name,
            project=version.judge.project,
            run=run.pk,
            **({"purpose": run.purpose} if run.purpose in WITHOUT_SCORES else {}),
            version=version.number,
            scope={how: what if how != "samples" else len(what) for how, what in run.scope.items()},
            repeats=repeats,
        )
        most = _LAID_AT_ONCE // repeats
        if samples_in(version.judge.project, run.scope)[: most + 1].count() <= most:
            while lay_chunk(run.pk):
                pass
            finish(run.pk)
        else:
            samples, count = _evenly_chosen(run)
            run.expected = _scaled_up(len(purpose_of(run).to_ask(list(samples.values()))), samples, count)
            run.save(update_fields=["expected"])
        run.refresh_from_db()
        if run.state == RunState.RUNNING:
            transaction.on_commit(lambda: wake(place_of(run)))
    return run


def run_started_by(key: RequestKey, actor: User | None) -> Run | None:
    """The run that this request has started; None when it is new. In a transaction, until whose end the same request
    waits. Whatever starts runs asks this first, before it draws or makes anything. Raises Invalid when the key was
    another request's."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"run {key.key}"])
    runs = Run.objects.select_related("version__judge__project", "version__endpoint", "created_by")
    known = runs.filter(idempotency_key=key.key).first()
    if known is not None and (known.request_digest, known.created_by) != (key.digest, actor):
        raise key_reused()
    return known


def pause_run(*, run: Run, actor: User | None = None) -> Run:
    """Nothing new goes out; what is under way still comes in."""
    with transaction.atomic():
        return _changed(_locked(run), actor, "run.paused", RunState.PAUSED, (RunState.RUNNING,))


def resume_run(*, run: Run, budget: Decimal | None = None, actor: User | None = None) -> Run:
    """A paused run, or one that stopped by itself, goes on. budget: the new one; None leaves it as it is."""
    budget = _checked_budget(run.version, budget)
    with transaction.atomic():
        run = _locked(run)
        _check_not_dropped(run.version)
        check_code(run.version)
        if budget is not None:
            run.budget = budget
        if run.budget is not None and run.cost + run.at_most >= run.budget:
            raise Conflict("budget", _("The budget of this run is spent. Increase it to resume."))
        run.stop_code = run.stop_message = ""
        run = _changed(run, actor, "run.resumed", RunState.RUNNING, (RunState.PAUSED, RunState.STOPPED))
        # What kept them from being answered may be over.
        Ask.objects.filter(run=run, state=AskState.WAITING, tries__gt=0).update(tries=0, due_at=None)
        transaction.on_commit(lambda: wake(place_of(run)))
    return run


def cancel_run(*, run: Run, actor: User | None = None) -> Run:
    """What waits is never asked; what is under way still comes in, and what came stays."""
    with transaction.atomic():
        run = _locked(run)
        run.finished_at = timezone.now()
        run = _changed(
            run, actor, "run.cancelled", RunState.CANCELLED, (RunState.RUNNING, RunState.PAUSED, RunState.STOPPED)
        )
        Ask.objects.filter(run=run, state=AskState.WAITING).update(state=AskState.CANCELLED)
    return run


def _planned(
    version: JudgeVersion, scope: Any, repeats: int, again: bool, purpose: str, terms: Mapping[str, Any] | None
) -> Run:
    """The run as it would be, not stored."""
    _check_not_dropped(version)
    check_code(version)
    asks_model = kind_named(version.judge.kind).asks_model(version.config)
    if asks_model and version.endpoint_id is None:
        raise Invalid("no_endpoint", _("This judge calls a model, but its version has no endpoint."))
    if not asks_model and version.endpoint_id is not None:
        raise Invalid("endpoint_unused", _("This judge doesn’t call a model, but its version has an endpoint."))
    if type(repeats) is not int or not 1 <= repeats <= MOST_REPEATS:
        raise Invalid("bad_repeats", _("Repeats: must be a whole number from 1 to %(most)s.") % {"most": MOST_REPEATS})
    first = _next_repeat(version) if again else 0
    if first + repeats > _LAST_REPEAT:
        raise Invalid("bad_repeats", _("This version has reached the maximum number of repeats."))
    return Run(
        version=version,
        purpose=purpose,
        terms=dict(terms or {}),
        state=RunState.RUNNING,
        scope=check_scope(version.judge.project, scope),
        is_laid=False,
        first_repeat=first,
        repeats=repeats,
    )


def _check_not_dropped(version: JudgeVersion) -> None:
    if version.state == VersionState.DROPPED:
        raise Conflict(
            "dropped",
            _("Version %(n)s of this judge is discarded. Activate it first.") % {"n": version.number},
        )


def _next_repeat(version: JudgeVersion) -> int:
    scoring = version.runs.exclude(purpose__in=(RunPurpose.IMPORT, *WITHOUT_SCORES))
    of_runs = scoring.aggregate(last=Max(F("first_repeat") + F("repeats")))["last"]
    of_scores = version.scores.aggregate(last=Max("repeat"))["last"]
    return max(of_runs or 0, 0 if of_scores is None else of_scores + 1)


def _checked_budget(version: JudgeVersion, budget: Decimal | None) -> Decimal | None:
    if budget is None:
        return None
    endpoint = version.endpoint
    if not budget.is_finite() or not 0 < budget < 10**8:
        raise Invalid("bad_budget", _("Budget: must be above 0."))
    if endpoint is not None and (endpoint.price_in is None or endpoint.price_out is None):
        raise Invalid(
            "no_price",
            _("A budget needs prices. Set the prices of “%(name)s” first.") % {"name": endpoint.name},
        )
    return round(budget, 6)


def _seconds(version: JudgeVersion, asks: int, requests: int) -> float | None:
    """From the latest replies of the project, or from the latest run of such a judge."""
    endpoint = version.endpoint
    if endpoint is None:
        last = (
            Run.objects.filter(version__judge=version.judge_id, per_second__gt=0)
            .order_by("-worked_at")
            .values_list("per_second", flat=True)
            .first()
        )
        return None if last is None else asks / last
    recent = Reply.objects.filter(project=version.judge.project_id).order_by("-id")[:_RECENT_REPLIES]
    latency = recent.aggregate(mean=Avg("latency"))["mean"]
    if latency is None:
        return None
    seconds = requests * latency / endpoint.concurrency
    if endpoint.requests_per_minute:
        seconds = max(seconds, requests * 60.0 / endpoint.requests_per_minute)
    return float(seconds)


def _locked(run: Run) -> Run:
    return Run.objects.select_for_update(of=("self",)).select_related("version__judge__project").get(pk=run.pk)


def _changed(run: Run, actor: User | None, action: str, to: RunState, allowed: tuple[RunState, ...]) -> Run:
    if run.purpose == RunPurpose.IMPORT or run.state not in allowed:
        raise Conflict("run_state", _("This run is %(state)s.") % {"state": run.get_state_display().lower()})
    run.state = to
    run.save(update_fields=["state", "stop_code", "stop_message", "budget", "finished_at"])
    judge = run.version.judge
    note(actor=actor, action=action, subject=judge.name, project=judge.project, run=run.pk)
    return run
