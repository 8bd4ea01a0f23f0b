"""What the API takes and replies about reports: agreement, alignment, and what a report froze of both.

Figures are JSON that the alignment module made (docs/statistics.md): shown as they are.
"""

from __future__ import annotations

from typing import Any

from rest_framework import serializers as s

from annotate.api.batches_serializers import Estimate
from annotate.api.jobs import Job
from annotate.api.serializers import Choice, FreeObject, Moment, Of, Page, Remark, Shape, Stored, Text, Value
from judges import models
from judges.certificates.decision_read import rulings_on
from judges.reports.read import ReportState as State


class AgreementPair(Stored):
    a = s.CharField()
    b = s.CharField()
    n = s.IntegerField(help_text="Units that both labelled.")
    kappa = s.FloatField(allow_null=True)
    low = s.FloatField(allow_null=True, help_text="Of the interval of kappa.")
    high = s.FloatField(allow_null=True)
    linear = s.FloatField(allow_null=True, help_text="Kappa with linear weights.")
    quadratic = s.FloatField(allow_null=True)
    reason = Remark(allow_null=True, help_text="Why one of them is missing.")


class AgreementFigures(Stored):
    criterion = s.CharField()
    scale = s.CharField()
    units = s.IntegerField()
    ratings = s.IntegerField()
    raters = s.ListField(child=s.CharField())
    estimates = s.DictField(child=Estimate(), help_text="By the name of the statistic.")


class Agreement(AgreementFigures):
    pairs = AgreementPair(many=True)
    version = s.IntegerField(help_text="Of the criterion.")


class DeclaredLabels(Stored):
    units = s.IntegerField()
    by = s.CharField(allow_blank=True, help_text="Empty: on the command line.")
    day = s.CharField(allow_blank=True)
    batch = s.IntegerField(allow_null=True, help_text="null: labels made elsewhere.")


class ReferenceFigures(Stored, required="method units positives ties reason"):
    method = Remark(help_text="How people's answer to a unit is made of what they said.")
    units = s.IntegerField()
    positives = s.IntegerField(allow_null=True, help_text="Units that people pass.")
    ties = s.IntegerField(allow_null=True)
    verdicts = s.IntegerField()
    single_labels = s.IntegerField(help_text="Units that rest on one label which no reviewer looked at.")
    settled_only = s.BooleanField(help_text="false: units that are not settled are among them.")
    unsettled = s.DictField(
        child=s.IntegerField(),
        help_text="Units that are not settled: of one label given here (single) or elsewhere, and those still open.",
    )
    declared = DeclaredLabels(many=True, help_text="Who said that single labels settle units.")
    reason = Remark(allow_null=True)


class JudgeFigures(Stored):
    judge = s.CharField()
    version = s.CharField()
    dimension = s.CharField()
    higher_is_better = s.BooleanField()
    coverage = s.DictField(child=s.IntegerField(), help_text="Units scored, failed, missing and unlabelled.")
    spearman = Estimate()
    kendall = Estimate()
    pearson = Estimate()
    roc_auc = Estimate()
    at_threshold = FreeObject(help_text="The threshold and what its decisions are worth.")
    sweep_best = FreeObject(help_text="The best threshold on all units, which is optimistic.")
    labels = s.DictField(child=Estimate(), allow_null=True, help_text="Null for a judge that gives numbers.")


class Ruling(Stored):
    judge = s.CharField()
    version = s.CharField()
    dimension = s.CharField()
    look = s.IntegerField(help_text="The number of its latest look at test.")
    decision = FreeObject(help_text="What the judge may do by that look, and why. It rules what is said of dev.")
    certificate = s.IntegerField(allow_null=True, help_text="Of that look; null: it is not certified, and not used.")
    ended = s.CharField(allow_null=True, help_text="Why the certificate has ended; null while it holds.")


class Alignment(Stored):
    criterion = s.CharField()
    version = s.IntegerField(help_text="Of the criterion.")
    reference = ReferenceFigures()
    judges = JudgeFigures(many=True)
    looks = Ruling(many=True, help_text="What rules judges that were looked at on test.")


LABELS = ("settled", "all")
_LABELS = "What judges are compared with: settled units, unless all that people labelled are asked for."


class AlignmentAsked(Shape, required=""):
    judge = Text(help_text="The name of one judge.")
    labels = Choice(LABELS, help_text=_LABELS)


class ReportStateAsked(Shape, required=""):
    labels = Choice(LABELS, help_text=_LABELS)


class ReportState(Shape, of=State, shows="number is_out_of_date is_pending"):
    number = s.IntegerField(source="report.number", allow_null=True, help_text="null: there is none.")
    is_out_of_date = Of("Something that it rests on changed since.")
    is_pending = Of("A new one is on its way.")


