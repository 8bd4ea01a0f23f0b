"""The rows of an export: verdicts with their sample, streamed from one snapshot in an order that does not change, and
on request with columns for each annotator: what they said about the unit of the row, and when.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from functools import cache, lru_cache
from itertools import groupby, islice, tee
from operator import attrgetter
from typing import Any, NamedTuple

import orjson
from django.db.models import Exists, F, OuterRef, QuerySet, TextField
from django.db.models.functions import Cast
from django.db.models.lookups import IsNull
from django.utils.translation import gettext as _

from annotate.core.errors import Invalid
from annotate.core.units import LISTED_KINDS, unit_sort_key, unit_text, without_abstentions
from annotate.files.corrected import Correction, asks_for_corrections, corrections, with_corrections
from annotate.labels.anchored_read import is_anchored
from annotate.labels.read import answering_labels, latest_of_unit, of_batch, was_after_answer
from annotate.labels.settled_read import STANDING, Standing
from annotate.models import Batch, Criterion, Label, Project, Rater, Sample, Verdict
from annotate.models.label import VerdictMethod, VerdictState
from annotate.models.project import UnitKind
from annotate.projects.read import work_batches

# NAMED: by the name that files of labels know them by. NUMBERED: the reader of the file doesn't learn who they are.
NUMBERED, NAMED = "numbered", "named"
CHOICES = (NUMBERED, NAMED)
# What a row of a file is, if not the verdict on a unit.
SAMPLES, TEXTS = "samples", "texts"
# Of samples: what annotators corrected the answer to stands in the place of the reference.
CORRECTED = "corrected"
_TAKES = {SAMPLES: ("batch", "reference"), TEXTS: ("batch", "criteria", "annotators")}

# Of labels with their task and `after_answer`.
FIELDS: dict[str, Callable[[Any], Any]] = {
    "value": lambda label: label.value,
    "cant_tell": lambda label: label.cant_tell or None,
    "comment": lambda label: label.comment or None,
    "evidence": lambda label: label.evidence or None,
    "active_ms": lambda label: label.active_ms,
    "guideline_version": lambda label: label.guideline_version,
    "after_answer": lambda label: label.after_answer,
    "revision": lambda label: label.revision,
    "saved_at": lambda label: label.updated_at,
    "submitted_at": lambda label: label.task.submitted_at if label.task else None,
}

# sample, then by unit and criterion
SaidOfSample = tuple[int, dict[tuple[str, int], list[Label]]]


@dataclass(frozen=True)
class Annotators:
    """Who gets columns, and what the file calls people. Without arguments: no columns, and people by their names.

    columns: rater id -> name in the file, in the order of the columns. called: a rater's name -> that in the file.
    """

    columns: Mapping[int, str] = field(default_factory=dict)
    called: Mapping[str, str] | None = None

    def name(self, rater: str) -> str:
        return rater if self.called is None else self.called[rater]

    def names(self, raters: Iterable[str]) -> list[str]:
        """Sorted anew: the alphabet says something about who bears a number."""
        if self.called is None:
            return list(raters)
        return sorted((self.called[rater] for rater in raters), key=_number)

    def cells(self, labels: Collection[Label]) -> dict[str, Any]:
        """A row's cells of every annotator; None where one said nothing."""
        found = {label.rater_id: label for label in labels}
        return {
            f"{name}.{what}": read(found[rater]) if rater in found else None
            for rater, name in self.columns.items()
            for what, read in FIELDS.items()
        }


def annotators_of(project: Project, verdicts: QuerySet[Verdict], naming: str | None) -> Annotators:
    """Those who answered a unit of these verdicts. Numbers are the project's own: they stay from one release to the
    next, as raters are never removed."""
    if naming is None:
        return Annotators()
    raters, called = _called(project, naming)
    present = set(_labels(verdicts).values_list("rater_id", flat=True).distinct())
    return Annotators({pk: called[name] for pk, name in raters if pk in present}, called)


def names_only(project: Project, naming: str | None) -> Annotators:
    """Without columns."""
    return Annotators() if naming is None else Annotators(called=_called(project, naming)[1])


def _called(project: Project, naming: str) -> tuple[list[tuple[int, str]], dict[str, str]]:
    raters = list(Rater.objects.filter(project=project).order_by("pk").values_list("pk", "name"))
    return raters, {name: f"annotator_{n}" if naming == NUMBERED else name for n, (_pk, name) in enumerate(raters, 1)}


