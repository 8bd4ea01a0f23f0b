"""Runs of judges: which there are, how far they have come, and what failed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Count, QuerySet, TextField, Value
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Coalesce, Left, NullIf
from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.core.blindness import (
    FEWEST_SAMPLES,
    GeneralReader,
    Reader,
    require_figures_of_many,
    samples_without_judges,
)
from annotate.core.errors import Conflict
from annotate.core.job_state import JobState
from annotate.core.permissions import may, role_of
from annotate.core.rows import first_or_raise
from annotate.models import Project
from annotate.models.job import JobStatus
from judges.core.locked_read import locked_samples, why_locked
from judges.models import Ask, AskState, Finding, Reply, Run, RunPurpose, RunState, Score, ScoreStatus
from judges.runs.places import is_held, place_of

# A rate that was counted longer ago than this may hold no more.
_RATE_HOLDS = timedelta(seconds=30)
MOST_FAILURES = 200
# How many characters are shown of a reply that failed: one may have a million, and a page shows hundreds.
LONGEST_RAW = 20_000
_SAID = Coalesce(
    *(NullIf(KeyTextTransform(name, "body"), Value("")) for name in ("text", "refusal", "raw")),
    Value(""),
    output_field=TextField(),
)


@dataclass(frozen=True, slots=True)
class RunProgress:
    """How far a run has come.

    planned: how many asks it has; as long as `is_laid` is false there may be more. to_come: about how many, which a
    cancelled run will never have; None when it isn't known. by_status: of those that are done, by what came of them.
    kept: how many needed no request, since every
    reply was there already. already: how many have all their scores from another run, which was there first; these are
    in `done`, and neither in by_status nor among this run's scores. cost, tokens: of the replies that it paid for;
    unpriced: of how many of these the price isn't known. unanswered: requests that may have been paid and brought no
    reply that is kept, for `at_most` as far as it can be told. dropped: outcomes that could not be written, since their
    samples were gone. eta_seconds: None when it isn't known.
    is_waiting_for_worker: it could go on, and no worker is at it.
    """

    state: str
    planned: int
    is_laid: bool
    to_come: int | None
    waiting: int
    under_way: int
    done: int
    cancelled: int
    by_status: dict[str, int]
    kept: int
    already: int
    cost: Decimal
    currency: str | None
    unpriced: int
    unanswered: int
    at_most: Decimal
    dropped: int
    tokens_in: int
    tokens_out: int
    per_second: float | None
    is_waiting_for_worker: bool

    @property
    def eta_seconds(self) -> float | None:
        return None if self.per_second is None or self.to_come is None else self.left / self.per_second

    @property
    def share(self) -> float:
        """Of all that it is to ask, as far as that is known, 0 to 1."""
        return (self.done + self.never) / self.expected if self.expected else float(self.state == RunState.DONE)

    @property
    def expected(self) -> int:
        """How many asks it will have in the end, as far as that is known."""
        return self.planned + (self.to_come or 0)

    @property
    def left(self) -> int:
        """How many are still to be done, as far as that is known."""
        return self.waiting + self.under_way + (0 if self.state == RunState.CANCELLED else self.to_come or 0)

    @property
    def never(self) -> int:
        """How many of a cancelled run are not asked about, as far as that is known."""
        return self.cancelled + (self.to_come or 0 if self.state == RunState.CANCELLED else 0)

    @property
    def failed(self) -> int:
        return self.done - self.already - self.by_status.get(ScoreStatus.OK, 0)


@dataclass(frozen=True, slots=True)
class Failure:
    """An ask that brought no score. detail: why, in our words; raw: what the model said: both only for readers who may
    run judges. held_back: both are empty, as the reader still has to label the sample; or the detail says that nobody
    may know before a look what judges said about it."""

    sample: str
    unit: str
    repeat: int
    status: str
    detail: str
    raw: str
    held_back: bool = False


def runs_of(project: Project) -> QuerySet[Run]:
    """Those that were started here, the latest first."""
    return (
        Run.objects.filter(version__judge__project=project)
        .exclude(purpose=RunPurpose.IMPORT)
        .select_related("version__judge", "version__endpoint", "created_by")
        .order_by("-pk")
    )


def one_run(project: Project, run_id: int) -> Run:
    return first_or_raise(runs_of(project).filter(pk=run_id), Http404(_("Run not found in this project.")))


def state_of(run: Run) -> JobState:
    """As every job tells how it is."""
    return state_of_run(run, progress_of(run).share, f"runs/{run.pk}/")


# One that stopped by itself goes on only when it is told to.
_STATUS_OF = {RunState.STOPPED: JobStatus.FAILED}


def state_of_run(run: Any, progress: float, result: str) -> JobState:
    """run: of judges, or one that asks a system (systems.models.TargetRun)."""
    return JobState(
        status=_STATUS_OF.get(run.state, run.state),
        created_at=run.created_at,
        finished_at=run.finished_at,
        progress=progress,
        result=result if run.state == RunState.DONE else None,
        error={"code": run.stop_code, "message": run.stop_message} if run.stop_code else None,
    )


def progress_of(run: Run) -> RunProgress:
    """As it stands now; `run` as it was read."""
    by_state: Counter[str] = Counter()
    by_status: Counter[str] = Counter()
    kept = already = 0
    alike = Ask.objects.filter(run=run).values_list("state", "status", "is_cached", "was_there").order_by()
    for state, status, is_cached, was_there, count in alike.annotate(n=Count("pk")):
        by_state[state] += count
        if state == AskState.DONE:
            kept += count if is_cached else 0
            if was_there:
                already += count
            else:
                by_status[status] += count
    endpoint = run.version.endpoint
    # What is laid when it is done is counted at the run a moment later.
    planned = max(run.planned, by_state.total())
    to_come = 0 if run.is_laid else None if run.expected is None else max(0, run.expected - planned)
    goes_on = run.state == RunState.RUNNING
    holds = run.worked_at is not None and timezone.now() - run.worked_at < _RATE_HOLDS
    return RunProgress(
        state=run.state,
        planned=planned,
        is_laid=run.is_laid,
        to_come=to_come,
        waiting=by_state[AskState.WAITING],
        under_way=by_state[AskState.LEASED],
        done=by_state[AskState.DONE],
        cancelled=by_state[AskState.CANCELLED],
        by_status=dict(by_status),
        kept=kept,
        already=already,
        cost=run.cost,
        currency=None if endpoint is None else endpoint.currency,
        unpriced=run.unpriced,
        unanswered=run.unanswered,
        at_most=run.at_most,
        dropped=run.dropped,
        tokens_in=run.tokens_in,
        tokens_out=run.tokens_out,
        per_second=run.per_second if goes_on and holds and run.per_second else None,
        is_waiting_for_worker=goes_on and not is_held(place_of(run)),
    )


def findings_of(run: Run, *, reader: Reader) -> dict[str, int] | None:
    """How many of its scores have which finding, in the order of Finding. None where none has, and where that would
    tell the reader what the judge said of a sample that they must not know about yet: which of both is told to no one.
    """
    scores = Score.objects.filter(run=run, status=ScoreStatus.OK).order_by()
    counted = dict(scores.exclude(finding="").values_list("finding").annotate(n=Count("pk")))
    if not counted:
        return None
    if not isinstance(reader, GeneralReader):
        answers = [*counted, ""] if scores.filter(finding="").exists() else list(counted)
        samples = scores.values_list("sample", flat=True).distinct()
        if len(answers) < 2 or len(samples[:FEWEST_SAMPLES]) < FEWEST_SAMPLES:
            try:
                require_figures_of_many(reader, samples, answers)
            except Conflict:
                return None
    return {finding: counted[finding] for finding in Finding.values if finding in counted}


@dataclass(frozen=True)
class Failures:
    """What a run asked about and got no score for, in the order in which it was asked; a slice of it is a list of at
    most MOST_FAILURES. Why it failed may say what the judge said: that is told only to readers who may run judges, and
    not of samples that they still have to label."""

    run: Run
    reader: Reader = field(kw_only=True)

    def count(self) -> int:
        return self._asks().count()

    def __getitem__(self, part: slice) -> list[Failure]:
        first = part.start or 0
        last = first + MOST_FAILURES if part.stop is None else min(part.stop, first + MOST_FAILURES)
        asks = list(self._asks().select_related("sample").order_by("pk")[first:last])
        said = dict(
            Reply.objects.filter(pk__in=[ask.replies[-1] for ask in asks if ask.replies])
            .annotate(said=Left(_SAID, LONGEST_RAW))
            .values_list("pk", "said")
        )
        project, samples = self.run.version.judge.project, {ask.sample_id for ask in asks}
        blind = samples_without_judges(self.reader, samples)
        closed = locked_samples(project, samples, reader=self.reader) - blind
        sees_reasons = isinstance(self.reader, GeneralReader) or may(role_of(self.reader, project), "judges.run")
        told = {ask.pk for ask in asks if sees_reasons and ask.sample_id not in blind | closed}
        details = {ask.pk: ask.detail for ask in asks if ask.pk in told}
        if sees_reasons:
            details |= {ask.pk: why_locked() for ask in asks if ask.sample_id in closed}
        return [
            Failure(
                sample=ask.sample.external_id,
                unit=ask.unit,
                repeat=ask.repeat,
                status=ask.status,
                detail=details.get(ask.pk, ""),
                raw=said.get(ask.replies[-1], "") if ask.replies and ask.pk in told else "",
                held_back=sees_reasons and ask.sample_id in blind | closed,
            )
            for ask in asks
        ]

    def _asks(self) -> QuerySet[Ask]:
        failed = Ask.objects.filter(run=self.run, state=AskState.DONE).exclude(status=ScoreStatus.OK)
        return failed.filter(was_there=False)


def failures(run: Run, *, reader: Reader) -> list[Failure]:
    """The first of them."""
    return Failures(run, reader=reader)[:]
