"""Who is qualified, how far each candidate is, and what they were shown in training."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.http import Http404
from django.utils.translation import gettext as _

from annotate.core.errors import Conflict
from annotate.core.rows import first_or_raise
from annotate.models import Batch, Candidate, Criterion, Project, Qualification, Task, Try, User
from annotate.models.batch import OPEN_TASK_STATUSES, BatchStatus, TaskStatus
from annotate.models.qualification import How
from annotate.projects.read import active_members


def qualified(qualification: Qualification) -> set[int]:
    """Ids of the users who have it."""
    found = Candidate.objects.filter(qualification=qualification, qualified_at__isnull=False)
    return set(found.values_list("user_id", flat=True))


def who_may_work(batch: Batch) -> dict[int, list[str]]:
    """User id -> tags, of every member who may have tasks of the batch: active, and qualified if it requires that."""
    members = active_members(batch.project)
    if batch.requires is None:
        return members
    have = qualified(batch.requires)
    return {person: tags for person, tags in members.items() if person in have}


def not_qualified(requires: Qualification | None, people: Iterable[User]) -> list[User]:
    """Those of the people who lack it; no one where nothing is required."""
    if requires is None:
        return []
    have = qualified(requires)
    return [user for user in people if user.pk not in have]


def require_qualified(requires: Qualification | None, people: Iterable[User]) -> None:
    """Raises Conflict with their names."""
    missing = not_qualified(requires, people)
    if requires is not None and missing:
        said = _("Not qualified in “%(name)s” yet: %(people)s.")
        names = ", ".join(user.name for user in missing)
        usernames = [user.username for user in missing]
        raise Conflict("not_qualified", said % {"name": requires.name, "people": names}, people=usernames)


def qualifications_of(project: Project) -> QuerySet[Qualification]:
    """The latest first, each with the number of its candidates and of those who are qualified."""
    return (
        Qualification.objects.filter(project=project)
        .annotate(
            people=Count("candidates"), have_it=Count("candidates", filter=Q(candidates__qualified_at__isnull=False))
        )
        .order_by("-id")
    )


def one_qualification(project: Project, pk: int) -> Qualification:
    found = Qualification.objects.filter(project=project, pk=pk).select_related("project")
    return first_or_raise(found, Http404(_("Qualification not found in this project.")))


def qualification_of_round(project: Project, number: int | None) -> int | None:
    """Of the round with this batch number; None: it is none."""
    if number is None:
        return None
    rounds = Batch.objects.filter(project=project, number=number, qualification__isnull=False)
    return rounds.values_list("qualification_id", flat=True).first()


def changed_criteria(qualification: Qualification) -> list[Criterion]:
    """Those of its criteria of which there is a later version than the one it asks."""
    return [criterion for criterion in qualification.asked_criteria() if not criterion.is_current]


@dataclass(frozen=True)
class Standing:
    """How far a candidate is. trained, training: finished training samples, of how many. done, asked: the same of the
    test that is under way.

    state: qualified, withdrawn, testing, training, ready (for the next test), or failed: no try is left.
    """

    candidate: Candidate
    trained: int
    training: int
    done: int
    asked: int
    tests: list[Try]

    @property
    def user(self) -> User:
        return self.candidate.user

    @property
    def qualification(self) -> Qualification:
        return self.candidate.qualification

    @property
    def last(self) -> Try | None:
        """The last test that has a result."""
        return next((one for one in reversed(self.tests) if one.finished_at), None)

    @property
    def tries_left(self) -> int:
        return max(0, self.qualification.tries + self.candidate.more_tries - len(self.tests))

    @property
    def is_waived(self) -> bool:
        return self.candidate.how == How.WAIVED

    @property
    def state(self) -> str:
        if self.candidate.qualified_at:
            return "qualified"
        if self.asked:
            return "testing"
        if self.trained < self.training:
            return "training"
        if self.tries_left:
            return "ready"
        return "withdrawn" if self.candidate.withdrawn_at else "failed"


def standings(qualification: Qualification) -> list[Standing]:
    """Of every candidate, by user name."""
    return _standings(Candidate.objects.filter(qualification=qualification))


def own_standings(user: User, projects: Collection[Project]) -> dict[int, list[Standing]]:
    """Of the user, per project id: the qualifications that they are in, the earliest first."""
    found: dict[int, list[Standing]] = defaultdict(list)
    candidates = Candidate.objects.filter(user=user, qualification__project__in=projects).order_by("qualification_id")
    for standing in _standings(candidates):
        found[standing.qualification.project_id].append(standing)
    return dict(found)


def unreached(user: User, projects: Collection[Project]) -> dict[int, list[Standing]]:
    """Of these those that the user still has to reach, in qualifications that have not ended."""
    own = own_standings(user, projects)
    if not own:
        return {}
    running = set(
        Batch.objects.filter(
            project__in=projects, qualification__isnull=False, gold_feedback=False, status=BatchStatus.OPEN
        ).values_list("qualification_id", flat=True)
    )
    return {
        project: [one for one in listed if one.state != "qualified" and one.qualification.pk in running]
        for project, listed in own.items()
    }


def own_standing(qualification: Qualification, user: User) -> Standing:
    """Raises Http404 for who is not in it."""
    found = _standings(Candidate.objects.filter(qualification=qualification, user=user))
    if not found:
        raise Http404(_("You are not in this qualification."))
    return found[0]


def _standings(candidates: QuerySet[Candidate]) -> list[Standing]:
    found = list(candidates.select_related("user", "qualification__project"))
    if not found:
        return []
    tests: dict[int, list[Try]] = defaultdict(list)
    for one in Try.objects.filter(candidate__in=found).order_by("number"):
        tests[one.candidate_id].append(one)
    trained = _counts(
        Task.objects.filter(
            batch__qualification__in={one.qualification_id for one in found},
            batch__gold_feedback=True,
            annotator__in={one.user_id for one in found},
        ).exclude(status=TaskStatus.RELEASED),
        "batch__qualification",
        "annotator",
    )
    under_way = [one for listed in tests.values() for one in listed if one.finished_at is None]
    tested = _counts(Task.objects.filter(tests__in=under_way), "tests")
    return [
        Standing(
            candidate,
            *trained.get((candidate.qualification_id, candidate.user_id), (0, 0)),
            *_under_way(tests[candidate.pk], tested),
            tests[candidate.pk],
        )
        for candidate in found
    ]


def _counts(tasks: QuerySet[Task], *by: str) -> dict[tuple[Any, ...], tuple[int, int]]:
    """(finished, all) by these."""
    finished = Count("id", filter=~Q(status__in=OPEN_TASK_STATUSES))
    counted = tasks.order_by().values_list(*by).annotate(finished=finished, every=Count("id"))
    return {tuple(row[:-2]): (row[-2], row[-1]) for row in counted}


def _under_way(tests: Sequence[Try], tested: Mapping[tuple[Any, ...], tuple[int, int]]) -> tuple[int, int]:
    """A test whose open tasks were taken away, when its candidate left the project, is over without a result."""
    done, asked = next((tested[one.pk,] for one in tests if (one.pk,) in tested), (0, 0))
    return (done, asked) if done < asked else (0, 0)
