"""Samples with known answers, who could get them, and what an annotator learns from them; and how well annotators did
against known answers, and against themselves."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, cast

from django.db.models import Exists, OuterRef, Q, QuerySet

import alignment
from alignment.base.estimate import Estimate, remark
from annotate.core.blindness import STILL_TO_LABEL, Reader, parameters, without_held_back
from annotate.core.rows import fetch_all
from annotate.core.scales import json_spelling
from annotate.core.units import no_abstention, without_abstentions
from annotate.labels.anchored_read import ANCHORED
from annotate.models import Batch, BatchCriterion, Criterion, GoldAnswer, Project, Sample, Task, User, Verdict
from annotate.models.batch import Purpose, Strategy
from annotate.samples.read import sample_tags


def gold_samples(batch: Batch) -> list[int]:
    """Samples of the project that have a known answer to at least one criterion that the batch asks."""
    asked = BatchCriterion.objects.filter(batch=batch).values("criterion")
    known = without_abstentions(GoldAnswer.objects.filter(sample=OuterRef("pk"), criterion__in=asked))
    samples = Sample.objects.filter(Exists(known), project_id=batch.project_id)
    if batch.qualification_id is not None:
        # A round has its own.
        samples = samples.filter(pk__in=batch.batch_samples.values("sample"))
    if batch.strategy == Strategy.PULL:
        # Who had one of the batch's own samples as gold could never take its copy, which might then never be taken.
        samples = samples.exclude(pk__in=batch.batch_samples.values("sample"))
    return list(samples.order_by("id").values_list("id", flat=True))


def gold_for(
    batch: Batch, annotator_id: int, *, tags: Collection[str], besides: Collection[int], rng: random.Random
) -> list[tuple[int, str]]:
    """(sample, tag) that the person could get as gold, in random order, those they never met first.

    People aren't measured by what they know: not by a sample that they have, or are about to have (`besides`), in this
    batch, nor by one that they labelled anywhere (a lesson may have told them what was decided), nor by one whose known
    answers were or will be shown to them, or that they had in a test, nor by what they decided themselves. Nor by a
    sample that needs an expertise that isn't among their `tags`.
    """
    samples = gold_samples(batch)
    tag_of = sample_tags(batch.tag_key, samples)
    met = Task.objects.filter(annotator=annotator_id, sample__in=samples)
    shown = Q(batch__gold_feedback=True) | Q(batch__qualification__isnull=False)
    known = met.filter(Q(batch=batch) | ~Q(purpose=Purpose.GOLD) | shown)
    decided = Verdict.objects.filter(decided_by=annotator_id, sample__in=samples)
    out = {*besides, *known.values_list("sample", flat=True), *decided.values_list("sample", flat=True)}
    seen = set(met.values_list("sample", flat=True))
    free = [pk for pk in samples if pk not in out and tag_of.get(pk, "") in {"", *tags}]
    rng.shuffle(free)
    free.sort(key=seen.__contains__)
    return [(pk, tag_of.get(pk, "")) for pk in free]


def known_answers(project: Project, *, reader: Reader) -> QuerySet[GoldAnswer]:
    """Those to the criteria as they are now, in import order of their samples; none of samples that the reader still
    has to label."""
    return _listed(GoldAnswer.objects.filter(sample__project=project, criterion__is_current=True), reader)


def to_set_again(project: Project, *, reader: Reader) -> QuerySet[GoldAnswer]:
    """Those to earlier versions of a criterion that later ones don't have: what a change of the criterion touched.
    Tasks of batches that ask the earlier version are still measured by them."""
    later = GoldAnswer.objects.filter(
        sample=OuterRef("sample"),
        unit=OuterRef("unit"),
        criterion__key=OuterRef("criterion__key"),
        criterion__version__gt=OuterRef("criterion__version"),
    )
    touched = GoldAnswer.objects.filter(~Exists(later), sample__project=project, criterion__is_current=False)
    return _listed(touched, reader)


def _listed(answers: QuerySet[GoldAnswer], reader: Reader) -> QuerySet[GoldAnswer]:
    told = without_held_back(answers, reader=reader)
    return told.select_related("sample", "criterion").order_by("sample_id", "criterion__position", "unit", "id")


_KNOWN = f"""
    SELECT g.unit, c.key, l.value, g.value, g.reason
      FROM annotate_task t
      JOIN annotate_batch b ON b.id = t.batch_id AND b.gold_feedback
      JOIN annotate_label l ON l.task_id = t.id AND (l.value IS NOT NULL OR l.cant_tell <> '')
      JOIN annotate_goldanswer g ON g.sample_id = t.sample_id AND g.unit = l.unit AND g.criterion_id = l.criterion_id
      JOIN annotate_criterion c ON c.id = g.criterion_id
     WHERE t.id = %(task)s AND t.annotator_id = %(user)s AND t.purpose = 'gold' AND t.status = 'submitted'
       AND (b.qualification_id IS NOT NULL OR l.value IS DISTINCT FROM g.value)
       AND NOT {STILL_TO_LABEL.format(sample="g.sample_id")} AND {no_abstention("g")}
     ORDER BY c.position, c.id, length(g.unit), g.unit
