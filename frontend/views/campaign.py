"""How far a campaign is and which step is next, for many projects in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _

from annotate.models import Batch, Criterion, Membership, Project, Release, Sample, Task, User, Verdict
from annotate.models.batch import OPEN_TASK_STATUSES, BatchStatus, TaskStatus
from annotate.models.people import Role
from annotate.models.verdict import VerdictState
from annotate.permissions import may
from annotate.selectors.projects import projects_of


@dataclass
class Counts:
    """What a project holds and what waits in it."""

    samples: int = 0
    criteria: int = 0
    draft_batches: int = 0
    open_batches: int = 0
    batches: int = 0
    # Tasks of open batches.
    tasks: int = 0
    tasks_done: int = 0
    settled: int = 0
    disputed: int = 0
    releases: int = 0

    @property
    def tasks_left(self) -> int:
        return self.tasks - self.tasks_done


@dataclass(frozen=True)
class OwnBatch:
    """A batch in which somebody still has tasks."""

    number: int
    name: str
    due_date: date | None
    waiting: int


@dataclass(frozen=True)
class Step:
    """One step of a campaign. `name`: of its URL; `state`: done, next, or later."""

    name: str
    title: str
    text: str
    url: str
    action: str
    state: str


@dataclass
class Card:
    """A project as it stands on somebody's first page."""

    project: Project
    role: str
    role_label: str
    counts: Counts
    own: list[OwnBatch] = field(default_factory=list)
    step: Step | None = None
    # The first card on which something waits: it has the page's main button.
    leads: bool = False

    @property
    def waiting(self) -> int:
        return sum(batch.waiting for batch in self.own)

    @property
    def reviews(self) -> bool:
        return may(self.role, "adjudication.read")


def counts_of(projects: Sequence[Project]) -> dict[int, Counts]:
    """Counts per project id."""
    found = {project.pk: Counts() for project in projects}
    keys = list(found)
    _fill(found, Sample.objects.filter(project__in=keys), "project_id", samples=Count("id"))
    _fill(found, Criterion.objects.filter(project__in=keys, is_current=True), "project_id", criteria=Count("id"))
    _fill(
        found,
        Batch.objects.filter(project__in=keys),
        "project_id",
        batches=Count("id"),
        open_batches=Count("id", filter=Q(status=BatchStatus.OPEN)),
        draft_batches=Count("id", filter=Q(status=BatchStatus.DRAFT)),
    )
    _fill(
        found,
        Task.objects.filter(batch__project__in=keys, batch__status=BatchStatus.OPEN),
        "batch__project_id",
        tasks=Count("id"),
        tasks_done=Count("id", filter=Q(status__in=[TaskStatus.SUBMITTED, TaskStatus.SKIPPED])),
    )
    _fill(
        found,
        Verdict.objects.filter(criterion__project__in=keys),
        "criterion__project_id",
        settled=Count("id", filter=Q(state=VerdictState.SETTLED)),
        disputed=Count("id", filter=~Q(state=VerdictState.SETTLED)),
    )
    _fill(found, Release.objects.filter(project__in=keys), "project_id", releases=Count("id"))
    return found


def _fill(found: dict[int, Counts], rows: QuerySet[Any], by: str, **numbers: Count) -> None:
    for row in rows.order_by().values(by).annotate(**numbers):
        for name in numbers:
            setattr(found[row[by]], name, row[name])


def own_batches(user: User, projects: Sequence[Project]) -> dict[int, list[OwnBatch]]:
    """The open batches, per project id, in which the user still has tasks."""
    rows = (
        Task.objects.filter(
            annotator=user, batch__project__in=projects, batch__status=BatchStatus.OPEN, status__in=OPEN_TASK_STATUSES
        )
        .order_by("batch__number")
        .values("batch__project_id", "batch__number", "batch__name", "batch__due_date")
        .annotate(waiting=Count("id"))
    )
    found: dict[int, list[OwnBatch]] = {}
    for row in rows:
        found.setdefault(row["batch__project_id"], []).append(
            OwnBatch(row["batch__number"], row["batch__name"], row["batch__due_date"], row["waiting"])
        )
    return found


def cards(user: User) -> list[Card]:
    """The user's projects, each with what to do next."""
    projects = list(projects_of(user))
    roles = dict(Membership.objects.filter(user=user).values_list("project_id", "role"))
    counts = counts_of(projects)
    own = own_batches(user, projects)
    listed = []
    for project in projects:
        role = Role(Role.ADMIN if user.is_superuser else roles[project.pk])
        card = Card(project, role.value, role.label, counts[project.pk], own.get(project.pk, []))
        if may(role, "batches.change"):
            card.step = next((step for step in steps_of(project, card.counts) if step.state == "next"), None)
        listed.append(card)
    leading = next((card for card in listed if card.own or card.step or (card.reviews and card.counts.disputed)), None)
    if leading:
        leading.leads = True
    return listed


def steps_of(project: Project, counts: Counts) -> list[Step]:
    """The campaign from the first file to the export; the first step that isn't done is next."""
    labelled = bool(counts.settled or counts.disputed)
    plan = [
        (
            counts.samples > 0,
            _("Import samples"),
            _("Questions with their answers and contexts, from a file."),
            "import",
            _("Import samples"),
        ),
        (
            counts.criteria > 0,
            _("Choose criteria"),
            _("What people are asked about each unit."),
            "criteria",
            _("Add criteria"),
        ),
        (
            counts.batches > 0 or labelled,
            _("Make a batch"),
            _("Which samples go to which annotators."),
            "batch-new",
            _("New batch"),
        ),
        (
            counts.batches > counts.draft_batches or labelled,
            _("Open the batch"),
            _("Annotators see their tasks once it is open."),
            "batches",
            _("Go to batches"),
        ),
        (
            counts.tasks_left == 0 and (counts.batches > counts.draft_batches or labelled),
            _("Labelling"),
            _("%(done)d of %(all)d tasks are done.") % {"done": counts.tasks_done, "all": counts.tasks},
            "batches",
            _("Watch progress"),
        ),
        (
            labelled and counts.disputed == 0,
            _("Settle disagreements"),
            _("%(n)d units wait for a reviewer.") % {"n": counts.disputed},
            "adjudicate",
            _("Adjudicate"),
        ),
        (
            counts.releases > 0,
            _("Export"),
            _("A numbered release of the ground truth."),
            "export",
            _("Make a release"),
        ),
    ]
    steps, found_next = [], False
    for done, title, text, name, action in plan:
        state = "done" if done else "later" if found_next else "next"
        found_next = found_next or not done
        steps.append(Step(name, title, text, reverse(name, args=[project.slug]), action, state))
    return steps
