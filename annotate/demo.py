"""The demo project: people, a batch of all samples that is done, and one of those that came since, through the same
services that people use."""

from __future__ import annotations

import json
from collections import defaultdict
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import timezone

from annotate.batches.steps import open_batch
from annotate.batches.write import create_batch
from annotate.labels.consensus import settle_samples
from annotate.models import Batch, Label, LabelEvent, Membership, Project, Rater, Task, User
from annotate.models.batch import TaskStatus
from annotate.models.project import Role
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
_SEED = 7


def create_demo_project() -> Project:
    """The project with its criteria and people. The caller imports the samples next."""
    spec = json.loads((DEMO_FOLDER / "project.json").read_text(encoding="utf-8"))
    project = create_project(slug=DEMO_SLUG, spec=spec)
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


def label_first_batch(project: Project) -> Batch:
    """A batch over all samples there are, each for all three annotators, with the labels of labels.jsonl."""
    batch = _demo_batch(project, "First answers", selection={"method": "all"})
    done = _labels_by_task()
    by_task = Task.objects.filter(batch=batch).select_related("sample", "annotator").order_by("annotator", "position")
    said_in = {task: done[task.sample.external_id, task.annotator.username] for task in by_task if task.annotator}
    tasks = list(said_in)
    _write_labels(project, said_in)
    # One after the other, up to now, each with the time that it took.
    at = timezone.now()
    for task in reversed(tasks):
        task.active_seconds = 20 + 4 * len(said_in[task])
        task.status, task.submitted_at = TaskStatus.SUBMITTED, at
        at -= timedelta(seconds=task.active_seconds)
        task.started_at = at
    batch.opened_at = at
    batch.save(update_fields=["opened_at"])
    Task.objects.bulk_update(tasks, ["status", "started_at", "submitted_at", "active_seconds"])
    criterion_ids = list(batch.criteria.values_list("id", flat=True))
    for sample_id in {task.sample_id for task in tasks}:
        settle_samples(criterion_ids=criterion_ids, needed={sample_id: batch.overlap}, batch_id=batch.pk)
    return batch


def draw_new_batch(project: Project) -> Batch:
    """A draw of all samples that came since: its labels will speak for these as the first batch's do for the others."""
    names = list(project.samples.filter(batches__isnull=True).order_by("id").values_list("external_id", flat=True))
    return _demo_batch(
        project,
        "New answers",
        selection={"method": "list", "samples": names},
        chances=dict.fromkeys(names, (1.0, 1)),
    )


def _demo_batch(project: Project, name: str, **chosen: Any) -> Batch:
    members = Membership.objects.filter(project=project, role=Role.ANNOTATOR).select_related("user")
    annotators = [member.user for member in members]
    batch = create_batch(
        project=project,
        name=name,
        criteria=list(project.criteria.filter(is_current=True)),
        annotators=annotators,
        overlap=len(annotators),
        seed=_SEED,
        created_by=User.objects.get(username=DEMO_LOGINS[0][1]),
        **chosen,
    )
    return open_batch(batch=batch)


def _labels_by_task() -> dict[tuple[str, str], list[dict[str, Any]]]:
    labels: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    with (DEMO_FOLDER / "labels.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            label = json.loads(line)
            labels[label["sample_id"], label["rater"]].append(label)
    return labels


def _write_labels(project: Project, said_in: dict[Task, list[dict[str, Any]]]) -> None:
    criteria = {criterion.key: criterion for criterion in project.criteria.filter(is_current=True)}
    raters = {rater.user_id: rater for rater in Rater.objects.filter(project=project)}
    labels = Label.objects.bulk_create(
        Label(
            task=task,
            rater=raters[task.annotator_id],
            sample=task.sample,
            unit=said["unit"],
            criterion=criteria[said["criterion"]],
            value=said["value"],
            comment=said.get("comment", ""),
        )
        for task, all_said in said_in.items()
        for said in all_said
    )
    actors = {rater.pk: rater.user_id for rater in raters.values()}
    LabelEvent.objects.bulk_create(
        LabelEvent(
            label=label,
            revision=label.revision,
            value=label.value,
            comment=label.comment,
            actor_id=actors[label.rater_id],
        )
        for label in labels
    )
