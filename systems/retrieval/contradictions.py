"""Where imported judgements and people contradict each other on whether a document is relevant, and a reviewer's word
on which of them holds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction
from django.http import Http404
from django.utils.translation import gettext as _

from annotate.core.blindness import Reader
from annotate.core.errors import Conflict, Invalid
from annotate.core.trail import note
from annotate.models import Project, Sample, User
from systems.models import FrozenSet, Holds, QuestionRevision, RelevanceDecision
from systems.questions.relevant_read import Judgement, judged_passages, relevance_criterion
from systems.retrieval.figures_read import Truth, truth_of


@dataclass(frozen=True, slots=True)
class Contradiction:
    """holds: whose word it is by a reviewer's decision; None: not decided, so people's counts."""

    revision: QuestionRevision
    document: str
    imported: int
    people: int
    are_relevant_by_people: bool
    holds: str | None


def contradictions_of(truth: Truth) -> list[Contradiction]:
    """Those that no one has decided first, each in the order of the set."""
    found = [
        contradiction
        for question, known in truth.known.items()
        for document, one in sorted(known.items())
        if (contradiction := _contradiction(truth.revisions[question], document, one)) is not None
    ]
    return sorted(found, key=lambda one: one.holds is not None)


def _contradiction(revision: QuestionRevision, document: str, known: Judgement) -> Contradiction | None:
    if not known.is_contradicted or known.imported is None or known.people is None:
        return None
    return Contradiction(
        revision, document, known.imported.grade, known.people.grade, known.people.is_relevant, known.holds
    )


def passages_of(
    project: Project, contradictions: Sequence[Contradiction], *, reader: Reader
) -> dict[tuple[int, str], list[str]]:
    """By question and document what people read of it, each text once."""
    criterion = relevance_criterion(project)
    if criterion is None:
        return {}
    wanted = {(one.revision.question_id, one.document) for one in contradictions}
    judged = [
        (key, one)
        for one in judged_passages(criterion, {question for question, _document in wanted}, reader=reader)
        for key in ((one.question, document) for document in one.documents)
        if key in wanted
    ]
    samples = Sample.objects.in_bulk({one.sample for _key, one in judged})
    found: dict[tuple[int, str], list[str]] = defaultdict(list)
    for key, one in judged:
        text = samples[one.sample].contexts[one.context]["text"]
        if text not in found[key]:
            found[key].append(text)
    return found


def decide_relevance(
    *, actor: User, frozen: FrozenSet, question: Any, document: Any, imported: Any, people: Any, holds: Any
) -> Contradiction:
    """Whose word holds; it can be decided again. imported, people: the grades as the reviewer saw them.

    Raises Http404, Invalid, and Conflict where there is no contradiction, or none of these grades.
    """
    if holds not in Holds.values:
        raise Invalid("bad_holds", _("holds: must be one of %(known)s.") % {"known": ", ".join(Holds.values)})
    with transaction.atomic():
        project = Project.objects.select_for_update(no_key=True).get(pk=frozen.question_set.project_id)
        truth = truth_of(frozen, reader=actor)
        revision = truth.revisions.get(question)
        if revision is None:
            raise Http404(_("Question not found."))
        found = _contradiction(revision, document, truth.known[question].get(document, Judgement()))
        if found is None:
            said = _("Imported judgements and annotators don’t contradict each other on this document.")
            raise Conflict("no_contradiction", said)
        if (found.imported, found.people) != (imported, people):
            raise Conflict("other_grades", _("The grades have changed since you saw them. Look at them again."))
        RelevanceDecision.objects.update_or_create(
            question=revision.question,
            document_id=document,
            defaults={"imported": imported, "people": people, "holds": holds, "decided_by": actor},
        )
        note(actor=actor, action="relevance.decided", subject=question, project=project, document=document, holds=holds)
    return replace(found, holds=holds)
