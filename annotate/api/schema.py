"""The shapes of requests and replies, for the OpenAPI schema only: what is accepted is decided by the services.

`describes` adds them to a view's method; a method without it gets plain objects. Every operation names the error reply.
The docstring of a view's method is what the schema says about the operation: its first line is the summary.
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

from annotate.api.base import json_body
from annotate.api.projects_serializers import AskedCriterion, Option  # noqa: F401
from annotate.api.serializers import FreeObject, Nothing, Page, Value
from annotate.api.serializers import Shape as Declared
from annotate.core.errors import Stale
from annotate.core.permissions import ROLES_FOR
from annotate.models.project import Role as RoleName

Shape = Any

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
PAGE = [
    OpenApiParameter("limit", OpenApiTypes.INT, description="At most 1000; 100 when left out."),
    OpenApiParameter("offset", OpenApiTypes.INT, description="How many to leave out at the beginning."),
]


PAGING = frozenset({"limit", "offset"})


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
    403: "Your role does not allow it, or the CSRF token is missing.",
    404: "Not there, or not for you.",
}
_BODY_ERRORS = {422: "The input can't be taken as it is; nothing was stored."}
_PRECONDITION_ERRORS = {
    409: "The state of things doesn't allow it; nothing was stored.",
    412: "Somebody changed it since you looked; `current` and `yours` carry both versions.",
    428: "If-Match is missing.",
}


class OurSessionScheme(SessionScheme):  # type: ignore[no-untyped-call]
    """Being defined is what registers it."""

    target_class = "annotate.api.auth.SessionAuthentication"


class Schema(AutoSchema):
    """The generator's own, except that a method without a description is no error, and that error replies are named."""

    def get_operation_id(self) -> str:
        """`get_projects_samples_sample_id`; the generator's own ids take a view without serializer for no list."""
        words = re.findall(r"\w+", self.path.removeprefix("/api/"))
        return "_".join([self.method.lower(), *(w for n, w in enumerate(words) if w != "slug" or n == len(words) - 1)])

    def get_summary(self) -> str:
        return self._docstring().partition("\n")[0].rstrip(".")

    def get_description(self) -> str:  # type: ignore[override]
        """The rest of the docstring, and who may."""
        parts = [self._docstring().partition("\n")[2].strip()]
        action = getattr(self.view, "actions", {}).get(self.method)
        if action is not None:
            parts.append(_who(ROLES_FOR[action]))
        return "\n\n".join(part for part in parts if part)

    def _docstring(self) -> str:
        return inspect.getdoc(getattr(self.view, self.method.lower())) or ""

    def get_request_serializer(self) -> Shape:
        return OpenApiTypes.OBJECT if self.method in ("POST", "PUT", "PATCH") else None

    def get_response_serializers(self) -> Shape:
        return _with_errors({204: NO_CONTENT} if self.method == "DELETE" else {200: OpenApiTypes.OBJECT}, self.method)


def _who(roles: frozenset[str]) -> str:
    if roles == frozenset(RoleName.values):
        return "For every member of the project."
    return f"For {' and '.join(f'{role}s' for role in RoleName.values if role in roles)} of the project."


