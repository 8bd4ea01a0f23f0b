"""What the API takes and replies about test sets, questions, versions and responses."""

from __future__ import annotations

from rest_framework import serializers as s

from annotate.api.serializers import Choice, FreeObject, Moment, Of, Page, Shape, Stored, Text, Truth, Value
from systems import models
from systems.questions.read import SetState
from systems.responses.read import Measured, VersionFigures
from systems.responses.unlinked_read import Proposal

_SET = "Name of a test set, or of what was frozen: support@1."


class Turn(Stored):
    role = s.CharField()
    text = s.CharField()


class Revision(
    Shape,
    of=models.QuestionRevision,
    shows="number text reference key_facts entities relevant kind difficulty category earlier_turns metadata "
    "created_at",
):
    number = Of("From 1; what is imported otherwise is the next.")
    key_facts = s.ListField(child=s.CharField())
    entities = s.ListField(child=s.CharField())
    relevant = s.DictField(child=s.IntegerField(), help_text="Document and grade, as the file gave them.")
    kind = Of("simple, reasoning, multi_hop, conditional, unanswerable, conversation; empty: not stated.")
    earlier_turns = Turn(many=True, help_text="The oldest first.")
    metadata = FreeObject()
    created_at = Moment()


class Question(Shape, of=models.Question, shows="pk id group_key created_at revisions"):
    pk = s.IntegerField()
    id = s.CharField(source="external_id", help_text="As in the file.")
    created_at = Moment()
    revisions = Revision(many=True, help_text="The earliest first; the last one is asked.")

    def get_revisions(self, question: models.Question) -> list[models.QuestionRevision]:
        return list(question.revisions.all())


class QuestionPage(Page):
    results = Question(many=True)


class QuestionsAsked(Shape, required=""):
    search = Text(help_text="Words in the id or in any of its texts.")
    set = Text(help_text="Only those in the draft of this test set.")


class Changes(Stored):
    added = s.ListField(child=s.CharField())
    removed = s.ListField(child=s.CharField())
    changed = s.ListField(child=s.CharField(), help_text="Those that say something else.")


class Frozen(Shape, of=models.FrozenSet, shows="name number questions sha256 frozen_at frozen_by"):
    name = s.CharField(help_text="Such as support@1.")
    questions = s.IntegerField()
    sha256 = Of("Of the manifest as canonical JSON.")
    frozen_at = Moment()
    frozen_by = s.CharField(source="frozen_by.username", allow_null=True, help_text="null: by a command.")

    def get_name(self, frozen: models.FrozenSet) -> str:
        return str(frozen.manifest["set"])

    def get_questions(self, frozen: models.FrozenSet) -> int:
        return int(frozen.manifest["questions"])


class SetManifest(Changes):
    set = s.CharField()
    questions = s.IntegerField()
    revisions = s.ListField(
        child=s.ListField(child=Value()), help_text="Of each question its id, its revision and the hash of its content."
    )
    kinds = s.DictField(child=s.IntegerField())
    categories = s.DictField(child=s.IntegerField())


class FrozenWhole(Frozen, of=models.FrozenSet, shows="name number questions sha256 frozen_at frozen_by manifest"):
    manifest = SetManifest()


class FreezeDone(Frozen, of=models.FrozenSet, shows="name number questions sha256 frozen_at frozen_by is_new"):
    is_new = s.BooleanField(help_text="false: the draft is what was frozen last, and stays that.")


class QuestionSet(Shape, of=models.QuestionSet, shows="name questions created_at frozen"):
    questions = s.IntegerField(source="question_count", help_text="In its draft.")
    created_at = Moment()
    frozen = Frozen(many=True, help_text="The latest first.")

    def get_frozen(self, question_set: models.QuestionSet) -> list[models.FrozenSet]:
        return list(question_set.frozen.all())


class QuestionSets(Shape):
    results = QuestionSet(many=True)


class SetDraft(Shape, of=SetState, shows="name next_number questions changes frozen"):
    name = s.CharField(source="question_set.name")
    next_number = Of("Under which the draft would be frozen.")
    questions = s.ListField(child=s.CharField(), help_text="Ids of its draft, in order.")
    changes = Changes(help_text="Of the draft, against what was frozen last.")
    frozen = Frozen(many=True, help_text="The latest first.")

    def get_questions(self, state: SetState) -> list[str]:
        return [revision.question.external_id for revision in state.revisions]

    def get_changes(self, state: SetState) -> dict[str, list[str]]:
        return vars(state.changes)

    def get_frozen(self, state: SetState) -> list[models.FrozenSet]:
        return list(state.question_set.frozen.select_related("frozen_by"))


