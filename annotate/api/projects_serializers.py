"""What the API takes and replies about projects: their criteria, their people, and what happened in them; and about
one's own account.
"""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers as s

from annotate import models
from annotate.api.serializers import (
    Day,
    Keyed,
    Listed,
    Moment,
    Names,
    Of,
    Page,
    Shape,
    Stored,
    Text,
    Truth,
    Value,
    Whole,
    Written,
)
from annotate.batches import criterion_change_read as read
from annotate.batches.relabelling import Relabelled as Done
from annotate.models import Scope
from annotate.projects.accounts import MAX_TOKEN_DAYS
from annotate.projects.accounts import Preferences as Kept
from annotate.projects.read import current_criteria
from annotate.projects.trail_read import PAGE_SIZE
from annotate.projects.trail_read import Happening as Row

MAX_HAPPENINGS = 1000
_ROLES = "admin, reviewer or annotator"


class Option(Stored):
    value = Value()
    label = s.CharField()  # type: ignore[assignment]
    hotkey = s.CharField(required=False)
    help = s.CharField(required=False)


class Choice(Option):
    meaning = s.CharField(help_text="pass, fail, undecided (it can't be judged), or empty.")


class AskedCriterion(
    Shape, of=models.Criterion, shows="key name unit scale prompt help required cant_tell prefill options"
):
    unit = Of("claim, context, fact, entity, answer or sample")
    scale = Of("binary, nominal, ordinal, interval, multi or text")
    cant_tell = Of("Whether “can't tell” is an answer.")
    prefill = Of("answer: its text starts as the answer, and only what differs from it is a label; else empty.")
    options = Choice(many=True, help_text="As annotators see them: the best one first.")


class Criterion(
    AskedCriterion,
    of=models.Criterion,
    shows="key version name unit scale prompt help options pass required cant_tell prefill",
    named={"pass": s.ListField(child=Value(), source="passes")},
):
    # In the order of the scale, without meanings.
    options = Option(many=True)  # type: ignore[assignment]


class ProjectListed(Shape, of=models.Project, shows="slug name role"):
    role = s.CharField(help_text=_ROLES)


class Project(
    ProjectListed,
    of=models.Project,
    shows="slug name guidelines show_names show_judges teach role criteria",
):
    guidelines = Of("Markdown.")
    show_names = Of("Reviewers see who said what.")
    show_judges = Of("Reviewers see what judges said about a unit once it is decided.")
    teach = Of("Annotators see what was decided otherwise, and why, once labelling has ended.")
    criteria = Criterion(many=True)

    def get_criteria(self, project: models.Project) -> QuerySet[models.Criterion]:
        return current_criteria(project)


@extend_schema_field({"oneOf": [{"type": "string"}, {"type": "object", "additionalProperties": {}}]})
class CriterionSpecification(s.JSONField):
    """The key of a built-in criterion, or an object as in docs/formats.md."""


_CRITERIA_LIST = {"type": "array", "items": {"oneOf": [{"type": "string"}, {"type": "object"}]}}
_CRITERIA_OBJECT = {"type": "object", "required": ["criteria"], "properties": {"criteria": _CRITERIA_LIST}}
ONE_FILE = {
    "multipart/form-data": {
        "type": "object",
        "required": ["file"],
        "properties": {"file": {"type": "string", "format": "binary"}},
    },
}
CRITERIA = {"application/json": {"oneOf": [_CRITERIA_LIST, _CRITERIA_OBJECT]}, **ONE_FILE}


class ProjectCreation(Shape, required="slug name"):
    slug = s.CharField()
    name = s.CharField()
    guidelines = s.CharField()
    criteria = s.ListField(child=CriterionSpecification())


class ProjectChange(Shape, of=models.Project, shows="name guidelines show_names show_judges teach", required=""):
    pass


class GuidelineVersionSaved(Shape, of=models.GuidelineVersion, shows="number note author created_at text"):
    note = Of("What changed, in its author’s words.")
    author = s.CharField(
        source="author.username", allow_null=True, help_text="Null: unknown, or names are hidden from you."
    )
    created_at = Moment(allow_null=True, help_text="Null: before versions were kept.")
    text = Of("Markdown. Images of the project are image:NAME in it.")


class GuidelineVersionListed(
    GuidelineVersionSaved, of=models.GuidelineVersion, shows="number note author created_at labels"
):
    labels = s.IntegerField(
        allow_null=True, help_text="Made under it, also in tasks that are still open; null for annotators."
    )


class GuidelineVersions(Page):
    results = GuidelineVersionListed(many=True)


class GuidelineChange(Shape, required="text"):
    text = Text(help_text="Markdown.")
    note = Text(help_text="What changed, for annotators: at most 500 characters.")
    dispute = Whole(low=1, help_text="The id of the verdict that led to the change.")