"""


def feedback_after(*, reader: User, task_id: int) -> list[dict[str, Any]]:
    """What the reader answered otherwise than is known: in their own submitted gold task, where the batch shows it. Of
    a training all known answers: what was right, too.

    `yours` None: they could not tell. Nothing while they still have the sample to label in another batch.
    """
    return [
        {
            "unit": unit,
            "criterion": key,
            "yours": None if yours is None else json.loads(yours),
            "answer": json.loads(answer),
            "reason": reason,
        }
        for unit, key, yours, answer, reason in fetch_all(_KNOWN, {"task": task_id, **parameters(reader)})
    ]


@dataclass(frozen=True, slots=True)
class GoldAccuracy:
    """One annotator's answers to units with a known one. `cant_tell` are no answers, and not among them."""

    username: str
    name: str
    right: int
    answered: int
    cant_tell: int
    # right / answered.
    accuracy: Estimate


@dataclass(frozen=True, slots=True)
class Steadiness:
    """One annotator's second readings against their first, on one criterion."""

    username: str
    name: str
    criterion: str
    agreement: Estimate
    kappa: Estimate


_GOLD = f"""
    SELECT t.annotator_id, count(*) FILTER (WHERE l.value = g.value), count(l.value),
           count(*) FILTER (WHERE l.value IS NULL)
      FROM annotate_task t
      JOIN annotate_batch b ON b.id = t.batch_id
      JOIN annotate_label l ON l.task_id = t.id AND (l.value IS NOT NULL OR l.cant_tell <> '')
      JOIN annotate_goldanswer g ON g.sample_id = l.sample_id AND g.unit = l.unit AND g.criterion_id = l.criterion_id
     WHERE t.purpose = 'gold' AND t.status = 'submitted' AND b.qualification_id IS NULL AND {no_abstention("g")}
       AND {{scope}}
     GROUP BY t.annotator_id, l.sample_id ORDER BY t.annotator_id, l.sample_id
"""


def gold_accuracy(of: Batch | Project) -> list[GoldAccuracy]:
    """Per annotator who submitted a gold task, by name."""
    scope = "t.batch_id = %s" if isinstance(of, Batch) else "b.project_id = %s"
    # Of each sample: right answers, answers, and labels that can't tell.
    rows: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for annotator, right, answered, cant_tell in fetch_all(_GOLD.format(scope=scope), [of.pk]):
        rows[annotator].append((right, answered, cant_tell))
    found = []
    for user in User.objects.filter(pk__in=rows).order_by("username"):
        accuracy = alignment.clustered_share(
            [right for right, answered, _ in rows[user.pk] if answered],
            [answered for _, answered, _ in rows[user.pk] if answered],
            interval="influence",
            name="accuracy on known answers",
            undefined=remark("no_answers"),
        )
        right, answered, cant_tell = (sum(counts) for counts in zip(*rows[user.pk], strict=True))
        found.append(GoldAccuracy(user.username, user.name, right, answered, cant_tell, accuracy))
    return found


_READ_TWICE = f"""
    SELECT t.annotator_id, l.criterion_id, l.sample_id, l.unit, f.value, l.value
      FROM annotate_task t
      JOIN annotate_label l ON l.task_id = t.id AND l.value IS NOT NULL
      JOIN annotate_task o ON o.batch_id = t.batch_id AND o.sample_id = t.sample_id
                          AND o.annotator_id = t.annotator_id AND o.purpose = 'label' AND o.status = 'submitted'
      JOIN annotate_label f ON f.task_id = o.id AND f.unit = l.unit AND f.criterion_id = l.criterion_id
                           AND f.value IS NOT NULL
     WHERE t.purpose = 'repeat' AND t.status = 'submitted' AND t.batch_id = %s AND {no_abstention("l")}
       AND NOT {ANCHORED}
     ORDER BY t.annotator_id, l.criterion_id, l.sample_id, l.unit
"""


def self_consistency(batch: Batch) -> list[Steadiness]:
    """Per annotator who read units twice, and criterion: agreement and kappa of the two readings. Not of units that a
    judge's proposals were shown of: the second reading has none."""
    rows: dict[tuple[int, int], list[tuple[int, str, Any, Any]]] = defaultdict(list)
    for annotator, criterion, sample, unit, first, second in fetch_all(_READ_TWICE, [batch.pk]):
        rows[annotator, criterion].append((sample, unit, json.loads(first), json.loads(second)))
    people = {user.pk: user for user in User.objects.filter(pk__in={annotator for annotator, _ in rows})}
    # Words have no figures.
    asked = [criterion for criterion in batch.asked_criteria() if not criterion.is_text]
    order = {criterion.pk: (place, criterion) for place, criterion in enumerate(asked)}
    keys = sorted((key for key in rows if key[1] in order), key=lambda key: (people[key[0]].username, order[key[1]][0]))
    return [_steadiness(people[person], order[key][1], rows[person, key], batch.seed) for person, key in keys]


def _steadiness(user: User, criterion: Criterion, rows: list[tuple[int, str, Any, Any]], seed: int) -> Steadiness:
    units = [(sample, unit) for sample, unit, _first, _second in rows] * 2
    clusters = [sample for sample, *_rest in rows] * 2
    values = [first for _s, _u, first, _second in rows] + [second for *_rest, second in rows]
    both = ["first"] * len(rows) + ["second"] * len(rows)
    rng = alignment.seeded(seed)
    scale, levels = cast("alignment.Scale", criterion.scale), criterion.levels or None
    if criterion.is_multi:
        # Each selection is a category of its own, as in votes.
        scale, levels, values = "nominal", None, [json_spelling(value) for value in values]
    ratings = alignment.Ratings.from_columns(units, both, values, clusters, scale=scale, levels=levels)
    agreement = alignment.self_consistency(
        units, [user.username] * len(units), values, clusters, rng=rng
    ).pooled.agreement
    kappa = alignment.cohen_kappa(ratings, "first", "second", rng=rng)
    return Steadiness(user.username, user.name, criterion.key, agreement, kappa)
