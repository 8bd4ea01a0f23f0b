"""What becomes of a project: another one like it; the archive, and back; and its end, with what is noted of that."""

from __future__ import annotations

from typing import Any, cast

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_safe

from annotate.batches.archiving import archive_project, restore_project
from annotate.models import User
from annotate.models.batch import BatchStatus
from annotate.projects.deleted_read import being_deleted, deletions
from frontend.base.pages import ProjectPage, RefusalsShown, project_view, status_of
from judges.endpoints.duplicate import duplicate_project
from judges.runs.project_deletion import delete_project

_DELETIONS_SHOWN = 200


class DuplicateForm(forms.Form):
    name = forms.CharField(label=gettext_lazy("Name"), max_length=200)
    slug = forms.SlugField(
        label=gettext_lazy("Short name"),
        max_length=60,
        help_text=gettext_lazy("Part of the address. Can’t be changed later."),
    )


class DeleteForm(forms.Form):
    confirm = forms.CharField(
        label=gettext_lazy("Project name"),
        max_length=200,
        help_text=gettext_lazy("Type the name of this project to confirm."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )


@project_view("settings", get="project.manage", post="project.manage")
def manage(page: ProjectPage) -> HttpResponse:
    """A POST makes the other project, for those who may create projects."""
    may_create = page.user.is_staff
    form = DuplicateForm(page.data if may_create else None, initial={"name": page.project.name})
    if form.is_valid():
        with RefusalsShown(form, "slug", places={"bad_name": "name"}):
            made = duplicate_project(actor=page.user, project=page.project, **form.cleaned_data)
            messages.success(page.request, _("“%(name)s” created. Next: import samples.") % {"name": made.name})
            return redirect("project", slug=made.slug)
    return _manage_page(page, form, DeleteForm(), status_of(form))


def _manage_page(page: ProjectPage, form: DuplicateForm, delete_form: DeleteForm, status: int) -> HttpResponse:
    context: dict[str, Any] = {"form": form, "delete_form": delete_form, "may_create": page.user.is_staff}
    return page.render("projects/manage.html", context, status=status)


@project_view("settings", post="project.manage")
def archive(page: ProjectPage) -> HttpResponse:
    paused = archive_project(actor=page.user, project=page.project)
    said = [_("The project is archived.")]
    if paused:
        said.append(ngettext("%(n)d open batch is paused.", "%(n)d open batches are paused.", paused) % {"n": paused})
    messages.success(page.request, " ".join(said))
    return page.redirect("project")


@project_view("settings", post="project.manage")
def restore(page: ProjectPage) -> HttpResponse:
    restore_project(actor=page.user, project=page.project)
    said = _("The project is active again.")
    paused = page.project.batches.filter(status=BatchStatus.PAUSED).count()
    if paused:
        words = ngettext("Resume %(n)d paused batch", "Resume %(n)d paused batches", paused) % {"n": paused}
        said = format_html('{} <a href="{}">{}</a>', said, page.url("batches"), words)
    messages.success(page.request, said)
    return page.redirect("project")


@project_view("settings", post="project.manage")
def delete(page: ProjectPage) -> HttpResponse:
    form = DeleteForm(page.data)
    if form.is_valid():
        with RefusalsShown(form, "confirm"):
            delete_project(actor=page.user, project=page.project, name=form.cleaned_data["confirm"])
            messages.success(page.request, _("“%(name)s” is being deleted.") % {"name": page.project.name})
            return redirect("deleted-projects")
    return _manage_page(page, DuplicateForm(initial={"name": page.project.name}), form, status_of(form))


@require_safe
@login_required
def deleted(request: HttpRequest) -> HttpResponse:
    """For everyone who deleted a project, and of all of them for superusers."""
    user = cast("User", request.user)
    context = {"waiting": list(being_deleted(user)), "noted": list(deletions(user)[:_DELETIONS_SHOWN])}
    return render(request, "projects/deleted.html", context)
