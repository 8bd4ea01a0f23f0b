"""What the API takes and replies about diagnosis."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers as s

from annotate.api.batches_serializers import Estimate
from annotate.api.serializers import Choice, FreeObject, Keyed, Of, Page, Shape, Text
from systems.diagnosis import figures_read, tree
from systems.diagnosis.cases import Diagnosed
from systems.diagnosis.figures_read import figures_of
from systems.diagnosis.mapping_read import QUESTIONS, Mapped
from systems.diagnosis.read import DiagnosedResponses, Judged

BY = ("people", "judges")
UNDECIDED = "undecided"
STAGES = tuple(stage.value for stage in tree.Stage)
_STAGE = f"One of {', '.join(STAGES)}; null: undecided."
_OF_PEOPLE = "null where judges said it."


class StageCount(Shape, of=figures_read.StageCount, shows="stage count share"):
    stage = s.CharField(allow_null=True, help_text=_STAGE)
    share = Estimate(allow_null=True, help_text=f"Of all responses, by question group; {_OF_PEOPLE}")


class Part(Shape, of=figures_read.Part, shows="name responses stages"):
    name = Of("Empty: all of them, or not stated.")
    stages = StageCount(many=True)


class Abstention(Shape):
    right = Estimate(help_text="Of unanswerable questions the share on which it abstained.")
    wrong = Estimate(help_text="Of all others the share on which it abstained.")


class Triad(Shape):
    context_relevance = Estimate(help_text="The share of contexts that are needed.")
    groundedness = Estimate(help_text="The share of claims that are supported.")
    answer_relevance = Estimate(help_text="The share of answers that are on topic.")


class Noise(Shape):
    relevant = Estimate(
        help_text="Of wrong claims, where a needed context was there, those that a relevant one supports."
    )
    irrelevant = Estimate(help_text="Those that an irrelevant one supports.")


class TreeAgreement(Shape, of=figures_read.TreeAgreement, shows="kappa compared without_option undecided labelled"):
    kappa = Estimate(help_text="Cohen's, of the tree's stages and those that people named.")
    without_option = Of("Of labelled responses: on a stage that people have no option for.")
    undecided = Of("Of labelled responses: not decided by the tree.")
    labelled = Of("Responses of which people named the stage.")


class JudgeAsked(Shape, of=Judged, shows="question criterion judge version decision ended"):
    criterion = s.CharField(source="criterion.key")
    decision = s.CharField(
        allow_null=True,
        help_text="What it may do: alone_in_region, with_a_person, not_for_use, cannot_tell; null: never evaluated.",
    )
    ended = Of("Why its certificate has ended.")

    def get_decision(self, judge: Judged) -> str | None:
        return None if judge.ruling is None else str(judge.ruling["verdict"])


class DiagnosisMapping(Shape, of=Mapped, shows="questions stored"):
    questions = FreeObject(help_text="{question: {criterion, yes: passes or fails}}; failure: {criterion, stages}.")
    stored = s.BooleanField(source="is_stored", help_text="false: proposed, from the built-in criteria.")

    def get_questions(self, mapped: Mapped) -> dict[str, Any]:
        return {name: mapped.asked[name].stored() if name in mapped.asked else None for name in QUESTIONS}


class DiagnosisMappingChange(Shape, required="questions"):
    questions = Keyed(
        child=s.JSONField(),
        code="bad_mapping",
        of=object,
        help_text=f"The whole mapping; what is left out or null no criterion answers. Known: {', '.join(QUESTIONS)}.",
    )


class Diagnosis(Shape, of=DiagnosedResponses, shows="by held_back judges mapping whole versions kinds categories "
    "abstention triad noise_sensitivity failure"):  # fmt: skip
    by = s.CharField(help_text="people or judges")
    held_back = Of("Responses that are left out: you still have to label or decide them, or they are locked.")
    judges = JudgeAsked(many=True, help_text="Whose word it is. Nothing here corrects it: there are counts alone.")
    mapping = DiagnosisMapping(source="mapped")
    whole = Part()
    versions = Part(many=True, help_text="Where there are several.")
    kinds = Part(many=True, help_text="Of questions, where there are several.")
    categories = Part(many=True, help_text="Of questions, where there are several.")
    abstention = Abstention(allow_null=True, help_text=_OF_PEOPLE)
    triad = Triad(allow_null=True, help_text=_OF_PEOPLE)
    noise_sensitivity = Noise(allow_null=True, help_text=_OF_PEOPLE)
    failure = TreeAgreement(allow_null=True, help_text=f"The tree beside people's own word; {_OF_PEOPLE}")

    @classmethod
    def show(cls, thing: Any) -> dict[str, Any]:
        figures = figures_of(thing)
        return super().show(
            {
                "by": BY[thing.by_judges],
                "held_back": thing.held_back,
                "judges": thing.judges,
                "mapped": thing.mapped,
                "whole": figures.whole,
                "versions": figures.versions,
                "kinds": figures.kinds,
                "categories": figures.categories,
                "abstention": figures.abstention,
                "triad": figures.triad,
                "noise_sensitivity": figures.noise,
                "failure": figures.agreement,
            }
        )


class Fact(Shape, of=tree.Fact, shows="asks unit value"):
    asks = s.CharField(help_text="The question.")
    unit = Of("As claim:0; empty: no criterion or no unit for it, or the response as a whole.")
    value = Of("null: not labelled.")


class DiagnosisStep(Shape, of=tree.Step, shows="stage matches asked facts"):
    stage = s.CharField()
    matches = s.BooleanField(allow_null=True, help_text="null: labels are missing.")
    asked = Of("false: nothing asks about it, so it is passed over.")
    facts = Fact(many=True, help_text="The labels that decide, or are missing.")


class DiagnosedResponse(
    Shape, of=Diagnosed, shows="pk version question repeat sample sample_id stage rank path missing unasked failure"
):
    pk = s.IntegerField(source="asking.response")
    version = s.CharField(source="asking.version")
    question = s.CharField(source="asking.question")
    repeat = s.IntegerField(source="asking.repeat")
    sample = s.IntegerField(source="asking.sample", allow_null=True)
    sample_id = s.CharField(source="asking.sample_id", allow_null=True)
    stage = s.CharField(source="diagnosis.stage", allow_null=True, help_text=_STAGE)
    rank = s.IntegerField(source="diagnosis.rank", allow_null=True, help_text="Of the first needed context, from 1.")
    path = DiagnosisStep(many=True, source="diagnosis.path", help_text="The last step decides, or lacks labels.")
    missing = Fact(many=True, source="diagnosis.missing", help_text="Labels that would decide it.")
    unasked = s.ListField(
        child=s.CharField(), source="diagnosis.unasked", help_text="Earlier stages that nothing asks about."
    )
    failure = s.CharField(allow_null=True, help_text="The stage that people named themselves.")


class DiagnosedPage(Page):
    results = DiagnosedResponse(many=True)


class DiagnosisAsked(Shape, required=""):
    version = Text(help_text="Its name.")
    set = Text(help_text="Name of a test set, or of what was frozen: support@1.")
    by = Choice(BY, help_text="Whose word it goes by; people's where left out.")


class DiagnosedAsked(DiagnosisAsked, required=""):
    stage = Choice((*STAGES, UNDECIDED), help_text="Only those of this stage.")
