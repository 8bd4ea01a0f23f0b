"""A form for an endpoint. The service checks what it means; here is only what a browser has to send."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from judges.endpoints.addresses import AddressRefused, read_url
from judges.models import Endpoint
from judges.models.endpoint import KeySource

_PRICE: dict[str, Any] = {"min_value": 0, "max_digits": 12, "decimal_places": 6, "required": False}
_OF_TOKENS = _("Of tokens, in the currency.")


class EndpointForm(forms.Form):
    base_url = forms.CharField(
        label=_("Base URL"),
        max_length=500,
        strip=True,
        widget=forms.URLInput({"placeholder": "https://api.openai.com/v1", "autocomplete": "off"}),
        help_text=_(
            "What an OpenAI client is given, mostly with the version at its end. A host within this machine or its "
            "network has to be allowed by the operator, in the setting JUDGE_PRIVATE_HOSTS."
        ),
    )
    key_source = forms.ChoiceField(
        label=pgettext_lazy("of an endpoint", "Key"),
        choices=KeySource.choices,
        initial=KeySource.NONE,
        widget=forms.RadioSelect,
    )
    key_variable = forms.CharField(
        label=_("Environment variable"),
        required=False,
        max_length=100,
        widget=forms.TextInput({"placeholder": "JUDGE_KEY_OPENAI", "autocomplete": "off", "spellcheck": "false"}),
        help_text=_("For a key from the environment: the variable that web and worker have it in, JUDGE_KEY_…"),
    )
    key = forms.CharField(
        label=_("Key to store"),
        required=False,
        max_length=500,
        widget=forms.PasswordInput({"autocomplete": "new-password", "spellcheck": "false"}),
    )
    confirms_key = forms.BooleanField(label=_("The key in this variable is for the new host, too"), required=False)
    concurrency = forms.IntegerField(
        label=_("Requests at once"), min_value=1, max_value=128, initial=8, help_text=_("At most so many wait there.")
    )
    requests_per_minute = forms.IntegerField(
        label=_("Requests per minute"),
        min_value=1,
        max_value=1_000_000,
        required=False,
        help_text=_("Empty: as many as there are."),
    )
    timeout_seconds = forms.IntegerField(
        label=_("Seconds for a reply"), min_value=1, max_value=120, initial=60, help_text=_("After that it timed out.")
    )
    price_in = forms.DecimalField(label=_("Price per million sent"), help_text=_OF_TOKENS, **_PRICE)
    price_out = forms.DecimalField(label=_("Price per million received"), help_text=_OF_TOKENS, **_PRICE)
    currency = forms.CharField(label=_("Currency"), min_length=3, max_length=3, initial="USD")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.asks_again = False

    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        source, said = given.get("key_source"), given.get("key_variable")
        if given.get("key") and source not in (None, KeySource.STORED):
            self.add_error("key_source", _("A key is written below: choose that it is stored, or take it out."))
        elif said and said != self.initial.get("key_variable") and source not in (None, KeySource.ENVIRONMENT):
            self.add_error("key_source", _("A variable is written below: choose the environment, or take it out."))
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
        label=_("Name"),
        max_length=60,
        widget=forms.TextInput({"autocomplete": "off"}),
        help_text=_("Small letters, digits, “-” and “_”. Judges know the endpoint by it, so it stays."),
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
            ending = (
                gettext("One is stored; it ends in %(last4)s.") if endpoint.key_last4 else gettext("One is stored.")
            )
            stays = gettext("Leave this empty, and it stays.")
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
