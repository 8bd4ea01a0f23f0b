"""What a reviewer decided otherwise than an annotator had said, for that annotator to learn from.

No other person's label or name is in it. Nothing shows during the labelling: not of a batch that is not over, not of
a sample that this annotator may still meet.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, overload

from annotate.core.counting import IS_LATEST
from annotate.core.rows import fetch_all, limit_and_offset
from annotate.core.units import no_abstention
from annotate.models import Label, Project, User, Verdict
from annotate.models.batch import OPEN_TASK_STATUSES, RUNNING_BATCH_STATUSES, BatchStatus, Purpose, TaskStatus
from annotate.models.label import VerdictMethod, VerdictState

_LESSONS = f"""
      FROM annotate_rater r
      JOIN annotate_label l ON l.rater_id = r.id
      JOIN annotate_task t ON t.id = l.task_id AND t.status = %(submitted)s AND t.purpose = %(label)s
      JOIN annotate_batch b ON b.id = t.batch_id AND b.status = ANY(%(over)s)
      JOIN annotate_project p ON p.id = r.project_id AND p.teach
      JOIN annotate_verdict v ON v.sample_id = l.sample_id AND v.unit = l.unit AND v.criterion_id = l.criterion_id
      JOIN annotate_criterion c ON c.id = v.criterion_id
      LEFT JOIN annotate_lessonread seen ON seen.user_id = r.user_id AND seen.verdict_id = v.id
     WHERE r.user_id = %(user)s AND r.project_id = ANY(%(projects)s) AND l.value IS NOT NULL
       AND v.state = %(settled)s AND v.method = ANY(%(methods)s) AND v.value <> l.value
       AND {IS_LATEST.format(verdict="v")} AND {no_abstention("v")}
       AND v.votes @> jsonb_build_array(jsonb_build_object('label', l.id))
       AND NOT EXISTS (SELECT FROM annotate_task o JOIN annotate_batch ob ON ob.id = o.batch_id
                        WHERE o.sample_id = l.sample_id AND ob.status = ANY(%(running)s)
                          -- Also one that they submitted: they may still take it back.
                          AND (o.annotator_id = r.user_id AND o.status <> 'released'
                               OR o.annotator_id IS NULL AND o.status = ANY(%(open)s)))
"""
_NEW = "seen.revision IS DISTINCT FROM v.revision"


@dataclass(frozen=True)
class Lesson:
    """The reader's own label with the verdict that differs from it."""

    label: Label
    verdict: Verdict
    is_new: bool

    @property
    def decided_at(self) -> datetime | None:
        return self.verdict.decided_at


@dataclass(frozen=True)
class CriterionLessons:
    key: str
    name: str
    n: int
    new: int


@dataclass(frozen=True)
class Lessons:
    """The reader's own lessons in a project, the latest first; a slice of it is a list of them."""

    project: Project
    reader: User = field(kw_only=True)
    criterion: str = ""

    def count(self) -> int:
        return int(self._rows(f"SELECT count(*) {_LESSONS} {self._narrowed}")[0][0])

    def __len__(self) -> int:
        return self.count()

    @overload
    def __getitem__(self, part: int) -> Lesson: ...
    @overload
    def __getitem__(self, part: slice) -> list[Lesson]: ...
    def __getitem__(self, part: int | slice) -> Lesson | list[Lesson]:
        if isinstance(part, int):
            return self[part : part + 1][0]
        rows = self._rows(
            f"SELECT l.id, v.id, {_NEW} {_LESSONS} {self._narrowed}"
            " ORDER BY v.decided_at DESC NULLS LAST, v.id, l.id LIMIT %(limit)s OFFSET %(offset)s",
            **limit_and_offset(part),
        )
        labels = Label.objects.in_bulk([row[0] for row in rows])
        verdicts = Verdict.objects.select_related("criterion", "sample").in_bulk([row[1] for row in rows])
        return [Lesson(labels[label], verdicts[verdict], new) for label, verdict, new in rows]

    def __iter__(self) -> Iterator[Lesson]:
        return iter(self[:])

    def groups(self) -> list[CriterionLessons]:
        """How many there are per criterion, and how many of them are new."""
        rows = self._rows(
            f"SELECT c.key, max(c.name), count(*), count(*) FILTER (WHERE {_NEW}) {_LESSONS}"
            " GROUP BY c.key ORDER BY min(c.position), c.key"
        )
        return [CriterionLessons(*row) for row in rows]

    @property
    def _narrowed(self) -> str:
        return "AND c.key = %(criterion)s" if self.criterion else ""

    def _rows(self, sql: str, **more: Any) -> list[tuple[Any, ...]]:
        return _fetch(sql, self.reader, [self.project], criterion=self.criterion, **more)


def new_lessons(user: User, projects: Sequence[Project]) -> dict[int, int]:
    """Project id -> how many lessons the user has not read."""
    rows = _fetch(f"SELECT r.project_id, count(*) {_LESSONS} AND {_NEW} GROUP BY r.project_id", user, projects)
    return dict(rows)


def own_revisions(user: User, project: Project, verdict_ids: Collection[int]) -> dict[int, int]:
    """Verdict -> its revision, for those of the verdicts that are lessons of the user."""
    rows = _fetch(f"SELECT v.id, v.revision {_LESSONS} AND v.id = ANY(%(only)s)", user, [project], only=[*verdict_ids])
    return dict(rows)


def _fetch(sql: str, user: User, projects: Sequence[Project], **more: Any) -> list[tuple[Any, ...]]:
    return fetch_all(
        sql,
        {
            "user": user.pk,
            "projects": [project.pk for project in projects],
            "submitted": TaskStatus.SUBMITTED.value,
            "label": Purpose.LABEL.value,
            "over": [BatchStatus.ADJUDICATING.value, BatchStatus.CLOSED.value],
            "running": [status.value for status in RUNNING_BATCH_STATUSES],
            "open": [status.value for status in OPEN_TASK_STATUSES],
            "settled": VerdictState.SETTLED.value,
            "methods": [VerdictMethod.ADJUDICATED.value, VerdictMethod.ACCEPTED.value],
            **more,
        },
    )
