"""The first page after login: what to do next, per project."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from frontend.views.campaign import cards


@require_safe
@login_required
def home(request: HttpRequest) -> HttpResponse:
    return render(request, "frontend/home.html", {"cards": cards(request.user)})  # type: ignore[arg-type]
