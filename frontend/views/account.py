"""One's own account: tokens for programs, and the password."""

from __future__ import annotations

from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import PasswordChangeView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe
from knox.models import get_token_model

from annotate.models import User
from annotate.projects import accounts as tokens
from frontend.forms.account import EmailForm


@require_safe
@login_required
def account(request: HttpRequest) -> HttpResponse:
    return _show(request)


@never_cache
@require_POST
@login_required
def new_token(request: HttpRequest) -> HttpResponse:
    """Makes a token and shows it. No redirect: only its hash is stored, so only this page has it."""
    instance, token = tokens.make_token(actor=cast("User", request.user))
    return _show(request, {"token": token, "expiry": instance.expiry}, 201)


@require_POST
@login_required
def revoke_token(request: HttpRequest, token_id: str) -> HttpResponse:
    tokens.revoke_token(actor=cast("User", request.user), token_id=token_id)
    messages.success(request, _("The token is revoked; programs that use it are refused from now on."))
    return redirect("account")


@require_POST
@login_required
def change_email(request: HttpRequest) -> HttpResponse:
    form = EmailForm(request.POST, instance=request.user)
    if not form.is_valid():
        return _show(request, {"email_form": form}, 422)
    form.save()
    messages.success(request, _("Saved."))
    return redirect("account")


class ChangePassword(PasswordChangeView):
    template_name = "registration/password_change.html"
    success_url = reverse_lazy("account")

    def form_valid(self, form: Any) -> HttpResponse:
        messages.success(self.request, gettext_lazy("Your password is changed. Other browsers are logged out."))
        return super().form_valid(form)


def _show(request: HttpRequest, context: dict[str, Any] | None = None, status: int = 200) -> HttpResponse:
    own = get_token_model().objects.filter(user=request.user).order_by("-created")
    shared = {"tokens": own, "email_form": EmailForm(instance=request.user)}
    return render(request, "frontend/account.html", {**shared, **(context or {})}, status=status)