def answers(
    reply: Shape = None,
    *,
    takes: type[Declared] | None = None,
    query: type[Declared] | None = None,
    request: Shape = None,
    headers: Sequence[OpenApiParameter] = (),
    status: Any = 200,
    conflict: bool = False,
    also: dict[int, Shape] | None = None,
    examples: list[OpenApiExample] | None = None,
) -> Callable[[Any], Any]:
    """What a view's method takes and replies, and what the schema says of it.

    The method is given the body that it `takes` as `data`, and what its `query` has as `asked`. What it returns is
    shown as `reply` declares it: a thing, many, or those that a `Page` is cut out of; a response goes out as it is.
    reply None: 204. request: a body that the method reads by itself. status: with the type, (200, "text/csv"), when it
    is not JSON. conflict: 409 is among the replies. also: replies beside the usual ones.
    """

    def decorate(method: Any) -> Any:
        @wraps(method)
        def answer(view: Any, request: Request, **given: Any) -> Any:
            if takes is not None:
                given["data"] = takes.take(json_body(request))
            if query is not None:
                given["asked"] = query.take_query(request.query_params)
            try:
                found = method(view, request, **given)
            except Stale as stale:
                stale.details["current"] = _current(reply, stale.details["current"])
                raise
            return found if isinstance(found, HttpResponseBase) else _response(reply, found, status, request)

        verb = method.__name__.upper()
        replies = {status: reply} if reply is not None else {204: NO_CONTENT}
        known = _with_errors(replies, verb, conflict=conflict, versioned=IF_MATCH in headers) | (also or {})
        described: Any = extend_schema(
            request=request or (takes if takes is not Nothing else None),
            responses=known,
            parameters=[*(PAGE if _is_page(reply) else ()), *(query.parameters() if query else ()), *headers],
            examples=examples,
            filters=False,
        )(answer)
        described.params = (query.names() if query else frozenset()) | (PAGING if _is_page(reply) else frozenset())
        return described

    return decorate


def _is_page(reply: Shape) -> bool:
    return isinstance(reply, type) and issubclass(reply, Page)


def _response(reply: Shape, found: Any, status: int, request: Request) -> Response:
    if reply is None:
        return Response(status=204)
    if not _is_page(reply):
        return Response([reply.child.show(one) for one in found] if _is_list(reply) else reply.show(found), status)
    pages = LimitOffsetPagination()
    pages.max_limit = reply.most
    page: dict[str, Any] = {"results": pages.paginate_queryset(found, request) or [], "count": pages.count}
    return Response(reply.show({**page, "next": pages.get_next_link(), "previous": pages.get_previous_link()}))


def _is_list(reply: Shape) -> bool:
    return isinstance(reply, s.ListSerializer)


def _current(reply: Shape, current: Any) -> Any:
    """Of a stale request: what the service found there instead, as the reply would have shown it."""
    return current if current is None or isinstance(current, dict) else reply.show(current)


def describes(
    reply: Shape = None,
    *,
    request: Shape = None,
    status: Any = 200,
    params: list[OpenApiParameter] | None = None,
    conflict: bool = False,
    also: dict[int, Shape] | None = None,
    examples: list[OpenApiExample] | None = None,
) -> Callable[[Any], Any]:
    """Describes a view's method. reply None: 204 without content. status: with the type, (200, "text/csv"), when it is
    not JSON. conflict: 409 is among the replies. also: replies beside the usual ones."""

    def decorate(method: Any) -> Any:
        verb = method.__name__.upper()
        replies = {status: reply} if reply is not None else {204: NO_CONTENT}
        known = _with_errors(replies, verb, conflict=conflict, versioned=IF_MATCH in (params or [])) | (also or {})
        return extend_schema(
            request=request, responses=known, parameters=params or [], examples=examples, filters=False
        )(method)

    return decorate


def _with_errors(
    replies: dict[Any, Shape], verb: str, *, conflict: bool = False, versioned: bool = False
) -> dict[Any, Shape]:
    errors = dict(_ERRORS)
    if verb != "GET":
        errors |= _BODY_ERRORS
    if conflict or versioned:
        errors |= {code: text for code, text in _PRECONDITION_ERRORS.items() if versioned or code == 409}
    shapes = {409: RefusedError, 412: StaleError, 422: RefusedError}
    described = {code: OpenApiResponse(shapes.get(code, Error), description=text) for code, text in errors.items()}
    return {**replies, **described}


class Context(s.Serializer):
    id = s.CharField(allow_null=True)
    text = s.CharField()


class ScoredContext(Context):
    score = s.FloatField(allow_null=True)


