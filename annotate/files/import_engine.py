"""The one way a file comes in: open it, name its fields, check every row, write all of it or nothing."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

from django.db import transaction
from django.db.models import Model
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _

from annotate.core.advisory import write_on_what_stands
from annotate.core.errors import Invalid
from annotate.files.fields import Fields
from annotate.files.parquet_peek import peek
from annotate.files.problems import MIB, FileError, Limits, Problem, Problems, RowError
from annotate.files.sources import OwnFormat, Source, is_parquet, open_source
from annotate.files.streams import NumberedRow, PeekedError
from annotate.models import ImportJob, Project

CHUNK_ROWS = 2000
PREVIEW_ROWS = 10
PREVIEW_BYTES = 1 * MIB
# Of a packed file, no more are read for those.
PREVIEW_READS_BYTES = 16 * MIB
SHOWN_CHARACTERS = 300
SHOWN_ENTRIES = 10
# A file without a preview that may be good all the same.
NO_PREVIEW = "no_preview"

Progress = Callable[[float], None]


@dataclass
class Importing:
    """What an importer is given: where the rows go, and what is known about the file. `options`: as the importer's
    check_options returned them."""

    project: Project
    mapping: Mapping[str, str]
    typed: bool
    problems: Problems
    job: ImportJob | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def pipeline(self) -> str:
        """The version of the pipeline that pushes its samples; empty for a file."""
        return str(self.options.get("version", ""))

    def refuse(self, errors: Iterable[RowError], row: int, line: int | None) -> None:
        for error in errors:
            self.problems.add(error, row, line)

    @property
    def writing(self) -> bool:
        """Nothing is written after the first error, as all of it would be rolled back."""
        return not self.problems


class Importer(ABC):
    """Takes the rows of one kind of file. Reports bad rows to `importing` and goes on. `fields`: what its columns are;
    `fills`: the tables that the rows are written to; `own_format`: the one that its files have; `rests_on_what_stands`:
    it reads claims, criteria or judges, and writes about them."""

    fields: ClassVar[Fields]
    own_format: ClassVar[OwnFormat | None] = None
    fills: ClassVar[tuple[type[Model], ...]]
    rests_on_what_stands: ClassVar[bool] = True

    @abstractmethod
    def __init__(self, importing: Importing) -> None: ...

    @abstractmethod
    def take(self, rows: list[NumberedRow]) -> None: ...

    @abstractmethod
    def finish(self) -> dict[str, Any]:
        """Writes what is left. Returns at least {"created", "unchanged"}."""

    @abstractmethod
    def close(self) -> None:
        """Gives up what it holds open, after success and after failure."""

    @classmethod
    def fields_of(cls, project: Project) -> Fields:
        """Those that a file of this project can have."""
        return cls.fields

    @classmethod
    def filled(cls) -> tuple[type[Model], ...]:
        """The tables that the rows are written to."""
        return cls.fills

    @classmethod
    def check_options(cls, options: Mapping[str, Any]) -> dict[str, Any]:
        """What else a person said of where the rows go, if this kind of file knows it. Raises Invalid."""
        for name in options:
            raise Invalid("unknown_option", _("%(option)s: not for this kind of file.") % {"option": name[:80]})
        return {}

    @classmethod
    def preview_mapping(
        cls,
        project: Project,
        columns: list[str],
        rows: list[dict[str, Any]],
        chosen: Mapping[str, str],
    ) -> dict[str, str]:
        """Column -> field, as the import will take it."""
        return cls.fields_of(project).resolve(columns, chosen)


# Dotted paths, so that apps can register before models are loaded.
_importers = {
    "samples": "annotate.files.import_samples.SampleImporter",
    "labels": "annotate.files.import_labels.LabelImporter",
}

# Functions (sample ids) -> those with something on their claims, which must not be renamed any more.
claim_users = ["annotate.files.claim_naming.with_labels_or_tasks"]


def register(kind: str, importer: str, *, claim_users_of_app: str | None = None) -> None:
    """For apps that build on this one, which knows nothing of them: called when they are ready."""
    _importers[kind] = importer
    if claim_users_of_app is not None:
        claim_users.append(claim_users_of_app)


def importer_for(kind: str) -> type[Importer]:
    importer: type[Importer] = import_string(_importers[kind])
    return importer


@dataclass
class Outcome:
    """result: {"rows", "created", "unchanged", "seconds", …}; empty when there are errors."""

    file_format: str = ""
    result: dict[str, Any] = field(default_factory=dict)
    errors: list[Problem] = field(default_factory=list)
    error_count: int = 0


def run(
    *,
    project: Project,
    kind: str,
    path: Path,
    file_name: str,
    mapping: Mapping[str, str],
    job: ImportJob | None = None,
    progress: Progress | None = None,
    options: Mapping[str, Any] | None = None,
) -> Outcome:
    """Imports the whole file in one transaction, or writes nothing and says what is wrong with it. For who has the
    project's turn (annotate.core.advisory)."""
    began = time.monotonic()
    problems = Problems()
    outcome = Outcome()
    with transaction.atomic():
        try:
            importer = importer_for(kind)
            with open_source(path, file_name, problems, Limits.from_settings(), own=importer.own_format) as source:
                outcome.file_format = source.file_format
                importing = Importing(project, mapping, source.reader.typed, problems, job, options or {})
                outcome.result = _take_all(source, importer, importing, progress)
        except RowError as error:
            problems.add(error)
        if problems:
            transaction.set_rollback(True)
            outcome.result = {}
    outcome.errors, outcome.error_count = problems.first, problems.total
    if outcome.result:
        outcome.result["seconds"] = round(time.monotonic() - began, 3)
    return outcome


