"""Pooling: what several versions retrieved for the questions of a test set goes to people, in one sample for each
question, so that they say which documents are relevant and not only which of those that one version found.

No one who labels is told which version retrieved a passage, or at which rank: the passages of a question are in random
order, each text once, and their documents' ids, which may say it, stand beside the sample and not in it.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from annotate.batches.sample_choice import MAX_NOTE, check_seed, new_seed
from annotate.batches.steps import open_batch
from annotate.batches.write import create_batch
from annotate.core.blindness import SYSTEM
from annotate.core.errors import Conflict, Invalid
from annotate.core.rows import fetch_all
from annotate.core.trail import note
from annotate.core.units import MAX_UNITS
from annotate.models import Batch, BatchSample, Criterion, Project, Sample, User
from annotate.models.batch import Came
from annotate.projects.read import active_annotators
from annotate.samples.composed import delete_composed
from systems.core.composing import Composition, compose
from systems.models import ComposedSample, FrozenSet, QuestionRevision, Response, SystemVersion
from systems.questions.relevant_read import RELEVANCE, judged_passages, relevance_criterion
from systems.retrieval.figures_read import DEFAULT_K, depth_of, ranking_of

USUAL_OVERLAP = 2
_BATCH = 1000


@dataclass(frozen=True)
class Pooled:
    """batch: with a sample for each of the questions. passages: how many it has; known: how many were pooled or judged
    before. without_text: documents of which no sample has a text, so that no one can judge them. without_ids:
    responses whose contexts have no ids, so that nobody knows what they retrieved."""

    batch: Batch
    questions: int
    passages: int
    known: int
    without_text: int
    without_ids: int


def pool(
    *,
    actor: User | None,
    frozen: FrozenSet,
    versions: Sequence[SystemVersion],
    k: Any = DEFAULT_K,
    seed: Any = None,
    name: str = "",
    annotators: Sequence[User] | None = None,
    overlap: int | None = None,
    opens: bool = False,
) -> Pooled:
    """The first k documents of each of the versions, of all its repeats, in a batch that asks which are relevant. What
    was pooled or judged before is left out.

    seed: of the order of passages, drawn here where none is given, and stored as the batch's. name: of the batch.
    annotators: all active ones of the project where none are named. overlap: two people, where there are so many.
    opens: whether the batch opens at once; else it is a draft.

    Raises Invalid and Conflict.
    """
    k = depth_of(k).k
    seed = new_seed() if seed is None else seed
    check_seed(seed)
    project = frozen.question_set.project
    criterion = relevance_criterion(project)
    if criterion is None:
        raise Conflict(
            "no_relevance",
            _("This project has no criterion “%(key)s” on contexts with options that pass. Add it first.")
            % {"key": RELEVANCE},
        )
    if not versions:
        raise Invalid("bad_versions", _("versions: name at least one."))
    people = active_annotators(project) if annotators is None else list(annotators)
    if not people:
        raise Conflict("no_annotators", _("This project has no active annotators. Add some, or name who labels."))
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        revisions = {one.revision.question_id: one.revision for one in _asked(frozen)}
        _delete_what_drafts_left(revisions)
        candidates = _candidates(revisions, versions, k)
        texts = _texts(project, candidates)
        new, known = _new_passages(criterion, candidates, texts)
        if not new:
            raise Conflict("nothing_to_pool", _nothing_new(candidates, known))
        samples = _make_samples(project, revisions, new, seed)
        batch = create_batch(
            project=project,
            name=name or _("Passages for %(n)d questions") % {"n": len(new)},
            criteria=[criterion],
            annotators=people,
            overlap=min(USUAL_OVERLAP, len(people)) if overlap is None else overlap,
            selection={"method": "list", "samples": samples, "came": Came.POOL, "note": _note(frozen, versions, k)},
            seed=seed,
            created_by=actor,
        )
        done = Pooled(
            batch=batch,
            questions=len(new),
            passages=sum(map(len, new.values())),
            known=known,
            without_text=sum(
                not texts[question].get(document)
                for question, documents in candidates.documents.items()
                for document in documents
            ),
            without_ids=candidates.without_ids,
        )
        note(
            actor=actor, action="pool.created", subject=frozen.manifest["set"], project=project, batch=batch.number,
            versions=[one.name for one in versions], k=k, seed=seed, questions=done.questions, passages=done.passages,
            known=done.known, without_text=done.without_text,
        )  # fmt: skip
        if opens:
            done.batch.status = open_batch(batch=batch, actor=actor).status
    return done


def _asked(frozen: FrozenSet) -> Sequence[Any]:
    return list(frozen.questions.select_related("revision__question"))


def _delete_what_drafts_left(questions: Mapping[int, Any]) -> None:
    """Samples that were taken out of a draft: no one will label them, and what is in them should be pooled again."""
    in_batches = BatchSample.objects.filter(sample__composed=True).values("sample")
    left = ComposedSample.objects.filter(question__in=questions).exclude(sample__in=in_batches)
    delete_composed(left.values_list("sample_id", flat=True))


# What versions retrieved


@dataclass(frozen=True)
class _Candidates:
    """documents: by question. shown: the texts that the versions' own contexts have, by question and document."""

    documents: Mapping[int, set[str]]
    shown: Mapping[int, Mapping[str, set[str]]]
    without_ids: int


