"""Batches: the list, a form for a new one, one batch with its progress, and its steps from draft to closed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.db.models import Count, Q
from django.http import Http404, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotate.errors import Refusal
from annotate.models import Batch
from annotate.models.batch import BatchStatus, TaskStatus
from annotate.models.project import UnitKind
from annotate.selectors.progress import batch_annotators, batch_criteria, batch_skips
from annotate.selectors.projects import one_batch
from annotate.services.batches import (
    close_batch,
    create_batch,
    delete_batch,
    open_batch,
    reopen_batch,
    start_adjudication,
)
from frontend.forms.batches import BatchForm
from frontend.views.base import ProjectPage, project_view, refuse, status_of

# Step in the address -> what does it, and what is said then.
STEPS: dict[str, tuple[Callable[..., Batch], Any]] = {
    "open": (open_batch, gettext_lazy("Batch %(n)d is open: its tasks wait for the annotators.")),
    "adjudicate": (start_adjudication, gettext_lazy("Labelling in batch %(n)d has ended; reviewers settle the rest.")),
    "close": (close_batch, gettext_lazy("Batch %(n)d is closed.")),
    "reopen": (reopen_batch, gettext_lazy("Batch %(n)d is open again.")),
}
DONE = Q(tasks__status__in=[TaskStatus.SUBMITTED, TaskStatus.SKIPPED])


@project_view("batches", get="batches.read")
def batches(page: ProjectPage) -> HttpResponse:
    rows = page.project.batches.annotate(total=Count("tasks"), done=Count("tasks", filter=DONE))
    return page.render("frontend/batches.html", {"rows": rows, "may_change": page.may("batches.change")})


@project_view("batches", get="batches.change", post="batches.change")
def new(page: ProjectPage) -> HttpResponse:
    form = BatchForm(page.project, page.data)
    status = status_of(form)
    if form.is_valid():
        given = {name: form.cleaned_data[name] for name in ("name", "criteria", "annotators", "overlap", "due_date")}
        try:
            batch = create_batch(project=page.project, selection=form.selection(), created_by=page.user, **given)
        except Refusal as refusal:
            status = refuse(form, refusal)
        else:
            said = _("Batch %(n)d is a draft. Open it to make the tasks.")
            messages.success(page.request, said % {"n": batch.number})
            return page.redirect("batch", batch.number)
    return page.render("frontend/batch_new.html", {"form": form}, status=status)


@project_view("batches", get="batches.read")
def batch(page: ProjectPage, number: int) -> HttpResponse:
    return page.render("frontend/batch.html", _detail(page, number))


@project_view("batches", get="batches.read")
def progress(page: ProjectPage, number: int) -> HttpResponse:
    """The part of the page that a browser asks for again while the batch is open."""
    return page.render("frontend/partials/batch_progress.html", _detail(page, number))


def _detail(page: ProjectPage, number: int) -> dict[str, Any]:
    found = one_batch(page.project, number)
    return {
        "batch": found,
        "samples": found.batch_samples.count(),
        "annotators": batch_annotators(found),
        "skips": batch_skips(found),
        "people": found.annotators.order_by("username") if found.status == BatchStatus.DRAFT else [],
        "criteria": batch_criteria(found),
        "may_change": page.may("batches.change"),
        "asks_about_claims": found.criteria.filter(unit=UnitKind.CLAIM).exists(),
    }


@project_view("batches", post="batches.change")
def step(page: ProjectPage, number: int, step: str) -> HttpResponse:
    if step not in STEPS:
        raise Http404
    act, done = STEPS[step]
    found = one_batch(page.project, number)
    page.attempt(lambda: act(batch=found, actor=page.user), done % {"n": number})
    return page.redirect("batch", number)


@project_view("batches", get="batches.change", post="batches.change")
def delete(page: ProjectPage, number: int) -> HttpResponse:
    """GET asks, POST deletes."""
    found = one_batch(page.project, number)
    if page.request.method != "POST":
        return page.render("frontend/batch_delete.html", {"batch": found, "samples": found.batch_samples.count()})
    deleted = page.attempt(
        lambda: delete_batch(batch=found, actor=page.user), _("Batch %(n)d is deleted.") % {"n": number}
    )
    return page.redirect("batches") if deleted else page.redirect("batch", number)
