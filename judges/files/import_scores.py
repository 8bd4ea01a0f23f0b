"""Scores files: long (one score per row) or wide (one row per sample, one column per metric).

Evaluation libraries print their result tables in the wide form. Every metric becomes a judge of that name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import F, Func, TextField, Value
from django.db.models.functions import Coalesce, Concat

from annotate.core.errors import Invalid
from annotate.core.scales import require_rated
from annotate.files import cells as values
from annotate.files import copy_into as copying
from annotate.files.copy_into import NULL, CopyInto
from annotate.files.first_rows import FirstRows
from annotate.files.import_engine import Importer, Importing
from annotate.files.lookup import (
    CellReader,
    Cells,
    KnownSample,
    RefusedRow,
    SampleLookup,
    current_criteria,
    require_answers,
    require_unit,
)
from annotate.files.problems import RowError
from annotate.files.streams import NumberedRow
from annotate.models import Criterion, Project, Sample
from annotate.samples.read import of_samples
from judges.files.score_cells import (
    OVERALL,
    SCORE_FIELDS,
    WORDS,
    SaidScore,
    dimension_of,
    higher_is_better_of,
    judge_of,
    metric_columns,
    metric_of,
    rationale_of,
    repeat_of,
    require_layout,
    said_of,
    status_of,
    unit_of,
    version_of,
)
from judges.models import Judge, JudgeKind, Run, Score, ScoreStatus
from judges.versions.write import imported_version

_COLUMNS = (
    "version_id",
    "run_id",
    "sample_id",
    "unit",
    "dimension",
    "repeat",
    "status",
    "number",
    "label",
    "rationale",
)
# version, dimension, sample, unit, repeat
_Key = tuple[int, str, int, str, int]


@dataclass(slots=True)
class _Read:
    """A score with its fields in place, before its sample was looked up."""

    number: int
    line: int | None
    external_id: str
    unit: str
    kind: str
    index: int | None
    judge: str
    version: str
    dimension: str
    repeat: int
    said: SaidScore
    higher_is_better: bool | None
    # The row names no unit: the score is of the answer, and where there is none, of the sample.
    is_of_whole: bool


class ScoreImporter(Importer):
    fields = SCORE_FIELDS
    fills = (Score,)

    def __init__(self, importing: Importing) -> None:
        self._importing = importing
        self._reader = CellReader(SCORE_FIELDS, importing.mapping)
        self._samples = SampleLookup(importing.project)
        self._by_words: _SamplesByWords | None = None
        self._criteria = current_criteria(importing.project)
        self._versions = _Versions(importing)
        self._copy = CopyInto(Score, _COLUMNS)
        self._metrics: list[str] | None = None
        self._first_rows = FirstRows()
        self._created = self._unchanged = self._missing = 0

    @classmethod
    def preview_mapping(
        cls, project: Project, columns: list[str], rows: list[dict[str, Any]], chosen: Mapping[str, str]
    ) -> dict[str, str]:
        mapping = SCORE_FIELDS.resolve(columns, chosen)
        return {**mapping, **dict.fromkeys(metric_columns(columns, rows, chosen), "score")}

    def take(self, rows: list[NumberedRow]) -> None:
        if self._metrics is None:
            first = [row for _, _, row in rows]
            columns = list(dict.fromkeys(key for row in first for key in row))
            self._metrics = metric_columns(columns, first, self._importing.mapping)
            require_layout(SCORE_FIELDS.resolve(columns, self._importing.mapping), columns, self._metrics)
        read: list[list[_Read]] = []
        refused: list[RefusedRow] = []
        for number, line, row in rows:
            cells = self._reader.read(row)
            metrics = [column for column in self._metrics if column in row]
            try:
                read.append(self._read(number, line, row, cells, metrics))
            except RowError as error:
                refused.append(self._look_through(RefusedRow(number, line, error), row, cells, metrics))
        # PostgreSQL took in the last chunk while this one was read; now the connection is needed.
        self._copy.pause()
        ids = [items[0].external_id for items in read if items]
        self._samples.load(ids + [wrong.external_id for wrong in refused if wrong.external_id is not None])
        for wrong in refused:
            wrong.refuse(self._samples, self._importing)
        ready: list[tuple[_Read, _Key]] = []
        for items in read:
            try:
                ready += [(item, self._key(item, self._samples.get(item.external_id, "sample_id"))) for item in items]
            except RowError as error:
                self._importing.problems.add(error, items[0].number, items[0].line)
        self._write(self._new(ready))

    def finish(self) -> dict[str, Any]:
        self._copy.pause()
        return {
            "created": self._created,
            "unchanged": self._unchanged,
            "missing_scores": self._missing,
            "judges": len(self._versions.judges),
        }

    def close(self) -> None:
        self._copy.abandon()

    def _read(
        self, number: int, line: int | None, row: dict[str, Any], cells: Cells, metrics: list[str]
    ) -> list[_Read]:
        """The scores of a row: one of a long file, one per metric of a wide one."""
        external_id = self._external_id(cells)
        version, higher, of_whole = version_of(cells), higher_is_better_of(cells), not cells.get("unit")
        if self._metrics:
            address = unit_of(cells, None)
            return [
                _Read(number, line, external_id, *address, name, version, OVERALL, 0, said, higher, of_whole)
                for name, said in (metric_of(row, column) for column in metrics)
            ]
        judge, dimension = judge_of(cells), dimension_of(cells)
        criterion = self._criterion(dimension, cells)
        address = unit_of(cells, criterion)
        said = said_of(cells.get("score"), cells.column("score"), status_of(cells), rationale_of(cells), criterion)
        repeat = repeat_of(cells)
        return [_Read(number, line, external_id, *address, judge, version, dimension, repeat, said, higher, of_whole)]

    def _look_through(self, refused: RefusedRow, row: dict[str, Any], cells: Cells, metrics: list[str]) -> RefusedRow:
        """Collects everything that is wrong with the fields of a row that `_read` refused."""
        attempt = refused.attempt
        refused.external_id = attempt(self._external_id, cells)
        attempt(version_of, cells)
        attempt(higher_is_better_of, cells)
        if self._metrics:
            attempt(unit_of, cells, None)
            for column in metrics:
                attempt(metric_of, row, column)
            return refused
        attempt(judge_of, cells)
        dimension = attempt(dimension_of, cells)
        criterion = None if dimension is None else attempt(self._criterion, dimension, cells)
        attempt(unit_of, cells, criterion)
        status = attempt(status_of, cells)
        attempt(rationale_of, cells)
        if dimension is not None:
            attempt(said_of, cells.get("score"), cells.column("score"), status, "", criterion)
        attempt(repeat_of, cells)
        return refused

    def _criterion(self, dimension: str, cells: Cells) -> Criterion | None:
        """The one of that name; None for a measure of the judge's own."""
        criterion = self._criteria.get(dimension)
        if criterion is not None:
            try:
                require_rated(criterion)
            except Invalid as error:
                raise RowError(error.code, error.message, field=cells.column("criterion"), excerpt=dimension) from None
        return criterion

    def _external_id(self, cells: Cells) -> str:
        if "sample_id" in cells:
            return values.identifier(cells.get("sample_id"), cells.column("sample_id"))
        if "question" not in cells:
            raise RowError("missing", "Name the sample by sample_id, or by its question and answer.", field="sample_id")
        if self._by_words is None:
            self._copy.pause()
            self._by_words = _SamplesByWords(self._importing.project)
        question = values.words(cells.get("question"), cells.column("question"))
        answer = values.optional_text(cells.get("answer"), cells.column("answer")) or ""
        return self._by_words.find(question, answer, cells.column("question"))

    def _key(self, item: _Read, sample: KnownSample) -> _Key:
        if item.is_of_whole and not sample.answers:
            item.unit = item.kind = "sample"
        criterion = self._criteria.get(item.dimension)
        if criterion is not None:
            require_answers(criterion, sample)
        require_unit(sample, item.unit, item.kind, item.index)
        version = self._versions.id_of(item.judge, item.version)
        if item.higher_is_better is not None:
            self._versions.note_direction(item.judge, item.higher_is_better, item.number)
        said = (version, item.dimension, item.unit, item.repeat)
        first = self._first_rows.of(sample.pk, said, item.number)
        if first != item.number:
            raise RowError(
                "duplicate",
                f"Row {first} already has a score of “{item.judge[:80]}” for this unit; number repeats in “repeat”.",
                field="judge",
                excerpt=item.judge,
            )
        return version, item.dimension, sample.pk, item.unit, item.repeat

    def _new(self, rows: list[tuple[_Read, _Key]]) -> list[tuple[_Read, _Key]]:
        """The scores that are not stored yet. The same score again is skipped, a different one is an error."""
        old_versions = {key[0] for _, key in rows if key[0] not in self._versions.fresh}
        if not old_versions:
            return rows
        known: dict[_Key, SaidScore] = {
            (version, dimension, sample, unit, repeat): (status, number, label, rationale)
            for version, dimension, sample, unit, repeat, status, number, label, rationale in Score.objects.filter(
                version_id__in=old_versions, sample_id__in={key[2] for _, key in rows}
            ).values_list(
                "version_id", "dimension", "sample_id", "unit", "repeat", "status", "number", "label", "rationale"
            )
        }
        new = []
        for item, key in rows:
            present = known.get(key)
            if present is None:
                new.append((item, key))
            elif present == item.said:
                self._unchanged += 1
            else:
                conflict = RowError(
                    "conflict",
                    f"“{item.judge[:80]}” version {item.version[:40]} has another score for {item.unit} already. "
                    "Scores never change: a judge that was changed is a new version, so give another “version”.",
                    field="score",
                    excerpt=item.said[1] if item.said[2] is None else item.said[2],
                )
                self._importing.problems.add(conflict, item.number, item.line)
        return new

    def _write(self, rows: list[tuple[_Read, _Key]]) -> None:
        if not self._importing.writing or not rows:
            return
        runs = {version: self._versions.run_of(version) for version in {key[0] for _, key in rows}}
        lines = []
        for item, (version, dimension, sample, unit, repeat) in rows:
            status, number, label, rationale = item.said
            lines.append(
                b"%d\t%d\t%d\t%b\t%b\t%d\t%b\t%b\t%b\t%b"
                % (
                    version,
                    runs[version],
                    sample,
                    unit.encode(),
                    copying.text(dimension),
                    repeat,
                    status.encode(),
                    NULL if number is None else repr(number).encode(),
                    NULL if label is None else copying.text(label),
                    copying.text(rationale),
                )
            )
            self._missing += status != ScoreStatus.OK
        self._copy.write(lines)
        self._created += len(rows)


