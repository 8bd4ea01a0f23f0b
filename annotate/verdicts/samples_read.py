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
from annotate.core.walking import Counted, Walked, count, walk
from annotate.labels.read import answering_labels, latest_of_unit
from annotate.models import Criterion, Label, Project, Sample, Task, Verdict
from annotate.models.batch import OPEN_TASK_STATUSES, RUNNING_BATCH_STATUSES, Purpose
from annotate.models.label import VerdictState
from annotate.projects.guidelines_read import newest_version
from annotate.samples.stretches_read import MOST_DIGITS, stretch_end, stretch_within


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


# In these an index leads to the rows after any other: "-" before one turns the whole of it round.
_KEYS = {"added": "id", "id": "external_id", "pipeline": "pipeline_version, id"}
WALKED = tuple(f"{turn}{name}" for name in _KEYS for turn in ("", "-"))


def samples_wanted(
    project: Project, wanted: Wanted, *, reader: Reader, within: tuple[int, int] | None = None
) -> QuerySet[Sample]:
    """within: only samples after the first of these primary keys, up to the second."""
    samples = _of_themselves(Sample.objects.filter(project=project), wanted)
    if within is not None:
        samples = samples.filter(pk__gt=within[0], pk__lte=within[1])
    said = _Said(project, wanted.criterion, reader, within=within)
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
    """What people said on one criterion, or on all of a project; key "": all. samples: only of these; within: only of
    samples after the first of these primary keys, up to the second."""

    project: Project
    key: str
    reader: Reader
    samples: Collection[int] | None = None
    within: tuple[int, int] | None = None

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
        if self.samples is not None:
            rows = rows.filter(sample__in=self.samples)
        # Said of these rows as well: PostgreSQL doesn't carry a range over from the samples.
        return rows if self.within is None else rows.filter(sample__gt=self.within[0], sample__lte=self.within[1])

    def _not_to_label(self, samples: QuerySet[Sample]) -> QuerySet[Sample]:
        return samples_not_to_label(samples, reader=self.reader, within=self.within)

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
            return samples_not_to_label(
                samples.filter(pk__in=unresolved.values("sample")), reader=self.reader, within=self.within
            )
        if status == Status.RESOLVED:
            # All in one pass over the verdicts.
            of_sample = self.verdicts().order_by().values("sample")
            resolved = of_sample.annotate(every=BoolAnd(Q(state=VerdictState.SETTLED))).filter(every=True)
            found = samples.filter(pk__in=resolved.values("sample")).exclude(pk__in=ahead)
            return self._not_to_label(found)
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
        return self._not_to_label(found)

    def under_older_guidelines(self, samples: QuerySet[Sample]) -> QuerySet[Sample]:
        """Where someone's label names a version of before, and they gave none since under the one of now. A label
        without a version says nothing."""
        newest = newest_version(self.project)
        answers = answering_labels().filter(criterion__project=self.project)
        answers = self._of_these(answers.filter(criterion__key=self.key) if self.key else answers)
        own = {name: OuterRef(name) for name in ("sample", "unit", "rater", "criterion")}
        again = answering_labels().filter(**own, guideline_version=newest.number if newest else 0)
        older = answers.filter(guideline_version__lt=newest.number if newest else 0).exclude(Exists(again))
        return samples_not_to_label(
            samples.filter(pk__in=older.values("sample")), reader=self.reader, within=self.within
        )

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
    else:
        keys = _KEYS.get(name, _KEYS["added"]).split(", ")
        return samples.order_by(*(f"-{key}" if descending else key for key in keys))
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
    """Those wanted, as rows: a slice of it is a list. Seven queries, whatever it holds.

    Where `is_walked`, its order has an index, and a page is read from where the one before ended: `after`.
    """

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
        return self._rows(samples_wanted(self.project, self.wanted, reader=self.reader)[part])

    @property
    def is_walked(self) -> bool:
        return self.wanted.sort in ("", *WALKED)

    def cursor(self, row: Listed) -> str:
        return str(row.sample.pk)

    def position(self, cursor: str) -> Sample | None:
        """None: the project has no such sample."""
        if not (cursor.isascii() and cursor.isdecimal() and len(cursor) <= MOST_DIGITS):
            return None
        columns = ("external_id", "pipeline_version")
        return Sample.objects.filter(project=self.project, pk=int(cursor)).only(*columns).first()

    def after(self, at: Sample | None, wanted: int, *, backwards: bool = False) -> Walked[Listed]:
        """Those that follow this sample, or come before it, the nearest first; None: from the beginning, or the end."""
        sort = self.wanted.sort or "added"
        name, descends = sort.removeprefix("-"), sort.startswith("-") != backwards
        if name != "added":
            found = _sorted(
                samples_wanted(self.project, self.wanted, reader=self.reader),
                f"{'-' if descends else ''}{name}",
                self._said,
            )
            if at is not None:
                columns = ", ".join(f"annotate_sample.{key}" for key in _KEYS[name].split(", "))
                values = [getattr(at, key) for key in _KEYS[name].split(", ")]
                places = ", ".join(["%s"] * len(values))
                found = found.extra(  # noqa: S610 - columns of ours
                    where=[f"({columns}) {'<' if descends else '>'} ({places})"], params=values
                )
            return Walked(self._rows(found[:wanted]))

        walked = walk(
            None if at is None else at.pk,
            lambda start: self._end(start, descends),
            lambda start, end, most: list(
                self._stretch(start, end, descends)
                .order_by("-id" if descends else "id")
                .values_list("pk", flat=True)[:most]
            ),
            wanted,
        )
        return Walked(self._rows(walked.rows), walked.reached)

    def counted(self) -> Counted:
        """Up to a limit of number and time."""
        return count(
            lambda start: self._end(start, descends=False),
            lambda start, end, most: self._stretch(start, end, descends=False).order_by()[:most].count(),
        )

    @property
    def _said(self) -> _Said:
        return _Said(self.project, self.wanted.criterion, self.reader)

    def _end(self, start: int | None, descends: bool) -> int | None:
        """The primary key of the sample with which a stretch ends; None: the project's last stretch."""
        return stretch_end(self.project, start, descends=descends)

    def _stretch(self, start: int | None, end: int | None, descends: bool) -> QuerySet[Sample]:
        within = stretch_within(start, end, descends=descends)
        return samples_wanted(self.project, self.wanted, reader=self.reader, within=within)

    def _rows(self, found: QuerySet[Sample] | list[int]) -> list[Listed]:
        # The long columns of those shown only: first which they are.
        order = found if isinstance(found, list) else list(found.values_list("pk", flat=True))
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