class Claim(s.Serializer):
    index = s.IntegerField(help_text="Its unit is claim:INDEX. Indices of dropped claims are left out.")
    text = s.CharField()
    start = s.IntegerField(allow_null=True, help_text="In Unicode code points of the answer.")
    end = s.IntegerField(allow_null=True)


class Sample(s.Serializer):
    pk = s.IntegerField()
    id = s.CharField(help_text="The id of the file it came from.")
    question = s.CharField()
    answer = s.CharField()
    answer_b = s.CharField(allow_null=True)
    reference = s.CharField(allow_null=True)
    contexts = ScoredContext(many=True)
    claims = Claim(many=True)
    claims_source = s.CharField(help_text="file, split, labels or edited")
    claims_revision = s.IntegerField()
    key_facts = s.ListField(child=s.CharField())
    entities = s.ListField(child=s.CharField())
    retrieved_doc_ids = s.ListField(child=s.CharField())
    relevant_doc_ids = s.ListField(child=s.CharField())
    pipeline_version = s.CharField()
    metadata = FreeObject()


class EditedClaim(Claim):
    dropped = s.BooleanField()
    carries = s.CharField(help_text="What keeps it as it is, in words; empty: nothing.")

    def get_fields(self) -> dict[str, s.Field]:
        """The claims that it was made of; their name is a keyword of Python."""
        return {**super().get_fields(), "from": s.ListField(child=s.IntegerField())}


class ClaimEdit(s.Serializer):
    revision = s.IntegerField()
    change = FreeObject()
    who = s.CharField(allow_null=True, help_text="null: as they were imported.")
    when = s.DateTimeField()


class EditedClaims(s.Serializer):
    revision = s.IntegerField()
    source = s.CharField(help_text="file, split, labels or edited")  # type: ignore[assignment]
    checked = s.BooleanField(help_text="Somebody has read them as they are now and found them good.")
    fixed = s.CharField(help_text="Why none of them can be changed now; empty: they can.")
    claims = EditedClaim(many=True)
    history = ClaimEdit(many=True, help_text="The latest first.")


class ClaimChange(s.Serializer):
    op = s.CharField(
        help_text="split, merge, edit, move, add, drop, restore, split_again, replace, restore_revision or checked"
    )
    claim = s.IntegerField(required=False)
    claims = s.ListField(
        child=Value(), required=False, help_text="The two to merge; or the texts that are to be all claims (replace)."
    )
    at = s.IntegerField(required=False, help_text="Where to split, in code points of the claim.")
    text = s.CharField(required=False)
    start = s.IntegerField(required=False, help_text="In code points of the answer.")
    end = s.IntegerField(required=False)
    revision = s.IntegerField(required=False)


class SamplePage(s.Serializer):
    count = s.IntegerField()
    next = s.CharField(allow_null=True)
    previous = s.CharField(allow_null=True)
    results = Sample(many=True)


class Selection(s.Serializer):
    method = s.ChoiceField(["all", "filter", "random", "list"])
    filter = FreeObject(required=False, help_text="Metadata keys and their values.")
    n = s.IntegerField(required=False)
    seed = s.IntegerField(required=False)
    samples = s.ListField(
        child=s.CharField(), required=False, help_text="The samples' own ids, for a list; the answer has `n` instead."
    )
    note = s.CharField(required=False, help_text="Why the samples of a list were chosen.")


