"""Units on criteria as they are asked for and as they are listed (annotate.verdicts.units_read)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy as _

from annotate.core.scales import normalise
from annotate.models import Criterion, Sample, Verdict
from annotate.models.label import VerdictState


class UnitStatus(models.TextChoices):
    """How far a unit is on a criterion: one of these."""

    UNLABELLED = "unlabelled", _("Not labelled")
    # It has labels, or a task asks for them, and no verdict yet.
    IN_PROGRESS = "in_progress", _("In progress")
    DISPUTED = "disputed", _("Disputed")
    REOPENED = "reopened", _("Reopened")
    RESOLVED = "resolved", _("Resolved")


_STATES = {
    UnitStatus.DISPUTED: VerdictState.DISPUTED,
    UnitStatus.REOPENED: VerdictState.REOPENED,
    UnitStatus.RESOLVED: VerdictState.SETTLED,
}
STATUSES = {state: status for status, state in _STATES.items()}

# By the name in the address; "-" before it turns the order round. Units without a verdict come last.
SORTS = ("added", "id", "agreement", "changed")
# Those in which a page begins where the one before ended.
WALKED = ("added",)

# A sample's primary key, a unit of it, and a criterion's key.
UnitOn = tuple[int, str, str]


@dataclass(frozen=True)
class UnitRows:
    """Units as a statement by hand has them, of samples after the primary key `low`, up to `high`: sample_id, unit and
    key. given: its other parameters."""

    sql: str
    given: Mapping[str, Any]


@dataclass(frozen=True)
class WantedUnits:
    """Which units, and in which order. Nothing given: all, by sample, as these were imported.

    words: in the unit, or the id of its sample. criterion: a key. value: of a verdict; of a multi-select criterion an
    option that it has. method: how it was resolved. outdated: someone’s latest label was made under older guidelines
    than those of now. batch: a number: what it asks of its samples. metadata: of the sample, key -> value as text.
    among: only these units. without: only others than these. sort: as SORTS.
    """

    words: str = ""
    criterion: str = ""
    status: str = ""
    value: Any = None
    method: str = ""
    agreement: str = ""
    outdated: bool = False
    batch: int | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    among: Collection[UnitOn] | None = None
    without: UnitRows | None = None
    sort: str = ""

    @property
    def state(self) -> VerdictState | None:
        return _STATES.get(UnitStatus(self.status)) if self.status else None

    @property
    def has_verdict(self) -> bool:
        return bool(self.state or self.value is not None or self.method or self.agreement)


@dataclass(frozen=True, slots=True)
class ListedUnit:
    """A unit on a criterion as a row. criterion: in the version that the verdict is on, else the current one. votes:
    each value with how many gave it, the most frequent first. held_back: the reader still has the sample to label, so
    there is neither a verdict nor a vote. place: among the sample's units."""

    sample: Sample
    unit: str
    place: int
    words: str
    criterion: Criterion
    status: UnitStatus
    verdict: Verdict | None
    votes: list[tuple[Any, int]]
    held_back: bool

    @property
    def percent(self) -> int | None:
        agreement = self.verdict.agreement if self.verdict else None
        return None if agreement is None else round(100 * agreement)


@dataclass(frozen=True)
class Chosen:
    """How many units are wanted, in which samples (primary keys in import order), and on which criteria (keys)."""

    units: int
    samples: list[int]
    criteria: set[str]


def value_written(criterion: Criterion, text: str) -> Any:
    """What the text writes: a value, of a multi-select criterion an option. Raises Invalid."""
    return normalise(criterion, [text])[0] if criterion.is_multi else normalise(criterion, text)
