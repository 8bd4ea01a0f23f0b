"""A project's front page, its settings, and new projects; and the first page after login, with what to do next in each
project, by role."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.core.files.uploadedfile import UploadedFile
from django.db.models import Exists, OuterRef
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext_lazy
from django.views.decorators.http import require_http_methods, require_safe

from annotate.batches.read import Counts, OwnBatch, counts_of, own_batches
from annotate.core.permissions import may
from annotate.files.problems import RowError
from annotate.files.strict_json import parse_document
from annotate.models import Label, Membership, Project, User
from annotate.models.project import Role, UnitKind
from annotate.projects.builtin_criteria import BUILTIN_CRITERIA, builtin_in_language
from annotate.projects.deleted_read import being_deleted, deletions
from annotate.projects.read import current_criteria, projects_of, work_batches
from annotate.projects.trail_read import kinds_of
from annotate.projects.write import change_project, create_project
from annotate.qualification.read import Standing, unreached
from annotate.tasks.threads_read import has_asked, new_answers, waiting_questions
from annotate.verdicts.lessons_read import new_lessons
from frontend.base.guideline_text import guidelines_html
from frontend.base.pages import ProjectPage, RefusalsShown, project_view, status_of
from frontend.base.trail import KIND_LABELS

MAX_JSON_BYTES = 2 * 1024 * 1024


def builtin_choices(taken: set[str] = frozenset()) -> list[tuple[str, str]]:  # type: ignore[assignment]
    """Built-in criteria that a project doesn't have yet, each with the unit it is asked about."""
    return [
        (key, f"{spec['name']} ({UnitKind(spec['unit']).label.lower()}) – {spec['prompt']}")
        for key, spec in ((key, builtin_in_language(key)) for key in BUILTIN_CRITERIA if key not in taken)
    ]


class JSONUpload(forms.FileField):
    """A small JSON file, read."""

    def clean(self, data: Any, initial: Any = None) -> Any:
        file: UploadedFile | None = super().clean(data, initial)
        if not file:
            return None
        if (file.size or 0) > MAX_JSON_BYTES:
            raise forms.ValidationError(
                gettext_lazy("This file is larger than 2 MB. A project file is usually a few kB.")
            )
        try:
            return parse_document(file.read())
        except RowError as error:
            raise forms.ValidationError(
                gettext_lazy("This file can’t be read: %(why)s") % {"why": error.message}
            ) from error


SLUG_ERRORS = {"invalid": gettext_lazy("Use only letters, numbers, hyphens and underscores.")}


