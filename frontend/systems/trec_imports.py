"""Import of relevance judgements and of rankings, from TREC files. Their columns are fixed, so there is no preview."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotate.core.bodies import one_file, takes_at_most
from annotate.files.import_jobs import create_job, start
from annotate.models import Project
from annotate.models.transfer import ImportKind
from frontend.base.pages import ProjectPage, RefusalsShown, project_view, status_of
from systems.models import QuestionSet, SystemVersion

_EXAMPLES = {
    ImportKind.QRELS: "q1 0 doc-15 1\nq1 0 doc-42 2\nq2 0 doc-7 0",
    ImportKind.RUN: "q1 Q0 doc-42 1 12.5 bm25\nq1 Q0 doc-15 2 11.0 bm25\nq2 Q0 doc-7 1 9.3 bm25",
}


class _TrecForm(forms.Form):
    test_set = forms.ChoiceField(
        label=gettext_lazy("Test set"),
        help_text=gettext_lazy("Questions outside the set are refused."),
    )
    file = forms.FileField(label=gettext_lazy("File"))

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["test_set"].choices = _sets(project)  # type: ignore[attr-defined]


def _sets(project: Project) -> list[tuple[str, str]]:
    """Each number, the latest first, and the draft."""
    found = []
    for one in QuestionSet.objects.filter(project=project).prefetch_related("frozen"):
        found += [(frozen.manifest["set"], frozen.manifest["set"]) for frozen in one.frozen.all()]
        found.append((one.name, _("%(set)s (draft)") % {"set": one.name}))
    return found


class QrelsForm(_TrecForm):
    replace = forms.BooleanField(
        label=gettext_lazy("Replace earlier imported judgements of these questions"), required=False
    )


class RunForm(_TrecForm):
    version = forms.CharField(
        label=gettext_lazy("Version"),
        max_length=100,
        help_text=gettext_lazy("An existing version, or the name of a new one."),
        widget=forms.TextInput({"list": "versions", "autocomplete": "off", "spellcheck": "false"}),
    )
    field_order = ("version",)


@takes_at_most(one_file)
@project_view("systems", get="import.run", post="import.run")
def import_qrels(page: ProjectPage) -> HttpResponse:
    return _upload(page, QrelsForm, ImportKind.QRELS, "replace")


@takes_at_most(one_file)
@project_view("systems", get="import.run", post="import.run")
def import_run(page: ProjectPage) -> HttpResponse:
    return _upload(page, RunForm, ImportKind.RUN, "version")


def _upload(page: ProjectPage, form_class: type[_TrecForm], kind: ImportKind, option: str) -> HttpResponse:
    """option: what the importer of this kind is told beside the test set."""
    files = page.request.FILES if page.request.method == "POST" else None
    initial = {"test_set": page.request.GET.get("set", ""), "version": page.request.GET.get("version", "")}
    form = form_class(page.project, page.data, files, initial=initial)
    if form.is_valid():
        given = form.cleaned_data
        with RefusalsShown(form, "file", places={"bad_version": "version"}):
            job = create_job(
                project=page.project,
                user=page.user,
                kind=kind,
                upload=given["file"],
                options={"set": given["test_set"], option: given[option]},
            )
            start(job)
            return page.redirect("import-job", job.pk)
    context = {
        "form": form,
        "kind": kind,
        "example": _EXAMPLES[kind],
        "versions": SystemVersion.objects.filter(project=page.project).values_list("name", flat=True),
    }
    return page.render("systems/import_trec.html", context, status=status_of(form))
