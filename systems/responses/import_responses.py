"""Rows of a samples file that name a question and a version are responses. So is what a pipeline pushes under the id of
a question and in its words.

Their samples have what the question says and the row leaves out. In a project without questions there are none, and
columns of these names are metadata, as they are in rows that name no question.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from annotate.files import cells as values
from annotate.files.cells import as_cells
from annotate.files.import_engine import Importing
from annotate.files.problems import VERSION_MARK, Attempts, RowError
from annotate.files.sample_follower import Followed, SampleFollower, Stored
from annotate.files.streams import NumberedRow
from annotate.models import Project, Sample
from systems.models import Question, QuestionRevision, Response, ResponseStatus, SystemVersion
from systems.responses.response_rows import RESPONSE_FIELDS, ResponseCells, Said, said_in
from systems.responses.versions import versions_named

# What a pipeline itself says of a request that failed.
REPORTED = "reported"
_MAX_PLANS = 1000
_BATCH = 1000
# What a row may add to a response that is there.
_SAID = (
    "status",
    "error",
    "error_text",
    "sample_id",
    "latency_ms",
    "first_token_ms",
    "input_tokens",
    "output_tokens",
    "cost",
)


class Key(NamedTuple):
    """Of a response, in its project."""

    version: str
    question: str
    repeat: int

    @property
    def sample_id(self) -> str:
        """Of its sample, where the file gives none."""
        repeat = f"#{self.repeat}" if self.repeat else ""
        return f"{self.question}{VERSION_MARK}{self.version}{repeat}"


@dataclass(frozen=True, slots=True)
class _New:
    """What the row says beyond its sample. stands: the response that is there already."""

    key: Key
    said: Said
    revision: QuestionRevision
    stands: Response | None


class ResponseFollower(SampleFollower):
    fields = RESPONSE_FIELDS
    fills = (SystemVersion, Response)

    def __init__(self, importing: Importing) -> None:
        self._importing = importing
        self._project = importing.project
        self._reads = self.reads(importing.project)
        self._row_of: dict[Key, int] = {}
        self._counts = {"responses": 0, "failed_responses": 0}

        # Hostile files give every row other keys, so not all of them are kept.
        @lru_cache(maxsize=_MAX_PLANS)
        def column_of(columns: tuple[str, ...]) -> dict[str, str]:
            mapping = RESPONSE_FIELDS.resolve(columns, importing.mapping)
            return {field: column for column, field in mapping.items()}

        self._column_of = column_of

    @classmethod
    def reads(cls, project: Project) -> bool:
        return Question.objects.filter(project=project).exists()

    @classmethod
    def may_follow(cls, columns: list[str], chosen: Mapping[str, str]) -> bool:
        return "question_id" in RESPONSE_FIELDS.resolve(columns, chosen).values()

    def read(self, rows: list[NumberedRow]) -> dict[int, Followed]:
        if not self._reads:
            return {}
        typed = self._importing.typed
        asking = []
        for number, _line, row in rows:
            cells = ResponseCells(self._column_of(tuple(row)), row, typed=typed)
            field = self._names_question(cells)
            if field is not None:
                asking.append((number, cells, field))
        asked = _Asked(
            self._project,
            names={str(cells.get(field)) for _number, cells, field in asking},
            versions={self._importing.pipeline or str(cells.get("pipeline_version")) for _, cells, _ in asking},
        )
        found = {number: self._followed(number, cells, field, asked) for number, cells, field in asking}
        return {number: followed for number, followed in found.items() if followed is not None}

    def write(self, rows: list[Stored]) -> tuple[int, int]:
        versions = versions_named(self._project, {row.followed.said.key.version for row in rows})
        samples = self._samples({row.external_id for row in rows if row.external_id is not None})
        created = unchanged = 0
        new, changed = [], []
        for row in rows:
            about: _New = row.followed.said
            response = about.stands or Response(
                version=versions[about.key.version],
                question=about.revision.question,
                revision=about.revision,
                repeat=about.key.repeat,
            )
            is_new = about.stands is None
            sample, of = (None, None) if row.external_id is None else samples[row.external_id]
            if sample != response.sample_id and (of is not None or response.sample_id is not None):
                self._importing.problems.add(_other_sample(row.external_id or "", about.key), row.number, row.line)
                continue
            is_changed = _say(response, about, sample)
            if is_new:
                new.append(response)
            elif is_changed:
                changed.append(response)
            if sample is None:
                created, unchanged = created + is_new, unchanged + (not is_new)
            self._counts["responses"] += is_new
            self._counts["failed_responses"] += response.status == ResponseStatus.FAILED
        if self._importing.writing:
            Response.objects.bulk_create(new, batch_size=_BATCH)
            Response.objects.bulk_update(changed, _SAID, batch_size=_BATCH)
        return created, unchanged

    def finish(self, versions: set[str]) -> dict[str, int]:
        versions_named(self._project, versions)
        return self._counts

    def _names_question(self, cells: ResponseCells) -> str | None:
        """The field by which the row names a question, or may name one; None for a row that is of a sample alone."""
        is_pushed = bool(self._importing.pipeline)
        if cells.get("question_id") is not None:
            return "question_id" if is_pushed or cells.get("pipeline_version") is not None else None
        return "id" if is_pushed and cells.get("id") is not None else None

    def _followed(self, number: int, cells: ResponseCells, field: str, asked: _Asked) -> Followed | None:
        attempt = Attempts()
        name = cells.read(attempt, field, values.identifier) or ""
        said = said_in(cells, self._importing.pipeline, attempt)
        key = Key(said.version, name, said.repeat)
        stands = asked.responses.get(key)
        revision = asked.revision(name, cells.get("question"), stands)
        if revision is None and field == "id":
            # A pipeline's id of something else.
            return None
        if name:
            attempt(_require_question, cells, asked.questions.get(name), revision)
        if not attempt.errors:
            attempt(self._keep, key, number, cells)
        if not attempt.errors and stands is not None:
            attempt(_require_same, stands, said, cells)
        return Followed(
            row=_filled_in(cells, revision, typed=self._importing.typed),
            external_id=key.sample_id,
            has_sample=said.status == ResponseStatus.OK,
            said=_New(key, said, revision, stands) if revision else None,
            errors=attempt.errors,
        )

    def _keep(self, key: Key, number: int, cells: ResponseCells) -> None:
        first = self._row_of.setdefault(key, number)
        if first != number:
            raise RowError(
                "duplicate_response",
                f"Row {first} has a response of “{key.version[:80]}” to this question already; number repeats in "
                "“repeat”, from 0.",
                field=cells.column("repeat"),
                excerpt=key.question,
            )

    def _samples(self, external_ids: Collection[str]) -> dict[str, tuple[int, int | None]]:
        """By id: the primary key, and that of the response that the sample is of."""
        found = Sample.objects.filter(project=self._project, external_id__in=external_ids)
        return {name: (pk, of) for name, pk, of in found.values_list("external_id", "pk", "response")}


def _other_sample(external_id: str, key: Key) -> RowError:
    return RowError(
        "conflict",
        f"“{external_id[:80]}” can't be what “{key.version[:80]}” answered to “{key.question[:80]}”: another sample "
        "is, or it answers something else.",
        field="id",
        excerpt=external_id,
    )


class _Asked:
    """The questions that some rows name, with all that they ever said, and the responses of these versions to them."""

    def __init__(self, project: Project, *, names: Collection[str], versions: Collection[str]) -> None:
        questions = Question.objects.filter(project=project, external_id__in=names)
        self.questions = {question.external_id: question for question in questions}
        self._revisions: dict[str, list[QuestionRevision]] = defaultdict(list)
        revisions = QuestionRevision.objects.filter(question__in=self.questions.values())
        for revision in revisions.select_related("question").order_by("-number"):
            self._revisions[revision.question.external_id].append(revision)
        responses = Response.objects.filter(question__in=self.questions.values(), version__name__in=versions)
        self.responses = {
            Key(one.version.name, one.question.external_id, one.repeat): one
            for one in responses.select_related("version", "question", "revision")
        }

    def revision(self, name: str, words: Any, stands: Response | None) -> QuestionRevision | None:
        """The one that was answered: of a response that is there its own, else the newest that says these words, or the
        newest at all where the row says none; None where there is no such question, or it never said them."""
        said = self._revisions.get(name, []) if stands is None else [stands.revision, *self._revisions[name]]
        return next((one for one in said if words in (None, one.text)), None)


def _require_question(cells: ResponseCells, question: Question | None, revision: QuestionRevision | None) -> None:
    """Raises RowError for one that the project doesn't have, that says something else, or is of another group."""
    if question is None:
        raise RowError(
            "unknown_question",
            "The project has no such question. Import the questions first, or map the column to metadata.",
            field=cells.column("question_id"),
            excerpt=cells.get("question_id"),
        )
    name = question.external_id[:80]
    if revision is None:
        raise RowError(
            "other_question",
            f"“{name}” never said this. Leave the question out, or import what it says now.",
            field=cells.column("question"),
            excerpt=cells.get("question"),
        )
    group = cells.get("group_key")
    if group is not None and str(group) != question.group_key:
        raise RowError(
            "other_group",
            f"“{name}” is in the group “{question.group_key[:80]}”, and so are the answers to it. Leave the group out.",
            field=cells.column("group_key"),
            excerpt=group,
        )


