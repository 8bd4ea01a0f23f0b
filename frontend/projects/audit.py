"""Who did what when."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import urlencode

from annotate.core.errors import Refusal
from annotate.files.cells import guard
from annotate.models import Sample
from annotate.projects.read import criterion_names
from annotate.projects.trail_read import Happening, TrailFilter, read_filter, trail, whole_trail
from frontend.base.pages import ProjectPage, RefusalsShown, project_view, status_of
from frontend.base.trail import sentence, who
from frontend.projects.views import TrailForm

_COLUMNS = ("at", "who", "action", "subject", "what")


@project_view("audit", get="audit.read")
def audit(page: ProjectPage) -> HttpResponse:
    form = TrailForm(page.project, page.request.GET)
    rows, following, asked = [], None, {}
    if form.is_valid():
        asked = form.asked()
        with RefusalsShown(form, places={"unknown_sample": "sample"}):
            found = trail(
                project=page.project,
                reader=page.user,
                asked=read_filter(page.project, **asked),
                after=page.request.GET.get("cursor"),
            )
            rows, following = found.rows, found.next
    context = {
        "form": form,
        "filtered": bool(asked),
        "query": urlencode(asked),
        "rows": _shown(page, rows),
        "held_back": any("held_back" in row.details for row in rows),
        "next": following and urlencode({**asked, "cursor": following}),
        "is_first": "cursor" not in page.request.GET,
    }
    return page.render("projects/audit.html", context, status=status_of(form) if form.errors else 200)


@project_view("audit", get="audit.read")
def audit_csv(page: ProjectPage) -> HttpResponseBase:
    """The filtered trail, all of it, as it is read."""
    form = TrailForm(page.project, page.request.GET)
    if not form.is_valid():
        return page.redirect("audit")
    try:
        asked = read_filter(page.project, **form.asked())
    except Refusal:
        return page.redirect("audit")
    return StreamingHttpResponse(
        _lines(page, asked),
        content_type="text/csv; charset=utf-8",
        headers={
            "Content-Disposition": f'attachment; filename="{page.project.slug}-audit.csv"',
            "X-Content-Type-Options": "nosniff",
        },
    )


class _Echo:
    """A file that gives back what is written."""

    def write(self, text: str) -> str:
        return text


def _lines(page: ProjectPage, asked: TrailFilter) -> Iterator[str]:
    writer, criteria = csv.writer(_Echo()), criterion_names(page.project)
    yield writer.writerow(_COLUMNS)
    for row in whole_trail(project=page.project, reader=page.user, asked=asked):
        actor = row.actor.username if row.actor else ""
        what = " ".join(filter(None, [sentence(row, criteria), row.details.get("held_back", "")]))
        cells = [row.at.isoformat(), actor, row.action, row.subject, what]
        yield writer.writerow([guard(cell) for cell in cells])


def _shown(page: ProjectPage, rows: list[Happening]) -> list[dict[str, Any]]:
    names = {row.details["sample"] for row in rows if "sample" in row.details}
    criteria = criterion_names(page.project)
    samples = dict(Sample.objects.filter(project=page.project, external_id__in=names).values_list("external_id", "pk"))
    return [
        {
            "at": row.at,
            "who": who(row),
            "by_nobody": row.actor is None,
            "what": sentence(row, criteria),
            "note": row.details.get("comment") or row.details.get("reason") or "",
            "sample": samples.get(row.details.get("sample", "")),
        }
        for row in rows
    ]
