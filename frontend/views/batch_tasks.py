"""The tasks of a batch: who has which, given to somebody else, sent back."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotate.core.errors import Refusal
from annotate.models import Batch
from annotate.models.batch import RUNNING_BATCH_STATUSES, TaskStatus
from annotate.projects.read import one_batch
from annotate.tasks.read import one_task, task_rows
from annotate.tasks.write import reassign_tasks, return_task
from frontend.forms.batch_tasks import MoveForm, ReturnForm, TaskFilter
from frontend.views.base import ProjectPage, project_view, refuse, status_of

PAGE_SIZE = 50
MOVABLE = (TaskStatus.PENDING, TaskStatus.IN_PROGRESS, TaskStatus.RETURNED, TaskStatus.SKIPPED)
RETURNABLE = (TaskStatus.SUBMITTED, TaskStatus.SKIPPED)


@project_view("batches", get="batches.read", post="batches.change")
def tasks(page: ProjectPage, number: int) -> HttpResponse:
    """The list; a POST gives the ticked tasks to somebody else."""
    batch = one_batch(page.project, number)
    form = MoveForm(page.project, page.data)
    status = status_of(form)
    if form.is_valid():
        ids, to = form.cleaned_data["task"], form.cleaned_data["to"]
        try:
            if batch.tasks.filter(pk__in=ids).count() != len(set(ids)):
                raise Http404(_("This batch has no such task."))
            moved = reassign_tasks(actor=page.user, project=page.project, task_ids=ids, to=to)
        except Refusal as refusal:
            status = refuse(form, refusal)
        else:
            said = ngettext("%(n)d task now goes to %(name)s.", "%(n)d tasks now go to %(name)s.", len(moved))
            messages.success(page.request, said % {"name": to.name, "n": len(moved)})
            return _back(page, number)
    return page.render("frontend/batch_tasks.html", _listed(page, batch, form), status=status)


def _listed(page: ProjectPage, batch: Batch, form: MoveForm) -> dict[str, Any]:
    chosen = TaskFilter(batch, page.request.GET)
    rows = Paginator(task_rows(batch, **chosen.chosen()), PAGE_SIZE).get_page(page.request.GET.get("page"))
    ticked = set(form["task"].value() or [])
    running = batch.status in RUNNING_BATCH_STATUSES
    may_change = page.may("batches.change") and running
    listed = [
        {
            "task": task,
            "movable": may_change and task.status in MOVABLE,
            "returnable": running and page.may("tasks.return") and task.status in RETURNABLE,
            "ticked": str(task.pk) in ticked,
        }
        for task in rows
    ]
    return {
        "batch": batch,
        "filter": chosen,
        "rows": rows,
        "listed": listed,
        "form": form,
        "may_move": any(row["movable"] for row in listed),
        "query": _query(page),
    }


@project_view("batches", get="tasks.return", post="tasks.return")
def send_back(page: ProjectPage, number: int, task_id: int) -> HttpResponse:
    batch = one_batch(page.project, number)
    task = one_task(batch, task_id)
    form = ReturnForm(page.data)
    status = status_of(form)
    if form.is_valid():
        try:
            return_task(actor=page.user, project=page.project, task_id=task_id, message=form.cleaned_data["message"])
        except Refusal as refusal:
            status = refuse(form, refusal)
        else:
            said = _("The task is back with %(name)s.")
            messages.success(page.request, said % {"name": task.annotator.name if task.annotator else ""})
            return _back(page, number)
    return page.render("frontend/task_return.html", {"batch": batch, "task": task, "form": form}, status=status)


def _query(page: ProjectPage) -> str:
    kept = {key: value for key in ("person", "status") if (value := page.request.GET.get(key))}
    return urlencode(kept) + "&" if kept else ""


def _back(page: ProjectPage, number: int) -> HttpResponseRedirect:
    """To the list as it was filtered."""
    query = page.request.GET.urlencode()
    return HttpResponseRedirect(page.url("batch-tasks", number) + (f"?{query}" if query else ""))
