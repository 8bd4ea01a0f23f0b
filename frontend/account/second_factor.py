"""The second factor: asked after the password, and turned on and off on the account's own page."""

from __future__ import annotations

import time
from typing import Any, cast

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.crypto import constant_time_compare
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate.core.attempts import CONFIRMED, count, take_back
from annotate.core.browsers import remember_browser
from annotate.models import User
from annotate.projects.second_factor import (
    address_for_app,
    is_required_of,
    is_right,
    new_recovery_codes,
    new_secret,
    second_factor_of,
    turn_off,
    turn_on,
)
from frontend.account.sessions import begin_session
from frontend.base.pages import status_of

# Between the password and the code; and what the app is being told.
_PENDING, _SECRET = "log-in-pending", "second-factor-secret"
_PATIENCE_SECONDS = 600


class CodeForm(forms.Form):
    code = forms.CharField(
        label=gettext_lazy("Code"),
        max_length=40,
        help_text=gettext_lazy("From your authenticator app, or one of your recovery codes."),
        widget=forms.TextInput({"autocomplete": "one-time-code", "autocapitalize": "none", "spellcheck": "false"}),
    )

    def refuse(self) -> None:
        if not self.errors:
            self.add_error("code", _("This code is wrong or was used already."))


class AppCodeForm(CodeForm):
    """The first code of a new app."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["code"].help_text = _("The six digits that the app shows now.")


class PasswordForm(forms.Form):
    password = forms.CharField(
        label=gettext_lazy("Password"),
        strip=False,
        widget=forms.PasswordInput({"autocomplete": "current-password"}),
    )

    def is_of(self, user: User, session: str | None) -> bool:
        """Raises TooManyAttempts: a page that was left open is no place to guess the password."""
        limits = {f"old password of {user.pk} in {session}": CONFIRMED}
        count(limits)
        if self.is_valid() and user.check_password(self.cleaned_data["password"]):
            take_back(limits)
            return True
        if not self.errors:
            self.add_error("password", _("Your password is wrong."))
        return False


def after_password(request: HttpRequest, user: User, to: str) -> HttpResponse:
    """Of a person who knows the account's password: lets them in, or asks for the second factor first."""
    if second_factor_of(user) is None and not is_required_of(user):
        return _let_in(request, user, to)
    request.session.cycle_key()
    # Of who was here before in this browser, and saw it.
    request.session.pop(_SECRET, None)
    request.session[_PENDING] = {
        "user": user.pk,
        "password": user.get_session_auth_hash(),
        "until": time.time() + _PATIENCE_SECONDS,
        "to": to,
    }
    return redirect("log-in-code")


def _let_in(request: HttpRequest, user: User, to: str) -> HttpResponse:
    for name in (_PENDING, _SECRET):
        request.session.pop(name, None)
    reply = begin_session(request, user, to)
    remember_browser(request, reply, user)
    return reply


def _pending(request: HttpRequest) -> tuple[User, str] | None:
    """Who gave the password in this browser a moment ago, and where to then. With another password it ends."""
    kept = request.session.get(_PENDING)
    if kept is None or kept["until"] < time.time():
        return None
    user = User.objects.filter(pk=kept["user"], is_active=True).first()
    if user is None or not constant_time_compare(kept["password"], user.get_session_auth_hash()):
        return None
    return user, kept["to"]


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def code(request: HttpRequest) -> HttpResponse:
    """Asks for a code; or, of those who need a second factor and have none, to set one up."""
    pending = _pending(request)
    if pending is None:
        return redirect("login")
    user, to = pending
    sent = request.POST if request.method == "POST" else None
    if second_factor_of(user) is None:
        if not is_required_of(user):  # turned off meanwhile: the password is enough
            return redirect("login")
        if _SECRET not in request.session:
            # No app was told one, so nothing that is sent can be its code.
            request.session[_SECRET], sent = new_secret(), None
        made, first = _turned_on(request, user, sent)
        if made is None:
            return _show_app(request, user, first)
        reply = _let_in(request, user, to)
        # The page with the codes, and the cookies of that reply.
        page = _show_codes(request, made, to)
        page.cookies = reply.cookies
        return page
    form = CodeForm(sent)
    form.fields["code"].widget.attrs["autofocus"] = ""
    if form.is_valid() and is_right(request=request, user=user, code=form.cleaned_data["code"]):
        return _let_in(request, user, to)
    if sent is not None:
        form.refuse()
    return render(request, "account/log_in_code.html", {"form": form}, status=status_of(form))


