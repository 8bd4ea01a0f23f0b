"""Ground truth: how much is settled and how, verdicts from imported labels, and numbered releases."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _

from annotate.api.files import as_download
from annotate.core.errors import Refusal
from annotate.files.releases import make_release
from annotate.labels.consensus import settle_imported
from annotate.verdicts.read import ground_truth, imported_labels
from frontend.forms.exports import FORMAT_NAMES, ReleaseForm, SettleForm
from frontend.views.base import ProjectPage, project_view, refuse

PAGE_SIZE = 50


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
    return page.render("frontend/exports.html", {**context, **forms}, status=status)
