"""What the API takes and replies about qualifications."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers as s

from annotate import models
from annotate.api.serializers import FreeObject, Listed, Names, Of, Shape, Text, Whole
from annotate.batches.qualifications import FEWEST_TESTED, MAX_SAMPLES, MAX_TRIES
from annotate.models.batch import BatchStatus
from annotate.qualification import read


class QualificationCreation(Shape, required="name criteria"):
    name = Text(code="bad_name")
    criteria = Listed(of=str, says="%(field)s: a list of keys.", child=s.CharField())
    kappa = s.FloatField(help_text="What has to be reached on each criterion; 0.6 if you don't say.")
    training = Whole(low=1, high=MAX_SAMPLES, help_text="How many training samples are drawn.")
    test = Whole(low=FEWEST_TESTED, high=MAX_SAMPLES, help_text="How many samples each test has.")
    tries = Whole(low=1, high=MAX_TRIES, help_text="How many tests each person may take.")
    training_samples = Listed(
        of=str, says="%(field)s: a list of the samples’ own ids.", child=s.CharField(),
        help_text="In place of a draw; with `test_samples`.",
    )  # fmt: skip
    test_samples = Listed(of=str, says="%(field)s: a list of the samples’ own ids.", child=s.CharField())
    annotators = Names(help_text="User names of those who start the training at once.")
    seed = s.IntegerField()


class QualificationPeople(Shape, required="annotators"):
    annotators = Names(help_text="User names.")


class Reason(Shape, required="reason"):
    reason = Text(code="no_reason")


class TestResult(Shape, shows="criterion kappa unanswered"):
    criterion = s.CharField()
    kappa = FreeObject(help_text="An estimate: value, low, high, level, n, clusters, method, reason.")
    unanswered = s.IntegerField(help_text="Units without an answer: each counts as full disagreement.")


class Test(Shape, of=models.Try, shows="number started_at finished_at passed results"):
    passed = Of("null: under way, or taken away when the person left")
    results = TestResult(many=True)


class Standing(Shape, of=read.Standing, shows="username state trained training done asked tries_left waived tests"):
    username = s.CharField(source="user.username")
    state = s.CharField(help_text="training, ready, testing, qualified, failed (no try is left) or withdrawn")
    trained = Of("Training samples that are finished, of `training`.")
    done = Of("Samples of the test under way that are finished, of `asked`.")
    tries_left = s.IntegerField()
    waived = s.BooleanField(source="is_waived")
    tests = Test(many=True)


class Qualification(Shape, of=models.Qualification, shows="id name criteria kappa test_samples tries seed ended"):
    criteria = s.ListField(child=FreeObject(), help_text="key, version, and whether this is the current version")
    test_samples = Of("How many samples each test has.")
    ended = s.BooleanField()

    def get_criteria(self, qualification: models.Qualification) -> list[dict[str, Any]]:
        asked = qualification.asked_criteria()
        return [{"key": one.key, "version": one.version, "is_current": one.is_current} for one in asked]

    def get_ended(self, qualification: models.Qualification) -> bool:
        return bool(qualification.test.status == BatchStatus.CLOSED)


class QualificationWithPeople(Qualification):
    people = Standing(many=True)


class OwnStanding(Standing):
    qualification = s.IntegerField(source="qualification.pk")
    name = s.CharField(source="qualification.name")


class TestStarted(Shape):
    batch = s.IntegerField(help_text="Ask for the tasks of this number (work/?batch=).")
