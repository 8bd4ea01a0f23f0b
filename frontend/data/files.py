"""A file on its way in: upload, look at it, start, watch, and what came of it.

Ground truth: how much is settled and how, verdicts from imported labels, and numbered releases.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _

from annotate.api.files import as_download, errors_as_csv
from annotate.core.errors import Refusal
from annotate.files.import_jobs import as_it_stands, create_job, preview, progress_of, start
from annotate.files.releases import make_release
from annotate.labels.consensus import settle_imported
from annotate.models import ImportJob
from annotate.models.transfer import ImportKind, ImportStatus
from annotate.verdicts.read import ground_truth, imported_labels
from frontend.base.pages import ProjectPage, project_view, refuse, status_of
from frontend.data.forms import FORMAT_NAMES, MappingForm, ReleaseForm, SettleForm, UploadForm

PAGE_SIZE = 50
# What is wrong with a file and can be put right by choosing other fields for its columns.
_MAPPING_PROBLEMS = ("missing_column",)
UNDER_WAY = (ImportStatus.WAITING, ImportStatus.RUNNING)


@project_view("import", get="import.read", post="import.run")
def imports(page: ProjectPage) -> HttpResponse:
    """The earlier imports; a POST keeps a file and leads to its preview."""
    sent = page.request.method == "POST"
    kind = page.request.GET.get("kind", ImportKind.SAMPLES)
    form = UploadForm(page.data, page.request.FILES if sent else None, initial={"kind": kind})
    status = status_of(form)
    if form.is_valid():
        try:
            made = create_job(
                project=page.project,
                user=page.user,
                kind=form.cleaned_data["kind"],
                upload=form.cleaned_data["file"],
            )
        except Refusal as refusal:
            status = refuse(form, refusal, "file")
        else:
            return page.redirect("import-job", made.pk)
    jobs = page.project.imports.select_related("created_by").defer("errors", "mapping")
    rows = Paginator(jobs, PAGE_SIZE).get_page(page.request.GET.get("page"))
    listed = [as_it_stands(job) for job in rows]
    return page.render("data/imports.html", {"form": form, "rows": rows, "listed": listed, "query": ""}, status=status)


@project_view("import", get="import.read", post="import.run")
def job(page: ProjectPage, job_id: UUID) -> HttpResponse:
    """An import as it stands: its preview, its progress, its result or its errors. A POST starts it."""
    found = _job(page, job_id)
    if found.status == ImportStatus.UPLOADED:
        return _look(page, found)
    if page.request.method == "POST":
        page.attempt(lambda: start(found), _("The import is started."))
        return page.redirect("import-job", found.pk)
    return page.render("data/import_job.html", _state(found))


@project_view("import", get="import.read")
def progress(page: ProjectPage, job_id: UUID) -> HttpResponse:
    """The part that a browser asks for again; once the import has ended, the whole page is asked for."""
    found = _job(page, job_id)
    reply = page.render("data/partials/import_progress.html", _state(found))
    if found.status not in UNDER_WAY:
        reply["HX-Refresh"] = "true"
    return reply


@project_view("import", get="import.read")
def errors_csv(page: ProjectPage, job_id: UUID) -> HttpResponse:
    return errors_as_csv(_job(page, job_id))


def _look(page: ProjectPage, found: ImportJob) -> HttpResponse:
    """The first rows and what each column becomes."""
    try:
        shown = preview(found)
    except Refusal as refusal:
        context = {"job": found, "message": refusal.message}
        return page.render("data/import_gone.html", context, status=refusal.status)
    form = MappingForm(shown, page.data)
    status = status_of(form)
    if form.is_valid():
        try:
            start(found, form.mapping())
        except Refusal as refusal:
            status = refuse(form, refusal)
        else:
            return page.redirect("import-job", found.pk)
    context = {
        "job": found,
        "form": form,
        "shown": shown,
        "mendable": bool(shown.columns) and all(error["code"] in _MAPPING_PROBLEMS for error in shown.errors),
        "rows": [[row.get(column, "") for column in shown.columns] for row in shown.short_rows],
    }
    return page.render("data/import_preview.html", context, status=status)


def _state(found: ImportJob) -> dict[str, Any]:
    return {
        "job": found,
        "progress": progress_of(found),
        "under_way": found.status in UNDER_WAY,
        "can_start": bool(found.stored_as) and found.status != ImportStatus.DONE,
        "more": {key: value for key, value in found.result.items() if key not in ("rows", "created", "unchanged")},
    }


def _job(page: ProjectPage, job_id: UUID) -> ImportJob:
    found = page.project.imports.filter(pk=job_id).select_related("created_by").first()
    if found is None:
        raise Http404(_("There is no such import in this project."))
    return as_it_stands(found)


@project_view("export", get="export.read", post="export.run")
def exports(page: ProjectPage) -> HttpResponse:
    """A POST makes a release."""
    form = ReleaseForm(page.data, initial={"file_format": "jsonl"})
    if not form.is_bound:
        return _show(page, {"form": form}, 200)
    if not form.is_valid():
        return _show(page, {"form": form}, 422)
    try:
        release = make_release(
            project=page.project,
            user=page.user,
            file_format=form.cleaned_data["file_format"],
            filters={"annotators": form.cleaned_data["annotators"] or None},
        )
    except Refusal as refusal:
        return _show(page, {"form": form}, refuse(form, refusal))
    messages.success(page.request, _("Release %(n)d is made.") % {"n": release.number})
    return page.redirect("export")


@project_view("export", post="project.change")
def settle(page: ProjectPage) -> HttpResponse:
    form = SettleForm(page.project, page.request.POST)
    if not form.is_valid():
        return _show(page, {"settle_form": form}, 422)
    try:
        written = settle_imported(project=page.project, actor=page.user, **form.cleaned_data)
    except Refusal as refusal:
        return _show(page, {"settle_form": form}, refuse(form, refusal))
    messages.success(page.request, _("%(n)d verdicts were worked out or changed.") % {"n": written})
    return page.redirect("export")


@project_view("export", get="export.run")
def download(page: ProjectPage, number: int) -> HttpResponseBase:
    release = page.project.releases.select_related("project").filter(number=number).first()
    if release is None:
        raise Http404(_("There is no such release."))
    try:
        return as_download(release, page.user)
    except Refusal as refusal:
        messages.error(page.request, refusal.message)
        return page.redirect("export")


def _show(page: ProjectPage, forms: dict[str, Any], status: int) -> HttpResponse:
    releases = page.project.releases.select_related("created_by")
    rows = Paginator(releases, PAGE_SIZE).get_page(page.request.GET.get("page"))
    context = {
        "truth": ground_truth(page.project),
        "imported": imported_labels(page.project),
        "rows": rows,
        "listed": [(release, FORMAT_NAMES.get(release.file_format, release.file_format)) for release in rows],
        "query": "",
        "form": ReleaseForm(initial={"file_format": "jsonl"}),
        "settle_form": SettleForm(page.project),
    }
    return page.render("data/exports.html", {**context, **forms}, status=status)
