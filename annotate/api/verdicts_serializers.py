"""What the API takes and replies about verdicts: what reviewers decide, and what annotators learn from it."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy as _
from rest_framework import serializers as s

from annotate import models
from annotate.api.projects_serializers import Option
from annotate.api.samples_serializers import ScoredContext
from annotate.api.serializers import Choice, Listed, Of, Page, Shape, Text, Truth, Value, Whole, whole_number
from annotate.api.tasks_serializers import Evidence
from annotate.core.units import unit_text
from annotate.verdicts.disputes_read import Change, Said
from annotate.verdicts.lessons_read import Lesson as Learnt
from annotate.verdicts.proposals_read import ValueCount
from annotate.verdicts.queue_sql import STATES
from annotate.verdicts.read import ORDERS


class Verdict(
    Shape,
    of=models.Verdict,
    shows="id unit criterion state value method reason confidence agreement approved_at revision",
):
    criterion = s.CharField(source="criterion.key")
    state = Of("settled, disputed or reopened")
    value = Value(allow_null=True)
    method = Of("unanimous, majority, adjudicated, accepted (in bulk) or dawid_skene; empty while disputed")
    confidence = Of("Share of the votes that gave the value; its posterior probability (dawid_skene).")
    agreement = Of("Share of the votes on the value that most of them gave.")
    approved_at = Of("When a reviewer found right what the votes settled by themselves.")


class DisputeListed(Verdict):
    sample_id = s.CharField(source="sample.external_id")


class DisputePage(Page):
    results = DisputeListed(many=True)


class DisputesAsked(Shape, required=""):
    criterion = Text(help_text="Key of a criterion.")
    batch = Whole(help_text="Number of a batch.")
    state = Choice(
        STATES,
        empty=True,
        help_text="short: too few labels; returned: sent back to an annotator; agreed: settled by the votes "
        "themselves, and not approved yet; single: those of them that rest on one label.",
    )
    annotator = Text(help_text="Only what this rater voted on. For those who see who said what.")
    share = Whole(low=1, high=100, help_text="Of agreed or single: this many percent, drawn at random.")
    seed = Whole(help_text="Of the draw; the same seed draws the same units.")
    order = Choice(ORDERS, empty=True, help_text="matters when left out.")


class Vote(Shape, of=Said, shows="letter who value cant_tell comment evidence changed returned after_answer"):
    letter = Of("The annotator's, the same for all units of the sample.")
    who = Of("“Annotator A”; the name where the project shows names.")
    value = Value(allow_null=True, help_text="null: could not tell.")
    cant_tell = Of("Why no value could be given.")
    evidence = Evidence(many=True)
    changed = Of("The label was changed since the vote was counted.")
    returned = Of("Sent back to the annotator, and not submitted again yet.")
    after_answer = Of("Last saved after a reviewer answered the annotator's question about it, or about the sample.")


class DisputeSample(Shape, of=models.Sample, shows="external_id question answer reference contexts"):
    contexts = ScoredContext(many=True)


class VoteChange(Shape, of=Change, shows="letter who before after"):
    before = Value(allow_null=True, help_text="null: there was no vote.")
    after = Value(allow_null=True, help_text="null: the vote is gone.")


class VerdictState(Shape, of=models.VerdictEvent, shows="revision state value method reason by at"):
    value = Value(allow_null=True)
    by = s.CharField(
        source="actor.name",
        allow_null=True,
        help_text="null: by rule. With the method unanimous or majority: who approved it.",
    )
    at = s.DateTimeField(source="created_at")


class Dispute(Verdict):
    unit_text = s.CharField()
    sample = DisputeSample()
    prompt = s.CharField(source="criterion.prompt")
    options = Option(many=True, source="criterion.options")
    labels = Vote(many=True)
    changes = VoteChange(many=True, help_text="What reopened it: votes that are not those it was decided on.")
    decided_by = s.CharField(source="decided_by.name", allow_null=True)
    decided_at = s.DateTimeField(allow_null=True)
    approved_by = s.CharField(source="approved_by.name", allow_null=True)
    history = VerdictState(many=True, help_text="The latest first.")

    def get_unit_text(self, verdict: models.Verdict) -> str:
        return unit_text(verdict.sample, verdict.unit)


class Decision(Shape):
    value = Value()
    reason = s.CharField()


class SendingBack(Shape):
    annotator = s.CharField(help_text="The letter.")
    message = s.CharField(help_text="What the annotator is to look at.")


class SentBack(Shape):
    annotator = s.CharField()
    status = s.CharField(help_text="returned")


class Acceptance(Shape, required=""):
    method = Choice(
        ("agreement", "dawid_skene"),
        code="bad_method",
        says=_("method: must be one of %(known)s."),
        help_text="agreement, as when left out, or dawid_skene",
    )
    criterion = s.CharField(help_text="Key; needed for dawid_skene, and all criteria otherwise.")
    batch = Whole(allow_null=True, help_text="For a preview: only units of this batch.")
    agreement = s.FloatField(help_text="agreement: the least share of the votes, more than 0.5.")
    votes = s.IntegerField(help_text="agreement: the least number of votes; 2 when left out.")
    posterior = s.FloatField(help_text="dawid_skene: the least probability; 0.95 when left out.")
    dry_run = Truth(says=_("dry_run: must be true or false."), help_text="Only say what would be settled.")
    seen = s.ListField(child=s.ListField(), help_text="What the dry run gave: [id, revision, value] of each unit.")
    reason = s.CharField(help_text="Needed for agreement, unless it is a dry run.")


class AcceptedValue(Shape, of=ValueCount, shows="criterion value n"):
    value = Value()


class ModelRater(Shape):
    annotator = s.CharField()
    labels = s.IntegerField()
    right = s.FloatField(help_text="How often the model thinks them right.")


class AcceptanceResult(Shape, required=""):
    considered = s.IntegerField(help_text="Dry run: how many disputed units there are.")
    would_settle = s.IntegerField()
    more = s.IntegerField(help_text="Dry run: how many would remain for the next time.")
    by_value = AcceptedValue(many=True)
    seen = s.ListField(child=s.ListField())
    annotators = ModelRater(many=True, help_text="Dry run of dawid_skene.")
    settled = s.IntegerField()
    left = s.IntegerField(help_text="Changed since the dry run, and left as they are.")


class Lesson(Shape):
    id = s.IntegerField(source="verdict.pk", help_text="Of the verdict, for marking it as read.")
    is_new = s.BooleanField()
    sample_id = s.CharField(source="verdict.sample.external_id")
    question = s.CharField(source="verdict.sample.question")
    unit = s.CharField(source="verdict.unit")
    unit_text = s.CharField()
    criterion = s.CharField(source="verdict.criterion.key")
    mine = Value(source="label.value")
    my_comment = s.CharField(source="label.comment")
    my_evidence = Evidence(many=True, source="label.evidence")
    verdict = Value(source="verdict.value")
    reason = s.CharField(source="verdict.reason")
    decided_at = s.DateTimeField(allow_null=True)

    def get_unit_text(self, lesson: Learnt) -> str:
        return unit_text(lesson.verdict.sample, lesson.verdict.unit)


class LessonPage(Page):
    results = Lesson(many=True)


class LessonsAsked(Shape, required=""):
    criterion = Text(help_text="Key of a criterion.")


class LessonIds(Listed):
    says = f"%(field)s: a list of at most {Page.most} ids."
    child = s.IntegerField()

    def to_internal_value(self, value: Any) -> list[int]:
        if not isinstance(value, list) or len(value) > Page.most:
            raise self.refused()
        return [whole_number(each, str(self.field_name), high=2**62) for each in value]


class LessonsRead(Shape):
    read = LessonIds(help_text=f"Ids of lessons; at most {Page.most}.")


class LessonsMarked(Shape):
    marked = s.IntegerField()
