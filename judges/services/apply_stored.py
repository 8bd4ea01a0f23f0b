"""Applying a certificate to scores that are stored: those of the samples that a version of a pipeline made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotate.core.blindness import samples_still_to_label
from annotate.core.errors import Conflict, Invalid
from annotate.models import Project, Sample, User
from annotate.samples.read import pipeline_versions, unit_counts
from judges.models import Look
from judges.selectors.scores import load_scores
from judges.services.apply import (
    MAX_SCORES,
    AppliedBatch,
    NewScore,
    applied_as_dict,
    applied_rows,
    apply_scores,
    certificate_that_holds,
    score_of_label,
)

# With fewer samples a share says much about each of them.
MIN_SAMPLES = 20
# A number of a judge that was certified with labels, or the other way round.
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
    """blind: the ids of samples that whoever asks still has to label."""

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
    user: User | None = None,
) -> StoredBatch:
    """What the judge's latest certificate makes of what the certified version said of the samples of a pipeline's
    version. Nothing is stored. user: who asks; None: the command line, for which nothing is held back.

    Failed and missing scores count for nothing: see the coverage. Raises as `apply_certificate`; Invalid for a version
    that has no samples; Conflict when none of it is scored, and when the shares would tell the user what the judge said
    of samples that they still have to label.
    """
    keys = dict(Sample.objects.filter(project=project, pipeline_version=pipeline).values_list("external_id", "pk"))
    if not pipeline or not keys:
        known = ", ".join(one["version"] for one in pipeline_versions(project)[:_NAMED]) or "none yet"
        raise Invalid("unknown_pipeline", f"There are no samples of version “{pipeline[:80]}”. Versions: {known}.")
    certificate = certificate_that_holds(
        project=project, criterion_key=criterion_key, judge_name=judge_name, dimension=dimension
    )
    scores, coverage = _stored(certificate.look, keys)
    if not scores:
        raise Conflict("no_scores", f"“{judge_name}” has no scores for the samples of version “{pipeline}” yet.")
    batch = apply_scores(certificate, scores)
    blind = _blind(user, keys, batch)
    return StoredBatch(pipeline, batch, coverage, blind)


def stored_as_dict(found: StoredBatch, *, with_rows: bool) -> dict[str, Any]:
    """As `applied_as_dict`, with the coverage. with_rows: what came of each score too, except of samples that whoever
    asks still has to label; `held_back` counts those that are left out."""
    rows = [row for row in applied_rows(found.batch) if row["sample"] not in found.blind] if with_rows else []
    coverage = found.coverage
    return {
        **applied_as_dict(found.batch, rows),
        "pipeline": found.pipeline,
        "coverage": {
            "samples": coverage.samples,
            "samples_scored": coverage.samples_scored,
            "units": coverage.units,
            "scored": coverage.scored,
            "failed": dict(coverage.failed),
        },
        "held_back": len(found.batch.scores) - len(rows),
    }


def _stored(look: Look, keys: Mapping[str, int]) -> tuple[list[NewScore], Coverage]:
    said = load_scores(look.criterion, look.version, look.dimension, list(keys.values()))
    failed = {unit: why for unit, why in said.failed.items() if unit[0] in keys}
    if look.result["answers"] is None:
        numbers, other = said.numbers, set(said.labels)
        scores = [NewScore(sample, numbers[sample, unit], None, False, unit) for sample, unit in numbers]
    else:
        labels, other = said.labels, set(said.numbers)
        scores = [score_of_label(look, sample, labels[sample, unit], unit) for sample, unit in labels]
    # The selector gives all of a version's scores when the samples are too many to be named.
    scores = [score for score in scores if score.sample in keys]
    failed |= {unit: OTHER_FORM for unit in other if unit[0] in keys}
    if len(scores) > MAX_SCORES:
        raise Invalid("too_many_scores", f"At most {MAX_SCORES:,} scores at once, not {len(scores):,}.")
    counts = unit_counts(look.criterion, list(keys))
    coverage = Coverage(
        samples=len(keys),
        samples_scored=len({score.sample for score in scores}),
        units=sum(counts.values()) if counts else len(keys),
        scored=len(scores),
        failed=Counter(failed.values()),
    )
    return scores, coverage


def _blind(user: User | None, keys: Mapping[str, int], batch: AppliedBatch) -> Collection[str]:
    if user is None:
        return frozenset()
    scored = {one.sample for one in batch.scores}
    still = samples_still_to_label(user, [keys[name] for name in scored if name is not None])
    if still and (len(scored) < MIN_SAMPLES or _all_alike(batch.found.verdict.tolist())):
        raise Conflict(
            "still_to_label",
            f"You still have {len(still)} of these samples to label, and the shares would tell you what the judge said "
            "of them. Ask again when you have submitted them.",
        )
    return {name for name, pk in keys.items() if pk in still}


def _all_alike(verdicts: Sequence[bool]) -> bool:
    return len(set(verdicts)) < 2
