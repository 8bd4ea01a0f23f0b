"""The shapes of what reviewers and annotators read and write about verdicts (see annotate.api.schema)."""

from __future__ import annotations

from rest_framework import serializers as s

from annotate.api.projects_serializers import Option
from annotate.api.samples_serializers import ScoredContext
from annotate.api.serializers import Value
from annotate.api.tasks_serializers import Evidence


class Verdict(s.Serializer):
    id = s.IntegerField()
    unit = s.CharField()
    criterion = s.CharField()
    state = s.CharField(help_text="settled, disputed or reopened")
    value = Value(allow_null=True)
    method = s.CharField(
        help_text="unanimous, majority, adjudicated, accepted (in bulk) or dawid_skene; empty while disputed"
    )
    reason = s.CharField()
    confidence = s.FloatField(
        allow_null=True, help_text="Share of the votes that gave the value; its posterior probability (dawid_skene)."
    )
    agreement = s.FloatField(allow_null=True, help_text="Share of the votes on the value that most of them gave.")
    approved_at = s.DateTimeField(
        allow_null=True, help_text="When a reviewer found right what the votes settled by themselves."
    )
    revision = s.IntegerField()


class DisputeListed(Verdict):
    sample_id = s.CharField()


class DisputePage(s.Serializer):
    count = s.IntegerField()
    next = s.CharField(allow_null=True)
    previous = s.CharField(allow_null=True)
    results = DisputeListed(many=True)


class Vote(s.Serializer):
    letter = s.CharField(help_text="The annotator's, the same for all units of the sample.")
    who = s.CharField(help_text="“Annotator A”; the name where the project shows names.")
    value = Value(allow_null=True, help_text="null: could not tell.")
    cant_tell = s.CharField(help_text="Why no value could be given.")
    comment = s.CharField()
    evidence = Evidence(many=True)
    changed = s.BooleanField(help_text="The label was changed since the vote was counted.")
    returned = s.BooleanField(help_text="Sent back to the annotator, and not submitted again yet.")


class DisputeSample(s.Serializer):
    external_id = s.CharField()
    question = s.CharField()
    answer = s.CharField()
    reference = s.CharField(allow_null=True)
    contexts = ScoredContext(many=True)


class VoteChange(s.Serializer):
    letter = s.CharField()
    who = s.CharField()
    before = Value(allow_null=True, help_text="null: there was no vote.")
    after = Value(allow_null=True, help_text="null: the vote is gone.")


class VerdictState(s.Serializer):
    revision = s.IntegerField()
    state = s.CharField()
    value = Value(allow_null=True)
    method = s.CharField()
    reason = s.CharField()
    by = s.CharField(
        allow_null=True, help_text="null: by rule. With the method unanimous or majority: who approved it."
    )
    at = s.DateTimeField()


class Dispute(Verdict):
    unit_text = s.CharField()
    sample = DisputeSample()
    prompt = s.CharField()
    options = Option(many=True)
    labels = Vote(many=True)
    changes = VoteChange(many=True, help_text="What reopened it: votes that are not those it was decided on.")
    decided_by = s.CharField(allow_null=True)
    decided_at = s.DateTimeField(allow_null=True)
    approved_by = s.CharField(allow_null=True)
    history = VerdictState(many=True, help_text="The latest first.")


class Decision(s.Serializer):
    value = Value()
    reason = s.CharField()


class SendingBack(s.Serializer):
    annotator = s.CharField(help_text="The letter.")
    message = s.CharField(help_text="What the annotator is to look at.")


class SentBack(s.Serializer):
    annotator = s.CharField()
    status = s.CharField(help_text="returned")


class Acceptance(s.Serializer):
    method = s.CharField(required=False, help_text="agreement, as when left out, or dawid_skene")
    criterion = s.CharField(required=False, help_text="Key; needed for dawid_skene, and all criteria otherwise.")
    batch = s.IntegerField(required=False, help_text="For a preview: only units of this batch.")
    agreement = s.FloatField(required=False, help_text="agreement: the least share of the votes, more than 0.5.")
    votes = s.IntegerField(required=False, help_text="agreement: the least number of votes; 2 when left out.")
    posterior = s.FloatField(required=False, help_text="dawid_skene: the least probability; 0.95 when left out.")
    dry_run = s.BooleanField(required=False, help_text="Only say what would be settled.")
    seen = s.ListField(
        child=s.ListField(), required=False, help_text="What the dry run gave: [id, revision, value] of each unit."
    )
    reason = s.CharField(required=False, help_text="Needed for agreement, unless it is a dry run.")


class AcceptedValue(s.Serializer):
    criterion = s.CharField()
    value = Value()
    n = s.IntegerField()


class ModelRater(s.Serializer):
    annotator = s.CharField()
    labels = s.IntegerField()
    right = s.FloatField(help_text="How often the model thinks them right.")


class AcceptanceResult(s.Serializer):
    considered = s.IntegerField(required=False, help_text="Dry run: how many disputed units there are.")
    would_settle = s.IntegerField(required=False)
    more = s.IntegerField(required=False, help_text="Dry run: how many would remain for the next time.")
    by_value = AcceptedValue(many=True, required=False)
    seen = s.ListField(child=s.ListField(), required=False)
    annotators = ModelRater(many=True, required=False, help_text="Dry run of dawid_skene.")
    settled = s.IntegerField(required=False)
    left = s.IntegerField(required=False, help_text="Changed since the dry run, and left as they are.")


class Lesson(s.Serializer):
    id = s.IntegerField(help_text="Of the verdict, for marking it as read.")
    is_new = s.BooleanField()
    sample_id = s.CharField()
    question = s.CharField()
    unit = s.CharField()
    unit_text = s.CharField()
    criterion = s.CharField()
    mine = Value()
    my_comment = s.CharField()
    my_evidence = Evidence(many=True)
    verdict = Value()
    reason = s.CharField()
    decided_at = s.DateTimeField(allow_null=True)


class LessonPage(s.Serializer):
    count = s.IntegerField()
    next = s.CharField(allow_null=True)
    previous = s.CharField(allow_null=True)
    results = Lesson(many=True)


class LessonsRead(s.Serializer):
    read = s.ListField(child=s.IntegerField(), help_text="Ids of lessons; at most 1000.")


class LessonsMarked(s.Serializer):
    marked = s.IntegerField()
