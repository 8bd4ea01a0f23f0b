"""What somebody decides about their own account."""

from __future__ import annotations

from django.conf import settings
from django.utils.translation import gettext as _

from annotate.errors import Invalid
from annotate.models import User


def choose_language(*, user: User, language: str) -> None:
    """The language that pages have wherever this person logs in; "" leaves it to the browser. Raises Invalid."""
    if language and language not in dict(settings.LANGUAGES):
        raise Invalid("unknown_language", _("There is no interface in this language."))
    User.objects.filter(pk=user.pk).update(language=language)
