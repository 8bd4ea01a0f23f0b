"""What a batch would become, before it is made. Stores nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from annotate.models import Membership, Project, User
from annotate.models.batch import Strategy
from annotate.selectors.expertise import sample_tags
from annotate.services.batch_checks import check_people
from annotate.services.selection import choose_samples


@dataclass(frozen=True)
class Need:
    """An expertise that samples need, and who of the chosen people has it."""

    tag: str
    samples: int
    people: list[str]
    # How many people each of the samples needs.
    overlap: int

    @property
    def is_met(self) -> bool:
        return len(self.people) >= self.overlap


@dataclass(frozen=True)
class Plan:
    """tasks: everything to label, without what measures the annotators. each: how many everybody gets, about; None
    where that is left to the queue."""

    samples: int
    doubled: int
    tasks: int
    people: int
    each: int | None
    gold_each: int
    repeats_each: int
    needs: list[Need]


def plan_batch(
    *,
    project: Project,
    selection: Mapping[str, Any],
    annotators: Sequence[User],
    overlap: int,
    overlap_share: float = 1,
    strategy: str = Strategy.BALANCED,
    tag_key: str = "",
    gold_share: float = 0,
    repeat_share: float = 0,
) -> Plan:
    """Raises Invalid, as making the batch would, when people or samples can't be chosen so."""
    check_people(project, annotators, overlap)
    chosen, _stored = choose_samples(project=project, selection=selection)
    several = len(chosen) if overlap_share >= 1 else round(len(chosen) * overlap_share)
    tasks = len(chosen) + several * (overlap - 1)
    people = len(annotators)
    each = ceil(tasks / people) if people and strategy == Strategy.BALANCED else None
    return Plan(
        samples=len(chosen),
        doubled=several if overlap > 1 else 0,
        tasks=tasks,
        people=people,
        each=each,
        gold_each=round((each or 0) * gold_share),
        repeats_each=min(round((each or 0) * repeat_share), (each or 0) // 2),
        needs=_needs(project, chosen, tag_key, annotators, overlap if several else 1),
    )


def _needs(project: Project, chosen: Sequence[int], key: str, annotators: Sequence[User], overlap: int) -> list[Need]:
    counts = Counter(sample_tags(key, chosen).values())
    members = Membership.objects.filter(project=project, user__in=annotators).select_related("user")
    tags_of = {member.user.name: member.tags for member in members.order_by("user__username")} if counts else {}
    return [
        Need(tag, samples, [name for name, tags in tags_of.items() if tag in tags], overlap)
        for tag, samples in sorted(counts.items())
    ]
