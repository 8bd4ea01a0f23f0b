"""Rows of a samples file, checked and turned into lines of COPY: one file row is one table row.

New samples are copied in, the same again is left alone, and other content under a known id is refused.

An app may read more in the rows than the samples (annotate.files.sample_follower).

Samples that a run of a pipeline pushes come the same way. A pipeline answers the same questions in every version, under
the same ids, and an id is there once in a project. So such a sample is named by both: `kb-001`, pushed as version `v7`,
becomes `kb-001@v7`. A version has no `@` of its own: the last one always divides the two. All of an id are one group.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

import orjson
from django.db.models import Model

from annotate.core.rows import execute
from annotate.core.texts import is_blank
from annotate.core.units import MAX_UNITS
from annotate.files import cells as values
from annotate.files.cells import as_cells, structured
from annotate.files.common_fields import IdsOfFile, Read, from_cells, metadata_of, reference_of
from annotate.files.copy_into import NULL, CopyInto, json, text, text_array
from annotate.files.fields import LATER_SPELLINGS, METADATA, SAMPLE_FIELDS, Fields, squeeze
from annotate.files.import_engine import Importer, Importing
from annotate.files.import_jobs import check_version
from annotate.files.problems import MAX_ID_CHARACTERS, VERSION_MARK, Attempts, RowError
from annotate.files.sample_follower import Followed, Stored, follower_class
from annotate.files.sample_rows import SPELLINGS
from annotate.files.streams import NumberedRow
from annotate.models import Project, Sample
from annotate.models.sample import AbstainedSource, ClaimsSource
from annotate.samples.abstention import is_abstention
from annotate.samples.claim_splitting import Claim, claims_in

# Field that lists something -> what reads it, what writes it, and how it is written when there is nothing.
_Read = Callable[[Any, str], list[Any]]
_Write = Callable[[list[Any]], bytes]
_LISTS: dict[str, tuple[_Read, _Write, bytes]] = {
    "contexts": (values.contexts, json, b"[]"),
    "key_facts": (values.texts, json, b"[]"),
    "entities": (values.texts, json, b"[]"),
    "retrieved_doc_ids": (values.identifiers, text_array, b"{}"),
    "relevant_doc_ids": (values.identifiers, text_array, b"{}"),
}
# The order of the columns in a line.
COLUMNS = (
    "project_id",
    "external_id",
    "content_hash",
    "claims_source",
    "question",
    "answer",
    "answer_b",
    "reference",
    *_LISTS,
    "pipeline_version",
    "metadata",
    "claims",
    "abstained",
    "abstained_source",
    "group_key",
)
# Fields whose CSV cell may hold JSON.
_STRUCTURED = frozenset({*_LISTS, "claims"})
_FROM_FILE, _SPLIT = ClaimsSource.FILE.value.encode(), ClaimsSource.SPLIT.value.encode()
_ABSTAINED_FROM_FILE, _ABSTAINED_BY_RULE = AbstainedSource.FILE.value.encode(), AbstainedSource.RULE.value.encode()
_MAX_PLANS = 1000
_LATER = [frozenset(map(squeeze, names)) for names in LATER_SPELLINGS]


@dataclass(frozen=True, slots=True)
class BuiltSample:
    """group: as the row names it; None where it names none. version: of the pipeline; empty where nothing names it."""

    external_id: str
    content_hash: bytes
    group: str | None
    line: bytes
    has_answer: bool
    version: str


@dataclass(frozen=True, slots=True)
class _Plan:
    """Where the fields are in rows that have the same columns. lists: the columns of _LISTS, with their steps."""

    column: dict[str, str]
    rest: tuple[str, ...]
    lists: list[tuple[str | None, _Read, _Write, bytes]]


class SampleBuilder:
    """Knows the mapping and nothing of the database. `typed`: values are more than text (not CSV). `pipeline`: the
    version of the pipeline that pushes them; empty for a file. `fields`: those that are no metadata."""

    def __init__(
        self,
        project_id: int,
        chosen: Mapping[str, str],
        *,
        typed: bool,
        pipeline: str = "",
        fields: Fields = SAMPLE_FIELDS,
    ) -> None:
        self._project = str(project_id).encode()
        self._typed = typed
        self._pipeline = pipeline

        # Hostile files give every row other keys, so not all of them are kept.
        @lru_cache(maxsize=_MAX_PLANS)
        def plan(columns: tuple[str, ...]) -> _Plan:
            mapping = fields.resolve(columns, chosen)
            column_of = {field: column for column, field in mapping.items() if field in SAMPLE_FIELDS.spellings}
            return _Plan(
                column=column_of,
                rest=tuple(column for column, field in mapping.items() if field == METADATA),
                lists=[(column_of.get(field), *steps) for field, steps in _LISTS.items()],
            )

        self._plan = plan

    def build(self, row: dict[str, Any], named: str | None = None) -> BuiltSample:
        """named: the id of a row that has none; None: one made of its content. Raises RowError."""
        plan = self._plan(tuple(row))
        if not self._typed:
            row = _from_cells(row, plan)
        question = _words(row, plan, "question")
        answer = _answer(row, plan)
        metadata = metadata_of(row, plan.rest)
        reference = _reference(row, plan, metadata)
        claims, claims_source = _claims(row, plan, metadata, answer)
        abstained = _abstained(row, plan, answer)
        version = self._pipeline_version(row, plan)
        lists = [
            empty if column is None or row[column] is None else write(read(row[column], column))
            for column, read, write, empty in plan.lists
        ]
        content = b"\t".join(
            (
                claims_source,
                text(question),
                NULL if answer is None else text(answer),
                _answer_b(row, plan, answer),
                NULL if reference is None else text(reference),
                *lists,
                text(version),
                text(orjson.dumps(metadata, option=orjson.OPT_SORT_KEYS).decode()) if metadata else b"{}",
            )
        )
        claims_json = json(claims)
        # Claims that we cut ourselves are not content: a better splitter must not make the same file a conflict.
        hashed = content + b"\t" + claims_json if claims_source is _FROM_FILE else content
        # Nor is what the rule says of an answer.
        if abstained[1] is _ABSTAINED_FROM_FILE:
            hashed += b"\tabstained " + abstained[0]
        content_hash = hashlib.blake2b(hashed, digest_size=16).digest()
        external_id = self._external_id(row, plan, content_hash, named)
        group = _group(row, plan)
        line = b"\t".join(
            (
                self._project,
                text(external_id),
                b"\\\\x" + content_hash.hex().encode(),
                content,
                claims_json,
                *abstained,
                text(self._pushed_group(external_id, plan) if group is None else group),
            )
        )
        return BuiltSample(external_id, content_hash, group, line, answer is not None, version)

    def look_through(self, row: dict[str, Any], attempt: Attempts) -> str | None:
        """Everything that is wrong with a row that `build` refused, one error for each field. Returns the row's id, if
        it has a good one."""
        plan = self._plan(tuple(row))
        if not self._typed:
            row = _from_cells(row, plan, lambda cell, column: attempt(structured, cell, column))
        attempt(_words, row, plan, "question")
        problems = len(attempt.errors)
        answer = attempt(_answer, row, plan)
        is_good = len(attempt.errors) == problems
        metadata = attempt(metadata_of, row, plan.rest) or {}
        attempt(_reference, row, plan, metadata)
        if is_good:
            attempt(_claims, row, plan, metadata, answer)
            attempt(_answer_b, row, plan, answer)
            attempt(_abstained, row, plan, answer)
        for column, read, _write, _empty in plan.lists:
            if column is not None:
                attempt(read, row[column], column)
        attempt(self._pipeline_version, row, plan)
        attempt(_group, row, plan)
        return attempt(self._external_id, row, plan, b"") if "id" in plan.column else None

    def _external_id(self, row: dict[str, Any], plan: _Plan, content_hash: bytes, named: str | None = None) -> str:
        """The id in the file; without such a column, one made from the content, the same at every import."""
        column = plan.column.get("id")
        if column is None and named is not None:
            return named
        own = f"sample-{content_hash.hex()}" if column is None else values.identifier(row[column], column)
        if not self._pipeline:
            return own
        pushed = f"{own}{VERSION_MARK}{self._pipeline}"
        if len(pushed) > MAX_ID_CHARACTERS:
            raise RowError(
                "too_long",
                f"With {VERSION_MARK} and the version, longer than {MAX_ID_CHARACTERS} characters.",
                field=column or "id",
                excerpt=own,
            )
        return pushed

    def _pushed_group(self, external_id: str, plan: _Plan) -> str:
        """What a pipeline answers under one id in every version is one group; a file's samples stand alone."""
        is_named = self._pipeline and "id" in plan.column
        return external_id.removesuffix(f"{VERSION_MARK}{self._pipeline}") if is_named else ""

    def _pipeline_version(self, row: dict[str, Any], plan: _Plan) -> str:
        value = _value(row, plan, "pipeline_version")
        if value is None:
            return self._pipeline
        given = values.identifier(value, plan.column["pipeline_version"])
        if self._pipeline and given != self._pipeline:
            raise RowError(
                "other_version",
                f"This sample is pushed as version “{self._pipeline}”; send it with its own.",
                field=plan.column["pipeline_version"],
                excerpt=given,
            )
        return given


