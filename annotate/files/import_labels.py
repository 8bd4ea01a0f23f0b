"""Writes labels made elsewhere, each with its first entry in the log."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

from django.db import connection

from annotate.core.errors import Invalid
from annotate.core.scales import is_missing, normalise, require_changed
from annotate.core.spans import check_evidence
from annotate.core.texts import MAX_COMMENT
from annotate.core.units import LISTED_KINDS
from annotate.files.cells import identifier, optional_text, structured, words
from annotate.files.claim_naming import ClaimNaming, replace_claims, take_as_answers
from annotate.files.copy_into import NULL, CopyInto, json, text
from annotate.files.fields import LABEL_FIELDS
from annotate.files.first_rows import FirstRows
from annotate.files.import_engine import Importer, Importing
from annotate.files.lookup import (
    CellReader,
    Cells,
    KnownSample,
    RaterLookup,
    RefusedRow,
    SampleLookup,
    current_criteria,
    read_unit,
    require_answers,
    require_unit,
    sample_texts,
)
from annotate.files.problems import Attempts, RowError
from annotate.files.streams import NumberedRow
from annotate.models import Criterion, Label, LabelEvent

_LABEL_COLUMNS = (
    "id",
    "task_id",
    "rater_id",
    "sample_id",
    "unit",
    "criterion_id",
    "value",
    "comment",
    "evidence",
    "revision",
)
_EVENT_COLUMNS = ("label_id", "revision", "value", "comment", "evidence", "actor_id", "idempotency_key")
_MAX_RATER_NAME = 200

# rater, sample, unit, criterion
_Key = tuple[int, int, str, int]
# What is written: the row, its key, and its evidence as it stands in the contexts.
_Checked = tuple["_Read", _Key, list[dict[str, Any]]]


@dataclass(slots=True)
class _Read:
    """A row with its fields in place, before anything was looked up."""

    number: int
    line: int | None
    external_id: str
    criterion: Criterion
    unit: str
    kind: str
    index: int | None
    unit_text: str | None
    rater: str
    value: Any
    comment: str
    evidence: Any


class LabelImporter(Importer):
    fields = LABEL_FIELDS
    fills = (Label, LabelEvent)

    def __init__(self, importing: Importing) -> None:
        self._importing = importing
        self._reader = CellReader(LABEL_FIELDS, importing.mapping)
        self._samples = SampleLookup(importing.project)
        self._criteria = current_criteria(importing.project)
        self._raters = RaterLookup(importing.project)
        self._naming = ClaimNaming()
        self._labels = CopyInto(Label, _LABEL_COLUMNS)
        self._events = CopyInto(LabelEvent, _EVENT_COLUMNS)
        self._compare = Label.objects.filter(sample__project=importing.project, task=None).exists()
        self._first_rows = FirstRows()
        # Samples with a label of a claim in the file.
        self._with_claims: set[int] = set()
        self._created = self._unchanged = 0
        actor = importing.job.created_by_id if importing.job else None
        self._actor = NULL if actor is None else str(actor).encode()

    def take(self, rows: list[NumberedRow]) -> None:
        read: list[_Read] = []
        refused: list[RefusedRow] = []
        for number, line, row in rows:
            cells = self._reader.read(row)
            try:
                read.append(self._read(number, line, cells))
            except RowError as error:
                refused.append(self._look_through(RefusedRow(number, line, error), cells))
        # PostgreSQL took in the last chunk's log while this chunk was read; now the connection is needed.
        self._events.pause()
        ids = [item.external_id for item in read]
        self._samples.load(ids + [wrong.external_id for wrong in refused if wrong.external_id is not None])
        for wrong in refused:
            wrong.refuse(self._samples, self._importing)
        found = self._find(read)
        self._naming.prepare(
            (row.external_id, sample, row.number, row.line) for row, sample in found if row.kind == "claim"
        )
        texts = sample_texts(sample.pk for row, sample in found if _needs_texts(row))
        ready: list[_Checked] = []
        for item, sample in found:
            known = texts.get(sample.pk, {})
            try:
                ready.append(self._check(item, sample, known))
            except RowError as error:
                self._importing.refuse(self._problems(item, sample, known) or [error], item.number, item.line)
        self._write(self._new(ready) if self._compare else ready)

    def finish(self) -> dict[str, Any]:
        named = self._naming.finish(self._importing.problems.add)
        taken = left = 0
        if self._importing.writing:
            self._events.pause()
            replace_claims(named)
            taken, left = take_as_answers(self._with_claims)
        return {
            "created": self._created,
            "unchanged": self._unchanged,
            "raters_created": self._raters.created,
            "samples_with_named_claims": len(named),
            **({"taken_as_answers": taken} if taken else {}),
            **({"left_abstaining": left} if left else {}),
        }

    def close(self) -> None:
        self._labels.abandon()
        self._events.abandon()

    def _read(self, number: int, line: int | None, cells: Cells) -> _Read:
        criterion = self._criterion(cells)
        unit, kind, index = _unit(cells, criterion)
        return _Read(
            number=number,
            line=line,
            criterion=criterion,
            unit=unit,
            kind=kind,
            index=index,
            value=_value(cells, criterion),
            evidence=self._evidence(cells),
            external_id=_external_id(cells),
            unit_text=_unit_text(cells),
            rater=_rater_name(cells),
            comment=_comment(cells),
        )

    def _look_through(self, refused: RefusedRow, cells: Cells) -> RefusedRow:
        """Everything that is wrong with the fields of a row that `_read` refused."""
        attempt = refused.attempt
        criterion = attempt(self._criterion, cells)
        if criterion is not None:
            attempt(_unit, cells, criterion)
            attempt(_value, cells, criterion)
        elif cells.get("unit"):
            attempt(read_unit, cells.get("unit"), cells.column("unit"))
        attempt(self._evidence, cells)
        refused.external_id = attempt(_external_id, cells)
        for check in (_unit_text, _rater_name, _comment):
            attempt(check, cells)
        return refused

    def _criterion(self, cells: Cells) -> Criterion:
        key = cells.get("criterion")
        criterion = self._criteria.get(key) if isinstance(key, str) else None
        if criterion is None:
            name = words(key, cells.column("criterion"))
            known = ", ".join(self._criteria) or "none yet"
            raise RowError(
                "unknown_criterion",
                f"The project has no criterion “{name[:60]}”; it has {known}.",
                field=cells.column("criterion"),
                excerpt=name,
            )
        return criterion

    def _evidence(self, cells: Cells) -> Any:
        """As it stands in the file; against the contexts it is checked when these are known."""
        evidence = cells.get("evidence") or []
        if isinstance(evidence, str) and not self._importing.typed:
            return structured(evidence, cells.column("evidence"))
        return evidence

    def _find(self, rows: list[_Read]) -> list[tuple[_Read, KnownSample]]:
        found = []
        for row in rows:
            try:
                found.append((row, self._samples.get(row.external_id, "sample_id")))
            except RowError as error:
                self._importing.problems.add(error, row.number, row.line)
        return found

    def _check(self, row: _Read, sample: KnownSample, texts: dict[str, Any]) -> _Checked:
        self._check_unit(row, sample, texts)
        _check_changed(row, sample, texts)
        evidence = _check_evidence(row, texts)
        return row, self._key(row, sample), evidence

    def _problems(self, row: _Read, sample: KnownSample, texts: dict[str, Any]) -> list[RowError]:
        """Everything for which `_check` refuses a row."""
        attempt = Attempts()
        attempt(self._check_unit, row, sample, texts)
        attempt(_check_changed, row, sample, texts)
        attempt(_check_evidence, row, texts)
        attempt(self._key, row, sample)
        return attempt.errors

    def _check_unit(self, row: _Read, sample: KnownSample, texts: dict[str, Any]) -> None:
        require_answers(row.criterion, sample)
        if row.kind == "claim" and row.index is not None and self._naming.may_name(sample):
            self._naming.note(sample, row.index, row.unit_text, row.number, row.line)
        else:
            require_unit(sample, row.unit, row.kind, row.index)
            if row.unit_text is not None:
                _compare_text(row, texts)

    def _key(self, row: _Read, sample: KnownSample) -> _Key:
        rater, criterion = self._raters.id_of(row.rater), row.criterion.pk
        first = self._first_rows.of(sample.pk, (rater, row.unit, criterion), row.number)
        if first != row.number:
            raise RowError(
                "duplicate",
                f"Row {first} already says what “{row.rater[:80]}” gave to {row.unit} on “{row.criterion.key}”.",
                field="rater",
                excerpt=row.rater,
            )
        return rater, sample.pk, row.unit, criterion

    def _new(self, rows: list[_Checked]) -> list[_Checked]:
        """Labels that are not there yet. The same one again is left alone, another value is an error."""
        known = {
            (rater, sample, unit, criterion): said
            for rater, sample, unit, criterion, *said in Label.objects.filter(
                task=None, sample_id__in={key[1] for _, key, _ in rows}, rater_id__in={key[0] for _, key, _ in rows}
            ).values_list("rater_id", "sample_id", "unit", "criterion_id", "value", "comment", "evidence")
        }
        new = []
        for row, key, evidence in rows:
            present = known.get(key)
            if present is None:
                new.append((row, key, evidence))
            elif present == [row.value, row.comment, evidence]:
                self._unchanged += 1
            else:
                conflict = RowError(
                    "conflict",
                    f"This rater's label of {row.unit} is there already, with another "
                    f"{'value' if present[0] != row.value else 'comment or other evidence'}. Imported labels never "
                    "change: give this one another rater name, or take it out of the file.",
                    field="value",
                    excerpt=row.value,
                )
                self._importing.problems.add(conflict, row.number, row.line)
        return new

    def _write(self, rows: list[_Checked]) -> None:
        if not self._importing.writing or not rows:
            return
        labels, events = [], []
        for label_id, (row, key, spans) in zip(_reserve_label_ids(len(rows)), rows, strict=True):
            rater, sample, unit, criterion = key
            if row.kind == "claim":
                self._with_claims.add(sample)
            value, comment, evidence = json(row.value), text(row.comment), json(spans)
            labels.append(
                b"%d\t\\N\t%d\t%d\t%b\t%d\t%b\t%b\t%b\t1"
                % (label_id, rater, sample, unit.encode(), criterion, value, comment, evidence)
            )
            idempotency = str(uuid.uuid4()).encode()
            events.append(b"%d\t1\t%b\t%b\t%b\t%b\t%b" % (label_id, value, comment, evidence, self._actor, idempotency))
        self._labels.write(labels)
        self._labels.pause()
        self._events.write(events)
        self._created += len(rows)


def _unit(cells: Cells, criterion: Criterion) -> tuple[str, str, int | None]:
    unit = cells.get("unit") or (None if criterion.unit in LISTED_KINDS else criterion.unit)
    if unit is None:
        raise RowError(
            "missing",
            f"“{criterion.key}” is asked of each {criterion.unit}: name the unit, such as {criterion.unit}:0.",
            field="unit",
        )
    unit, kind, index = read_unit(unit, cells.column("unit"))
    if kind != criterion.unit:
        raise RowError(
            "unit_kind",
            f"“{criterion.key}” is asked of {criterion.unit} units, not of {unit}.",
            field="unit",
            excerpt=unit,
        )
    return unit, kind, index


def _value(cells: Cells, criterion: Criterion) -> Any:
    value = cells.get("value")
    if is_missing(value):
        raise RowError("missing", "A label has a value.", field=cells.column("value"))
    try:
        return normalise(criterion, value)
    except Invalid as error:
        raise RowError(error.code, error.message, field=cells.column("value"), excerpt=value) from None


def _external_id(cells: Cells) -> str:
    return identifier(cells.get("sample_id"), cells.column("sample_id"))


def _unit_text(cells: Cells) -> str | None:
    return optional_text(cells.get("unit_text") or None, "unit_text")


def _rater_name(cells: Cells) -> str:
    field = cells.column("rater")
    name = identifier(cells.get("rater"), field)
    if len(name) > _MAX_RATER_NAME:
        raise RowError("too_long", f"Longer than {_MAX_RATER_NAME} characters.", field=field, excerpt=name)
    return name


def _comment(cells: Cells) -> str:
    field = cells.column("comment")
    comment = optional_text(cells.get("comment"), field) or ""
    if len(comment) > MAX_COMMENT:
        raise RowError("too_long", f"Longer than {MAX_COMMENT:,} characters.", field=field, excerpt=comment)
    return comment


def _needs_texts(row: _Read) -> bool:
    return row.unit_text is not None or bool(row.evidence) or bool(row.criterion.prefill)


def _check_changed(row: _Read, sample: KnownSample, texts: dict[str, Any]) -> None:
    """A text that only repeats the answer corrects nothing."""
    if not row.criterion.prefill or not sample.answers:
        return
    try:
        require_changed(row.criterion, row.value, texts["answer"])
    except Invalid as error:
        raise RowError(error.code, error.message, field="value", excerpt=row.value) from None


def _check_evidence(row: _Read, texts: dict[str, Any]) -> list[dict[str, Any]]:
    if not row.evidence:
        return []
    try:
        return check_evidence(row.evidence, texts["contexts"])
    except Invalid as error:
        raise RowError("bad_evidence", error.message, field="evidence", excerpt=row.evidence) from None


def _compare_text(row: _Read, texts: dict[str, Any]) -> None:
    """The words that the row quotes are those of the unit, or the row is about something else."""
    if row.index is None:
        there = texts["question"] if texts["answer"] is None else texts["answer"]
    else:
        member = texts[LISTED_KINDS[row.kind]][row.index]
        there = member["text"] if isinstance(member, dict) else member
    if there != row.unit_text:
        raise RowError(
            "unit_text",
            f"{row.unit} of this sample reads “{there[:80]}”, not what unit_text says.",
            field="unit_text",
            excerpt=row.unit_text,
        )


def _reserve_label_ids(count: int) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)",
            ["annotate_label", count],
        )
        return [label_id for (label_id,) in cursor.fetchall()]
