"""What people report about samples: what waits, and what was done about it."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.utils.translation import gettext as _

from annotate.samples.flags import resolve_flag
from annotate.samples.read import flags_of
from frontend.base.pages import ProjectPage, project_view

PAGE_SIZE = 50


@project_view("flags", get="flags.read")
def flags(page: ProjectPage) -> HttpResponse:
    resolved = page.request.GET.get("state") == "resolved"
    rows = Paginator(flags_of(page.project, resolved=resolved), PAGE_SIZE).get_page(page.request.GET.get("page"))
    context = {
        "rows": rows,
        "resolved": resolved,
        "query": "state=resolved&" if resolved else "",
        "may_resolve": page.may("flags.resolve"),
    }
    return page.render("data/flags.html", context)


@project_view("flags", post="flags.resolve")
def resolve(page: ProjectPage, flag_id: int) -> HttpResponse:
    words = page.request.POST.get("resolution", "")
    page.attempt(
        lambda: resolve_flag(actor=page.user, project=page.project, flag_id=flag_id, resolution=words),
        _("The flag is resolved."),
    )
    return page.redirect("flags")
