"""Ground truth: how much is settled and how, verdicts from imported labels, and numbered releases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _

from annotate.api.releases import as_download
from annotate.errors import Refusal
from annotate.models import Criterion, Label, Project
from annotate.models.verdict import VerdictMethod, VerdictState
from annotate.services.consensus import settle_imported
from annotate.services.releases import make_release
from frontend.forms.exports import ReleaseForm, SettleForm
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
        release = make_release(project=page.project, user=page.user, file_format=form.cleaned_data["file_format"])
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
        written = settle_imported(project=page.project, **form.cleaned_data)
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
        return as_download(release)
    except Refusal as refusal:
        messages.error(page.request, refusal.message)
        return page.redirect("export")


def _show(page: ProjectPage, forms: dict[str, Any], status: int) -> HttpResponse:
    releases = page.project.releases.select_related("created_by")
    context = {
        "truth": ground_truth(page.project),
        "imported": imported_labels(page.project),
        "rows": Paginator(releases, PAGE_SIZE).get_page(page.request.GET.get("page")),
        "query": "",
        "form": ReleaseForm(initial={"file_format": "jsonl"}),
        "settle_form": SettleForm(page.project),
    }
    return page.render("frontend/exports.html", {**context, **forms}, status=status)


def ground_truth(project: Project) -> list[dict[str, Any]]:
    """Verdicts per criterion and version: settled by each method, and still disputed."""
    settled = Q(verdicts__state=VerdictState.SETTLED)
    by_method = {
        method.value: Count("verdicts", filter=settled & Q(verdicts__method=method)) for method in VerdictMethod
    }
    rows = (
        Criterion.objects.filter(project=project)
        .annotate(waiting=Count("verdicts", filter=~settled), **by_method)
        .order_by("position", "-version")
        .values("key", "name", "version", "is_current", "waiting", *by_method)
    )
    counted = [{**row, "settled": sum(row[method] for method in by_method)} for row in rows]
    return [row for row in counted if row["is_current"] or row["settled"] or row["waiting"]]


def imported_labels(project: Project) -> Sequence[Mapping[str, Any]]:
    """Labels that were made elsewhere, per criterion."""
    return list(
        Label.objects.filter(criterion__project=project, criterion__is_current=True, task__isnull=True)
        .values("criterion__name")
        .annotate(labels=Count("id"), raters=Count("rater", distinct=True))
        .order_by("criterion__position")
    )