def said_by_sample(verdicts: QuerySet[Verdict]) -> Iterator[SaidOfSample]:
    """Each sample's answers on the units of these verdicts, one per person: the latest. In the order of sample ids."""
    one = ("sample_id", "criterion_id", "unit", "rater_id")
    # A value before "can't tell", as a verdict counts it.
    order = (*one, IsNull(F("value"), True), "-updated_at", "-id")
    latest = _labels(verdicts).select_related("task").annotate(after_answer=was_after_answer())
    latest = latest.order_by(*order).distinct(*one)
    for sample_id, labels in groupby(latest.iterator(chunk_size=_CHUNK), key=lambda label: label.sample_id):
        said: dict[tuple[str, int], list[Label]] = {}
        for label in labels:
            said.setdefault((label.unit, label.criterion_id), []).append(label)
        yield sample_id, said


def _labels(verdicts: QuerySet[Verdict]) -> QuerySet[Label]:
    of_unit = verdicts.filter(
        sample_id=OuterRef("sample_id"), unit=OuterRef("unit"), criterion_id=OuterRef("criterion_id")
    )
    return answering_labels().filter(Exists(of_unit))


def _number(name: str) -> int:
    digits = name.rpartition("_")[2]
    return int(digits) if digits.isdecimal() else 0


_CHUNK = 500
_NOTHING: SaidOfSample = (0, {})


@dataclass(frozen=True, slots=True)
class Filters:
    """What a release contains. criteria, batch, methods: None means all. Of several versions of a criterion the latest
    speaks that has a verdict on the unit. include_single: also what one label settled and no one looked at
    (annotate.labels.settled_read). annotators: columns per annotator, one of annotators.CHOICES; None: no such
    columns. rows: SAMPLES for the samples as they were imported, with or without verdicts; TEXTS for labels that are
    free text; None: verdicts. reference: of samples, CORRECTED or None: as they were imported."""

    criteria: tuple[str, ...] | None = None
    batch: int | None = None
    methods: tuple[str, ...] | None = None
    include_disputed: bool = False
    include_single: bool = False
    annotators: str | None = None
    rows: str | None = None
    reference: str | None = None

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
        batch, disputed, single = (
            given.get("batch"),
            given.get("include_disputed", False),
            given.get("include_single", False),
        )
        if batch is not None and (isinstance(batch, bool) or not isinstance(batch, int) or not 0 < batch < 2**31):
            raise Invalid("bad_filters", "filters: batch is the number of a batch.")
        if batch is not None and not work_batches(project).filter(number=batch).exists():
            raise Invalid("bad_filters", f"filters: this project has no batch {batch}.")
        if not isinstance(disputed, bool):
            raise Invalid("bad_filters", "filters: include_disputed is true or false.")
        if not isinstance(single, bool):
            raise Invalid("bad_filters", "filters: include_single is true or false.")
        columns = given.get("annotators")
        if columns is not None and columns not in CHOICES:
            raise Invalid("bad_filters", f"filters: annotators is one of {', '.join(CHOICES)}.")
        rows = given.get("rows")
        if rows is not None and (not isinstance(rows, str) or rows not in _TAKES):
            raise Invalid("bad_filters", f"filters: rows is {' or '.join(_TAKES)}.")
        reference = given.get("reference")
        if reference not in (None, CORRECTED):
            raise Invalid("bad_filters", f"filters: reference is {CORRECTED}, or left out.")
        if reference and rows != SAMPLES:
            raise Invalid("bad_filters", f"filters: reference goes with rows {SAMPLES} only.")
        if reference and not asks_for_corrections(project):
            said = _("No criterion of this project asks for a corrected answer.")
            raise Invalid("bad_filters", said)
        takes = _TAKES.get(rows or "", given)
        about_verdicts = sorted(name for name in given if name not in ("rows", *takes) and given[name])
        if about_verdicts:
            said = f"filters: {about_verdicts[0]} is about verdicts; a file of {rows} takes only {', '.join(takes)}."
            raise Invalid("bad_filters", said)
        return cls(
            rows=rows,
            reference=reference,
            criteria=_names(given, "criteria", known_keys),
            batch=batch,
            methods=_names(given, "methods", set(VerdictMethod.values)),
            include_disputed=disputed,
            include_single=single,
            annotators=columns,
        )

    def as_dict(self) -> dict[str, Any]:
        """Only what was asked for, for the manifest."""
        asked = {name: value for name, value in asdict(self).items() if value not in (None, False)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asked.items()}

    def apply(self, project: Project) -> QuerySet[Verdict]:
        # An answer that abstains has no claims, whatever was said of them before.
        return without_abstentions(self.with_abstentions(project))

    def with_abstentions(self, project: Project) -> QuerySet[Verdict]:
        """With claims of answers that abstain now: they may have been in a release before."""
        verdicts = latest_of_unit(Verdict.objects.filter(sample__project=project))
        if not self.include_disputed:
            verdicts = verdicts.filter(state=VerdictState.SETTLED)
        if not self.include_single:
            verdicts = verdicts.alias(standing=STANDING).exclude(standing=Standing.SINGLE)
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


