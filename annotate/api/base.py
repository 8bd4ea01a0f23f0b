"""What every endpoint of a project shares: the route says which action it is, the table says who may, and with which
scope a token.

Every error reply has one shape: {"error": {"code", "message"}, …details}.
"""

from __future__ import annotations

import uuid
from typing import Any, ClassVar, cast

from django.core.exceptions import PermissionDenied
from django.http import Http404
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from rest_framework.views import exception_handler as drf_exception_handler

from annotate.api.auth import TokenAuthentication
from annotate.core.bodies import USUAL, Limit
from annotate.core.errors import Invalid, Refusal
from annotate.core.permissions import SCOPE_OF, OutOfScope, project_for, scopes_for
from annotate.models import ApiToken, Project, Scope, User

_NO_LOGIN = "Log in, or send a token: “Authorization: Token ts_…”."


class StrictAPIView(APIView):
    """`params`: the query parameters that the route reads; any other is refused. `body_bytes`: the most it takes.
    `scope`: what a token needs where no action of the table says so."""

    params: ClassVar[frozenset[str]] = frozenset()
    scope: ClassVar[Scope]
    body_bytes: ClassVar[Limit] = USUAL

    def __init_subclass__(cls, **options: Any) -> None:
        """What the methods declare (annotate.api.schema.answers)."""
        super().__init_subclass__(**options)
        methods = (getattr(cls, name, None) for name in cls.http_method_names)
        cls.params = cls.params.union(*(getattr(method, "params", ()) for method in methods))

    @property
    def user(self) -> User:
        """Who asks; no request gets here without an account."""
        return cast("User", self.request.user)

    @classmethod
    def scopes(cls, method: str) -> list[str]:
        """Of these a token needs one."""
        return scopes_for(method, cls.scope)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if isinstance(request.auth, ApiToken):
            taken = self.scopes(str(request.method))
            if not set(taken) & set(request.auth.scopes):
                raise OutOfScope(taken)
        unknown = sorted(set(request.query_params) - self.params)
        if unknown:
            known = ", ".join(sorted(self.params)) or "none"
            raise Refusal("unknown_parameter", f"Unknown parameter “{unknown[0][:80]}”. Known here: {known}.")
        for name, values in request.query_params.lists():
            if len(values) > 1:
                raise Refusal("duplicate_parameter", f"The parameter “{name}” comes twice.")


class ProjectAPIView(StrictAPIView):
    """`actions`: HTTP method -> action of annotate.core.permissions; a method without one is not allowed."""

    actions: ClassVar[dict[str, str]] = {}
    project: Project
    role: str

    @classmethod
    def action(cls, method: str) -> str:
        action = cls.actions.get("GET" if method == "HEAD" else method)
        if action is None:
            raise exceptions.MethodNotAllowed(method)
        return action

    @classmethod
    def scopes(cls, method: str) -> list[str]:
        return scopes_for(method, SCOPE_OF[cls.action(method)])

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        self.project, self.role = project_for(self.user, kwargs["slug"], self.action(str(request.method)))


class OwnAPIView(StrictAPIView):
    """Of one's own tasks and preferences, in no matter which project."""

    scope = Scope.LABEL


class MissingPrecondition(Refusal):
    status = 428


def expected_revision(request: Request) -> int:
    """The revision in `If-Match` ("3"; "0" means: there is none yet)."""
    header = request.headers.get("If-Match")
    if header is None:
        raise MissingPrecondition("if_match_missing", "Send If-Match with the revision you saw (0: none yet).")
    text = header.strip().strip('"')
    if not text.isdecimal() or len(text) > 9:
        raise Invalid("bad_if_match", "If-Match: a revision, such as 3.")
    return int(text)


def idempotency_key(request: Request) -> uuid.UUID:
    key = idempotency_key_if_any(request)
    if key is None:
        raise Invalid("key_missing", "Send Idempotency-Key, a UUID of your own for this change.")
    return key


def idempotency_key_if_any(request: Request) -> uuid.UUID | None:
    """For what clients of earlier versions send without one."""
    header = request.headers.get("Idempotency-Key")
    if header is None:
        return None
    try:
        return uuid.UUID(header)
    except ValueError as error:
        raise Invalid("bad_key", "Idempotency-Key: a UUID.") from error


def exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    if isinstance(error, Refusal):
        return _reply(error.status, error.code, error.message, error.details)
    if isinstance(error, Http404):
        return _reply(404, "not_found", str(error) or "Not found.")
    if isinstance(error, PermissionDenied):
        return _reply(403, getattr(error, "code", "forbidden"), str(error) or "You may not do this.")
    response = drf_exception_handler(error, context)
    if response is None or not isinstance(error, exceptions.APIException):
        return response
    if isinstance(error, exceptions.ValidationError):
        response.data = {
            "error": {"code": "invalid", "message": "Some fields are invalid."},
            "fields": error.detail,
        }
        response.status_code = 422
        return response
    code, message = error.get_codes(), str(error.detail)
    if isinstance(error, exceptions.NotAuthenticated):
        takes_tokens = TokenAuthentication in context["view"].authentication_classes
        message = _NO_LOGIN if takes_tokens else "Log in with a browser: tokens are not taken here."
    response.data = {"error": {"code": code if isinstance(code, str) else "invalid", "message": message}}
    return response


def _reply(status: int, code: str, message: str, details: dict[str, Any] | None = None) -> Response:
    more = details or {}
    message = message.encode(errors="backslashreplace").decode()  # it may quote half of a surrogate pair
    headers = {"Retry-After": str(more["retry_after"])} if "retry_after" in more else None
    return Response({"error": {"code": code, "message": message}, **more}, status=status, headers=headers)
