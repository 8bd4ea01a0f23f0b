"""Samples by API: to read, and to push from a pipeline run."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse
from rest_framework.parsers import JSONParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api import pipeline_shapes as shapes
from annotate.api import schema as shape
from annotate.api.base import Pages, ProjectAPIView, body, expected_revision, raw_body, text_parameter
from annotate.core.errors import Invalid
from annotate.files.import_jobs import push_samples
from annotate.models.transfer import ImportStatus
from annotate.projects.read import one_sample, sample_as_dict, samples_matching
from annotate.samples.claims_read import claims_as_dict
from annotate.samples.claims_write import CHANGE_FIELDS, edit_claims
from annotate.samples.read import pipeline_versions


class SamplesView(ProjectAPIView):
    actions = {"GET": "samples.read", "POST": "import.run"}
    params = Pages.params | {"search", "pipeline"}
    parser_classes = [JSONParser]

    @shape.describes(
        shape.SamplePage,
        params=[
            *shape.PAGE,
            OpenApiParameter("search", description="Words in id, question or answer."),
            OpenApiParameter("pipeline", description="Only those of this version of the pipeline."),
        ],
    )
    def get(self, request: Request, slug: str) -> Response:
        """The samples in the order of their import, page by page.

        `search` looks in id, question and answer.
        """
        words, pipeline = text_parameter(request, "search"), text_parameter(request, "pipeline")
        pages = Pages()
        rows = pages.paginate_queryset(samples_matching(self.project, words, pipeline=pipeline), request)
        return pages.get_paginated_response([{"pk": row.pk, **sample_as_dict(row)} for row in rows or []])

    @shape.describes(
        shapes.Pushed,
        request=shapes.Push,
        status=201,
        also={
            200: OpenApiResponse(shapes.Pushed, "All of them were there already."),
            413: OpenApiResponse(shape.Error, "More than 16 MiB at once."),
            422: OpenApiResponse(shapes.PushRefused, "Nothing was written; `errors` says why."),
        },
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
        document = raw_body(request)
        data = body(request, {"version", "samples"}, required={"version", "samples"})
        if not isinstance(data["samples"], list):
            raise Invalid("not_a_list", "samples: a list of objects.")
        job = push_samples(project=self.project, user=self.user, version=data["version"], document=document)
        if job.status == ImportStatus.FAILED:
            message = f"Nothing was written: {job.error_count} error(s)."
            error = {"code": "import_failed", "message": message}
            return Response({"error": error, "errors": job.errors, "error_count": job.error_count}, status=422)
        counts = {name: job.result[name] for name in ("rows", "created", "unchanged")}
        reply = {"version": data["version"], **counts, "import_id": str(job.pk)}
        return Response(reply, status=201 if counts["created"] else 200)


class SampleView(ProjectAPIView):
    actions = {"GET": "samples.read"}

    @shape.describes(shape.Sample)
    def get(self, request: Request, slug: str, sample_id: int) -> Response:
        """One sample with its contexts, claims, key facts and entities.

        `sample_id` is the number that the list calls `pk`, not the id of the file.
        """
        sample = one_sample(self.project, sample_id)
        return Response({"pk": sample.pk, **sample_as_dict(sample)})


class PipelineVersionsView(ProjectAPIView):
    actions = {"GET": "samples.read"}

    @shape.describes(shapes.PipelineVersions)
    def get(self, request: Request, slug: str) -> Response:
        """The versions of the pipeline that the project has samples of.

        With how many each has, whether they were pushed or came in a file; the one whose samples came last first.
        """
        return Response({"results": pipeline_versions(self.project)})


class ClaimsView(ProjectAPIView):
    actions = {"GET": "samples.read", "PATCH": "claims.change"}

    @shape.describes(shape.EditedClaims)
    def get(self, request: Request, slug: str, sample_id: int) -> Response:
        """The claims of a sample with their history.

        Dropped ones too: an index, once given, keeps its meaning. `fixed` says why nothing can be changed now, and a
        claim's `carries` what keeps this one as it is; only admins are told what exactly.
        """
        return Response(claims_as_dict(one_sample(self.project, sample_id), user=self.user))

    @shape.describes(shape.EditedClaims, request=shape.ClaimChange, params=[shape.IF_MATCH])
    def patch(self, request: Request, slug: str, sample_id: int) -> Response:
        """Makes one change of the claims.

        Until a batch that asks about them is open: then 409, and so for a claim that carries labels, verdicts, known
        answers or scores. `If-Match` carries the revision that you saw; 412 when they were changed since. Repeating a
        change at the revision at which it was made changes nothing. The changes are in docs/formats.md.
        """
        change = body(request, CHANGE_FIELDS, required={"op"})
        state = edit_claims(
            actor=self.user,
            project=self.project,
            sample_id=sample_id,
            change=change,
            expected_revision=expected_revision(request),
        )
        return Response(state)
