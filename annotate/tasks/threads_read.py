"""Threads of annotators and reviewers (annotate.tasks.threads): with a task for its annotator, who finds none of
another annotator's there; one's own; and everyone's, for those who answer.

What is listed for those who answer names neither the task nor its batch: they would tell that its answers are known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Count, F, QuerySet
from django.http import Http404
from django.utils.translation import gettext as _

from annotate.core.blindness import Reader, may_know_names, samples_still_to_label, without_held_back
from annotate.core.permissions import may, role_of
from annotate.core.rows import first_or_raise
from annotate.models import Criterion, Project, Sample, Thread, ThreadMessage, User
from annotate.models.thread import ThreadState

# Of annotate_task t, annotate_batch b and annotate_sample s, as `OwnThread.messages` and the rest of it.
THREADS_OF_TASK = """(
        SELECT coalesce(json_agg(json_build_object(
                 'id', th.id, 'unit', th.unit, 'criterion', tc.key, 'state', th.state,
                 'is_new', th.last_answer > th.read_to,
                 'messages', (
                   SELECT json_agg(json_build_object(
                            'number', m.number, 'text', m.text, 'at', m.created_at,
                            'by', CASE WHEN m.author_id = th.asked_by_id THEN 'you' ELSE 'reviewer' END,
                            'name', CASE WHEN m.author_id <> th.asked_by_id AND p.show_names
                                         THEN coalesce(nullif(u.display_name, ''), u.username) END)
                            ORDER BY m.number)
                     FROM annotate_threadmessage m JOIN annotate_user u ON u.id = m.author_id
                    WHERE m.thread_id = th.id)) ORDER BY th.id), '[]')
          FROM annotate_thread th
          JOIN annotate_project p ON p.id = th.project_id
          LEFT JOIN annotate_criterion tc ON tc.id = th.criterion_id
         WHERE th.task_id = t.id AND th.asked_by_id = t.annotator_id)"""


@dataclass(frozen=True)
class ShownMessage:
    """by: "you", "annotator" (who asked) or "reviewer". name: None where names are hidden from the reader."""

    number: int
    text: str
    at: datetime
    by: str
    name: str | None


@dataclass(frozen=True)
class ShownThread:
    """held_back: the reader still has the sample to label, so there are no messages, and neither unit nor criterion:
    what others ask about is what they are unsure of. asked_by: None where names are hidden from the reader. is_new: it
    is the reader's own, and has an answer that they have not seen."""

    thread: Thread
    mine: bool
    asked_by: User | None
    messages: Sequence[ShownMessage]
    held_back: bool

    @property
    def is_new(self) -> bool:
        return self.mine and self.thread.is_new

    @property
    def unit(self) -> str:
        return "" if self.held_back else self.thread.unit

    @property
    def criterion(self) -> Criterion | None:
        return None if self.held_back else self.thread.criterion

    @property
    def task_id(self) -> int | None:
        return self.thread.task_id if self.mine else None


@dataclass(frozen=True)
class Threads:
    """The latest first; a slice of it is a list. of: who asked, None for all. state: "" for all. sample: about it.
    unit: about that unit, or about the sample as a whole; None for all."""

    project: Project
    reader: Reader = field(kw_only=True)
    of: User | None = None
    state: str = ""
    sample: Sample | None = None
    unit: str | None = None

    def count(self) -> int:
        return self._rows().count()

    def __len__(self) -> int:
        return self.count()

    def __getitem__(self, part: slice) -> list[ShownThread]:
        rows = self._rows().select_related("sample", "criterion", "asked_by").defer("sample__metadata")
        return shown(list(rows.order_by("-id")[part]), self.project, reader=self.reader)

    def _rows(self) -> QuerySet[Thread]:
        rows = Thread.objects.filter(project=self.project)
        if self.of is not None:
            rows = rows.filter(asked_by=self.of)
        if self.state:
            rows = rows.filter(state=self.state)
        if self.sample is not None:
            rows = rows.filter(sample=self.sample)
        return rows.filter(unit__in=("", self.unit)) if self.unit is not None else rows


def shown(threads: Collection[Thread], project: Project, *, reader: Reader) -> list[ShownThread]:
    """The threads as the reader may see them: others' without a word while the reader has the sample to label."""
    others = {thread.sample_id for thread in threads if thread.asked_by != reader}
    blind = samples_still_to_label(reader, others)
    named = may_know_names(reader, project)
    messages: dict[int, list[ThreadMessage]] = {thread.pk: [] for thread in threads}
    for message in ThreadMessage.objects.filter(thread__in=threads).select_related("author").order_by("number"):
        messages[message.thread_id].append(message)
    return [
        ShownThread(
            thread,
            mine=thread.asked_by == reader,
            asked_by=thread.asked_by if named or thread.asked_by == reader else None,
            messages=[] if held_back else _messages(thread, messages[thread.pk], project, reader),
            held_back=held_back,
        )
        for thread in threads
        for held_back in [thread.asked_by != reader and thread.sample_id in blind]
    ]


def _messages(thread: Thread, rows: Iterable[ThreadMessage], project: Project, reader: Reader) -> list[ShownMessage]:
    # Those who answer know each other; the annotator knows them where the project shows names.
    names = {
        "you": False,
        "annotator": may_know_names(reader, project),
        "reviewer": thread.asked_by != reader or project.show_names,
    }
    found = []
    for row in rows:
        by = "annotator" if row.author_id == thread.asked_by_id else "reviewer"
        by = "you" if row.author == reader else by
        found.append(ShownMessage(row.number, row.text, row.created_at, by, row.author.name if names[by] else None))
    return found


def new_answers(user: User, projects: Collection[Project]) -> dict[int, int]:
    """Project id -> how many of the user's questions have an answer that they have not seen."""
    own = Thread.objects.filter(asked_by=user, project__in=projects, last_answer__gt=F("read_to"))
    return dict(own.order_by().values_list("project").annotate(n=Count("id")))


def waiting_questions(user: User, projects: Collection[Project]) -> dict[int, int]:
    """Project id -> how many questions of others wait for an answer, but those that the user must not read yet."""
    rows = Thread.objects.filter(project__in=projects, state=ThreadState.WAITING).exclude(asked_by=user)
    rows = without_held_back(rows, reader=user)
    return dict(rows.order_by().values_list("project").annotate(n=Count("id")))


def has_asked(user: User, project: Project) -> bool:
    return Thread.objects.filter(asked_by=user, project=project).exists()


def one_thread(project: Project, thread_id: int, *, reader: Reader) -> ShownThread:
    """Raises Http404 when it is neither the reader's own nor theirs to answer."""
    threads = Thread.objects.filter(project=project, pk=thread_id).select_related("sample", "criterion", "asked_by")
    if isinstance(reader, User) and not may(role_of(reader, project), "threads.read"):
        threads = threads.filter(asked_by=reader)
    thread = first_or_raise(threads, Http404(_("Question not found in this project.")))
    return shown([thread], project, reader=reader)[0]
