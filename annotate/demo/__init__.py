"""The demo project: people, a batch of all samples that is done, and one of those that came since, through the same
services that people use. Weeks 2 to 12 are in `weeks`."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Collection
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import timezone

from annotate.demo.batches import one_after_other, open_for_annotators, submit, tasks_of
from annotate.models import Batch, Project, User
from annotate.models.project import Role
from annotate.projects.accounts import mark_notices_read
from annotate.projects.write import create_project, set_member

DEMO_SLUG = "demo"
DEMO_FOLDER = Path(settings.BASE_DIR) / "fixtures" / "demo"
# Role, user name, password: printed at every start, so the demo is for a machine of one's own only.
DEMO_LOGINS = [
    (Role.ADMIN, "alma", "alma-demo"),
    (Role.REVIEWER, "remy", "remy-demo"),
    (Role.ANNOTATOR, "ana", "ana-demo"),
]
# Ana's colleagues; they have no password, so no login is possible as them.
_COLLEAGUES = ["ben", "chen"]
# As many as label everything.
_ALL = 3
_SEED = 7


def create_demo_project() -> Project:
    """The project with its criteria and people. The caller imports the samples next."""
    project = create_project(slug=DEMO_SLUG, spec=_spec())
    colleagues = [(Role.ANNOTATOR, username, None) for username in _COLLEAGUES]
    for role, username, password in [*DEMO_LOGINS, *colleagues]:
        user, created = User.objects.get_or_create(
            username=username, defaults={"display_name": username.capitalize(), "is_staff": role == Role.ADMIN}
        )
        if created:
            user.set_password(password)
            user.save(update_fields=["password"])
        set_member(project=project, user=user, role=role)
    return project


def label_first_batch(project: Project, *, until: datetime | None = None) -> Batch:
    """A batch over all samples there are, each for all three annotators, with the labels of labels.jsonl. until: when
    the last one was submitted; now by default."""
    batch = open_for_annotators(project, "First answers", overlap=_ALL, selection={"method": "all"})
    said = _labels_by_task()
    tasks = tasks_of(batch)
    of_task = {task: said[task.sample.external_id, task.annotator.username] for task in tasks if task.annotator}
    submit(batch, one_after_other(tasks, of_task, until or timezone.now()))
    return batch


def draw_new_batch(project: Project, *, size: int | None = None, leaving: Collection[str] = ()) -> Batch:
    """A draw from the samples that came since, of all or so many of them: its labels will speak for these as the first
    batch's do for the others. leaving: versions whose answers are not drawn from."""
    came = project.samples.filter(batches__isnull=True).exclude(pipeline_version__in=leaving)
    names = list(came.order_by("id").values_list("external_id", flat=True))
    drawn = names if size is None else random.Random(_SEED).sample(names, size)
    # Of the weeks before, nothing is news.
    for membership in project.memberships.select_related("user"):
        mark_notices_read(user=membership.user, until=timezone.now())
    return open_for_annotators(
        project,
        "New answers",
        overlap=_ALL,
        # Not what builds are compared by as well.
        criteria=_spec()["criteria"],
        selection={"method": "list", "samples": drawn},
        chances=dict.fromkeys(drawn, (len(drawn) / len(names), 1)),
    )


def _spec() -> dict[str, Any]:
    spec: dict[str, Any] = json.loads((DEMO_FOLDER / "project.json").read_text(encoding="utf-8"))
    return spec


def _labels_by_task() -> dict[tuple[str, str], list[dict[str, Any]]]:
    labels: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    with (DEMO_FOLDER / "labels.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            label = json.loads(line)
            labels[label["sample_id"], label["rater"]].append(label)
    return labels