class SystemVersion(
    Shape,
    of=models.SystemVersion,
    shows="pk name configuration commit parent_commit price tags baseline answered failed created_at created_by",
):
    pk = s.IntegerField()
    name = Of("As samples have it in pipeline_version.")
    configuration = FreeObject()
    parent_commit = Of("The commit that this build follows.")
    price = s.DictField(child=s.FloatField(), help_text="{input, output}, for a million tokens.")
    tags = s.ListField(child=s.CharField())
    baseline = s.BooleanField(source="is_baseline")
    answered = s.IntegerField(help_text="How many responses it has.")
    failed = s.IntegerField(help_text="How many requests failed.")
    created_at = Moment()
    created_by = s.CharField(source="created_by.username", allow_null=True, help_text="null: it came with samples.")


class SystemVersions(Shape):
    results = SystemVersion(many=True, help_text="The latest first.")


class Measure(Shape, of=Measured, shows="name known p50 p95 total"):
    name = Of("latency_ms, first_token_ms, input_tokens, output_tokens or cost")
    known = Of("Of how many responses it is known.")


class Figures(Shape, of=VersionFigures, shows="questions responses answered failed measures"):
    measures = Measure(many=True)


class SystemVersionWhole(
    SystemVersion,
    of=models.SystemVersion,
    shows="pk name configuration commit parent_commit price tags baseline answered failed created_at created_by "
    "figures",
):
    figures = Figures()


class SystemVersionChange(Shape, required=""):
    configuration = s.JSONField(help_text="Free keys with texts, numbers, true or false.")
    commit = s.CharField()
    parent_commit = s.CharField()
    price = s.JSONField(help_text="{input, output}, numbers from 0, for a million tokens.")
    tags = s.ListField(child=s.CharField())
    baseline = Truth(code="bad_baseline", help_text="true: it takes the place of the one that was.")


class SystemVersionCreation(SystemVersionChange, required="name"):
    name = s.CharField(help_text="1 to 100 characters, without @.")


class Response(
    Shape,
    of=models.Response,
    shows="pk question version repeat revision status error error_text sample sample_id ranking latency_ms "
    "first_token_ms input_tokens output_tokens cost created_at",
):
    pk = s.IntegerField()
    question = s.CharField(source="question.external_id")
    version = s.CharField(source="version.name")
    repeat = Of("From 0.")
    revision = s.IntegerField(source="revision.number", help_text="Which revision of the question was asked.")
    status = Of("ok or failed")
    error = Of("A code, of what failed.")
    sample = s.IntegerField(source="sample_id", allow_null=True, help_text="Its pk; null where there is no answer.")
    sample_id = s.CharField(source="sample.external_id", allow_null=True)
    ranking = s.ListField(child=FreeObject(), allow_null=True, help_text="[{id, score}], the best first.")
    created_at = Moment()


class ResponsePage(Page):
    results = Response(many=True)


class ResponsesAsked(Shape, required=""):
    version = Text(help_text="Its name.")
    set = Text(help_text=_SET)
    question = Text(help_text="Its id.")
    status = Choice(models.ResponseStatus.values, empty=True)


class Unlinked(Shape, of=Proposal, shows="key text versions question can_be_confirmed groups"):
    key = Of("To confirm it by.")
    text = Of("The words of the question.")
    versions = s.DictField(child=s.IntegerField(), source="counts", help_text="And how many samples each has of it.")
    question = Of("The id of a question that says this already.")
    can_be_confirmed = s.BooleanField(
        help_text="false: its samples are in different groups, or questions say it twice."
    )
    groups = s.ListField(child=s.CharField())

    def get_groups(self, proposal: Proposal) -> list[str]:
        return sorted(proposal.groups)


class UnlinkedPage(Page):
    results = Unlinked(many=True)


class Confirmation(Shape, required=""):
    keys = s.ListField(child=s.CharField(), allow_null=True, help_text="Left out: all that can be confirmed.")


class Confirmed(Shape):
    questions = s.IntegerField()
    responses = s.IntegerField()
