"""What the API takes and replies about the locked test half: looks, certificates, the gate, and applying one."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers as s

from annotate.api.batches_serializers import Estimate
from annotate.api.serializers import (
    Checked,
    Choice,
    FreeObject,
    Moment,
    Number,
    Of,
    Remark,
    Shape,
    Stored,
    Text,
    Truth,
    Value,
    Whole,
    With,
)
from annotate.core.blindness import Reader
from annotate.core.scales import as_number
from judges import models
from judges.certificates import apply, decision_read, gate
from judges.certificates.drift_read import Drift as Watched
from judges.certificates.drift_read import drift_sentence
from judges.versions.read import Shown, learned_for

_DIMENSION = "What it measures, if it was certified for several things."
_RESTS_ON = ("endpoint", "figure", "coverage", "drawn", "drawn_by")
_RISK = "Of what people fail in it at most this share is passed, and of what they pass at most this share is failed."


class RequirementChange(Shape, required=""):
    measure = Choice(models.Measure.values, help_text="The declared endpoint.")
    bar = Number(help_text="Its lower bound must not be under it.")
    risk = Number(help_text="Where a judge decides alone: the share of false passes, and of false fails, at most.")
    coverage = Number(help_text="The share of the labelled units that it must score.")


class Requirement(Shape, of=models.Requirement, shows="criterion measure bar risk coverage updated_at updated_by"):
    criterion = s.CharField(source="criterion_key")
    bar = Of("The lower bound of the measure must not be under it.")
    risk = Of("Where a judge decides alone: the share of false passes, and of false fails, at most.")
    coverage = Of("The share of the labelled units that a judge must score.")
    updated_at = Moment(allow_null=True, help_text="null: nobody declared anything, and the defaults hold.")
    updated_by = s.CharField(source="updated_by.username", allow_null=True)


class LookRequest(Shape, required="criterion judge"):
    criterion = Text()
    judge = Text()
    dimension = Text(allow_null=True)


class Look(
    Shape,
    of=models.Look,
    shows="id number criterion criterion_version judge judge_version dimension level out_of_date fingerprint result "
    "created_at created_by",
):
    number = Of("The how-many-eth at this criterion, over its versions and all judges.")
    criterion = s.CharField(source="criterion.key")
    criterion_version = s.IntegerField(source="criterion.version")
    judge = s.CharField(source="judge.name")
    judge_version = s.CharField(source="version.label")
    level = Of("That its endpoint and its region have: what earlier looks have left.")
    out_of_date = s.BooleanField(
        source="is_out_of_date", help_text="It was taken before what a look promises changed, and can't be relied on."
    )
    fingerprint = Of("Of what it rests on.")
    result = FreeObject(help_text="What it showed (docs/statistics.md).")
    created_at = Moment()
    created_by = s.CharField(source="created_by.username", allow_null=True)


class Looks(Shape):
    results = Look(many=True)


class CertificateRequest(Shape):
    look = Whole()


class Condition(Shape, of=decision_read.Condition, shows="name holds"):
    name = Of("endpoint, groups, coverage, drawn, chosen or people.")
    holds = Of("null: nothing is asked of it.")


class CertifiedRegion(Shape):
    distance = s.FloatField(allow_null=True, help_text="From the threshold; null: it may decide none alone.")
    risk = s.FloatField(help_text=_RISK)
    confidence = s.FloatField()
    reason = Remark(allow_null=True)


class Ended(Shape):
    code = s.CharField(help_text="Of the gate, or replaced: a later certificate took its place.")
    reason = s.CharField(help_text="The same for people.")


class LearnedRule(Shape):
    text = s.CharField()
    samples = s.ListField(child=s.CharField(), help_text="Their own ids: it comes from people's labels of these.")


class Learned(Shape, of=Shown, shows="rules examples samples sources"):
    rules = Of("How many rules of the version come from people's labels of the dev set.")
    examples = Of("How many of its examples.")
    samples = Of("Of how many samples these labels are.")
    sources = LearnedRule(many=True, allow_null=True, help_text="The rules; null while you have to label one of them.")

    def get_sources(self, shown: Shown) -> list[dict[str, Any]] | None:
        if shown.sources is None:
            return None
        return [{"text": text, "samples": list(samples)} for text, samples in shown.sources.items()]


class Certificate(
    Shape,
    of=models.Certificate,
    shows="number criterion criterion_version judge judge_version judge_hash dimension label_fingerprint look level "
    "ended out_of_date decision conditions rests_on learned threshold higher_is_better calibrator cutpoints region "
    "kappa tpr tnr confusion error created_at created_by",
):
    criterion = s.CharField(source="look.criterion.key")
    criterion_version = s.IntegerField(source="look.criterion.version")
    judge = s.CharField(source="look.judge.name")
    judge_version = s.CharField(source="look.version.label")
    dimension = s.CharField(source="look.dimension")
    label_fingerprint = s.CharField(source="look.fingerprint")
    look = s.IntegerField(source="look.number")
    level = s.FloatField(source="look.level")
    ended = Ended(allow_null=True, help_text="Why it no longer holds; null: it does.")
    out_of_date = s.BooleanField(source="look.is_out_of_date", help_text="Its look is, and so is the certificate.")
    decision = FreeObject(
        source="look.decision",
        allow_null=True,
        help_text="What the judge might do by the look, and why; null: it is out of date.",
    )
    conditions = Condition(many=True, help_text="What the decision rests on.")
    learned = Learned(allow_null=True, help_text="What the version has of people's labels; null: nothing.")
    rests_on = FreeObject(allow_null=True, help_text=f"Of the look's result: {', '.join(_RESTS_ON)}.")
    threshold = s.FloatField(source="look.result.threshold", allow_null=True)
    higher_is_better = s.BooleanField(source="look.judge.higher_is_better")
    calibrator = FreeObject(source="look.result.calibrated.calibrator", allow_null=True)
    cutpoints = FreeObject(source="look.result.cutpoints.calibrator", allow_null=True)
    region = CertifiedRegion(source="look.result.region")
    kappa = Estimate(source="look.result.kappa")
    tpr = Estimate(source="look.result.tpr")
    tnr = Estimate(source="look.result.tnr")
    confusion = s.ListField(
        source="look.result.confusion", child=s.ListField(child=s.IntegerField()), help_text="[[tn, fp], [fn, tp]]"
    )
    error = Estimate(source="look.result.error", help_text="The share of wrong decisions.")
    created_at = Moment()
    created_by = s.CharField(source="created_by.username", allow_null=True)

    def get_ended(self, certificate: models.Certificate) -> dict[str, str] | None:
        ended = decision_read.ended_of(certificate)
        return None if ended is None else dict(zip(("code", "reason"), ended, strict=True))

    def get_conditions(self, certificate: models.Certificate) -> list[decision_read.Condition]:
        return decision_read.conditions_of(certificate.look)

    def get_rests_on(self, certificate: models.Certificate) -> dict[str, Any] | None:
        look = certificate.look
        return None if look.is_out_of_date else {name: look.result[name] for name in _RESTS_ON}


class Certificates(Shape):
    results = Certificate(many=True)


class Drift(
    Shape,
    of=Watched,
    shows="certified_error units samples error audits scored failed alarm streaks chosen_by_score sentence",
):
    certified_error = Of("The upper bound of that on test; null: it can't be watched.", source="certified")
    units = Of("Of the error rate; audits that it rests on.")
    error = Estimate(allow_null=True, help_text="The share of wrong decisions so far.")
    audits = Of("Units that people audited since, scored or not.")
    scored = Of("That the certified version scored.")
    failed = Of("That it was asked about and did not score: they count as wrong.")
    alarm = Moment(allow_null=True, help_text="By what was audited up to then it is shown.")
    streaks = Of("That would be shown, had errors not come in a row or all at once: it can't be told.")
    chosen_by_score = Of("Samples left out because they were chosen by their scores.", source="chosen")
    sentence = s.CharField()

    def get_sentence(self, drift: Watched) -> str:
        return drift_sentence(drift)


class Bar(Checked, s.FloatField):
    code = "bad_min_kappa"
    says = "%(field)s: a number from -1 to 1."

    def to_internal_value(self, value: Any) -> float:
        number = as_number(value)
        if number is None:
            raise self.refused()
        return number


class GateAsked(Shape, required="criterion judge"):
    criterion = Text(help_text="Key of a criterion.")
    judge = Text(help_text="The name of one judge.")
    min_kappa = Bar(help_text="A bar above the declared one, for the lower bound of kappa: from -1 to 1.")
    dimension = Text(empty=True, help_text=_DIMENSION)


class Gate(Shape, of=gate.Gate, shows="passed code reason criterion judge min_kappa decision certificate drift"):
    code = Of("passed, or why not in a word.")
    reason = Of("The same for people.", source="sentence")
    decision = FreeObject(allow_null=True, help_text="The certificate's; null where none holds.")
    certificate = Certificate(allow_null=True)
    drift = Drift(allow_null=True)


class NewScore(Shape, required=""):
    sample = s.CharField(allow_null=True, help_text="Its sample's own id; one without stands alone.")
    score = s.FloatField()
    label = Value(help_text="In place of a score, for a judge that answers with labels.")  # type: ignore[assignment]


class Application(Shape, required="criterion judge"):
    criterion = Text(help_text="Its key.")
    judge = Text(help_text="Its name.")
    dimension = Text(allow_null=True, help_text=_DIMENSION)
    scores = NewScore(many=True)
    pipeline = Text(help_text="In place of scores: the stored ones of this version's samples.")
    pooled = Truth(help_text="With the shares of scores of several versions of the pipeline together.")


class ProbabilitiesUsed(Shape):
    method = s.CharField(source="calibrator.method", allow_null=True, help_text="platt or isotonic")
    reason = Remark(allow_null=True, help_text="Why there are no probabilities.")


class GradesUsed(Shape):
    reason = Remark(allow_null=True, help_text="Why there are no grades.")


class RegionUsed(Shape):
    distance = s.FloatField(allow_null=True, help_text="From the threshold.")
    risk = s.FloatField(help_text=_RISK)
    inside = s.IntegerField(allow_null=True, help_text="How many of the scores lie in it.")
    reason = Remark(allow_null=True, help_text="Why there is no region.")


class AppliedScore(Stored):
    sample = s.CharField(allow_null=True)
    unit = s.CharField(required=False, help_text="Of a stored score.")
    score = s.FloatField(required=False)
    label = Value(required=False)  # type: ignore[assignment]
    passes = s.BooleanField()
    probability = s.FloatField(allow_null=True, help_text="That people would pass it.")
    grade = Value(allow_null=True, help_text="The criterion's level that the score stands for.")
    in_region = s.BooleanField(allow_null=True, help_text="Whether the judge may decide it alone.")


class Coverage(Shape, of=apply.Coverage, shows="samples samples_scored units scored failed"):
    samples = Of("Of the version.")
    samples_scored = Of("Those with a score.")
    units = Of("Of the criterion's kind, in all of its samples.")
    scored = Of("Units with a score.")
    failed = Of("Units whose score failed, by its status.")


class OfVersion(Shape):
    version = s.CharField(help_text="Empty: of samples without a version, or that the project doesn't have.")
    scores = s.IntegerField()
    samples = s.IntegerField(source="rate.judged.clusters")
    pass_rate = Estimate(source="rate.judged", help_text="The share that the judge passes.")
    corrected_pass_rate = Estimate(
        source="rate.rate", help_text="The share that the certificate’s people would pass: Rogan-Gladen."
    )
    caveat = Remark(allow_null=True)


class Applied(Shape):
    certificate = s.IntegerField(source="certificate.number", help_text="Its number.")
    criterion = s.CharField(source="certificate.look.criterion.key")
    criterion_version = s.IntegerField(source="certificate.look.criterion.version")
    judge = s.CharField(source="certificate.look.judge.name")
    judge_version = s.CharField(source="certificate.look.version.label")
    dimension = s.CharField(source="certificate.look.dimension")
    threshold = s.FloatField(source="certificate.look.result.threshold", allow_null=True)
    level = s.FloatField(source="found.rate.judged.level", help_text="Of each interval, by itself.")
    scores = s.IntegerField()
    samples = s.IntegerField(
        source="found.rate.judged.clusters", help_text="How many there are, each score without one counted for itself."
    )
    pass_rate = Estimate(source="found.rate.judged", help_text="The share that the judge passes.")
    corrected_pass_rate = Estimate(
        source="found.rate.rate", help_text="The share that the certificate’s people would pass: Rogan-Gladen."
    )
    tpr = Estimate(source="found.rate.tpr")
    tnr = Estimate(source="found.rate.tnr")
    signal = Estimate(
        source="found.rate.signal", help_text="TPR + TNR - 1; when its interval holds 0, nothing can be corrected."
    )
    caveat = Remark(
        source="found.caveat", allow_null=True, help_text="What to know about intervals from so few samples."
    )
    probability = ProbabilitiesUsed(source="certificate.look.result.calibrated")
    grade = GradesUsed(source="certificate.look.result.cutpoints")
    region = RegionUsed()
    versions = OfVersion(many=True, help_text="Where the scores are of several versions of the pipeline: of each.")
    pooled = s.BooleanField(help_text="Whether the shares above are of several versions together.")
    results = AppliedScore(many=True, help_text="One for each score, in the order given.")
    pipeline = s.CharField(required=False, help_text="Of stored scores.")
    coverage = Coverage(required=False, help_text="Of stored scores.")
    held_back = s.IntegerField(required=False, help_text="Of stored scores: how many `results` leaves out.")

    def get_scores(self, batch: apply.AppliedBatch) -> int:
        return len(batch.scores)

    def get_region(self, batch: apply.AppliedBatch) -> dict[str, Any]:
        inside = batch.found.in_region
        return {**batch.certificate.look.result["region"], "inside": None if inside is None else int(inside.sum())}

    def get_results(self, batch: apply.AppliedBatch) -> list[dict[str, Any]]:
        return apply.applied_rows(batch)


def of_certificate(certificate: models.Certificate, *, reader: Reader) -> With:
    """What is `Certificate`."""
    return With(certificate, learned=learned_for(certificate.look.version, reader=reader))


def of_gate(found: gate.Gate, *, reader: Reader) -> With:
    """What is `Gate`."""
    return With(found, certificate=found.certificate and of_certificate(found.certificate, reader=reader))


def of_stored(found: apply.StoredBatch, *, with_rows: bool) -> With:
    """What is `Applied`. with_rows: what came of each score too, except of samples that the reader still has to
    label; `held_back` counts those that are left out."""
    rows = [row for row in apply.applied_rows(found.batch) if row["sample"] not in found.blind] if with_rows else []
    left_out = len(found.batch.scores) - len(rows)
    return With(found.batch, results=rows, pipeline=found.pipeline, coverage=found.coverage, held_back=left_out)
