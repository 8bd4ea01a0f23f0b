"""A forgotten password: a link by mail to an address that its owner confirmed before."""

from __future__ import annotations

from typing import cast

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import SetPasswordForm
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from annotate.core.attempts import count_wrong_secret
from annotate.members.mail_resets import (
    ask_for_reset,
    confirm,
    confirm_by_mail,
    find_confirmation,
    find_reset_by_mail,
    use_reset_by_mail,
)
from annotate.models import User
from frontend.account.second_factor import PasswordForm, after_password
from frontend.base.pages import RefusalsShown, status_of


class ForgottenForm(forms.Form):
    email = forms.EmailField(
        label=gettext_lazy("Email address"),
        max_length=254,
        widget=forms.EmailInput({"autocomplete": "email"}),
    )


def _only_where_mail_is_sent() -> None:
    if not settings.PASSWORD_RESET_BY_MAIL:
        raise Http404


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def ask(request: HttpRequest) -> HttpResponse:
    """The reply is the same whether an account has the address or not."""
    _only_where_mail_is_sent()
    form = ForgottenForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        with RefusalsShown(form, "email"):
            ask_for_reset(request=request, email=form.cleaned_data["email"])
            return render(request, "account/forgotten_sent.html", {"email": form.cleaned_data["email"]})
    return render(request, "account/forgotten.html", {"form": form}, status=status_of(form))


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def reset(request: HttpRequest, token: str) -> HttpResponse:
    """One page for every link that can't be used, whatever the reason."""
    _only_where_mail_is_sent()
    try:
        user = find_reset_by_mail(token)
        form: SetPasswordForm[User] = SetPasswordForm(user, request.POST if request.method == "POST" else None)
        if form.is_valid():
            user = use_reset_by_mail(token=token, password=form.cleaned_data["new_password1"])
            messages.success(request, _("Your new password is set. You’re logged out everywhere else."))
            return after_password(request, user, reverse("home"))
    except Http404:
        return _gone(request)
    return render(request, "projects/reset.html", {"account": user, "form": form}, status=status_of(form))


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def confirm_address(request: HttpRequest) -> HttpResponse:
    """With the password, or who finds an open screen could have the next one sent to themselves."""
    _only_where_mail_is_sent()
    user = cast("User", request.user)
    if not user.has_usable_password():
        raise Http404
    sent = request.method == "POST"
    form = PasswordForm(request.POST if sent else None)
    if sent and form.is_of(user, request.session.session_key):
        with RefusalsShown(form):
            confirm_by_mail(user=user)
            messages.success(request, _("Email sent to %(address)s. Open its link.") % {"address": user.email})
            return redirect("account")
    return render(request, "account/confirm_address.html", {"form": form}, status=status_of(form))


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def confirmed(request: HttpRequest, token: str) -> HttpResponse:
    """A POST confirms: programs that look at mails follow their links."""
    _only_where_mail_is_sent()
    try:
        if request.method == "POST":
            confirm(token=token)
            messages.success(request, _("Email address confirmed."))
            return redirect("account")
        user = find_confirmation(token)
    except Http404:
        return _gone(request)
    return render(request, "account/confirm.html", {"account": user})


def _gone(request: HttpRequest) -> HttpResponse:
    count_wrong_secret(request)
    return render(request, "account/link_gone.html", status=404)
