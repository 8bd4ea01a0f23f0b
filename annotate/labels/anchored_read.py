"""Which samples people labelled with a judge's proposals before them: the one home of this rule
([decision 46](../../docs/decisions/0046-proposals.md)).

Whoever was shown what a judge says may have followed it. So the samples that a batch showed proposals of, on a
criterion in whichever version, are evidence neither on judges nor on how people agree, by whichever label or verdict:
who labelled one under a proposal may label it again, and who decides about it reads those labels. As ground truth they
stand, with a mark. Samples from which the proposals were withheld count as any other, with the chance of that.

Only where a task was begun: what a batch that ended early never asked, another may ask.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from django.db.models import Exists, Model, OuterRef, QuerySet

from annotate.models import Criterion, ProposedValues, Task
from annotate.models.batch import Purpose, TaskStatus

Row = TypeVar("Row", bound=Model)

# Of `annotate_label l`: the same, for statements by hand. A test holds the two against each other.
ANCHORED = f"""
    EXISTS (SELECT FROM annotate_proposedvalues p
              JOIN annotate_criterion pc ON pc.id = p.criterion_id
              JOIN annotate_criterion lc ON lc.id = l.criterion_id AND lc.key = pc.key
             WHERE p.sample_id = l.sample_id AND p.shown
               AND EXISTS (SELECT FROM annotate_task pt WHERE pt.batch_id = p.batch_id AND pt.sample_id = p.sample_id
                              AND pt.purpose = '{Purpose.LABEL.value}' AND pt.status <> '{TaskStatus.PENDING.value}'))
"""


def _begun() -> QuerySet[ProposedValues]:
    tasks = Task.objects.filter(batch=OuterRef("batch"), sample=OuterRef("sample"), purpose=Purpose.LABEL)
    return ProposedValues.objects.filter(Exists(tasks.exclude(status=TaskStatus.PENDING)))


def _begun_on(criterion: Criterion) -> QuerySet[ProposedValues]:
    return _begun().filter(criterion__project=criterion.project_id, criterion__key=criterion.key)


def is_anchored() -> Exists:
    """Of labels and verdicts."""
    shown = _begun().filter(shown=True, sample=OuterRef("sample"), criterion__key=OuterRef("criterion__key"))
    return Exists(shown)


def anchored_samples(criterion: Criterion) -> QuerySet[ProposedValues, int]:
    """Their primary keys."""
    return _begun_on(criterion).filter(shown=True).values_list("sample", flat=True)


def without_anchored(rows: QuerySet[Row], criterion: Criterion) -> QuerySet[Row]:
    """Of rows of what people said about samples (`sample`) on the criterion those that are evidence."""
    # Not row by row: tables that were just filled, of which the planner knows nothing yet, would be joined so.
    return rows.exclude(sample__in=anchored_samples(criterion))


@dataclass(frozen=True, slots=True)
class Arm:
    """Whether the annotators of a group see proposals. withheld_chance: with what chance they would not, and their
    labels count."""

    shown: bool
    withheld_chance: float


def arms(criterion: Criterion) -> dict[int, Arm]:
    """By the sample's primary key."""
    found: dict[int, Arm] = {}
    rows = _begun_on(criterion).values_list("sample", "shown", "withheld_chance")
    for sample, shown, chance in rows:
        before = found.get(sample, Arm(shown=False, withheld_chance=1.0))
        found[sample] = Arm(before.shown or shown, before.withheld_chance * chance)
    return found
