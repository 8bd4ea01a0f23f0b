"""What the API takes and replies about alignments of judges."""

from __future__ import annotations

from rest_framework import serializers as s

from annotate.api.batches_serializers import Estimate
from annotate.api.serializers import Digits, Moment, Of, Page, Shape, Whole
from judges import models
from judges.aligning.outcome import Found
from judges.aligning.read import Rules, runs_of, spent
from judges.api.runs_serializers import Money


class AlignmentPlan(Shape, required="criterion"):
    criterion = s.CharField(help_text="Key of the criterion that the judge answers.")
    version = Whole(allow_null=True, help_text="Number of the version; the one in use when left out.")
    samples = Whole(low=1, help_text="How many resolved ones of dev at most; 2,000 when left out.")
    seed = Whole(allow_null=True, help_text="The same seed draws the same samples and folds again.")
    search = Whole(
        help_text="How many requests each search for another prompt may make, from 100; left out or 0: none is made."
    )


class AlignmentStart(AlignmentPlan, required="criterion"):
    budget = Money(help_text="Of all its steps together; none when left out.")


class JudgeAlignment(
    Shape,
    of=models.Alignment,
    shows="id judge version criterion criterion_version seed search step state units groups budget spent currency runs "
    "created_at created_by",
):
    judge = s.CharField(source="base.judge.name")
    version = s.CharField(source="base.label", help_text="The version that it starts from.")
    criterion = s.CharField(source="criterion.key")
    criterion_version = s.IntegerField(source="criterion.version")
    search = Of("How many requests each search for another prompt may make; 0: none is made.")
    step = Of("start, rules, unite, search, candidates, or done")
    state = s.CharField(
        source="run.state", help_text="Of the run of its step; a step that is done is followed by the next."
    )
    units = s.IntegerField(help_text="Resolved units of dev.")
    groups = s.IntegerField()
    budget = Digits(allow_null=True)
    spent = Digits(help_text="Of all its steps, in `currency`.")
    currency = s.CharField(source="base.endpoint.currency", allow_null=True, default=None)
    runs = s.ListField(child=s.IntegerField(), help_text="One for each step so far.")
    created_at = Moment()
    created_by = s.CharField(source="created_by.username", allow_null=True)

    def get_units(self, of: models.Alignment) -> int:
        return len(of.units)

    def get_groups(self, of: models.Alignment) -> int:
        return len({group for _name, _unit, group, *_rest in of.units})

    def get_spent(self, of: models.Alignment) -> str:
        return str(spent(of))

    def get_runs(self, of: models.Alignment) -> list[int]:
        return list(runs_of(of).values_list("pk", flat=True))


class JudgeAlignmentPage(Page):
    results = JudgeAlignment(many=True)


class AlignmentCandidate(Shape):
    name = s.CharField(help_text="What it adds to the judge as it is, which is `start`.")
    kappa = s.FloatField(allow_null=True, help_text="With people, cross-validated.")
    error = s.FloatField(allow_null=True, help_text="Standard error of its difference to the best one's.")
    answered = s.IntegerField(help_text="Of how many units it has a value; the others count as wrong.")
    same_labels = s.FloatField(allow_null=True, help_text="Kappa of what was made from all labels, with these.")


class AlignmentResult(Shape):
    candidates = AlignmentCandidate(many=True)
    chosen = s.IntegerField(help_text="Place among the candidates; 0: the judge as it is.")
    of_folds = s.ListField(child=s.IntegerField(), help_text="What is chosen without each fold.")
    before = Estimate(help_text="Kappa of the judge as it is.")
    after = Estimate(help_text="Kappa of the procedure: on each fold, of what was chosen without it.")
    gain = Estimate(help_text="After less before; an improvement is shown where the interval lies above 0.")
    same_labels = s.FloatField(
        allow_null=True, help_text="What choosing and reporting on the same labels would have claimed."
    )
    units = s.IntegerField()
    groups = s.IntegerField()
    wrong = s.IntegerField(help_text="Units on which the procedure is wrong.")
    divided = s.IntegerField(help_text="Of these, units on which people differ among themselves.")


class AlignmentRule(Shape, of=models.Rule, shows="id proposed text sources groups state decided_by decided_at"):
    proposed = Of("In the model's words.")
    text = Of("In those that a person gave it.")
    sources = s.ListField(child=s.ListField(child=s.CharField()), help_text="Sample's own id and unit, of each.")
    groups = Of("How many groups it comes from.")
    state = Of("proposed, accepted or dropped")
    decided_by = s.CharField(source="decided_by.username", allow_null=True)


class AlignmentRules(Shape, of=Rules, shows="shown held_back"):
    shown = AlignmentRule(many=True)
    held_back = Of("How many are not shown, since you still have to label their samples.")


class AlignmentSearch(Shape, of=Found, shows="prompt held_back asked proposed refused failed"):
    prompt = Of("What was found; empty: none is better than the one it started from.")
    held_back = Of("Whether it is not shown, since you still have to label a sample of dev.")
    asked = Of("Requests, replies that were kept included.")
    proposed = Of("How many prompts the model proposed.")
    refused = s.DictField(
        child=s.IntegerField(),
        help_text="How many of these are none: no_answer, empty, too_long, variables, language or quotes.",
    )
    failed = Of("How many of the searches (one for each fold, and of all) brought nothing to an end.")


class JudgeAlignmentInFull(JudgeAlignment):
    searched = AlignmentSearch(allow_null=True, help_text="Null where there was no search, and until it is over.")
    result = AlignmentResult(allow_null=True, help_text="Null until it is done.")
    rules = AlignmentRules()


class RuleChange(Shape, required="state"):
    state = s.ChoiceField(choices=models.RuleState.choices)
    text = s.CharField(allow_null=True, help_text="Other words; those that it has when left out.")


class AlignmentResume(Shape, required=""):
    budget = Money(help_text="A new one, of all steps together; the one that it has when left out.")


class AlignmentTry(Shape, required=""):
    candidate = s.CharField(allow_null=True, help_text="Another than the chosen one.")
    samples = Whole(low=1, help_text="Of the trial; 40 when left out.")
    budget = Money(help_text="Of each of the trial's runs.")