def _take_all(
    source: Source, importer_class: type[Importer], importing: Importing, progress: Progress | None
) -> dict[str, Any]:
    _check_header(source.reader.columns(), importer_class.fields_of(importing.project), importing.mapping)
    if importer_class.rests_on_what_stands:
        write_on_what_stands(importing.project.pk)
    importer = importer_class(importing)
    count = 0
    unmet = set(importing.mapping)
    try:
        read = source.reader.rows()
        while rows := list(islice(read, CHUNK_ROWS)):
            count += len(rows)
            if unmet:
                unmet.difference_update(*(row for _number, _line, row in rows))
            importer.take(rows)
            if progress:
                progress(source.fraction)
        if not count and not importing.problems:
            raise FileError("empty", "The file has no rows.")
        for column in sorted(unmet):
            importing.problems.add(_no_such_column(column))
        result = importer.finish()
    finally:
        importer.close()
    return {"rows": count, **result}


def _check_header(columns: list[str] | None, fields: Fields, mapping: Mapping[str, str]) -> None:
    """Formats with a header can lack a column altogether: one error says it, not one per row."""
    if columns is None:
        return
    for column in mapping:
        if column not in columns:
            raise _no_such_column(column)
    found = set(fields.resolve(columns, mapping).values())
    for name in fields.required:
        if name not in found and fields.instead.get(name) not in found:
            spellings = ", ".join(fields.spellings[name])
            raise FileError(
                "missing_column",
                f"No column for “{name}” (spelled {spellings}). The file has: {', '.join(columns)[:300]}.",
                line=1,
                field=name,
                excerpt=", ".join(columns),
            )


def _no_such_column(column: str) -> FileError:
    said = f"The mapping names a column “{column[:80]}” that the file does not have."
    return FileError("missing_column", said, field=column[:80])


@dataclass
class Preview:
    columns: list[str]
    rows: list[dict[str, Any]]
    mapping: dict[str, str]
    targets: list[str]
    errors: list[Problem]
    file_format: str

    @property
    def short_rows(self) -> list[dict[str, Any]]:
        """The rows with their long texts cut, to be shown."""
        return [{column: _cut(value) for column, value in row.items()} for row in self.rows]


def _cut(value: Any) -> Any:
    if isinstance(value, list):
        shown = [_cut(item) for item in value[:SHOWN_ENTRIES]]
        return [*shown, "…"] if len(value) > SHOWN_ENTRIES else shown
    if isinstance(value, dict):
        return {_cut(key): _cut(value[key]) for key in islice(value, SHOWN_ENTRIES)}
    return value[:SHOWN_CHARACTERS] + "…" if isinstance(value, str) and len(value) > SHOWN_CHARACTERS else value


def preview(*, project: Project, kind: str, path: Path, file_name: str, mapping: Mapping[str, str]) -> Preview:
    """The first rows as they are in the file, and what each column would become."""
    problems = Problems()
    importer_class = importer_for(kind)
    fields = importer_class.fields_of(project)
    shown = Preview([], [], {}, fields.targets, [], "")
    try:
        header = _read_beginning(shown, path, file_name, problems, importer_class.own_format)
        shown.columns = header or list(dict.fromkeys(key for row in shown.rows for key in row))
        shown.mapping = importer_class.preview_mapping(project, shown.columns, shown.rows, mapping)
        _check_header(header, fields, mapping)
    except RowError as error:
        problems.add(error)
    shown.errors = problems.first
    return shown


def _read_beginning(
    shown: Preview, path: Path, file_name: str, problems: Problems, own: OwnFormat | None
) -> list[str] | None:
    """Fills in format and rows, and returns the header. Nothing here reads more than a megabyte, whatever the file is;
    that of Parquet nobody knows before, so a process of its own does."""
    limits = Limits.from_settings()
    if own is None and is_parquet(path, file_name):
        found = peek(path, limits, rows=PREVIEW_ROWS, most_bytes=PREVIEW_BYTES)
        shown.file_format, shown.rows = "parquet", found["rows"]
        for error in found["errors"]:
            problems.add(RowError(**error))
        if found["columns"] and not shown.rows and not problems:
            problems.add(_no_preview())
        return found["columns"] or None
    header = None
    try:
        with open_source(path, file_name, problems, limits, own=own, only_bytes=PREVIEW_BYTES) as source:
            shown.file_format = source.file_format
            header = source.reader.columns()
            for _number, _line, row in islice(source.reader.rows(), PREVIEW_ROWS):
                shown.rows.append(row)
    except PeekedError:
        if not shown.rows and not problems:
            problems.add(_no_preview())
    return header


def _no_preview() -> FileError:
    return FileError(NO_PREVIEW, f"No row ends within the first {PREVIEW_BYTES // MIB} MiB, so none is shown here.")
