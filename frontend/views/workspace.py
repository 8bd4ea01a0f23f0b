"""The labelling workspace: one page, then JSON. The first two tasks come with it, so nothing is waited for."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_GET

from annotate.api.base import whole_number
from annotate.permissions import project_for
from annotate.selectors.tasks import next_task, work_progress
from frontend.markdown import render_markdown


@login_required
@never_cache
@ensure_csrf_cookie
@require_GET
def workspace(request: HttpRequest, slug: str) -> HttpResponse:
    project, role = project_for(request.user, slug, "work.label")
    batch = request.GET.get("batch")
    number = whole_number(batch, "batch", low=1) if batch else None
    task = next_task(user=request.user, project=project, batch_number=number)
    following = next_task(user=request.user, project=project, batch_number=number, exclude=[task["id"]]) if task else None
    data: dict[str, Any] = {
        "user_id": request.user.pk,
        "project": {"slug": project.slug, "name": project.name},
        "guidelines_html": render_markdown(project.guidelines),
        "api": {"work": f"/api/projects/{project.slug}/work/", "task": "/api/tasks/"},
        "login_url": reverse("login"),
        "home_url": reverse("home"),
        "csrf_cookie": settings.CSRF_COOKIE_NAME,
        "batch": number,
        "task": task,
        "next": following,
        "progress": work_progress(user=request.user, project=project, batch_number=number),
    }
    return render(request, "frontend/workspace.html", {"project": project, "role": role, "workspace": data})
