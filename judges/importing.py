"""Scores files: long (one score per row) or wide (one row per sample, one column per metric).

Evaluation libraries print their result tables in the wide form. Every metric becomes a judge of that name.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import F, Func, Max, TextField, Value
from django.db.models.functions import Concat

from annotate.core.units import LISTED_KINDS
from annotate.files import cells as values
from annotate.files import copy_into as copying
from annotate.files.cells import number as number_in
from annotate.files.copy_into import NULL, CopyInto
from annotate.files.fields import IGNORE, SAMPLE_FIELDS, Fields
from annotate.files.import_engine import Importer, Importing
from annotate.files.lookup import (
    CellReader,
    Cells,
    KnownSample,
    RefusedRow,
    SampleLookup,
    current_criteria,
    read_unit,
    require_unit,
)
from annotate.files.problems import FileError, RowError
from annotate.files.streams import NumberedRow
from annotate.models import Criterion, Project, Sample
from annotate.samples.read import of_samples
from judges.models import LARGEST_SCORE, Judge, JudgeKind, JudgeVersion, Run, Score, ScoreStatus

SCORE_FIELDS = Fields(
    spellings={
        "sample_id": ("sample_id", "sample", "id", "external_id"),
        "unit": ("unit",),
        "criterion": ("criterion", "dimension"),
        "judge": ("judge", "metric", "evaluator", "scorer"),
        "score": ("score", "value"),
        "rationale": ("rationale", "reason", "explanation"),
        "status": ("status",),
        "version": ("version", "judge_version"),
        "repeat": ("repeat",),
        "higher_is_better": ("higher_is_better",),
        "question": SAMPLE_FIELDS.spellings["question"],
        "answer": SAMPLE_FIELDS.spellings["answer"],
    },
    required=(),
    rest=IGNORE,
)
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
_OVERALL = "overall"
_FIRST_VERSION = "1"
_MAX_NAME = 200
_MAX_DIMENSION = 120
_MAX_REPEAT = 32_767
_STATUS_SPELLINGS = {
    "success": "ok",
    "completed": "ok",
    "failed": "error",
    "refusal": "refused",
    "timed_out": "timeout",
}
# How data frames write a missing number as text.
_MISSING_WORDS = frozenset({"", "nan", "none", "null", "n/a", "na"})
_TRUTH = {"true": 1.0, "false": 0.0}
_WORDS = {True: "true", False: "false"}

# version, dimension, sample, unit, repeat
_Key = tuple[int, str, int, str, int]
_Said = tuple[str, float | None, str | None, str]


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
    said: _Said
    higher_is_better: bool | None


class ScoreImporter(Importer):
    fields = SCORE_FIELDS
    fills = (Score,)

    def __init__(self, importing: Importing) -> None:
        self._importing = importing
        self._reader = CellReader(self.fields, importing.mapping)
        self._samples = SampleLookup(importing.project)
        self._by_words: _SamplesByWords | None = None
        self._criteria = current_criteria(importing.project)
        self._versions = _Versions(importing)
        self._copy = CopyInto(Score, _COLUMNS)
        self._metrics: list[str] | None = None
        self._row_of: dict[_Key, int] = {}
        self._created = self._unchanged = self._missing = 0

    @classmethod
    def preview_mapping(
        cls, columns: list[str], rows: list[dict[str, Any]], chosen: Mapping[str, str]
    ) -> dict[str, str]:
        mapping = cls.fields.resolve(columns, chosen)
        return {**mapping, **dict.fromkeys(_metric_columns(columns, rows, chosen), "score")}

    def take(self, rows: list[NumberedRow]) -> None:
        if self._metrics is None:
            first = [row for _, _, row in rows]
            columns = list(dict.fromkeys(key for row in first for key in row))
            self._metrics = _metric_columns(columns, first, self._importing.mapping)
            _require_layout(self.fields.resolve(columns, self._importing.mapping), columns, self._metrics)
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
                self._importing.refuse(error, items[0].number, items[0].line)
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
        version, higher = _version(cells), _higher_is_better(cells)
        if self._metrics:
            address = _unit(cells, None)
            return [
                _Read(number, line, external_id, *address, name, version, _OVERALL, 0, said, higher)
                for name, said in (_metric(row, column) for column in metrics)
            ]
        judge, dimension = _judge(cells), _dimension(cells)
        criterion = self._criteria.get(dimension)
        address = _unit(cells, criterion)
        said = _said(cells.get("score"), cells.column("score"), _status(cells), _rationale(cells), criterion)
        repeat = _repeat(cells)
        return [_Read(number, line, external_id, *address, judge, version, dimension, repeat, said, higher)]

    def _look_through(self, refused: RefusedRow, row: dict[str, Any], cells: Cells, metrics: list[str]) -> RefusedRow:
        """Everything that is wrong with the fields of a row that `_read` refused."""
        attempt = refused.attempt
        refused.external_id = attempt(self._external_id, cells)
        attempt(_version, cells)
        attempt(_higher_is_better, cells)
        if self._metrics:
            attempt(_unit, cells, None)
            for column in metrics:
                attempt(_metric, row, column)
            return refused
        attempt(_judge, cells)
        dimension = attempt(_dimension, cells)
        criterion = None if dimension is None else self._criteria.get(dimension)
        attempt(_unit, cells, criterion)
        status = attempt(_status, cells)
        attempt(_rationale, cells)
        if dimension is not None:
            attempt(_said, cells.get("score"), cells.column("score"), status, "", criterion)
        attempt(_repeat, cells)
        return refused

    def _external_id(self, cells: Cells) -> str:
        if "sample_id" in cells:
            return values.identifier(cells.get("sample_id"), cells.column("sample_id"))
        if "question" not in cells or "answer" not in cells:
            raise RowError("missing", "Name the sample by sample_id, or by its question and answer.", field="sample_id")
        if self._by_words is None:
            self._copy.pause()
            self._by_words = _SamplesByWords(self._importing.project)
        question, answer = (values.words(cells.get(name), cells.column(name)) for name in ("question", "answer"))
        return self._by_words.find(question, answer, cells.column("question"))

    def _key(self, item: _Read, sample: KnownSample) -> _Key:
        require_unit(sample, item.unit, item.kind, item.index, "unit")
        key = (self._versions.id_of(item.judge, item.version), item.dimension, sample.pk, item.unit, item.repeat)
        if item.higher_is_better is not None:
            self._versions.note_direction(item.judge, item.higher_is_better, item.number)
        first = self._row_of.setdefault(key, item.number)
        if first != item.number:
            raise RowError(
                "duplicate",
                f"Row {first} already has a score of “{item.judge[:80]}” for this unit; number repeats in “repeat”.",
                field="judge",
                excerpt=item.judge,
            )
        return key

    def _new(self, rows: list[tuple[_Read, _Key]]) -> list[tuple[_Read, _Key]]:
        """Scores that are not there yet. The same one again is left alone, another one is an error."""
        old_versions = {key[0] for _, key in rows if key[0] not in self._versions.fresh}
        if not old_versions:
            return rows
        known: dict[_Key, _Said] = {
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
                self._importing.refuse(conflict, item.number, item.line)
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
            self._ids[key] = self._get_or_make(judge_name, label)
        return self._ids[key]

    def run_of(self, version_id: int) -> int:
        if version_id not in self._runs:
            self._runs[version_id] = Run.objects.create(version_id=version_id, import_job=self._job).pk
        return self._runs[version_id]

    def note_direction(self, judge_name: str, higher_is_better: bool, row: int) -> None:
        """A row says which way the scores of its judge go. All of its rows say the same, and what is stored too."""
        said, first = self._directions.setdefault(judge_name, (higher_is_better, row))
        judge = self._judges[judge_name]
        if said != higher_is_better:
            raise RowError(
                "conflict",
                f"Row {first} says {_WORDS[said]} of “{judge_name[:80]}”; all its rows say the same.",
                field="higher_is_better",
                excerpt=_WORDS[higher_is_better],
            )
        if judge.higher_is_better == higher_is_better:
            return
        if judge_name not in self._new_judges:
            raise RowError(
                "conflict",
                f"“{judge_name[:80]}” is there already, and its higher_is_better is {_WORDS[judge.higher_is_better]}. "
                "A file doesn't change that; an admin does, by the API.",
                field="higher_is_better",
                excerpt=_WORDS[higher_is_better],
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

    def _get_or_make(self, judge_name: str, label: str) -> int:
        judge = self._judge(judge_name)
        config = {"source": "import", "version": label}
        content_hash = hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest()
        version = JudgeVersion.objects.filter(judge=judge, content_hash=content_hash).first()
        if version is None:
            last = JudgeVersion.objects.filter(judge=judge).aggregate(last=Max("number"))["last"] or 0
            version = JudgeVersion.objects.create(
                judge=judge, number=last + 1, label=label, config=config, content_hash=content_hash
            )
            self.fresh.add(version.pk)
        return version.pk


class _SamplesByWords:
    """External ids of a project's samples by question and answer, for tables that carry no id."""

    def __init__(self, project: Project) -> None:
        digest = Func(Concat(F("question"), Value("\x1f"), F("answer"), output_field=TextField()), function="md5")
        self._ids: dict[str, str | None] = {}
        samples = Sample.objects.filter(project=project).order_by().annotate(words=digest)
        for words, external_id in samples.values_list("words", "external_id").iterator():
            self._ids[words] = None if words in self._ids else external_id

    def find(self, question: str, answer: str, field: str) -> str:
        words = hashlib.md5(f"{question}\x1f{answer}".encode(), usedforsecurity=False).hexdigest()
        if words not in self._ids:
            raise RowError(
                "unknown_sample",
                "The project has no sample with this question and answer.",
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


def _metric_columns(columns: Iterable[str], rows: list[dict[str, Any]], chosen: Mapping[str, str]) -> list[str]:
    """Columns that are metrics of their own; none when the file is long.

    Chosen ones if there are any, else those that hold nothing but numbers and are no field of a sample.
    """
    mapping = SCORE_FIELDS.resolve(columns, chosen)
    if "judge" in mapping.values():
        return []
    picked = [column for column, field in chosen.items() if field == "score"]
    if picked:
        return picked
    if "score" in mapping.values():
        return []
    of_samples = SAMPLE_FIELDS.resolve(columns, {})
    return [
        column
        for column, field in mapping.items()
        if field == IGNORE
        and column
        and column not in chosen
        and of_samples[column] not in SAMPLE_FIELDS.spellings
        and _all_numbers(row[column] for row in rows if column in row)
    ]


def _all_numbers(cells: Iterable[Any]) -> bool:
    """Whether there is a number and nothing that is neither a number nor missing."""
    found = False
    for cell in cells:
        if cell is None or (isinstance(cell, str) and cell.strip().lower() in _MISSING_WORDS):
            continue
        if _number(cell) is None:
            return False
        found = True
    return found


def _require_layout(mapping: dict[str, str], columns: list[str], metrics: list[str]) -> None:
    found = set(mapping.values())
    if not metrics and not {"judge", "score"} <= found:
        missing = "judge" if "judge" not in found else "score"
        raise FileError(
            "missing_column",
            f"No column for “{missing}”, and none that holds only numbers. Write sample_id, judge, score in each row, "
            f"or one row per sample with a column per metric. The file has: {', '.join(columns)[:300]}.",
            row=1,
            field=missing,
            excerpt=", ".join(columns),
        )


def _name(value: object, field: str) -> str:
    name = values.identifier(value, field)
    if len(name) > _MAX_NAME:
        raise RowError("too_long", f"Longer than {_MAX_NAME} characters.", field=field, excerpt=name)
    return name


def _judge(cells: Cells) -> str:
    return _name(cells.get("judge"), cells.column("judge"))


def _version(cells: Cells) -> str:
    version = cells.get("version")
    return _FIRST_VERSION if version is None or version == "" else _name(version, "version")


def _higher_is_better(cells: Cells) -> bool | None:
    """None: the row doesn't say."""
    value = cells.get("higher_is_better")
    if value is None or value == "":
        return None
    number = _number(value)
    if number not in (0, 1):
        raise RowError("type", "higher_is_better: true or false.", field="higher_is_better", excerpt=value)
    return number == 1


def _dimension(cells: Cells) -> str:
    dimension = cells.get("criterion") or _OVERALL
    if not isinstance(dimension, str) or len(dimension) > _MAX_DIMENSION:
        raise RowError(
            "type",
            f"A criterion is a text of at most {_MAX_DIMENSION} characters.",
            field="criterion",
            excerpt=dimension,
        )
    return dimension


def _unit(cells: Cells, criterion: Criterion | None) -> tuple[str, str, int | None]:
    unit = cells.get("unit")
    if not unit and criterion is not None and criterion.unit in LISTED_KINDS:
        raise RowError(
            "missing",
            f"“{criterion.key}” is about each {criterion.unit}: name the unit, such as {criterion.unit}:0.",
            field="unit",
        )
    usual = "sample" if criterion is not None and criterion.unit == "sample" else "answer"
    return read_unit(unit or usual, cells.column("unit"))


def _repeat(cells: Cells) -> int:
    value = cells.get("repeat")
    if value is None or value == "":
        return 0
    if isinstance(value, str) and value.isdecimal() and len(value) < 6:
        value = int(value)
    if type(value) is not int or not 0 <= value <= _MAX_REPEAT:
        raise RowError("type", f"repeat: a whole number from 0 to {_MAX_REPEAT:,}.", field="repeat", excerpt=value)
    return value


def _status(cells: Cells) -> str | None:
    value = cells.get("status")
    if value is None or value == "":
        return None
    name = value.strip().lower().replace(" ", "_").replace("-", "_") if isinstance(value, str) else ""
    name = _STATUS_SPELLINGS.get(name, name)
    if name not in ScoreStatus.values:
        raise RowError(
            "unknown_status", f"status: write {', '.join(ScoreStatus.values)}.", field="status", excerpt=value
        )
    return name


def _rationale(cells: Cells) -> str:
    return values.optional_text(cells.get("rationale"), cells.column("rationale")) or ""


def _metric(row: dict[str, Any], column: str) -> tuple[str, _Said]:
    """A wide row's score by the judge that is called like the column."""
    return _name(column, column), _said(row[column], column, None, "", None)


def _said(raw: object, field: str, status: str | None, rationale: str, criterion: Criterion | None) -> _Said:
    """(status, number, label, rationale). A score that failed or is missing has neither number nor label."""
    if raw is None or (
        isinstance(raw, str) and raw.strip().lower() in _MISSING_WORDS and not _is_option(raw, criterion)
    ):
        if status == ScoreStatus.OK:
            raise RowError("missing", "The status says ok, but there is no score.", field=field)
        return status or ScoreStatus.ERROR.value, None, None, rationale
    if status not in (None, ScoreStatus.OK):
        return status, None, None, rationale
    if isinstance(raw, str) and _is_option(raw, criterion):
        return ScoreStatus.OK.value, None, raw, rationale
    number = _number(raw)
    if number is None:
        options = (
            f" or one of {', '.join(str(level) for level in criterion.levels)}"
            if criterion and criterion.levels
            else ""
        )
        raise RowError("not_a_number", f"A score is a number from -1e100 to 1e100{options}.", field=field, excerpt=raw)
    return ScoreStatus.OK.value, number, None, rationale


def _is_option(text: str, criterion: Criterion | None) -> bool:
    return criterion is not None and text in criterion.levels


def _number(value: object) -> float | None:
    """true and false are 1 and 0; a number in a text counts too."""
    if isinstance(value, str):
        value = _TRUTH.get(value.strip().lower(), number_in(value))
    # By comparison, since an integer of a thousand digits has no float; NaN is between no two numbers.
    if not isinstance(value, bool | int | float) or not -LARGEST_SCORE <= value <= LARGEST_SCORE:
        return None
    return float(value)


def with_scored_claims(sample_ids: set[int]) -> set[int]:
    """Samples with a score on one of their claims (see annotate.files.claim_naming)."""
    scores = of_samples(Score.objects.filter(unit__startswith="claim:"), sample_ids)
    return set(scores.values_list("sample_id", flat=True))
