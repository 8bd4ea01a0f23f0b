"""Verdicts with their sample, streamed from one snapshot in an order that does not change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from itertools import groupby
from typing import Any

from django.db import connection, transaction
from django.db.models import QuerySet

from annotate.errors import Invalid
from annotate.exporting.annotators import CHOICES, Annotators, SaidOfSample, said_by_sample
from annotate.models import Batch, Criterion, Label, Project, Sample, Verdict
from annotate.models.project import UnitKind
from annotate.models.verdict import VerdictMethod, VerdictState
from annotate.selectors.of_batch import of_batch
from annotate.selectors.versions import latest_of_unit
from annotate.units import unit_sort_key, unit_text

_CHUNK = 500
_NOTHING: SaidOfSample = (0, {})


@dataclass(frozen=True, slots=True)
class Filters:
    """What a release contains. criteria, batch, methods: None means all. Of several versions of a criterion the latest
    speaks that has a verdict on the unit. annotators: columns per annotator, one of annotators.CHOICES; None: no such
    columns."""

    criteria: tuple[str, ...] | None = None
    batch: int | None = None
    methods: tuple[str, ...] | None = None
    include_disputed: bool = False
    annotators: str | None = None

    @classmethod
    def read(cls, given: object, project: Project) -> Filters:
        """From JSON. Raises Invalid for what is unknown, so that a misspelled filter never exports everything."""
        if not isinstance(given, dict):
            raise Invalid("bad_filters", "filters: a JSON object.")
        unknown = sorted(set(given) - {one.name for one in fields(cls)})
        if unknown:
            raise Invalid(
                "bad_filters",
                f"filters: “{unknown[0][:60]}” is unknown; there are {', '.join(one.name for one in fields(cls))}.",
            )
        known_keys = set(Criterion.objects.filter(project=project).values_list("key", flat=True))
        batch, disputed = given.get("batch"), given.get("include_disputed", False)
        if batch is not None and (isinstance(batch, bool) or not isinstance(batch, int) or not 0 < batch < 2**31):
            raise Invalid("bad_filters", "filters: batch is the number of a batch.")
        if batch is not None and not Batch.objects.filter(project=project, number=batch).exists():
            raise Invalid("bad_filters", f"filters: this project has no batch {batch}.")
        if not isinstance(disputed, bool):
            raise Invalid("bad_filters", "filters: include_disputed is true or false.")
        columns = given.get("annotators")
        if columns is not None and columns not in CHOICES:
            raise Invalid("bad_filters", f"filters: annotators is one of {', '.join(CHOICES)}.")
        return cls(
            criteria=_names(given, "criteria", known_keys),
            batch=batch,
            methods=_names(given, "methods", set(VerdictMethod.values)),
            include_disputed=disputed,
            annotators=columns,
        )

    def as_dict(self) -> dict[str, Any]:
        """Only what was asked for, for the manifest."""
        shown: dict[str, Any] = {}
        if self.criteria is not None:
            shown["criteria"] = list(self.criteria)
        if self.batch is not None:
            shown["batch"] = self.batch
        if self.methods is not None:
            shown["methods"] = list(self.methods)
        if self.include_disputed:
            shown["include_disputed"] = True
        if self.annotators is not None:
            shown["annotators"] = self.annotators
        return shown

    def apply(self, project: Project) -> QuerySet[Verdict]:
        verdicts = latest_of_unit(Verdict.objects.filter(sample__project=project))
        if not self.include_disputed:
            verdicts = verdicts.filter(state=VerdictState.SETTLED)
        if self.criteria is not None:
            verdicts = verdicts.filter(criterion__key__in=self.criteria)
        if self.batch is not None:
            verdicts = of_batch(verdicts, Batch.objects.get(project=project, number=self.batch))
        if self.methods is not None:
            verdicts = verdicts.filter(method__in=self.methods)
        return verdicts


def _names(given: dict[str, Any], field: str, known: set[str]) -> tuple[str, ...] | None:
    names = given.get(field)
    if names is None:
        return None
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise Invalid("bad_filters", f"filters: {field} is a list of names.")
    for name in names:
        if name not in known:
            raise Invalid("bad_filters", f"filters: {field} has “{name[:60]}”; there are {', '.join(sorted(known))}.")
    return tuple(sorted(set(names)))


@contextmanager
def snapshot() -> Iterator[None]:
    """Everything read inside is of one moment, whatever others write. A caller's transaction keeps its isolation."""
    if connection.in_atomic_block:
        yield
        return
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


