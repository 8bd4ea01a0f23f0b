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
from annotate.models import Sample
from annotate.models.transfer import ImportStatus
from annotate.projects.read import one_sample
from annotate.samples.abstaining import set_abstained
from annotate.samples.claims_read import ClaimsState, claims_state
from annotate.samples.claims_write import edit_claims
from annotate.samples.read import pipeline_versions
from annotate.verdicts.samples_read import Wanted, samples_wanted


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
        also={
            200: OpenApiResponse(files.Pushed, "All of them were there already."),
            413: OpenApiResponse(Error, "More than 16 MiB at once."),
            503: OpenApiResponse(Error, "Another import of the project is under way; push again after `Retry-After`."),
            422: OpenApiResponse(files.PushRefused, "Nothing was written; `errors` says why."),
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
        sent, document = loose_json(request)
        data = files.Push.take(sent)
        job = push_samples(project=self.project, user=self.user, version=data["version"], document=document)
        if job.status == ImportStatus.FAILED:
            message = f"Nothing was written: {job.error_count} error(s)."
            raise Invalid("import_failed", message, errors=job.errors, error_count=job.error_count)
        reply = files.Pushed.show({"version": data["version"], **job.result, "import_id": job.pk})
        return Response(reply, status=201 if reply["created"] else 200)


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

    @answers(shapes.Sample, takes=shapes.Abstention)
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