class _Versions:
    """Judges and versions by the names in the file, made when they are new, with one run each for this import."""

    def __init__(self, importing: Importing) -> None:
        self._project = importing.project
        self._job = importing.job
        self._ids: dict[tuple[str, str], int] = {}
        self._runs: dict[int, int] = {}
        self._judges: dict[str, Judge] = {}
        self._new_judges: set[str] = set()
        # Judge -> whether higher is better, and the first row that says so.
        self._directions: dict[str, tuple[bool, int]] = {}
        self.fresh: set[int] = set()

    @property
    def judges(self) -> set[str]:
        return {judge for judge, _ in self._ids}

    def id_of(self, judge_name: str, label: str) -> int:
        key = (judge_name, label)
        if key not in self._ids:
            version, is_new = imported_version(self._judge(judge_name), label)
            self._ids[key] = version.pk
            if is_new:
                self.fresh.add(version.pk)
        return self._ids[key]

    def run_of(self, version_id: int) -> int:
        if version_id not in self._runs:
            self._runs[version_id] = Run.objects.create(version_id=version_id, import_job=self._job).pk
        return self._runs[version_id]

    def note_direction(self, judge_name: str, higher_is_better: bool, row: int) -> None:
        """Sets a judge's direction from a row. All rows of a judge, and the stored judge, have to agree."""
        said, first = self._directions.setdefault(judge_name, (higher_is_better, row))
        judge = self._judges[judge_name]
        if said != higher_is_better:
            raise RowError(
                "conflict",
                f"Row {first} says {WORDS[said]} of “{judge_name[:80]}”; all its rows say the same.",
                field="higher_is_better",
                excerpt=WORDS[higher_is_better],
            )
        if judge.higher_is_better == higher_is_better:
            return
        if judge_name not in self._new_judges:
            raise RowError(
                "conflict",
                f"“{judge_name[:80]}” is there already, and its higher_is_better is {WORDS[judge.higher_is_better]}. "
                "A file doesn't change that; an admin does, by the API.",
                field="higher_is_better",
                excerpt=WORDS[higher_is_better],
            )
        judge.higher_is_better = higher_is_better
        judge.save(update_fields=["higher_is_better"])

    def _judge(self, name: str) -> Judge:
        if name not in self._judges:
            judge, is_new = Judge.objects.get_or_create(project=self._project, name=name)
            if judge.kind != JudgeKind.IMPORTED:
                raise RowError(
                    "conflict",
                    "A judge of this name is run here, and no file says what it said. Give these scores another name.",
                    field="judge",
                    excerpt=name,
                )
            self._judges[name] = judge
            if is_new:
                self._new_judges.add(name)
        return self._judges[name]


