"""What a view's method takes and replies (`answers`), and the OpenAPI schema that follows from it.

Every operation names the error replies. The docstring of a view's method is what the schema says about the operation:
its first line is the summary.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from django.http.response import HttpResponseBase
from drf_spectacular.authentication import SessionScheme
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers as s
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.auth import TokenAuthentication
from annotate.api.bodies import json_body
from annotate.api.serializers import Nothing, Page, Shape, whole_number
from annotate.core.errors import Stale
from annotate.core.permissions import ROLES_FOR
from annotate.models.project import Role as RoleName

NO_CONTENT = OpenApiResponse(description="Done; no content.")
IF_MATCH = OpenApiParameter(
    "If-Match",
    OpenApiTypes.INT,
    OpenApiParameter.HEADER,
    required=True,
    description="The revision you saw; 0: none yet.",
)
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    OpenApiTypes.UUID,
    OpenApiParameter.HEADER,
    required=True,
    description="A UUID of your own for this change; repeating the request with it is harmless.",
)
MAY_BE_REPEATED = OpenApiParameter(
    "Idempotency-Key",
    OpenApiTypes.UUID,
    OpenApiParameter.HEADER,
    description="A UUID of your own for what you start: repeating the request with it starts nothing else.",
)
PAGE = [
    OpenApiParameter("limit", OpenApiTypes.INT, description="At most 1000; 100 when left out."),
    OpenApiParameter("offset", OpenApiTypes.INT, description="How many to leave out at the beginning."),
]


class Problem(s.Serializer):
    code = s.CharField(help_text="For programs.")
    message = s.CharField(help_text="A sentence for people.")


class Error(s.Serializer):
    error = Problem()


class MissingAnswer(s.Serializer):
    unit = s.CharField()
    criterion = s.CharField()


class RowProblem(Problem):
    row = s.IntegerField(help_text="From 1, in the order in which they were sent.")


class BatchInTheWay(s.Serializer):
    number = s.IntegerField()
    name = s.CharField()
    status = s.CharField()


class RefusedError(Error):
    missing = MissingAnswer(many=True, required=False, help_text="What a task still lacks.")
    labels = s.IntegerField(required=False, help_text="How many labels are in the way.")
    tasks = s.IntegerField(required=False, help_text="How many open tasks are in the way.")
    looks = s.IntegerField(required=False, help_text="How many looks at test are in the way.")
    key = s.CharField(required=False, help_text="Which key is taken.")
    actions = s.ListField(child=s.CharField(), required=False, help_text="Which actions would share it.")
    batches = BatchInTheWay(many=True, required=False, help_text="The batches that are in the way; for admins.")
    unit = s.CharField(required=False, help_text="The unit that has something in the way.")
    field = s.CharField(required=False, help_text="The field that can't be taken as it is, as a path: config.prompt")
    versions = s.IntegerField(required=False, help_text="How many versions of judges are in the way.")
    carries = s.DictField(child=s.IntegerField(), required=False, help_text="What it is, and how many; for admins.")
    problem = s.CharField(required=False, help_text="What is wrong with it.")
    version = s.CharField(required=False, help_text="The version of a judge that is in the way.")
    certificate = s.IntegerField(required=False, help_text="The number of the certificate that is in the way.")
    problems = RowProblem(many=True, required=False, help_text="What is wrong with which row; the first hundred.")


class StaleError(Error):
    current = s.DictField(allow_null=True, help_text="As it is now; null: there is none.")
    yours = s.DictField()


_ERRORS = {
    400: "Not JSON, or an unknown query parameter.",
    401: "Not logged in, or a token that is not valid.",
    403: "Your role or the token's scopes do not allow it, or the CSRF token is missing.",
    404: "Not there, or not for you.",
    414: "The address, with its query, is longer than 4,094 bytes.",
    429: "Too many wrong tokens came from this address; go on after `Retry-After` seconds.",
}
_BODY_ERRORS = {
    413: "The body is larger than this operation takes.",
    422: "The input can't be taken as it is; nothing was stored.",
}
_PRECONDITION_ERRORS = {
    409: "The state of things doesn't allow it; nothing was stored.",
    412: "Somebody changed it since you looked; `current` and `yours` carry both versions.",
    428: "If-Match is missing.",
}


class OurSessionScheme(SessionScheme):  # type: ignore[no-untyped-call]
    """Being defined is what registers it."""

    target_class = "annotate.api.auth.SessionAuthentication"


class Schema(AutoSchema):
    """The generator's own, with ids, summaries and descriptions that follow from our routes and docstrings."""

    def get_operation_id(self) -> str:
        """`get_projects_samples_sample_id`; the generator's own ids take a view without serializer for no list."""
        words = re.findall(r"\w+", self.path.removeprefix("/api/"))
        return "_".join([self.method.lower(), *(w for n, w in enumerate(words) if w != "slug" or n == len(words) - 1)])

    def get_summary(self) -> str:
        return self._docstring().partition("\n")[0].rstrip(".")

    def get_description(self) -> str:  # type: ignore[override]
        """The rest of the docstring, which scopes a token needs, and who may."""
        parts = [self._docstring().partition("\n")[2].strip()]
        view: Any = self.view
        if TokenAuthentication in view.authentication_classes:
            parts.append(f"Scope of a token: {_either(view.scopes(self.method))}.")
        action = getattr(self.view, "actions", {}).get(self.method)
        if action is not None:
            parts.append(_who(ROLES_FOR[action]))
        return "\n\n".join(part for part in parts if part)

    def _docstring(self) -> str:
        return inspect.getdoc(getattr(self.view, self.method.lower())) or ""


