"""Judges and their versions by API."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api import schema as shape
from annotate.api.base import ProjectAPIView, body, text_parameter
from annotate.api.serializers import whole_number
from annotate.core.errors import Invalid
from judges.api import judge_shapes as shapes
from judges.kinds.llm import builtin_templates
from judges.kinds.registry import runnable_kinds
from judges.models import Judge, JudgeKind, JudgeVersion, VersionState
from judges.versions.read import (
    judge_as_dict,
    judges_of,
    may_know_examples,
    one_judge,
    one_version,
    version_as_dict,
    version_diff,
    versions_of,
)
from judges.versions.write import add_version, create_judge, drop_version, keep_version, set_direction

# Of a configuration: under it lies what people decided of samples.
_EXAMPLES = "config.examples"


class JudgesView(ProjectAPIView):
    actions = {"GET": "judges.read", "POST": "judges.change"}

    @shape.describes(shapes.Judge(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The judges, by name.

        Those that are run here, and every metric whose scores were imported; each with its versions in the order in
        which they came.
        """
        return Response([judge_as_dict(judge) for judge in judges_of(self.project)])

    @shape.describes(shapes.Judge, request=shapes.JudgeCreation, status=201, conflict=True)
    def post(self, request: Request, slug: str) -> Response:
        """Makes a judge that can be run here.

        With its first version, which is in use at once. When the configuration can't be taken, the error names the
        field and says why. Refused (409) for a name that the project has.
        """
        known = {"name", "kind", "config", "endpoint", "description", "higher_is_better"}
        data = body(request, known, required={"name", "kind", "config"})
        judge = create_judge(project=self.project, actor=self.user, **data)
        return Response(judge_as_dict(one_judge(self.project, judge.pk)), status=201)


class JudgeView(ProjectAPIView):
    actions = {"GET": "judges.read", "PATCH": "judges.change"}

    @shape.describes(shapes.Judge)
    def get(self, request: Request, slug: str, judge_id: int) -> Response:
        """One judge with its versions.

        `judge_id` is the number that the list calls `id`.
        """
        return Response(judge_as_dict(one_judge(self.project, judge_id)))

    @shape.describes(shapes.Judge, request=shapes.JudgeChange, conflict=True)
    def patch(self, request: Request, slug: str, judge_id: int) -> Response:
        """Says whether higher scores of a judge mean better.

        They do, unless it is said. Figures follow at once, and reports that were made before are out of date. Refused
        (409) once the judge was measured on test.
        """
        data = body(request, {"higher_is_better"}, required={"higher_is_better"})
        judge = one_judge(self.project, judge_id)
        judge = set_direction(judge=judge, higher_is_better=data["higher_is_better"], actor=self.user)
        return Response(judge_as_dict(judge))


class JudgeVersionsView(ProjectAPIView):
    actions = {"GET": "judges.read", "POST": "judges.change"}

    @shape.describes(shapes.Version(many=True))
    def get(self, request: Request, slug: str, judge_id: int) -> Response:
        """The versions of a judge, in the order in which they were made.

        A version never changes, but for its state: on trial, in use, dropped. The latest in use is what the judge says
        today.
        """
        return Response([_shown(self, version) for version in versions_of(one_judge(self.project, judge_id))])

    @shape.describes(
        shapes.Version,
        request=shapes.VersionCreation,
        status=201,
        conflict=True,
        also={200: OpenApiResponse(shapes.Version, "The judge has this version already.")},
    )
    def post(self, request: Request, slug: str, judge_id: int) -> Response:
        """Makes the next version of a judge.

        `config` is the whole configuration, not what is to change in it. When nothing differs from a version that there
        is, that one is the answer (200); a dropped one comes back.
        """
        data = body(request, {"config", "endpoint", "state", "based_on"}, required={"config"})
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
        return Response(_shown(self, one_version(judge, added.number)), status=status)


class JudgeVersionView(ProjectAPIView):
    actions = {"GET": "judges.read"}

    @shape.describes(shapes.Version)
    def get(self, request: Request, slug: str, judge_id: int, number: int) -> Response:
        """One version of a judge with its configuration.

        Where it has people's verdicts as examples, `examples.drawn` is null for reviewers, and for whoever still has
        one of those samples to label.
        """
        return Response(_shown(self, one_version(one_judge(self.project, judge_id), number)))


