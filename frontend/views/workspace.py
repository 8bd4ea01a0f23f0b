"""The labelling workspace: one page, then JSON. The first two tasks come with it, so nothing is waited for."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import Http404, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie

from annotate.models.batch import OPEN_TASK_STATUSES
from annotate.projects.accounts import as_dict, preferences_of
from annotate.tasks.read import is_own_task, next_task, own_task, work_progress
from frontend.hotkeys import key_rows
from frontend.markdown import render_markdown
from frontend.views.base import ProjectPage, project_view


@never_cache
@ensure_csrf_cookie
@project_view("label", get="work.label")
def workspace(page: ProjectPage) -> HttpResponse:
    """`?batch=3`: only that batch. `?task=17`: that one of one's own first."""
    number = _whole_number(page.request.GET.get("batch"))
    wanted = _whole_number(page.request.GET.get("task"))
    work: dict[str, Any] = {"user": page.user, "project": page.project, "batch_number": number}
    if wanted is None:
        task = next_task(**work)
    else:
        task = _own(page, wanted)
        if task["status"] not in OPEN_TASK_STATUSES:
            return page.redirect("label-done")
    preferences = preferences_of(page.user)
    data = {
        "user_id": page.user.pk,
        "project": {"slug": page.project.slug, "name": page.project.name},
        "api": {"work": f"/api/projects/{page.project.slug}/work/", "task": "/api/tasks/", "me": "/api/me/"},
        "login_url": reverse("login"),
        "home_url": reverse("home"),
        "done_url": page.url("label-done"),
        "csrf_cookie": settings.CSRF_COOKIE_NAME,
        "preferences": as_dict(preferences),
        "keys": preferences.keys_on("workspace"),
        "batch": number,
        "task": task,
        "next": next_task(**work, exclude=[task["id"]]) if task else None,
        "progress": work_progress(**work),
    }
    context = {
        "workspace": data,
        "guidelines": render_markdown(page.project.guidelines),
        "keys": preferences.keys_on("workspace"),
        "key_rows": key_rows("workspace", preferences.keys_on("workspace")),
        "reasons": _reasons(),
    }
    return page.render("frontend/workspace.html", context)


def _own(page: ProjectPage, task_id: int) -> dict[str, Any]:
    if not is_own_task(page.user, page.project, task_id):
        raise Http404(_("There is no such task for you."))
    return own_task(user=page.user, task_id=task_id)


def _reasons() -> dict[str, list[str]]:
    """What is usually said; one's own words are always possible."""
    return {
        "skip": [
            _("I don't know this subject"),
            _("The question makes no sense"),
            _("Text is broken or missing"),
            _("In a language I don't read"),
        ],
        "flag": [
            _("Text is broken or missing"),
            _("The claims are cut wrongly"),
            _("Holds personal data"),
            _("The same sample came before"),
        ],
        "cant_tell": [
            _("The contexts don't say enough"),
            _("The question or this part is unclear"),
            _("It needs another expert"),
            _("The text is broken"),
        ],
    }


def _whole_number(text: str | None) -> int | None:
    if not text:
        return None
    if not text.isascii() or not text.isdecimal() or len(text) > 18:
        raise Http404(_("There is no such batch or task."))
    return int(text)
