"""The shapes of requests and replies, for the OpenAPI schema only: what is accepted is decided by the services.

`describes` adds them to a view's method; a method without it gets plain objects. Every operation names the error reply.
The docstring of a view's method is what the schema says about the operation: its first line is the summary.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

from drf_spectacular.authentication import SessionScheme
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema, extend_schema_field
from rest_framework import serializers as s

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


@extend_schema_field({"oneOf": [{"type": "string"}, {"type": "number"}, {"type": "boolean"}]})
class Value(s.JSONField):
    """A value on a criterion's scale."""


@extend_schema_field({"type": "object", "additionalProperties": {}})
class FreeObject(s.JSONField):
    """An object whose keys are the data's own."""


class Option(s.Serializer):
    value = Value()
    label = s.CharField()  # type: ignore[assignment]
    hotkey = s.CharField(required=False)
    help = s.CharField(required=False)


class AskedCriterion(s.Serializer):
    key = s.CharField()
    name = s.CharField()
    unit = s.CharField(help_text="claim, context, fact, entity, answer or sample")
    scale = s.CharField(help_text="binary, nominal, ordinal or interval")
    prompt = s.CharField()
    help = s.CharField()
    required = s.BooleanField()  # type: ignore[assignment]
    cant_tell = s.BooleanField(help_text="Whether “can't tell” is an answer.")
    options = Option(many=True)


class Criterion(AskedCriterion):
    version = s.IntegerField()

    def get_fields(self) -> dict[str, s.Field]:
        return {**super().get_fields(), "pass": s.ListField(child=Value())}  # a keyword of Python


class ProjectListed(s.Serializer):
    slug = s.CharField()
    name = s.CharField()
    role = s.CharField(help_text="admin, reviewer or annotator")


class Project(ProjectListed):
    guidelines = s.CharField(help_text="Markdown.")
    show_names = s.BooleanField(help_text="Reviewers see who said what.")
    show_judges = s.BooleanField(help_text="Reviewers see what judges said about a unit once it is decided.")
    teach = s.BooleanField(help_text="Annotators see what was decided otherwise, and why, once labelling has ended.")
    criteria = Criterion(many=True)


@extend_schema_field({"oneOf": [{"type": "string"}, {"type": "object", "additionalProperties": {}}]})
class CriterionSpecification(s.JSONField):
    """The key of a built-in criterion, or an object as in docs/formats.md."""


class ProjectCreation(s.Serializer):
    slug = s.CharField()
    name = s.CharField()
    guidelines = s.CharField(required=False)
    criteria = s.ListField(child=CriterionSpecification(), required=False)


class ProjectChange(s.Serializer):
    name = s.CharField(required=False)
    guidelines = s.CharField(required=False)
    show_names = s.BooleanField(required=False)
    show_judges = s.BooleanField(required=False)
    teach = s.BooleanField(required=False)


class Role(s.Serializer):
    role = s.CharField(help_text="admin, reviewer or annotator")


class Member(s.Serializer):
    username = s.CharField()
    name = s.CharField()
    role = s.CharField()
    tags = s.ListField(child=s.CharField(), help_text="What they know about.")
    is_active = s.BooleanField()


class MemberChange(s.Serializer):
    role = s.CharField(required=False, help_text="admin, reviewer or annotator")
    tags = s.ListField(child=s.CharField(), required=False, help_text="What they know about; replaces what was there.")
    is_active = s.BooleanField(required=False, help_text="false ends the membership and hands its open tasks on.")
    hand_on_to = s.ListField(
        child=s.CharField(),
        required=False,
        help_text="With is_active false: who gets the open tasks, by user name. Left out: shared out evenly.",
    )


class InviteCreation(s.Serializer):
    role = s.CharField(help_text="admin, reviewer or annotator")
    tags = s.ListField(child=s.CharField(), required=False, help_text="What whoever comes by it knows about.")
    max_uses = s.IntegerField(required=False, help_text="How many people it is for; 1 when left out.")
    days = s.IntegerField(required=False, help_text="How long it works, up to 90; 14 when left out.")
    email = s.EmailField(required=False, help_text="Where to send the link.")


class Invite(s.Serializer):
    id = s.IntegerField()
    role = s.CharField()
    tags = s.ListField(child=s.CharField())
    email = s.CharField()
    max_uses = s.IntegerField()
    uses = s.IntegerField()
    expires_at = s.DateTimeField()
    created_by = s.CharField()


class InviteCreated(Invite):
    link = s.CharField(help_text="Shown only now.")
    mailed = s.BooleanField(help_text="Whether the link went out by mail.")


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


class PreferencesShape(s.Serializer):
    hotkeys = s.DictField(child=s.CharField(), help_text="Action and the key that you chose for it.")
    single_keys = s.BooleanField(help_text="Whether keys that are characters do anything.")
    view = s.ChoiceField(["one", "all"], help_text="One question at a time, or all at once.")
    markers = s.BooleanField(help_text="Whether invisible characters are marked.")


class Me(s.Serializer):
    username = s.CharField()
    name = s.CharField()
    preferences = PreferencesShape()