def _turned_on(request: HttpRequest, user: User, sent: Any) -> tuple[list[str] | None, AppCodeForm]:
    """The recovery codes, once the form has the first code of the app that was told the session's secret."""
    form = AppCodeForm(sent)
    if sent is None or not form.is_valid():
        return None, form
    codes = turn_on(request=request, user=user, secret=request.session[_SECRET], code=form.cleaned_data["code"])
    if codes is None:
        form.refuse()
    else:
        del request.session[_SECRET]
    return codes, form


def _show_app(request: HttpRequest, user: User, form: AppCodeForm) -> HttpResponse:
    secret = request.session[_SECRET]
    context = {
        "form": form,
        "secret": " ".join(secret[at : at + 4] for at in range(0, len(secret), 4)),
        "picture": import_string("frontend.account.qr_code.qr_code")(address_for_app(user, secret)),
        "is_required": is_required_of(user),
    }
    return render(request, "account/second_factor_app.html", context, status=status_of(form))


def _show_codes(request: HttpRequest, codes: list[str], to: str) -> HttpResponse:
    """No redirect: only their digests are stored, so only this page has them."""
    return render(request, "account/recovery_codes.html", {"codes": codes, "to": to}, status=201)


def _own(request: HttpRequest) -> User:
    """Who has no password is asked for none, and so for no second factor."""
    user = cast("User", request.user)
    if not (settings.PASSWORD_LOGIN and user.has_usable_password()):
        raise Http404
    return user


@never_cache
@require_safe
@login_required
def show(request: HttpRequest) -> HttpResponse:
    return _show(request, _own(request))


def _show(request: HttpRequest, user: User, **sent: forms.Form) -> HttpResponse:
    status = next((status_of(form) for form in sent.values()), 200)
    blank = {
        "password_form": PasswordForm(),
        "codes_form": CodeForm(prefix="codes"),
        "off_form": CodeForm(prefix="off"),
    }
    context = {"factor": second_factor_of(user), "is_required": is_required_of(user), **blank, **sent}
    return render(request, "account/second_factor.html", context, status=status)


@sensitive_post_parameters()
@never_cache
@require_POST
@login_required
def new(request: HttpRequest) -> HttpResponse:
    """With the password: shows the app's secret. With the app's first code: turns it on."""
    user = _own(request)
    if second_factor_of(user) is not None:
        return redirect("second-factor")
    if "code" in request.POST and _SECRET in request.session:
        codes, form = _turned_on(request, user, request.POST)
        if codes is None:
            return _show_app(request, user, form)
        return _show_codes(request, codes, reverse("account"))
    password = PasswordForm(request.POST)
    if not password.is_of(user, request.session.session_key):
        return _show(request, user, password_form=password)
    request.session[_SECRET] = new_secret()
    return _show_app(request, user, AppCodeForm())


@sensitive_post_parameters()
@never_cache
@require_POST
@login_required
def codes(request: HttpRequest) -> HttpResponse:
    """Ten new recovery codes in place of those before."""
    user = _own(request)
    form = CodeForm(request.POST, prefix="codes")
    if form.is_valid() and is_right(request=request, user=user, code=form.cleaned_data["code"]):
        return _show_codes(request, new_recovery_codes(user=user), reverse("account"))
    form.refuse()
    return _show(request, user, codes_form=form)


@sensitive_post_parameters()
@never_cache
@require_POST
@login_required
def off(request: HttpRequest) -> HttpResponse:
    user = _own(request)
    form = CodeForm(request.POST, prefix="off")
    if is_required_of(user):
        raise Http404
    if form.is_valid() and is_right(request=request, user=user, code=form.cleaned_data["code"]):
        turn_off(user=user, actor=user)
        messages.success(request, _("Two-factor authentication is off."))
        return redirect("account")
    form.refuse()
    return _show(request, user, off_form=form)
