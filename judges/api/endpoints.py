"""Endpoints by API: what is described here never includes a key, only where it comes from."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from rest_framework.request import Request

from annotate.api.base import ProjectAPIView, expected_revision
from annotate.api.schema import IF_MATCH, answers
from annotate.core.errors import Invalid
from judges.api import judges_serializers as shapes
from judges.endpoints.read import endpoints_of, one_endpoint
from judges.endpoints.write import Trial, change_endpoint, create_endpoint, delete_endpoint, try_endpoint
from judges.models import Endpoint


class EndpointsView(ProjectAPIView):
    actions = {"GET": "endpoints.read", "POST": "endpoints.change"}

    @answers(shapes.Endpoint(many=True))
    def get(self, request: Request, slug: str) -> QuerySet[Endpoint]:
        """The project's endpoints, by name."""
        return endpoints_of(self.project)

    @answers(shapes.Endpoint, takes=shapes.NewEndpoint, status=201, conflict=True)
    def post(self, request: Request, data: dict[str, Any], slug: str) -> Endpoint:
        """Adds an endpoint.

        Its address is looked up and checked: hosts within this machine or its network need the operator's setting
        JUDGE_PRIVATE_HOSTS. `field` of a refusal says what it is about. Send `key`, or `key_variable`, or neither.
        """
        return create_endpoint(project=self.project, actor=self.user, **data)


class EndpointView(ProjectAPIView):
    actions = {"GET": "endpoints.read", "PATCH": "endpoints.change", "DELETE": "endpoints.change"}

    @answers(shapes.Endpoint)
    def get(self, request: Request, slug: str, name: str) -> Endpoint:
        """One endpoint."""
        return one_endpoint(self.project, name)

    @answers(shapes.Endpoint, takes=shapes.EndpointChange, headers=[IF_MATCH])
    def patch(self, request: Request, data: dict[str, Any], slug: str, name: str) -> Endpoint:
        """Changes an endpoint.

        A key belongs to the scheme, host and port it was given for. A `base_url` with others needs the key for there in
        the same request, or `"key_source": "none"`; the old one is erased.
        """
        endpoint = one_endpoint(self.project, name)
        seen = expected_revision(request)
        return change_endpoint(endpoint=endpoint, expected_revision=seen, actor=self.user, **data)

    @answers(conflict=True)
    def delete(self, request: Request, slug: str, name: str) -> None:
        """Deletes an endpoint and its key.

        Refused (409) while versions of judges ask there: their scores came from there.
        """
        delete_endpoint(endpoint=one_endpoint(self.project, name), actor=self.user)


class EndpointTrialView(ProjectAPIView):
    actions = {"POST": "endpoints.change"}

    @answers(shapes.EndpointTrial, takes=shapes.TrialRequest)
    def post(self, request: Request, data: dict[str, Any], slug: str, name: str) -> Trial:
        """Sends one tiny request, and says what became of it.

        A reply that is 200 says in `works` whether judges could ask there. Nothing that the endpoint wrote is repeated
        but the names of its models.
        """
        endpoint = one_endpoint(self.project, name)
        model = data.get("model")
        if model is not None and (not isinstance(model, str) or len(model) > 200):
            raise Invalid("bad_model", "model: a text of at most 200 characters.", field="model")
        return try_endpoint(endpoint=endpoint, model=model)
