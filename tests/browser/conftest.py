from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from django.conf import global_settings
from django.test import override_settings

from annotate.models import Batch, Project, User
from annotate.services.batches import create_batch, open_batch
from annotate.services.projects import create_project, set_member
from tests.annotate.factories import make_sample

if TYPE_CHECKING:
    from playwright.sync_api import Page

SUPPORT = {
    "key": "support",
    "unit": "claim",
    "scale": "nominal",
    "prompt": "Do the contexts support this claim?",
    "options": [
        {"value": "supported", "label": "Supported"},
        {"value": "contradicted", "label": "Contradicted"},
        {"value": "not in context", "label": "Not in context"},
    ],
    "pass": ["supported"],
}


_PEOPLE = ("alma", "remy", "ana", "ben")


@dataclass
class Desk:
    project: Project
    alma: User
    remy: User
    ana: User
    ben: User
    batch: Batch


@pytest.fixture
def desk(transactional_db: None) -> Desk:
    """A project with three samples of two claims each in an open batch; Ana and Ben both label all of them."""
    # The application under test is a process of its own and knows only real hashers.
    with override_settings(PASSWORD_HASHERS=global_settings.PASSWORD_HASHERS):
        people = {name: User.objects.create_user(name, password=f"{name}-long-password") for name in _PEOPLE}
    project = create_project(slug="desk", spec={"name": "Desk", "criteria": [SUPPORT]}, created_by=people["alma"])
    set_member(project=project, user=people["remy"], role="reviewer")
    for name in ("ana", "ben"):
        set_member(project=project, user=people[name], role="annotator")
    for number in range(3):
        make_sample(project, number)
    batch = open_batch(
        batch=create_batch(
            project=project,
            name="First",
            criteria=list(project.criteria.all()),
            annotators=[people["ana"], people["ben"]],
            overlap=2,
            selection={"method": "all"},
            seed=1,
        )
    )
    return Desk(project=project, batch=batch, **people)


def wait_for_next_task(page: Page, task: str) -> None:
    """Until another task than this one is shown, or the page that says that nothing is left."""
    page.wait_for_selector(
        f'html[data-stage="done"], html[data-stage="task"][data-task-id]:not([data-task-id="{task}"])'
    )
