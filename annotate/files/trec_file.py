"""TREC files: on each line the same columns, with blanks between them and no header."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from django.utils.translation import gettext as _

from annotate.core.errors import Invalid
from annotate.files.fields import IGNORE, Fields
from annotate.files.line_reader import LineReader
from annotate.files.problems import RowError
from annotate.files.strict_json import check_text, decoded


@dataclass(frozen=True)
class TrecFields(Fields):
    """Its columns are what they are."""

    def check_choice(self, chosen: object) -> dict[str, str]:
        mapping = super().check_choice(chosen)
        if any(column != field for column, field in mapping.items()):
            raise Invalid("invalid_mapping", _("mapping: the columns of this format can’t be mapped."))
        return mapping


def trec_fields(*names: str) -> TrecFields:
    return TrecFields(spellings={name: (name,) for name in names}, required=(), rest=IGNORE)


class TrecReader(LineReader):
    fields: ClassVar[TrecFields]
    typed = False

    @classmethod
    def row_of(cls, raw: bytes, careful: bool, offset: int) -> dict[str, Any]:
        decoded(raw, offset)
        # At ASCII blanks only: an id may hold others.
        cells = [cell.decode() for cell in raw.split()]
        names = list(cls.fields.spellings)
        if len(cells) != len(names):
            said = f"{len(cells)} columns, but this format has {len(names)}: {' '.join(names)}."
            raise RowError("columns", said, excerpt=raw)
        for name, cell in zip(names, cells, strict=True):
            check_text(cell, name)
        return dict(zip(names, cells, strict=True))
