"""One's own account: tokens for programs, the password, keys, how the workspace looks, and the language of the
interface, which is the browser's until the user chooses one; with an account it is kept."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import BaseUserCreationForm, PasswordChangeForm, UsernameField
from django.contrib.auth.views import PasswordChangeView
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.template.defaultfilters import date
from django.urls import reverse_lazy
from django.utils import timezone
from django.utils.html import format_html
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django.views.i18n import set_language

from annotate.core.attempts import CONFIRMED, count, take_back
from annotate.core.browsers import remember_browser
from annotate.core.errors import Conflict, Refusal
from annotate.core.hotkeys import DEFAULT_HOTKEYS
from annotate.members import addresses
from annotate.models import ApiToken, Scope, User
from annotate.projects import accounts as tokens
from annotate.projects.accounts import Preferences, change_preferences, choose_language, preferences_of
from frontend.account.second_factor import PasswordForm
from frontend.base.hotkeys import ACTION_TEXTS, grouped_actions
from frontend.base.pages import status_of


class EmailForm(forms.ModelForm):
    """The password is asked beside it (`_password_form`)."""

    class Meta:
        model = User
        fields = ("email",)
        labels = {"email": gettext_lazy("Email address")}
        help_texts = {
            "email": gettext_lazy(
                "For new tasks, tasks sent back to you and tasks due tomorrow. Leave empty for no emails."
            )
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["email"].widget.attrs["autocomplete"] = "email"


class SignUpForm(BaseUserCreationForm):
    """The account of somebody who was invited."""

    class Meta:
        model = User
        fields = ("username", "display_name", "email")
        field_classes = {"username": UsernameField}
        labels = {
            "username": gettext_lazy("User name"),
            "display_name": gettext_lazy("Full name"),
            "email": gettext_lazy("Email address"),
        }
        help_texts = {
            "username": gettext_lazy("Letters, digits and @ . + - _ only. You log in with it."),
            "display_name": gettext_lazy("Shown to other members."),
            "email": gettext_lazy("For emails about your tasks. Leave empty for none."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["display_name"].widget.attrs["autocomplete"] = "name"
        self.fields["email"].widget.attrs["autocomplete"] = "email"
        # Opening the page must not jump over what it says.
        self.fields["username"].widget.attrs.pop("autofocus", None)


SCOPE_HELP = {
    Scope.READ: gettext_lazy("See everything you can see. Change nothing."),
    Scope.LABEL: gettext_lazy("Do your own tasks: label, skip, flag samples, ask reviewers."),
    Scope.PUSH: gettext_lazy(
        "Do what a pipeline does: import data, create batches, run judges and systems, create experiments and "
        "releases, check gates."
    ),
    Scope.ADMIN: gettext_lazy("Do everything you can do."),
}


class TokenForm(forms.Form):
    name = forms.CharField(
        label=gettext_lazy("Name"),
        required=False,
        max_length=tokens.MAX_TOKEN_NAME,
        help_text=gettext_lazy("What will use it, such as “nightly import”."),
    )
    scopes = forms.MultipleChoiceField(
        label=gettext_lazy("Scopes"),
        initial=tokens.DEFAULT_SCOPES,
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("What the program may do. It can never do more than you."),
    )
    days = forms.IntegerField(
        label=gettext_lazy("Valid for (days)"),
        min_value=1,
        max_value=tokens.MAX_TOKEN_DAYS,
        initial=tokens.MAX_TOKEN_DAYS,
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["scopes"].choices = [  # type: ignore[attr-defined]
            (scope.value, format_html('<span><code>{}</code><br><span class="helptext">{}</span></span>', scope, text))
            for scope, text in SCOPE_HELP.items()
        ]


class KeysForm(forms.Form):
    """One field per action; an empty one means its usual keys."""

    single_keys = forms.BooleanField(
        label=gettext_lazy("Single-key shortcuts"),
        required=False,
        help_text=gettext_lazy(
            "If off, single letters and digits do nothing. Tab, arrows, Space and Enter always work."
        ),
    )
    view = forms.ChoiceField(
        label=gettext_lazy("Questions"),
        choices=[("one", gettext_lazy("One at a time")), ("all", gettext_lazy("All at once"))],
        widget=forms.RadioSelect,
    )

    def __init__(self, preferences: Preferences, data: Any = None) -> None:
        chosen = {f"key_{action}": key for action, key in preferences.hotkeys.items()}
        super().__init__(data, initial={"single_keys": preferences.single_keys, "view": preferences.view, **chosen})
        for action, usual in DEFAULT_HOTKEYS.items():
            text = ACTION_TEXTS[action]
            self.fields[f"key_{action}"] = forms.CharField(
                label=_(text),
                required=False,
                max_length=1,
                strip=False,
                widget=forms.TextInput(
                    {"data-key": "", "placeholder": " ".join(usual), "autocomplete": "off", "spellcheck": "false"}
                ),
            )

    @property
    def key_groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        return [(name, [self[f"key_{action}"] for action in actions]) for name, actions in grouped_actions().items()]

    def save(self, user: User) -> bool:
        """Whether it was taken; if not, the fields that are in the way say so."""
        given = self.cleaned_data
        hotkeys = {action: given[f"key_{action}"] for action in DEFAULT_HOTKEYS if given[f"key_{action}"]}
        try:
            change_preferences(
                user=user, changes={"hotkeys": hotkeys, "single_keys": given["single_keys"], "view": given["view"]}
            )
        except Refusal as refusal:
            for field in self._in_the_way(refusal, hotkeys):
                self.add_error(field, refusal.message)
            return False
        return True

    def _in_the_way(self, refusal: Refusal, hotkeys: dict[str, str]) -> list[str | None]:
        key = refusal.details.get("key")
        actions = refusal.details.get("actions") or [
            action for action, chosen in hotkeys.items() if chosen.lower() == key
        ]
        mine = [f"key_{action}" for action in actions if action in hotkeys]
        return list(mine) or [None]


@require_safe
@login_required
def account(request: HttpRequest) -> HttpResponse:
    return _show(request)


@never_cache
@require_POST
@login_required
def new_token(request: HttpRequest) -> HttpResponse:
    """Makes a token and shows it. No redirect: only its hash is stored, so only this page has it."""
    form = TokenForm(request.POST)
    if not form.is_valid():
        return _show(request, {"token_form": form}, 422)
    try:
        instance, token = tokens.make_token(actor=cast("User", request.user), **form.cleaned_data)
    except Conflict:
        return redirect("login")
    return _show(request, {"token": token, "expiry": instance.expiry}, 201)


@require_POST
@login_required
def revoke_token(request: HttpRequest, token_id: str) -> HttpResponse:
    tokens.revoke_token(actor=cast("User", request.user), token_id=token_id)
    messages.success(request, _("Token revoked. Programs can no longer use it."))
    return redirect("account")


@sensitive_post_parameters()
@never_cache
@require_POST
@login_required
def change_email(request: HttpRequest) -> HttpResponse:
    """With the password of an account that has one: the address may tell whose the account is."""
    user = cast("User", request.user)
    form, password = EmailForm(request.POST), _password_form(user, request.POST)
    if not form.is_valid():
        return _show(request, {"email_form": form}, 422)
    if password is not None and not password.is_of(user, request.session.session_key):
        return _show(request, {"email_form": form, "email_password_form": password}, 422)
    try:
        addresses.change_email(user=user, email=form.cleaned_data["email"])
    except Conflict:
        return redirect("login")
    messages.success(request, _("Saved."))
    return redirect("account")


def _password_form(user: User, sent: Any = None) -> PasswordForm | None:
    """None for an account without a password, which its address opens only once it is confirmed (decision 63)."""
    if not user.has_usable_password():
        return None
    form = PasswordForm(sent)
    form.fields["password"].help_text = _("Needed to change your address.")
    return form


class ChangePasswordForm(PasswordChangeForm):
    """Ends all tokens but those that are ticked; sessions end by themselves (AbstractBaseUser).

    session: which asks; another one, such as a thief's, has a limit of its own.
    """

    user: User
    keep = forms.ModelMultipleChoiceField(
        label=gettext_lazy("API tokens to keep"),
        queryset=ApiToken.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("All others stop working at once. If someone else may know your password, keep none."),
    )

    def __init__(self, user: User, *args: Any, session: str | None, **kwargs: Any) -> None:
        super().__init__(user, *args, **kwargs)
        self._session = session
        self.fields["keep"].queryset = tokens.tokens_of(user)  # type: ignore[attr-defined]
        self.fields["keep"].label_from_instance = _token_in_words  # type: ignore[attr-defined]
        if not self.fields["keep"].queryset.exists():  # type: ignore[attr-defined]
            del self.fields["keep"]

    def clean_old_password(self) -> str:
        """Raises TooManyAttempts: a page that was left open is no place to guess the password."""
        limits = {f"old password of {self.user.pk} in {self._session}": CONFIRMED}
        count(limits)
        found: str = super().clean_old_password()
        take_back(limits)
        return found

    def save(self, commit: bool = True) -> User:
        keep = [token.pk for token in self.cleaned_data.get("keep", ())]
        tokens.change_password(user=self.user, password=self.cleaned_data["new_password1"], keep_tokens=keep)
        return self.user


def _token_in_words(token: ApiToken) -> str:
    name = token.name or f"{token.token_key}…"
    if token.last_used is None:
        return _("%(name)s, never used") % {"name": name}
    return _("%(name)s, last used %(when)s") % {"name": name, "when": date(localtime(token.last_used), "DATE_FORMAT")}


class ChangePassword(PasswordChangeView):
    template_name = "registration/password_change.html"
    form_class = ChangePasswordForm
    success_url = reverse_lazy("account")

    def get_form_kwargs(self) -> dict[str, Any]:
        return {**super().get_form_kwargs(), "session": self.request.session.session_key}

    def form_valid(self, form: Any) -> HttpResponse:
        """Of the browsers in which the account was logged in, this one stays known."""
        try:
            reply = super().form_valid(form)
        except Conflict:
            return redirect("login")
        said = gettext_lazy("Password changed. Other browsers were logged out, and the other tokens were revoked.")
        messages.success(self.request, said)
        remember_browser(self.request, reply, form.user)
        return reply


_SOON = timedelta(days=14)


def _listed(token: ApiToken) -> dict[str, Any]:
    left = token.expiry - timezone.now() if token.expiry is not None else None
    return {
        "token": token,
        "has_expired": left is not None and left < timedelta(),
        "expires_soon": left is not None and left < _SOON,
    }


def _show(request: HttpRequest, context: dict[str, Any] | None = None, status: int = 200) -> HttpResponse:
    user = cast("User", request.user)
    shared = {
        "tokens": [_listed(token) for token in tokens.tokens_of(user)],
        "token_form": TokenForm(),
        "email_form": EmailForm(initial={"email": user.email}),
        "email_password_form": _password_form(user),
        "by_password": settings.PASSWORD_LOGIN and user.has_usable_password(),
        "reset_by_mail": settings.PASSWORD_RESET_BY_MAIL and user.has_usable_password() and not user.is_superuser,
    }
    return render(request, "account/account.html", {**shared, **(context or {})}, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def keys(request: HttpRequest) -> HttpResponse:
    user = cast("User", request.user)
    sent = request.method == "POST"
    if sent and "reset" in request.POST:
        change_preferences(user=user, changes={"hotkeys": None, "single_keys": None, "view": None})
        messages.success(request, _("Shortcuts reset to defaults."))
        return redirect("keys")
    form = KeysForm(preferences_of(user), request.POST if sent else None)
    if form.is_valid() and form.save(user):
        messages.success(request, _("Saved."))
        return redirect("keys")
    return render(request, "account/keys.html", {"form": form}, status=status_of(form))


@require_POST
def choose(request: HttpRequest) -> HttpResponseBase:
    """Remembers the language, in a cookie and with the person, and leads back to the page."""
    language = request.POST.get("language", "")
    if language not in dict(settings.LANGUAGES):
        return HttpResponseBadRequest(_("This language is not available."))
    if request.user.is_authenticated:
        choose_language(user=request.user, language=language)
    return set_language(request)
