"""The list of samples, and the views of it that people save: what it is chosen and sorted by, under a name. The address
of a view says all of that, so that it opens the same whatever becomes of the view; `view` names which one it is."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect, QueryDict
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotate.core.errors import Invalid
from annotate.models import SavedView
from annotate.models.view import MAX_NAME
from annotate.samples.read import abstentions
from annotate.verdicts.saved_views import change_view, delete_view, may_delete, save_view
from annotate.verdicts.saved_views_read import one_view, views_of
from frontend.base.pages import ProjectPage, RefusalsShown, project_view, status_of
from frontend.batches.sample_filter import META, SampleFilter

# In the address: the view that was opened; in forms: what the list shows, as its address has it.
VIEW, MATCHING = "view", "matching"
MOST_DIGITS = 18

COLUMNS = (
    # Its order, heading, whether it is of numbers, and whether the greatest comes first.
    ("id", gettext_lazy("ID"), False, False),
    ("", gettext_lazy("Question"), False, False),
    ("claims", gettext_lazy("Claims"), True, True),
    ("contexts", gettext_lazy("Contexts"), True, True),
    ("", gettext_lazy("Status"), False, False),
    ("agreement", gettext_lazy("Lowest agreement"), True, False),
    ("pipeline", gettext_lazy("Pipeline"), False, False),
)


class ViewForm(forms.Form):
    """Of a new view, or of the one that is open: both stand beside the filters."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=MAX_NAME)
    is_shared = forms.BooleanField(
        label=gettext_lazy("Share with the project’s admins and reviewers"),
        required=False,
    )

    def __init__(self, data: QueryDict | None = None, *, of: str, initial: dict[str, Any] | None = None) -> None:
        super().__init__(data, auto_id=f"id_{of}_%s", initial=initial)


@project_view("samples", get="samples.read")
def samples(page: ProjectPage) -> HttpResponse:
    return _list(page, SampleFilter(page.project, page.request.GET, reader=page.user), _view_named(page))


def _list(
    page: ProjectPage,
    form: SampleFilter,
    opened: SavedView | None,
    *,
    saving: ViewForm | None = None,
    editing: ViewForm | None = None,
) -> HttpResponse:
    """saving, editing: the forms of a view that were refused."""
    is_valid = form.is_valid()
    # What can't be understood matches nothing: all that match can be selected for a batch.
    found: Any = form.samples() if is_valid else []
    asked = form.given() if is_valid else {}
    of_view = {VIEW: str(opened.pk)} if opened else {}
    query = form.query(**of_view) if is_valid else ""
    context = {
        "form": form,
        "asked": list(form.words()) if is_valid else [],
        "more_open": any(
            name.startswith(META) or name in ("judge", "guidelines", "abstained") for name in {**asked, **form.errors}
        ),
        "query": f"{query}&" if query else "",
        "matching": form.query(sort="") if is_valid else "",
        "rows": page.rows(found),
        "columns": [_column(form, of_view, *column) for column in COLUMNS] if is_valid else [],
        "abstentions": 0 if asked else abstentions(page.project),
        "may_select": page.may("batches.change"),
        "may_import": page.may("import.run"),
        **_views(page, form, opened),
        "saving": saving or ViewForm(of="new"),
        "editing": editing or ViewForm(of="view", initial=_named(opened)),
    }
    refused = saving or editing
    return page.render("data/samples.html", context, status=status_of(refused) if refused else 200)


def _named(view: SavedView | None) -> dict[str, Any]:
    return {"name": view.name, "is_shared": view.is_shared} if view else {}


def _views(page: ProjectPage, form: SampleFilter, opened: SavedView | None) -> dict[str, Any]:
    shown, is_own = form.conditions(), opened is not None and opened.owner_id == page.user.pk
    may_change = page.may("views.change")
    is_changed = opened is not None and form.is_valid() and shown != opened.conditions
    return {
        "views": [
            {"name": view.name, "url": _address(view), "owner": None if view.is_own else view.owner}  # type: ignore[attr-defined]
            | {"current": opened is not None and view.pk == opened.pk, "is_shared": view.is_shared}
            for view in views_of(page.project, user=page.user)
        ],
        "opened": opened,
        "is_changed": is_changed,
        # What is left of a view whose other conditions no longer apply.
        "without": "?" + form.query(**{VIEW: str(opened.pk)}) if opened and not form.is_valid() else "",
        "may_save": may_change and form.is_valid() and bool(shown) and (opened is None or is_changed or not is_own),
        "may_edit": may_change and is_own,
        "may_delete": may_change and opened is not None and may_delete(opened, page.user),
        "shown": form.query(),
    }