class BatchCreation(s.Serializer):
    name = s.CharField()
    criteria = s.ListField(child=s.CharField())
    annotators = s.ListField(child=s.CharField(), help_text="User names.")
    overlap = s.IntegerField()
    selection = Selection(required=False)
    seed = s.IntegerField(required=False)
    due_date = s.DateField(required=False, allow_null=True, help_text="Today or later (UTC).")
    strategy = s.ChoiceField(["balanced", "pull"], required=False, help_text="Shared out when it opens, or a queue.")
    tag_key = s.CharField(
        required=False, help_text="A metadata key: samples that have it go to people with its value among their tags."
    )
    overlap_share = s.FloatField(required=False, help_text="The share of samples that `overlap` people label.")
    gold_share = s.FloatField(required=False, help_text="Tasks with known answers, per task of a person's own.")
    repeat_share = s.FloatField(required=False, help_text="Own tasks a second time, per task of a person's own.")
    gold_feedback = s.BooleanField(required=False, help_text="Whether known answers are shown after submitting.")
    lease_minutes = s.IntegerField(required=False, help_text="How long a task taken from the queue is kept.")
    consensus = s.ChoiceField(
        ["majority", "unanimous", "threshold"],
        required=False,
        help_text="What settles a unit: more than half of `overlap` votes, all of them, or a share of your own.",
    )
    settle_share = s.FloatField(
        required=False, allow_null=True, help_text="With threshold: the share of the votes, more than 0.5, at most 1."
    )
    settle_votes = s.IntegerField(
        required=False, allow_null=True, help_text="With threshold: the least number of votes. “Can't tell” is none."
    )


class BatchSelection(Selection):
    extensions = s.ListField(child=FreeObject(), required=False, help_text="What was chosen later, the same way.")


class Batch(s.Serializer):
    number = s.IntegerField()
    name = s.CharField()
    status = s.CharField(help_text="draft, open, paused, adjudicating or closed")
    overlap = s.IntegerField()
    overlap_share = s.FloatField()
    strategy = s.CharField(help_text="balanced or pull")
    tag_key = s.CharField()
    gold_share = s.FloatField()
    repeat_share = s.FloatField()
    gold_feedback = s.BooleanField()
    lease_minutes = s.IntegerField()
    consensus = s.CharField(help_text="majority, unanimous or threshold")
    settle_share = s.FloatField(allow_null=True, help_text="null: not with this rule")
    settle_votes = s.IntegerField(allow_null=True, help_text="null: not with this rule")
    selection = BatchSelection()
    seed = s.IntegerField()
    due_date = s.DateField(allow_null=True)
    samples = s.IntegerField()
    criteria = s.ListField(child=s.CharField())
    annotators = s.ListField(child=s.CharField())


class AnnotatorProgress(s.Serializer):
    name = s.CharField()
    total = s.IntegerField()
    done = s.IntegerField()
    skipped = s.IntegerField()
    in_progress = s.IntegerField()
    left = s.IntegerField()
    active_seconds = s.IntegerField()


class CriterionProgress(s.Serializer):
    key = s.CharField()
    name = s.CharField()
    expected = s.IntegerField()
    given = s.IntegerField()
    cant_tell = s.IntegerField(help_text="Answered, but not with a value.")
    settled = s.IntegerField()
    disputed = s.IntegerField()
    agreed = s.IntegerField(help_text="Of the settled ones: by their labels alone.")
    approved = s.IntegerField(help_text="Of the agreed ones: looked at by a reviewer and found right.")


class BatchProgress(s.Serializer):
    free = s.IntegerField(help_text="Tasks that wait in the queue.")
    annotators = AnnotatorProgress(many=True)
    criteria = CriterionProgress(many=True)


class BatchWithProgress(Batch):
    progress = BatchProgress()


class Settling(s.Serializer):
    needed = s.IntegerField(help_text="How many labels a unit needs.")


class Settled(s.Serializer):
    criterion = s.CharField()
    written = s.IntegerField()


class Evidence(s.Serializer):
    context = s.IntegerField()  # type: ignore[assignment]
    start = s.IntegerField(help_text="In Unicode code points of the context.")
    end = s.IntegerField()
    quote = s.CharField(
        help_text="What stands there. Elsewhere in the context, the span is moved to the nearest place."
    )


class LabelSaving(s.Serializer):
    unit = s.CharField(help_text="answer, sample, claim:3, context:2, fact:0 or entity:1")
    criterion = s.CharField()
    value = Value(allow_null=True, help_text="null takes the choice back.")
    cant_tell = s.CharField(required=False, help_text="Why no value can be given; instead of one.")
    comment = s.CharField(required=False)
    evidence = Evidence(many=True, required=False)
    active_seconds = s.IntegerField(required=False, help_text="Running total of the task.")
    active_ms = s.IntegerField(required=False, help_text="Running total of this label.")