def _value(row: dict[str, Any], plan: _Plan, field: str) -> Any:
    column = plan.column.get(field)
    return None if column is None else row[column]


def _group(row: dict[str, Any], plan: _Plan) -> str | None:
    value = _value(row, plan, "group_key")
    return None if value is None else values.identifier(value, plan.column["group_key"])


def _from_cells(row: dict[str, Any], plan: _Plan, read: Read = structured) -> dict[str, Any]:
    typed = from_cells(row, plan.column, plan.rest, _STRUCTURED, read)
    column = plan.column.get("contexts")
    if column is not None and type(typed[column]) is str:
        typed[column] = [typed[column]]
    return typed


def _reference(row: dict[str, Any], plan: _Plan, metadata: dict[str, Any]) -> str | None:
    return reference_of(_value(row, plan, "reference"), plan.column.get("reference", "reference"), metadata)


def _claims(
    row: dict[str, Any], plan: _Plan, metadata: dict[str, Any], answer: str | None
) -> tuple[list[Claim], bytes]:
    given = _value(row, plan, "claims")
    if answer is None:
        if given:
            said = "Claims are what the answer says, and there is no answer."
            raise RowError("no_answer", said, field=plan.column["claims"], excerpt=given)
        return [], _SPLIT if given is None else _FROM_FILE
    if given is not None:
        return values.claims(given, plan.column["claims"], answer, extras=True), _FROM_FILE
    if "claims" in metadata and _are_claims(metadata["claims"]):
        return values.claims(metadata["claims"], "metadata.claims", answer, extras=False), _FROM_FILE
    split = list(islice(claims_in(answer), MAX_UNITS + 1))
    if len(split) > MAX_UNITS:
        message = f"Has more than {MAX_UNITS:,} sentences, and so claims; give the claims that matter in the file."
        raise RowError("too_long", message, field=plan.column["answer"])
    return split, _SPLIT


