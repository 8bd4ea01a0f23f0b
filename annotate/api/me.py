"""One's own account, as programs and the workspace change it: preferences, nothing that gives rights."""

from __future__ import annotations

from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api import schema as shape
from annotate.api.base import StrictAPIView, body
from annotate.models import User
from annotate.services.preferences import Preferences, as_dict, change_preferences, preferences_of


class MeView(StrictAPIView):
    @shape.describes(shape.Me)
    def get(self, request: Request) -> Response:
        """Who you are, and how you like to work.

        `hotkeys` names the keys that you chose; the other actions have their usual ones.
        """
        return Response(_shown(self.user, preferences_of(self.user)))

    @shape.describes(shape.Me, request=shape.MeChange)
    def patch(self, request: Request) -> Response:
        """Changes your preferences.

        Those that are not named stay; null brings back what is usual; `hotkeys` is replaced whole. Keys that collide
        are refused (422).
        """
        data = body(request, {"preferences"}, required={"preferences"})
        return Response(_shown(self.user, change_preferences(user=self.user, changes=data["preferences"])))


def _shown(user: User, preferences: Preferences) -> dict[str, object]:
    return {"username": user.username, "name": user.name, "preferences": as_dict(preferences)}
