"""The result of a test: worked out with its last submission, in the same transaction."""

from __future__ import annotations

import json
from typing import Any

from django.utils import timezone

import alignment
from alignment.base.estimate import Estimate, remark
from annotate.core.rows import fetch_all
from annotate.core.scales import json_spelling
from annotate.core.trail import note
from annotate.core.units import no_abstention
from annotate.models import Candidate, Criterion, Qualification, Try
from annotate.models.batch import OPEN_TASK_STATUSES
from annotate.models.project import Scale
from annotate.models.qualification import How

# Every unit of the test with a known answer, with what the person said: NULL, too, for what they skipped or left open.
_ANSWERS = f"""
    SELECT g.criterion_id, g.sample_id, g.unit, g.value, l.value
      FROM annotate_try_tasks listed
      JOIN annotate_task t ON t.id = listed.task_id
      JOIN annotate_batchcriterion bc ON bc.batch_id = t.batch_id
      JOIN annotate_goldanswer g ON g.sample_id = t.sample_id AND g.criterion_id = bc.criterion_id
      LEFT JOIN annotate_label l ON l.task_id = t.id AND l.unit = g.unit AND l.criterion_id = g.criterion_id
                                AND t.status = 'submitted'
     WHERE listed.try_id = %s AND {no_abstention("g")}
     ORDER BY g.criterion_id, g.sample_id, g.unit
"""


def finish_test(*, qualification_id: int, user_id: int) -> None:
    """Works out the result when no task of the test is left. After a task of it was finished, in that transaction: of
    two that end at once the second sees both."""
    candidate = Candidate.objects.select_for_update(of=("self",)).get(qualification=qualification_id, user=user_id)
    test = candidate.tests.filter(finished_at=None).order_by("-number").first()
    if test is None or test.tasks.filter(status__in=OPEN_TASK_STATUSES).exists():
        return
    qualification = Qualification.objects.select_related("project").get(pk=qualification_id)
    results = _results(test, qualification)
    kappas = [one["kappa"]["value"] for one in results]
    test.results, test.finished_at = results, timezone.now()
    test.passed = all(kappa is not None and kappa >= qualification.kappa for kappa in kappas)
    test.save(update_fields=["results", "finished_at", "passed"])
    # Waived meanwhile, it stays waived.
    if test.passed and candidate.qualified_at is None:
        candidate.qualified_at, candidate.how = test.finished_at, How.PASSED
        candidate.withdrawn_at, candidate.reason = None, ""
        candidate.save(update_fields=["qualified_at", "how", "withdrawn_at", "reason"])
    note(
        actor=candidate.user, action="qualification.tested", subject=qualification.name, project=qualification.project,
        number=qualification.pk, candidate=candidate.user_id, passed=test.passed,
        kappa=[None if kappa is None else round(kappa, 2) for kappa in kappas],
    )  # fmt: skip


def _results(test: Try, qualification: Qualification) -> list[dict[str, Any]]:
    rows = fetch_all(_ANSWERS, [test.pk])
    results = []
    for criterion in qualification.asked_criteria():
        own = [
            (sample, unit, json.loads(known), None if said is None else json.loads(said))
            for key, sample, unit, known, said in rows
            if key == criterion.pk
        ]
        kappa = kappa_with_known(criterion, own, seed=qualification.seed)
        unanswered = sum(said is None for *_where, said in own)
        results.append({"criterion": criterion.key, "kappa": kappa.as_dict(), "unanswered": unanswered})
    return results


def kappa_with_known(criterion: Criterion, rows: list[tuple[int, str, Any, Any]], *, seed: int) -> Estimate:
    """Cohen's kappa of what a person said with the known answers, on the criterion's own options, with quadratic
    weights if they have an order. rows: (sample, unit, known answer, what the person said).

    A unit without an answer (None) counts as full disagreement: as an option that is never the known one, or, where
    options have an order, as the one that is farthest from it. So no one passes by leaving out what is hard.
    """
    if not rows:
        return Estimate.undefined(remark("no_answers"))
    ordered = criterion.scale == Scale.ORDINAL
    levels: list[Any] = [*criterion.levels] if ordered else [*criterion.levels, None]
    units = [(sample, unit) for sample, unit, _known, _said in rows]
    known = [value for _sample, _unit, value, _said in rows]
    said = [_farthest(levels, truth) if ordered and value is None else value for _sample, _unit, truth, value in rows]
    ratings = alignment.Ratings.from_columns(
        units * 2,
        ["known"] * len(rows) + ["said"] * len(rows),
        [json_spelling(value) for value in [*known, *said]],
        [sample for sample, *_rest in rows] * 2,
        scale="ordinal" if ordered else "nominal",
        levels=[json_spelling(level) for level in levels],
    )
    rng = alignment.seeded(seed)
    return alignment.cohen_kappa(ratings, "known", "said", "quadratic" if ordered else None, rng=rng)


def _farthest(levels: list[Any], value: Any) -> Any:
    place = levels.index(value)
    return levels[0] if place > (len(levels) - 1) / 2 else levels[-1]
