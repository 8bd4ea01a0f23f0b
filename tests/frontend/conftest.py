"""A project as its people would make it: Alice admin, Rita reviewer, Ben and Bea annotators, Charlie a stranger."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client

from annotate.models import Batch, Project, Sample, User, Verdict
from annotate.projects.write import create_project, set_member
from tests.annotate import factories
from tests.clients import as_user
from tests.frontend.building import label_task, make_samples, make_user

GUIDELINES = "# Rules\n\nRead **all** contexts.\n\n<script>alert(1)</script>\n"


@dataclass
class Staff:
    alice: User
    rita: User
    ben: User
    bea: User


def make_staff() -> Staff:
    return Staff(*(make_user(name, is_staff=name == "Alice") for name in ("Alice", "Rita", "Ben", "Bea")))


def make_help_desk(staff: Staff) -> Project:
    spec = {"name": "Help desk", "guidelines": GUIDELINES, "criteria": ["support", "relevance"]}
    project = create_project(slug="help", spec=spec, created_by=staff.alice)
    for user, role in ((staff.rita, "reviewer"), (staff.ben, "annotator"), (staff.bea, "annotator")):
        set_member(project=project, user=user, role=role)
    return project


@pytest.fixture
def staff(db: None) -> Staff:
    return make_staff()


@pytest.fixture
def project(staff: Staff) -> Project:
    return make_help_desk(staff)


@pytest.fixture
def alice(staff: Staff) -> User:
    return staff.alice


@pytest.fixture
def rita(staff: Staff) -> User:
    return staff.rita


@pytest.fixture
def ben(staff: Staff) -> User:
    return staff.ben


@pytest.fixture
def bea(staff: Staff) -> User:
    return staff.bea


@pytest.fixture
def charlie(db: None) -> User:
    return make_user("Charlie")


@pytest.fixture
def samples(project: Project) -> list[Sample]:
    return make_samples(project, 4)


@pytest.fixture
def batch(project: Project, samples: list[Sample], staff: Staff) -> Batch:
    return make_batch(project, staff)


def give(project: Project, person: User, name: str) -> None:
    """An open batch in which this sample is this person's to label."""
    factories.make_batch(project, [person], name=f"For {person.username}", samples=[name])


def make_batch(project: Project, staff: Staff) -> Batch:
    """Open: each of the four samples goes to Ben and Bea."""
    return factories.make_batch(project, [staff.ben, staff.bea], name="Batch one")


@pytest.fixture
def disputes(batch: Batch, samples: list[Sample]) -> list[Verdict]:
    return make_disputes(batch, samples[0])


def make_disputes(batch: Batch, sample: Sample) -> list[Verdict]:
    """Ben and Bea agree on relevance and disagree on both claims of the sample."""
    for task in batch.tasks.filter(sample=sample).order_by("annotator__username"):
        support = "supported" if task.annotator.username == "ben" else "contradicted"
        label_task(task, {"support": support, "relevance": 3}, comment=f"Said by {task.annotator.name}.")
    return list(Verdict.objects.filter(criterion__key="support").order_by("id"))


@pytest.fixture
def people(alice: User, rita: User, ben: User, charlie: User) -> dict[str, User]:
    return {"admin": alice, "reviewer": rita, "annotator": ben, "stranger": charlie}


@pytest.fixture
def who_may(people: dict[str, User], project: Project) -> Callable[..., dict[str, int]]:
    """The status that each kind of person gets for an address."""
    clients = {"anonymous": Client(), **{name: as_user(user) for name, user in people.items()}}

    def ask(url: str, method: str = "get", data: dict[str, Any] | None = None) -> dict[str, int]:
        return {name: getattr(client, method)(url, data or {}).status_code for name, client in clients.items()}

    return ask