class ExportedVerdict(NamedTuple):
    """What files say of a verdict. decider, approver: names of users. proposal_shown: whether those who labelled saw
    what a judge proposes."""

    criterion: Criterion
    value: Any
    sample_id: int
    unit: str
    state: str
    method: str
    confidence: float | None
    votes: list[dict[str, Any]]
    decided_votes: list[dict[str, Any]] | None
    decider: str | None
    reason: str
    approver: str | None
    approved_at: datetime | None
    updated_at: datetime
    proposal_shown: bool


@dataclass(frozen=True, slots=True)
class ExportedSample:
    """A sample with its verdicts in the order in which a person goes through it.

    said: by unit and criterion id
    the labels of those who get columns. is_corrected: whether the file has columns for what annotators corrected the
    answer to.
    """

    sample: Sample
    verdicts: list[ExportedVerdict]
    said: dict[tuple[str, int], list[Label]] = field(default_factory=dict)
    is_corrected: bool = False
    correction: Correction | None = None

    @property
    def corrected_answer(self) -> dict[str, str | None]:
        """The column of files that name no annotators."""
        if not self.is_corrected:
            return {}
        return {"corrected_answer": None if self.correction is None else self.correction.answer}


# Of samples, what is in the row of every verdict. Their other texts are much longer.
_OF_SAMPLE = (
    "external_id", "question", "answer", "claims_source", "claims_revision", "pipeline_version", "group_key",
    "retrieved_doc_ids", "relevant_doc_ids", "metadata", "abstained", "abstained_source",
)  # fmt: skip
# Read as text, which is faster to make objects of than what the ORM makes them of.
_AS_TEXT = ("value", "votes", "decided_votes", "approved_at", "updated_at")
_COLUMNS = (
    "criterion_id", "value_text", "sample_id", "unit", "state", "method", "confidence", "votes_text",
    "decided_votes_text", "decider", "reason", "approver", "approved_at_text", "updated_at_text", "proposal_shown",
)  # fmt: skip
# A verdict takes less memory than a sample.
_VERDICTS_AT_ONCE = 2_000
_KEPT_TIMES = 1_000


def exported_samples(project: Project, filters: Filters, *, whole: bool = True) -> Iterator[ExportedSample]:
    """Samples that have a verdict within the filters, in the order of their import.

    whole: with all of their texts, not only those of units that have a verdict.
    """
    criteria = Criterion.objects.filter(project=project)
    if filters.criteria is not None:
        criteria = criteria.filter(key__in=filters.criteria)
    by_key = {criterion.pk: criterion for criterion in criteria}
    if whole:
        samples = Sample.objects.defer("content_hash")
    else:
        kinds = {criterion.unit for criterion in by_key.values()}
        samples = Sample.objects.only(*_OF_SAMPLE, *(name for kind, name in LISTED_KINDS.items() if kind in kinds))
    verdicts = _verdicts(filters.apply(project), by_key)
    said = said_by_sample(filters.apply(project)) if filters.annotators else iter(())
    is_corrected = asks_for_corrections(project, filters.criteria)
    corrected = corrections(project, filters.criteria) if is_corrected else iter(())
    found, again = tee(_with_samples(verdicts, samples))
    with_correction = with_corrections((sample for sample, _group in found), corrected)
    sample_id, labels = next(said, _NOTHING)
    for (sample, correction), (_sample, group) in zip(with_correction, again, strict=True):
        answered = sample_id == sample.pk
        said_here = labels if answered else {}
        yield ExportedSample(sample, sorted(group, key=_order), said_here, is_corrected, correction)
        if answered:
            sample_id, labels = next(said, _NOTHING)


def _with_samples(
    verdicts: Iterator[ExportedVerdict], samples: QuerySet[Sample]
) -> Iterator[tuple[Sample, list[ExportedVerdict]]]:
    """Samples are read by their keys, some at a time: asked which have verdicts, PostgreSQL would work it out again."""
    grouped = groupby(verdicts, key=attrgetter("sample_id"))
    while groups := {pk: list(group) for pk, group in islice(grouped, _CHUNK)}:
        there = samples.in_bulk(list(groups))
        yield from ((there[pk], group) for pk, group in groups.items())


