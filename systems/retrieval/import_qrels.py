"""TREC qrels: how relevant documents are to the questions of a test set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.utils.translation import gettext as _

from annotate.core.errors import Invalid
from annotate.files.cells import identifier
from annotate.files.import_engine import Importer, Importing
from annotate.files.problems import RowError
from annotate.files.sources import OwnFormat
from annotate.files.streams import NumberedRow
from annotate.files.trec_file import TrecReader, trec_fields
from systems.models import Relevance
from systems.questions.question_rows import grade_or_refuse
from systems.retrieval.asked import Asked, DocumentsOfFile, set_option

_BATCH = 1000


class QrelsReader(TrecReader):
    fields = trec_fields("question", "iteration", "document", "grade")


class _Judged(NamedTuple):
    number: int
    line: int | None
    question: int
    document: str
    grade: int


class QrelsImporter(Importer):
    """options: {"set": name, "replace": whether the file's judgements take the place of all that were imported for the
    set's questions}."""

    fields = QrelsReader.fields
    own_format = OwnFormat("trec", QrelsReader)
    fills = (Relevance,)
    rests_on_what_stands = False

    def __init__(self, importing: Importing) -> None:
        self._importing = importing
        self._asked = Asked(importing.project, importing.options["set"])
        self._replaces = importing.options["replace"]
        self._documents = DocumentsOfFile()
        self._seen: set[int] = set()
        self._counts = dict.fromkeys(("created", "unchanged", "regraded", "withdrawn"), 0)

    @classmethod
    def check_options(cls, options: Mapping[str, Any]) -> dict[str, Any]:
        replace = options.get("replace", False)
        if replace not in (True, False, "1", "0"):
            raise Invalid("bad_replace", _("replace: must be 1 or 0."))
        known = {"set": set_option(options), "replace": replace in (True, "1")}
        super().check_options({name: value for name, value in options.items() if name not in known})
        return known

    def take(self, rows: list[NumberedRow]) -> None:
        judged = []
        for number, line, row in rows:
            try:
                judged.append(self._read(number, line, row))
            except RowError as error:
                self._importing.problems.add(error, number, line)
        self._store(judged)

    def finish(self) -> dict[str, Any]:
        if self._replaces and self._importing.writing:
            imported = Relevance.objects.filter(question__in=self._asked.question_ids)
            self._counts["withdrawn"], _by_table = imported.exclude(pk__in=self._seen).delete()
        return {**self._counts, "set": self._importing.options["set"]}

    def close(self) -> None:
        """Nothing is held open."""

    def _read(self, number: int, line: int | None, row: dict[str, str]) -> _Judged:
        question = self._asked.revision(row["question"]).question_id
        document = identifier(row["document"], "document")
        self._documents.keep(row["question"], document, number)
        written = row["grade"]
        grade = grade_or_refuse(int(written) if written.isdecimal() and len(written) < 10 else written, "grade")
        return _Judged(number, line, question, document, grade)

    def _store(self, judged: list[_Judged]) -> None:
        stands = {
            (one.question_id, one.document_id): one
            for one in Relevance.objects.filter(
                question__in={one.question for one in judged},
                document_id__in={one.document for one in judged},
            )
        }
        new, regraded = [], []
        for number, line, question, document, grade in judged:
            there = stands.get((question, document))
            if there is None:
                new.append(Relevance(question_id=question, document_id=document, grade=grade))
            elif there.grade == grade:
                self._counts["unchanged"] += 1
            elif self._replaces:
                there.grade = grade
                regraded.append(there)
            else:
                said = (
                    f"The grade {there.grade} was imported before. To change it, import all judgements with “replace”."
                )
                self._importing.problems.add(
                    RowError("conflict", said, field="grade", excerpt=f"{document} {grade}"), number, line
                )
        self._seen |= {one.pk for one in stands.values()}
        if self._importing.writing:
            self._seen |= {one.pk for one in Relevance.objects.bulk_create(new, batch_size=_BATCH)}
            Relevance.objects.bulk_update(regraded, ["grade"], batch_size=_BATCH)
            self._counts["created"] += len(new)
            self._counts["regraded"] += len(regraded)