class GuidelineImage(Shape, of=models.GuidelineImage, shows="name width height"):
    name = Of("Guidelines name it as image:NAME.")


class GuidelinesSeen(Shape, required="version"):
    version = Whole(low=1)


class Archived(Shape, of=models.Project, shows="slug archived_at"):
    archived_at = Moment(allow_null=True, help_text="Since when it can only be read; null: members work in it.")


class Duplication(Shape, required="slug name"):
    slug = s.CharField(help_text="Of the new project.")
    name = s.CharField(help_text="Of the new project.")


class DeletionAsked(Shape, required="name"):
    name = s.CharField(help_text="The name of the project that is to go.")


class Deletion(Shape, of=models.Project, shows="slug name state"):
    state = s.CharField(help_text="being_deleted")

    def get_state(self, project: models.Project) -> str:
        return "being_deleted"


class Reset(Shape, of=models.PasswordReset, shows="username expires_at link"):
    username = s.CharField(source="user.username")
    expires_at = Moment()
    link = s.CharField(help_text="Works once. In this reply and nowhere else: pass it on by a safe way.")


class Role(Shape):
    role = s.CharField(help_text=_ROLES)


class Member(Shape, of=models.Membership, shows="username name role tags is_active"):
    username = s.CharField(source="user.username")
    name = s.CharField(source="user.name")
    tags = s.ListField(child=s.CharField(), help_text="What they know about.")


class MemberChange(Shape, required=""):
    role = s.CharField(help_text=_ROLES)
    tags = s.ListField(child=s.CharField(), help_text="What they know about; replaces what was there.")
    is_active = Truth(allow_null=True, help_text="false ends the membership and hands its open tasks on.")
    hand_on_to = Names(
        allow_null=True,
        help_text="With is_active false: who gets the open tasks, by user name. Left out: shared out evenly.",
    )


class InviteCreation(Shape, required="role"):
    role = s.CharField(help_text=_ROLES)
    tags = s.ListField(child=s.CharField(), help_text="What whoever comes by it knows about.")
    max_uses = s.IntegerField(help_text="How many people it is for; 1 when left out.")
    days = s.IntegerField(help_text="How long it works, up to 90; 14 when left out.")
    email = s.EmailField(help_text="Where to send the link.")


class Invite(Shape, of=models.Invite, shows="id role tags email max_uses uses expires_at created_by"):
    tags = s.ListField(child=s.CharField())
    created_by = s.CharField(source="created_by.username")


class InviteCreated(Invite):
    link = s.CharField(help_text="Shown only now.")
    mailed = s.BooleanField(help_text="Whether the link went out by mail.")


class PreferencesShape(Shape, of=Kept, shows="hotkeys single_keys view markers introduced"):
    hotkeys = Of("Action and the key that you chose for it.")
    single_keys = Of("Whether keys that are characters do anything.")
    view = s.ChoiceField(["one", "all"], help_text="One question at a time, or all at once.")
    markers = Of("Whether invisible characters are marked.")
    introduced = Of("Whether you have seen, or skipped, the introduction to labelling.")


class Me(Shape):
    username = s.CharField()
    name = s.CharField()
    preferences = PreferencesShape()


class PreferencesChange(Shape, required=""):
    hotkeys = s.DictField(child=s.CharField(), allow_null=True)
    single_keys = s.BooleanField(allow_null=True)
    view = s.ChoiceField(["one", "all"], allow_null=True)
    markers = s.BooleanField(allow_null=True)
    introduced = s.BooleanField(allow_null=True)


class MeChange(Shape):
    preferences = PreferencesChange()


class TokenListed(Shape):
    id = s.CharField(source="token_key", help_text="The beginning of the token, for deleting it.")
    name = s.CharField(help_text="What its owner calls it.")
    created = s.DateTimeField()
    last_used = s.DateTimeField(allow_null=True, help_text="To the hour; null: never.")
    scopes = s.ListField(child=s.ChoiceField(Scope.values))
    expiry = s.DateTimeField(allow_null=True)


class TokenCreation(Shape):
    name = Text(required=False, code="bad_name", help_text="What uses it, in up to 80 characters.")
    scopes = Listed(
        of=str,
        code="bad_scopes",
        says="%(field)s: write a list of scopes.",
        child=s.ChoiceField(Scope.values),
        required=False,
        help_text="What it may do of what you may; left out: `read`.",
    )
    days = Whole(
        low=1,
        high=MAX_TOKEN_DAYS,
        required=False,
        help_text="How long it is valid; left out, and at most: the installation's TOKEN_DAYS.",
    )


