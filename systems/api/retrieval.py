"""Retrieval by API: figures, pools, and conflicts of judgements. Judgements and rankings come in by imports, with
kind=qrels and kind=run."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request

from annotate.api.base import ProjectAPIView
from annotate.api.bodies import StrictJSON
from annotate.api.schema import answers
from annotate.projects.read import people_of
from systems.api import retrieval_serializers as shapes
from systems.responses.read import version_named
from systems.retrieval.contradictions import Contradiction, contradictions_of, decide_relevance
from systems.retrieval.figures_read import DEFAULT_K, depth_of, frozen_named, retrieval_of, truth_of
from systems.retrieval.pool import Pooled, pool


class RetrievalView(ProjectAPIView):
    actions = {"GET": "systems.read"}

    @answers(shapes.RetrievalFigures, query=shapes.RetrievalAsked, conflict=True)
    def get(self, request: Request, asked: dict[str, Any], slug: str) -> dict[str, Any]:
        """How well a version retrieves on a frozen test set, against all documents that are known to be relevant.

        The same as `manage.py retrieval` prints (docs/statistics.md). Refused (409) where the set was never frozen, or
        nothing is known of what the version retrieved; and while you still have answers to its questions, or passages
        of them, to label.
        """
        depth = depth_of(asked.get("k"), asked.get("rel"))
        return retrieval_of(self.project, in_set=asked["set"], version=asked["version"], depth=depth, reader=self.user)


class PoolView(ProjectAPIView):
    actions = {"POST": "batches.change"}
    parser_classes = [StrictJSON]

    @answers(shapes.Pooled, takes=shapes.PoolRequest, status=201, conflict=True)
    def post(self, request: Request, data: dict[str, Any], slug: str) -> Pooled:
        """Pools what versions retrieved for a frozen test set, in a batch that asks which passages are relevant.

        One sample for each question: each text once, shuffled, without ids, ranks and versions. What was pooled or
        judged before is left out; refused (409) where nothing is left. Deleting the batch deletes the samples.
        """
        named = data.get("annotators")
        return pool(
            actor=self.user,
            frozen=frozen_named(self.project, data["set"]),
            versions=[version_named(self.project, name) for name in dict.fromkeys(data["versions"])],
            k=data.get("k", DEFAULT_K),
            seed=data.get("seed"),
            name=data.get("name", ""),
            annotators=None if named is None else people_of(self.project, named),
            overlap=data.get("overlap"),
            opens=data.get("open", False),
        )


class ConflictsView(ProjectAPIView):
    actions = {"GET": "systems.read", "POST": "adjudication.decide"}
    parser_classes = [StrictJSON]

    @answers(shapes.ConflictPage, query=shapes.ConflictsAsked, conflict=True)
    def get(self, request: Request, asked: dict[str, Any], slug: str) -> list[Contradiction]:
        """Documents of a frozen test set of which imported judgements and annotators say different things.

        Those that no reviewer has decided first. Refused (409) while you still have answers to its questions, or
        passages of them, to label.
        """
        return contradictions_of(truth_of(frozen_named(self.project, asked["set"]), reader=self.user))

    @answers(shapes.Conflict, takes=shapes.ConflictDecision, conflict=True)
    def post(self, request: Request, data: dict[str, Any], slug: str) -> Contradiction:
        """Decides whose judgement of a document holds, annotators’ or the imported one; it can be decided again.

        `imported` and `people` are the grades that you saw. Refused (409) where they have changed, or don’t contradict
        each other.
        """
        said = {name: value for name, value in data.items() if name != "set"}
        return decide_relevance(actor=self.user, frozen=frozen_named(self.project, data["set"]), **said)
