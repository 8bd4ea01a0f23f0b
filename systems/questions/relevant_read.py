"""Which documents are needed to answer a question, by all that is known of it: the one place where grades that came
with a question, imported ones and people's are put together.

People's are read from the verdicts that hold, on passages of the question's own pools and of responses to it, so that
they are never out of date (docs/decisions/0059-pooling.md).
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, cast

from annotate.core.blindness import Reader, without_held_back
from annotate.core.rows import fetch_all
from annotate.core.scales import Value
from annotate.core.units import parse_unit
from annotate.labels.settled_read import HOLDING, STANDING
from annotate.models import Criterion, Project, Verdict
from annotate.models.project import Scale, UnitKind
from annotate.projects.read import rated_criteria
from annotate.samples.read import of_samples
from systems.core.grades import MAX_GRADE
from systems.models import Holds, RelevanceDecision

# From this grade on a document is relevant by imported judgements; by people's, if the value passes.
RELEVANT_FROM = 1
# The criterion by which people say it.
RELEVANCE = "relevance"


class Grade(NamedTuple):
    """Sorts by relevance."""

    is_relevant: bool
    grade: int


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is known of a document, by whom; None: nothing. holds: as a reviewer decided where the two contradict each
    other."""

    imported: Grade | None = None
    people: Grade | None = None
    holds: str | None = None

    @property
    def is_contradicted(self) -> bool:
        """One says that it is relevant, and the other that it isn't. Their scales may differ otherwise."""
        return (
            self.imported is not None
            and self.people is not None
            and self.imported.is_relevant != self.people.is_relevant
        )

    @property
    def stands(self) -> Grade:
        """People's word, unless a reviewer decided otherwise."""
        found = self.imported if self.people is None or self.holds == Holds.IMPORTED else self.people
        assert found is not None
        return found

    @property
    def grade(self) -> int:
        return self.stands.grade

    @property
    def is_relevant(self) -> bool:
        return self.stands.is_relevant


def document_judgements(
    project: Project, revisions: Mapping[int, int], *, reader: Reader
) -> dict[int, dict[str, Judgement]]:
    """Of each of these revisions ({revision: its question}) what is known of documents. Imported is what came with it,
    unless a file of judgements says otherwise."""
    questions = set(revisions.values())
    imported = _imported(revisions)
    people = _of_people(project, questions, reader=reader)
    decided = _decided(questions)
    return {
        revision: {
            document: _judgement(
                imported[revision].get(document),
                people[question].get(document),
                decided.get((question, document)),
            )
            for document in {**imported[revision], **people[question]}
        }
        for revision, question in revisions.items()
    }


def _judgement(imported: Grade | None, people: Grade | None, decided: RelevanceDecision | None) -> Judgement:
    """A decision on other grades than these decides nothing."""
    if decided is None or imported is None or people is None:
        return Judgement(imported, people)
    is_of_these = (decided.imported, decided.people) == (imported.grade, people.grade)
    found = Judgement(imported, people, decided.holds)
    return found if is_of_these and found.is_contradicted else Judgement(imported, people)


_CAME = "SELECT id, relevant::text FROM systems_questionrevision WHERE id = ANY(%(revisions)s) AND relevant <> '{}'"
_FILED = "SELECT question_id, document_id, grade FROM systems_relevance WHERE question_id = ANY(%(questions)s)"


def _imported(revisions: Mapping[int, int]) -> dict[int, dict[str, Grade]]:
    grades: dict[int, dict[str, int]] = {revision: {} for revision in revisions}
    for revision, relevant in fetch_all(_CAME, {"revisions": list(revisions)}):
        grades[revision].update(json.loads(relevant))
    filed: dict[int, dict[str, int]] = defaultdict(dict)
    for question, document, grade in fetch_all(_FILED, {"questions": list(set(revisions.values()))}):
        filed[question][document] = grade
    return {
        revision: {
            document: Grade(grade >= RELEVANT_FROM, grade)
            for document, grade in {**grades[revision], **filed[question]}.items()
        }
        for revision, question in revisions.items()
    }


