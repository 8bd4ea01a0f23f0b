"""Test sets: the first page of systems, import of questions, a set with its draft, what was frozen, and a question."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotate.core.bodies import one_file, takes_at_most
from annotate.core.errors import Refusal
from annotate.files.import_jobs import create_job
from annotate.models.transfer import ImportKind
from annotate.samples.read import samples_by_version
from frontend.base.pages import ProjectPage, RefusalsShown, project_view, status_of
from frontend.data.columns import Column
from frontend.systems.experiment_list import listed
from systems.models import QuestionKind, QuestionRevision, Response, SystemVersion
from systems.questions.read import SetState, one_frozen, one_question, one_set, sets_of
from systems.questions.write import freeze_set
from systems.responses.read import answers_to, versions_of
from systems.responses.unlinked_read import Proposals

COLUMNS = (
    Column("question", gettext_lazy("What the user asks."), required=True),
    Column(
        "id", gettext_lazy("Your name for the question, once per project. If left out, one is made from its words.")
    ),
    Column("reference", gettext_lazy("The right answer, if you have one.")),
    Column("key_facts", gettext_lazy("Facts that a complete answer contains, as a list.")),
    Column("entities", gettext_lazy("Names that the contexts should contain, as a list.")),
    Column("relevant", gettext_lazy("IDs of relevant documents, as a list; or {document: grade}.")),
    Column("type", gettext_lazy("What kind of question:"), values=tuple(filter(None, QuestionKind.values))),
    Column("difficulty", gettext_lazy("A word or a number to compare by.")),
    Column("category", gettext_lazy("A word to compare by, such as its topic.")),
    Column("earlier_turns", gettext_lazy("Earlier turns of a conversation: a list of {role, text}.")),
    Column("group_key", gettext_lazy("The same for questions that belong together, such as near duplicates.")),
)


@dataclass(frozen=True)
class Count:
    label: str
    count: int


def counted(manifest: dict[str, Any]) -> dict[str, list[Count]]:
    """Kinds and categories in words."""
    unknown = str(QuestionKind.UNKNOWN.label)
    return {
        "kinds": [Count(str(QuestionKind(kind).label), n) for kind, n in manifest["kinds"].items()],
        "categories": [Count(category or unknown, n) for category, n in manifest["categories"].items()],
    }


@project_view("systems", get="systems.read")
def systems(page: ProjectPage) -> HttpResponse:
    """What is there, and what to do next."""
    versions = page.rows(versions_of(page.project))
    samples = samples_by_version(page.project, [version.name for version in versions])
    context = {
        "sets": [SetState(one) for one in sets_of(page.project)],
        "rows": versions,
        "versions": [(version, samples.get(version.name, 0)) for version in versions],
        "experiments": listed(page),
        "unlinked": Proposals(page.project).counted(),
        "may_change": page.may("systems.change"),
        "may_import": page.may("import.run"),
        "may_target": page.may("endpoints.read"),
    }
    return page.render("systems/systems.html", context)


class QuestionsUploadForm(forms.Form):
    set_name = forms.SlugField(
        label=gettext_lazy("Test set"),
        max_length=60,
        help_text=gettext_lazy("An existing set, or the name of a new one: a–z, 0–9, “-” and “_”."),
    )
    file = forms.FileField(
        label=gettext_lazy("File"),
        help_text=gettext_lazy(
            "JSONL, JSON, CSV (also as .gz) or Parquet, UTF-8. You preview it before anything is imported."
        ),
        widget=forms.FileInput({"accept": ".jsonl,.ndjson,.json,.csv,.tsv,.gz,.parquet,.pq"}),
    )
    replace = forms.BooleanField(
        label=gettext_lazy("Remove questions that are not in the file"),
        required=False,
        help_text=gettext_lazy("From the draft of the set only. Frozen numbers and responses stay."),
    )


@takes_at_most(one_file)
@project_view("systems", get="import.run", post="import.run")
def import_questions(page: ProjectPage) -> HttpResponse:
    """A POST keeps the file and leads to its preview."""
    files = page.request.FILES if page.request.method == "POST" else None
    form = QuestionsUploadForm(page.data, files, initial={"set_name": page.request.GET.get("set", "")})
    if form.is_valid():
        given = form.cleaned_data
        with RefusalsShown(form, "file", places={"bad_set_name": "set_name", "frozen_set": "set_name"}):
            job = create_job(
                project=page.project,
                user=page.user,
                kind=ImportKind.QUESTIONS,
                upload=given["file"],
                options={"set": given["set_name"], "replace": given["replace"]},
            )
            return page.redirect("import-job", job.pk)
    return page.render("systems/import.html", {"form": form, "columns": COLUMNS}, status=status_of(form))


@project_view("systems", get="systems.read")
def test_set(page: ProjectPage, set_name: str) -> HttpResponse:
    """The draft of a set, and what was frozen of it."""
    state = SetState(one_set(page.project, set_name))
    kind, category = page.request.GET.get("kind", ""), page.request.GET.get("category", "")
    shown = [
        revision
        for revision in state.revisions
        if (not kind or revision.kind == kind) and (not category or revision.category == category)
    ]
    context = {
        "state": state,
        "rows": page.rows(shown),
        "query": "".join(f"{name}={value}&" for name, value in (("kind", kind), ("category", category)) if value),
        "kind": kind,
        "category": category,
        "kinds": [one for one in QuestionKind if any(revision.kind == one for revision in state.revisions) and one],
        "categories": sorted({revision.category for revision in state.revisions} - {""}),
        "frozen": state.question_set.frozen.select_related("frozen_by"),
        "may_change": page.may("systems.change"),
        "may_import": page.may("import.run"),
    }
    return page.render("systems/test_set.html", context)


@project_view("systems", post="systems.change")
def freeze(page: ProjectPage, set_name: str) -> HttpResponse:
    try:
        done = freeze_set(actor=page.user, project=page.project, name=set_name)
    except Refusal as refusal:
        messages.error(page.request, refusal.message)
    else:
        said = _("%(set)s is frozen.") if done.is_new else _("Nothing has changed: it is still %(set)s.")
        messages.success(page.request, said % {"set": done.frozen.manifest["set"]})
    return page.redirect("test-set", set_name)


@project_view("systems", get="systems.read")
def frozen_set(page: ProjectPage, set_name: str, number: int) -> HttpResponse:
    """What was frozen under a number."""
    frozen = one_frozen(page.project, set_name, number)
    asked = frozen.questions.select_related("revision__question")
    rows = page.rows(asked)
    context = {
        "frozen": frozen,
        "rows": rows,
        "revisions": [one.revision for one in rows],
        "may_ask": page.may("systems.ask"),
        **counted(frozen.manifest),
    }
    return page.render("systems/frozen_set.html", context)


@dataclass(frozen=True)
class VersionAnswers:
    version: SystemVersion
    responses: list[Response]


@project_view("systems", get="systems.read")
def question(page: ProjectPage, question_id: int) -> HttpResponse:
    """What a question says and said, and what each version answered."""
    found = one_question(page.project, question_id)
    revisions: list[QuestionRevision] = list(found.revisions.order_by("-number"))
    answers = answers_to(found, reader=page.user)
    by_version: dict[SystemVersion, list[Response]] = defaultdict(list)
    for response in answers.responses:
        by_version[response.version].append(response)
    context = {
        "question": found,
        "revision": revisions[0],
        "earlier": revisions[1:],
        "answers": [VersionAnswers(version, responses) for version, responses in by_version.items()],
        "held_back": answers.held_back,
    }
    return page.render("systems/question.html", context)