class Label(s.Serializer):
    unit = s.CharField()
    criterion = s.CharField()
    value = Value(allow_null=True)
    cant_tell = s.CharField()
    comment = s.CharField()
    evidence = Evidence(many=True)
    revision = s.IntegerField()


class TaskLabel(Label):
    active_ms = s.IntegerField(allow_null=True, help_text="Work on it so far, as measured.")


class TaskSample(s.Serializer):
    question = s.CharField()
    answer = s.CharField()
    answer_b = s.CharField(allow_null=True)
    reference = s.CharField(allow_null=True)
    contexts = Context(many=True)
    claims = Claim(many=True)
    key_facts = s.ListField(child=s.CharField())
    entities = s.ListField(child=s.CharField())


class TaskBatch(s.Serializer):
    number = s.IntegerField()
    name = s.CharField()
    due_date = s.DateField(allow_null=True)


class Task(s.Serializer):
    id = s.IntegerField()
    status = s.CharField(help_text="pending, in_progress, submitted, returned or skipped")
    position = s.IntegerField()
    batch = TaskBatch()
    active_seconds = s.IntegerField()
    leased = s.BooleanField(help_text="Taken from a queue: send heartbeats while the page is open.")
    sample = TaskSample()
    criteria = AskedCriterion(many=True)
    labels = TaskLabel(many=True, help_text="Your own.")
    return_message = s.CharField(help_text="What a reviewer asks for, until you submit again.")
    returned_by = s.CharField(allow_null=True, help_text="Who asks; null where the project shows no names.")


class WorkProgress(s.Serializer):
    total = s.IntegerField()
    done = s.IntegerField()
    skipped = s.IntegerField()
    left = s.IntegerField()


class Work(s.Serializer):
    task = Task(allow_null=True)
    progress = WorkProgress()


class WorkAsking(s.Serializer):
    batch = s.IntegerField(required=False, allow_null=True, help_text="Only tasks of the batch with this number.")
    exclude = s.ListField(child=s.IntegerField(), required=False, help_text="Tasks you hold already; at most 50.")


class OneTask(s.Serializer):
    task = Task()


class Submission(s.Serializer):
    active_seconds = s.IntegerField(required=False)
    exclude = s.ListField(child=s.IntegerField(), required=False, help_text="Tasks you hold already; at most 50.")


class Skipping(Submission):
    reason = s.CharField()


class KnownAnswer(s.Serializer):
    unit = s.CharField()
    criterion = s.CharField()
    yours = Value(allow_null=True)
    answer = Value()
    reason = s.CharField()


class Lease(s.Serializer):
    task_id = s.IntegerField()
    lease_expires_at = s.DateTimeField(allow_null=True)


class Finished(s.Serializer):
    task_id = s.IntegerField()
    status = s.CharField()
    next = Task(allow_null=True, help_text="The task to prefetch.")
    feedback = KnownAnswer(many=True, help_text="Known answers, where the batch shows them.")


class Flagging(s.Serializer):
    reason = s.CharField()


class FlagRaised(Flagging):
    id = s.IntegerField()
    created_at = s.DateTimeField()


class Flag(FlagRaised):
    sample = s.IntegerField()
    sample_id = s.CharField()
    raised_by = s.CharField()
    resolution = s.CharField()
    resolved_by = s.CharField(allow_null=True)
    resolved_at = s.DateTimeField(allow_null=True)


class FlagPage(s.Serializer):
    count = s.IntegerField()
    next = s.CharField(allow_null=True)
    previous = s.CharField(allow_null=True)
    results = Flag(many=True)


class FlagResolving(s.Serializer):
    resolution = s.CharField(help_text="What was done about it.")
