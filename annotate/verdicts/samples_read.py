"""The list of samples: chosen by what they hold and by what people said about them, and in which order.

What people said of a sample that the reader still has to label decides nothing here: such a sample is in no list that
is chosen by disagreement or disputes, and sorts as one of which nothing was said.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from django.contrib.postgres.aggregates import BoolAnd
from django.db import models
from django.db.models import (
    Exists,
    F,
    FloatField,
    Func,
    IntegerField,
    Max,
    Min,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
)
from django.db.models.expressions import OrderBy
from django.utils.translation import gettext_lazy as _

from annotate.core.blindness import Reader, samples_not_to_label, without_held_back
from annotate.core.rows import Row
from annotate.core.units import UnitCount, asks_any, without_abstentions
from annotate.labels.read import answering_labels, latest_of_unit
from annotate.models import Criterion, Label, Project, Sample, Task, Verdict
from annotate.models.batch import OPEN_TASK_STATUSES, RUNNING_BATCH_STATUSES, Purpose
from annotate.models.label import VerdictState
from annotate.projects.guidelines_read import newest_version


class Status(models.TextChoices):
    """How far a sample is. It can be being labelled and disputed at once."""

    UNLABELLED = "unlabelled", _("Not labelled")
    LABELLING = "labelling", _("Being labelled")
    DISPUTED = "disputed", _("Disputed")
    # Something is, and nothing is left to label or to decide.
    RESOLVED = "resolved", _("Resolved")


class Agreement(models.TextChoices):
    """Of units with at least two labels."""

    DISAGREE = "disagree", _("Annotators disagree")
    AGREE = "agree", _("Annotators agree")


# By the name in the address; "-" before it turns the order round.
SORTS = ("added", "id", "pipeline", "claims", "contexts", "agreement")


@dataclass(frozen=True)
class Wanted:
    """Which samples, and in which order. Nothing given: all, as they were imported.

    criterion: a key; status and agreement are then of this criterion alone, and without them it is samples of which it
    asks something. outdated: someone’s latest label was made under older guidelines than those of now. metadata: key ->
    value as text. among: only these primary keys. sort: as SORTS.
    """

    words: str = ""
    pipeline: str = ""
    abstained: bool | None = None
    status: str = ""
    criterion: str = ""
    agreement: str = ""
    outdated: bool = False
    metadata: Mapping[str, str] = field(default_factory=dict)
    among: Collection[int] | None = None
    sort: str = ""


def samples_wanted(project: Project, wanted: Wanted, *, reader: Reader) -> QuerySet[Sample]:
    samples = _of_themselves(Sample.objects.filter(project=project), wanted)
    said = _Said(project, wanted.criterion, reader)
    if wanted.status:
        samples = said.having(samples, wanted.status)
    if wanted.agreement:
        samples = said.agreeing(samples, wanted.agreement)
    if wanted.outdated:
        samples = said.under_older_guidelines(samples)
    if wanted.criterion and not (wanted.status or wanted.agreement or wanted.outdated):
        samples = said.asked(samples)
    return _sorted(samples, wanted.sort, said)


def _of_themselves(samples: QuerySet[Sample], wanted: Wanted) -> QuerySet[Sample]:
    words = wanted.words
    if words:
        samples = samples.filter(
            Q(external_id__icontains=words) | Q(question__icontains=words) | Q(answer__icontains=words)
        )
    if wanted.abstained is not None:
        samples = samples.filter(abstained=wanted.abstained)
    if wanted.pipeline:
        samples = samples.filter(pipeline_version=wanted.pipeline)
    for key, value in wanted.metadata.items():
        if key == "pipeline_version":
            samples = samples.filter(pipeline_version=value)
        else:
            samples = samples.extra(where=["annotate_sample.metadata ->> %s::text = %s"], params=[key, value])
    if wanted.among is not None:
        samples = samples.extra(where=["annotate_sample.id = ANY(%s)"], params=[list(wanted.among)])
    return samples


@dataclass(frozen=True)
class _Said:
    """What people said on one criterion, or on all of a project; key "": all. samples: only of these."""

    project: Project
    key: str
    reader: Reader
    samples: Collection[int] | None = None

    @cached_property
    def _versions(self) -> dict[int, bool]:
        """Of each version of the criteria, by primary key, whether it is the current one. In a list: by a condition on
        the criterion PostgreSQL expects few rows, and looks them up one by one."""
        versions = Criterion.objects.filter(project=self.project).order_by()
        found = versions.filter(key=self.key) if self.key else versions
        return dict(found.values_list("pk", "is_current"))

    def verdicts(self) -> QuerySet[Verdict]:
        found = Verdict.objects.filter(criterion__in=list(self._versions))
        return self._of_these(latest_of_unit(without_abstentions(found)))

    def _answers(self) -> QuerySet[Label]:
        current = [pk for pk, is_current in self._versions.items() if is_current]
        return self._of_these(answering_labels().filter(criterion__in=current))

    def _of_these(self, rows: QuerySet[Row]) -> QuerySet[Row]:
        return rows if self.samples is None else rows.filter(sample__in=self.samples)

    def _open_tasks(self) -> QuerySet[Task]:
        running = Task.objects.filter(
            batch__project=self.project,
            batch__status__in=RUNNING_BATCH_STATUSES,
            status__in=OPEN_TASK_STATUSES,
            purpose=Purpose.LABEL,
        )
        return self._of_these(running.filter(batch__criteria__key=self.key) if self.key else running)

    def having(self, samples: QuerySet[Sample], status: str) -> QuerySet[Sample]:
        ahead = self._open_tasks().values("sample")
        if status == Status.LABELLING:
            return samples.filter(pk__in=ahead)
        if status == Status.DISPUTED:
            unresolved = self.verdicts().exclude(state=VerdictState.SETTLED)
            return samples_not_to_label(samples.filter(pk__in=unresolved.values("sample")), reader=self.reader)
        if status == Status.RESOLVED:
            # All in one pass over the verdicts.
            of_sample = self.verdicts().order_by().values("sample")
            resolved = of_sample.annotate(every=BoolAnd(Q(state=VerdictState.SETTLED))).filter(every=True)
            found = samples.filter(pk__in=resolved.values("sample")).exclude(pk__in=ahead)
            return samples_not_to_label(found, reader=self.reader)
        samples = self.asked(samples) if self.key else samples
        return samples.exclude(Exists(self._answers().filter(sample=OuterRef("pk")))).exclude(pk__in=ahead)

    def agreeing(self, samples: QuerySet[Sample], agreement: str) -> QuerySet[Sample]:
        if agreement == Agreement.DISAGREE:
            found = samples.filter(pk__in=self.verdicts().filter(agreement__lt=1).values("sample"))
        else:
            # As above. Units without votes have no agreement.
            votes = Func("votes", function="jsonb_array_length", output_field=IntegerField())
            of_sample = self.verdicts().order_by().values("sample")
            together = of_sample.annotate(least=Min("agreement"), most=Max(votes)).filter(least=1, most__gt=1)
            found = samples.filter(pk__in=together.values("sample"))
        return samples_not_to_label(found, reader=self.reader)

    def under_older_guidelines(self, samples: QuerySet[Sample]) -> QuerySet[Sample]:
        """Where someone's label names a version of before, and they gave none since under the one of now. A label
        without a version says nothing."""
        newest = newest_version(self.project)
        answers = answering_labels().filter(criterion__project=self.project)
        answers = answers.filter(criterion__key=self.key) if self.key else answers
        own = {name: OuterRef(name) for name in ("sample", "unit", "rater", "criterion")}
        again = answering_labels().filter(**own, guideline_version=newest.number if newest else 0)
        older = answers.filter(guideline_version__lt=newest.number if newest else 0).exclude(Exists(again))
        return samples_not_to_label(samples.filter(pk__in=older.values("sample")), reader=self.reader)

    def asked(self, samples: QuerySet[Sample]) -> QuerySet[Sample]:
        criterion = Criterion.objects.filter(project=self.project, key=self.key, is_current=True).first()
        return samples.none() if criterion is None else samples.filter(asks_any(criterion))

    def lowest(self) -> Subquery:
        """Of rows of samples: the least share of labels on the most frequent value of a unit."""
        of_sample = without_held_back(self.verdicts().filter(sample=OuterRef("pk")), reader=self.reader)
        least = of_sample.order_by().values("sample").annotate(least=Min("agreement")).values("least")
        return Subquery(least, output_field=FloatField())


def _sorted(samples: QuerySet[Sample], sort: str, said: _Said) -> QuerySet[Sample]:
    name, descending = sort.removeprefix("-"), sort.startswith("-")
    if name == "agreement":
        by: OrderBy = OrderBy(said.lowest(), descending=descending, nulls_last=True)
    elif name in ("claims", "contexts"):
        by = OrderBy(UnitCount(name.removesuffix("s")), descending=descending)
    elif name in ("id", "pipeline"):
        by = OrderBy(F({"id": "external_id", "pipeline": "pipeline_version"}[name]), descending=descending)
    else:
        return samples.order_by("-id" if descending else "id")
    return samples.order_by(by, "id")


@dataclass(frozen=True, slots=True)
class Listed:
    """A sample as a row, without its long texts. statuses: in their order; none for one that nothing can be said of.
    agreement: the lowest of its units; None without labels, or while the reader still has to label it."""

    sample: Sample
    claims: int
    contexts: int
    statuses: list[Status]
    agreement: float | None

    @property
    def percent(self) -> int:
        return round(100 * (self.agreement or 0))


@dataclass(frozen=True)
class Samples:
    """Those wanted, as rows: a slice of it is a list. Seven queries, whatever it holds."""

    project: Project
    wanted: Wanted
    reader: Reader = field(kw_only=True)

    def count(self) -> int:
        return samples_wanted(self.project, self.wanted, reader=self.reader).order_by().count()

    def keys(self) -> list[int]:
        """Primary keys of all, in import order."""
        found = samples_wanted(self.project, self.wanted, reader=self.reader)
        return list(found.order_by("id").values_list("pk", flat=True))

    def __getitem__(self, part: slice) -> list[Listed]:
        # The long columns of those shown only: first which they are.
        order = list(samples_wanted(self.project, self.wanted, reader=self.reader).values_list("pk", flat=True)[part])
        said = _Said(self.project, self.wanted.criterion, self.reader, order)
        these = Sample.objects.filter(pk__in=order)
        of_status = {status: set(said.having(these, status).values_list("pk", flat=True)) for status in Status}
        rows = {
            sample.pk: sample
            for sample in these.annotate(
                claim_count=UnitCount("claim"), context_count=UnitCount("context"), lowest=said.lowest()
            ).only("id", "external_id", "question", "pipeline_version", "abstained", "composed")
        }
        return [
            Listed(
                row,
                row.claim_count,
                row.context_count,
                [status for status in Status if pk in of_status[status]],
                row.lowest,
            )
            for pk in order
            if (row := rows.get(pk)) is not None
        ]
