"""Where judges ask: the list of endpoints, a form for one, and a button that tries it. The service checks what the form
means; here is only what a browser has to send."""

from __future__ import annotations

from functools import partial
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.utils.translation import gettext, gettext_lazy, pgettext_lazy
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters

from annotate.core.errors import Refusal, Stale
from frontend.base.forms import show_field
from frontend.base.pages import ProjectPage, RefusalsShown, project_view, refuse, status_of
from judges.endpoints.addresses import AddressRefused, read_url
from judges.endpoints.read import endpoints_of, one_endpoint
from judges.endpoints.write import change_endpoint, create_endpoint, delete_endpoint, try_endpoint
from judges.models import Endpoint
from judges.models.judge import KeySource

_PRICE: dict[str, Any] = {"min_value": 0, "max_digits": 12, "decimal_places": 6, "required": False}
_OF_TOKENS = gettext_lazy("In the currency below.")


class EndpointForm(forms.Form):
    base_url = forms.CharField(
        label=gettext_lazy("Base URL"),
        max_length=500,
        strip=True,
        widget=forms.URLInput({"placeholder": "https://api.openai.com/v1", "autocomplete": "off"}),
        help_text=gettext_lazy(
            "As for an OpenAI client, usually ending in the version. The server administrator must allow local "
            "hosts in JUDGE_PRIVATE_HOSTS."
        ),
    )
    key_source = forms.ChoiceField(
        label=pgettext_lazy("of an endpoint", "Key"),
        choices=KeySource.choices,
        initial=KeySource.NONE,
        widget=forms.RadioSelect,
    )
    key_variable = forms.CharField(
        label=gettext_lazy("Environment variable"),
        required=False,
        max_length=100,
        widget=forms.TextInput({"placeholder": "JUDGE_KEY_OPENAI", "autocomplete": "off", "spellcheck": "false"}),
        help_text=gettext_lazy("JUDGE_KEY_…, set for both web and worker."),
    )
    key = forms.CharField(
        label=gettext_lazy("API key"),
        required=False,
        max_length=500,
        widget=forms.PasswordInput({"autocomplete": "new-password", "spellcheck": "false"}),
    )
    confirms_key = forms.BooleanField(
        label=gettext_lazy("Use the key in this variable for the new host too"), required=False
    )
    concurrency = forms.IntegerField(
        label=gettext_lazy("Concurrent requests"),
        min_value=1,
        max_value=128,
        initial=8,
        help_text=gettext_lazy("Maximum number of requests in progress."),
    )
    requests_per_minute = forms.IntegerField(
        label=gettext_lazy("Requests per minute"),
        min_value=1,
        max_value=1_000_000,
        required=False,
        help_text=gettext_lazy("Leave empty for no limit."),
    )
    timeout_seconds = forms.IntegerField(
        label=gettext_lazy("Timeout (seconds)"),
        min_value=1,
        max_value=120,
        initial=60,
        help_text=gettext_lazy("Maximum time to wait for a reply."),
    )
    price_in = forms.DecimalField(label=gettext_lazy("Price per million input tokens"), help_text=_OF_TOKENS, **_PRICE)
    price_out = forms.DecimalField(
        label=gettext_lazy("Price per million output tokens"), help_text=_OF_TOKENS, **_PRICE
    )
    currency = forms.CharField(label=gettext_lazy("Currency"), min_length=3, max_length=3, initial="USD")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        show_field(self, "key_variable", by="key_source", at=[KeySource.ENVIRONMENT], needed=True)
        show_field(self, "confirms_key", by="key_source", at=[KeySource.ENVIRONMENT])
        show_field(self, "key", by="key_source", at=[KeySource.STORED])
        self.asks_again = False

    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        source, said = given.get("key_source"), given.get("key_variable")
        if given.get("key") and source not in (None, KeySource.STORED):
            self.add_error(
                "key_source", gettext_lazy("A key is entered below. Choose to store it, or clear the field.")
            )
        elif said and said != self.initial.get("key_variable") and source not in (None, KeySource.ENVIRONMENT):
            self.add_error(
                "key_source", gettext_lazy("A variable is entered below. Choose the environment, or clear the field.")
            )
        return given

    def given(self) -> dict[str, Any]:
        """What the service is told."""
        given = {
            name: self.cleaned_data[name] for name in self.cleaned_data if name not in ("confirms_key", "revision")
        }
        if given["key_source"] != KeySource.ENVIRONMENT:
            given["key_variable"] = ""
        return given


