"""For an app that builds on this one, which knows nothing of it: it reads more in the rows of a samples file than the
sample, fills in what they leave out, and writes beside the samples, in the same transaction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from django.db.models import Model
from django.utils.module_loading import import_string

from annotate.files.fields import Fields
from annotate.files.problems import RowError
from annotate.files.streams import NumberedRow
from annotate.models import Project

if TYPE_CHECKING:
    from annotate.files.import_engine import Importing


@dataclass(slots=True)
class Followed:
    """What was read in a row that the follower has a part in.

    row: with what it leaves out filled in; its columns are those of the follower's fields. external_id: of a sample to
    which the row gives none. has_sample: False where there is none. errors: what is wrong with the follower's own
    fields; what it says of the sample may then be made up. said: its own.
    """

    row: dict[str, Any]
    external_id: str
    has_sample: bool
    said: Any
    errors: list[RowError] = field(default_factory=list)


class Stored(NamedTuple):
    """external_id: of the row's sample as it stands in the project now; None where it has none."""

    number: int
    line: int | None
    followed: Followed
    external_id: str | None


class SampleFollower(ABC):
    """fields: those of samples, and its own. fills: the tables that it writes to."""

    fields: ClassVar[Fields]
    fills: ClassVar[tuple[type[Model], ...]]

    @classmethod
    @abstractmethod
    def reads(cls, project: Project) -> bool:
        """Whether its fields are any in this project; else such columns are what they are without it."""

    @classmethod
    @abstractmethod
    def may_follow(cls, columns: list[str], chosen: Mapping[str, str]) -> bool:
        """Whether it may have a part in rows of these columns; chosen: the mapping of a person."""

    @abstractmethod
    def __init__(self, importing: Importing) -> None: ...

    @abstractmethod
    def read(self, rows: list[NumberedRow]) -> dict[int, Followed]:
        """By the row's number; of rows that are of samples alone, nothing."""

    @abstractmethod
    def write(self, rows: list[Stored]) -> tuple[int, int]:
        """What these rows say beyond their samples. Returns how many of those without a sample are new, and how many
        were there. Reports what can't be to `importing`."""

    @abstractmethod
    def finish(self, versions: set[str]) -> dict[str, int]:
        """versions: of the pipeline, all that the file's samples name. Returns what is to be counted in the result."""


# A dotted path, so that an app can register before models are loaded.
_follower: list[str] = []


def follow_samples(follower: str) -> None:
    """Called by the app when it is ready."""
    _follower[:] = [follower]


def follower_class() -> type[SampleFollower]:
    found: type[SampleFollower] = import_string(_follower[0])
    return found