def _column(
    form: SampleFilter, of_view: dict[str, str], name: str, label: Any, is_number: bool, greatest_first: bool
) -> dict[str, Any]:
    """sorted: as aria-sort has it; "" where it isn't sorted by. url: what sorts by it, or the other way round."""
    if not name:
        return {"label": label, "is_number": is_number}
    up, down = name, f"-{name}"
    first, then = (down, up) if greatest_first else (up, down)
    return {
        "label": label,
        "is_number": is_number,
        "url": "?" + form.query(sort=then if form.sort == first else first, **of_view),
        "sorted": {up: "ascending", down: "descending"}.get(form.sort, ""),
    }


# Saved views


@project_view("samples", post="views.change")
def save(page: ProjectPage) -> HttpResponse:
    form, naming = _shown(page), ViewForm(page.data, of="new")
    if naming.is_valid():
        with RefusalsShown(naming, "name"):
            view = save_view(actor=page.user, project=page.project, conditions=_conditions(form), **naming.cleaned_data)
            messages.success(page.request, _("View “%(name)s” saved.") % {"name": view.name})
            return _open(page, view)
    return _list(page, form, _view_named(page), saving=naming)


@project_view("samples", post="views.change")
def change(page: ProjectPage, view_id: int) -> HttpResponse:
    """Its name, and who sees it."""
    naming = ViewForm(page.data, of="view")
    if naming.is_valid():
        with RefusalsShown(naming, "name"):
            view = change_view(actor=page.user, project=page.project, view_id=view_id, **naming.cleaned_data)
            messages.success(page.request, _("View “%(name)s” saved.") % {"name": view.name})
            return _open(page, view, _shown(page))
    return _list(page, _shown(page), one_view(page.project, view_id, user=page.user), editing=naming)


@project_view("samples", post="views.change")
def update(page: ProjectPage, view_id: int) -> HttpResponse:
    """What it shows."""
    form = _shown(page)

    def replace() -> None:
        change_view(actor=page.user, project=page.project, view_id=view_id, conditions=_conditions(form))

    view = one_view(page.project, view_id, user=page.user)
    page.attempt(replace, _("View “%(name)s” updated.") % {"name": view.name})
    return _open(page, view, form)


@project_view("samples", post="views.change")
def delete(page: ProjectPage, view_id: int) -> HttpResponse:
    name = delete_view(actor=page.user, project=page.project, view_id=view_id)
    messages.success(page.request, _("View “%(name)s” deleted.") % {"name": name})
    form = _shown(page)
    return HttpResponseRedirect(f"{page.url('samples')}?{form.query() if form.is_valid() else ''}")


def _shown(page: ProjectPage) -> SampleFilter:
    """What the list showed when a form on it was sent."""
    return SampleFilter(page.project, QueryDict(page.request.POST.get(MATCHING, "")), reader=page.user)


def _conditions(form: SampleFilter) -> dict[str, str]:
    if not form.is_valid():
        raise Invalid("bad_filter", _("The filters are not valid. Set them again, then save the view."))
    return form.conditions()


def _view_named(page: ProjectPage) -> SavedView | None:
    """By the address, or by a form. None also for one that is not there any more: its address says what it showed."""
    named = page.request.GET.get(VIEW, "") or page.request.POST.get(VIEW, "")
    if not (named.isdecimal() and len(named) <= MOST_DIGITS):
        return None
    return views_of(page.project, user=page.user).filter(pk=int(named)).first()


def _open(page: ProjectPage, view: SavedView, form: SampleFilter | None = None) -> HttpResponse:
    """form: what the list shows instead of the view's own."""
    query = form.query(**{VIEW: str(view.pk)}) if form and form.is_valid() else _address(view).removeprefix("?")
    return HttpResponseRedirect(f"{page.url('samples')}?{query}")


def _address(view: SavedView) -> str:
    return "?" + urlencode({**view.conditions, VIEW: view.pk})