def _abstained(row: dict[str, Any], plan: _Plan, answer: str | None) -> tuple[bytes, bytes]:
    """Whether the answer abstains, and who says so: the file, else the rule. Nothing of both without an answer."""
    given = _value(row, plan, "abstained")
    if answer is None:
        if given is not None:
            said = "Whether the answer abstains is said, and there is no answer."
            raise RowError("no_answer", said, field=plan.column["abstained"], excerpt=given)
        return NULL, b""
    if given is None:
        return (b"t" if is_abstention(answer) else b"f"), _ABSTAINED_BY_RULE
    return (b"t" if values.truth(given, plan.column["abstained"]) else b"f"), _ABSTAINED_FROM_FILE


def _are_claims(value: object) -> bool:
    """Whether what stands under metadata.claims can be meant as the claims of the answer."""
    return isinstance(value, list) and all(
        isinstance(item["text"] if isinstance(item, dict) and "text" in item else item, str) for item in value
    )


def _words(row: dict[str, Any], plan: _Plan, field: str) -> str:
    return values.words(_value(row, plan, field), plan.column.get(field, field))


def _answer(row: dict[str, Any], plan: _Plan) -> str | None:
    """None where there is none. An empty text is refused: whether the system said nothing, or was not asked, can't be
    told from it (docs/decisions/0025-no-answer.md)."""
    value = _value(row, plan, "answer")
    if type(value) is str and is_blank(value):
        said = "Is empty. Where there is no answer, leave it out or write null."
        raise RowError("missing", said, field=plan.column["answer"])
    return values.optional_text(value, plan.column.get("answer", "answer"))


