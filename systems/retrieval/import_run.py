"""TREC runs: what a version retrieved for the questions of a test set, as the rankings of its responses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from annotate.core.scales import as_number
from annotate.files.cells import identifier
from annotate.files.import_engine import Importer, Importing
from annotate.files.import_jobs import check_version
from annotate.files.problems import Attempts, RowError
from annotate.files.sources import OwnFormat
from annotate.files.streams import NumberedRow
from annotate.files.trec_file import TrecReader, trec_fields
from systems.models import Response, ResponseStatus, SystemVersion
from systems.responses.versions import versions_named
from systems.retrieval.asked import Asked, DocumentsOfFile, set_option

_BATCH = 1000


class RunReader(TrecReader):
    fields = trec_fields("question", "iteration", "document", "rank", "score", "tag")


class _Retrieved(NamedTuple):
    """Sorts by rank."""

    rank: int
    number: int
    line: int | None
    document: str
    score: float


class RunImporter(Importer):
    """options: {"set": name, "version": name}. Where a response has no ranking it gets the file's; where there is none,
    one is made, on repeat 0."""

    fields = RunReader.fields
    own_format = OwnFormat("trec", RunReader)
    fills = (SystemVersion, Response)
    rests_on_what_stands = False

    def __init__(self, importing: Importing) -> None:
        self._importing = importing
        self._asked = Asked(importing.project, importing.options["set"])
        self._documents = DocumentsOfFile()
        self._retrieved: dict[str, list[_Retrieved]] = defaultdict(list)
        self._counts = dict.fromkeys(("created", "ranked", "unchanged"), 0)

    @classmethod
    def check_options(cls, options: Mapping[str, Any]) -> dict[str, Any]:
        known = {"set": set_option(options), "version": check_version(options.get("version"))}
        super().check_options({name: value for name, value in options.items() if name not in known})
        return known

    def take(self, rows: list[NumberedRow]) -> None:
        for number, line, row in rows:
            attempt = Attempts()
            question = row["question"]
            attempt(self._asked.revision, question)
            document = attempt(identifier, row["document"], "document")
            if document is not None:
                attempt(self._documents.keep, question, document, number)
            rank, score = attempt(_rank, row["rank"]), attempt(_score, row["score"])
            self._importing.refuse(attempt.errors, number, line)
            if not attempt.errors and document is not None and rank is not None and score is not None:
                self._retrieved[question].append(_Retrieved(rank, number, line, document, score))

    def finish(self) -> dict[str, Any]:
        for question, retrieved in self._retrieved.items():
            retrieved.sort()
            for error, one in _out_of_order(question, retrieved):
                self._importing.problems.add(error, one.number, one.line)
        self._store()
        return {**self._counts, **self._importing.options}

    def close(self) -> None:
        """Nothing is held open."""

    def _store(self) -> None:
        name = self._importing.options["version"]
        responses = Response.objects.filter(
            version__project=self._importing.project,
            version__name=name,
            repeat=0,
            question__external_id__in=list(self._retrieved),
        ).select_related("question")
        stands = {one.question.external_id: one for one in responses}
        unanswered, ranked = {}, []
        for question, retrieved in self._retrieved.items():
            ranking = [{"id": one.document, "score": one.score} for one in retrieved]
            response = stands.get(question)
            if response is None:
                unanswered[question] = ranking
            elif response.ranking == ranking:
                self._counts["unchanged"] += 1
            elif response.ranking is not None or response.status == ResponseStatus.FAILED:
                first = min(retrieved, key=lambda one: one.number)
                self._importing.problems.add(_conflict(name, response), first.number, first.line)
            else:
                response.ranking = ranking
                ranked.append(response)
        if not self._importing.writing:
            return
        version = versions_named(self._importing.project, {name})[name]
        made = []
        for question, ranking in unanswered.items():
            revision = self._asked.revision(question)
            made.append(
                Response(
                    version=version,
                    question=revision.question,
                    revision=revision,
                    status=ResponseStatus.OK,
                    ranking=ranking,
                )
            )
        Response.objects.bulk_create(made, batch_size=_BATCH)
        Response.objects.bulk_update(ranked, ["ranking"], batch_size=_BATCH)
        self._counts["created"], self._counts["ranked"] = len(made), len(ranked)


def _rank(written: str) -> int:
    if not written.isdecimal() or len(written) > 9:
        raise RowError("bad_rank", "A rank is a whole number from 0.", field="rank", excerpt=written)
    return int(written)


def _score(written: str) -> float:
    score = as_number(written)
    if score is None:
        raise RowError("bad_score", "A score is a finite number.", field="score", excerpt=written)
    return score


def _out_of_order(question: str, retrieved: list[_Retrieved]) -> Iterator[tuple[RowError, _Retrieved]]:
    """What is wrong with the ranks of a question's documents, which come in the order of these."""
    for before, one in pairwise(retrieved):
        if one.rank == before.rank:
            said = f"Row {before.number} has rank {one.rank} for “{question[:80]}” already."
            yield RowError("duplicate_rank", said, field="rank", excerpt=one.document), one
        elif one.score > before.score:
            said = (
                f"The score {one.score:g} at rank {one.rank} is higher than {before.score:g} at rank {before.rank}. "
                "Ranks and scores must have the same order."
            )
            yield RowError("score_against_rank", said, field="score", excerpt=one.document), one


def _conflict(version: str, response: Response) -> RowError:
    question = response.question.external_id[:80]
    if response.status == ResponseStatus.FAILED:
        said = f"The request of “{version[:80]}” for “{question}” failed. Leave the question out."
    else:
        said = (
            f"“{version[:80]}” has another ranking for “{question}” already. Rankings never change: "
            "import this one under the name of another version."
        )
    return RowError("conflict", said, field="question", excerpt=question)
