"""Columns per annotator, on request: what each of them said about the unit of a row, and when."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from django.db.models import Exists, F, OuterRef, QuerySet
from django.db.models.lookups import IsNull

from annotate.models import Label, Project, Rater, Verdict
from annotate.selectors.counting import answering_labels

# NAMED: by the name that files of labels know them by. NUMBERED: nobody who reads the file learns who they are.
NUMBERED, NAMED = "numbered", "named"
CHOICES = (NUMBERED, NAMED)

FIELDS: dict[str, Callable[[Label], Any]] = {
    "value": lambda label: label.value,
    "cant_tell": lambda label: label.cant_tell or None,
    "comment": lambda label: label.comment or None,
    "evidence": lambda label: label.evidence or None,
    "active_ms": lambda label: label.active_ms,
    "revision": lambda label: label.revision,
    "saved_at": lambda label: label.updated_at,
    "submitted_at": lambda label: label.task.submitted_at if label.task else None,
}
_CHUNK = 500

# sample, then by unit and criterion
SaidOfSample = tuple[int, dict[tuple[str, int], list[Label]]]


@dataclass(frozen=True)
class Annotators:
    """Who gets columns, and what the file calls people. Without arguments: nobody, and by their names.

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

    def column_names(self) -> list[str]:
        return [f"{name}.{what}" for name in self.columns.values() for what in FIELDS]

    def cells(self, labels: Collection[Label]) -> dict[str, Any]:
        """A row's cells of every annotator; None where one said nothing."""
        found = {label.rater_id: label for label in labels}
        return {
            f"{name}.{what}": read(found[rater]) if rater in found else None
            for rater, name in self.columns.items()
            for what, read in FIELDS.items()
        }


def annotators_of(project: Project, verdicts: QuerySet[Verdict], naming: str | None) -> Annotators:
    """Everybody who answered a unit of these verdicts. Numbers are the project's own: they stay from one release to the
    next, as raters are never removed."""
    if naming is None:
        return Annotators()
    raters = list(Rater.objects.filter(project=project).order_by("pk").values_list("pk", "name"))
    called = {name: f"annotator_{n}" if naming == NUMBERED else name for n, (_pk, name) in enumerate(raters, 1)}
    present = set(_labels(verdicts).values_list("rater_id", flat=True).distinct())
    return Annotators({pk: called[name] for pk, name in raters if pk in present}, called)


def said_by_sample(verdicts: QuerySet[Verdict]) -> Iterator[SaidOfSample]:
    """Each sample's answers on the units of these verdicts, one per person: the latest. In the order of sample ids."""
    one = ("sample_id", "criterion_id", "unit", "rater_id")
    # A value before "can't tell", as a verdict counts it.
    order = (*one, IsNull(F("value"), True), "-updated_at", "-id")
    latest = _labels(verdicts).select_related("task").order_by(*order).distinct(*one)
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