@dataclass(frozen=True, slots=True)
class ExportedSample:
    """A sample with its verdicts in the order in which a person goes through it.

    said: by unit and criterion id the labels of those who get columns.
    """

    sample: Sample
    verdicts: list[Verdict]
    said: dict[tuple[str, int], list[Label]] = field(default_factory=dict)


def exported_samples(project: Project, filters: Filters) -> Iterator[ExportedSample]:
    """Samples that have a verdict within the filters, in the order of their import."""
    verdicts = (
        filters.apply(project)
        .select_related("criterion", "decided_by", "approved_by")
        .order_by("sample_id")
        .iterator(chunk_size=_CHUNK)
    )
    samples = (
        Sample.objects.filter(project=project, pk__in=filters.apply(project).values("sample_id"))
        .defer("metadata", "content_hash")
        .order_by("pk")
        .iterator(chunk_size=_CHUNK)
    )
    grouped = groupby(verdicts, key=lambda verdict: verdict.sample_id)
    said = said_by_sample(filters.apply(project)) if filters.annotators else iter(())
    sample_id, labels = next(said, _NOTHING)
    for sample, (_, group) in zip(samples, grouped, strict=True):
        answered = sample_id == sample.pk
        yield ExportedSample(sample, sorted(group, key=_order), labels if answered else {})
        if answered:
            sample_id, labels = next(said, _NOTHING)


def _order(verdict: Verdict) -> tuple[tuple[int, int], int, str, int]:
    criterion = verdict.criterion
    return unit_sort_key(verdict.unit), criterion.position, criterion.key, criterion.version


COLUMNS = (
    "sample_id",
    "unit",
    "unit_text",
    "criterion",
    "criterion_version",
    "state",
    "value",
    "method",
    "confidence",
    "votes",
    "decided_by",
    "reason",
    "approved_by",
    "approved_at",
    "labels",
    "updated_at",
    "claims_source",
    "claims_revision",
)


def verdict_row(exported: ExportedSample, verdict: Verdict, annotators: Annotators) -> dict[str, Any]:
    """One row per unit and criterion. `labels`: the label revisions that the verdict rests on; of a reopened one, those
    that it was decided on. `claims_…`: where a claim comes from. Then the columns of the annotators, if asked for."""
    sample = exported.sample
    is_claim = verdict.criterion.unit == UnitKind.CLAIM
    rests_on = verdict.votes if verdict.decided_votes is None else verdict.decided_votes
    return {
        "sample_id": sample.external_id,
        "unit": verdict.unit,
        "unit_text": unit_text(sample, verdict.unit),
        "criterion": verdict.criterion.key,
        "criterion_version": verdict.criterion.version,
        "state": verdict.state,
        "value": verdict.value,
        "method": verdict.method or None,
        "confidence": verdict.confidence,
        "votes": [{"rater": annotators.name(vote["rater"]), "value": vote["value"]} for vote in verdict.votes],
        "decided_by": verdict.decided_by.username if verdict.decided_by else None,
        "reason": verdict.reason,
        "approved_by": verdict.approved_by.username if verdict.approved_by else None,
        "approved_at": verdict.approved_at,
        "labels": [{"label": vote["label"], "revision": vote["revision"]} for vote in rests_on],
        "updated_at": verdict.updated_at,
        "claims_source": sample.claims_source if is_claim else None,
        "claims_revision": sample.claims_revision if is_claim else None,
        **annotators.cells(exported.said.get((verdict.unit, verdict.criterion_id), [])),
    }


def verdict_rows(samples: Iterable[ExportedSample], annotators: Annotators) -> Iterator[dict[str, Any]]:
    for exported in samples:
        for verdict in exported.verdicts:
            yield verdict_row(exported, verdict, annotators)
