"""Questions files: each row becomes a question, the next revision of one, or what is there already; and all of them are
in the draft of one test set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from django.utils.translation import gettext as _

from annotate.core.errors import Invalid
from annotate.core.rows import next_position
from annotate.files.common_fields import IdsOfFile
from annotate.files.import_engine import Importer, Importing
from annotate.files.problems import Attempts, RowError
from annotate.files.streams import NumberedRow
from systems.core.set_names import check_name
from systems.models import Question, QuestionRevision, QuestionSet, QuestionSetEntry, Response
from systems.questions.contents import new_revisions
from systems.questions.question_rows import QUESTION_FIELDS, QuestionReader, QuestionRow


class _Read(NamedTuple):
    number: int
    line: int | None
    row: QuestionRow


class QuestionImporter(Importer):
    """options: {"set": name, "replace": whether questions that the file does not have leave the set's draft}."""

    fields = QUESTION_FIELDS
    fills = (Question, QuestionRevision, QuestionSetEntry)
    rests_on_what_stands = False

    def __init__(self, importing: Importing) -> None:
        self._importing = importing
        self._project = importing.project
        self._reader = QuestionReader(importing.mapping, typed=importing.typed)
        self._ids = IdsOfFile()
        self._counts = dict.fromkeys(("created", "revised", "unchanged", "added", "removed"), 0)
        self._set, _made = QuestionSet.objects.get_or_create(
            project=self._project,
            name=importing.options["set"],
            defaults={"created_by": importing.job.created_by if importing.job else None},
        )
        self._replaces = importing.options["replace"]
        self._position = 0 if self._replaces else next_position(self._set.entries.all())
        self._seen: set[int] = set()

    @classmethod
    def check_options(cls, options: Mapping[str, Any]) -> dict[str, Any]:
        replace = options.get("replace", False)
        if replace not in (True, False, "1", "0"):
            raise Invalid("bad_replace", _("replace: must be 1 or 0."))
        known = {"set": check_name(options.get("set")), "replace": replace in (True, "1")}
        super().check_options({name: value for name, value in options.items() if name not in known})
        return known

    def take(self, rows: list[NumberedRow]) -> None:
        read = []
        for number, line, row in rows:
            attempt = Attempts()
            question = self._reader.read(row, attempt)
            if question is not None:
                attempt(self._ids.keep, question.external_id, number)
                read.append(_Read(number, line, question))
            self._importing.refuse(attempt.errors, number, line)
        known = self._known({one.row.external_id for one in read})
        self._take_groups([one for one in read if one.row.external_id in known], known)
        if self._importing.writing:
            self._put_into_set(self._write(read, known))

    def finish(self) -> dict[str, Any]:
        if self._replaces and self._importing.writing:
            gone = self._set.entries.exclude(question__in=self._seen)
            self._counts["removed"], _by_table = gone.delete()
        return {**self._counts, "set": self._set.name}

    def close(self) -> None:
        """Nothing is held open."""

    def _known(self, external_ids: Iterable[str]) -> dict[str, Question]:
        found = Question.objects.filter(project=self._project, external_id__in=external_ids)
        return {question.external_id: question for question in found}

    def _take_groups(self, read: list[_Read], known: Mapping[str, Question]) -> None:
        """A group that the file names of questions that are there. One that stands alone takes it while it has no
        responses; their samples never leave their group."""
        others = [one for one in read if one.row.group not in (None, known[one.row.external_id].group_key)]
        answered = set(
            Response.objects.filter(question__in=[known[one.row.external_id] for one in others]).values_list(
                "question", flat=True
            )
        )
        joining = []
        for number, line, row in others:
            question = known[row.external_id]
            if question.group_key != question.external_id or question.pk in answered:
                conflict = RowError(
                    "conflict",
                    f"The project has the question “{row.external_id[:80]}” in the group “{question.group_key[:80]}”. "
                    "A question never leaves its group, as figures rest on it.",
                    field="group_key",
                    excerpt=row.group,
                )
                self._importing.problems.add(conflict, number, line)
            else:
                question.group_key = str(row.group)
                joining.append(question)
        if self._importing.writing:
            Question.objects.bulk_update(joining, ["group_key"])

    def _write(self, read: list[_Read], known: dict[str, Question]) -> list[QuestionRevision]:
        """The revision of each row, in their order."""
        new = [
            Question(project=self._project, external_id=row.external_id, group_key=row.group or row.external_id)
            for _number, _line, row in read
            if row.external_id not in known
        ]
        self._counts["created"] += len(new)
        known |= {question.external_id: question for question in Question.objects.bulk_create(new)}
        newest = newest_revisions(question.pk for question in known.values())
        said = []
        for _number, _line, row in read:
            question = known[row.external_id]
            last = newest.get(question.pk)
            if last is None or bytes(last.content_hash) != row.content.digest():
                said.append((question, last.number + 1 if last else 1, row.content))
        self._counts["revised"] += len(said) - len(new)
        self._counts["unchanged"] += len(read) - len(said)
        newest |= {revision.question_id: revision for revision in new_revisions(said)}
        return [newest[known[row.external_id].pk] for _number, _line, row in read]

    def _put_into_set(self, revisions: list[QuestionRevision]) -> None:
        """As they are in the file: behind what stands in the set, or, in its place, from its beginning."""
        ids = [revision.question_id for revision in revisions]
        entries = {entry.question_id: entry for entry in self._set.entries.filter(question__in=ids)}
        new, moved = [], []
        for revision in revisions:
            entry = entries.get(revision.question_id)
            if entry is None:
                entry = QuestionSetEntry(question_set=self._set, question_id=revision.question_id)
                new.append(entry)
            elif entry.revision_id != revision.pk or self._replaces:
                moved.append(entry)
            if entry.pk is None or self._replaces:
                entry.position, self._position = self._position, self._position + 1
            entry.revision = revision
        QuestionSetEntry.objects.bulk_update(moved, ["position", "revision"], batch_size=1000)
        QuestionSetEntry.objects.bulk_create(new, batch_size=1000)
        self._counts["added"] += len(new)
        self._seen |= set(ids)


def newest_revisions(question_ids: Iterable[int]) -> dict[int, QuestionRevision]:
    """By question."""
    found = (
        QuestionRevision.objects.filter(question__in=list(question_ids))
        .order_by("question_id", "-number")
        .distinct("question_id")
    )
    return {revision.question_id: revision for revision in found}
