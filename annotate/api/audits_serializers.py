"""What the API takes and replies about scheduled audits."""

from __future__ import annotations

from rest_framework import serializers as s

from annotate import models
from annotate.api.serializers import Choice, FreeObject, Listed, Moment, Names, Of, Shape, Text, Truth, Whole
from annotate.batches.audits_write import MAX_DAYS, MAX_OVERLAP, MAX_SAMPLES


class _Settings(Shape, required=""):
    name = Text(code="bad_name")
    criteria = Listed(of=str, says="%(field)s: a list of keys.", child=s.CharField())
    annotators = Names(help_text="User names.")
    samples = Whole(low=1, high=MAX_SAMPLES, help_text="How many each batch has; fewer where fewer are new.")
    weeks = Whole(low=1, high=4, help_text="1, 2 or 4: a batch every so many weeks.")
    weekday = Whole(high=6, help_text="0 is Monday.")
    filter = FreeObject(help_text="Metadata keys and their values that new samples must have.")
    overlap = Whole(low=1, high=MAX_OVERLAP, help_text="How many annotators label each sample.")
    days = Whole(low=1, high=MAX_DAYS, help_text="From the day on which a batch is made until it is due.")
    requires = s.IntegerField(
        allow_null=True, help_text="The id of a qualification: only people who have it are asked."
    )
    opens = Truth(help_text="Whether batches are opened at once; otherwise they are drafts.")


class AuditScheduleCreation(_Settings, required="name criteria annotators samples"):
    pass


class AuditScheduleChange(_Settings, required=""):
    status = Choice(["active", "paused"], help_text="Pauses or resumes it.")


class ScheduledAudit(
    Shape,
    of=models.ScheduledAudit,
    shows="due_on made_at batch drawn eligible wanted seed missed without unasked",
):
    made_at = Moment()
    batch = s.IntegerField(
        source="batch.number", allow_null=True, help_text="Its number; null: nothing was new, or it was deleted since."
    )
    drawn = Of("How many samples the batch was made with.")
    eligible = Of("Of how many new samples they were drawn.")
    missed = Of("Earlier dates on which nothing ran; this batch is for all of them.")
    without = s.ListField(
        child=s.CharField(), help_text="User names of annotators who were no active members any more, or not qualified."
    )
    unasked = s.ListField(
        child=s.CharField(), help_text="Keys of criteria without a unit in what was drawn; the batch lacks them."
    )


class AuditSchedule(
    Shape,
    of=models.AuditSchedule,
    shows="id name status criteria annotators samples weeks weekday filter overlap days opens next_on problem seed "
    "history requires",
):
    requires = s.IntegerField(source="requires_id", allow_null=True, help_text="The id of a qualification.")
    status = Of("active, paused or ended")
    criteria = s.ListField(child=s.CharField())
    annotators = s.ListField(child=s.CharField())
    weekday = Of("0 is Monday.")
    filter = FreeObject(source="conditions")
    next_on = Of("The day of the next batch; one that has passed: it waits for what `problem` says.")
    problem = FreeObject(
        allow_null=True, help_text="Why the batch that is due can't be made: a `code` and what belongs to it."
    )
    seed = Of("The seed of each draw follows from it and from the date.")
    history = ScheduledAudit(many=True, help_text="The latest first.")

    def get_annotators(self, schedule: models.AuditSchedule) -> list[str]:
        return [user.username for user in schedule.annotators.all()]

    def get_history(self, schedule: models.AuditSchedule) -> list[models.ScheduledAudit]:
        return list(schedule.audits.all())
