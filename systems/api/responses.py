"""Versions and their responses by API."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiExample
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api import files_serializers as files
from annotate.api.base import ProjectAPIView
from annotate.api.bodies import JSONBytes, StrictJSON
from annotate.api.samples import PUSH_OUTCOMES, pushed
from annotate.api.schema import answers
from annotate.api.serializers import With
from annotate.core.bodies import MANY_ROWS
from systems import models
from systems.api import serializers as shapes
from systems.responses.linking import Linked, confirm_questions
from systems.responses.read import figures_of, one_version, responses_of, versions_of
from systems.responses.unlinked_read import Proposal, proposals
from systems.responses.versions import Description, change_version, create_version


class VersionsView(ProjectAPIView):
    actions = {"GET": "systems.read", "POST": "systems.change"}
    parser_classes = [StrictJSON]

    @answers(shapes.SystemVersions)
    def get(self, request: Request, slug: str) -> dict[str, Any]:
        """The versions of the system, those that came with samples and those that were described."""
        return {"results": versions_of(self.project)}

    @answers(shapes.SystemVersion, takes=shapes.SystemVersionCreation, status=201, conflict=True)
    def post(self, request: Request, data: dict[str, Any], slug: str) -> models.SystemVersion:
        """Makes a version before it has samples: a build and how it is configured.

        Such as {"name": "v7", "configuration": {"model": "m", "top_k": 5}, "commit": "1a2b3c"}.
        """
        made = create_version(actor=self.user, project=self.project, name=data["name"], said=_described(data))
        return one_version(self.project, made.pk)


class VersionView(ProjectAPIView):
    actions = {"GET": "systems.read", "PATCH": "systems.change"}
    parser_classes = [StrictJSON]

    @answers(shapes.SystemVersionWhole)
    def get(self, request: Request, slug: str, version_id: int) -> With:
        """A version with what its responses took: median, 95th percentile and sum, and of how many that is known."""
        version = one_version(self.project, version_id)
        return With(version, figures=figures_of(version))

    @answers(shapes.SystemVersion, takes=shapes.SystemVersionChange)
    def patch(self, request: Request, data: dict[str, Any], slug: str, version_id: int) -> models.SystemVersion:
        """Describes a version otherwise. What is left out stays as it is."""
        version = one_version(self.project, version_id)
        change_version(actor=self.user, version=version, said=_described(data))
        return one_version(self.project, version_id)


def _described(data: dict[str, Any]) -> Description:
    names = ("configuration", "commit", "parent_commit", "price", "tags")
    return Description(**{name: data.get(name) for name in names}, is_baseline=data.get("baseline"))


class ResponsesView(ProjectAPIView):
    actions = {"GET": "systems.read", "POST": "import.run"}
    parser_classes = [JSONBytes]
    body_bytes = MANY_ROWS

    @answers(shapes.ResponsePage, query=shapes.ResponsesAsked)
    def get(self, request: Request, asked: dict[str, str], slug: str) -> QuerySet[models.Response]:
        """The responses that meet every condition given, in the order in which they came.

        Those whose sample you still have to label are left out: you are not to know which version gave it.
        """
        return responses_of(
            self.project,
            version=asked.get("version", ""),
            in_set=asked.get("set", ""),
            question=asked.get("question", ""),
            status=asked.get("status") or "",
            reader=self.user,
        )

    @answers(
        files.Pushed,
        request=files.Push,
        status=201,
        also=PUSH_OUTCOMES,
        examples=[
            OpenApiExample(
                "An answer of build v7, and a request that failed",
                request_only=True,
                value={
                    "version": "v7",
                    "samples": [
                        {"question_id": "kb-001", "answer": "On 8000.", "latency_ms": 812},
                        {"question_id": "kb-002", "status": "failed", "error": "timeout"},
                    ],
                },
            )
        ],
    )
    def post(self, request: Request, slug: str) -> Response:
        """Pushes what a version said to questions.

        The same as pushing samples: rows that name a question are responses (docs/formats.md).
        """
        return pushed(self.project, self.user, request)


class UnlinkedView(ProjectAPIView):
    actions = {"GET": "systems.read", "POST": "systems.change"}
    parser_classes = [StrictJSON]

    @answers(shapes.UnlinkedPage)
    def get(self, request: Request, slug: str) -> list[Proposal]:
        """Samples that answer no question yet, though several versions were asked exactly the same.

        They become responses to one question when an admin confirms it.
        """
        return proposals(self.project)

    @answers(shapes.Confirmed, takes=shapes.Confirmation, conflict=True)
    def post(self, request: Request, data: dict[str, Any], slug: str) -> Linked:
        """Confirms that these are one question each, by their keys.

        The question is made if no question says this, the samples are its responses, and all of them are one group.
        What rested on them is then out of date.
        """
        return confirm_questions(actor=self.user, project=self.project, keys=data.get("keys"))