def _either(scopes: list[str]) -> str:
    *first, last = [f"`{scope}`" for scope in scopes]
    return f"{', '.join(first)} or {last}" if first else last


def _who(roles: frozenset[str]) -> str:
    if roles == frozenset(RoleName.values):
        return "For every member of the project."
    return f"For {' and '.join(f'{role}s' for role in RoleName.values if role in roles)} of the project."


def answers(
    reply: Any = None,
    *,
    takes: type[Shape] | None = None,
    query: type[Shape] | None = None,
    request: Any = None,
    headers: Sequence[OpenApiParameter] = (),
    status: Any = 200,
    conflict: bool = False,
    also: dict[int, Any] | None = None,
    examples: list[OpenApiExample] | None = None,
) -> Callable[[Any], Any]:
    """What a view's method takes and replies, and what the schema says of it.

    The method is given the body that it `takes` as `data`, and what its `query` has as `asked`. What it returns is
    shown as `reply` declares it: a thing, many, or those that a `Page` is cut out of; a response goes out as it is.
    reply None: 204. request: a body that the method reads by itself. status: with the type, (200, "text/csv"), when it
    is not JSON. conflict: 409 is among the replies. also: replies beside the usual ones.
    """

    is_page = isinstance(reply, type) and issubclass(reply, Page)

    def decorate(method: Any) -> Any:
        @wraps(method)
        def answer(view: Any, request: Request, **given: Any) -> Any:
            if takes is Nothing:
                Nothing.take(json_body(request))
            elif takes is not None:
                given["data"] = takes.take(json_body(request))
            if query is not None:
                given["asked"] = query.take_query(request.query_params)
            try:
                found = method(view, request, **given)
            except Stale as stale:
                current = stale.details["current"]
                if current is not None and not isinstance(current, dict):
                    stale.details["current"] = reply.show(current)
                raise
            if isinstance(found, HttpResponseBase):
                return found
            if reply is None:
                return Response(status=204)
            if is_page:
                return Response(reply.show(_page(found, reply.most, request)))
            many = isinstance(reply, s.ListSerializer)
            return Response([reply.child.show(one) for one in found] if many else reply.show(found), status)

        verb = method.__name__.upper()
        replies = {status: reply} if reply is not None else {204: NO_CONTENT}
        queried = [*(PAGE if is_page else ()), *(query.query_parameters() if query else ())]
        errors = _errors(verb, queried=bool(queried), conflict=conflict, versioned=IF_MATCH in headers)
        described: Any = extend_schema(
            request=request or (takes if takes is not Nothing else None),
            responses={**replies, **errors, **(also or {})},
            parameters=[*queried, *headers],
            examples=examples,
            filters=False,
        )(answer)
        described.params = frozenset(one.name for one in queried)
        return described

    return decorate


class _Pages(LimitOffsetPagination):
    """What is no number is refused; REST framework takes the usual one instead."""

    def __init__(self, most: int) -> None:
        self._most = most

    def get_limit(self, request: Request) -> int:
        asked = request.query_params.get("limit")
        if asked is None:
            return self.default_limit or self._most
        return whole_number(asked, "limit", low=1, high=self._most)

    def get_offset(self, request: Request) -> int:
        return whole_number(request.query_params.get("offset", 0), "offset")


def _page(found: Any, most: int, request: Request) -> dict[str, Any]:
    pages = _Pages(most)
    rows: list[Any] = pages.paginate_queryset(found, request) or []
    return {"results": rows, "count": pages.count, "next": pages.get_next_link(), "previous": pages.get_previous_link()}


def _errors(verb: str, *, queried: bool, conflict: bool, versioned: bool) -> dict[int, OpenApiResponse]:
    errors = dict(_ERRORS)
    if queried:
        errors[422] = "A query parameter is missing, or has a value that it can't have."
    if verb != "GET":
        errors |= _BODY_ERRORS
    if conflict or versioned:
        errors |= {code: text for code, text in _PRECONDITION_ERRORS.items() if versioned or code == 409}
    shapes = {409: RefusedError, 412: StaleError, 422: RefusedError}
    return {code: OpenApiResponse(shapes.get(code, Error), description=text) for code, text in errors.items()}