class _SamplesByWords:
    """External ids of a project's samples by question and answer, for tables that carry no id; without composed ones,
    which repeat answers of others."""

    def __init__(self, project: Project) -> None:
        # No answer is empty, so that an empty text can stand for none.
        answer = Coalesce("answer", Value(""), output_field=TextField())
        words = Concat(F("question"), Value("\x1f"), answer, output_field=TextField())
        digest = Func(words, function="md5")
        self._ids: dict[str, str | None] = {}
        samples = Sample.objects.filter(project=project, composed=False).order_by().annotate(words=digest)
        for words, external_id in samples.values_list("words", "external_id").iterator():
            self._ids[words] = None if words in self._ids else external_id

    def find(self, question: str, answer: str, field: str) -> str:
        words = hashlib.md5(f"{question}\x1f{answer}".encode(), usedforsecurity=False).hexdigest()
        if words not in self._ids:
            raise RowError(
                "unknown_sample",
                "The project has no sample with this question and answer."
                if answer
                else "The project has no sample with this question and no answer.",
                field=field,
                excerpt=question,
            )
        external_id = self._ids[words]
        if external_id is None:
            raise RowError(
                "ambiguous_sample",
                "Several samples have this question and answer; name the sample by sample_id.",
                field=field,
                excerpt=question,
            )
        return external_id


def with_scored_claims(sample_ids: set[int]) -> set[int]:
    """Samples with a score on one of their claims (see annotate.files.claim_naming)."""
    scores = of_samples(Score.objects.filter(unit__startswith="claim:"), sample_ids)
    return set(scores.values_list("sample_id", flat=True))
