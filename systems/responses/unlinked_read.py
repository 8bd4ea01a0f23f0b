"""Samples that are responses to nothing yet, though several versions of the system were asked the same: for a person to
confirm that this is one question."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from annotate.core.rows import fetch_all
from annotate.models import Project

# Exactly the same words, from two versions or more; or in the words of a question that is there.
_PROPOSED = """
    WITH alone AS (
        SELECT s.id, s.question, s.pipeline_version, s.group_key FROM annotate_sample s
         WHERE s.project_id = %(project)s AND s.pipeline_version <> ''
           AND NOT EXISTS (SELECT FROM systems_response r WHERE r.sample_id = s.id)
    ), asked AS (
        SELECT r.text, min(q.external_id) AS question, count(DISTINCT q.id) AS questions, min(q.group_key) AS group_key
          FROM systems_questionrevision r JOIN systems_question q ON q.id = r.question_id
         WHERE q.project_id = %(project)s GROUP BY r.text
    )
    SELECT a.question, array_agg(a.id ORDER BY a.id), array_agg(a.pipeline_version ORDER BY a.id), asked.question,
           coalesce(asked.questions, 0),
           array_remove(array_agg(DISTINCT nullif(a.group_key, '')) || asked.group_key, NULL)
      FROM alone a LEFT JOIN asked ON asked.text = a.question
     GROUP BY a.question, asked.question, asked.questions, asked.group_key
    HAVING count(DISTINCT a.pipeline_version) > 1 OR asked.question IS NOT NULL
     ORDER BY min(a.id)
"""


@dataclass(frozen=True)
class Proposal:
    """samples, versions: of each sample its primary key and version, the earliest first. question: the id of the one
    that says this already; None: it is to be made. groups: in which its samples, and that question, are."""

    text: str
    samples: list[int]
    versions: list[str]
    question: str | None
    is_ambiguous: bool
    groups: set[str]

    @property
    def key(self) -> str:
        """By which a person names it: of its words."""
        return hashlib.blake2b(self.text.encode(), digest_size=16).hexdigest()

    @property
    def can_be_confirmed(self) -> bool:
        """All answers to a question are one group, and a sample never leaves its own."""
        return len(self.groups) <= 1 and not self.is_ambiguous

    @property
    def counts(self) -> dict[str, int]:
        """Version -> how many samples it has of this; more than one are repeats."""
        return {version: self.versions.count(version) for version in dict.fromkeys(self.versions)}


def proposals(project: Project, keys: Collection[str] | None = None) -> list[Proposal]:
    """All, or those that are named."""
    rows: list[tuple[Any, ...]] = fetch_all(_PROPOSED, {"project": project.pk})
    found = [
        Proposal(text, samples, versions, question, questions > 1, set(groups))
        for text, samples, versions, question, questions, groups in rows
    ]
    return found if keys is None else [one for one in found if one.key in keys]
