"""What the API takes and replies about targets, and runs that ask them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers as s

from annotate.api.serializers import Digits, FreeObject, Moment, Of, Page, Shape, Text, Truth, Whole, With
from judges.api.runs_serializers import Money
from systems import models
from systems.targets import read, replies, write

_BODY = (
    "Any JSON. In its texts {{question}}, {{question_id}}, {{messages}}, {{turns}}, {{repeat}}, {{version}} and "
    "{{configuration.key}} stand for what is asked; null: no body."
)
_REPLY = f"JSON pointers (RFC 6901) of {', '.join(replies.OF_REPLY)}; in each context {', '.join(replies.OF_CONTEXT)}."
_HEADERS = "Names and texts; {{key}} is where the endpoint's key is sent."


class TargetSetting(Shape, required="endpoint reply"):
    endpoint = s.CharField(help_text="The name of one of the project's endpoints, which has the key and the limits.")
    method = s.CharField(help_text="POST, PUT or GET; POST when left out.")
    path = s.CharField(help_text="Behind the endpoint's base URL; its places are percent-encoded.")
    headers = FreeObject(help_text=_HEADERS)
    body = s.JSONField(allow_null=True, help_text=_BODY)
    reply = FreeObject(help_text=_REPLY)


class Target(
    Shape, of=models.Target, shows="version endpoint method path headers body reply revision created_at created_by"
):
    version = s.CharField(source="version.name", allow_null=True, help_text="Whose own it is; null: of all others.")
    endpoint = s.CharField(source="endpoint.name")
    headers = FreeObject(help_text=_HEADERS)
    body = s.JSONField(allow_null=True, help_text=_BODY)
    reply = FreeObject(help_text=_REPLY)
    created_at = Moment()
    created_by = s.CharField(source="created_by.username", allow_null=True)


class TargetTrialRequest(Shape, required="question"):
    question = Text(help_text="What to ask.")


class Mapped(Shape, of=replies.Mapped, shows="answer contexts abstained measures"):
    answer = Of("null: the target only retrieves.")
    contexts = s.ListField(child=FreeObject(), help_text="[{text, id, score}]")
    measures = s.DictField(child=s.FloatField(), help_text="latency_ms, tokens and cost, as far as they are known.")


class TargetTrial(Shape, of=write.TargetTrial, shows="works message raw seconds mapped"):
    message = Of("Why it would be a failure.")
    raw = Of("The reply, without the endpoint's key.")
    seconds = s.FloatField(allow_null=True)
    mapped = Mapped(allow_null=True, help_text="What it would be as a response; null: it is none.")

    def get_mapped(self, trial: write.TargetTrial) -> dict[str, Any] | None:
        return None if trial.mapped is None else Mapped.show(trial.mapped)


class TargetRunStart(Shape, required="version set"):
    version = Text(help_text="The name of a version; it is made if it isn't there.")
    set = Text(help_text="The test set: a number such as support@1, or support for its newest.")
    repeats = Whole(low=1, help_text="1 when left out.")
    only_failed = Truth(code="bad_only_failed", help_text="Ask again what failed, and nothing else.")
    budget = Money(help_text="It stops at this cost, in the currency of the prices.")
    requests = Whole(low=1, help_text="It stops after so many requests.")


class TargetRunResumption(Shape, required=""):
    budget = Money(help_text="A new one, in all; the old one when left out.")
    requests = Whole(low=1, help_text="How many, in all; as before when left out.")


class TargetProgress(
    Shape,
    of=read.TargetProgress,
    shows="planned done answered failed left kept requests cost unpriced is_waiting_for_worker",
):
    planned = Of("How many questions, each repeat one.")
    left = Of("How many are not done; of a run that has ended, never asked, or answered from elsewhere.")
    kept = Of("How many needed no request, as their reply was there.")
    cost = Digits(help_text="Of the replies that this run paid for.")
    unpriced = Of("Of how many replies the cost isn't known.")
    is_waiting_for_worker = Of("It could go on, and no worker is at it.")


class TargetRunSummary(
    Shape,
    of=models.TargetRun,
    shows="id version set repeats only_failed state budget most_requests stop_code stop_message created_by created_at "
    "finished_at",
):
    version = s.CharField(source="version.name")
    set = s.CharField(source="frozen_set.manifest.set")
    state = Of("running, paused, stopped, cancelled or done")
    budget = Digits(allow_null=True)
    stop_code = Of("Why it stopped by itself; empty when it didn't.")
    created_by = s.CharField(source="created_by.username", allow_null=True)
    created_at = Moment()
    finished_at = Moment(allow_null=True)


class TargetRun(TargetRunSummary):
    progress = TargetProgress()


def with_progress(run: models.TargetRun) -> With:
    return With(run, progress=read.progress_of(run))


class TargetRunPage(Page):
    results = TargetRunSummary(many=True)


class TargetFailure(Shape, of=models.TargetAsk, shows="question repeat detail raw"):
    question = s.CharField(source="revision.question.external_id")
    repeat = Of("From 0.")
    detail = Of("Why, in our words.")
    raw = s.CharField(allow_null=True, help_text="The beginning of the reply, where one came.")


class TargetFailurePage(Page):
    results = TargetFailure(many=True)
