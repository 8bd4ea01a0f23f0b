"""What a question says, and when it is the same."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from judges.versions.identity import canonical_json
from systems.models import Question, QuestionRevision


@dataclass(frozen=True, slots=True)
class Content:
    """Everything that a revision says; models.QuestionRevision tells what is what."""

    text: str
    reference: str | None = None
    key_facts: list[str] = field(default_factory=list)
    entities: list[str] = field(default_factory=list)
    relevant: dict[str, int] = field(default_factory=dict)
    kind: str = ""
    difficulty: str = ""
    category: str = ""
    earlier_turns: list[dict[str, str]] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)

    def digest(self) -> bytes:
        """Of what is set, so that a field of tomorrow changes no question of today."""
        said = {name: value for name, value in asdict(self).items() if value not in (None, "", [], {})}
        return hashlib.blake2b(canonical_json(said), digest_size=16).digest()


def own_id(content: Content) -> str:
    """Of a question to which nobody gave one: from its words, the same each time."""
    words = Content(content.text, earlier_turns=content.earlier_turns)
    return f"question-{words.digest().hex()}"


def new_revisions(said: Iterable[tuple[Question, int, Content]]) -> list[QuestionRevision]:
    """The questions say this under these numbers."""
    return QuestionRevision.objects.bulk_create(
        (
            QuestionRevision(question=question, number=number, content_hash=content.digest(), **asdict(content))
            for question, number, content in said
        ),
        batch_size=1000,
    )