def _decided(questions: Collection[int]) -> dict[tuple[int, str], RelevanceDecision]:
    decisions = RelevanceDecision.objects.filter(question__in=questions)
    return {(one.question_id, one.document_id): one for one in decisions}


# People's


def relevance_criterion(project: Project) -> Criterion | None:
    """None where people are not asked which contexts are relevant, or no value of it says so."""
    criterion = rated_criteria(project).filter(key=RELEVANCE, unit=UnitKind.CONTEXT).first()
    return criterion if criterion is not None and criterion.passes and criterion.levels else None


def _of_people(project: Project, questions: Collection[int], *, reader: Reader) -> dict[int, dict[str, Grade]]:
    """Of a document of which several passages were judged, the highest."""
    found: dict[int, dict[str, Grade]] = defaultdict(dict)
    criterion = relevance_criterion(project)
    if criterion is None:
        return found
    grade_of = _grades_of(criterion)
    for one in judged_passages(criterion, questions, reader=reader):
        if one.value in grade_of:
            grade = grade_of[one.value]
            of_question = found[one.question]
            for document in one.documents:
                of_question[document] = max(of_question.get(document, grade), grade)
    return found


def _grades_of(criterion: Criterion) -> dict[Value, Grade]:
    """Of each value of the criterion: itself, where all are in order and whole numbers from 0; else 1 for one that
    passes."""
    is_graded = criterion.scale == Scale.ORDINAL and all(
        isinstance(value, int) and 0 <= value <= MAX_GRADE for value in criterion.levels
    )
    return {
        value: Grade(value in criterion.passes, int(value) if is_graded else int(value in criterion.passes))
        for value in criterion.levels
    }


@dataclass(frozen=True, slots=True)
class JudgedPassage:
    """A context that people have settled. documents: whose text it is; none where it has no id."""

    question: int
    sample: int
    context: int
    documents: list[str]
    value: Value


# The documents of a pooled sample's contexts stand beside it; NULL: they are in the contexts themselves.
_SAMPLES = """
    SELECT sample_id, question_id, NULL FROM systems_response
     WHERE question_id = ANY(%(questions)s) AND sample_id IS NOT NULL
     UNION ALL
    SELECT sample_id, question_id, documents::text FROM systems_composedsample WHERE question_id = ANY(%(questions)s)
"""
_CONTEXT_IDS = """
    SELECT id, ARRAY(SELECT c.e ->> 'id' FROM jsonb_array_elements(contexts) WITH ORDINALITY AS c (e, n) ORDER BY c.n)
      FROM annotate_sample WHERE id = ANY(%(samples)s)
"""


def judged_passages(criterion: Criterion, questions: Collection[int], *, reader: Reader) -> Iterator[JudgedPassage]:
    """Of samples that the reader has still to label, none."""
    rows = fetch_all(_SAMPLES, {"questions": list(questions)})
    question_of = {sample: question for sample, question, _documents in rows}
    documents_of = {sample: json.loads(documents) for sample, _question, documents in rows if documents is not None}
    holding = Verdict.objects.filter(criterion=criterion).alias(standing=STANDING).filter(standing__in=HOLDING)
    verdicts = list(
        without_held_back(of_samples(holding, list(question_of)), reader=reader).values_list("sample", "unit", "value")
    )
    of_responses = {sample for sample, _unit, _value in verdicts} - documents_of.keys()
    for sample, ids in fetch_all(_CONTEXT_IDS, {"samples": list(of_responses)}):
        documents_of[sample] = [[] if name is None else [name] for name in ids]
    for sample, unit, value in verdicts:
        _kind, context = parse_unit(unit)
        assert context is not None
        yield JudgedPassage(question_of[sample], sample, context, documents_of[sample][context], cast("Value", value))