class ReportSummary(
    Shape, of=models.AlignmentReport, shows="number criterion criterion_version labels fingerprint created_at"
):
    criterion = s.CharField(source="criterion.key")
    criterion_version = s.IntegerField(source="criterion.version")
    labels = s.CharField(source="parameters.labels", help_text="settled or all: what judges are compared with.")
    fingerprint = Of("Of all that it rests on: the same fingerprint, the same figures.")
    created_at = Moment()


class ReportPage(Page):
    results = ReportSummary(many=True, help_text="Without their figures.")


class ReportsAsked(Shape, required=""):
    criterion = Text(help_text="Key of a criterion.")


class ReportParameters(Stored):
    seed = s.IntegerField()
    level = s.FloatField(help_text="Of the intervals.")
    dev_share = s.FloatField()
    figures = s.IntegerField(help_text="Raised when the same data would give other figures.")
    labels = s.CharField(help_text="settled or all: what judges are compared with.")
    libraries = s.DictField(child=s.CharField())
    data_version = s.CharField()


class ReportedCriterion(Stored):
    key = s.CharField()
    name = s.CharField()
    version = s.IntegerField()
    unit = s.CharField()
    scale = s.CharField()
    prompt = s.CharField()
    passes = s.ListField(child=Value())


class ReportedJudge(JudgeFigures):
    title = s.CharField()
    kappa = Estimate(help_text="On pass and fail, or on labels where nothing says what passes.")
    decision = FreeObject(help_text="What it would come to by the dev half, and why; what speaks for and against it.")
    drawn = FreeObject(help_text="How many settled units of the dev half have a known chance, and how many have none.")
    note = Remark(allow_null=True)
    caveat = Remark(allow_null=True)
    learned = Remark(
        allow_null=True, required=False, help_text="That an alignment made this version from labels of the dev set."
    )
    sweep = FreeObject(allow_null=True)
    histogram = FreeObject(allow_null=True)
    calibration = FreeObject()
    grades = FreeObject(allow_null=True)
    confidence = FreeObject(
        required=False,
        help_text="Of a judge with a confidence: whether it agrees with people about as often as it is sure, on dev.",
    )
    population = FreeObject()
    people = FreeObject(help_text="The judge beside people: the ceiling, and the alternative annotator.")
    values = FreeObject()
    slices = FreeObject()
    weeks = FreeObject()
    steadiness = FreeObject()
    noise = FreeObject()
    triage = FreeObject()
    disagreements = s.ListField(child=FreeObject())
    held_back = s.IntegerField(required=False, help_text="How many disagreements are left out for you.")


class ReportResult(Stored):
    project = s.DictField(child=s.CharField())
    criterion = ReportedCriterion()
    agreement = AgreementFigures()
    agreement_caveat = Remark(allow_null=True)
    agreement_note = Remark(allow_null=True)
    prevalence = s.ListField(child=FreeObject(), help_text="Of each value.")
    reference = ReferenceFigures()
    passing = FreeObject(help_text="What share passes: for these people, for people like these, and bounds.")
    people = Estimate(help_text="Their mean kappa with each other.")
    matrix = FreeObject(help_text="Kappa of every two raters, people and judges.")
    annotators = FreeObject()
    too_fast = FreeObject(allow_null=True, help_text="Labels that came far faster than they can be read; null: none.")
    judges = ReportedJudge(many=True)
    compared = FreeObject(
        help_text="Each judge with the best, and versions of one with its latest. In `difference`, `kappa` holds"
        " together with the `among` comparisons of its `family`; the others each for itself."
    )
    planning = FreeObject(help_text="What more labels would make of the intervals.")
    drawn = FreeObject(allow_null=True, help_text="Weighted figures, where samples were drawn with known chances.")
    per_sample = FreeObject(allow_null=True, help_text="Metrics of whole samples.")


class Report(
    ReportSummary,
    of=models.AlignmentReport,
    shows="number criterion criterion_version labels fingerprint created_at parameters result looks",
):
    parameters = ReportParameters()
    result = ReportResult(help_text="One that an earlier version made may lack figures.")
    looks = Ruling(
        many=True, help_text="As of now: what rules judges that were looked at on test, whatever `result` says."
    )

    def get_looks(self, report: models.AlignmentReport) -> list[dict[str, Any]]:
        return rulings_on(report.criterion)


class ReportRequest(Shape, required="criterion"):
    criterion = s.CharField(help_text="Its key.")
    labels = Choice(LABELS, help_text=_LABELS)


class ReportRequested(Job):
    requested = s.BooleanField(help_text="false: you have one on its way already.")