def _require_same(stands: Response, said: Said, cells: ResponseCells) -> None:
    """Raises RowError where the response that is there says otherwise. What failed may be answered later, and what
    nobody knew may become known."""
    if said.status == ResponseStatus.FAILED and stands.status == ResponseStatus.OK:
        raise _conflict(stands, "was answered", "status", cells)
    if said.status == stands.status:
        for name, value in said.measures.items():
            before = getattr(stands, name)
            if None not in (before, value) and before != value:
                raise _conflict(stands, f"has {before:g} there", name, cells)


def _conflict(stands: Response, what: str, field: str, cells: ResponseCells) -> RowError:
    return RowError(
        "conflict",
        f"The response of “{stands.version.name[:80]}” to “{stands.question.external_id[:80]}” {what}. Responses never "
        "change: number another in “repeat”, or give the version another name.",
        field=cells.column(field),
        excerpt=cells.get(field),
    )


def _filled_in(cells: ResponseCells, revision: QuestionRevision | None, *, typed: bool) -> dict[str, Any]:
    """The row with what its question says and it leaves out. Where a mapping gives a column of that name to something
    else, nothing is filled in."""
    if revision is None:
        # It is refused; the rest of it is looked through.
        said: dict[str, Any] = {"question": "?"}
    else:
        said = {
            "question": revision.text,
            "reference": revision.reference,
            "key_facts": revision.key_facts,
            "entities": revision.entities,
            "relevant_doc_ids": [document for document, grade in revision.relevant.items() if grade],
            "group_key": revision.question.group_key,
        }
    filled = {
        cells.column(name): value
        for name, value in said.items()
        if cells.get(name) is None and (cells.has(name) or name not in cells.row)
    }
    return {**cells.row, **(filled if typed else as_cells(filled))}


def _say(response: Response, about: _New, sample: int | None) -> bool:
    """Writes into the response what the row says; whether that is something new."""
    before = [getattr(response, name) for name in _SAID]
    if sample is not None:
        response.status, response.error, response.error_text = ResponseStatus.OK, "", ""
        response.sample_id = sample
    elif about.stands is None or about.said.error_text:
        response.status, response.error, response.error_text = ResponseStatus.FAILED, REPORTED, about.said.error_text
    for name, value in about.said.measures.items():
        if value is not None:
            setattr(response, name, value)
    return [getattr(response, name) for name in _SAID] != before
