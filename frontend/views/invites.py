"""What somebody sees who opens an invitation: what it is to, and how to join."""

from __future__ import annotations

from typing import cast

from django.contrib import messages
from django.contrib.auth import login
from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from annotate.core.errors import Refusal
from annotate.core.permissions import role_of
from annotate.members.invites import accept_invite, find_invite
from annotate.models import Invite, Membership, User
from frontend.forms.account import SignUpForm


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def invite(request: HttpRequest, token: str) -> HttpResponse:
    """One page for every link that can't be used, whatever the reason."""
    try:
        found = find_invite(token)
        if request.user.is_authenticated:
            return _join(request, found, token)
        return _sign_up(request, found, token)
    except Http404:
        return render(request, "frontend/invite_gone.html", status=404)


def _join(request: HttpRequest, found: Invite, token: str) -> HttpResponse:
    user = cast("User", request.user)
    if role_of(user, found.project) is not None:
        messages.info(request, _("You are a member of “%(project)s” already.") % {"project": found.project.name})
        return redirect("project", slug=found.project.slug)
    refused = ""
    if request.method == "POST":
        try:
            return _welcome(request, accept_invite(user=user, token=token))
        except Refusal as refusal:
            refused = refusal.message
    context = {"invite": found, "refused": refused}
    return render(request, "frontend/invite.html", context, status=409 if refused else 200)


def _sign_up(request: HttpRequest, found: Invite, token: str) -> HttpResponse:
    """An account is made together with its membership, or not at all."""
    form = SignUpForm(request.POST if request.method == "POST" else None, initial={"email": found.email})
    if form.is_valid():
        try:
            with transaction.atomic():
                user = form.save()
                member = accept_invite(user=user, token=token)
        except Refusal as refusal:
            form.add_error(None, refusal.message)
        except IntegrityError:
            # Somebody took the name since it was checked.
            form.add_error("username", _("A user with that username already exists."))
        else:
            login(request, user)
            return _welcome(request, member)
    context = {"invite": found, "form": form, "path": request.path}
    return render(request, "frontend/invite.html", context, status=422 if form.is_bound else 200)


def _welcome(request: HttpRequest, member: Membership) -> HttpResponse:
    said = _("Welcome to “%(project)s”. You are %(role)s here.")
    messages.success(request, said % {"project": member.project.name, "role": member.get_role_display().lower()})
    return redirect("project", slug=member.project.slug)
