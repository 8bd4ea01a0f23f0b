"""The language of the interface: the browser's, until somebody chooses one. Who has an account takes it along."""

from __future__ import annotations

from typing import cast

from django.conf import settings
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST
from django.views.i18n import set_language

from annotate.models import User
from annotate.projects.accounts import choose_language


@require_POST
def choose(request: HttpRequest) -> HttpResponseBase:
    """Remembers the language, in a cookie and with the person, and leads back to the page."""
    language = request.POST.get("language", "")
    if language not in dict(settings.LANGUAGES):
        return HttpResponseBadRequest(_("There is no interface in this language."))
    if request.user.is_authenticated:
        choose_language(user=request.user, language=language)
    return set_language(request)


class LogIn(LoginView):
    redirect_authenticated_user = True

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        """From here on this browser shows the language that the person chose, wherever that was."""
        reply = super().form_valid(form)
        language = cast("User", self.request.user).language
        if language in dict(settings.LANGUAGES):
            reply.set_cookie(
                settings.LANGUAGE_COOKIE_NAME,
                language,
                max_age=settings.LANGUAGE_COOKIE_AGE,
                path=settings.LANGUAGE_COOKIE_PATH,
                domain=settings.LANGUAGE_COOKIE_DOMAIN,
                secure=settings.LANGUAGE_COOKIE_SECURE,
                httponly=settings.LANGUAGE_COOKIE_HTTPONLY,
                samesite="Lax",
            )
        return reply
