"""The locked test half by API: what a judge must show, looks, certificates, and the gate for pipelines."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from drf_spectacular.utils import OpenApiExample
from rest_framework.request import Request

from annotate.api.base import ProjectAPIView
from annotate.api.schema import answers
from annotate.api.serializers import With
from annotate.core.bodies import MANY_ROWS
from annotate.core.errors import Invalid
from annotate.core.permissions import may
from annotate.core.rows import first_or_raise
from annotate.projects.read import criterion_named, one_rated_criterion
from judges.api import certificates_serializers as shapes
from judges.certificates.apply import AppliedBatch, apply_certificate, apply_to_pipeline
from judges.certificates.gate import gate
from judges.certificates.write import issue_certificate, look_at_test
from judges.core.requirement import require, requirement_of
from judges.models import Certificate, Look, Requirement


class RequirementView(ProjectAPIView):
    actions = {"GET": "reports.read", "PATCH": "criteria.change"}

    @answers(shapes.Requirement)
    def get(self, request: Request, slug: str, key: str) -> Requirement:
        """What a judge must show on a criterion before it may decide.

        Of all versions of the criterion. `measure` is the declared endpoint: `kappa`, or `kappa_less_people`, the kappa
        of the judge less that of a person.
        """
        return requirement_of(one_rated_criterion(self.project, key))

    @answers(shapes.Requirement, takes=shapes.RequirementChange)
    def patch(self, request: Request, data: dict[str, Any], slug: str, key: str) -> Requirement:
        """Declares what a judge must show on a criterion.

        What is left out stays as it is. Looks that are taken from now on use it; what earlier looks decided stays as
        stated. Reports that were made before are out of date.
        """
        criterion = one_rated_criterion(self.project, key)
        standing = requirement_of(criterion)
        given = {name: data.get(name, getattr(standing, name)) for name in ("measure", "bar", "risk", "coverage")}
        return require(criterion=criterion, **given, actor=self.user)


class LooksView(ProjectAPIView):
    actions = {"GET": "reports.read", "POST": "test.look"}

    @answers(shapes.Looks)
    def get(self, request: Request, slug: str) -> dict[str, Any]:
        """Every look at the test half, newest first.

        Who looked, with which judge version, and what it showed at which level of confidence.
        """
        looks = Look.objects.filter(criterion__project=self.project).order_by("-pk").defer("samples")
        return {"results": looks.select_related("criterion", "judge", "version", "created_by")}

    @answers(shapes.Look, takes=shapes.LookRequest, status=201, conflict=True)
    def post(self, request: Request, data: dict[str, Any], slug: str) -> Look:
        """Looks at the test half with one judge.

        Each look at the criterion is counted, over its versions and all judges, and the intervals of later ones are
        wider. Looking again while nothing has changed gives
        the earlier look and costs nothing. `dimension` is needed for a judge that measures several things.
        """
        return look_at_test(
            criterion=criterion_named(self.project, data["criterion"]),
            judge_name=data["judge"],
            dimension=data.get("dimension"),
            user=self.user,
        )


class CertificatesView(ProjectAPIView):
    actions = {"GET": "reports.read", "POST": "certificates.issue"}

    @answers(shapes.Certificates)
    def get(self, request: Request, slug: str) -> dict[str, Any]:
        """The certificates, newest first.

        What was certified: the decision with its conditions, judge version, criterion version, threshold, calibrator,
        and the figures on test; and why it has ended, where it has.
        """
        found = (
            Certificate.objects.filter(project=self.project)
            .select_related("look__criterion__project", "look__judge", "look__version__judge__project", "created_by")
            .defer("look__samples")
        )
        return {"results": [shapes.of_certificate(one, reader=self.user) for one in found]}

    @answers(shapes.Certificate, takes=shapes.CertificateRequest, status=201, conflict=True)
    def post(self, request: Request, data: dict[str, Any], slug: str) -> With:
        """Issues the certificate of a look.

        `look` is the look's `id`. Only the latest look with a judge at a criterion can be certified, and none that is
        out of date.
        """
        looks = Look.objects.filter(pk=data["look"], criterion__project=self.project)
        look = first_or_raise(looks, Http404("Test evaluation not found."))
        return shapes.of_certificate(issue_certificate(look=look, user=self.user), reader=self.user)


class GateView(ProjectAPIView):
    actions = {"GET": "reports.read"}

    @answers(shapes.Gate, query=shapes.GateAsked)
    def get(self, request: Request, asked: dict[str, Any], slug: str) -> With:
        """Whether a judge may still be relied on, as `manage.py gate` says it.

        By the decision in its latest certificate. `passed` is false, with a `code` and a `reason`, when there is none
        (`no_certificate`); when it has ended, since judge or criterion changed (`judge_changed`, `criterion_changed`),
        what a look promises did (`out_of_date`), what was declared of its labels was taken back (`labels_undeclared`),
        there was another look (`looked_since`), or labels that came in since show that the judge errs more often than
        certified (`drift`) or that it may (`drift_or_streak`), or it scored too few of what people audited since
        (`audits_unscored`); when the decision is `not_for_use` or `cannot_tell`; and
        when the lower bound of kappa is under a `min_kappa` that was asked for (`below_bar`).
        """
        found = gate(
            project=self.project,
            criterion_key=asked["criterion"],
            judge_name=asked["judge"],
            min_kappa=asked.get("min_kappa"),
            dimension=asked.get("dimension"),
        )
        return shapes.of_gate(found, reader=self.user)


class ApplyView(ProjectAPIView):
    """A POST that stores nothing: the scores of a batch don't fit into an address."""

    actions = {"POST": "reports.read"}
    body_bytes = MANY_ROWS

    @answers(
        shapes.Applied,
        takes=shapes.Application,
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
    def post(self, request: Request, data: dict[str, Any], slug: str) -> AppliedBatch | With:
        """Applies a judge's latest certificate to scores: new ones, or those stored of a pipeline's version.

        Each score gets the verdict at the certified threshold, its calibrated probability of passing, and whether it
        lies in the region where the judge may decide alone. The batch gets the share that the judge passes, and that
        share corrected for the judge's errors on test, with an interval that has the luck of both samples. Nothing is
        stored; at most 100,000 scores at once.

        `sample` says which scores belong together: those of one sample resemble each other, and intervals are clustered
        by it. Without it every score counts as a sample of its own, which makes intervals too narrow when several
        are of one. A judge that answers with labels sends `label` in place of `score`.

        Scores of samples that several versions of the pipeline made are never pooled silently: `versions` has the
        shares of each, and those of all of them are undefined unless `pooled` asks for them.

        `pipeline` in place of `scores` names a version whose samples the judge has scored here. Failed and missing
        scores count for nothing, so look at `coverage` as well. What came of single samples is for admins, and only of
        those that they don't still have to label themselves; `held_back` counts the others. Refused (409) when even the
        shares would tell somebody what the judge said of a sample that is theirs to label.

        `corrected_pass_rate` has no value, and says why, when the judge's errors on test leave open whether it carries
        any signal. Refused (409), in the gate's words, when no certificate holds, or its decision is `not_for_use` or
        `cannot_tell`.
        """
        asked: dict[str, Any] = {
            "project": self.project,
            "criterion_key": data["criterion"],
            "judge_name": data["judge"],
            "dimension": data.get("dimension"),
        }
        if ("scores" in data) == ("pipeline" in data):
            raise Invalid("missing_field", "Send either scores or pipeline.")
        if "scores" in data:
            return apply_certificate(**asked, rows=data["scores"], pooled=data.get("pooled", False))
        found = apply_to_pipeline(**asked, pipeline=data["pipeline"], reader=self.user)
        return shapes.of_stored(found, with_rows=may(self.role, "judges.run"))
