"""Targets, and the runs that ask them: how far these have come, and what failed."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Left
from django.http import Http404
from django.utils.translation import gettext as _

from annotate.core.blindness import Reader
from annotate.core.job_state import JobState
from annotate.core.rows import first_or_raise
from annotate.models import Project
from judges.models import RunState
from judges.runs.places import is_held
from judges.runs.read import state_of_run
from systems.core.asking_place import AskingPlace
from systems.core.set_names import numbered
from systems.models import (
    FrozenQuestion,
    FrozenSet,
    Response,
    ResponseStatus,
    SystemVersion,
    Target,
    TargetAsk,
    TargetRun,
)
from systems.questions.read import SetState, one_frozen, one_set
from systems.responses.read import without_questions_to_label

# How many characters are shown of a reply: one may have a million, and a page shows hundreds.
LONGEST_REPLY = 20_000


def own_target(project: Project, version: SystemVersion | None) -> Target | None:
    """The version's own, or without a version the one of all that have none."""
    found = Target.objects.filter(project=project, version=version)
    return found.select_related("endpoint", "version", "project").first()


def target_of(version: SystemVersion) -> Target | None:
    """Where the version is asked."""
    return own_target(version.project, version) or own_target(version.project, None)


def versions_with_target(project: Project) -> QuerySet[SystemVersion]:
    """Those with one of their own."""
    return SystemVersion.objects.filter(project=project, target__isnull=False).order_by("-id")


def frozen_asked(project: Project, name: str) -> FrozenSet:
    """By its number (`support@1`), or the newest of the set. Raises Http404."""
    frozen = numbered(name)
    if frozen is not None:
        return one_frozen(project, *frozen)
    newest = SetState(one_set(project, name)).newest
    if newest is None:
        raise Http404(_("“%(name)s” was never frozen. Freeze it first.") % {"name": name[:80]})
    return newest


def runs_of(project: Project) -> QuerySet[TargetRun]:
    """The latest first."""
    found = TargetRun.objects.filter(version__project=project)
    return found.select_related("version__project", "frozen_set", "created_by").order_by("-pk")


def one_run(project: Project, run_id: int) -> TargetRun:
    return first_or_raise(runs_of(project).filter(pk=run_id), Http404(_("Run not found in this project.")))


# The keys of a revision with a repeat of it.
Asked = tuple[int, int]


def left_to_ask(run: TargetRun) -> list[Asked]:
    """What the run still has to ask, in the order of the set: of one that is not stored, all of it. What has come since
    from elsewhere is not asked."""
    revisions = list(
        FrozenQuestion.objects.filter(frozen_set=run.frozen_set_id).values_list("revision", "revision__question")
    )
    responses = Response.objects.filter(version=run.version_id, question__in=[question for _, question in revisions])
    status: dict[int, dict[int, str]] = defaultdict(dict)
    for question, repeat, said in responses.order_by("repeat").values_list("question", "repeat", "status"):
        status[question][repeat] = said
    done = set(TargetAsk.objects.filter(run=run.pk).values_list("revision", "repeat")) if run.pk else set()
    return [
        (revision, repeat)
        for revision, question in revisions
        for repeat in _to_ask(run, status[question])
        if (revision, repeat) not in done
    ]


def _to_ask(run: TargetRun, status: dict[int, str]) -> list[int]:
    """status: of the responses to a question, by repeat."""
    if run.only_failed:
        return [repeat for repeat, said in status.items() if said == ResponseStatus.FAILED]
    return [repeat for repeat in range(run.repeats) if repeat not in status]


@dataclass(frozen=True, slots=True)
class TargetProgress:
    """How far a run has come. done: of `planned`. answered, failed: of those. kept: how many needed no request, as the
    reply was there. is_waiting_for_worker: it could go on, and no worker is at its project."""

    state: str
    planned: int
    answered: int
    failed: int
    kept: int
    requests: int
    cost: Decimal
    unpriced: int
    is_waiting_for_worker: bool

    @property
    def done(self) -> int:
        return self.answered + self.failed

    @property
    def left(self) -> int:
        """Of one that has ended: those that it never asked, or that came from elsewhere."""
        return max(0, self.planned - self.done)


def state_of(run: TargetRun) -> JobState:
    """As every job tells how it is."""
    progress = progress_of(run)
    share = progress.done / progress.planned if progress.planned else float(run.state == RunState.DONE)
    return state_of_run(run, share, f"target-runs/{run.pk}/")


def progress_of(run: TargetRun) -> TargetProgress:
    counts = TargetAsk.objects.filter(run=run).aggregate(
        answered=Count("pk", filter=Q(status=ResponseStatus.OK)),
        failed=Count("pk", filter=Q(status=ResponseStatus.FAILED)),
        kept=Count("pk", filter=Q(is_kept=True)),
    )
    goes_on = run.state == RunState.RUNNING
    return TargetProgress(
        state=run.state,
        planned=run.planned,
        **counts,
        requests=run.requests,
        cost=run.cost,
        unpriced=run.unpriced,
        is_waiting_for_worker=goes_on and not is_held(AskingPlace(run.version.project_id)),
    )


def failures_of(run: TargetRun, *, reader: Reader) -> QuerySet[TargetAsk]:
    """In the order of the questions, each with `raw`, the beginning of the reply, or None. Without those to questions
    of which the reader still has something to label: what failed here tells whose the answers are."""
    failed = TargetAsk.objects.filter(run=run, status=ResponseStatus.FAILED)
    failed = without_questions_to_label(failed, "revision__question", reader=reader)
    failed = failed.select_related("revision__question").annotate(raw=Left("reply__text", LONGEST_REPLY))
    return failed.order_by("revision__question", "repeat")
