"""What rows of labels and scores refer to: samples by their id in the file, the units that these have, and raters by
the name that the file gives them. A name that is a member's username means that member.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from sys import intern
from typing import Any

from django.db.models import F, Func, IntegerField

from annotate.core.units import LISTED_KINDS, OF_ANSWER, answers_asked, is_dropped, parse_unit
from annotate.files.cells import wrong_type
from annotate.files.fields import IGNORE, Fields
from annotate.files.import_engine import Importing
from annotate.files.problems import Attempts, RowError
from annotate.models import Criterion, DeletedAccount, Membership, Project, Rater, Sample
from annotate.models.sample import ClaimsSource

# Small, as every sample of a file may be in it.
_KEPT_SAMPLES = 100_000
_MAX_LAYOUTS = 1000


@dataclass(frozen=True, slots=True)
class KnownSample:
    pk: int
    claims_source: str
    # How many of each kind were ever listed: of the indices below, those in `dropped_claims` are no units any more.
    counts: Mapping[str, int]
    answers: int = 1
    dropped_claims: frozenset[int] = frozenset()


# Most samples of a file have as many units as others.
@lru_cache(maxsize=_MAX_LAYOUTS)
def _counted(*numbers: int) -> Mapping[str, int]:
    return dict(zip(LISTED_KINDS, numbers, strict=True))


class SampleLookup:
    """Samples of a project by external id, fetched once per chunk."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._known: dict[str, KnownSample] = {}

    def load(self, external_ids: Iterable[str]) -> None:
        if len(self._known) > _KEPT_SAMPLES:
            self._known.clear()
        missing = [external_id for external_id in set(external_ids) if external_id not in self._known]
        if not missing:
            return
        counts = {
            f"{kind}_count": Func(F(name), function="jsonb_array_length", output_field=IntegerField())
            for kind, name in LISTED_KINDS.items()
        }
        rows = Sample.objects.filter(project=self._project, external_id__in=missing).order_by().annotate(**counts)
        columns = ("external_id", "pk", "claims_source", "answers", *counts)
        rows = rows.annotate(answers=Func("answer", "answer_b", function="num_nonnulls", output_field=IntegerField()))
        found = {external_id: known for external_id, *known in rows.values_list(*columns)}
        dropped = self._dropped([pk for pk, source, *_ in found.values() if source == ClaimsSource.EDITED])
        for external_id, (pk, source, answers, *numbers) in found.items():
            self._known[external_id] = KnownSample(
                pk, intern(source), _counted(*numbers), answers, dropped.get(pk, frozenset())
            )

    @staticmethod
    def _dropped(pks: Collection[int]) -> dict[int, frozenset[int]]:
        """Only where people edited: most files are about samples whose claims were never edited."""
        if not pks:
            return {}
        return {
            pk: frozenset(index for index, claim in enumerate(claims) if is_dropped(claim))
            for pk, claims in Sample.objects.filter(pk__in=pks).order_by().values_list("pk", "claims")
        }

    def get(self, external_id: str, field: str) -> KnownSample:
        sample = self._known.get(external_id)
        if sample is None:
            raise RowError(
                "unknown_sample",
                f"The project has no sample “{external_id[:80]}”; import the samples first.",
                field=field,
                excerpt=external_id,
            )
        return sample


class Cells:
    """The fields of a row, by what we call them."""

    __slots__ = ("_column", "_value")

    def __init__(self, column: dict[str, str], row: Mapping[str, Any]) -> None:
        self._column = column
        self._value = {name: row[column] for name, column in column.items()}

    def __contains__(self, name: str) -> bool:
        return name in self._column

    def get(self, name: str) -> Any:
        return self._value.get(name)

    def column(self, name: str) -> str:
        """What the file calls it, for errors."""
        return self._column.get(name, name)


class CellReader:
    """Finds the fields in rows; where they are is worked out once for rows that have the same columns."""

    def __init__(self, fields: Fields, mapping: Mapping[str, str]) -> None:
        # Hostile files give every row other keys, so not all of them are kept.
        @lru_cache(maxsize=_MAX_LAYOUTS)
        def column_of(names: tuple[str, ...]) -> dict[str, str]:
            resolved = fields.resolve(names, mapping).items()
            return {name: column for column, name in resolved if name != IGNORE}

        self._column_of = column_of

    def read(self, row: Mapping[str, Any]) -> Cells:
        return Cells(self._column_of(tuple(row)), row)


