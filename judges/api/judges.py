"""Judges, their versions and endpoints by API. Of an endpoint's key only its source is told, never the key itself."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.base import ProjectAPIView, expected_revision, idempotency_key_if_any
from annotate.api.schema import IF_MATCH, answers
from annotate.api.serializers import Nothing, With
from annotate.core.blindness import why_held_back
from annotate.core.errors import Invalid
from annotate.core.rows import first_or_raise
from judges.api import judges_serializers as shapes
from judges.endpoints.read import endpoints_of, one_endpoint
from judges.endpoints.write import Trial, change_endpoint, create_endpoint, delete_endpoint, try_endpoint
from judges.exports.files import exported
from judges.kinds.llm import builtin_templates
from judges.kinds.registry import runnable_kinds
from judges.models import Endpoint, Judge, JudgeKind, JudgeVersion, VersionState
from judges.runs.write import RequestKey
from judges.versions.read import (
    config_of,
    judges_of,
    one_judge,
    one_version,
    version_diff,
    versions_of,
    withheld,
)
from judges.versions.write import add_version, create_judge, drop_version, keep_version, set_direction


class JudgesView(ProjectAPIView):
    actions = {"GET": "judges.read", "POST": "judges.change"}

    @answers(shapes.Judge(many=True))
    def get(self, request: Request, slug: str) -> QuerySet[Judge]:
        """The judges, by name.

        Those that are run here, and every metric whose scores were imported; each with its versions in the order in
        which they came.
        """
        return judges_of(self.project)

    @answers(shapes.Judge, takes=shapes.JudgeCreation, status=201, conflict=True)
    def post(self, request: Request, data: dict[str, Any], slug: str) -> Judge:
        """Makes a judge that can be run here.

        With its first version, which is in use at once. When the configuration can't be taken, the error names the
        field and says why. Refused (409) for a name that the project has.
        """
        judge = create_judge(project=self.project, actor=self.user, **data)
        return one_judge(self.project, judge.pk)


class JudgeView(ProjectAPIView):
    actions = {"GET": "judges.read", "PATCH": "judges.change"}

    @answers(shapes.Judge)
    def get(self, request: Request, slug: str, judge_id: int) -> Judge:
        """One judge with its versions.

        `judge_id` is the number that the list calls `id`.
        """
        return one_judge(self.project, judge_id)

    @answers(shapes.Judge, takes=shapes.JudgeChange, conflict=True)
    def patch(self, request: Request, data: dict[str, Any], slug: str, judge_id: int) -> Judge:
        """Says whether higher scores of a judge mean better.

        They do, unless it is said. Figures follow at once, and reports that were made before are out of date. Refused
        (409) once the judge was measured on test.
        """
        judge = one_judge(self.project, judge_id)
        return set_direction(judge=judge, higher_is_better=data["higher_is_better"], actor=self.user)


class JudgeVersionsView(ProjectAPIView):
    actions = {"GET": "judges.read", "POST": "judges.change"}

    @answers(shapes.Version(many=True))
    def get(self, request: Request, slug: str, judge_id: int) -> list[With]:
        """The versions of a judge, in the order in which they were made.

        A version never changes, but for its state: on trial, in use, dropped. The latest in use is what the judge says
        today.
        """
        return [_shown(self, version) for version in versions_of(one_judge(self.project, judge_id))]

    @answers(
        shapes.Version,
        takes=shapes.VersionCreation,
        status=201,
        conflict=True,
        also={200: OpenApiResponse(shapes.Version, "The judge has this version already.")},
    )
    def post(self, request: Request, data: dict[str, Any], slug: str, judge_id: int) -> Response:
        """Makes the next version of a judge.

        `config` is the whole configuration, not what is to change in it. When nothing differs from a version that there
        is, that one is the answer (200); a dropped one comes back.
        """
        judge = one_judge(self.project, judge_id)
        based_on = data.pop("based_on", None)
        before = set(versions_of(judge).values_list("pk", flat=True))
        added = add_version(
            judge=judge,
            based_on=None if based_on is None else _version_numbered(judge, based_on, "based_on"),
            actor=self.user,
            **data,
        )
        status = 200 if added.pk in before else 201
        return Response(shapes.Version.show(_shown(self, one_version(judge, added.number))), status=status)


class JudgeVersionView(ProjectAPIView):
    actions = {"GET": "judges.read"}

    @answers(shapes.Version)
    def get(self, request: Request, slug: str, judge_id: int, number: int) -> With:
        """One version of a judge with its configuration.

        Where it has people's verdicts as examples, `examples.drawn` is null for reviewers, and for whoever still has
        one of those samples to label; `rules` is null for whoever still has to label a sample that one comes from.
        """
        return _shown(self, one_version(one_judge(self.project, judge_id), number))


class JudgeVersionExportView(ProjectAPIView):
    actions = {"GET": "judges.read"}

    @answers(OpenApiTypes.BINARY, query=shapes.ExportAsked, status=(200, "application/octet-stream"), conflict=True)
    def get(self, request: Request, asked: dict[str, str], slug: str, judge_id: int, number: int) -> HttpResponse:
        """A version to take along: as a file, or as code.

        `json`: everything that makes it the judge it is, with what it was certified for; `create_judge` reads it. An
        LLM judge also as one Python file for RAGAS, DeepEval or MLflow that gives the same values (docs/judges.md). No
        key and no address of an endpoint is in either. Refused (403) for those who may not know its examples or rules,
        and (409) where there is nothing to export.
        """
        version = one_version(one_judge(self.project, judge_id), number)
        if withheld(version, reader=self.user, role=self.role):
            raise PermissionDenied(why_held_back())
        return exported(version, asked["to"])


class JudgeVersionKeepView(ProjectAPIView):
    actions = {"POST": "judges.change"}

    @answers(shapes.Version, takes=Nothing, request=OpenApiTypes.OBJECT, conflict=True)
    def post(self, request: Request, slug: str, judge_id: int, number: int) -> With:
        """Takes a version into use.

        From now on it is what its judge says, and its scores are compared with people. Send an empty object. Refused
        (409) when a later version is in use already.
        """
        version = keep_version(version=one_version(one_judge(self.project, judge_id), number), actor=self.user)
        return _shown(self, version)


class JudgeVersionDropView(ProjectAPIView):
    actions = {"POST": "judges.change"}

    @answers(shapes.Version, takes=Nothing, request=OpenApiTypes.OBJECT, conflict=True)
    def post(self, request: Request, slug: str, judge_id: int, number: int) -> With:
        """Takes a version out of use.

        Its scores stay, and count no more; the version in use before it is what the judge says again. Send an empty
        object. Refused (409) while it is being run, when judges in use are made of it, and for imported ones.
        """
        version = drop_version(version=one_version(one_judge(self.project, judge_id), number), actor=self.user)
        return _shown(self, version)


class JudgeDiffView(ProjectAPIView):
    actions = {"GET": "judges.read"}

    @answers(shapes.Diff, query=shapes.DiffAsked)
    def get(self, request: Request, asked: dict[str, int], slug: str, judge_id: int) -> dict[str, Any]:
        """What two versions of a judge have differently.

        Field by field, texts line by line; empty when they are the same. Examples and rules are left out for whoever
        may not know them.
        """
        judge = one_judge(self.project, judge_id)
        older, newer = (_version_numbered(judge, asked[name], name) for name in ("older", "newer"))
        found = version_diff(older, newer, reader=self.user, role=self.role)
        return {"older": older.number, "newer": newer.number, "differences": found.rows}


class JudgeKindsView(ProjectAPIView):
    actions = {"GET": "judges.read"}

    @answers(shapes.JudgeKinds)
    def get(self, request: Request, slug: str) -> dict[str, Any]:
        """The kinds of judges that can be run here, and the prompts to start an LLM judge from.

        A judge that is made from a template (`"template": "claim_support"` in its configuration) has the words of the
        prompt in its own: a template that is changed later changes no judge. docs/judges.md says what each kind's
        configuration may hold.
        """
        kinds = [{"key": key, "title": str(JudgeKind(key).label)} for key in runnable_kinds()]
        return {"kinds": kinds, "templates": builtin_templates()}


def _shown(view: ProjectAPIView, version: JudgeVersion) -> With:
    hidden = withheld(version, reader=view.user, role=view.role)
    return With(version, config=config_of(version, hidden=hidden))


def _version_numbered(judge: Judge, number: int, field: str) -> JudgeVersion:
    """Raises Invalid when it is no number of one of the judge's versions."""
    unknown = Invalid("unknown_version", f"{field}: “{judge.name}” has no version {number}.")
    return first_or_raise(versions_of(judge).filter(number=number), unknown)


def request_key(request: Request, data: dict[str, Any]) -> RequestKey | None:
    """Of a request that may come twice; before anything is taken out of its data. Raises Invalid for a bad key."""
    key = idempotency_key_if_any(request)
    return None if key is None else RequestKey.of(key, [request.path, data])


def version_to_run(view: ProjectAPIView, judge_id: int, data: dict[str, Any]) -> JudgeVersion:
    """The version whose number the request has, which is taken out of it; else the latest in use. Raises Invalid when
    there is none."""
    judge, number = one_judge(view.project, judge_id), data.pop("version", None)
    if number is not None:
        return _version_numbered(judge, number, "version")
    current = versions_of(judge).filter(state=VersionState.KEPT).last()
    if current is None:
        raise Invalid("no_version", f"“{judge.name}” has no version in use.")
    return current


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