class NewProjectForm(forms.Form):
    name = forms.CharField(label=gettext_lazy("Name"), max_length=200)
    slug = forms.SlugField(
        label=gettext_lazy("Short name"),
        max_length=60,
        error_messages=SLUG_ERRORS,
        help_text=gettext_lazy("For the address and for commands: a–z, 0–9, “-” and “_”. Can’t be changed later."),
    )
    guidelines = forms.CharField(
        label=gettext_lazy("Guidelines"),
        required=False,
        strip=False,
        widget=forms.Textarea({"rows": 8}),
        help_text=gettext_lazy("What annotators should know, in Markdown. Shown to them while they label."),
    )
    criteria = forms.MultipleChoiceField(
        label=gettext_lazy("Built-in criteria"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("The questions annotators answer about each unit. You can add your own later."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["criteria"].choices = builtin_choices()  # type: ignore[attr-defined]


class ProjectFileForm(forms.Form):
    slug = forms.SlugField(label=gettext_lazy("Short name"), max_length=60, error_messages=SLUG_ERRORS)
    file = JSONUpload(
        label=gettext_lazy("project.json"),
        help_text=gettext_lazy("An object with “name”, “guidelines” and “criteria”."),
        widget=forms.FileInput({"accept": ".json,application/json"}),
    )


class SettingsForm(forms.Form):
    name = forms.CharField(label=gettext_lazy("Name"), max_length=200)
    show_names = forms.BooleanField(
        label=gettext_lazy("Reviewers see annotator names"),
        required=False,
        help_text=gettext_lazy("If off, letters replace names, so names can’t influence decisions."),
    )
    show_judges = forms.BooleanField(
        label=gettext_lazy("Reviewers see judge results after deciding a unit"),
        required=False,
        help_text=gettext_lazy("Hidden until then, so judges can’t influence the decisions they are compared with."),
    )
    teach = forms.BooleanField(
        label=gettext_lazy("Annotators see reviewer feedback"),
        required=False,
        help_text=gettext_lazy("After labelling ends, annotators see which of their labels were overruled, and why."),
    )


class TrailForm(forms.Form):
    """What the trail is searched for; everything may be left out."""

    person = forms.ChoiceField(label=gettext_lazy("Who"), required=False)
    kind = forms.ChoiceField(label=gettext_lazy("What"), required=False)
    sample = forms.CharField(
        label=gettext_lazy("Sample"), required=False, max_length=1000, widget=forms.TextInput({"size": 12})
    )
    since = forms.DateField(
        label=pgettext_lazy("a date", "From"), required=False, widget=forms.DateInput({"type": "date"})
    )
    until = forms.DateField(
        label=pgettext_lazy("a date", "To"), required=False, widget=forms.DateInput({"type": "date"})
    )

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        people = User.objects.filter(memberships__project=project) | User.objects.filter(raters__project=project)
        self.fields["person"].choices = [  # type: ignore[attr-defined]
            ("", gettext_lazy("Anyone")),
            *((user.username, user.name) for user in people.distinct().order_by("username")),
        ]
        self.fields["kind"].choices = [  # type: ignore[attr-defined]
            ("", gettext_lazy("Anything")),
            *((kind, KIND_LABELS.get(kind, kind)) for kind in kinds_of(project)),
        ]

    def asked(self) -> dict[str, str]:
        """The filter in texts, as the address spells it. Only of a valid form."""
        return {
            name: value.isoformat() if hasattr(value, "isoformat") else value
            for name, value in self.cleaned_data.items()
            if value
        }


@dataclass(frozen=True)
class Step:
    """One step of a campaign. `name`: of its URL; `state`: done, next, or later.

    `waits`: something can be done here already, before the steps above it are done.
    """

    name: str
    title: str
    text: str
    url: str
    action: str
    state: str
    waits: bool = False


@dataclass
class Card:
    """A project as it stands on somebody's first page."""

    project: Project
    role: str
    role_label: str
    counts: Counts
    own: list[OwnBatch] = field(default_factory=list)
    step: Step | None = None
    # What reviewers decided otherwise than this person had said, and they have not read yet.
    lessons: int = 0
    # Answers to this person's questions that they have not read, and questions of others that wait for an answer.
    answers: int = 0
    questions: int = 0
    # Qualifications that this person is in and has not reached.
    standings: list[Standing] = field(default_factory=list)
    # The first card on which something waits: it has the page's main button.
    leads: bool = False

    @property
    def has_begun(self) -> bool:
        return any(batch.done for batch in self.own)

    @property
    def waiting(self) -> int:
        return sum(batch.waiting for batch in self.own)

    @property
    def reviews(self) -> bool:
        return may(self.role, "adjudication.read")


def cards(user: User) -> list[Card]:
    """The user's projects, each with what to do next."""
    projects = list(projects_of(user).filter(archived_at__isnull=True))
    roles = dict(Membership.objects.filter(user=user, is_active=True).values_list("project_id", "role"))
    counts = counts_of(projects)
    own = own_batches(user, projects)
    labelled = with_labels(projects)
    lessons = new_lessons(user, projects)
    answers = new_answers(user, projects)
    questions = waiting_questions(user, projects)
    standings = unreached(user, projects)
    listed = []
    for project in projects:
        role = Role(Role.ADMIN if user.is_superuser else roles[project.pk])
        card = Card(
            project,
            role.value,
            str(role.label),
            counts[project.pk],
            own.get(project.pk, []),
            lessons=lessons.get(project.pk, 0),
            answers=answers.get(project.pk, 0),
            questions=questions.get(project.pk, 0) if may(role, "threads.answer") else 0,
            standings=standings.get(project.pk, []),
        )
        if may(role, "batches.change"):
            steps = steps_of(project, card.counts, has_labels=project.pk in labelled)
            card.step = next((step for step in steps if step.state == "next"), None)
        listed.append(card)
    leading = next((card for card in listed if card.own or card.step or (card.reviews and card.counts.disputed)), None)
    if leading:
        leading.leads = True
    return listed


def with_labels(projects: Sequence[Project]) -> set[int]:
    """Ids of the projects in which any unit has a label, made here or imported."""
    labels = Label.objects.filter(criterion__project=OuterRef("pk"))
    found = Project.objects.filter(Exists(labels), pk__in=[project.pk for project in projects])
    return set(found.order_by().values_list("pk", flat=True))


def steps_of(project: Project, counts: Counts, *, has_labels: bool) -> list[Step]:
    """The campaign from the first file to the export; the first step that isn't done is next.

    A project whose labels were all made elsewhere needs no batch.
    """
    settling = counts.has_verdicts
    imported = has_labels and not counts.batches
    labelled = settling or imported
    plan = [
        (
            counts.samples > 0,
            _("Import samples"),
            _("Questions with their answers and contexts, from a file."),
            "import",
            _("Import samples"),
        ),
        (
            counts.criteria > 0,
            _("Choose criteria"),
            _("The questions annotators answer about each unit."),
            "criteria",
            _("Add criteria"),
        ),
        (
            counts.batches > 0 or labelled,
            _("Create a batch"),
            _("Choose samples, annotators and questions."),
            "batch-new",
            _("New batch"),
        ),
        (
            counts.batches > counts.draft_batches or labelled,
            _("Open the batch"),
            _("Annotators see their tasks once the batch is open."),
            "batches",
            _("Go to batches"),
        ),
        (
            counts.tasks_left == 0 and (counts.batches > counts.draft_batches or labelled),
            _("Labelling"),
            _("The labels were imported.")
            if imported
            else _("%(done)d of %(all)d tasks are done.") % {"done": counts.tasks_done, "all": counts.tasks},
            "batches",
            _("Watch progress"),
        ),
        (
            settling and counts.disputed == 0,
            *_settling(counts, unsettled=imported and not settling),
        ),
        (
            counts.releases > 0,
            _("Export"),
            _("A numbered release of the ground truth."),
            "export",
            _("Create release"),
        ),
    ]
    steps, found_next = [], False
    for done, title, text, name, action in plan:
        state = "done" if done else "later" if found_next else "next"
        found_next = found_next or not done
        waits = name == "adjudicate" and counts.disputed > 0
        steps.append(Step(name, title, text, reverse(name, args=[project.slug]), action, state, waits))
    return steps


def _settling(counts: Counts, *, unsettled: bool) -> tuple[str, str, str, str]:
    """`unsettled`: labels were imported and none of them has become a verdict yet."""
    if unsettled:
        text = _("Where imported labels agree, they become verdicts. Reviewers decide the rest.")
        return _("Create verdicts from imported labels"), text, "export", _("Create verdicts")
    text = ngettext("%(n)d unit needs adjudication.", "%(n)d units need adjudication.", counts.disputed)
    return _("Adjudicate disagreements"), text % {"n": counts.disputed}, "adjudicate", _("Start adjudicating")


RECENT_BATCHES = 5


@project_view("project", get="project.read")
def overview(page: ProjectPage) -> HttpResponse:
    project, runs_campaign = page.project, page.may("batches.change")
    works = page.may("work.label")
    counts = counts_of([project])[project.pk]
    has_labels = bool(with_labels([project]))
    own = own_batches(page.user, [project]).get(project.pk, []) if works else []
    return page.render(
        "projects/project.html",
        {
            "counts": counts,
            "works": works,
            "own": own,
            "standings": unreached(page.user, [project]).get(project.pk, []) if works else [],
            "has_begun": any(batch.done for batch in own),
            "lessons": new_lessons(page.user, [project]).get(project.pk, 0),
            "answers": new_answers(page.user, [project]).get(project.pk, 0),
            "has_asked": has_asked(page.user, project),
            "questions": waiting_questions(page.user, [project]).get(project.pk, 0)
            if page.may("threads.answer")
            else 0,
            "steps": steps_of(project, counts, has_labels=has_labels) if runs_campaign else [],
            "criteria": current_criteria(project),
            "batches": work_batches(project)[:RECENT_BATCHES] if page.may("batches.read") else [],
            "guidelines": guidelines_html(project, project.guidelines),
            "reviews": page.may("adjudication.read"),
            "may_change_guidelines": page.may("guidelines.change"),
            "may_manage": page.may("project.manage"),
        },
    )


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new_project(request: HttpRequest) -> HttpResponse:
    """Two forms on one page: fill in, or upload project.json."""
    if not request.user.is_staff:
        raise PermissionDenied(_("Only staff accounts can create projects. Ask the server administrator."))
    sent = request.method == "POST"
    from_file = sent and "from_file" in request.POST
    form = NewProjectForm(request.POST if sent and not from_file else None)
    file_form = ProjectFileForm(
        request.POST if from_file else None, request.FILES if from_file else None, prefix="upload"
    )
    used = file_form if from_file else form
    if sent and used.is_valid():
        fields = used.cleaned_data
        if from_file:
            spec = fields["file"]
        else:
            chosen = [builtin_in_language(key) for key in fields["criteria"]]
            spec = {"name": fields["name"], "guidelines": fields["guidelines"], "criteria": chosen}
        with RefusalsShown(used):
            project = create_project(slug=fields["slug"], spec=spec, created_by=request.user)
            messages.success(request, _("“%(name)s” created. Next: import samples.") % {"name": project.name})
            return redirect("project", slug=project.slug)
    return render(request, "projects/project_new.html", {"form": form, "file_form": file_form}, status=status_of(used))


@project_view("settings", get="project.change", post="project.change")
def settings(page: ProjectPage) -> HttpResponse:
    project = page.project
    initial = {field: getattr(project, field) for field in SettingsForm.base_fields}
    form = SettingsForm(page.data, initial=initial)
    if form.is_valid():
        with RefusalsShown(form):
            change_project(actor=page.user, project=project, **form.cleaned_data)
            messages.success(page.request, _("Saved."))
            return page.redirect("settings")
    return page.render("projects/settings.html", {"form": form}, status=status_of(form))


@require_safe
@login_required
def home(request: HttpRequest) -> HttpResponse:
    user = cast("User", request.user)
    archived = projects_of(user).filter(archived_at__isnull=False)
    context = {
        "cards": cards(user),
        "archived": list(archived),
        "has_deleted": being_deleted(user).exists() or deletions(user).exists(),
    }
    return render(request, "projects/home.html", context)
