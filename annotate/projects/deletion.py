"""The worker's part of deleting a project: all of its rows in one transaction, then its files. Until the end no one
finds the project (annotate.core.permissions), so nothing half-deleted is ever seen; what ends too early begins anew.

Which rows: those of every table from which foreign keys lead to the project, whatever room the table is of.
"""

from __future__ import annotations

import logging
from graphlib import TopologicalSorter
from typing import Any

from django.apps import apps
from django.db import Error, OperationalError, connection, transaction
from django.db.models import ForeignKey, Model

from annotate.core import advisory, stored
from annotate.core.background import hand_over
from annotate.core.rows import execute
from annotate.core.trail import note
from annotate.models import AuditChain, Batch, LeftFile, Project
from annotate.models.batch import BatchStatus

_log = logging.getLogger(__name__)

Table = type[Model]
# What the trail tells of a deleted project, as counts.
_TOLD = {"annotate_sample": "samples", "annotate_label": "labels", "annotate_verdict": "verdicts"}


def wake_deletion() -> None:
    """The worker looks by itself, every few seconds: that nobody hears this costs no more than these."""
    try:
        hand_over("annotate.tasks.look_for_deletions")
    except Exception:  # noqa: BLE001 - kombu's, and those of the transport below it
        _log.info("No worker could be told of a deletion; it looks by itself.")


def look_for_deletions() -> None:
    """Deletes what waits for it, and removes files that no row names any more."""
    waiting = Project.objects.filter(deleting_at__isnull=False).order_by("deleting_at")
    for pk in waiting.values_list("pk", flat=True):
        delete_waiting(pk)
    stored.remove_left()


def delete_waiting(project_id: int) -> bool:
    """Whether the project is gone now. Not while another process is at it, or an import of it is being written; and not
    when it fails, of which nothing stays but a note, and the project is back."""
    try:
        with transaction.atomic():
            # Locked in the order in which an import does.
            if not advisory.begin_import(project_id, wait=False):
                return False
            waiting = Project.objects.select_for_update(skip_locked=True, of=("self",)).select_related("deleting_by")
            project = waiting.filter(pk=project_id, deleting_at__isnull=False).first()
            if project is None:
                return False
            _delete_rows(project)
    except OperationalError:
        raise  # PostgreSQL went away, or another transaction was in the way; the worker comes again
    except Error:
        _log.exception("Project %s could not be deleted", project_id)
        _give_back(project_id)
        return False
    stored.remove_left()
    return True


def _delete_rows(project: Project) -> None:
    counts: dict[str, Any] = {}
    own = {"project": project.pk}
    fields = tables_of_projects()
    for table in fields:
        if any(field.name == "stored_as" for field in table._meta.fields):
            files = f"SELECT stored_as FROM {_name(table)} WHERE {_of_project(table, fields)} AND stored_as <> ''"
            execute(f"INSERT INTO {_name(LeftFile)} (stored_as) {files}", own)
    # What those who kept the trail of it compare theirs with. No one adds to it: the project is locked.
    chain = AuditChain.objects.filter(project=project).first()
    trail = {"length": chain.length, "hash": chain.hash} if chain else None
    # First, though all others refer to it: what is never deleted by itself goes only after its project (the trigger
    # `annotate_refuse_rewriting`). Foreign keys are checked at the end.
    execute("SET CONSTRAINTS ALL DEFERRED")
    execute(f"DELETE FROM {_name(Project)} WHERE id = %(project)s", own)
    for table in _referring_first(fields):
        gone = execute(f"DELETE FROM {_name(table)} WHERE {_of_project(table, fields)}", own)
        if table._meta.db_table in _TOLD:
            counts[_TOLD[table._meta.db_table]] = gone
    execute("SET CONSTRAINTS ALL IMMEDIATE")
    note(
        actor=project.deleting_by,
        action="project.deleted",
        subject=project.name,
        slug=project.slug,
        asked_at=project.deleting_at.isoformat() if project.deleting_at else None,
        trail=trail,
        **counts,
    )


def _give_back(project_id: int) -> None:
    with transaction.atomic():
        project = Project.objects.select_for_update(of=("self",)).select_related("deleting_by").get(pk=project_id)
        actor, project.deleting_at, project.deleting_by = project.deleting_by, None, None
        project.save(update_fields=["deleting_at", "deleting_by"])
        # Trainings and tests, which no page resumes, were paused when the deletion began.
        rounds = Batch.objects.filter(project=project, qualification__isnull=False, status=BatchStatus.PAUSED)
        rounds.update(status=BatchStatus.OPEN)
        note(actor=actor, action="project.delete_failed", subject=project.name, slug=project.slug)


# Tables


def tables_of_projects() -> dict[Table, ForeignKey[Any, Any]]:
    """Each table of the projects' data, with the foreign key that leads towards the project; one that may be empty only
    where there is no other."""
    found: dict[Table, ForeignKey[Any, Any]] = {}
    while new := _next_tables(found, may_be_empty=False) or _next_tables(found, may_be_empty=True):
        found |= new
    return found


def _next_tables(found: dict[Table, Any], *, may_be_empty: bool) -> dict[Table, ForeignKey[Any, Any]]:
    return {
        model: field
        for model in apps.get_models(include_auto_created=True)
        if model is not Project and model not in found
        for field in _keys(model)
        if field.null == may_be_empty and (field.related_model is Project or field.related_model in found)
    }


def _keys(model: Table) -> list[ForeignKey[Any, Any]]:
    return [
        field
        for field in model._meta.get_fields()
        if isinstance(field, ForeignKey) and field.model is model and field.related_model is not model
    ]


def _referring_first(fields: dict[Table, ForeignKey[Any, Any]]) -> list[Table]:
    graph = {table: {field.related_model for field in _keys(table)} & fields.keys() for table in fields}
    return list(reversed(list(TopologicalSorter(graph).static_order())))


def _of_project(table: Table, fields: dict[Table, ForeignKey[Any, Any]]) -> str:
    field = fields[table]
    column = connection.ops.quote_name(field.column)
    parent: Any = field.related_model
    if parent is Project:
        return f"{column} = %(project)s"
    return f"{column} IN (SELECT {parent._meta.pk.column} FROM {_name(parent)} WHERE {_of_project(parent, fields)})"


def _name(table: Table) -> str:
    return connection.ops.quote_name(table._meta.db_table)