def _answer_b(row: dict[str, Any], plan: _Plan, answer: str | None) -> bytes:
    value = values.optional_text(_value(row, plan, "answer_b"), plan.column.get("answer_b", "answer_b"))
    if value is None:
        return NULL
    if answer is None:
        said = "There is a second answer to the question, and no first one."
        raise RowError("no_answer", said, field=plan.column["answer_b"], excerpt=value)
    return text(value)


class _Built(NamedTuple):
    """A row's sample; `before`: as earlier versions would have read it, where otherwise."""

    number: int
    line: int | None
    sample: BuiltSample
    before: list[BuiltSample]
    followed: Followed | None


_GROUP = """
    UPDATE annotate_sample s SET group_key = given.group_key
      FROM unnest(%(samples)s::text[], %(groups)s::text[]) AS given (sample, group_key)
     WHERE s.project_id = %(project)s AND s.external_id = given.sample
"""


class SampleImporter(Importer):
    fields = SAMPLE_FIELDS
    fills = (Sample,)
    rests_on_what_stands = False

    def __init__(self, importing: Importing) -> None:
        self._importing = importing
        self._project = importing.project
        self._follower = follower_class()(importing)
        # What the mapping says of the follower's fields is for its own rows; in others such columns are metadata.
        known = SAMPLE_FIELDS.targets
        self._chosen = {column: name if name in known else METADATA for column, name in importing.mapping.items()}
        self._builder = self._builder_of(self._chosen, SAMPLE_FIELDS)
        self._followed_builder = self._builder_of(importing.mapping, self._follower.fields)
        self._earlier = lru_cache(maxsize=_MAX_PLANS)(self._earlier_builder)
        self._copy = CopyInto(Sample, COLUMNS)
        # The first import has nothing to compare with, so its COPY stays open from the first row to the last.
        self._compare = Sample.objects.filter(project=importing.project).exists()
        self._ids = IdsOfFile()
        self._versions: set[str] = set()
        self._created = self._unchanged = self._grouped = self._unanswered = 0

    @classmethod
    def fields_of(cls, project: Project) -> Fields:
        follower = follower_class()
        return follower.fields if follower.reads(project) else SAMPLE_FIELDS

    @classmethod
    def check_options(cls, options: Mapping[str, Any]) -> dict[str, Any]:
        known = {"version": check_version(options["version"])} if "version" in options else {}
        super().check_options({name: value for name, value in options.items() if name not in known})
        return known

    @classmethod
    def preview_mapping(
        cls, project: Project, columns: list[str], rows: list[dict[str, Any]], chosen: Mapping[str, str]
    ) -> dict[str, str]:
        """The follower's fields are none in a file that it has no part in."""
        follower = follower_class()
        fields = follower.fields if follower.reads(project) and follower.may_follow(columns, chosen) else SAMPLE_FIELDS
        return fields.resolve(columns, chosen)

    @classmethod
    def filled(cls) -> tuple[type[Model], ...]:
        return (*cls.fills, *follower_class().fills)

    def take(self, rows: list[NumberedRow]) -> None:
        built: list[_Built] = []
        build, keep_id, note_version = self._builder.build, self._ids.keep, self._versions.add
        followed = self._follower.read(rows)
        for number, line, row in rows:
            if number in followed:
                built += self._build_followed(number, line, row, followed[number])
                continue
            try:
                sample = build(row)
                keep_id(sample.external_id, number)
            except RowError as error:
                self._importing.refuse(self._problems(self._builder, row, number) or [error], number, line)
            else:
                before = self._as_before(row) if self._compare else []
                built.append(_Built(number, line, sample, before, None))
                self._unanswered += not sample.has_answer
                note_version(sample.version)
        stored_as: dict[int, str] = {}
        new = self._new(built, stored_as) if self._compare else [one.sample for one in built]
        if self._importing.writing:
            self._copy.write([sample.line for sample in new])
            self._created += len(new)
        if followed and self._importing.writing:
            self._write_followed(rows, followed, {one.number: one.sample.external_id for one in built} | stored_as)

    def finish(self) -> dict[str, Any]:
        self._copy.pause()
        counts = {"grouped": self._grouped, "without_answer": self._unanswered}
        if self._importing.writing:
            counts |= self._follower.finish(self._versions - {""})
        return {
            "created": self._created,
            "unchanged": self._unchanged,
            **{name: count for name, count in counts.items() if count},
        }

    def close(self) -> None:
        self._copy.abandon()

    def _builder_of(self, chosen: Mapping[str, str], fields: Fields) -> SampleBuilder:
        importing = self._importing
        return SampleBuilder(
            self._project.pk, chosen, typed=importing.typed, pipeline=importing.pipeline, fields=fields
        )

    def _build_followed(self, number: int, line: int | None, row: dict[str, Any], followed: Followed) -> list[_Built]:
        """The sample of a row that the follower has a part in; nothing where there is none, or it is refused."""
        if not followed.has_sample:
            self._importing.refuse(followed.errors, number, line)
            return []
        try:
            sample = self._followed_builder.build(followed.row, followed.external_id)
            self._ids.keep(sample.external_id, number)
        except RowError as error:
            errors = [*followed.errors, *self._problems(self._followed_builder, followed.row, number)]
            self._importing.refuse(errors or [error], number, line)
            return []
        self._importing.refuse(followed.errors, number, line)
        self._unanswered += not sample.has_answer
        self._versions.add(sample.version)
        return [_Built(number, line, sample, self._without_follower(row) if self._compare else [], followed)]

    def _without_follower(self, row: dict[str, Any]) -> list[BuiltSample]:
        """The sample as it was read before the follower had a part in it."""
        found = self._as_before(row)
        with suppress(RowError):
            found.append(self._builder.build(row))
        return found

    def _write_followed(
        self, rows: list[NumberedRow], followed: Mapping[int, Followed], stored_as: Mapping[int, str]
    ) -> None:
        self._copy.pause()
        created, unchanged = self._follower.write(
            [
                Stored(number, line, followed[number], stored_as.get(number))
                for number, line, _row in rows
                if number in followed
            ]
        )
        self._created += created
        self._unchanged += unchanged

    def _earlier_builder(self, late: tuple[str, ...]) -> SampleBuilder:
        """Reads rows as a version did in which these columns were no field."""
        return self._builder_of({**dict.fromkeys(late, METADATA), **self._chosen}, SAMPLE_FIELDS)

    def _as_before(self, row: dict[str, Any]) -> list[BuiltSample]:
        """The sample as earlier versions read it, where that is another one and was one at all."""
        late: tuple[str, ...] = ()
        found = []
        for names in reversed(_LATER):
            since = tuple(name for name in row if squeeze(name) in names and name not in self._importing.mapping)
            if since:
                late += since
                with suppress(RowError):
                    found.append(self._earlier(late).build(row))
        return found

    def _new(self, built: list[_Built], stored_as: dict[int, str]) -> list[BuiltSample]:
        """Those that the project has not yet. Another content under the same id is an error, and so is another group;
        a sample that stood alone may be given one. Notes under which ids the others are there already."""
        self._copy.pause()
        readings = [one for each in built for one in (each.sample, *each.before)]
        known: dict[str, bytes] = {}
        group_of: dict[str, str] = {}
        for external_id, content_hash, group in Sample.objects.filter(
            project=self._project, external_id__in={one.external_id for one in readings}
        ).values_list("external_id", "content_hash", "group_key"):
            known[external_id], group_of[external_id] = bytes(content_hash), group
        new, others = [], []
        same: list[tuple[str, _Built]] = []
        for one in built:
            read = (one.sample, *one.before)
            found = next((each for each in read if known.get(each.external_id) == each.content_hash), None)
            if found is not None:
                same.append((found.external_id, one))
            elif one.sample.external_id not in known:
                new.append(one.sample)
            else:
                others.append(one)
        exported = self._exported([one.sample.external_id for one in others])
        for one in others:
            number, line, sample = one.number, one.line, one.sample
            if sample.content_hash in exported[sample.external_id]:
                same.append((sample.external_id, one))
            else:
                conflict = RowError(
                    "conflict",
                    f"The project has a sample “{sample.external_id[:80]}” with other content. Samples never change, "
                    "as labels rest on them: give this one another id, or take it out of the file.",
                    field="id",
                    excerpt=sample.external_id,
                )
                self._importing.problems.add(conflict, number, line)
        stored_as |= {one.number: external_id for external_id, one in same}
        self._take_groups(same, group_of)
        return new

    def _take_groups(self, same: list[tuple[str, _Built]], group_of: Mapping[str, str]) -> None:
        """Of samples that are there already, each with its id: a group that the file names, where they had none."""
        given: dict[str, str] = {}
        for external_id, (number, line, sample, *_reading) in same:
            before = group_of[external_id]
            if sample.group is None or sample.group == before:
                self._unchanged += 1
            elif before:
                another = RowError(
                    "conflict",
                    f"The project has “{external_id[:80]}” in the group “{before[:80]}”. A sample never leaves its "
                    "group, as figures rest on it.",
                    field="group_key",
                    excerpt=sample.group,
                )
                self._importing.problems.add(another, number, line)
            else:
                self._grouped += 1
                given[external_id] = sample.group
        if given and self._importing.writing:
            execute(_GROUP, {"project": self._project.pk, "samples": list(given), "groups": list(given.values())})

    def _exported(self, external_ids: list[str]) -> dict[str, set[bytes]]:
        """The hashes that these samples have when they come back from our exports: PostgreSQL keeps no order of an
        object's keys, CSV has no empty text, and evaluation libraries have no ids of contexts."""
        found: dict[str, set[bytes]] = {}
        if not external_ids:
            return found
        for sample in Sample.objects.filter(project=self._project, external_id__in=external_ids):
            hashes = found.setdefault(sample.external_id, set())
            for spelled in SPELLINGS:
                row = spelled(sample)
                with suppress(RowError):
                    hashes.add(self._builder.build(row if self._importing.typed else as_cells(row)).content_hash)
        return found

    def _problems(self, builder: SampleBuilder, row: dict[str, Any], number: int) -> list[RowError]:
        attempt = Attempts()
        external_id = builder.look_through(row, attempt)
        if external_id is not None:
            attempt(self._ids.keep, external_id, number)
        return attempt.errors
