"""What the API takes and replies about tasks: those of the workspace, and those that a campaign is run with."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _
from rest_framework import serializers as s

from annotate import models
from annotate.api.projects_serializers import AskedCriterion
from annotate.api.samples_serializers import Claim, Context
from annotate.api.serializers import (
    Choice,
    FreeObject,
    Key,
    Listed,
    Names,
    Numbers,
    Of,
    Page,
    Several,
    Shape,
    Stored,
    Text,
    Value,
    Whole,
)
from annotate.models.thread import ThreadState


class Evidence(Stored):
    context = s.IntegerField()  # type: ignore[assignment]
    start = s.IntegerField(help_text="In Unicode code points of the context.")
    end = s.IntegerField()
    quote = s.CharField(
        help_text="What stands there. Elsewhere in the context, the span is moved to the nearest place."
    )


class LabelSaving(Shape, required="unit criterion value"):
    unit = s.CharField(help_text="answer, sample, claim:3, context:2, fact:0 or entity:1")
    criterion = s.CharField()
    value = Value(allow_null=True, help_text="null takes the choice back.")
    cant_tell = s.CharField(help_text="Why no value can be given; instead of one.")
    comment = s.CharField()
    evidence = Listed(says="%(field)s: write a list of spans.", child=Evidence())
    active_seconds = s.IntegerField(help_text="Running total of the task.")
    active_ms = s.IntegerField(help_text="Running total of this label.")
    guideline_version = s.IntegerField(
        help_text="The version of the guidelines that the annotator was shown. Left out: unknown."
    )


# One of several labels that are saved at once.
class LabelChanging(LabelSaving, required="unit criterion value revision key"):
    revision = Whole(help_text="The one that you saw; 0: none yet.")
    key = Key(help_text="A UUID of your own for this change.")


class LabelsSaving(Shape):
    labels = Several(child=LabelChanging(), help_text="Of different units or criteria.")


class Label(Shape, of=models.Label, shows="unit criterion value cant_tell comment evidence revision"):
    criterion = s.CharField()
    value = Value(allow_null=True)
    evidence = Evidence(many=True)


class SavedLabels(Shape):
    labels = Label(many=True)


class TaskLabel(Label, shows="unit criterion value cant_tell comment evidence active_ms revision"):
    active_ms = s.IntegerField(allow_null=True, help_text="Work on it so far, as measured.")


class TaskSample(
    Shape, of=models.Sample, shows="question answer answer_b reference abstained contexts claims key_facts entities"
):
    abstained = Of("Whether the answer only says that it has none: it then has no claims. Null without an answer.")
    contexts = Context(many=True)
    claims = Claim(many=True)
    key_facts = s.ListField(child=s.CharField())
    entities = s.ListField(child=s.CharField())


class TaskBatch(Shape, of=models.Batch, shows="number name due_date"):
    pass


class ThreadMessage(Shape):
    number = s.IntegerField(help_text="From 1.")
    text = s.CharField(help_text="Plain text.")
    at = s.DateTimeField()
    by = s.CharField(help_text="you, annotator (who asked) or reviewer.")
    name = s.CharField(allow_null=True, help_text="null: you, or names are hidden from you.")


class Thread(Shape):
    id = s.IntegerField(source="thread.id")
    unit = s.CharField(help_text="What it is about; empty: the sample, or it is held back.")
    criterion = s.CharField(source="criterion.key", allow_null=True, help_text="Its key.")
    state = s.CharField(source="thread.state", help_text="waiting (for an answer), answered or closed.")
    is_new = s.BooleanField(help_text="Yours, with an answer that you have not marked as read.")
    messages = ThreadMessage(many=True, help_text="The earliest first.")


class TaskThread(Stored):
    id = s.IntegerField()
    unit = s.CharField(help_text="What it is about; empty: the sample.")
    criterion = s.CharField(allow_null=True, help_text="Its key.")
    state = s.CharField(help_text="waiting (for an answer), answered or closed.")
    is_new = s.BooleanField(help_text="It has an answer that you have not marked as read.")
    messages = ThreadMessage(many=True, help_text="The earliest first.")


class ThreadListed(Thread):
    sample = s.IntegerField(source="thread.sample_id")
    sample_id = s.CharField(source="thread.sample.external_id")
    question = s.CharField(source="thread.sample.question", help_text="The sample's.")
    asked_by = s.CharField(
        source="asked_by.username", allow_null=True, help_text="null where names are hidden from you."
    )
    held_back = s.BooleanField(help_text="You have the sample to label, so messages, unit and criterion are left out.")


class ThreadPage(Page):
    results = ThreadListed(many=True)


class ThreadsAsked(Shape, required=""):
    state = Choice([*ThreadState.values], empty=True, help_text="Only those in this state.")


class Asking(Shape, required="text"):
    unit = Text(help_text="What it is about, with `criterion`; left out: the sample.")
    criterion = Text(help_text="Key of the criterion asked of that unit.")
    text = s.CharField(help_text="Plain text of at most 2000 characters.")


class Message(Shape):
    text = s.CharField(help_text="Plain text of at most 2000 characters.")


class ReadTo(Shape):
    number = Whole(low=1, help_text="Of the last message that you have seen.")


class Proposed(Shape):
    judge = s.CharField()
    values = FreeObject(help_text="By unit.")


class Task(Shape):
    id = s.IntegerField()
    status = s.CharField(help_text="pending, in_progress, submitted, returned or skipped")
    position = s.IntegerField()
    active_seconds = s.IntegerField()
    leased = s.BooleanField(help_text="Taken from a queue: send heartbeats while the page is open.")
    guideline_version = s.IntegerField(allow_null=True, help_text="The newest version of the guidelines; null: none.")
    return_message = s.CharField(help_text="What a reviewer asks for, until you submit again.")
    returned_by = s.CharField(allow_null=True, help_text="Who asks; null where the project shows no names.")
    batch = TaskBatch()
    sample = TaskSample()
    criteria = AskedCriterion(many=True)
    labels = TaskLabel(many=True, help_text="Your own.")
    proposals = s.DictField(
        child=Proposed(),
        allow_null=True,
        help_text="By criterion key what a judge proposes, to be verified; null: none.",
    )
    threads = TaskThread(many=True, help_text="What you asked reviewers about it.")


class WorkProgress(Shape):
    total = s.IntegerField()
    done = s.IntegerField()
    skipped = s.IntegerField()
    left = s.IntegerField()


class Work(Shape):
    task = Task(allow_null=True)
    progress = WorkProgress()


class WorkAsked(Shape, required=""):
    batch = Whole(low=1, empty=True, help_text="Only tasks of the batch with this number.")
    exclude = s.CharField(help_text="Numbers of tasks, separated by commas; at most 50.")


class WorkAsking(Shape, required=""):
    batch = Whole(low=1, allow_null=True, help_text="Only tasks of the batch with this number.")
    exclude = s.ListField(child=s.IntegerField(), help_text="Tasks you hold already; at most 50.")


class OneTask(Shape):
    task = Task()


class Finishing(Shape, required=""):
    active_seconds = s.IntegerField()
    exclude = s.ListField(child=s.IntegerField(), help_text="Tasks you hold already; at most 50.")


class Submission(Finishing, required=""):
    labels = Several(child=LabelChanging(), help_text="Labels to save before.")


class Skipping(Finishing):
    reason = s.CharField()


class KnownAnswer(Shape):
    unit = s.CharField()
    criterion = s.CharField()
    yours = Value(allow_null=True)
    answer = Value()
    reason = s.CharField()


class Lease(Shape):
    task_id = s.IntegerField()
    lease_expires_at = s.DateTimeField(allow_null=True)


class Finished(Shape):
    task_id = s.IntegerField()
    status = s.CharField()
    next = Task(allow_null=True, help_text="The task to prefetch.")
    feedback = KnownAnswer(many=True, help_text="Known answers, where the batch shows them.")


class TaskListed(
    Shape,
    of=models.Task,
    shows="id sample_id annotator purpose status tag position lease_expires_at skip_reason return_message "
    "active_seconds submitted_at",
):
    sample_id = s.CharField(source="sample.external_id", help_text="The id of the file it came from.")
    annotator = s.CharField(
        source="annotator.username", allow_null=True, help_text="User name; null: waits in the queue."
    )
    purpose = Of("label, gold or repeat")
    status = Of("pending, in_progress, submitted, returned, skipped or released")
    tag = Of("The expertise it needs; empty: any.")


class TaskPage(Page):
    results = TaskListed(many=True)


class TasksAsked(Shape, required=""):
    status = Text(help_text="Only tasks in this state.")
    annotator = Text(help_text="Only those of the person with this user name.")


class Reassigning(Shape):
    tasks = Numbers(says=_("tasks: must be a list of task IDs."), help_text="At most 1000.")
    to = Text(code="bad_to", says=Names.says, help_text="A user name.")


class Reassigned(Shape):
    tasks = TaskListed(many=True, help_text="What they have now.")


class Returning(Shape):
    message = s.CharField(help_text="What the annotator should do; they read it.")


class HandingOn(Shape, required=""):
    to = Names(allow_null=True, help_text="User names; left out: those of the batch, or its queue.")


class Released(Shape):
    task_id = s.IntegerField()
    handed_on = s.BooleanField(help_text="False: nobody else can take it; the sample gets one label fewer.")


class HandedOn(Shape):
    username = s.CharField()
    tasks = s.IntegerField(help_text="How many open tasks were taken from them.")
