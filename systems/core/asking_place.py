"""Where runs of targets are worked at: one process at a time asks the targets of a project, its runs in turn."""

from __future__ import annotations

from dataclasses import dataclass

# The first of the two numbers of an advisory lock (judges.runs.places); the second is the primary key.
_CLASS = 1_905_006


@dataclass(frozen=True, slots=True)
class AskingPlace:
    project: int

    @property
    def lock(self) -> tuple[int, int]:
        return _CLASS, self.project
