"""Test sets are frozen under numbers."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from annotate.core.errors import Conflict, Invalid
from annotate.core.trail import note
from annotate.models import Project, User
from judges.versions.identity import canonical_json
from systems.core.set_names import NUMBER_MARK, numbered
from systems.models import FrozenQuestion, FrozenSet, QuestionSet
from systems.questions.read import SetState, counts_of, one_set


@dataclass(frozen=True)
class Freezing:
    """is_new: False where the draft is what was frozen last."""

    frozen: FrozenSet
    is_new: bool


def freeze_set(*, actor: User | None, project: Project, name: str) -> Freezing:
    """Freezes the draft under the next number; a draft that is what was frozen last stays that. Raises Http404, and
    Conflict for an empty one."""
    if numbered(name):
        raise Invalid("frozen_set", _("“%(name)s” is frozen. Name the set without its number.") % {"name": name[:80]})
    with transaction.atomic():
        pk = one_set(project, name).pk
        state = SetState(QuestionSet.objects.select_for_update().get(pk=pk))
        if not state.revisions:
            raise Conflict("empty_set", _("“%(name)s” has no questions. Import some first.") % {"name": name})
        if state.newest is not None and not state.changes:
            return Freezing(state.newest, is_new=False)
        manifest = _manifest(state)
        frozen = FrozenSet.objects.create(
            question_set=state.question_set,
            number=state.next_number,
            manifest=manifest,
            sha256=hashlib.sha256(canonical_json(manifest)).hexdigest(),
            frozen_by=actor,
        )
        FrozenQuestion.objects.bulk_create(
            (
                FrozenQuestion(frozen_set=frozen, revision=revision, position=position)
                for position, revision in enumerate(state.revisions)
            ),
            batch_size=1000,
        )
        note(
            actor=actor,
            action="set.frozen",
            subject=manifest["set"],
            project=project,
            questions=manifest["questions"],
            sha256=frozen.sha256,
        )
    return Freezing(frozen, is_new=True)


def _manifest(state: SetState) -> dict[str, Any]:
    """models.FrozenSet tells what is what."""
    return {
        "set": f"{state.question_set.name}{NUMBER_MARK}{state.next_number}",
        "questions": len(state.revisions),
        "revisions": [[one.question.external_id, one.number, bytes(one.content_hash).hex()] for one in state.revisions],
        **counts_of(state.revisions),
        **asdict(state.changes),
    }
