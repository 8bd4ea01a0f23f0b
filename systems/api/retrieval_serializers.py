"""What the API takes and replies about retrieval."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _
from rest_framework import serializers as s

from annotate.api.batches_serializers import Estimate
from annotate.api.serializers import Choice, Listed, Names, Of, Page, Shape, Text, Truth, Whole
from systems.core.grades import MAX_GRADE
from systems.models import Holds
from systems.retrieval import contradictions, pool
from systems.retrieval.figures_read import MAX_K


class RetrievalAsked(Shape, required="set version"):
    set = Text(help_text="A frozen test set, support@1; or support, for its latest number.")
    version = Text(help_text="Its name.")
    k = Whole(low=1, high=MAX_K, help_text="How many documents count; 5 if left out.")
    rel = Whole(low=1, high=MAX_GRADE, help_text="The grade from which a document is relevant; else 1, or what passes.")


class RetrievalFigures(Shape):
    schema = s.IntegerField()
    version = s.CharField()
    set = s.CharField()
    k = s.IntegerField()
    rel = s.IntegerField(allow_null=True, help_text="As asked for; null: 1, of annotators’ grades what passes.")
    questions = s.IntegerField(help_text="Of the set.")
    undefined = s.IntegerField(help_text="Questions without a relevant document, which are in no mean.")
    failed = s.IntegerField(help_text="Requests that failed. They score 0.")
    not_asked = s.IntegerField(help_text="Questions without a response. They score 0.")
    without_ids = s.IntegerField(help_text="Responses whose contexts have no ids: in no figure.")
    contradicted = s.IntegerField(help_text="Open conflicts of imported judgements with annotators, whose word counts.")
    metrics = s.DictField(child=Estimate(), help_text="P, R, Success, RR, AP, nDCG, Rprec and Judged.")
    per_question = s.DictField(
        child=s.DictField(child=s.FloatField(allow_null=True)), help_text="By id: the same measures; null: undefined."
    )


class PoolRequest(Shape, required="set versions"):
    set = Text(help_text="A frozen test set, support@1; or support, for its latest number.")
    versions = Listed(
        child=s.CharField(), of=str, says=_("%(field)s: must be a list of version names."), help_text="By name."
    )
    k = Whole(low=1, high=MAX_K, help_text="The first k documents of each version; 5 if left out.")
    seed = Whole(help_text="Of the order of passages; drawn if left out.")
    name = Text(help_text="Of the batch.")
    annotators = Names(help_text="User names; else all active annotators.")
    overlap = Whole(low=1, help_text="Annotators per sample; 2 where there are so many.")
    open = Truth(code="bad_open", help_text="true: the batch opens at once; else it is a draft.")


class Pooled(Shape, of=pool.Pooled, shows="batch status questions passages known without_text without_ids"):
    batch = s.IntegerField(source="batch.number")
    status = s.CharField(source="batch.status")
    questions = Of("Each is a sample of the batch.")
    passages = Of("New ones, in the batch.")
    known = Of("Passages that were pooled or judged before.")
    without_text = Of("Documents of which no sample has a text: they can’t be judged.")
    without_ids = Of("Responses whose contexts have no ids.")


class ConflictsAsked(Shape, required="set"):
    set = Text(help_text="A frozen test set, support@1; or support, for its latest number.")


_HOLDS = "Whose judgement holds: people or imported."


class Conflict(Shape, of=contradictions.Contradiction, shows="question document imported people holds"):
    question = s.CharField(source="revision.question.external_id")
    imported = Of("The grade that was imported.")
    people = Of("The grade by annotators.")
    holds = s.CharField(allow_null=True, help_text=f"{_HOLDS} null: not decided; annotators’ counts.")


class ConflictPage(Page):
    results = Conflict(many=True)


class ConflictDecision(Shape, required="set question document imported people holds"):
    set = Text()
    question = Text(help_text="Its id.")
    document = Text()
    imported = Whole(help_text="The grade as you saw it.")
    people = Whole(help_text="The grade as you saw it.")
    holds = Choice(Holds.values, help_text=_HOLDS)
