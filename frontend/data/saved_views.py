"""The forms that save, change and delete views of the lists of samples and of units."""

from __future__ import annotations

from dataclasses import replace

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseRedirect, QueryDict
from django.utils.translation import gettext as _

from annotate.core.errors import Invalid
from annotate.models import SavedView
from annotate.verdicts.saved_views import change_view, delete_view, save_view
from annotate.verdicts.saved_views_read import one_view
from frontend.base.pages import ProjectPage, RefusalsShown, project_view
from frontend.batches.list_filter import ListFilter
from frontend.data.lists import MATCHING, VIEW, ListPage, ViewForm, address_of, show_list, view_named
from frontend.data.sample_list import SAMPLES
from frontend.data.unit_list import UNITS

LISTS: dict[str, ListPage] = {listed.of: listed for listed in (SAMPLES, UNITS)}


@project_view("samples", post="views.change")
def save(page: ProjectPage, of: str) -> HttpResponse:
    listed = _list(of)
    form, naming = _shown(page, listed), ViewForm(page.data, of="new")
    if naming.is_valid():
        with RefusalsShown(naming, "name"):
            view = save_view(
                actor=page.user,
                project=page.project,
                of=listed.of,
                conditions=_conditions(form),
                **naming.cleaned_data,
            )
            messages.success(page.request, _("View “%(name)s” saved.") % {"name": view.name})
            return _open(page, view)
    return show_list(_at(page, listed), listed, form, view_named(page, listed.of), saving=naming)


@project_view("samples", post="views.change")
def change(page: ProjectPage, view_id: int) -> HttpResponse:
    """Its name, and who sees it."""
    view, naming = one_view(page.project, view_id, user=page.user), ViewForm(page.data, of="view")
    listed = _list(view.of)
    form = _shown(page, listed)
    if naming.is_valid():
        with RefusalsShown(naming, "name"):
            view = change_view(actor=page.user, project=page.project, view_id=view_id, **naming.cleaned_data)
            messages.success(page.request, _("View “%(name)s” saved.") % {"name": view.name})
            return _open(page, view, form)
    return show_list(_at(page, listed), listed, form, view, editing=naming)


@project_view("samples", post="views.change")
def update(page: ProjectPage, view_id: int) -> HttpResponse:
    """What it shows."""
    view = one_view(page.project, view_id, user=page.user)
    form = _shown(page, _list(view.of))

    def replace_conditions() -> None:
        change_view(actor=page.user, project=page.project, view_id=view_id, conditions=_conditions(form))

    page.attempt(replace_conditions, _("View “%(name)s” updated.") % {"name": view.name})
    return _open(page, view, form)


@project_view("samples", post="views.change")
def delete(page: ProjectPage, view_id: int) -> HttpResponse:
    view = one_view(page.project, view_id, user=page.user)
    delete_view(actor=page.user, project=page.project, view_id=view_id)
    messages.success(page.request, _("View “%(name)s” deleted.") % {"name": view.name})
    form = _shown(page, _list(view.of))
    return HttpResponseRedirect(f"{page.url(view.of)}?{form.query() if form.is_valid() else ''}")


def _list(of: str) -> ListPage:
    if of not in LISTS:
        raise Http404(_("Page not found."))
    return LISTS[of]


def _at(page: ProjectPage, listed: ListPage) -> ProjectPage:
    """The same request, in the section of its list."""
    return replace(page, section=listed.of)


def _shown(page: ProjectPage, listed: ListPage) -> ListFilter:
    """What the list showed when a form on it was sent."""
    return listed.form(page.project, QueryDict(page.request.POST.get(MATCHING, "")), reader=page.user)


def _conditions(form: ListFilter) -> dict[str, str]:
    if not form.is_valid():
        raise Invalid("bad_filter", _("The filters are not valid. Set them again, then save the view."))
    return form.conditions()


def _open(page: ProjectPage, view: SavedView, form: ListFilter | None = None) -> HttpResponse:
    """form: what the list shows instead of the view's own."""
    query = form.query(**{VIEW: str(view.pk)}) if form and form.is_valid() else address_of(view).removeprefix("?")
    return HttpResponseRedirect(f"{page.url(view.of)}?{query}")
