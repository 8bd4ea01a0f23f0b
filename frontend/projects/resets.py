"""A new password by a one-time link: an admin makes it on the page of members, the owner of the account opens it."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.forms import SetPasswordForm
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from annotate.core.attempts import count_wrong_secret
from annotate.core.errors import Refusal
from annotate.members.resets import create_reset, find_reset, use_reset
from annotate.models import User
from frontend.account.second_factor import after_password
from frontend.base.pages import ProjectPage, project_view, status_of
from frontend.projects.members import one_member, show_members


@never_cache
@project_view("members", post="members.change")
def reset(page: ProjectPage, username: str) -> HttpResponse:
    """Makes a link and shows it. No redirect: the link is kept nowhere, so only this page has it."""
    user = one_member(page, username).user
    try:
        made, token = create_reset(actor=page.user, project=page.project, user=user)
    except Refusal as refusal:
        messages.error(page.request, refusal.message)
        return page.redirect("members")
    link = page.request.build_absolute_uri(reverse("reset", args=[token]))
    return show_members(page, {"reset": {"made": made, "user": user, "link": link}}, 201)


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def open_reset(request: HttpRequest, token: str) -> HttpResponse:
    """One page for every link that can't be used, whatever the reason."""
    try:
        found = find_reset(token)
        form: SetPasswordForm[User] = SetPasswordForm(found.user, request.POST if request.method == "POST" else None)
        if form.is_valid():
            user = use_reset(token=token, password=form.cleaned_data["new_password1"])
            messages.success(request, _("Your new password is set. You’re logged out everywhere else."))
            return after_password(request, user, reverse("home"))
    except Http404:
        count_wrong_secret(request)
        return render(request, "projects/reset_gone.html", status=404)
    return render(request, "projects/reset.html", {"account": found.user, "form": form}, status=status_of(form))