class JudgeVersionKeepView(ProjectAPIView):
    actions = {"POST": "judges.change"}

    @shape.describes(shapes.Version, request=OpenApiTypes.OBJECT, conflict=True)
    def post(self, request: Request, slug: str, judge_id: int, number: int) -> Response:
        """Takes a version into use.

        From now on it is what its judge says, and its scores are held against people. Send an empty object. Refused
        (409) when a later version is in use already.
        """
        body(request, set())
        version = keep_version(version=one_version(one_judge(self.project, judge_id), number), actor=self.user)
        return Response(_shown(self, version))


class JudgeVersionDropView(ProjectAPIView):
    actions = {"POST": "judges.change"}

    @shape.describes(shapes.Version, request=OpenApiTypes.OBJECT, conflict=True)
    def post(self, request: Request, slug: str, judge_id: int, number: int) -> Response:
        """Takes a version out of use.

        Its scores stay, and count no more; the version in use before it is what the judge says again. Send an empty
        object. Refused (409) while it is being run, when judges in use are made of it, and for imported ones.
        """
        body(request, set())
        version = drop_version(version=one_version(one_judge(self.project, judge_id), number), actor=self.user)
        return Response(_shown(self, version))


class JudgeDiffView(ProjectAPIView):
    actions = {"GET": "judges.read"}
    params = frozenset({"older", "newer"})

    @shape.describes(
        shapes.Diff,
        params=[
            OpenApiParameter("older", OpenApiTypes.INT, required=True, description="The number of a version."),
            OpenApiParameter("newer", OpenApiTypes.INT, required=True, description="The number of another one."),
        ],
    )
    def get(self, request: Request, slug: str, judge_id: int) -> Response:
        """What two versions of a judge have differently.

        Field by field, texts line by line; empty when they are the same. Examples are left out for whoever may not know
        their verdicts.
        """
        judge = one_judge(self.project, judge_id)
        older, newer = (
            _version_numbered(judge, text_parameter(request, name) or None, name) for name in ("older", "newer")
        )
        found = version_diff(older, newer)
        if not (_may_know(self, older) and _may_know(self, newer)):
            found = [one for one in found if not one.field.startswith(_EXAMPLES)]
        differences = [asdict(one) for one in found]
        return Response({"older": older.number, "newer": newer.number, "differences": differences})


class JudgeKindsView(ProjectAPIView):
    actions = {"GET": "judges.read"}

    @shape.describes(shapes.JudgeKinds)
    def get(self, request: Request, slug: str) -> Response:
        """The kinds of judges that can be run here, and the prompts to start an LLM judge from.

        A judge that is made from a template (`"template": "claim_support"` in its configuration) has the words of the
        prompt in its own: a template that is changed later changes no judge. docs/judges.md says what each kind's
        configuration may hold.
        """
        kinds = [{"key": key, "title": str(JudgeKind(key).label)} for key in runnable_kinds()]
        templates = [
            {
                "key": template.key,
                "title": template.name,
                "about": template.description,
                "units": list(template.units),
                "per": template.per,
                "needs_requirements": template.needs_requirements,
                "variables": template.variables,
                "prompt": template.prompt,
            }
            for template in builtin_templates()
        ]
        return Response({"kinds": kinds, "templates": templates})


def _shown(view: ProjectAPIView, version: JudgeVersion) -> dict[str, Any]:
    return version_as_dict(version, with_examples=_may_know(view, version))


def _may_know(view: ProjectAPIView, version: JudgeVersion) -> bool:
    return may_know_examples(version, reader=view.user, role=view.role)


def _version_numbered(judge: Judge, number: Any, field: str) -> JudgeVersion:
    """Raises Invalid when it is no number of one of the judge's versions."""
    if number is None:
        raise Invalid("missing_parameter", f"The parameter “{field}” is missing.")
    found = versions_of(judge).filter(number=whole_number(number, field)).first()
    if found is None:
        raise Invalid("unknown_version", f"{field}: “{judge.name}” has no version {number}.")
    return found


def version_to_run(judge: Judge, number: Any) -> JudgeVersion:
    """The version of this number; of no number, the latest in use. Raises Invalid when there is none."""
    if number is not None:
        return _version_numbered(judge, number, "version")
    current = versions_of(judge).filter(state=VersionState.KEPT).last()
    if current is None:
        raise Invalid("no_version", f"“{judge.name}” has no version in use.")
    return current
