"""Who is behind a session: asked at every request, so it is one statement by hand."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.backends import ModelBackend

from annotate.models import User


class AccountBackend(ModelBackend):
    """Django's own, but for the look-up by id: building that query anew each time costs more than running it."""

    def get_user(self, user_id: Any) -> User | None:
        user = next(iter(User.objects.raw("SELECT * FROM annotate_user WHERE id = %s", [user_id])), None)
        return user if user is not None and self.user_can_authenticate(user) else None
