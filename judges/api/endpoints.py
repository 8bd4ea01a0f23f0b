"""Endpoints by API: what is described here never includes a key, only where it comes from."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api import schema as shape
from annotate.api.base import ProjectAPIView, body, expected_revision
from annotate.core.errors import Invalid
from judges.endpoints.read import endpoint_as_dict, endpoints_of, one_endpoint
from judges.endpoints.write import KEY, PLAIN, Trial, change_endpoint, create_endpoint, delete_endpoint, try_endpoint

_FIELDS = {*PLAIN, *KEY}


class _Shared(s.Serializer):
    base_url = s.CharField(help_text="With the version in its path: https://api.openai.com/v1.")
    key_source = s.CharField(help_text="none, environment or stored")
    key_variable = s.CharField(help_text="environment: the name of the variable; it begins with JUDGE_KEY_.")
    concurrency = s.IntegerField(help_text="So many requests at once, 1 to 128.")
    requests_per_minute = s.IntegerField(allow_null=True, help_text="null: as many as there are.")
    timeout_seconds = s.IntegerField(help_text="Of a whole request, 1 to 120.")
    price_in = s.FloatField(allow_null=True, help_text="Per million tokens; null: not known, which is not free.")
    price_out = s.FloatField(allow_null=True)
    currency = s.CharField(help_text="Three letters.")


class EndpointShape(_Shared):
    name = s.CharField()
    key_last4 = s.CharField(help_text="stored: its last four characters; empty for a short key.")
    revision = s.IntegerField()
    created_at = s.DateTimeField()

    class Meta:
        ref_name = "Endpoint"


class EndpointChange(_Shared):
    key = s.CharField(required=False, help_text="The key itself. It is encrypted, and never told again.")

    def get_fields(self) -> Any:
        fields = super().get_fields()
        for field in fields.values():
            field.required = False
        return fields


class NewEndpoint(EndpointChange):
    name = s.CharField(help_text="Small letters, digits, “-” and “_”. It stays.")

    def get_fields(self) -> Any:
        fields = super().get_fields()
        fields["name"].required = fields["base_url"].required = True
        return fields


class TrialRequest(s.Serializer):
    model = s.CharField(required=False, help_text="Asks this model for one word; empty: asks which models there are.")


class TrialShape(s.Serializer):
    works = s.BooleanField()
    status = s.CharField(help_text="ok, or why not: a score's status, or what would stop a run.")
    message = s.CharField()
    seconds = s.FloatField(allow_null=True)
    tokens_in = s.IntegerField(allow_null=True)
    tokens_out = s.IntegerField(allow_null=True)
    cost = s.FloatField(allow_null=True)
    models = s.ListField(child=s.CharField())

    class Meta:
        ref_name = "EndpointTrial"


class EndpointsView(ProjectAPIView):
    actions = {"GET": "endpoints.read", "POST": "endpoints.change"}

    @shape.describes(EndpointShape(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The project's endpoints, by name."""
        return Response([endpoint_as_dict(endpoint) for endpoint in endpoints_of(self.project)])

    @shape.describes(EndpointShape, request=NewEndpoint, status=201, conflict=True)
    def post(self, request: Request, slug: str) -> Response:
        """Adds an endpoint.

        Its address is looked up and checked: hosts within this machine or its network need the operator's setting
        JUDGE_PRIVATE_HOSTS. `field` of a refusal says what it is about. Send `key`, or `key_variable`, or neither.
        """
        data = body(request, {"name", *_FIELDS}, required={"name", "base_url"})
        endpoint = create_endpoint(project=self.project, actor=self.user, **data)
        return Response(endpoint_as_dict(endpoint), status=201)


class EndpointView(ProjectAPIView):
    actions = {"GET": "endpoints.read", "PATCH": "endpoints.change", "DELETE": "endpoints.change"}

    @shape.describes(EndpointShape)
    def get(self, request: Request, slug: str, name: str) -> Response:
        """One endpoint."""
        return Response(endpoint_as_dict(one_endpoint(self.project, name)))

    @shape.describes(EndpointShape, request=EndpointChange, params=[shape.IF_MATCH])
    def patch(self, request: Request, slug: str, name: str) -> Response:
        """Changes an endpoint.

        A key belongs to the scheme, host and port it was given for. A `base_url` with others needs the key for there in
        the same request, or `"key_source": "none"`; the old one is erased.
        """
        endpoint = one_endpoint(self.project, name)
        data = body(request, _FIELDS)
        changed = change_endpoint(
            endpoint=endpoint, expected_revision=expected_revision(request), actor=self.user, **data
        )
        return Response(endpoint_as_dict(changed))

    @shape.describes(conflict=True)
    def delete(self, request: Request, slug: str, name: str) -> Response:
        """Deletes an endpoint and its key.

        Refused (409) while versions of judges ask there: their scores came from there.
        """
        delete_endpoint(endpoint=one_endpoint(self.project, name), actor=self.user)
        return Response(status=204)


class EndpointTrialView(ProjectAPIView):
    actions = {"POST": "endpoints.change"}

    @shape.describes(TrialShape, request=TrialRequest)
    def post(self, request: Request, slug: str, name: str) -> Response:
        """Sends one tiny request, and says what became of it.

        A reply that is 200 says in `works` whether judges could ask there. Nothing that the endpoint wrote is repeated
        but the names of its models.
        """
        endpoint = one_endpoint(self.project, name)
        model = body(request, {"model"}).get("model")
        if model is not None and (not isinstance(model, str) or len(model) > 200):
            raise Invalid("bad_model", "model: a text of at most 200 characters.", field="model")
        return Response(trial_as_dict(try_endpoint(endpoint=endpoint, model=model)))


def trial_as_dict(trial: Trial) -> dict[str, Any]:
    return {
        "works": trial.works,
        "status": trial.status,
        "message": trial.message,
        "seconds": trial.seconds,
        "tokens_in": trial.tokens_in,
        "tokens_out": trial.tokens_out,
        "cost": None if trial.cost is None else float(trial.cost),
        "models": list(trial.models),
    }
