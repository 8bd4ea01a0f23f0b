"""The locked test half by API: looks, certificates, and the gate for pipelines."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api import schema as shape
from annotate.api.base import ProjectAPIView, body, text_parameter
from annotate.api.serializers import whole_number
from annotate.core.errors import Invalid
from annotate.core.permissions import may
from annotate.core.scales import as_number
from annotate.projects.lookup import criterion_named
from judges.api import shapes
from judges.certificates.apply import applied_as_dict, apply_certificate, apply_to_pipeline, stored_as_dict
from judges.certificates.gate import gate, gate_as_dict
from judges.certificates.write import certificate_as_dict, issue_certificate, look_as_dict, look_at_test
from judges.models import Certificate, Look


class LooksView(ProjectAPIView):
    actions = {"GET": "reports.read", "POST": "test.look"}

    @shape.describes(OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str) -> Response:
        """Every look at the test half, newest first.

        Who looked, with which judge version, and what it showed at which level of confidence.
        """
        looks = Look.objects.filter(criterion__project=self.project).order_by("-pk").defer("samples")
        looks = looks.select_related("criterion", "judge", "version", "created_by")
        return Response({"results": [look_as_dict(look) for look in looks]})

    @shape.describes(
        OpenApiTypes.OBJECT,
        request=inline_serializer(
            "LookRequest",
            {
                "criterion": serializers.CharField(),
                "judge": serializers.CharField(),
                "dimension": serializers.CharField(required=False),
            },
        ),
        status=201,
        conflict=True,
    )
    def post(self, request: Request, slug: str) -> Response:
        """Looks at the test half with one judge.

        Each look is counted, and the intervals of later ones are wider. Looking again while nothing has changed gives
        the earlier look and costs nothing. `dimension` is needed for a judge that measures several things.
        """
        data = body(request, {"criterion", "judge", "dimension"}, required={"criterion", "judge"})
        look = look_at_test(
            criterion=criterion_named(self.project, _text(data["criterion"], "criterion")),
            judge_name=_text(data["judge"], "judge"),
            dimension=_dimension(data),
            user=self.user,
        )
        return Response(look_as_dict(look), status=201)


class CertificatesView(ProjectAPIView):
    actions = {"GET": "reports.read", "POST": "certificates.issue"}

    @shape.describes(OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str) -> Response:
        """The certificates, newest first.

        What was certified: judge version, criterion version, threshold, calibrator, and the figures on test.
        """
        found = (
            Certificate.objects.filter(project=self.project)
            .select_related("look__criterion", "look__judge", "look__version", "created_by")
            .defer("look__samples")
        )
        return Response({"results": [certificate_as_dict(certificate) for certificate in found]})

    @shape.describes(
        OpenApiTypes.OBJECT,
        request=inline_serializer("CertificateRequest", {"look": serializers.IntegerField()}),
        status=201,
        conflict=True,
    )
    def post(self, request: Request, slug: str) -> Response:
        """Issues the certificate of a look.

        `look` is the look's `id`. Only the latest look of a judge at a criterion can be certified.
        """
        number = whole_number(body(request, {"look"}, required={"look"})["look"], "look")
        look = Look.objects.filter(pk=number, criterion__project=self.project).first()
        if look is None:
            raise Http404("There is no such look in this project.")
        return Response(certificate_as_dict(issue_certificate(look=look, user=self.user)), status=201)


class GateView(ProjectAPIView):
    actions = {"GET": "reports.read"}
    params = frozenset({"criterion", "judge", "min_kappa", "dimension"})

    @shape.describes(
        OpenApiTypes.OBJECT,
        params=[
            OpenApiParameter("criterion", required=True, description="Key of a criterion."),
            OpenApiParameter("judge", required=True, description="The name of one judge."),
            OpenApiParameter("min_kappa", OpenApiTypes.NUMBER, required=True, description="The bar, from -1 to 1."),
            OpenApiParameter("dimension", description="What it measures, if it was certified for several things."),
        ],
    )
    def get(self, request: Request, slug: str) -> Response:
        """Whether a judge may still be relied on, as `manage.py gate` says it.

        `passed` is false, with a `code` and a `reason`, when the lower bound of the certified kappa is under the bar,
        there is no certificate, judge or criterion have changed since, labels that came in since show that it errs
        more often than certified (`drift`), or too few test samples stand behind it.
        """
        given: dict[str, str] = {name: text_parameter(request, name) for name in sorted(self.params)}
        for name, text in given.items():
            if not text and name != "dimension":
                raise Invalid("missing_parameter", f"The parameter “{name}” is missing.")
        bar = as_number(given["min_kappa"])
        if bar is None:
            raise Invalid("bad_min_kappa", "min_kappa: a number from -1 to 1.")
        found = gate(
            project=self.project,
            criterion_key=given["criterion"],
            judge_name=given["judge"],
            min_kappa=bar,
            dimension=given["dimension"] or None,
        )
        return Response(gate_as_dict(found))


class ApplyView(ProjectAPIView):
    """A POST that stores nothing: the scores of a batch don't fit into an address."""

    actions = {"POST": "reports.read"}

    @shape.describes(
        shapes.Applied,
        request=shapes.Application,
        conflict=True,
        examples=[
            OpenApiExample(
                "Three scores of two answers",
                request_only=True,
                value={
                    "criterion": "support",
                    "judge": "groundedness",
                    "scores": [
                        {"sample": "q-1841", "score": 0.92},
                        {"sample": "q-1841", "score": 0.35},
                        {"sample": "q-1842", "score": 0.78},
                    ],
                },
            ),
            OpenApiExample(
                "What is stored of build v7",
                request_only=True,
                value={"criterion": "support", "judge": "groundedness", "pipeline": "v7"},
            ),
        ],
    )
    def post(self, request: Request, slug: str) -> Response:
        """Applies a judge's latest certificate to scores: new ones, or those stored of a pipeline's version.

        Each score gets the verdict at the certified threshold, its calibrated probability of passing, and whether it
        lies in the region where the judge may decide alone. The batch gets the share that the judge passes, and that
        share corrected for the judge's errors on test, with an interval that has the luck of both samples. Nothing is
        stored; at most 100,000 scores at once.

        `sample` says which scores belong together: those of one sample resemble each other, and intervals are clustered
        by it. Without it every score counts as a sample of its own, which makes intervals too narrow when several
        are of one. A judge that answers with labels sends `label` in place of `score`.

        `pipeline` in place of `scores` names a version whose samples the judge has scored here. Failed and missing
        scores count for nothing, so look at `coverage` as well. What came of single samples is for admins, and only of
        those that they don't still have to label themselves; `held_back` counts the others. Refused (409) when even the
        shares would tell somebody what the judge said of a sample that is theirs to label.

        `corrected_pass_rate` has no value, and says why, when the judge's errors on test leave open whether it carries
        any signal. Refused (409), in the gate's words, when there is no certificate, judge or criterion are no longer
        what was certified, or labels that came in since show drift.
        """
        data = body(request, {"criterion", "judge", "dimension", "scores", "pipeline"}, required={"criterion", "judge"})
        asked: dict[str, Any] = {
            "project": self.project,
            "criterion_key": _text(data["criterion"], "criterion"),
            "judge_name": _text(data["judge"], "judge"),
            "dimension": _dimension(data),
        }
        if ("scores" in data) == ("pipeline" in data):
            raise Invalid("missing_field", "Send either scores or pipeline.")
        if "scores" in data:
            return Response(applied_as_dict(apply_certificate(**asked, rows=data["scores"])))
        found = apply_to_pipeline(**asked, pipeline=_text(data["pipeline"], "pipeline"), user=self.user)
        return Response(stored_as_dict(found, with_rows=may(self.role, "judges.run")))


def _dimension(data: dict[str, Any]) -> str | None:
    return None if data.get("dimension") is None else _text(data["dimension"], "dimension")


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise Invalid("bad_text", f"{name}: write a text.")
    return value
