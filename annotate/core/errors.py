"""What a service says when it will not do a thing. The API turns these into replies, pages into messages."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _

# After which another try is worth its while.
RETRY_SECONDS = 5


class Refusal(Exception):
    """Refused, with a code for programs and a sentence for people. Nothing was stored."""

    status = 400

    def __init__(self, code: str, message: str, **details: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = details


class Invalid(Refusal):
    """The input can't be taken as it is."""

    status = 422


def key_reused() -> Invalid:
    return Invalid("key_reused", _("This Idempotency-Key was used for another change."))


class Conflict(Refusal):
    """The state of things doesn't allow it now."""

    status = 409


class Unavailable(Refusal):
    """What it takes can't be reached just now; `details` says after how many seconds to try again."""

    status = 503

    def __init__(self, code: str, message: str, *, retry_after: int = RETRY_SECONDS, **details: Any) -> None:
        super().__init__(code, message, retry_after=retry_after, **details)


class TooLarge(Refusal):
    """More bytes than are taken at once."""

    status = 413


class Stale(Refusal):
    """It was changed in between; `details` carries both versions."""

    status = 412


class StorageError(Exception):
    """The object store can't be reached, or refuses us, which waiting does not mend. Its message is for operators."""

    def __init__(self, message: str, *, is_refused: bool) -> None:
        super().__init__(message)
        self.is_refused = is_refused
