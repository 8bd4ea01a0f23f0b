"""What every page of a project shares: who may open it, its navigation, how a refusal is shown, and values in the words
of their options."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from annotate.core.errors import Refusal
from annotate.core.permissions import may_in, project_for
from annotate.models import Project, User
from frontend.base.spelling import rounded, selection

# Section, its label, and the action one needs to see it in the navigation.
SECTIONS = (
    ("project", gettext_noop("Overview"), "project.read"),
    ("label", gettext_noop("Label"), "work.label"),
    ("adjudicate", gettext_noop("Adjudication"), "adjudication.read"),
    ("samples", gettext_noop("Samples"), "samples.read"),
    ("units", gettext_noop("Units"), "samples.read"),
    ("batches", gettext_noop("Batches"), "batches.read"),
    ("criteria", gettext_noop("Criteria"), "criteria.read"),
    ("reports", gettext_noop("Reports"), "reports.read"),
    ("judges", gettext_noop("Judges"), "judges.read"),
    ("systems", gettext_noop("Systems"), "systems.read"),
    ("export", gettext_noop("Export"), "export.read"),
    ("questions", gettext_noop("Annotator questions"), "threads.read"),
    ("flags", gettext_noop("Flags"), "flags.read"),
    ("import", gettext_noop("Import"), "import.read"),
    ("members", gettext_noop("Members"), "members.read"),
    ("audit", gettext_noop("Audit log"), "audit.read"),
    ("settings", gettext_noop("Settings"), "project.change"),
)
# How many of them are shown in a row; those after them are needed less often.
IN_A_ROW = 8
PAGE_SIZE = 50
# Of more samples than that, figures come in a request of their own, and the page is there before.
MANY = 2000


def project_nav(project: Project, role: str, section: str) -> dict[str, list[dict[str, Any]]]:
    """The sections of a project that the role may open, for partials/nav.html; a section's name is also the name of its
    URL."""
    items = [
        {"label": _(label), "url": reverse(name, args=[project.slug]), "current": name == section}
        for name, label, action in SECTIONS
        if may_in(project, role, action)
    ]
    return {"nav": items[:IN_A_ROW], "nav_more": items[IN_A_ROW:]}


@dataclass(frozen=True)
class ProjectPage:
    """One request for one page of a project, by a user who may open it."""

    request: HttpRequest
    project: Project
    role: str
    section: str

    @property
    def user(self) -> User:
        # `project_view` lets in users only.
        return cast("User", self.request.user)

    @property
    def data(self) -> QueryDict | None:
        """What a form was sent with; None when it was not sent."""
        return self.request.POST if self.request.method == "POST" else None

    def may(self, action: str) -> bool:
        return may_in(self.project, self.role, action)

    def url(self, name: str, *args: Any) -> str:
        return reverse(name, args=[self.project.slug, *args])

    def redirect(self, name: str, *args: Any) -> HttpResponseRedirect:
        return HttpResponseRedirect(self.url(name, *args))

    def render(self, template: str, context: dict[str, Any] | None = None, *, status: int = 200) -> HttpResponse:
        shared = {
            "project": self.project,
            "role": self.role,
            **project_nav(self.project, self.role, self.section),
            "may_label": self.may("work.label"),
        }
        return render(self.request, template, {**shared, **(context or {})}, status=status)

    def rows(self, found: Any, per_page: int = PAGE_SIZE) -> Page:
        """Those of a long list that are on the page of it that the address names (`?page=2`)."""
        return Paginator(found, per_page).get_page(self.request.GET.get("page"))

    def comes_later(self, samples: QuerySet[Any]) -> bool:
        """Whether the page opens without figures over these, and partials/later.html asks for them."""
        return "figures" not in self.request.GET and samples[: MANY + 1].count() > MANY

    def attempt(self, act: Callable[[], object], done: str) -> bool:
        """Does it and says `done`, or says why it was refused."""
        try:
            act()
        except Refusal as refusal:
            messages.error(self.request, refusal.message)
            return False
        messages.success(self.request, done)
        return True


PageView = Callable[..., HttpResponseBase]


def project_view(section: str, *, get: str | None = None, post: str | None = None) -> Callable[[PageView], PageView]:
    """A view of a project: `get` and `post` name the action that each method takes; one not named is not allowed."""
    actions = {"GET": get, "HEAD": get, "POST": post}
    allowed = [method for method, action in actions.items() if action]

    def decorate(view: PageView) -> PageView:
        @login_required
        @wraps(view)
        def wrapped(request: HttpRequest, slug: str, **kwargs: Any) -> HttpResponseBase:
            action = actions.get(str(request.method))
            if action is None:
                return HttpResponseNotAllowed(allowed)
            project, role = project_for(cast("User", request.user), slug, action)
            return view(ProjectPage(request, project, role, section), **kwargs)

        return wrapped

    return decorate


def refuse(form: BaseForm, refusal: Refusal, field: str | None = None) -> int:
    """Shows the refusal in the form, which keeps what was typed. Returns the status of the page."""
    form.add_error(field, refusal.message)
    form.refused_with = refusal.status  # type: ignore[attr-defined]
    return refusal.status


def status_of(form: BaseForm) -> int:
    """The status of a page with a form that was refused, or sent and not accepted, or not sent at all."""
    return getattr(form, "refused_with", 422 if form.is_bound else 200)


class RefusalsShown:
    """A context in which a refusal is shown in the form, and then left. field: which it is about; places: the same by
    the refusal's code; show: what finds its place, instead."""

    def __init__(
        self,
        form: BaseForm,
        field: str | None = None,
        *,
        places: Mapping[str, str] | None = None,
        show: Callable[[Refusal], object] | None = None,
    ) -> None:
        self._form, self._field, self._places, self._show = form, field, places or {}, show

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, Refusal):
            return False
        if self._show is None:
            refuse(self._form, error, self._places.get(error.code, self._field))
        else:
            self._show(error)
            self._form.refused_with = error.status  # type: ignore[attr-defined]
        return True


def sees_names(page: ProjectPage) -> bool:
    """Whether this person sees who said what: where the project shows it, or an admin who switched it on."""
    switched = page.may("adjudication.names") and page.request.session.get(names_key(page), False)
    return page.project.show_names or bool(switched)


def names_key(page: ProjectPage) -> str:
    return f"names:{page.project.pk}"


def word(options: Sequence[dict[str, Any]], value: Any) -> str:
    """The label of the option that has this value, of a selection those of its options; a number of an open scale as it
    is."""
    if isinstance(value, list):
        return selection(word(options, one) for one in value)
    for option in options:
        if type(option["value"]) is type(value) and option["value"] == value:
            return str(option.get("label") or value)
    return str(rounded(value))
