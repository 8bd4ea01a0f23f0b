"""Where judges ask: the list of endpoints, a form for one, and a button that tries it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters

from annotate.core.errors import Refusal, Stale
from frontend.forms.endpoints import ChangeEndpointForm, EndpointForm, NewEndpointForm
from frontend.views.base import ProjectPage, project_view, refuse, status_of
from judges.models import Endpoint
from judges.selectors.endpoints import endpoints_of, one_endpoint
from judges.services.endpoint_trial import try_endpoint
from judges.services.endpoints import change_endpoint, create_endpoint, delete_endpoint

LONGEST_MODEL = 200


@project_view("judges", get="endpoints.read")
def endpoints(page: ProjectPage) -> HttpResponse:
    context = {"rows": list(endpoints_of(page.project)), "may_change": page.may("endpoints.change")}
    return page.render("frontend/endpoints.html", context)


@sensitive_post_parameters("key")
@project_view("judges", get="endpoints.change", post="endpoints.change")
def new(page: ProjectPage) -> HttpResponse:
    form = NewEndpointForm(page.data)
    status = status_of(form)
    if form.is_valid():
        try:
            made = create_endpoint(project=page.project, actor=page.user, **form.given())
        except Refusal as refusal:
            status = _refused(form, refusal)
        else:
            messages.success(page.request, _("The endpoint is saved. Try it, to see whether it answers."))
            return page.redirect("endpoint", made.name)
    return page.render("frontend/endpoint_new.html", {"form": form}, status=status)


@sensitive_post_parameters("key")
@project_view("judges", get="endpoints.read", post="endpoints.change")
def endpoint(page: ProjectPage, name: str) -> HttpResponse:
    found = one_endpoint(page.project, name)
    form = ChangeEndpointForm(found, page.data)
    status = status_of(form)
    if form.is_valid():
        try:
            revision = form.cleaned_data["revision"]
            change_endpoint(endpoint=found, expected_revision=revision, actor=page.user, **form.given())
        except Stale as stale:
            messages.error(page.request, stale.message)
            return page.redirect("endpoint", name)
        except Refusal as refusal:
            status = _refused(form, refusal)
        else:
            messages.success(page.request, _("Saved. Try it, to see whether it answers."))
            return page.redirect("endpoint", name)
    return _page(page, found, {"form": form}, status)


@project_view("judges", post="endpoints.change")
def attempt(page: ProjectPage, name: str) -> HttpResponse:
    """No redirect: what came of a trial is kept nowhere."""
    found = one_endpoint(page.project, name)
    model = page.request.POST.get("model", "").strip()[:LONGEST_MODEL]
    return _page(page, found, {"trial": try_endpoint(endpoint=found, model=model or None), "model": model}, 200)


@project_view("judges", get="endpoints.change", post="endpoints.change")
def delete(page: ProjectPage, name: str) -> HttpResponse:
    found = one_endpoint(page.project, name)
    if page.request.method == "POST":
        gone = page.attempt(
            lambda: delete_endpoint(endpoint=found, actor=page.user),
            _("The endpoint “%(name)s” is deleted.") % {"name": name},
        )
        return page.redirect("endpoints") if gone else page.redirect("endpoint", name)
    return page.render("frontend/endpoint_delete.html", {"endpoint": found})


def _page(page: ProjectPage, found: Endpoint, more: dict[str, Any], status: int) -> HttpResponse:
    context = {"endpoint": found, "form": ChangeEndpointForm(found), **more}
    return page.render("frontend/endpoint.html", context, status=status)


def _refused(form: EndpointForm, refusal: Refusal) -> int:
    field = refusal.details.get("field")
    return refuse(form, refusal, field if field in form.fields else None)
