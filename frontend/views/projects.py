"""A project's front page, its settings, and new projects."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from annotate.batches.read import counts_of, own_batches
from annotate.core.errors import Refusal
from annotate.projects.read import current_criteria
from annotate.projects.write import change_project, create_project
from annotate.verdicts.lessons_read import new_lessons
from frontend.forms.projects import NewProjectForm, ProjectFileForm, SettingsForm
from frontend.markdown import render_markdown
from frontend.views.base import ProjectPage, project_view, refuse, status_of
from frontend.views.campaign import steps_of, with_labels

RECENT_BATCHES = 5


@project_view("project", get="project.read")
def overview(page: ProjectPage) -> HttpResponse:
    project, runs_campaign = page.project, page.may("batches.change")
    counts = counts_of([project])[project.pk]
    has_labels = bool(with_labels([project]))
    return page.render(
        "frontend/project.html",
        {
            "counts": counts,
            "own": own_batches(page.user, [project]).get(project.pk, []),
            "lessons": new_lessons(page.user, [project]).get(project.pk, 0),
            "steps": steps_of(project, counts, has_labels=has_labels) if runs_campaign else [],
            "criteria": current_criteria(project),
            "batches": project.batches.all()[:RECENT_BATCHES] if page.may("batches.read") else [],
            "guidelines": render_markdown(project.guidelines),
            "reviews": page.may("adjudication.read"),
            "may_change": page.may("project.change"),
        },
    )


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new_project(request: HttpRequest) -> HttpResponse:
    """Two forms on one page: fill in, or upload project.json."""
    if not request.user.is_staff:
        raise PermissionDenied(_("Only staff accounts may create projects. Ask the person who runs this server."))
    sent = request.method == "POST"
    from_file = sent and "from_file" in request.POST
    form = NewProjectForm(request.POST if sent and not from_file else None)
    file_form = ProjectFileForm(
        request.POST if from_file else None, request.FILES if from_file else None, prefix="upload"
    )
    used = file_form if from_file else form
    status = status_of(used)
    if sent and used.is_valid():
        fields = used.cleaned_data
        spec = fields["file"] if from_file else {key: fields[key] for key in ("name", "guidelines", "criteria")}
        try:
            project = create_project(slug=fields["slug"], spec=spec, created_by=request.user)
        except Refusal as refusal:
            status = refuse(used, refusal)
        else:
            messages.success(request, _("“%(name)s” is ready. Next: import samples.") % {"name": project.name})
            return redirect("project", slug=project.slug)
    return render(request, "frontend/project_new.html", {"form": form, "file_form": file_form}, status=status)


@project_view("settings", get="project.change", post="project.change")
def settings(page: ProjectPage) -> HttpResponse:
    project = page.project
    initial = {field: getattr(project, field) for field in SettingsForm.base_fields}
    form = SettingsForm(page.data, initial=initial)
    status = status_of(form)
    if form.is_valid():
        try:
            change_project(actor=page.user, project=project, **form.cleaned_data)
        except Refusal as refusal:
            status = refuse(form, refusal)
        else:
            messages.success(page.request, _("Saved."))
            return page.redirect("settings")
    preview = render_markdown(project.guidelines)
    return page.render("frontend/settings.html", {"form": form, "preview": preview}, status=status)
