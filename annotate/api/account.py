"""One's own account, as programs and the workspace change it: preferences, nothing that gives rights.

Tokens for programs: shown once, stored as a hash (knox).
"""

from __future__ import annotations

from django.http import Http404
from knox.models import get_token_model
from rest_framework import permissions
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api import schema as shape
from annotate.api.auth import SessionAuthentication
from annotate.api.base import StrictAPIView, body
from annotate.models import User
from annotate.projects.accounts import (
    Preferences,
    as_dict,
    change_preferences,
    make_token,
    preferences_of,
    revoke_token,
)


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


class TokensView(StrictAPIView):
    """A token is made from a session only, so that a token can't prolong itself."""

    authentication_classes = [SessionAuthentication]
    permission_classes = [permissions.IsAuthenticated]

    @shape.describes(shape.TokenListed(many=True))
    def get(self, request: Request) -> Response:
        """Your tokens, without their secret part.

        With a session only: a token can't look at tokens.
        """
        tokens = get_token_model().objects.filter(user=request.user).order_by("created")
        return Response([{"id": t.token_key, "created": t.created, "expiry": t.expiry} for t in tokens])

    @shape.describes(shape.TokenCreated, status=201)
    def post(self, request: Request) -> Response:
        """Makes a token, which is shown only now.

        With a session only, so that a token can't prolong itself. It may do what you may.
        """
        body(request, set())
        instance, token = make_token(actor=self.user)
        return Response({"token": token, "expiry": instance.expiry}, status=201)


class TokenView(StrictAPIView):
    authentication_classes = [SessionAuthentication]
    permission_classes = [permissions.IsAuthenticated]

    @shape.describes()
    def delete(self, request: Request, token_id: str) -> Response:
        """Deletes one of your tokens; it is worth nothing from then on.

        `token_id` is the beginning of the token, as the list shows it. With a session only.
        """
        if not revoke_token(actor=self.user, token_id=token_id):
            raise Http404("You have no such token.")
        return Response(status=204)
