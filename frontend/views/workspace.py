"""The labelling workspace: one page, then JSON. The first two tasks come with it, so nothing is waited for."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import Http404, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie

from annotate.selectors.tasks import next_task, work_progress
from frontend.markdown import render_markdown
from frontend.views.base import ProjectPage, project_view


@never_cache
@ensure_csrf_cookie
@project_view("label", get="work.label")
def workspace(page: ProjectPage) -> HttpResponse:
    number = _batch_number(page.request.GET.get("batch"))
    work: dict[str, Any] = {"user": page.user, "project": page.project, "batch_number": number}
    task = next_task(**work)
    data = {
        "user_id": page.user.pk,
        "project": {"slug": page.project.slug, "name": page.project.name},
        "guidelines_html": render_markdown(page.project.guidelines),
        "api": {"work": f"/api/projects/{page.project.slug}/work/", "task": "/api/tasks/"},
        "login_url": reverse("login"),
        "home_url": reverse("home"),
        "csrf_cookie": settings.CSRF_COOKIE_NAME,
        "batch": number,
        "task": task,
        "next": next_task(**work, exclude=[task["id"]]) if task else None,
        "progress": work_progress(**work),
    }
    return page.render("frontend/workspace.html", {"workspace": data})


def _batch_number(text: str | None) -> int | None:
    if not text:
        return None
    if not text.isascii() or not text.isdecimal() or len(text) > 9:
        raise Http404(_("There is no such batch."))
    return int(text)