class NewEndpointForm(EndpointForm):
    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=60,
        widget=forms.TextInput({"autocomplete": "off"}),
        help_text=gettext_lazy("Lowercase letters, digits, “-” and “_”. Can’t be changed later."),
    )
    field_order = ["name"]


class ChangeEndpointForm(EndpointForm):
    revision = forms.IntegerField(min_value=1, widget=forms.HiddenInput)

    def __init__(self, endpoint: Endpoint, *args: Any, **kwargs: Any) -> None:
        names = [name for name in EndpointForm.base_fields if name not in ("key", "confirms_key")]
        initial = {name: getattr(endpoint, name) for name in (*names, "revision")}
        for name in ("price_in", "price_out"):
            price = initial[name]
            initial[name] = price if price is None else format(price.normalize(), "f")
        super().__init__(*args, initial=initial, **kwargs)
        self.endpoint = endpoint
        if endpoint.key_source == KeySource.STORED:
            ending = gettext("Stored key ends in %(last4)s.") if endpoint.key_last4 else gettext("A key is stored.")
            stays = gettext("Leave empty to keep it.")
            self.fields["key"].help_text = f"{ending % {'last4': endpoint.key_last4}} {stays}"

    def given(self) -> dict[str, Any]:
        """A variable that merely stood in the form is no word on where its key may go."""
        given = super().given()
        stood = given["key_source"] == KeySource.ENVIRONMENT and given["key_variable"] == self.endpoint.key_variable
        self.asks_again = stood and self._is_elsewhere(given["base_url"])
        if self.asks_again and not self.cleaned_data["confirms_key"]:
            del given["key_source"], given["key_variable"]
        return given

    def _is_elsewhere(self, base_url: str) -> bool:
        try:
            return read_url(base_url).origin != read_url(self.endpoint.base_url).origin
        except AddressRefused:
            return False


LONGEST_MODEL = 200


@project_view("judges", get="endpoints.read")
def endpoints(page: ProjectPage) -> HttpResponse:
    context = {"rows": list(endpoints_of(page.project)), "may_change": page.may("endpoints.change")}
    return page.render("judges/endpoints.html", context)


@sensitive_post_parameters("key")
@project_view("judges", get="endpoints.change", post="endpoints.change")
def new(page: ProjectPage) -> HttpResponse:
    form = NewEndpointForm(page.data)
    if form.is_valid():
        with RefusalsShown(form, show=partial(_show, form)):
            made = create_endpoint(project=page.project, actor=page.user, **form.given())
            messages.success(page.request, _("Endpoint saved. Test the connection next."))
            return page.redirect("endpoint", made.name)
    return page.render("judges/endpoint_new.html", {"form": form}, status=status_of(form))


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
            status = _show(form, refusal)
        else:
            messages.success(page.request, _("Saved. Test the connection next."))
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
            _("Endpoint “%(name)s” deleted.") % {"name": name},
        )
        return page.redirect("endpoints") if gone else page.redirect("endpoint", name)
    return page.render("judges/endpoint_delete.html", {"endpoint": found})


def _page(page: ProjectPage, found: Endpoint, more: dict[str, Any], status: int) -> HttpResponse:
    context = {"endpoint": found, "form": ChangeEndpointForm(found), **more}
    return page.render("judges/endpoint.html", context, status=status)


def _show(form: EndpointForm, refusal: Refusal) -> int:
    field = refusal.details.get("field")
    return refuse(form, refusal, field if field in form.fields else None)
