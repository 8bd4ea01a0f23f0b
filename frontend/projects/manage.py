"""What becomes of a project: another one like it, the archive, and back."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotate.batches.archiving import archive_project, restore_project
from frontend.base.pages import ProjectPage, RefusalsShown, project_view, status_of
from judges.endpoints.duplicate import duplicate_project


class DuplicateForm(forms.Form):
    name = forms.CharField(label=gettext_lazy("Name"), max_length=200)
    slug = forms.SlugField(
        label=gettext_lazy("Short name"),
        max_length=60,
        help_text=gettext_lazy("Part of the address. Can’t be changed later."),
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
    context: dict[str, Any] = {"form": form, "may_create": may_create}
    return page.render("projects/manage.html", context, status=status_of(form))


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
    messages.success(page.request, _("The project is active again. Batches stay paused until you resume them."))
    return page.redirect("project")
