"""What a file may be. Fixed limits are constants; those an operator may change come from the settings."""

from __future__ import annotations

from dataclasses import dataclass

KIB, MIB = 1 << 10, 1 << 20

MAX_LINE_BYTES = 8 * MIB
MAX_FIELD_BYTES = 1 * MIB
MAX_DEPTH = 20
MAX_ID_CHARACTERS = 500
SHOWN_ERRORS = 100
SHOWN_EXCERPT = 80


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that guard the machine rather than the format."""

    file_bytes: int
    decoded_bytes: int
    rows: int
    # A compressed file may not grow by more than this, once it has grown past `ratio_from_bytes`.
    ratio: int = 200
    ratio_from_bytes: int = 64 * MIB

    @classmethod
    def from_settings(cls) -> Limits:
        from django.conf import settings

        return cls(
            file_bytes=settings.IMPORT_MAX_FILE_BYTES,
            decoded_bytes=settings.IMPORT_MAX_DECODED_BYTES,
            rows=settings.IMPORT_MAX_ROWS,
        )
