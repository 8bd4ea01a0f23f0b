from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from django.conf import global_settings
from django.contrib.auth.hashers import make_password
from django.test import override_settings

from annotate.models import Batch, Label, Project, Sample, Task, User
from annotate.projects.write import create_project, set_member
from tests.annotate.factories import make_batch, make_sample

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.processes import LiveApp

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


@cache
def _hashed(password: str) -> str:
    """As the application under test, a process of its own, knows it: by the real hasher, which is slow on purpose."""
    with override_settings(PASSWORD_HASHERS=global_settings.PASSWORD_HASHERS):
        return make_password(password)


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
    people = {
        name: User.objects.create(
            username=name, password=_hashed(f"{name}-long-password"), preferences={"introduced": True}
        )
        for name in _PEOPLE
    }
    project = create_project(slug="desk", spec={"name": "Desk", "criteria": [SUPPORT]}, created_by=people["alma"])
    set_member(project=project, user=people["remy"], role="reviewer")
    for name in ("ana", "ben"):
        set_member(project=project, user=people[name], role="annotator")
    for number in range(3):
        make_sample(project, number)
    batch = make_batch(project, [people["ana"], people["ben"]], name="First")
    return Desk(project=project, batch=batch, **people)


RELEVANCE = {
    "key": "relevance",
    "unit": "context",
    "scale": "ordinal",
    "prompt": "How much does this context help?",
    "options": [{"value": n} for n in range(4)],
    "pass": [2, 3],
}


@dataclass
class Table:
    """One sample in an open batch, and Ana who labels it."""

    ana: User
    sample: Sample
    task: Task
    page: Page

    def labels(self) -> dict[str, Label]:
        """What the server has, once the page has sent everything."""
        self.page.wait_for_selector('#save-state[data-state="saved"]')
        return {label.unit: label for label in Label.objects.filter(task=self.task)}

    def evidence(self, unit: str = "claim:0") -> list[tuple[int, int, int, str]]:
        label = self.labels().get(unit)
        return [(s["context"], s["start"], s["end"], s["quote"]) for s in label.evidence] if label else []

    def painted(self, name: str) -> list[str]:
        """The words that a highlight colours."""
        script = "(name) => [...(CSS.highlights.get(name) ?? [])].map(String)"
        return self.page.evaluate(script, name)


@pytest.fixture
def set_table(transactional_db: None, live_app: LiveApp, new_page: Callable[..., Page]) -> Callable[..., Table]:
    """`set_table(contexts=[…], …)`: Ana's workspace with a sample of these fields, open at its first step."""

    def make(*, criteria: Sequence[dict[str, Any]] = (SUPPORT, RELEVANCE), browser: Any = None, **fields: Any) -> Table:
        ana = User.objects.create_user("ana", preferences={"introduced": True})
        project = create_project(slug="desk", spec={"name": "Desk", "criteria": list(criteria)})
        set_member(project=project, user=ana, role="annotator")
        if "contexts" in fields:
            fields["contexts"] = [{"id": None, "text": text, "score": None} for text in fields["contexts"]]
        sample = make_sample(project, **fields)
        make_batch(project, [ana], name="First")
        page = new_page(ana, **(browser or {}))
        page.goto(f"{live_app.url}/p/desk/label/")
        page.wait_for_selector("#work:not([hidden])")
        return Table(ana, sample, Task.objects.get(sample=sample), page)

    return make


def claims_in(answer: str, *texts: str) -> list[dict[str, Any]]:
    """Claims where their texts stand in the answer."""
    return [{"text": text, "start": answer.index(text), "end": answer.index(text) + len(text)} for text in texts]


def wait_for_next_task(page: Page, task: str) -> None:
    """Until another task than this one is shown, or the page that says that nothing is left."""
    page.wait_for_selector(
        f'html[data-stage="done"], html[data-stage="task"][data-task-id]:not([data-task-id="{task}"])'
    )
