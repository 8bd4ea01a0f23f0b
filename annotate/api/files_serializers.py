"""What the API takes and replies about files: imports, what a pipeline pushes, and releases of ground truth."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers as s

from annotate import models
from annotate.api.batches_serializers import Estimate
from annotate.api.schema import Error, Problem
from annotate.api.serializers import Checked, FreeObject, Moment, Of, Shape, Stored
from annotate.files.import_engine import Preview
from annotate.files.import_jobs import can_start
from annotate.files.import_queue import progress_of
from annotate.files.json_file import are_columns
from annotate.files.problems import Problem as RowProblem
from annotate.files.releases import download_name


class ImportProblem(Stored, of=RowProblem, shows="row line field code message excerpt"):
    row = Of("From 1, in the order in which they were sent.")
    line = Of("Of the file, or of the request's body.")


class ImportResult(Stored, required=""):
    rows = s.IntegerField()
    created = s.IntegerField()
    unchanged = s.IntegerField(help_text="How many were there already, with the same content.")
    raters_created = s.IntegerField(help_text="Of labels.")
    samples_with_named_claims = s.IntegerField(help_text="Of labels: whose claims were named by them.")
    taken_as_answers = s.IntegerField(help_text="Of labels: answers that no longer abstain; left out when none does.")
    left_abstaining = s.IntegerField(
        help_text="Of labels: answers that abstain all the same, as a batch asks about claims; left out when none does."
    )
    grouped = s.IntegerField(help_text="Of samples: how many that had no group got one; left out when none did.")
    without_answer = s.IntegerField(help_text="Of samples: rows that have none; left out when all have one.")
    revised = s.IntegerField(help_text="Of questions: how many say something else than before.")
    added = s.IntegerField(help_text="Of questions: how many are new in the set's draft.")
    removed = s.IntegerField(help_text="Of questions: how many left it.")
    set = s.CharField(help_text="Of questions: the test set that they belong to.")
    regraded = s.IntegerField(help_text="Of judgements: how many have another grade than before.")
    withdrawn = s.IntegerField(help_text="Of judgements: how many were removed.")
    ranked = s.IntegerField(help_text="Of rankings: how many were added to responses that were there.")
    responses = s.IntegerField(help_text="Of samples: new responses to questions; left out when there are none.")
    failed_responses = s.IntegerField(help_text="Of samples: rows that say that a request failed; left out: none.")
    missing_scores = s.IntegerField(help_text="Of scores: how many failed.")
    judges = s.IntegerField(help_text="Of scores: of how many judges they are.")
    seconds = s.FloatField()


class Import(
    Shape,
    of=models.ImportJob,
    shows="id kind status file_name file_format size mapping options progress result errors error_count can_start "
    "created_by created_at finished_at",
):
    kind = Of("samples, labels, scores, questions, qrels or run")
    status = Of("arriving (in parts), uploaded, waiting, running, done or failed")
    file_format = Of("jsonl, json, csv, parquet or trec; empty until it was read.")
    size = Of("In bytes.")
    mapping = s.DictField(child=s.CharField(), help_text="Column and field, as chosen; empty: as guessed.")
    options = FreeObject(
        help_text="Of samples: {version}; of questions and qrels: {set, replace}; of a run: {set, version}."
    )
    progress = s.FloatField(
        help_text="The share of the file that was read, 0 to 1; while it arrives, the share that is there."
    )
    result = ImportResult(help_text="Empty until it is done.")
    errors = ImportProblem(many=True, help_text="The first hundred.")  # type: ignore[assignment]
    error_count = Of("With those beyond the first hundred.")
    can_start = s.BooleanField()
    created_by = s.CharField(source="created_by.username", allow_null=True)
    created_at = Moment()
    finished_at = Moment(allow_null=True)

    def get_progress(self, job: models.ImportJob) -> float:
        return progress_of(job)

    def get_can_start(self, job: models.ImportJob) -> bool:
        return can_start(job)


class Imports(Shape):
    results = Import(many=True, help_text="Without their errors.")


class ImportFailed(Import, required="error"):
    """Beside the error there is an import once a file was read."""

    error = Problem()


class ImportPreview(Shape, of=Preview, shows="columns rows mapping targets errors file_format"):
    rows = s.ListField(source="short_rows", child=FreeObject(), help_text="The first ten, long texts cut.")
    mapping = Of("Column and the field that it would become.")
    targets = Of("The fields that a column can become.")
    errors = ImportProblem(many=True)  # type: ignore[assignment]


class ImportKept(Import):
    preview = ImportPreview()


class ImportMapping(Shape, required=""):
    mapping = s.DictField(child=s.CharField(), allow_null=True, help_text="Column and field; else the present one.")


@extend_schema_field(
    {
        "oneOf": [
            {"type": "array", "items": {"type": "object", "additionalProperties": {}}},
            {"type": "object", "additionalProperties": {"type": "array", "items": {}}},
        ]
    }
)
class Rows(Checked, s.JSONField):
    code = "not_a_list"
    says = '%(field)s: a list of objects, or columns: {"question": […], "answer": […]}.'

    def accepts(self, value: Any) -> bool:
        return isinstance(value, list) or are_columns(value)


class Push(Shape):
    version = s.CharField(help_text="Of the pipeline: 1 to 100 characters, without @.")
    samples = Rows(help_text="Rows, or columns, of a samples file.")


class Pushed(Shape):
    version = s.CharField()
    rows = s.IntegerField()
    created = s.IntegerField()
    unchanged = s.IntegerField(help_text="How many were there already, with the same content.")
    grouped = s.IntegerField(required=False, help_text="How many that had no group got one; left out when none did.")
    without_answer = s.IntegerField(required=False, help_text="How many have no answer; left out when all have one.")
    responses = s.IntegerField(required=False, help_text="How many are new responses to questions; left out: none.")
    failed_responses = s.IntegerField(required=False, help_text="How many say that a request failed; left out: none.")
    import_id = s.UUIDField(help_text="Under which it is among the imports.")


class PushRefused(Error):
    error_count = s.IntegerField(required=False, help_text="With those beyond the first hundred.")
    errors = ImportProblem(  # type: ignore[assignment]
        many=True, required=False, help_text="The first hundred, in the order of the rows."
    )


class ReleaseFilters(Stored, required=""):
    criteria = s.ListField(child=s.CharField(), help_text="Keys; all when left out.")
    batch = s.IntegerField(help_text="The number of one.")
    methods = s.ListField(child=s.CharField(), help_text="How units were settled.")
    include_disputed = s.BooleanField()
    annotators = s.CharField(help_text="A column for each: letters or names.")
    rows = s.CharField(
        help_text="samples: as they were imported, all or a batch's; texts: free text; left out: verdicts."
    )
    reference = s.CharField(help_text="Of samples: corrected puts corrected answers in the place of the reference.")


class ReleaseCreation(Shape, required="format"):
    format = s.CharField(help_text="As in docs/formats.md: jsonl, csv …")
    filters = ReleaseFilters(allow_null=True)


class ReleasedCriterion(Stored, of=models.Criterion, shows="key version unit scale verdicts"):
    verdicts = s.IntegerField()


class ReleasedAgreement(Stored):
    units = s.IntegerField()
    ratings = s.IntegerField()
    raters = s.ListField(child=s.CharField())
    estimates = s.DictField(child=Estimate())


class ReleasedStates(Stored):
    units = s.IntegerField()
    settled = s.IntegerField()
    disputed = s.IntegerField()
    reopened = s.IntegerField()


class Manifest(Stored):
    project = s.CharField()
    name = s.CharField()
    number = s.IntegerField()
    format = s.CharField()
    filters = ReleaseFilters()
    created_at = s.DateTimeField()
    created_by = s.CharField(allow_null=True)
    made_with = s.DictField(child=s.CharField(), help_text="Program and its version.")
    rows = s.IntegerField()
    samples = s.IntegerField()
    verdicts = s.IntegerField()
    criteria = ReleasedCriterion(many=True)
    methods = s.DictField(child=s.IntegerField(), help_text="How many units were settled by each, or are disputed.")
    agreement = s.DictField(
        child=ReleasedAgreement(), help_text="By criterion and its version, as people agreed at that moment."
    )
    annotators = s.ListField(child=s.CharField(), required=False, help_text="The names of their columns.")
    states = ReleasedStates(help_text="Of all that people have looked at within the filters.")
    percent_settled = s.FloatField(allow_null=True)
    abstained = s.IntegerField(
        required=False, help_text="Answers that abstain, of the project or the batch; missing in old releases."
    )
    sha256 = s.CharField()
    bytes = s.IntegerField()


class Release(Shape, of=models.Release, shows="number format filters manifest file_name created_at created_by"):
    format = Of(source="file_format")
    filters = ReleaseFilters()
    manifest = Manifest()
    file_name = s.CharField()
    created_at = Moment()
    created_by = s.CharField(source="created_by.username", allow_null=True)

    def get_file_name(self, release: models.Release) -> str:
        return download_name(release)


class Releases(Shape):
    results = Release(many=True)
