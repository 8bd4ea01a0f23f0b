"""Samples by API: to read, and to push from a pipeline run."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiExample, OpenApiResponse
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api import files_serializers as files
from annotate.api import samples_serializers as shapes
from annotate.api.base import ProjectAPIView, expected_revision
from annotate.api.bodies import JSONBytes, loose_json
from annotate.api.schema import IF_MATCH, Error, answers
from annotate.core.bodies import MANY_ROWS
from annotate.core.errors import Invalid
from annotate.files.import_jobs import push_samples
from annotate.models import Project, Sample, SavedView, User
from annotate.models.transfer import ImportStatus
from annotate.models.view import ViewOf
from annotate.projects.read import one_criterion, one_sample
from annotate.samples.abstaining import set_abstained
from annotate.samples.claims_read import ClaimsState, claims_state
from annotate.samples.claims_write import edit_claims
from annotate.samples.read import pipeline_versions
from annotate.verdicts.samples_read import Wanted, samples_wanted
from annotate.verdicts.saved_views import change_view, delete_view, save_view
from annotate.verdicts.saved_views_read import known_views, one_view
from annotate.verdicts.units_read import Units
from annotate.verdicts.wanted_units_read import WantedUnits, value_written

#: What a push may be answered with beside 201.
PUSH_OUTCOMES = {
    200: OpenApiResponse(files.Pushed, "All of them were there already."),
    413: OpenApiResponse(Error, "More than 16 MiB at once."),
    503: OpenApiResponse(Error, "Another import of the project is under way; push again after `Retry-After`."),
    422: OpenApiResponse(files.PushRefused, "Nothing was written; `errors` says why."),
}


class SamplesView(ProjectAPIView):
    actions = {"GET": "samples.read", "POST": "import.run"}
    parser_classes = [JSONBytes]
    body_bytes = MANY_ROWS

    @answers(shapes.SamplePage, query=shapes.SamplesAsked)
    def get(self, request: Request, asked: dict[str, str], slug: str) -> QuerySet[Sample]:
        """The samples that meet every condition given, page by page; in the order of their import, or of `sort`.

        `search` looks in id, question and answer. With `criterion`, `status` and `agreement` are of that criterion
        alone. Samples that you still have to label are left out where what others said of them would decide.
        """
        wanted = Wanted(
            words=asked.get("search", ""),
            pipeline=asked.get("pipeline", ""),
            status=asked.get("status", ""),
            criterion=asked.get("criterion", ""),
            agreement=asked.get("agreement", ""),
            metadata=dict([asked["metadata"].split("=", 1)]) if asked.get("metadata") else {},
            sort=asked.get("sort", ""),
        )
        return samples_wanted(self.project, wanted, reader=self.user)

    @answers(
        files.Pushed,
        request=files.Push,
        status=201,
        also=PUSH_OUTCOMES,
        examples=[
            OpenApiExample(
                "One answer of build v7",
                request_only=True,
                value={
                    "version": "v7",
                    "samples": [
                        {
                            "id": "kb-001",
                            "question": "Which port does it listen on?",
                            "answer": "On 8000.",
                            "contexts": ["It listens on port 8000 unless PORT says otherwise."],
                        }
                    ],
                },
            )
        ],
    )
    def post(self, request: Request, slug: str) -> Response:
        """Pushes the samples that a version of a pipeline made.

        `samples`: as in a samples file (docs/formats.md), with the same spellings and the same checks. All of them are
        imported or none. Each is named by its own id and the version: “kb-001” of “v7” becomes “kb-001@v7”, so that
        two versions can answer the same questions. Pushing the same again changes nothing (200); other content under an
        id that this version has is a `conflict`.
        """
        return pushed(self.project, self.user, request)


def pushed(project: Project, user: User, request: Request) -> Response:
    """Imports what a pipeline sends, and says what came of it."""
    sent, document = loose_json(request)
    data = files.Push.take(sent)
    job = push_samples(project=project, user=user, version=data["version"], document=document)
    if job.status == ImportStatus.FAILED:
        message = f"Nothing was written: {job.error_count} error(s)."
        raise Invalid("import_failed", message, errors=job.errors, error_count=job.error_count)
    reply = files.Pushed.show({"version": data["version"], **job.result, "import_id": job.pk})
    return Response(reply, status=201 if reply["created"] else 200)


class UnitsView(ProjectAPIView):
    actions = {"GET": "samples.read"}

    @answers(shapes.UnitPage, query=shapes.UnitsAsked)
    def get(self, request: Request, asked: dict[str, Any], slug: str) -> Units:
        """The units that meet every condition given, each on each criterion that asks about it, page by page.

        By sample, as these were imported, or in the order of `sort`; units without a verdict come last then. A unit of
        a sample that you still have to label is `in_progress`, whatever others said of it.
        """
        key = asked.get("criterion", "")
        if asked.get("value") and not key:
            raise Invalid("bad_value", "value: name its criterion as well.")
        wanted = WantedUnits(
            words=asked.get("search", ""),
            criterion=key,
            status=asked.get("status", ""),
            value=value_written(one_criterion(self.project, key), asked["value"]) if asked.get("value") else None,
            method=asked.get("method", ""),
            agreement=asked.get("agreement", ""),
            outdated=bool(asked.get("guidelines")),
            batch=asked.get("batch"),
            metadata=dict([asked["metadata"].split("=", 1)]) if asked.get("metadata") else {},
            sort=asked.get("sort", ""),
        )
        return Units(self.project, wanted, reader=self.user)


class SavedViewsView(ProjectAPIView):
    actions = {"GET": "samples.read", "POST": "views.change"}

    @answers(shapes.SavedView(many=True), query=shapes.ViewsAsked)
    def get(self, request: Request, asked: dict[str, Any], slug: str) -> QuerySet[SavedView]:
        """Your views of the lists of samples and units, and those that others share."""
        views = known_views(self.project, user=self.user)
        return views.filter(of=asked["of"]) if asked.get("of") else views

    @answers(shapes.SavedView, takes=shapes.ViewSaving, status=201, conflict=True)
    def post(self, request: Request, data: dict[str, Any], slug: str) -> SavedView:
        """Saves filters and an order of a list under a name.

        `conditions` has them by the names in the address of the list’s page. A name that the list doesn’t know is
        refused. 409 for a name that you have given to a view of this list already, and for one view too many.
        """
        made = save_view(actor=self.user, project=self.project, **{**data, "of": ViewOf(data["of"])})
        return one_view(self.project, made.pk, user=self.user)


class SavedViewView(ProjectAPIView):
    actions = {"GET": "samples.read", "PATCH": "views.change", "DELETE": "views.change"}

    @answers(shapes.SavedView)
    def get(self, request: Request, slug: str, view_id: int) -> SavedView:
        """One of your views, or one that somebody shares."""
        return one_view(self.project, view_id, user=self.user)

    @answers(shapes.SavedView, takes=shapes.ViewChange, conflict=True)
    def patch(self, request: Request, data: dict[str, Any], slug: str, view_id: int) -> SavedView:
        """Renames a view of yours, changes what it shows, shares it or makes it private.

        A field that is left out stays as it is.
        """
        change_view(actor=self.user, project=self.project, view_id=view_id, **data)
        return one_view(self.project, view_id, user=self.user)

    @answers()
    def delete(self, request: Request, slug: str, view_id: int) -> None:
        """Deletes a view of yours, or, as an admin, one that somebody shares."""
        delete_view(actor=self.user, project=self.project, view_id=view_id)


class SampleView(ProjectAPIView):
    actions = {"GET": "samples.read"}

    @answers(shapes.Sample)
    def get(self, request: Request, slug: str, sample_id: int) -> Sample:
        """One sample with its contexts, claims, key facts and entities.

        `sample_id` is the number that the list calls `pk`, not the id of the file.
        """
        return one_sample(self.project, sample_id)


class AbstentionView(ProjectAPIView):
    actions = {"PUT": "claims.change"}

    @answers(shapes.Sample, takes=shapes.Abstention, conflict=True)
    def put(self, request: Request, data: dict[str, Any], slug: str, sample_id: int) -> Sample:
        """Says whether the answer abstains: only says that it has no answer.

        It then has no claims, and no faithfulness. A rule proposes it when a sample is imported, and a file may say it;
        what a person says here holds. 409 while a batch asks people about the claims. Repeating it changes nothing.
        """
        return set_abstained(actor=self.user, project=self.project, sample_id=sample_id, abstained=data["abstained"])


class PipelineVersionsView(ProjectAPIView):
    actions = {"GET": "samples.read"}

    @answers(shapes.PipelineVersions)
    def get(self, request: Request, slug: str) -> dict[str, Any]:
        """The versions of the pipeline that the project has samples of.

        With how many each has, whether they were pushed or came in a file; the one whose samples came last first.
        """
        return {"results": pipeline_versions(self.project)}


class ClaimsView(ProjectAPIView):
    actions = {"GET": "samples.read", "PATCH": "claims.change"}

    @answers(shapes.EditedClaims)
    def get(self, request: Request, slug: str, sample_id: int) -> ClaimsState:
        """The claims of a sample with their history.

        Dropped ones too: an index, once given, keeps its meaning. `fixed` says why nothing can be changed now, and a
        claim's `carries` what keeps this one as it is; only admins are told what exactly.
        """
        return claims_state(one_sample(self.project, sample_id), user=self.user)

    @answers(shapes.EditedClaims, takes=shapes.ClaimChange, headers=[IF_MATCH])
    def patch(self, request: Request, data: dict[str, Any], slug: str, sample_id: int) -> ClaimsState:
        """Makes one change of the claims.

        Until a batch that asks about them is open: then 409, and so for a claim that carries labels, verdicts, known
        answers or scores. `If-Match` carries the revision that you saw; 412 when they were changed since. Repeating a
        change at the revision at which it was made changes nothing. The changes are in docs/formats.md.
        """
        return edit_claims(
            actor=self.user,
            project=self.project,
            sample_id=sample_id,
            change=data,
            expected_revision=expected_revision(request),
        )
