"""How well versions retrieve on a frozen test set, against every document whose relevance is known.

What is known of a question's documents is put together in systems.questions.relevant_read.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

import alignment
from annotate.core.blindness import Reader
from annotate.core.errors import Conflict, Invalid
from annotate.models import Project
from annotate.samples.read import context_ids
from systems.core.grades import MAX_GRADE
from systems.core.set_names import numbered
from systems.models import FrozenSet, QuestionRevision, Response, ResponseStatus, SystemVersion
from systems.questions.read import SetState, one_frozen, one_set
from systems.questions.relevant_read import Judgement, document_judgements
from systems.responses.read import require_labelled, version_named

SCHEMA = 1
DEFAULT_K = 5
MAX_K = 1_000


@dataclass(frozen=True)
class Depth:
    """k: how many documents count; rel: the grade from which one is relevant, None: as whoever gave it means it."""

    k: int = DEFAULT_K
    rel: int | None = None


def depth_of(k: object, rel: object = None) -> Depth:
    """As they were written, or left out. Raises Invalid."""
    return Depth(
        DEFAULT_K if k in (None, "") else _whole("k", k, MAX_K),
        None if rel in (None, "") else _whole("rel", rel, MAX_GRADE),
    )


def _whole(name: str, value: object, most: int) -> int:
    number = int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 10 else value
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= most:
        said = _("%(name)s: must be a whole number from 1 to %(most)s.")
        raise Invalid(f"bad_{name}", said % {"name": name, "most": f"{most:,}"})
    return number


def frozen_named(project: Project, name: str) -> FrozenSet:
    """`support@1`, or what `support` was last frozen as. Raises Http404, and Conflict where it never was."""
    frozen = numbered(name)
    if frozen is not None:
        return one_frozen(project, *frozen)
    newest = SetState(one_set(project, name)).newest
    if newest is None:
        said = _("“%(name)s” isn’t frozen yet. Freeze the test set first.")
        raise Conflict("not_frozen", said % {"name": name[:80]})
    return newest


@dataclass(frozen=True)
class Truth:
    """What is known of a frozen set. revisions: by the question's id, in order. known: {question: {document: what is
    known of it}}. group: of each question."""

    revisions: Mapping[str, QuestionRevision]
    known: Mapping[str, Mapping[str, Judgement]]

    def relevant(self, question: str, depth: Depth) -> set[str]:
        """Documents."""
        known = self.known[question].items()
        if depth.rel is None:
            return {document for document, one in known if one.is_relevant}
        return {document for document, one in known if one.grade >= depth.rel}

    @property
    def contradicted(self) -> int:
        """How many documents of which imported judgements and people say different things, and no reviewer has decided
        which holds."""
        return sum(one.is_contradicted and one.holds is None for known in self.known.values() for one in known.values())

    @property
    def group(self) -> dict[str, str]:
        return {name: revision.question.group_key for name, revision in self.revisions.items()}


def truth_of(frozen: FrozenSet, *, reader: Reader) -> Truth:
    """Raises Conflict while the reader still has answers to its questions, or passages of them, to label: what is
    known of documents is what others said, and rankings tell which version retrieved them."""
    asked = frozen.questions.select_related("revision__question")
    revisions = {one.revision.question.external_id: one.revision for one in asked}
    questions = {one.pk: one.question_id for one in revisions.values()}
    require_labelled(
        questions.values(),
        _("You still have answers or passages of this test set to label. Retrieval is shown once you submit them."),
        reader=reader,
    )
    known = document_judgements(frozen.question_set.project, questions, reader=reader)
    return Truth(revisions, {name: known[one.pk] for name, one in revisions.items()})


@dataclass(frozen=True)
class Rankings:
    """What a version retrieved for the questions of a set: by (question, repeat), the best first; nothing where the
    request failed. failed: how many did. without_ids: responses whose contexts have no ids, so that nobody knows what
    they retrieved. not_asked: questions without a response, which count as not retrieved."""

    of: Mapping[tuple[str, int], list[str]]
    failed: int
    without_ids: list[tuple[str, int]]
    not_asked: list[str]


def rankings_of(version: SystemVersion, truth: Truth, *, questions: Collection[str] | None = None) -> Rankings:
    """questions: of which; None: of all."""
    revisions = {name: one for name, one in truth.revisions.items() if questions is None or name in questions}
    responses = (
        Response.objects.filter(version=version, question__in=[one.question_id for one in revisions.values()])
        .select_related("question", "sample")
        .order_by("question", "repeat")
    )
    found: dict[tuple[str, int], list[str]] = {}
    without_ids = []
    failed = 0
    for response in responses.iterator(chunk_size=1000):
        key = (response.question.external_id, response.repeat)
        ranking = ranking_of(response)
        if ranking is None:
            without_ids.append(key)
        else:
            found[key] = ranking
            failed += response.status == ResponseStatus.FAILED
    answered = {question for question, _repeat in (*found, *without_ids)}
    not_asked = [name for name in revisions if name not in answered]
    return Rankings({**found, **{(name, 0): [] for name in not_asked}}, failed, without_ids, not_asked)


def ranking_of(response: Response) -> list[str] | None:
    """The documents, each once, the best first; None where contexts have no ids."""
    if response.ranking is not None:
        return [entry["id"] for entry in response.ranking]
    if response.sample is None:
        return []
    ids = context_ids(response.sample)
    return None if response.sample.contexts and not ids else list(dict.fromkeys(ids))


def retrieval_figures(truth: Truth, frozen: FrozenSet, version: SystemVersion, depth: Depth) -> dict[str, Any]:
    """As plain JSON (docs/formats.md). Raises Conflict where nothing is known of what the version retrieved."""
    rankings = rankings_of(version, truth)
    if not any(rankings.of.values()):
        said = (
            _("The contexts of “%(version)s” have no document IDs. Import its rankings, or give the contexts IDs.")
            if rankings.without_ids
            else _("“%(version)s” has no rankings on %(set)s. Import them, or responses whose contexts have IDs.")
        )
        raise Conflict("no_rankings", said % {"version": version.name, "set": frozen.manifest["set"]})
    keys = {f"{question} {repeat}": (question, repeat) for question, repeat in rankings.of}
    found = alignment.retrieval_figures(
        {question: {document: one.grade for document, one in known.items()} for question, known in truth.known.items()},
        {key: rankings.of[of] for key, of in keys.items()},
        k=depth.k,
        relevant={question: truth.relevant(question, depth) for question in truth.known},
        question_of={key: question for key, (question, _repeat) in keys.items()},
        group=truth.group,
    )
    none = dict.fromkeys(found.metrics)
    return {
        "schema": SCHEMA,
        "version": version.name,
        "set": frozen.manifest["set"],
        "k": depth.k,
        "rel": depth.rel,
        "questions": len(truth.revisions),
        "undefined": len(found.undefined),
        "failed": rankings.failed,
        "not_asked": len(rankings.not_asked),
        "without_ids": len(rankings.without_ids),
        "contradicted": truth.contradicted,
        "metrics": {name: estimate.as_dict() for name, estimate in found.metrics.items()},
        "per_question": {name: dict(found.per_question.get(name, none)) for name in truth.revisions},
    }


def retrieval_of(project: Project, *, in_set: str, version: str, depth: Depth, reader: Reader) -> dict[str, Any]:
    """Raises Http404, Invalid and Conflict."""
    frozen, of = frozen_named(project, in_set), version_named(project, version)
    return retrieval_figures(truth_of(frozen, reader=reader), frozen, of, depth)
