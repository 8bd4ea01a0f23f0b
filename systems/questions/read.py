"""Questions and test sets: what stands in a draft, what was frozen, and what differs between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from django.db.models import Count, Q, QuerySet
from django.http import Http404
from django.utils.translation import gettext as _

from annotate.core.rows import first_or_raise
from annotate.models import Project
from systems.core.set_names import numbered
from systems.models import FrozenQuestion, FrozenSet, Question, QuestionRevision, QuestionSet, QuestionSetEntry


@dataclass(frozen=True)
class Changes:
    """Ids of questions, in the order of the set that has them."""

    added: list[str]
    removed: list[str]
    changed: list[str]

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


def changes_between(before: Mapping[str, int], now: Mapping[str, int]) -> Changes:
    """Of sets by id and revision number."""
    return Changes(
        added=[name for name in now if name not in before],
        removed=[name for name in before if name not in now],
        changed=[name for name, number in now.items() if before.get(name, number) != number],
    )


@dataclass(frozen=True)
class SetState:
    """A test set as it is now, beside what it was last frozen as."""

    question_set: QuestionSet

    @cached_property
    def revisions(self) -> list[QuestionRevision]:
        """Of the draft, in its order, each with its question."""
        entries = self.question_set.entries.select_related("revision__question")
        return [entry.revision for entry in entries]

    @cached_property
    def newest(self) -> FrozenSet | None:
        return self.question_set.frozen.first()

    @cached_property
    def changes(self) -> Changes:
        """Of the draft, against what was frozen last."""
        before = revisions_of(self.newest) if self.newest else {}
        return changes_between(before, {one.question.external_id: one.number for one in self.revisions})

    @property
    def next_number(self) -> int:
        return self.newest.number + 1 if self.newest else 1


def revisions_of(frozen: FrozenSet) -> dict[str, int]:
    """Id -> revision number of each question, in order."""
    return {name: number for name, number, _digest in frozen.manifest["revisions"]}


def counts_of(revisions: Iterable[QuestionRevision]) -> dict[str, dict[str, int]]:
    """How many questions there are of each kind and of each category, the most frequent first."""
    revisions = list(revisions)
    return {
        "kinds": dict(Counter(one.kind for one in revisions).most_common()),
        "categories": dict(Counter(one.category for one in revisions).most_common()),
    }


def sets_of(project: Project) -> QuerySet[QuestionSet]:
    """Each with the number of the questions in its draft."""
    return QuestionSet.objects.filter(project=project).annotate(question_count=Count("entries")).order_by("name")


def one_set(project: Project, name: str) -> QuestionSet:
    refusal = Http404(_("Test set “%(name)s” not found in this project.") % {"name": name[:80]})
    return first_or_raise(sets_of(project).filter(name=name), refusal)


def one_frozen(project: Project, name: str, number: int) -> FrozenSet:
    frozen = FrozenSet.objects.filter(question_set__project=project, question_set__name=name, number=number)
    refusal = Http404(_("Test set “%(name)s@%(n)d” not found.") % {"name": name[:80], "n": number})
    return first_or_raise(frozen.select_related("question_set", "frozen_by"), refusal)


def revisions_in(project: Project, name: str) -> dict[str, QuestionRevision]:
    """What the questions of a test set say, by id: of a number that was frozen (`support@1`) what they said then, of a
    set named without one what its draft has. Each has its question. Raises Http404."""
    frozen = numbered(name)
    asked: Iterable[QuestionSetEntry | FrozenQuestion]
    if frozen is None:
        asked = one_set(project, name).entries.select_related("revision__question")
    else:
        asked = one_frozen(project, *frozen).questions.select_related("revision__question")
    return {one.revision.question.external_id: one.revision for one in asked}


def questions_of(project: Project, *, search: str = "", in_set: str = "") -> QuerySet[Question]:
    """In the order in which they came; of those that have such words in their id or in any text of theirs, and of the
    draft of a set."""
    questions = Question.objects.filter(project=project).order_by("id")
    if search:
        texts = QuestionRevision.objects.filter(question__project=project, text__icontains=search)
        questions = questions.filter(Q(external_id__icontains=search) | Q(pk__in=texts.values("question")))
    if in_set:
        questions = questions.filter(pk__in=one_set(project, in_set).entries.values("question"))
    return questions


def one_question(project: Project, question_id: int) -> Question:
    questions = Question.objects.filter(project=project, pk=question_id)
    return first_or_raise(questions, Http404(_("Question not found.")))
