"""Answers of a version and of the baseline to the same questions, and which of them people prefer where they saw both
side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import alignment
from annotate.core.blindness import SYSTEM
from annotate.core.rows import fetch_all
from annotate.models import BatchSample, Criterion, Project
from annotate.models.batch import BatchStatus
from annotate.projects.read import current_criteria
from annotate.verdicts.evidence_read import reference_evidence
from systems.core.answer_criteria import PREFERENCE
from systems.experiments.responses_read import compared_versions, counts
from systems.models import ComposedSample, Experiment, PairDraw, SystemVersion

# What the built-in criterion calls the two; any other option prefers neither.
_OPTIONS = ("A", "B")

# The first repeat that either was asked; what only has a ranking is no answer.
_BOTH = """
    WITH asked AS (
        SELECT DISTINCT ON (r.version_id, r.question_id)
               r.id, r.version_id, r.question_id, r.status = 'failed' AS failed, s.answer
          FROM systems_response r LEFT JOIN annotate_sample s ON s.id = r.sample_id
         WHERE r.version_id IN (%(a)s, %(b)s)
           AND (%(set)s::bigint IS NULL OR r.revision_id IN (
                SELECT revision_id FROM systems_frozenquestion WHERE frozen_set_id = %(set)s))
         ORDER BY r.version_id, r.question_id, r.repeat
    )
    SELECT a.question_id, q.group_key, a.id, b.id,
           CASE WHEN a.failed AND b.failed OR btrim(a.answer) = btrim(b.answer) THEN 0.5
                WHEN a.failed THEN 1 WHEN b.failed THEN 0 END::float8
      FROM asked a JOIN asked b ON b.question_id = a.question_id JOIN systems_question q ON q.id = a.question_id
     WHERE a.version_id = %(a)s AND b.version_id = %(b)s
       AND (a.failed OR a.answer IS NOT NULL) AND (b.failed OR b.answer IS NOT NULL)
     ORDER BY a.question_id
"""


@dataclass(frozen=True, slots=True)
class Pair:
    """Responses of the baseline (a) and of another version (b) to a question. given: what is preferred without asking:
    1 b, 0 a, .5 neither; None where people have to say."""

    question: int
    group: str
    a: int
    b: int
    given: float | None


def preference_criterion(project: Project) -> Criterion | None:
    """The built-in one, as long as it asks of whole samples and has both answers as options."""
    found = current_criteria(project).filter(key=PREFERENCE, unit="sample").first()
    return found if found is not None and {*_OPTIONS} <= {option["value"] for option in found.options} else None


def pairs_of(experiment: Experiment, version: SystemVersion) -> list[Pair]:
    """By question; once an order of labelling was drawn, of its groups."""
    baseline = next(one.version_id for one in compared_versions(experiment) if one.is_baseline)
    rows = fetch_all(_BOTH, {"a": baseline, "b": version.pk, "set": experiment.frozen_set_id})
    there = set(experiment.order)
    return [Pair(*row) for row in rows if not there or row[1] in there]


def preferences_of(experiment: Experiment) -> list[alignment.SideBySide]:
    """Of each version of which pairs went out to people, in the order of versions."""
    draws: dict[int, list[PairDraw]] = {}
    for draw in experiment.pair_draws.select_related("batch"):
        if counts(draw.batch):
            draws.setdefault(draw.version_id, []).append(draw)
    compared = compared_versions(experiment)
    baseline = next(one.version for one in compared if one.is_baseline)
    criterion = preference_criterion(experiment.project) if draws else None
    said = {} if criterion is None else _said(criterion)
    return [
        _side_by_side(experiment, baseline, one.version, draws[one.version_id], said)
        for one in compared
        if one.version_id in draws
    ]


def _said(criterion: Criterion) -> dict[str, float]:
    """By the sample's own id, what is settled of it: 1 where the answer that stood first is preferred, 0 the other, .5
    neither."""
    first, second = _OPTIONS
    reference = alignment.report.reference_of(reference_evidence(criterion, reader=SYSTEM))
    return {
        sample: 1.0 if value == first else 0.0 if value == second else 0.5
        for (sample, _unit), value in reference.labels().items()
    }


def _side_by_side(
    experiment: Experiment,
    baseline: SystemVersion,
    version: SystemVersion,
    draws: list[PairDraw],
    said: Mapping[str, float],
) -> alignment.SideBySide:
    pairs = pairs_of(experiment, version)
    drawn = {group for draw in draws for group in draw.groups}
    closed = {group for draw in draws if draw.batch.status == BatchStatus.CLOSED for group in draw.groups}
    rows = BatchSample.objects.filter(batch__in=[draw.batch_id for draw in draws], probability__isnull=False)
    composed = ComposedSample.objects.filter(sample__in=rows.values("sample")).order_by("sample")
    # What was compared: where an earlier repeat came later, the pair is another one, and open.
    place = {frozenset((pair.a, pair.b)): at for at, pair in enumerate(pairs)}
    shown = [
        (place[both], sample, first == pairs[place[both]].b)
        for sample, first, second in composed.values_list("sample__external_id", "first", "second")
        if (both := frozenset((first, second))) in place
    ]
    there = {pair.group for pair in pairs}
    groups = [name for name in experiment.order if name in there]
    number = {name: at for at, name in enumerate(groups)}
    return alignment.SideBySide(
        a=baseline.name,
        b=version.name,
        question=[question for question, _sample, _b_first in shown],
        b_first=[b_first for _question, _sample, b_first in shown],
        prefer=[_of_b(said.get(sample, math.nan), b_first) for _question, sample, b_first in shown],
        group=[number[pair.group] for pair in pairs],
        given=[math.nan if pair.given is None else pair.given for pair in pairs],
        drawn=[name in drawn for name in groups],
        closed=[name in closed for name in groups],
    )


def _of_b(of_first: float, b_first: bool) -> float:
    return of_first if b_first else 1 - of_first
