"""One's own account over the API: preferences, and tokens for programs, shown once and stored as a hash (knox)."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from rest_framework import permissions
from rest_framework.request import Request

from annotate.api import projects_serializers as shapes
from annotate.api.auth import SessionAuthentication
from annotate.api.base import OwnAPIView, StrictAPIView
from annotate.api.schema import answers
from annotate.api.serializers import With
from annotate.core.bodies import KIB
from annotate.projects.accounts import change_preferences, make_token, preferences_of, revoke_token, tokens_of


class MeView(OwnAPIView):
    body_bytes = 16 * KIB

    @answers(shapes.Me)
    def get(self, request: Request) -> With:
        """Who you are, and how you like to work.

        `hotkeys` names the keys that you chose; the other actions have their usual ones.
        """
        return With(self.user, preferences=preferences_of(self.user))

    @answers(shapes.Me, takes=shapes.MeChange)
    def patch(self, request: Request, data: dict[str, Any]) -> With:
        """Changes your preferences.

        Those that are not named stay; null brings back what is usual; `hotkeys` is replaced whole. Keys that collide
        are refused (422).
        """
        return With(self.user, preferences=change_preferences(user=self.user, changes=data["preferences"]))


class TokensView(StrictAPIView):
    """A token is made from a session only, so that a token can't prolong itself."""

    authentication_classes = [SessionAuthentication]
    permission_classes = [permissions.IsAuthenticated]

    @answers(shapes.TokenListed(many=True))
    def get(self, request: Request) -> QuerySet:
        """Your tokens, without their secret part.

        With a session only: a token can't look at tokens.
        """
        return tokens_of(self.user)

    @answers(shapes.TokenCreated, takes=shapes.TokenCreation, status=201, conflict=True)
    def post(self, request: Request, data: dict[str, Any]) -> With:
        """Makes a token, which is shown only now.

        With a session only, so that a token can't prolong itself. It may do what you may, as far as its `scopes` go:
        `read`, if you name none. `name` says what uses it.
        A change of your password ends all tokens but those that you choose to keep on that page.
        """
        instance, token = make_token(actor=self.user, **data)
        return With(instance, token=token)


class TokenView(StrictAPIView):
    authentication_classes = [SessionAuthentication]
    permission_classes = [permissions.IsAuthenticated]

    @answers()
    def delete(self, request: Request, token_id: str) -> None:
        """Deletes one of your tokens; it is worth nothing from then on.

        `token_id` is the beginning of the token, as the list shows it. With a session only.
        """
        if not revoke_token(actor=self.user, token_id=token_id):
            raise Http404("You have no such token.")