def _candidates(questions: Mapping[int, Any], versions: Sequence[SystemVersion], k: int) -> _Candidates:
    documents: dict[int, set[str]] = defaultdict(set)
    shown: dict[int, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    without_ids = 0
    responses = Response.objects.filter(version__in=versions, question__in=questions).select_related("sample")
    for response in responses.iterator(chunk_size=_BATCH):
        ranking = ranking_of(response)
        if ranking is None:
            without_ids += 1
            continue
        documents[response.question_id] |= set(ranking[:k])
        for context in response.sample.contexts if response.sample else ():
            if context["id"] is not None and context["text"].strip():
                shown[response.question_id][context["id"]].add(context["text"])
    return _Candidates(documents, shown, without_ids)


# The text that came first, of each of these documents.
_ELSEWHERE = """
    SELECT DISTINCT ON (c.e ->> 'id') c.e ->> 'id', c.e ->> 'text'
      FROM annotate_sample s, jsonb_array_elements(s.contexts) WITH ORDINALITY AS c (e, n)
     WHERE s.project_id = %(project)s AND c.e ->> 'id' = ANY(%(documents)s) AND c.e ->> 'text' ~ '\\S'
     ORDER BY c.e ->> 'id', s.id, c.n
"""


def _texts(project: Project, candidates: _Candidates) -> dict[int, dict[str, set[str]]]:
    """Of each question's documents: as the versions' contexts show them, which may be several passages of one; of those
    that only rankings name, as any sample of the project shows them."""
    found = {
        question: {document: candidates.shown[question].get(document, set()) for document in documents}
        for question, documents in candidates.documents.items()
    }
    missing = {document for texts in found.values() for document, several in texts.items() if not several}
    if missing:
        given = {"project": project.pk, "documents": sorted(missing)}
        elsewhere = dict(fetch_all(_ELSEWHERE, given))
        for texts in found.values():
            for document, several in texts.items():
                if not several and document in elsewhere:
                    texts[document] = {elsewhere[document]}
    return found


# What of it is new


def _new_passages(
    criterion: Criterion, candidates: _Candidates, texts: Mapping[int, Mapping[str, set[str]]]
) -> tuple[dict[int, dict[str, set[str]]], int]:
    """By question each text with the documents that have it; and how many were pooled or judged before. A document that
    has the text of one that was pooled is judged with it."""
    pooled = _pooled_before(candidates.documents)
    judged = _judged_before(criterion, candidates.documents)
    new: dict[int, dict[str, set[str]]] = {}
    known = 0
    changed: set[ComposedSample] = set()
    for question in candidates.documents:
        documents_of: dict[str, set[str]] = defaultdict(set)
        for document, several in texts[question].items():
            for text in several:
                documents_of[text].add(document)
        unknown = {}
        for text, documents in documents_of.items():
            if text in pooled[question]:
                before, place = pooled[question][text]
                more = documents - set(before.documents[place])
                if more:
                    before.documents[place] = sorted({*before.documents[place], *more})
                    changed.add(before)
            elif {(document, text) for document in documents} - judged[question]:
                unknown[text] = documents
        known += len(documents_of) - len(unknown)
        if unknown:
            new[question] = unknown
    ComposedSample.objects.bulk_update(changed, ["documents"], batch_size=_BATCH)
    return new, known


def _pooled_before(questions: Mapping[int, Any]) -> dict[int, dict[str, tuple[ComposedSample, int]]]:
    found: dict[int, dict[str, tuple[ComposedSample, int]]] = defaultdict(dict)
    for one in ComposedSample.objects.filter(question__in=questions).select_related("sample"):
        for place, context in enumerate(one.sample.contexts):
            found[one.question_id][context["text"]] = one, place
    return found


def _judged_before(criterion: Criterion, questions: Mapping[int, Any]) -> dict[int, set[tuple[str, str]]]:
    """Document and text, of contexts of responses that people labelled."""
    passages = list(judged_passages(criterion, questions, reader=SYSTEM))
    samples = Sample.objects.in_bulk({one.sample for one in passages})
    found: dict[int, set[tuple[str, str]]] = defaultdict(set)
    for one in passages:
        text = samples[one.sample].contexts[one.context]["text"]
        found[one.question] |= {(document, text) for document in one.documents}
    return found


def _nothing_new(candidates: _Candidates, known: int) -> str:
    if not any(candidates.documents.values()):
        return _("Nothing is known of what these versions retrieved. Import rankings, or contexts with IDs.")
    if known:
        return _("All passages that these versions retrieved were pooled or judged before.")
    return _("No text is known of the documents that these versions retrieved. Import samples whose contexts have it.")


# Samples


def _make_samples(
    project: Project,
    revisions: Mapping[int, QuestionRevision],
    new: Mapping[int, Mapping[str, set[str]]],
    seed: int,
) -> list[str]:
    """One for each question, in the order of the set. Returns their own ids."""
    compositions = []
    for question, revision in revisions.items():
        if question not in new:
            continue
        passages = sorted(new[question])
        if len(passages) > MAX_UNITS:
            said = _("“%(question)s” has %(n)d passages; a sample takes %(most)d. Choose a smaller k.")
            given = {"question": revision.question.external_id[:80], "n": len(passages), "most": MAX_UNITS}
            raise Invalid("too_many_passages", said % given)
        random.Random(f"{seed} {revision.question.external_id}").shuffle(passages)
        contexts = [{"id": None, "text": text, "score": None} for text in passages]
        documents = [sorted(new[question][text]) for text in passages]
        compositions.append(Composition(revision, {"contexts": contexts}, {"documents": documents}))
    return compose(project, compositions, "pool")


def _note(frozen: FrozenSet, versions: Sequence[SystemVersion], k: int) -> str:
    """Why these samples; without versions where they are too many to be named."""
    said = f"{frozen.manifest['set']}, k = {k}"
    named = f"{said}: {', '.join(one.name for one in versions)}"
    return named if len(named) <= MAX_NOTE else said
