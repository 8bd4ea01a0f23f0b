"""Who labelled which samples of a criterion, and of which of them something is settled: what tells whether samples came
as they were drawn (annotate.batches.draws_read)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from itertools import chain

from django.db import connection
from django.db.models import Max, Min, Q, QuerySet

from annotate.core.units import of_abstentions, without_abstentions
from annotate.labels.read import is_carried, undecided_labels, votes
from annotate.labels.settled_read import HOLDING, STANDING, Standing
from annotate.models import Criterion, Label, Task, Verdict
from annotate.models.batch import TaskStatus
from annotate.models.label import DECIDED_METHODS

# Of those who labelled a sample, the lowest and the highest key: the same where it was one person.
Raters = tuple[int, int]


class Labelled:
    """Who labelled which samples by a criterion, by the sample's primary key. What several sources ask for is read
    once: each time goes over all labels."""

    def __init__(self, criterion: Criterion) -> None:
        self.criterion = criterion
        # With the conditions, whose ids are the keys.
        self._read: dict[tuple[int, int, int], tuple[Q, Q, dict[int, Raters]]] = {}
        self._every, self._renewed = Q(), Q(task__batch__relabels__isnull=False)
        self._carried = Q(is_carried())
        self._given_here = ~self._carried & ~self._renewed

    @cached_property
    def people(self) -> Mapping[int, Raters]:
        """Of each labelled sample those who labelled it."""
        return self.raters([self._every], self.criterion)

    def raters(self, any_of: Sequence[Q], of: Criterion, *, only: Q | None = None) -> Mapping[int, Raters]:
        """Of each sample with a label of this version that counts and is one of these, those who gave them; one
        statement each, which PostgreSQL joins at once."""
        first, *others = [self._read_raters(one, only or self._every, of) for one in any_of]
        return _merged(first, *others) if others else first

    def _read_raters(self, one: Q, only: Q, of: Criterion) -> dict[int, Raters]:
        key = of.pk, id(one), id(only)
        if key not in self._read:
            labels = votes().filter(one, only, criterion=of)
            found = _by_sample(labels)
            # As `counts_without_abstentions`: no label is asked whether its answer abstains.
            for sample in _by_sample(of_abstentions(labels)):
                del found[sample]
            abstaining = labels.filter(sample__abstained=True)
            found |= _by_sample(without_abstentions(abstaining))
            self._read[key] = one, only, found
        return self._read[key][2]

    def own_raters(self, own: Sequence[Q]) -> Mapping[int, Raters]:
        """The same, of these on this version; and of labels that were carried over from one of these on an earlier
        version, or given anew: they came as the ones before.

        All of those or none: where a change touched some values only, those of the others are left until each sample
        that lost its label was answered again, skipped in that batch or decided by a reviewer.
        """
        criterion = self.criterion
        if criterion.version == 1:
            return self.raters(own, criterion)
        here = self.raters(own, criterion, only=self._given_here)
        versions = Criterion.objects.filter(project=criterion.project_id, key=criterion.key)
        before = _merged(*(self.raters(own, one) for one in versions.filter(version__lt=criterion.version)))
        since = self.raters([self._carried, self._renewed], criterion).keys()
        if before.keys() <= since | _given_up(criterion):
            return _merged(here, {sample: before[sample] for sample in before.keys() & since})
        return here


def _by_sample(labels: QuerySet[Label]) -> dict[int, Raters]:
    sql, given = labels.order_by().values_list("sample").annotate(Min("rater"), Max("rater")).query.sql_with_params()
    with connection.cursor() as cursor:
        # Not by `iterator()`, whose cursor keeps PostgreSQL to one process.
        cursor.execute(sql, given)
        return {sample: (lowest, highest) for sample, lowest, highest in cursor}


def _merged(*parts: Mapping[int, Raters]) -> dict[int, Raters]:
    found: dict[int, Raters] = {}
    for part in parts:
        for sample, raters in part.items():
            before = found.get(sample, raters)
            found[sample] = (min(before[0], raters[0]), max(before[1], raters[1]))
    return found


class Settling:
    """Which samples have something settled, read only where a sample was labelled by one person."""

    def __init__(self, labelled: Labelled) -> None:
        self._labelled = labelled
        verdicts = Verdict.objects.filter(criterion=labelled.criterion).alias(standing=STANDING).order_by()
        self._samples = verdicts.values_list("sample", flat=True).distinct()

    @cached_property
    def _settled(self) -> set[int]:
        several = {sample for sample, (lowest, highest) in self._labelled.people.items() if lowest != highest}
        return several | set(self._samples.filter(standing__in=HOLDING))

    @cached_property
    def _single(self) -> set[int]:
        """Of which something rests on one label that settles nothing."""
        single = set(self._samples.filter(standing=Standing.SINGLE))
        return single | self._labelled.people.keys() - self._settled

    def one_by_one(self, own: Mapping[int, Raters], samples: Collection[int]) -> set[int]:
        """Of these samples those that one person labelled as they came, where some of them wait for a second label or a
        reviewer: which ones get that is chosen. Where none waits there was nothing to choose."""
        alone = {sample for sample in samples if sample in own and own[sample][0] == own[sample][1]}
        return alone if alone and alone & self._single else set()

    def picked(self, own: Mapping[int, Raters], samples: Collection[int]) -> set[int]:
        """Of those the ones that were picked: something of them is settled."""
        alone = self.one_by_one(own, samples)
        return alone & self._settled if alone else alone


def _given_up(criterion: Criterion) -> set[int]:
    """Samples without a label that counts which somebody was asked to label anew, and could not; or a reviewer did."""
    renewing = Task.objects.filter(
        batch__project=criterion.project_id,
        batch__relabels__key=criterion.key,
        batch__relabels__version__lt=criterion.version,
    )
    undecided = undecided_labels().filter(criterion=criterion)
    decided = Verdict.objects.filter(criterion=criterion, method__in=DECIDED_METHODS)
    rows = (renewing.filter(status=TaskStatus.SKIPPED), undecided, decided)
    return set(chain.from_iterable(one.values_list("sample", flat=True) for one in rows))
