"""A person confirms that samples of several versions answer one question: it is made, and they are responses to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from annotate.core import advisory
from annotate.core.errors import Conflict, Invalid
from annotate.core.rows import execute
from annotate.core.trail import note
from annotate.models import Project, User
from systems.models import Question, QuestionRevision, Response, ResponseStatus
from systems.questions.contents import Content, new_revisions, own_id
from systems.responses.unlinked_read import Proposal, proposals
from systems.responses.versions import versions_named

_OF_GROUP = """
    UPDATE annotate_sample s SET group_key = q.group_key
      FROM systems_response r JOIN systems_question q ON q.id = r.question_id
     WHERE r.sample_id = s.id AND r.question_id = ANY(%(questions)s) AND s.group_key = ''
"""


@dataclass(frozen=True)
class Linked:
    """questions: with those that were there."""

    questions: int
    responses: int


def confirm_questions(*, actor: User | None, project: Project, keys: Collection[str] | None) -> Linked:
    """keys: of the proposals that are confirmed; None: all that can be. Raises Conflict while an import of the project
    is written, and Invalid where one that is named is no proposal, or none that can be confirmed."""
    with transaction.atomic():
        if not advisory.begin_import(project.pk, wait=False):
            raise Conflict("busy", _("Another import of this project is running. Try again in a moment."))
        found = [one for one in proposals(project, keys) if one.can_be_confirmed]
        if not found or (keys is not None and len(found) < len(set(keys))):
            raise Invalid("no_proposal", _("Some of these are no longer proposed. Look at the list again."))
        said = _revisions(project, found)
        made = Response.objects.bulk_create(_responses(project, found, said), batch_size=1000)
        execute(_OF_GROUP, {"questions": [revision.question_id for revision in said.values()]})
        linked = Linked(questions=len(found), responses=len(made))
        note(
            actor=actor,
            action="questions.confirmed",
            subject=project.name,
            project=project,
            questions=linked.questions,
            responses=linked.responses,
        )
    return linked


def _revisions(project: Project, found: list[Proposal]) -> dict[str, QuestionRevision]:
    """By its words: of the question that says this, else of one that is made."""
    there = QuestionRevision.objects.filter(
        question__project=project, text__in=[one.text for one in found if one.question is not None]
    )
    said = {one.text: one for one in there.select_related("question").order_by("number")}
    new = [one for one in found if one.question is None]
    questions = Question.objects.bulk_create(_question(project, one) for one in new)
    made = new_revisions((question, 1, Content(one.text)) for question, one in zip(questions, new, strict=True))
    return said | {one.text: one for one in made}


def _question(project: Project, proposal: Proposal) -> Question:
    name = own_id(Content(proposal.text))
    return Question(project=project, external_id=name, group_key=next(iter(proposal.groups), name))


def _responses(project: Project, found: list[Proposal], said: Mapping[str, QuestionRevision]) -> Iterator[Response]:
    """Of a version's samples the first is repeat 0, or comes behind the responses that are there."""
    versions = versions_named(project, {version for one in found for version in one.versions})
    there = Response.objects.filter(question__in={revision.question_id for revision in said.values()})
    last = there.order_by().values_list("question", "version__name").annotate(last=Max("repeat"))
    repeats = Counter({(question, version): repeat + 1 for question, version, repeat in last})
    for proposal in found:
        revision = said[proposal.text]
        for sample, version in zip(proposal.samples, proposal.versions, strict=True):
            yield Response(
                question_id=revision.question_id,
                revision=revision,
                version=versions[version],
                repeat=repeats[revision.question_id, version],
                status=ResponseStatus.OK,
                sample_id=sample,
            )
            repeats[revision.question_id, version] += 1
