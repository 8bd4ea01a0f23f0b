"""What the list of samples and the list of units share: the filter, columns that sort, ticks, and the views of it that
people save: what it is chosen and sorted by, under a name. The address of a view says all of that, so that it opens the
same whatever becomes of the view; `view` names which one it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django import forms
from django.core.paginator import Page
from django.http import HttpResponse, QueryDict
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy

from annotate.core.walking import Counted
from annotate.models import SavedView
from annotate.models.view import MAX_NAME, ViewOf
from annotate.verdicts.saved_views import may_delete
from annotate.verdicts.saved_views_read import views_of
from frontend.base.pages import PAGE_SIZE, ProjectPage, status_of
from frontend.batches.list_filter import ListFilter

# In the address: after or before which row the page is.
AFTER, BEFORE = "after", "before"
# In the address: the view that was opened; in forms: what the list shows, as its address has it.
VIEW, MATCHING = "view", "matching"
MOST_DIGITS = 18


class Column(NamedTuple):
    """sort: its order, "" for none."""

    sort: str
    label: Any
    is_number: bool = False
    greatest_first: bool = False


@dataclass(frozen=True)
class ListPage:
    """One of the lists. of: its views', and its name in the navigation and the URLconf. tick: the name of its ticks.
    more: what its template wants beside what both lists have, from the page, whether nothing is asked for, and the rows
    shown."""

    of: ViewOf
    tick: str
    form: Callable[..., ListFilter]
    columns: Sequence[Column]
    template: str
    more: Callable[[ProjectPage, bool, Iterable[Any]], Mapping[str, Any]]


@dataclass(frozen=True)
class Window:
    """Some rows of a long list. previous, next: what the address of those beside them says; "": there are none. Without
    rows and with `next`: none so far, and there is more to look through."""

    rows: list[Any]
    previous: str
    next: str

    def __iter__(self) -> Iterator[Any]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


def window(page: ProjectPage, found: Any) -> Window:
    """The rows after those, or before those, that the address names (`?after=…`); where it names none that there are,
    the first."""
    before, after = (page.request.GET.get(name, "") for name in (BEFORE, AFTER))
    at = found.position(before or after)
    backwards = bool(before) and at is not None
    walked = found.after(at, PAGE_SIZE + 1, backwards=backwards)
    if at is not None and walked.reached is None and len(walked.rows) <= (PAGE_SIZE if backwards else 0):
        # Few came before it, and some may have come since: the first page has them all. Or all after it have gone: what
        # is left is the last.
        backwards, at = not backwards, None
        walked = found.after(at, PAGE_SIZE + 1, backwards=backwards)
    rows, is_more = walked.rows[:PAGE_SIZE], len(walked.rows) > PAGE_SIZE
    ahead = found.cursor(rows[-1]) if is_more else walked.reached
    # Where nothing was found, on both sides of how far it was looked.
    back = found.cursor(rows[0]) if rows else walked.reached
    if backwards:
        return Window(rows[::-1], _at(BEFORE, ahead), _at(AFTER, back) if at is not None else "")
    return Window(rows, _at(BEFORE, back) if at is not None else "", _at(AFTER, ahead))


def _at(name: str, cursor: Any) -> str:
    return "" if cursor is None else urlencode({name: cursor})


class ViewForm(forms.Form):
    """Of a new view, or of the one that is open: both stand beside the filters."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=MAX_NAME)
    is_shared = forms.BooleanField(
        label=gettext_lazy("Share with the project’s admins and reviewers"),
        required=False,
    )

    def __init__(self, data: QueryDict | None = None, *, of: str, initial: dict[str, Any] | None = None) -> None:
        super().__init__(data, auto_id=f"id_{of}_%s", initial=initial)


def show_list(
    page: ProjectPage,
    listed: ListPage,
    form: ListFilter,
    opened: SavedView | None,
    *,
    saving: ViewForm | None = None,
    editing: ViewForm | None = None,
) -> HttpResponse:
    """saving, editing: the forms of a view that were refused."""
    is_valid = form.is_valid()
    # What can't be understood matches nothing: all that match can be selected for a batch.
    found: Any = form.found() if is_valid else []
    asked = form.given() if is_valid else {}
    of_view = {VIEW: str(opened.pk)} if opened else {}
    query = form.query(**of_view) if is_valid else ""
    rows: Window | Page
    if is_valid and found.is_walked:
        rows, counted = window(page, found), found.counted()
    else:
        rows = page.rows(found)
        counted = Counted(rows.paginator.count, is_all=True)
    context = {
        "form": form,
        "asked": list(form.words()) if is_valid else [],
        "of": listed.of,
        "tick": listed.tick,
        "list_url": page.url(listed.of),
        "query": f"{query}&" if query else "",
        "matching": form.query(sort="") if is_valid else "",
        "rows": rows,
        "counted": counted,
        "columns": [_column(form, of_view, column) for column in listed.columns] if is_valid else [],
        "may_select": page.may("batches.change"),
        "may_import": page.may("import.run"),
        **_views(page, listed.of, form, opened),
        "saving": saving or ViewForm(of="new"),
        "editing": editing or ViewForm(of="view", initial=_named(opened)),
    }
    context |= listed.more(page, not asked, rows)
    refused = saving or editing
    return page.render(listed.template, context, status=status_of(refused) if refused else 200)


def _named(view: SavedView | None) -> dict[str, Any]:
    return {"name": view.name, "is_shared": view.is_shared} if view else {}


def _views(page: ProjectPage, of: ViewOf, form: ListFilter, opened: SavedView | None) -> dict[str, Any]:
    shown, is_own = form.conditions(), opened is not None and opened.owner_id == page.user.pk
    may_change = page.may("views.change")
    is_changed = opened is not None and form.is_valid() and shown != opened.conditions
    return {
        "views": [
            {"name": view.name, "url": address_of(view), "owner": None if view.is_own else view.owner}  # type: ignore[attr-defined]
            | {"current": opened is not None and view.pk == opened.pk, "is_shared": view.is_shared}
            for view in views_of(page.project, of, user=page.user)
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


def _column(form: ListFilter, of_view: dict[str, str], column: Column) -> dict[str, Any]:
    """sorted: as aria-sort has it; "" where it isn't sorted by. url: what sorts by it, or the other way round."""
    if not form.sorts_by(column.sort):
        return {"label": column.label, "is_number": column.is_number}
    up, down = column.sort, f"-{column.sort}"
    first, then = (down, up) if column.greatest_first else (up, down)
    return {
        "label": column.label,
        "is_number": column.is_number,
        "url": "?" + form.query(sort=then if form.sort == first else first, **of_view),
        "sorted": {up: "ascending", down: "descending"}.get(form.sort, ""),
    }


def view_named(page: ProjectPage, of: ViewOf) -> SavedView | None:
    """By the address, or by a form. None also for one that is not there any more: its address says what it showed."""
    named = page.request.GET.get(VIEW, "") or page.request.POST.get(VIEW, "")
    if not (named.isdecimal() and len(named) <= MOST_DIGITS):
        return None
    return views_of(page.project, of, user=page.user).filter(pk=int(named)).first()


def address_of(view: SavedView) -> str:
    return "?" + urlencode({**view.conditions, VIEW: view.pk})
