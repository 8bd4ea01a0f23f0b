"""What a run is for: what it asks, of whom, and what of it is written down. The one place where runs differ.

Everything else (leases, fences, pace, budget, pause, cancel, progress, replies that are kept) is the same for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from typing import Any, Protocol

from annotate.models import Sample
from judges.kinds.base import Item, OneByOne, Scored, Size, Together
from judges.models import Run, RunPurpose

# Purpose -> where its `PURPOSE` is, which is called with the run. Imports have none: nothing is asked in them.
_PLACES: dict[str, str] = {
    RunPurpose.SCORES: "judges.runs.scoring",
    RunPurpose.TRIAL: "judges.runs.scoring",
    RunPurpose.CANARIES: "judges.canaries.write",
    RunPurpose.CLAIMS: "judges.proposals.write",
}


class Purpose(Protocol):
    """Of one run; several threads use it at a time.

    brings_scores: whether what came is written down as scores of the version. If not, `outcome` is kept with the ask.
    """

    brings_scores: bool

    def to_ask(self, samples: Sequence[Sample]) -> list[tuple[int, str, int]]:
        """(sample, unit, repeat) of everything that the run has to ask about these samples."""
        ...

    def size(self, sample: Sample) -> Size:
        """Of one ask about the sample, on average."""
        ...

    def open(self) -> AbstractContextManager[Together | OneByOne]:
        """What is asked. Raises StopRun when that can't be."""
        ...

    def wanted(self, unit: str, sample: Sample) -> list[tuple[str, str]]:
        """(dimension, unit) of every score that an ask is to bring."""
        ...

    def item(self, sample: Sample, unit: str, repeat: int) -> Item:
        """What is asked about for an ask."""
        ...

    def outcome(self, scores: Sequence[Scored], found: Any) -> Any:
        """What is kept with the ask, as plain JSON. scores: through the gate, failed ones too; found: what its outcome
        brought beside scores."""
        ...


def purpose_of(run: Run) -> Purpose:
    """run: with its version, judge and project; one that is only planned will do."""
    purpose: Purpose = import_module(_PLACES[run.purpose]).PURPOSE(run)
    return purpose
