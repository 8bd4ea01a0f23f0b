"""Batches: the list, a form for a new one, one batch with its progress, its steps from draft to closed, and more of one
that is under way: a later date, people, samples. Its tasks: who has which, handed on or sent back."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.db.models import Count, Q
from django.http import Http404, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.template.defaultfilters import floatformat
from django.template.loader import render_to_string
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotate.batches.audits_read import stuck_schedules
from annotate.batches.read import batch_criteria, batch_skips, counts_by, left_out, open_flags, unfinished
from annotate.batches.steps import (
    close_batch,
    count_single_labels,
    delete_batch,
    discount_single_labels,
    extend_batch,
    open_batch,
    pause_batch,
    reopen_batch,
    resume_batch,
    start_adjudication,
)
from annotate.batches.write import create_batch, plan_batch
from annotate.core.blindness import SYSTEM
from annotate.core.errors import Refusal
from annotate.labels.gold_read import known_answers
from annotate.models import Batch, ScheduledAudit, Task
from annotate.models.batch import RUNNING_BATCH_STATUSES, BatchStatus, Came, TaskStatus
from annotate.models.project import UnitKind
from annotate.models.view import ViewOf
from annotate.projects.read import one_batch, work_batches
from annotate.tasks.read import one_task, task_rows
from annotate.tasks.write import HandedOn, reassign_tasks, return_task
from frontend.base.pages import MANY, ProjectPage, RefusalsShown, project_view, status_of
from frontend.batches.board import board_of
from frontend.batches.chosen_samples import OF, OPENING, chosen_samples
from frontend.batches.forms import CHOSEN, BatchForm, ExtendForm, MoveForm, ReturnForm, TaskFilter
from frontend.batches.proposals import effect_of, settings_in_words

# Step in the address -> what does it, and what is said then.
STEPS: dict[str, tuple[Callable[..., Batch | HandedOn], Any]] = {
    "open": (open_batch, gettext_lazy("Batch %(n)d is open. Its tasks are ready for annotators.")),
    "adjudicate": (
        start_adjudication,
        gettext_lazy("Labelling in batch %(n)d has ended. Reviewers now decide the disputed units."),
    ),
    "pause": (pause_batch, gettext_lazy("Batch %(n)d is paused. Resume it to continue labelling.")),
    "resume": (resume_batch, gettext_lazy("Batch %(n)d resumed.")),
    "count-single-labels": (
        count_single_labels,
        gettext_lazy("Single labels now resolve units of batch %(n)d. Reports name you as deciding this."),
    ),
    "discount-single-labels": (
        discount_single_labels,
        gettext_lazy("Single labels no longer resolve units of batch %(n)d."),
    ),
    "close": (close_batch, gettext_lazy("Batch %(n)d is closed.")),
    "reopen": (reopen_batch, gettext_lazy("Batch %(n)d reopened.")),
}
# Steps that end what people are at: GET asks first, and says what stops.
ENDINGS = {
    "adjudicate": {BatchStatus.OPEN, BatchStatus.PAUSED},
    "close": {BatchStatus.OPEN, BatchStatus.PAUSED, BatchStatus.ADJUDICATING},
}


@project_view("batches", get="batches.read")
def batches(page: ProjectPage) -> HttpResponse:
    # By the batch's key alone: grouped by all that a batch has, millions of tasks are sorted by that. And their states
    # are counted, not their keys: the index has all that is asked for (task_by_status).
    done = Q(status__in=[TaskStatus.SUBMITTED, TaskStatus.SKIPPED])
    tasks = Task.objects.filter(batch__project=page.project)
    counts = counts_by(tasks, "batch_id", total=Count("status"), done=Count("status", filter=done))
    context = {
        "rows": [(batch, counts[batch.pk]) for batch in work_batches(page.project)],
        "may_change": page.may("batches.change"),
        "may_qualify": page.may("qualifications.read"),
        "stuck": stuck_schedules(page.project) if page.may("schedules.change") else 0,
    }
    return page.render("batches/batches.html", context)


@project_view("batches", get="batches.change", post="batches.change")
def new(page: ProjectPage) -> HttpResponse:
    sent = page.data or page.request.GET
    try:
        chosen = chosen_samples(page.project, sent, reader=page.user)
    except Refusal as refusal:
        messages.error(page.request, refusal.message)
        return page.redirect("units" if sent.get(OF) == ViewOf.UNITS else "samples")
    # A list sends what was selected in it, which may be too long for an address; the form comes next.
    form = BatchForm(page.project, None if OPENING in sent else page.data, chosen=chosen)
    if form.is_valid():
        with RefusalsShown(form):
            if chosen is not None and form.cleaned_data["method"] == CHOSEN:
                chosen.require_seen()
            batch = create_batch(
                project=page.project, selection=form.selection(), created_by=page.user, **form.options()
            )
            said = _("Batch %(n)d is a draft. Open it to create the tasks.")
            messages.success(page.request, said % {"n": batch.number})
            return page.redirect("batch", batch.number)
    known = known_answers(page.project, reader=SYSTEM).count()
    context = {"form": form, "samples": page.project.samples.count(), "gold": known}
    return page.render("batches/batch_new.html", context, status=status_of(form))


@project_view("batches", post="batches.change")
def preview(page: ProjectPage) -> HttpResponse:
    """What the form, as far as it is filled in, would make. Stores nothing; the form shows what is wrong itself."""
    sent = page.request.POST.copy()
    # The only field that changes nothing here, and the first to be empty.
    sent["name"] = sent.get("name") or "…"
    plan, problem = None, ""
    try:
        form = BatchForm(page.project, sent, chosen=chosen_samples(page.project, sent, reader=page.user))
    except Refusal as refusal:
        return page.render("batches/partials/batch_plan.html", {"plan": None, "problem": refusal.message})
    if form.is_valid():
        try:
            plan = plan_batch(project=page.project, selection=form.selection(), **form.planned())
        except Refusal as refusal:
            problem = refusal.message
    return page.render("batches/partials/batch_plan.html", {"plan": plan, "problem": problem})


@project_view("batches", get="batches.read")
def batch(page: ProjectPage, number: int) -> HttpResponse:
    found = one_batch(page.project, number)
    later = page.comes_later(found.batch_samples.order_by("pk"))
    figures = {} if later else _figures(page, found)
    return page.render("batches/batch.html", {**_settings(page, found), **figures, "later": later})


@project_view("batches", get="batches.read")
def progress(page: ProjectPage, number: int) -> HttpResponse:
    """The part of the page that a browser asks for again. Nothing (204) when it would look the same as the one that
    the browser has: then focus, scrolling and what a screen reader is saying stay where they are."""
    found = one_batch(page.project, number)
    context = {"batch": found, **_figures(page, found)}
    if page.request.GET.get("seen") == context["seen"] and found.status == BatchStatus.OPEN:
        return HttpResponse(status=204)
    return page.render("batches/partials/batch_progress.html", context)


def _settings(page: ProjectPage, found: Batch) -> dict[str, Any]:
    """Of the page, what is there at once."""
    audit = _audit_draw(found)
    samples = found.batch_samples.count()
    shown: dict[str, Any] = {
        "batch": found,
        "samples": samples,
        "may_change": page.may("batches.change"),
        "drawn": found.batch_samples.filter(probability__isnull=False).count(),
        "chosen": found.batch_samples.filter(probability__isnull=True).count(),
        "came": Came(found.selection["came"]).label,
        "audit_draw": audit,
        "added": 0 if audit is None else samples - audit.drawn,
        "proposals": settings_in_words(found),
        "asks_about_claims": found.criteria.filter(unit=UnitKind.CLAIM).exists(),
    }
    percents: dict[str, Any] = {
        f"{name}_percent": round(100 * getattr(found, f"{name}_share")) for name in ("overlap", "gold", "repeat")
    }
    percents["withheld_percent"] = floatformat(100 * found.withheld_share, -2)
    if found.settle_share is not None:
        # Other than the form, the API takes any share: 66.6 % stays that.
        percents["settle_percent"] = floatformat(100 * found.settle_share, -2)
    return {**shown, **percents}


def _figures(page: ProjectPage, found: Batch) -> dict[str, Any]:
    """Of the page, what is worked out over all of the batch."""
    is_draft = found.status == BatchStatus.DRAFT
    criteria = batch_criteria(found)
    shown: dict[str, Any] = {
        "project": page.project,
        "batch": found,
        "skips": batch_skips(found, reader=page.user),
        "people": found.annotators.order_by("username") if is_draft else [],
        "criteria": criteria,
        "single": sum(row.single for row in criteria),
        "not_asking": [f"{row.name} ({row.not_asked})" for row in criteria if row.not_asked],
        "left_out": left_out(found),
        "flags": open_flags(found),
    }
    if not is_draft:
        shown |= board_of(found) | effect_of(found, reader=page.user)
    body = render_to_string("batches/partials/batch_board.html", shown)
    seen = hashlib.sha256(body.encode()).hexdigest()[:16]
    return {**shown, "body": body, "seen": seen, "every": 5 if found.batch_samples.count() <= MANY else 300}


def _audit_draw(batch: Batch) -> ScheduledAudit | None:
    """The audit whose draw the batch still has; None when its samples were chosen otherwise since."""
    audit: ScheduledAudit | None = getattr(batch, "scheduled_audit", None)
    return audit if audit is not None and batch.selection.get("seed") == audit.seed else None


@project_view("batches", get="batches.change", post="batches.change")
def step(page: ProjectPage, number: int, step: str) -> HttpResponse:
    """POST does it; GET asks, where it ends something."""
    if step not in STEPS:
        raise Http404
    act, done = STEPS[step]
    found = one_batch(page.project, number)
    if page.request.method != "POST":
        return _asked(page, found, step)
    try:
        outcome = act(batch=found, actor=page.user)
    except Refusal as refusal:
        messages.error(page.request, refusal.message)
    else:
        moved = _moved(outcome) if isinstance(outcome, HandedOn) else []
        messages.success(page.request, " ".join([done % {"n": number}, *moved]))
    return page.redirect("batch", number)


def _moved(tasks: HandedOn) -> list[str]:
    said = []
    if tasks.handed_on:
        said.append(
            ngettext(
                "%(n)d unfinished task of former members was reassigned.",
                "%(n)d unfinished tasks of former members were reassigned.",
                tasks.handed_on,
            )
            % {"n": tasks.handed_on}
        )
    if tasks.given_up:
        said.append(
            ngettext(
                "%(n)d could not be reassigned; its sample gets one label fewer.",
                "%(n)d could not be reassigned; their samples get one label fewer.",
                tasks.given_up,
            )
            % {"n": tasks.given_up}
        )
    return said


def _asked(page: ProjectPage, batch: Batch, step: str) -> HttpResponse:
    if step not in ENDINGS:
        return HttpResponseNotAllowed(["POST"])
    # Done by another admin meanwhile: the batch's page says how it stands.
    if batch.status not in ENDINGS[step]:
        return page.redirect("batch", batch.number)
    context = {"batch": batch, "step": step, "left": unfinished(batch)}
    return page.render("batches/batch_end.html", context)


@project_view("batches", get="batches.change", post="batches.change")
def delete(page: ProjectPage, number: int) -> HttpResponse:
    """GET asks, POST deletes."""
    found = one_batch(page.project, number)
    if page.request.method != "POST":
        return page.render("batches/batch_delete.html", {"batch": found, "samples": found.batch_samples.count()})
    deleted = page.attempt(
        lambda: delete_batch(batch=found, actor=page.user), _("Batch %(n)d is deleted.") % {"n": number}
    )
    return page.redirect("batches") if deleted else page.redirect("batch", number)


@project_view("batches", get="batches.change", post="batches.change")
def extend(page: ProjectPage, number: int) -> HttpResponse:
    batch = one_batch(page.project, number)
    form = ExtendForm(batch, page.data, initial={"due_date": batch.due_date})
    if form.is_valid():
        given = form.cleaned_data
        with RefusalsShown(form):
            extend_batch(
                actor=page.user,
                batch=batch,
                due_date=given["due_date"],
                annotators=list(given["annotators"]),
                selection=form.selection(),
            )
            messages.success(page.request, _("Batch %(n)d is extended.") % {"n": number})
            return page.redirect("batch", number)
    outside = page.project.samples.count() - batch.batch_samples.count()
    return page.render(
        "batches/batch_extend.html", {"form": form, "batch": batch, "outside": outside}, status=status_of(form)
    )


MOVABLE = (TaskStatus.PENDING, TaskStatus.IN_PROGRESS, TaskStatus.RETURNED, TaskStatus.SKIPPED)
RETURNABLE = (TaskStatus.SUBMITTED, TaskStatus.SKIPPED)


@project_view("batches", get="batches.read", post="batches.change")
def tasks(page: ProjectPage, number: int) -> HttpResponse:
    """The list; a POST gives the ticked tasks to another annotator."""
    batch = one_batch(page.project, number)
    form = MoveForm(page.project, page.data)
    if form.is_valid():
        ids, to = form.cleaned_data["task"], form.cleaned_data["to"]
        with RefusalsShown(form):
            if batch.tasks.filter(pk__in=ids).count() != len(set(ids)):
                raise Http404(_("Task not found in this batch."))
            moved = reassign_tasks(actor=page.user, project=page.project, task_ids=ids, to=to)
            said = ngettext("%(n)d task reassigned to %(name)s.", "%(n)d tasks reassigned to %(name)s.", len(moved))
            messages.success(page.request, said % {"name": to.name, "n": len(moved)})
            return _back(page, number)
    return page.render("batches/batch_tasks.html", _listed(page, batch, form), status=status_of(form))


def _listed(page: ProjectPage, batch: Batch, form: MoveForm) -> dict[str, Any]:
    chosen = TaskFilter(batch, page.request.GET)
    rows = page.rows(task_rows(batch, **chosen.chosen(), reader=page.user))
    ticked = set(form["task"].value() or [])
    kept = {key: value for key in ("person", "status") if (value := page.request.GET.get(key))}
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
        "query": urlencode(kept) + "&" if kept else "",
    }


@project_view("batches", get="tasks.return", post="tasks.return")
def send_back(page: ProjectPage, number: int, task_id: int) -> HttpResponse:
    batch = one_batch(page.project, number)
    task = one_task(batch, task_id, reader=page.user)
    form = ReturnForm(page.data)
    if form.is_valid():
        with RefusalsShown(form):
            return_task(actor=page.user, project=page.project, task_id=task_id, message=form.cleaned_data["message"])
            said = _("Task sent back to %(name)s.")
            messages.success(page.request, said % {"name": task.annotator.name if task.annotator else ""})
            return _back(page, number)
    return page.render("batches/task_return.html", {"batch": batch, "task": task, "form": form}, status=status_of(form))


def _back(page: ProjectPage, number: int) -> HttpResponseRedirect:
    """To the list as it was filtered."""
    query = page.request.GET.urlencode()
    return HttpResponseRedirect(page.url("batch-tasks", number) + (f"?{query}" if query else ""))
