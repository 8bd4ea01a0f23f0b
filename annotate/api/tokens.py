"""Tokens for programs: shown once, stored as a hash (knox)."""

from __future__ import annotations

from knox.models import get_token_model
from rest_framework import permissions
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotate.api.auth import SessionAuthentication


class TokensView(APIView):
    """A token is made from a session only, so that a token can't prolong itself."""

    authentication_classes = [SessionAuthentication]
    permission_classes = [permissions.IsAuthenticated]

    def get(self, request: Request) -> Response:
        tokens = get_token_model().objects.filter(user=request.user).order_by("created")
        return Response([{"id": t.token_key, "created": t.created, "expiry": t.expiry} for t in tokens])

    def post(self, request: Request) -> Response:
        instance, token = get_token_model().objects.create(request.user)
        return Response({"token": token, "expiry": instance.expiry}, status=201)


class TokenView(APIView):
    authentication_classes = [SessionAuthentication]
    permission_classes = [permissions.IsAuthenticated]

    def delete(self, request: Request, token_id: str) -> Response:
        get_token_model().objects.filter(user=request.user, token_key=token_id).delete()
        return Response(status=204)
