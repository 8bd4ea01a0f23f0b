"""Samples that are responses to nothing yet, though several versions of the system were asked the same: for a person to
confirm that this is one question."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from typing import Any

from annotate.core.rows import fetch_all
from annotate.core.walking import Counted, Walked, count, walk
from annotate.models import Project
from annotate.samples.stretches_read import MOST_DIGITS, stretch_end, stretch_within

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

_IS_ALONE = """s.project_id = %(project)s AND s.pipeline_version <> ''
    AND NOT EXISTS (SELECT FROM systems_response r WHERE r.sample_id = s.id)"""
# The same of those whose first sample is in a stretch: others with its words are looked up, one by one.
_OF_STRETCH = f"""
    WITH part AS MATERIALIZED (
        SELECT s.id, s.question FROM annotate_sample s WHERE {_IS_ALONE} AND s.id > %(low)s AND s.id <= %(high)s
    )
    SELECT p.question, alike.samples, alike.versions, asked.question, asked.questions,
           array_remove(alike.groups || asked.group_key, NULL)
      FROM part p
     CROSS JOIN LATERAL (
        SELECT array_agg(s.id ORDER BY s.id) AS samples, array_agg(s.pipeline_version ORDER BY s.id) AS versions,
               count(DISTINCT s.pipeline_version) AS different, array_agg(DISTINCT nullif(s.group_key, '')) AS groups
          FROM annotate_sample s WHERE s.question = p.question AND {_IS_ALONE}) alike
     CROSS JOIN LATERAL (
        SELECT min(q.external_id) AS question, count(DISTINCT q.id) AS questions, min(q.group_key) AS group_key
          FROM systems_questionrevision r JOIN systems_question q ON q.id = r.question_id
         WHERE r.text = p.question AND q.project_id = %(project)s) asked
     WHERE NOT EXISTS (SELECT FROM annotate_sample s WHERE s.question = p.question AND s.id < p.id AND {_IS_ALONE})
       AND (alike.different > 1 OR asked.question IS NOT NULL)
     ORDER BY p.id {{order}} LIMIT %(most)s
"""
# Samples of a stretch.
STRETCH = 1000


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
    found = _proposed(fetch_all(_PROPOSED, {"project": project.pk}))
    return found if keys is None else [one for one in found if one.key in keys]


def _proposed(rows: list[Any]) -> list[Proposal]:
    return [
        Proposal(text, samples, versions, question, questions > 1, set(groups))
        for text, samples, versions, question, questions, groups in rows
    ]


@dataclass(frozen=True)
class Proposals:
    """All in the order of `proposals`, from one to the next: a page of a list is read from where the one before ended
    (decision 70)."""

    project: Project

    def cursor(self, row: Proposal) -> str:
        return str(row.samples[0])

    def position(self, cursor: str) -> int | None:
        """The primary key of a sample. Of what is none, None."""
        return int(cursor) if cursor.isascii() and cursor.isdecimal() and len(cursor) <= MOST_DIGITS else None

    def after(self, at: int | None, wanted: int, *, backwards: bool = False) -> Walked[Proposal]:
        def ends(start: int | None) -> int | None:
            return stretch_end(self.project, start, descends=backwards, size=STRETCH)

        return walk(at, ends, partial(self._of_stretch, descends=backwards), wanted)

    def counted(self) -> Counted:
        return self._count(len)

    def counted_to_confirm(self) -> Counted:
        return self._count(lambda found: sum(one.can_be_confirmed for one in found))

    def _count(self, number: Callable[[list[Proposal]], int]) -> Counted:
        ends = partial(stretch_end, self.project, size=STRETCH)
        return count(ends, lambda start, end, _most: number(self._of_stretch(start, end, STRETCH)))

    def _of_stretch(self, start: int | None, end: int | None, most: int, *, descends: bool = False) -> list[Proposal]:
        low, high = stretch_within(start, end, descends=descends)
        order = "DESC" if descends else "ASC"
        given = {"project": self.project.pk, "low": low, "high": high, "most": most}
        return _proposed(fetch_all(_OF_STRETCH.format(order=order), given))