class TokenCreated(Shape):
    token = s.CharField(help_text="Shown only now.")
    scopes = s.ListField(child=s.ChoiceField(Scope.values))
    expiry = s.DateTimeField(allow_null=True)


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


class ChangeChoices(Shape, required=""):
    same_meaning = Truth(says="%(field)s: write true or false.", help_text="Only the wording changes.")
    reason = Text(code="bad_reason", help_text="Why the meaning stays; needed with same_meaning.")
    maybe_new = Listed(
        of=(str, int, float, type(None)),
        says="%(field)s: a list of values.",
        child=Value(allow_null=True),
        allow_null=True,
        help_text="Values that might be a new option now, null for can't tell; left out: any.",
    )


class ImpactAsked(ChangeChoices):
    criterion = Keyed(help_text="As it would be (docs/formats.md).")


class RelabelAsked(ChangeChoices, required="from_version"):
    from_version = Whole(low=1)
    hand_to = Keyed(
        of=str,
        says="%(field)s: an object of raters and user names.",
        child=s.CharField(),
        help_text="Rater to user name.",
    )
    due_date = Day(allow_null=True)


class Pair(Written, s.JSONField):
    def to_representation(self, value: tuple[Any, Any]) -> dict[str, Any]:
        before, after = value
        return {"before": before, "after": after}


class Pairs(Written, s.DictField):
    child = Pair()

    def to_representation(self, value: dict[str, tuple[Any, Any]]) -> dict[str, Any]:
        return {name: self.child.to_representation(pair) for name, pair in value.items()}


class OptionChange(Shape):
    value = Value()
    kind = s.CharField(help_text="added, removed, meaning or key")
    before = Option(allow_null=True)
    after = Option(allow_null=True)


class CriterionChange(
    Shape,
    of=read.Change,
    shows="fields options reordered pass",
    named={
        "fields": Pairs(help_text="What is no option, each with `before` and `after`."),
        "pass": Pair(source="passes", allow_null=True, help_text="`before` and `after`."),
    },
):
    options = OptionChange(many=True)


class ValueTouched(Shape, of=read.ValueCount, shows="value label labels verdicts touched"):
    value = Value(allow_null=True)


class BatchTouched(Shape, of=read.BatchCount, shows="number name labels touched"):
    number = Of("null: made elsewhere.")


class PersonTouched(Shape, of=read.PersonCount, shows="rater touched samples can_redo"):
    rater = Of(source="name")
    can_redo = Of("Is a member who can be asked again.")


class GoldTouched(Shape, of=read.Impact, shows="kept to_set_again"):
    kept = Of(source="gold_kept")
    to_set_again = Of("Listed by GET gold/?to_set_again=true.", source="gold_again")


class Impact(
    Shape,
    of=read.Impact,
    shows="change labels touched untouched values batches people open_tasks known_answers",
):
    change = CriterionChange()
    untouched = s.IntegerField()
    values = ValueTouched(many=True)
    batches = BatchTouched(many=True)
    people = PersonTouched(many=True)
    open_tasks = Of("Tasks that still ask the old version.")
    known_answers = GoldTouched(source="*")


class Relabelled(Shape, of=Done, shows="criterion version carried verdicts asked left waiting known_answers batch"):
    criterion = s.CharField(source="criterion.key")
    version = s.IntegerField(source="criterion.version")
    left = Of("Touched labels that nobody is asked for.")
    waiting = Of("Units that reviewers decide, since nobody is asked about them.")
    known_answers = Of("Those that hold for the new version.")
    batch = s.IntegerField(source="batch.number", allow_null=True, help_text="null: there was nothing to ask.")


class AuditAsked(Shape, required=""):
    person = Text(help_text="User name of who did it.")
    kind = Text(help_text="label, verdict, claims, or the first word of an action, such as member.")
    sample = Text(help_text="The sample's own id.")
    since = Text(help_text="A day or a moment; from it on.")
    until = Text(help_text="A day, counted in whole, or a moment; before it.")
    cursor = Text(help_text="`next` of the page before.")
    limit = Whole(low=1, high=MAX_HAPPENINGS, help_text=f"At most {MAX_HAPPENINGS}; {PAGE_SIZE} when left out.")


class Happening(Shape, of=Row, shows="at actor action subject details"):
    at = Moment()
    actor = s.CharField(
        source="actor.username", allow_null=True, help_text="User name; null: a rule, or the command line."
    )
    action = Of("label.saved, verdict.settled, member.added …")
    subject = Of("What it was done to: a sample's own id, a user name, a key …")
    details = s.DictField()


class Trail(Shape):
    results = Happening(many=True, source="rows")
    next = s.CharField(allow_null=True, help_text="The cursor of the next page; null: there is none.")
