"""A batch of a draw that somebody has seen: made only while the draw is still the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Protocol, TypeVar

from django.db import transaction
from django.utils.translation import gettext as _

from annotate.batches.write import create_batch
from annotate.core.errors import Conflict
from annotate.models import Batch, Criterion, Project, User

if TYPE_CHECKING:
    from alignment.report import Chance


class Draw(Protocol):
    """Samples drawn with known chances. plan: `plan_of` them."""

    @property
    def chosen(self) -> Mapping[str, Chance]: ...

    @property
    def plan(self) -> str: ...


D = TypeVar("D", bound=Draw)


def plan_of(chosen: Mapping[str, Chance]) -> str:
    """Says the same only while the draw is the same, so that one confirms what one has seen."""
    return hashlib.sha256(json.dumps(sorted(chosen.items())).encode()).hexdigest()[:32]


def make_drawn_batch(
    *,
    criterion: Criterion,
    draw: Callable[[], D],
    note: Callable[[D], str],
    plan: str,
    name: str,
    annotators: Sequence[User],
    overlap: int,
    due_date: date | None,
    created_by: User | None,
) -> Batch:
    """A draft in which each sample keeps its chance and its stratum. note: why these samples, kept with the batch.

    Raises Conflict when labels, scores, or samples have changed since, so that the draw is another one now.
    """
    with transaction.atomic():
        # Two draws at once would take the same samples for unlabelled.
        Project.objects.select_for_update().get(pk=criterion.project_id)
        found = draw()
        if found.plan != plan:
            raise Conflict(
                "other_draw",
                _("Labels, scores or samples have changed since you saw this draw. Here is what it is now."),
            )
        return create_batch(
            project=criterion.project,
            name=name,
            criteria=[criterion],
            annotators=annotators,
            overlap=overlap,
            selection={"method": "list", "samples": list(found.chosen), "note": note(found)},
            due_date=due_date,
            created_by=created_by,
            chances={name: (one.probability, one.stratum) for name, one in found.chosen.items()},
        )
