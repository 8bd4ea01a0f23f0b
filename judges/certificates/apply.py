"""Applying a certificate: scores of a certified judge become probabilities, verdicts, and a corrected pass rate. The
scores are new ones, or those stored of the samples that a version of a pipeline made.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import alignment
from alignment.base.estimate import Estimate, Remark, remark, rounded_share
from annotate.core.blindness import SYSTEM, Reader, require_figures_of_many
from annotate.core.errors import Conflict, Invalid
from annotate.core.scales import Value, normalise
from annotate.files.problems import MAX_ID_CHARACTERS
from annotate.models import Project, Sample
from annotate.samples.read import groups_of, pipeline_versions, samples_named, unit_counts
from judges.certificates.decision_read import has_region, permitting_certificate
from judges.core.locked_read import locked_samples
from judges.core.scores_read import load_scores
from judges.models import LARGEST_SCORE, Certificate, Look

MAX_SCORES = 100_000
# How many rows with something wrong are listed.
SHOWN_PROBLEMS = 100
# And how many are in the sentence.
_IN_SENTENCE = 3


@dataclass(frozen=True, slots=True)
class NewScore:
    """One thing the judge said: a number, or one of the criterion's options, which counts as a number of its own.
    unit: of a stored score."""

    sample: str | None
    score: float
    label: Value | None
    passes: bool
    unit: str | None = None


@dataclass(frozen=True, eq=False, slots=True)
class OfVersion:
    """The shares of one version of the pipeline among the scores; without a version those that name no such sample."""

    version: str
    scores: int
    rate: alignment.CorrectedRate
    caveat: Remark | None


@dataclass(frozen=True, eq=False, slots=True)
class AppliedBatch:
    """versions: where the scores are of samples of several versions of the pipeline, the shares of each; those of all
    of them are then undefined, unless they were asked for as pooled."""

    certificate: Certificate
    scores: Sequence[NewScore]
    found: alignment.report.Applied
    versions: Sequence[OfVersion] = ()
    pooled: bool = False


def apply_certificate(
    *,
    project: Project,
    criterion_key: str,
    judge_name: str,
    rows: Any,
    dimension: str | None = None,
    pooled: bool = False,
) -> AppliedBatch:
    """What the judge's latest certificate for the criterion makes of new scores. Nothing is stored.

    rows: [{"sample"?: the sample's own id, "score": number}], or "label" in place of "score" for a judge that answers
    with labels. pooled: with the shares of all scores together, even of several versions of the pipeline.

    Raises Conflict, in the gate's words, when no certificate holds, or its decision doesn't permit that the judge's
    verdicts are used; Invalid, naming each row, for what is no score.
    """
    certificate = permitting_certificate(
        project=project, criterion_key=criterion_key, judge_name=judge_name, dimension=dimension
    )
    batch = apply_scores(certificate, _read(certificate.look, rows))
    versions = _by_version(batch)
    if len(versions) < 2:
        return batch
    found = batch.found if pooled else _without_shares(batch, batch.scores, remark("several_versions", n=len(versions)))
    return replace(batch, found=found, versions=versions, pooled=pooled)


def apply_scores(certificate: Certificate, scores: Sequence[NewScore]) -> AppliedBatch:
    return AppliedBatch(certificate, scores, _applied(certificate, scores))


def _applied(certificate: Certificate, scores: Sequence[NewScore]) -> alignment.report.Applied:
    look = certificate.look
    project, test = look.criterion.project, look.samples["test"]
    found = alignment.report.applied(
        look.result,
        test,
        [one.score for one in scores],
        [one.sample for one in scores],
        passes=[one.passes for one in scores],
        chances=look.samples.get("chances", {}),
        higher_is_better=look.judge.higher_is_better,
        groups=groups_of(project, {*test, *(one.sample for one in scores if one.sample is not None)}),
    )
    return found if has_region(look) else replace(found, in_region=None)


def _by_version(batch: AppliedBatch) -> list[OfVersion]:
    named = {one.sample for one in batch.scores if one.sample is not None}
    project = batch.certificate.look.criterion.project
    version_of = dict(samples_named(project, named).values_list("external_id", "pipeline_version"))
    parts: dict[str, list[NewScore]] = {}
    for one in batch.scores:
        parts.setdefault(version_of.get(one.sample or "", ""), []).append(one)
    found, fewest = [], alignment.report.FEWEST_OF_VERSION
    for version, scores in sorted(parts.items()):
        if _samples_of(scores) < fewest:
            of = _without_shares(batch, scores, remark("few_scored_samples", n=fewest))
        else:
            of = _applied(batch.certificate, scores)
        found.append(OfVersion(version, len(scores), of.rate, of.caveat))
    return found


def _samples_of(scores: Sequence[NewScore]) -> int:
    """Each score without a sample counts for one."""
    return len({at if one.sample is None else one.sample for at, one in enumerate(scores)})


def _without_shares(batch: AppliedBatch, scores: Sequence[NewScore], reason: Remark) -> alignment.report.Applied:
    """Of these of its scores; the judge's errors on test are the same whatever it is applied to."""
    none = Estimate.undefined(reason, n=len(scores), clusters=_samples_of(scores))
    return replace(batch.found, rate=replace(batch.found.rate, rate=none, judged=none), caveat=None)


def applied_rows(batch: AppliedBatch) -> list[dict[str, Any]]:
    """One for each score, in the order given."""
    found, none = batch.found, [None] * len(batch.scores)
    levels = batch.certificate.look.result["cutpoints"]["levels"]
    probability = none if found.probability is None else found.probability.tolist()
    grade = none if found.grade is None else [levels[place] for place in found.grade.tolist()]
    inside = none if found.in_region is None else found.in_region.tolist()
    return [
        {
            "sample": one.sample,
            **({} if one.unit is None else {"unit": one.unit}),
            **({"score": one.score} if one.label is None else {"label": one.label}),
            "passes": passes,
            "probability": likely,
            "grade": level,
            "in_region": sure,
        }
        for one, passes, likely, level, sure in zip(
            batch.scores, found.verdict.tolist(), probability, grade, inside, strict=True
        )
    ]


def _read(look: Look, rows: Any) -> list[NewScore]:
    if not isinstance(rows, list) or not rows:
        raise Invalid("no_scores", 'scores: a list of {"sample": …, "score": …} with at least one of them.')
    if len(rows) > MAX_SCORES:
        raise Invalid("too_many_scores", f"scores: at most {MAX_SCORES:,} at once, not {len(rows):,}.")
    answers: list[Mapping[str, Any]] | None = look.result["answers"]
    wanted = "score" if answers is None else "label"
    read, problems = [], []
    for number, row in enumerate(rows, start=1):
        try:
            sample = _sample(row, wanted)
            read.append(_number(sample, row["score"]) if answers is None else _label(look, sample, row["label"]))
        except Invalid as error:
            problems.append({"row": number, "code": error.code, "message": error.message})
    if problems:
        first = " ".join(f"Row {one['row']}: {one['message']}" for one in problems[:_IN_SENTENCE])
        more = f" And {len(problems) - _IN_SENTENCE:,} more." if len(problems) > _IN_SENTENCE else ""
        raise Invalid("bad_scores", f"Nothing was applied. {first}{more}", problems=problems[:SHOWN_PROBLEMS])
    return read


def _sample(row: Any, wanted: str) -> str | None:
    """The row's sample; the row has the field that is wanted, and no unknown one."""
    if not isinstance(row, dict):
        raise Invalid("not_an_object", f'an object with "{wanted}", and "sample" where there is one.')
    if wanted not in row:
        other = "label" if wanted == "score" else "score"
        hint = f", not a {other}: that is how this judge was certified" if other in row else ""
        raise Invalid("missing_field", f"{wanted}: each row needs one{hint}.")
    unknown = sorted(set(row) - {wanted, "sample"})
    if unknown:
        raise Invalid("unknown_field", f"unknown field “{unknown[0][:80]}”; known are sample and {wanted}.")
    sample = row.get("sample")
    if sample is not None and (not isinstance(sample, str) or not 0 < len(sample) <= MAX_ID_CHARACTERS):
        raise Invalid("bad_sample", f"sample: a text of 1 to {MAX_ID_CHARACTERS} characters, or leave it out.")
    return sample


def _number(sample: str | None, value: Any) -> NewScore:
    # By comparison, since an integer of a thousand digits has no float; NaN is between no two numbers.
    if isinstance(value, bool) or not isinstance(value, int | float) or not -LARGEST_SCORE <= value <= LARGEST_SCORE:
        raise Invalid("bad_score", "score: a number from -1e100 to 1e100.")
    return NewScore(sample, float(value), None, False)


def _label(look: Look, sample: str | None, value: Any) -> NewScore:
    if not isinstance(value, str | int | float) or (isinstance(value, float) and not math.isfinite(value)):
        raise Invalid("bad_label", "label: one of the criterion's options.")
    return score_of_label(look, sample, normalise(look.criterion, value))


def score_of_label(look: Look, sample: str | None, label: Value, unit: str | None = None) -> NewScore:
    """Of one of the criterion's options, for a judge that was certified with labels."""
    for known in look.result["answers"]:
        if known["value"] == label and isinstance(known["value"], bool) == isinstance(label, bool):
            return NewScore(sample, known["score"], label, known["passes"], unit)
    raise AssertionError(f"{label!r} is an option of {look.criterion} that the look doesn't know")


# A number of a judge that was certified with labels, or a label of one that was certified with numbers.
OTHER_FORM = "other form"
_NAMED = 20


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of a version the judge has scored. failed: how many units of each status. What is neither scored nor
    failed it was not asked about."""

    samples: int
    samples_scored: int
    units: int
    scored: int
    failed: Mapping[str, int]


@dataclass(frozen=True, eq=False, slots=True)
class StoredBatch:
    """blind: the ids of samples that the reader still has to label or to decide, and of those that are locked."""

    pipeline: str
    batch: AppliedBatch
    coverage: Coverage
    blind: Collection[str]


def apply_to_pipeline(
    *,
    project: Project,
    criterion_key: str,
    judge_name: str,
    pipeline: str,
    dimension: str | None = None,
    reader: Reader,
) -> StoredBatch:
    """What the judge's latest certificate makes of what the certified version said of the samples of a pipeline's
    version. Nothing is stored.

    Failed and missing scores count for nothing: see the coverage. Where that is below the one asked for, nothing is
    said of shares: what was left out may be what is hard. Raises as `apply_certificate`; Invalid for a version that has
    no samples; Conflict when none of it is scored, and when the shares would tell the reader what the judge
    said of samples that they still have to label or to decide.
    """
    keys = dict(Sample.objects.filter(project=project, pipeline_version=pipeline).values_list("external_id", "pk"))
    if not pipeline or not keys:
        known = ", ".join(one["version"] for one in pipeline_versions(project)[:_NAMED]) or "none yet"
        raise Invalid("unknown_pipeline", f"There are no samples of version “{pipeline[:80]}”. Versions: {known}.")
    certificate = permitting_certificate(
        project=project, criterion_key=criterion_key, judge_name=judge_name, dimension=dimension
    )
    scores, coverage = _stored(certificate.look, keys)
    if not scores:
        raise Conflict("no_scores", f"“{judge_name}” has no scores for the samples of version “{pipeline}” yet.")
    batch = apply_scores(certificate, scores)
    least = certificate.look.result["endpoint"]["coverage"]
    if coverage.scored < least * coverage.units:
        share = rounded_share(coverage.scored / coverage.units)
        few = remark("little_scored", share=share, least=rounded_share(least))
        batch = replace(batch, found=_without_shares(batch, scores, few))
    blind = _blind(reader, project, keys, batch)
    return StoredBatch(pipeline, batch, coverage, blind)


def _stored(look: Look, keys: Mapping[str, int]) -> tuple[list[NewScore], Coverage]:
    said = load_scores(look.criterion, look.version, look.dimension, list(keys.values()), reader=SYSTEM)
    if look.result["answers"] is None:
        other = said.labels.keys()
        scores = [NewScore(sample, value, None, False, unit) for (sample, unit), value in said.numbers.items()]
    else:
        other = said.numbers.keys()
        scores = [score_of_label(look, sample, label, unit) for (sample, unit), label in said.labels.items()]
    # These are all of a version's scores when the samples are too many to be named.
    scores = [score for score in scores if score.sample in keys]
    failed = {**said.failed, **dict.fromkeys(other, OTHER_FORM)}
    if len(scores) > MAX_SCORES:
        raise Invalid("too_many_scores", f"At most {MAX_SCORES:,} scores at once, not {len(scores):,}.")
    counts = unit_counts(look.criterion, list(keys))
    coverage = Coverage(
        samples=len(keys),
        samples_scored=len({score.sample for score in scores}),
        units=sum(counts.values()) if counts else len(keys),
        scored=len(scores),
        failed=Counter(why for (sample, _unit), why in failed.items() if sample in keys),
    )
    return scores, coverage


def _blind(reader: Reader, project: Project, keys: Mapping[str, int], batch: AppliedBatch) -> Collection[str]:
    scored = {one.sample for one in batch.scores}
    named = [keys[name] for name in scored if name is not None]
    held_back = require_figures_of_many(reader, named, batch.found.verdict.tolist())
    held_back |= locked_samples(project, named, reader=reader)
    return {name for name, pk in keys.items() if pk in held_back}
