"""What rows of samples and of questions have in common: cells of CSV, metadata beside the fields, references, and ids
that each file gives once."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Iterable
from typing import Any

from annotate.files import cells as values
from annotate.files.cells import structured
from annotate.files.fields import squeeze
from annotate.files.problems import RowError

_METADATA_SPELLINGS = frozenset({"metadata", "meta"})

Read = Callable[[str, str], Any]


def from_cells(
    row: dict[str, Any],
    column_of: dict[str, str],
    rest: Iterable[str],
    lists: Collection[str],
    read: Read = structured,
) -> dict[str, Any]:
    """Cells of CSV: an empty one is no value; in fields that are `lists` or objects, JSON is read. rest: the columns of
    metadata."""
    typed: dict[str, Any] = {column: cell or None for column, cell in row.items()}
    for field, column in column_of.items():
        if field in lists or (field == "reference" and squeeze(column) == "groundtruths"):
            typed[column] = read(row[column], column)
    for column in rest:
        if squeeze(column) in _METADATA_SPELLINGS:
            typed[column] = read(row[column], column)
        if typed[column] is None:
            del typed[column]
    return typed


def metadata_of(row: dict[str, Any], rest: Iterable[str]) -> dict[str, Any]:
    """The object under `metadata`, with every column that is no field beside what it holds."""
    metadata: dict[str, Any] = {}
    for column in rest:
        if column in row:
            value = row[column]
            if type(value) is dict and squeeze(column) in _METADATA_SPELLINGS:
                for key, child in value.items():
                    _add_metadata(metadata, key, child)
            elif value is not None or squeeze(column) not in _METADATA_SPELLINGS:
                _add_metadata(metadata, column, value)
    return metadata


def _add_metadata(metadata: dict[str, Any], key: str, value: Any) -> None:
    if key in metadata:
        raise RowError(
            "duplicate_key",
            f"“{key[:80]}” is a column and a key of the metadata as well; rename one or map the column to ignore.",
            field=key[:80],
            excerpt=value,
        )
    metadata[key] = value


def reference_of(value: Any, column: str, metadata: dict[str, Any]) -> str | None:
    """A list of references (`ground_truths`) gives its first; a longer list stays in the metadata as well."""
    if type(value) is list:
        several = values.texts(value, column)
        if len(several) > 1:
            _add_metadata(metadata, column, several)
        value = several[0] if several else None
    return values.optional_text(value, column)


class IdsOfFile:
    """Whose id each is. Ids that look the same and differ only in how accents are encoded (NFC and NFD) would be mixed
    up, so they are refused as well."""

    def __init__(self) -> None:
        self._row_of: dict[str, int] = {}
        self._row_of_normal_form: dict[str, int] = {}

    def keep(self, external_id: str, number: int) -> None:
        """Raises RowError for one that another row has."""
        first = self._row_of.setdefault(external_id, number)
        if first != number:
            raise RowError(
                "duplicate_id",
                f"The id “{external_id[:80]}” was given to row {first} already.",
                field="id",
                excerpt=external_id,
            )
        if external_id.isascii():
            return
        form = unicodedata.normalize("NFC", external_id)
        first = self._row_of_normal_form.setdefault(form, number)
        if first != number:
            raise RowError(
                "id_twin",
                f"The id “{external_id[:80]}” looks the same as that of row {first}, but is encoded in "
                "another way (Unicode NFC and NFD).",
                field="id",
                excerpt=external_id,
            )