class PreferencesChange(s.Serializer):
    hotkeys = s.DictField(child=s.CharField(), required=False, allow_null=True)
    single_keys = s.BooleanField(required=False, allow_null=True)
    view = s.ChoiceField(["one", "all"], required=False, allow_null=True)
    markers = s.BooleanField(required=False, allow_null=True)


class MeChange(s.Serializer):
    preferences = PreferencesChange()


class CriterionVersion(Criterion):
    is_current = s.BooleanField()
    labels = s.IntegerField()
    carried = s.IntegerField(help_text="Of the labels: carried over from an earlier version.")
    verdicts = s.IntegerField(help_text="Settled ones.")
    waiting = s.IntegerField(help_text="Units that wait for a reviewer.")
    batches = s.ListField(child=s.IntegerField(), help_text="Numbers of the batches that ask this version.")
    relabelled_in = s.IntegerField(
        allow_null=True, help_text="The batch in which what no longer held was given anew for a later version."
    )


class ChangeChoices(s.Serializer):
    same_meaning = s.BooleanField(required=False, help_text="Only the wording changes.")
    reason = s.CharField(required=False, help_text="Why the meaning stays; needed with same_meaning.")
    maybe_new = s.ListField(
        child=Value(allow_null=True),
        required=False,
        allow_null=True,
        help_text="Values that might be a new option now, null for can't tell; left out: any.",
    )


class ImpactAsked(ChangeChoices):
    criterion = s.DictField(help_text="As it would be (docs/formats.md).")


class RelabelAsked(ChangeChoices):
    from_version = s.IntegerField()
    hand_to = s.DictField(child=s.CharField(), required=False, help_text="Rater to user name.")
    due_date = s.DateField(required=False, allow_null=True)


class ValueTouched(s.Serializer):
    value = Value(allow_null=True)
    labels = s.IntegerField()
    verdicts = s.IntegerField()
    touched = s.BooleanField()

    def get_fields(self) -> dict[str, s.Field]:
        return {**super().get_fields(), "label": s.CharField()}  # a name that serializers have themselves


class BatchTouched(s.Serializer):
    number = s.IntegerField(allow_null=True, help_text="null: made elsewhere.")
    name = s.CharField()
    labels = s.IntegerField()
    touched = s.IntegerField()


class PersonTouched(s.Serializer):
    rater = s.CharField()
    touched = s.IntegerField()
    samples = s.IntegerField()
    can_redo = s.BooleanField(help_text="Is a member who can be asked again.")


class GoldTouched(s.Serializer):
    kept = s.IntegerField()
    to_set_again = s.IntegerField(help_text="Listed by GET gold/?to_set_again=true.")


class Impact(s.Serializer):
    change = s.DictField()
    labels = s.IntegerField()
    touched = s.IntegerField()
    untouched = s.IntegerField()
    values = ValueTouched(many=True)
    batches = BatchTouched(many=True)
    people = PersonTouched(many=True)
    open_tasks = s.IntegerField(help_text="Tasks that still ask the old version.")
    known_answers = GoldTouched()


class Relabelled(s.Serializer):
    criterion = s.CharField()
    version = s.IntegerField()
    carried = s.IntegerField()
    verdicts = s.IntegerField()
    asked = s.IntegerField()
    left = s.IntegerField(help_text="Touched labels that nobody is asked for.")
    waiting = s.IntegerField(help_text="Units that reviewers decide, since nobody is asked about them.")
    known_answers = s.IntegerField(help_text="Those that hold for the new version.")
    batch = s.IntegerField(allow_null=True, help_text="null: there was nothing to ask.")


class Happening(s.Serializer):
    at = s.DateTimeField()
    actor = s.CharField(allow_null=True, help_text="User name; null: a rule, or the command line.")
    action = s.CharField(help_text="label.saved, verdict.settled, member.added …")
    subject = s.CharField(help_text="What it was done to: a sample's own id, a user name, a key …")
    details = s.DictField()


class Trail(s.Serializer):
    results = Happening(many=True)
    next = s.CharField(allow_null=True, help_text="The cursor of the next page; null: there is none.")


class TokenListed(s.Serializer):
    id = s.CharField(help_text="The beginning of the token, for deleting it.")
    created = s.DateTimeField()
    expiry = s.DateTimeField(allow_null=True)


class TokenCreated(s.Serializer):
    token = s.CharField(help_text="Shown only now.")
    expiry = s.DateTimeField(allow_null=True)


_CRITERIA_LIST = {"type": "array", "items": {"oneOf": [{"type": "string"}, {"type": "object"}]}}
_CRITERIA_OBJECT = {"type": "object", "required": ["criteria"], "properties": {"criteria": _CRITERIA_LIST}}
CRITERIA = {
    "application/json": {"oneOf": [_CRITERIA_LIST, _CRITERIA_OBJECT]},
    "multipart/form-data": {
        "type": "object",
        "required": ["file"],
        "properties": {"file": {"type": "string", "format": "binary"}},
    },
}