def _verdicts(verdicts: QuerySet[Verdict], criteria: Mapping[int, Criterion]) -> Iterator[ExportedVerdict]:
    """In the order of sample ids. criteria: by their keys."""
    # A handful of different values: each spelling is parsed once. Verdicts come by the thousand in one moment.
    value_of, time_of = cache(json.loads), lru_cache(maxsize=_KEPT_TIMES)(datetime.fromisoformat)
    # Only without options can a number be too long for the faster parser, which takes it for a float.
    votes_of = {pk: orjson.loads if criterion.options else json.loads for pk, criterion in criteria.items()}
    rows = (
        verdicts.annotate(
            proposal_shown=is_anchored(),
            decider=F("decided_by__username"),
            approver=F("approved_by__username"),
            **{f"{name}_text": Cast(name, TextField()) for name in _AS_TEXT},
        )
        .order_by("sample_id")
        .values_list(*_COLUMNS)
    )
    for criterion, value, sample, unit, state, method, confidence, votes, decided, *rest in rows.iterator(
        chunk_size=_VERDICTS_AT_ONCE
    ):
        decider, reason, approver, approved_at, updated_at, proposal_shown = rest
        read = votes_of[criterion]
        yield ExportedVerdict(
            criteria[criterion],
            None if value is None else value_of(value),
            sample,
            unit,
            state,
            method,
            confidence,
            read(votes),
            None if decided is None else read(decided),
            decider,
            reason,
            approver,
            None if approved_at is None else time_of(approved_at),
            time_of(updated_at),
            proposal_shown,
        )


def _order(verdict: ExportedVerdict) -> tuple[tuple[int, int], int, str, int]:
    criterion = verdict.criterion
    return unit_sort_key(verdict.unit), criterion.position, criterion.key, criterion.version


def verdict_row(
    exported: ExportedSample, verdict: ExportedVerdict, annotators: Annotators, of_sample: Mapping[str, Any]
) -> dict[str, Any]:
    """One row per unit and criterion. `labels`: the label revisions that the verdict rests on; of a reopened one, those
    that it was decided on. `proposal_shown`: whether those who gave them saw what a judge proposes. `claims_…`: where a
    claim comes from. Then what all rows of the sample have, and the columns of the annotators, if asked for."""
    # CSV and Parquet files have their columns in this order.
    sample, criterion, votes = exported.sample, verdict.criterion, verdict.votes
    is_claim = criterion.unit == UnitKind.CLAIM
    row = {
        "sample_id": sample.external_id,
        "unit": verdict.unit,
        "unit_text": unit_text(sample, verdict.unit),
        "criterion": criterion.key,
        "criterion_version": criterion.version,
        "state": verdict.state,
        "value": verdict.value,
        "method": verdict.method or None,
        "confidence": verdict.confidence,
        "votes": [{"rater": annotators.name(vote["rater"]), "value": vote["value"]} for vote in votes],
        "decided_by": verdict.decider,
        "reason": verdict.reason,
        "approved_by": verdict.approver,
        "approved_at": verdict.approved_at,
        "proposal_shown": verdict.proposal_shown,
        "labels": [
            {"label": vote["label"], "revision": vote["revision"]}
            for vote in (votes if verdict.decided_votes is None else verdict.decided_votes)
        ],
        "updated_at": verdict.updated_at,
        "claims_source": sample.claims_source if is_claim else None,
        "claims_revision": sample.claims_revision if is_claim else None,
        **of_sample,
    }
    if annotators.columns:
        row |= annotators.cells(exported.said.get((verdict.unit, criterion.pk), []))
    return row


def _of_sample(exported: ExportedSample, annotators: Annotators) -> dict[str, Any]:
    sample = exported.sample
    return {
        "pipeline_version": sample.pipeline_version or None,
        "group_key": sample.group_key or None,
        "retrieved_doc_ids": sample.retrieved_doc_ids,
        "relevant_doc_ids": sample.relevant_doc_ids,
        "metadata": sample.metadata,
        "abstained": sample.abstained,
        "abstained_source": sample.abstained_source or None,
        **_corrected(exported, annotators),
    }


def _corrected(exported: ExportedSample, annotators: Annotators) -> dict[str, Any]:
    if not exported.is_corrected:
        return {}
    found = exported.correction
    by = annotators.name(found.rater) if found else None
    return {**exported.corrected_answer, "corrected_by": by, "corrected_at": found and found.at}


def verdict_rows(samples: Iterable[ExportedSample], annotators: Annotators) -> Iterator[dict[str, Any]]:
    for exported in samples:
        of_sample = _of_sample(exported, annotators)
        for verdict in exported.verdicts:
            yield verdict_row(exported, verdict, annotators, of_sample)