@dataclass(slots=True)
class RefusedRow:
    """A row in which a field is wrong. Its sample is looked for all the same, once those of the chunk are known."""

    number: int
    line: int | None
    first: RowError
    external_id: str | None = None
    attempt: Attempts = field(default_factory=Attempts)

    def refuse(self, samples: SampleLookup, importing: Importing) -> None:
        if self.external_id is not None:
            self.attempt(samples.get, self.external_id, "sample_id")
        importing.refuse(self.attempt.errors or [self.first], self.number, self.line)


def read_unit(value: object, field: str) -> tuple[str, str, int | None]:
    """(address, kind, index)"""
    if not isinstance(value, str):
        raise wrong_type(field, "a unit such as answer or claim:0", value)
    try:
        return (value, *parse_unit(value))
    except ValueError as error:
        raise RowError("unknown_unit", f"{error}.", field=field, excerpt=value) from None


def require_answers(criterion: Criterion, sample: KnownSample) -> None:
    """A row says something about as many answers as the criterion asks about."""
    if sample.answers >= (asked := answers_asked(criterion.key, criterion.unit)):
        return
    said = "is about the answer, and the sample has none" if asked == 1 else "compares two answers; the sample has not"
    raise RowError("no_answer", f"“{criterion.key}” {said}.", field="criterion", excerpt=criterion.key)


def require_unit(sample: KnownSample, unit: str, kind: str, index: int | None) -> None:
    if kind in OF_ANSWER and not sample.answers:
        raise RowError("no_answer", f"The sample has no answer, and so no {unit}.", field="unit", excerpt=unit)
    if index is not None and index >= sample.counts[kind]:
        raise no_such_unit(unit, kind, sample.counts[kind], "unit")
    if kind == "claim" and index in sample.dropped_claims:
        raise RowError(
            "dropped_claim",
            f"A reviewer dropped {unit} of this sample when the claims were edited; take the row out.",
            field="unit",
            excerpt=unit,
        )


def no_such_unit(unit: str, kind: str, count: int, field: str) -> RowError:
    has = f"it has {count}, counted from 0" if count else "it has none"
    return RowError("unknown_unit", f"The sample has no {unit}: of the kind {kind} {has}.", field=field, excerpt=unit)


def current_criteria(project: Project) -> dict[str, Criterion]:
    return {criterion.key: criterion for criterion in Criterion.objects.filter(project=project, is_current=True)}


def sample_texts(pks: Iterable[int]) -> dict[int, dict[str, Any]]:
    """The words of samples and of their units, for rows that quote them."""
    fields = ("pk", "question", "answer", *LISTED_KINDS.values())
    return {row["pk"]: row for row in Sample.objects.filter(pk__in=set(pks)).order_by().values(*fields)}


class RaterLookup:
    def __init__(self, project: Project) -> None:
        self._project = project
        self._ids = dict(Rater.objects.filter(project=project).values_list("name", "pk"))
        self._members = dict(Membership.objects.filter(project=project).values_list("user__username", "user_id"))
        self._rater_of_user = dict(
            Rater.objects.filter(project=project, user__isnull=False).values_list("user_id", "pk")
        )
        former = DeletedAccount.objects.filter(user__raters__project=project).values_list("user_id", "former")
        self._deleted = {one: user_id for user_id, digests in former for one in digests}
        self.created = 0

    def id_of(self, name: str) -> int:
        """The rater of that name, also of before their account was deleted; made if there is none."""
        rater_id = self._ids.get(name)
        if rater_id is None:
            user_id = self._members.get(name) or self._deleted.get(DeletedAccount.digest(name))
            rater_id = self._rater_of_user.get(user_id) if user_id is not None else None
            if rater_id is None:
                rater_id = Rater.objects.create(project=self._project, name=name, user_id=user_id).pk
                self.created += 1
            self._ids[name] = rater_id
        return rater_id
