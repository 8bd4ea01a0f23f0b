"""One's own keys, and how the workspace looks for oneself."""

from __future__ import annotations

from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from annotate.models import User
from annotate.projects.accounts import change_preferences, preferences_of
from frontend.forms.keys import KeysForm
from frontend.views.base import status_of


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def keys(request: HttpRequest) -> HttpResponse:
    user = cast("User", request.user)
    sent = request.method == "POST"
    if sent and "reset" in request.POST:
        change_preferences(user=user, changes={"hotkeys": None, "single_keys": None, "view": None})
        messages.success(request, _("Everything is as usual again."))
        return redirect("keys")
    form = KeysForm(preferences_of(user), request.POST if sent else None)
    if form.is_valid() and form.save(user):
        messages.success(request, _("Saved."))
        return redirect("keys")
    return render(request, "frontend/keys.html", {"form": form}, status=status_of(form))
