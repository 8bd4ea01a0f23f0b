"""Questions and test sets by API. They come in by imports, with kind=questions."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.base import ProjectAPIView
from annotate.api.bodies import StrictJSON
from annotate.api.schema import answers
from annotate.api.serializers import Nothing, With
from systems.api import serializers as shapes
from systems.models import FrozenSet, Question
from systems.questions.read import SetState, one_frozen, one_question, one_set, questions_of, sets_of
from systems.questions.write import freeze_set


class QuestionsView(ProjectAPIView):
    actions = {"GET": "systems.read"}

    @answers(shapes.QuestionPage, query=shapes.QuestionsAsked)
    def get(self, request: Request, asked: dict[str, str], slug: str) -> QuerySet[Question]:
        """The questions that meet every condition given, in the order in which they came."""
        found = questions_of(self.project, search=asked.get("search", ""), in_set=asked.get("set", ""))
        return found.prefetch_related("revisions")


class QuestionView(ProjectAPIView):
    actions = {"GET": "systems.read"}

    @answers(shapes.Question)
    def get(self, request: Request, slug: str, question_id: int) -> Question:
        """One question with all that it ever said.

        `question_id` is the number that the list calls `pk`, not the id of the file.
        """
        return one_question(self.project, question_id)


class SetsView(ProjectAPIView):
    actions = {"GET": "systems.read"}

    @answers(shapes.QuestionSets)
    def get(self, request: Request, slug: str) -> dict[str, Any]:
        """The test sets, each with what was frozen of it."""
        return {"results": sets_of(self.project).prefetch_related("frozen__frozen_by")}


class SetView(ProjectAPIView):
    actions = {"GET": "systems.read"}

    @answers(shapes.SetDraft)
    def get(self, request: Request, slug: str, set_name: str) -> SetState:
        """A test set as it is now: its draft, and what that changes against the number that was frozen last."""
        return SetState(one_set(self.project, set_name))


class FreezeView(ProjectAPIView):
    actions = {"POST": "systems.change"}
    parser_classes = [StrictJSON]

    @answers(shapes.FreezeDone, takes=Nothing, status=201, conflict=True, also={200: shapes.FreezeDone})
    def post(self, request: Request, slug: str, set_name: str) -> Response:
        """Freezes the draft under its next number, for good.

        201; a draft that is what was frozen last stays that: 200. An empty one is refused (409).
        """
        done = freeze_set(actor=self.user, project=self.project, name=set_name)
        reply = shapes.FreezeDone.show(With(done.frozen, is_new=done.is_new))
        return Response(reply, status=201 if done.is_new else 200)


class FrozenView(ProjectAPIView):
    actions = {"GET": "systems.read"}

    @answers(shapes.FrozenWhole)
    def get(self, request: Request, slug: str, set_name: str, number: int) -> FrozenSet:
        """What was frozen under a number, with its manifest."""
        return one_frozen(self.project, set_name, number)
