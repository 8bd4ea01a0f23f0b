"""Files in and out. An import: upload, preview, start, watch, and what came of it. Ground truth: how much is settled
and how, verdicts from imported labels, and numbered releases."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotate.api.files import as_download, errors_as_csv
from annotate.core.bodies import one_file, takes_at_most
from annotate.core.errors import Refusal
from annotate.core.rows import first_or_raise
from annotate.files.corrected import asks_for_corrections
from annotate.files.export_rows import CORRECTED, NAMED, NUMBERED, SAMPLES, TEXTS
from annotate.files.fields import IGNORE, METADATA
from annotate.files.import_engine import NO_PREVIEW, Preview
from annotate.files.import_jobs import as_it_stands, can_start, create_job, preview, start
from annotate.files.import_queue import progress_of
from annotate.files.releases import make_release
from annotate.labels.consensus import settle_imported
from annotate.models import Criterion, ImportJob, Project
from annotate.models.transfer import ImportKind, ImportStatus
from annotate.projects.read import voted_criteria
from annotate.verdicts.ground_truth_read import ground_truth, imported_labels
from frontend.base.pages import ProjectPage, RefusalsShown, project_view, status_of
from frontend.data.columns import COLUMN_HELP
from frontend.data.values import lines

_WORDS = {METADATA: gettext_lazy("Keep as metadata"), IGNORE: gettext_lazy("Ignore")}


class UploadForm(forms.Form):
    kind = forms.ChoiceField(
        label=gettext_lazy("Content type"),
        # The others belong to a test set, and have pages of their own.
        choices=[(kind.value, kind.label) for kind in (ImportKind.SAMPLES, ImportKind.LABELS, ImportKind.SCORES)],
        widget=forms.RadioSelect,
    )
    file = forms.FileField(
        label=gettext_lazy("File"),
        help_text=gettext_lazy(
            "JSONL, JSON, CSV (also as .gz) or Parquet, UTF-8. You preview it before anything is imported."
        ),
        widget=forms.FileInput({"accept": ".jsonl,.ndjson,.json,.csv,.tsv,.gz,.parquet,.pq"}),
    )


class MappingForm(forms.Form):
    """One choice per column: the field it becomes. Columns are numbered, because their names may be anything."""

    def __init__(self, shown: Preview, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.columns = shown.columns
        targets = [(target, _WORDS.get(target, target)) for target in shown.targets]
        for index, column in enumerate(shown.columns):
            self.fields[f"column_{index}"] = forms.ChoiceField(
                label=column, choices=targets, initial=shown.mapping.get(column, IGNORE)
            )

    def mapping(self) -> dict[str, str]:
        return {column: self.cleaned_data[f"column_{index}"] for index, column in enumerate(self.columns)}


FORMATS = (
    ("jsonl", gettext_lazy("JSONL: one row per unit, with votes, method and provenance")),
    ("csv", gettext_lazy("CSV: same content, as a table")),
    ("parquet", gettext_lazy("Parquet: same content, with types")),
    ("ragas", gettext_lazy("Evaluation library (RAGAS columns): samples with their verdicts")),
    ("deepeval", gettext_lazy("Evaluation library (DeepEval columns): samples with their verdicts")),
    ("qrels", gettext_lazy("TREC qrels: relevance of contexts")),
)

# What a release's file is called where there is no room for a sentence.
FORMAT_NAMES = {
    "jsonl": "JSONL",
    "csv": "CSV",
    "parquet": "Parquet",
    "ragas": gettext_lazy("Evaluation library (RAGAS columns)"),
    "deepeval": gettext_lazy("Evaluation library (DeepEval columns)"),
    "qrels": "TREC qrels",
}


class ReleaseForm(forms.Form):
    rows = forms.ChoiceField(
        label=gettext_lazy("Content type"),
        required=False,
        choices=(
            ("", gettext_lazy("Verdicts")),
            (SAMPLES, gettext_lazy("All samples, as imported")),
            (TEXTS, gettext_lazy("Free text, one row per label")),
        ),
        widget=forms.RadioSelect,
        help_text=gettext_lazy(
            "Files of samples and of free text can be imported again. TREC qrels contain verdicts only."
        ),
    )
    file_format = forms.ChoiceField(label=gettext_lazy("Format"), choices=FORMATS, widget=forms.RadioSelect)
    annotators = forms.ChoiceField(
        label=gettext_lazy("Columns per annotator"),
        required=False,
        choices=(
            ("", gettext_lazy("None")),
            (NUMBERED, gettext_lazy("Anonymised (numbered)")),
            (NAMED, gettext_lazy("By name")),
        ),
        help_text=gettext_lazy(
            "Value, “can’t tell”, comment, evidence, time spent and date of each label. For JSONL, CSV and Parquet."
        ),
    )
    reference = forms.ChoiceField(
        label=gettext_lazy("Reference answer"),
        required=False,
        choices=(
            ("", gettext_lazy("As imported")),
            (CORRECTED, gettext_lazy("The corrected answer, where there is one")),
        ),
        help_text=gettext_lazy("For all samples. If several annotators corrected an answer, the latest one counts."),
    )
    include_single = forms.BooleanField(
        label=gettext_lazy("Include units with one label that no reviewer approved"),
        required=False,
    )

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not asks_for_corrections(project):
            del self.fields["reference"]


class SettleForm(forms.Form):
    """Verdicts from labels that were made elsewhere."""

    criterion = forms.ModelChoiceField(
        label=gettext_lazy("Criterion"), queryset=Criterion.objects.none(), to_field_name="key", empty_label=None
    )
    needed = forms.IntegerField(
        label=gettext_lazy("Labels required per unit"),
        min_value=1,
        max_value=1000,
        initial=2,
        help_text=gettext_lazy(
            "Units with fewer get no verdict; units without a majority go to reviewers. With 1, "
            "single labels count, and reports say so."
        ),
    )

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["criterion"]
        field.queryset = voted_criteria(project)  # type: ignore[attr-defined]
        field.label_from_instance = lambda criterion: criterion.name  # type: ignore[attr-defined]


# What is wrong with a file and can be put right by choosing other fields for its columns.
_MAPPING_PROBLEMS = ("missing_column",)
# What an import counts beside rows, new ones and those that were there.
_COUNTED = {
    "responses": gettext_lazy("New responses to questions"),
    "failed_responses": gettext_lazy("Failed requests"),
    "revised": gettext_lazy("New revisions of questions"),
    "added": gettext_lazy("Added to the test set"),
    "removed": gettext_lazy("Removed from the test set"),
    "ranked": gettext_lazy("Rankings added to responses"),
    "regraded": gettext_lazy("Judgements with another grade"),
    "withdrawn": gettext_lazy("Judgements removed"),
    "grouped": gettext_lazy("Assigned to a group"),
    "without_answer": gettext_lazy("Rows without an answer"),
    "raters_created": gettext_lazy("New raters"),
    "samples_with_named_claims": gettext_lazy("Samples with claims named by the file"),
    "taken_as_answers": gettext_lazy("No longer abstentions: their claims are labelled"),
    "left_abstaining": gettext_lazy("Still abstentions: their batch is open"),
    "judges": gettext_lazy("Judges"),
    "missing_scores": gettext_lazy("Missing scores"),
    "seconds": gettext_lazy("Seconds"),
}
UNDER_WAY = (ImportStatus.ARRIVING, ImportStatus.WAITING, ImportStatus.RUNNING)


@takes_at_most(one_file)
@project_view("import", get="import.read", post="import.run")
def imports(page: ProjectPage) -> HttpResponse:
    """The earlier imports; a POST keeps a file and leads to its preview."""
    sent = page.request.method == "POST"
    kind = page.request.GET.get("kind", ImportKind.SAMPLES)
    form = UploadForm(page.data, page.request.FILES if sent else None, initial={"kind": kind})
    if form.is_valid():
        with RefusalsShown(form, "file"):
            made = create_job(
                project=page.project,
                user=page.user,
                kind=form.cleaned_data["kind"],
                upload=form.cleaned_data["file"],
            )
            return page.redirect("import-job", made.pk)
    jobs = page.project.imports.select_related("created_by").defer("errors", "mapping")
    rows = page.rows(jobs)
    listed = [as_it_stands(job) for job in rows]
    context = {"form": form, "rows": rows, "listed": listed, "column_help": COLUMN_HELP, "kind": form["kind"].value()}
    return page.render("data/imports.html", context, status=status_of(form))


@project_view("import", get="import.read", post="import.run")
def job(page: ProjectPage, job_id: UUID) -> HttpResponse:
    """An import as it stands: its preview, its progress, its result or its errors. A POST starts it."""
    found = _job(page, job_id)
    if found.status == ImportStatus.UPLOADED:
        return _look(page, found)
    if page.request.method == "POST":
        page.attempt(lambda: start(found), _("Import started."))
        return page.redirect("import-job", found.pk)
    return page.render("data/import_job.html", _state(found))


@project_view("import", get="import.read")
def progress(page: ProjectPage, job_id: UUID) -> HttpResponse:
    """The part that a browser asks for again; once the import has ended, the whole page is asked for."""
    found = _job(page, job_id)
    reply = page.render("data/partials/import_progress.html", _state(found))
    if found.status not in UNDER_WAY:
        reply["HX-Refresh"] = "true"
    return reply


@project_view("import", get="import.read")
def errors_csv(page: ProjectPage, job_id: UUID) -> HttpResponse:
    return errors_as_csv(_job(page, job_id))


def _look(page: ProjectPage, found: ImportJob) -> HttpResponse:
    """The first rows and what each column becomes."""
    try:
        shown = preview(found)
    except Refusal as refusal:
        context = {"job": found, "message": refusal.message}
        reply = page.render("data/import_gone.html", context, status=refusal.status)
        if "retry_after" in refusal.details:
            reply["Retry-After"] = str(refusal.details["retry_after"])
        return reply
    form = MappingForm(shown, page.data)
    if form.is_valid():
        with RefusalsShown(form):
            start(found, form.mapping())
            return page.redirect("import-job", found.pk)
    unseen = [error["code"] for error in shown.errors] == [NO_PREVIEW]
    context = {
        "job": found,
        "form": form,
        "shown": shown,
        "unseen": unseen,
        "mendable": unseen
        or (bool(shown.columns) and all(error["code"] in _MAPPING_PROBLEMS for error in shown.errors)),
        "no_answer": found.kind == ImportKind.SAMPLES and shown.columns and "answer" not in shown.mapping.values(),
        "rows": [[lines(row.get(column)) for column in shown.columns] for row in shown.short_rows],
    }
    return page.render("data/import_preview.html", context, status=status_of(form))


def _state(found: ImportJob) -> dict[str, Any]:
    return {
        "job": found,
        "progress": progress_of(found),
        "under_way": found.status in UNDER_WAY,
        "can_start": can_start(found),
        "more": [(words, found.result[key]) for key, words in _COUNTED.items() if key in found.result],
    }


def _job(page: ProjectPage, job_id: UUID) -> ImportJob:
    jobs = page.project.imports.filter(pk=job_id).select_related("created_by")
    return as_it_stands(first_or_raise(jobs, Http404(_("Import not found."))))


# How verdicts came about; what no verdict of the project did has no column.
_WAYS = {
    "unanimous": gettext_lazy("Unanimous"),
    "majority": gettext_lazy("Majority"),
    "adjudicated": gettext_lazy("Adjudicated"),
    "accepted": gettext_lazy("Bulk resolved"),
    "dawid_skene": gettext_lazy("Dawid–Skene"),
    "approved": gettext_lazy("Approved"),
}


@project_view("export", get="export.read", post="export.run")
def exports(page: ProjectPage) -> HttpResponse:
    """A POST makes a release."""
    form = ReleaseForm(page.project, page.data, initial={"file_format": "jsonl"})
    if form.is_valid():
        with RefusalsShown(form):
            release = make_release(
                project=page.project,
                user=page.user,
                file_format=form.cleaned_data["file_format"],
                filters={
                    "annotators": form.cleaned_data["annotators"] or None,
                    "include_single": form.cleaned_data["include_single"],
                    "rows": form.cleaned_data["rows"] or None,
                    "reference": form.cleaned_data.get("reference") or None,
                },
            )
            messages.success(page.request, _("Release %(n)d created.") % {"n": release.number})
            return page.redirect("export")
    return _show(page, {"form": form}, status_of(form))


@project_view("export", post="project.change")
def settle(page: ProjectPage) -> HttpResponse:
    form = SettleForm(page.project, page.request.POST)
    if form.is_valid():
        with RefusalsShown(form):
            written = settle_imported(project=page.project, actor=page.user, **form.cleaned_data)
            messages.success(page.request, _("%(n)d verdicts created or updated.") % {"n": written})
            return page.redirect("export")
    return _show(page, {"settle_form": form}, status_of(form))


@project_view("export", get="export.run")
def download(page: ProjectPage, number: int) -> HttpResponseBase:
    releases = page.project.releases.select_related("project").filter(number=number)
    release = first_or_raise(releases, Http404(_("Release not found.")))
    try:
        return as_download(release, page.user)
    except Refusal as refusal:
        messages.error(page.request, refusal.message)
        return page.redirect("export")


def _show(page: ProjectPage, forms: dict[str, Any], status: int) -> HttpResponse:
    releases = page.project.releases.select_related("created_by")
    rows = page.rows(releases)
    later = page.comes_later(page.project.samples.order_by("pk"))
    truth = [] if later else ground_truth(page.project)
    ways = {name: title for name, title in _WAYS.items() if any(row[name] for row in truth)}
    context = {
        "later": later,
        "truth": [(row, [row[name] for name in ways]) for row in truth],
        "ways": ways.values(),
        "imported": imported_labels(page.project),
        "rows": rows,
        "listed": [(release, FORMAT_NAMES.get(release.file_format, release.file_format)) for release in rows],
        "form": ReleaseForm(page.project, initial={"file_format": "jsonl"}),
        "settle_form": SettleForm(page.project),
    }
    return page.render("data/exports.html", {**context, **forms}, status=status)
