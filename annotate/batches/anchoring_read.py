"""How far a judge's proposals pull the annotators of a batch, and what time they save: from the groups of samples that
were drawn to have them and those that were not (annotate.batches.proposing)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import alignment
from alignment.base.estimate import Estimate, remark
from annotate.core.blindness import GeneralReader, Reader
from annotate.core.rows import fetch_all
from annotate.core.units import no_abstention
from annotate.labels.read import DONE
from annotate.models import Batch, Task
from annotate.models.batch import OPEN_TASK_STATUSES, BatchStatus, Purpose, TaskStatus
from annotate.projects.read import asked_in
from annotate.samples.read import groups_of

# A median of fewer tasks is no figure yet.
FEWEST_TASKS = 10


@dataclass(frozen=True, slots=True)
class CriterionAnchoring:
    """Of the labels on a criterion: shown, withheld: which share agrees with the judge where its value was proposed and
    where it was not; more: the first less the second."""

    criterion: str
    name: str
    judge: str
    more: Estimate
    shown: Estimate
    withheld: Estimate


@dataclass(frozen=True, slots=True)
class ProposalEffect:
    """seconds_…: the median of submitted tasks at work; None: too few."""

    criteria: list[CriterionAnchoring]
    seconds_shown: float | None
    seconds_withheld: float | None


# Of each sample and criterion: labels, and those that are what the judge says. What the labelling of a unit without a
# score came to says nothing.
_AGREED = f"""
    SELECT p.criterion_id, p.shown, s.external_id, count(*) FILTER (WHERE l.value = p.proposed -> l.unit), count(*)
      FROM annotate_proposedvalues p
      JOIN annotate_sample s ON s.id = p.sample_id
      JOIN annotate_task t ON t.batch_id = p.batch_id AND t.sample_id = p.sample_id
       AND t.purpose = '{Purpose.LABEL.value}' AND t.status = '{TaskStatus.SUBMITTED.value}'
      JOIN annotate_label l ON l.task_id = t.id AND l.criterion_id = p.criterion_id AND l.value IS NOT NULL
     WHERE p.batch_id = %(batch)s AND p.proposed -> l.unit IS NOT NULL AND {DONE} AND {no_abstention("l")}
     GROUP BY p.criterion_id, p.shown, s.external_id
"""
_SECONDS = f"""
    SELECT a.shown, count(*), percentile_cont(0.5) WITHIN GROUP (ORDER BY t.active_seconds)
      FROM (SELECT DISTINCT sample_id, shown FROM annotate_proposedvalues WHERE batch_id = %(batch)s) AS a
      JOIN annotate_task t ON t.batch_id = %(batch)s AND t.sample_id = a.sample_id
       AND t.purpose = '{Purpose.LABEL.value}' AND t.status = '{TaskStatus.SUBMITTED.value}' AND t.active_seconds > 0
     GROUP BY a.shown
"""


def proposal_effect(batch: Batch, *, reader: Reader) -> ProposalEffect | None:
    """None for a batch without proposals, and before it is open. Without figures while the reader may still label in
    it: a figure of what they are to be measured by would be another proposal."""
    if not batch.proposals or batch.status == BatchStatus.DRAFT:
        return None
    criteria = {one.pk: one for one in asked_in(batch) if one.key in batch.proposals}
    if _still_labels(batch, reader):
        none = Estimate.undefined(remark("own_tasks_left"))
        rows = [_row(one.key, one.name, batch, alignment.Anchoring(none, none, none)) for one in criteria.values()]
        return ProposalEffect(rows, None, None)
    found: dict[tuple[int, bool], list[tuple[str, int, int]]] = defaultdict(list)
    for criterion, is_shown, sample, hits, trials in fetch_all(_AGREED, {"batch": batch.pk}):
        found[criterion, is_shown].append((sample, hits, trials))
    group_of = groups_of(batch.project, {sample for rows in found.values() for sample, *_ in rows})
    rows = [
        _row(
            one.key,
            one.name,
            batch,
            alignment.anchoring(*_by_group(found[pk, True], group_of), *_by_group(found[pk, False], group_of)),
        )
        for pk, one in criteria.items()
    ]
    seconds = {
        shown: float(median) for shown, n, median in fetch_all(_SECONDS, {"batch": batch.pk}) if n >= FEWEST_TASKS
    }
    return ProposalEffect(rows, seconds.get(True), seconds.get(False))


def _row(key: str, name: str, batch: Batch, found: alignment.Anchoring) -> CriterionAnchoring:
    return CriterionAnchoring(key, name, batch.proposals[key], found.more, found.shown, found.withheld)


def _by_group(rows: Collection[tuple[str, int, int]], group_of: Mapping[str, str]) -> tuple[list[int], list[int]]:
    hits: dict[str, int] = defaultdict(int)
    trials: dict[str, int] = defaultdict(int)
    for sample, hit, tried in rows:
        group = group_of.get(sample, sample)
        hits[group] += hit
        trials[group] += tried
    return list(hits.values()), list(trials.values())


def _still_labels(batch: Batch, reader: Reader) -> bool:
    """Also who may take tasks from its queue."""
    if isinstance(reader, GeneralReader):
        return False
    left = Task.objects.filter(batch=batch, status__in=OPEN_TASK_STATUSES)
    is_open = batch.status in (BatchStatus.OPEN, BatchStatus.PAUSED)
    takes = batch.annotators.filter(pk=reader.pk).exists() and left.filter(annotator__isnull=True).exists()
    return is_open and (takes or left.filter(annotator=reader).exists())
