"""What is asked: the list of criteria, a form for one, a file, and the built-in ones."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.utils.translation import gettext as _

from annotate.batches.criterion_change_read import version_uses, versions_of
from annotate.core.errors import Refusal
from annotate.models import Criterion
from annotate.projects.criteria import add_criteria, check_spec
from annotate.projects.read import current_criteria, one_criterion
from frontend.forms.criteria import (
    BuiltinForm,
    CriteriaFileForm,
    CriterionForm,
    OptionFormSet,
    initial_of,
    spec_of,
)
from frontend.views.base import ProjectPage, project_view, refuse, status_of
from frontend.views.criterion_change import ask_about_labels, changes_between
from judges.selectors.reports import reports_of


@project_view("criteria", get="criteria.read")
def criteria(page: ProjectPage) -> HttpResponse:
    rows = [
        {
            "criterion": criterion,
            "options": [{**o, "passes": o["value"] in criterion.passes} for o in criterion.options],
        }
        for criterion in current_criteria(page.project)
    ]
    return page.render("frontend/criteria.html", {"rows": rows, "may_change": page.may("criteria.change")})


@project_view("criteria", get="criteria.read")
def criterion(page: ProjectPage, key: str) -> HttpResponse:
    """One criterion through its versions; who may read reports sees those of each."""
    versions = versions_of(page.project, key)
    reports: dict[int, list[Any]] = {}
    if page.may("reports.read"):
        for report in reports_of(page.project).filter(criterion__in=versions):
            reports.setdefault(report.criterion_id, []).append(report)
    uses = version_uses(versions) if page.may("batches.read") else [None] * len(versions)
    rows = [
        {"criterion": version, "use": use, "lines": lines, "reports": reports.get(version.pk, [])}
        for version, use, lines in zip(versions, uses, changes_between(versions), strict=True)
    ]
    context = {"current": versions[0], "rows": rows, "may_change": page.may("criteria.change")}
    return page.render("frontend/criterion.html", context)


@project_view("criteria", get="criteria.change", post="criteria.change")
def add(page: ProjectPage) -> HttpResponse:
    """Built-in criteria and a file, on one page; both end in the same service."""
    sent = page.request.method == "POST"
    from_file = sent and "from_file" in page.request.POST
    taken = set(current_criteria(page.project).values_list("key", flat=True))
    builtin = BuiltinForm(taken, page.request.POST if sent and not from_file else None)
    file_form = CriteriaFileForm(*((page.request.POST, page.request.FILES) if from_file else ()))
    used = file_form if from_file else builtin
    status = status_of(used)
    if sent and used.is_valid():
        given = used.cleaned_data["file" if from_file else "criteria"]
        try:
            added = add_criteria(
                project=page.project, specs=given if isinstance(given, list) else [given], actor=page.user
            )
        except Refusal as refusal:
            status = refuse(used, refusal)
        else:
            names = ", ".join(criterion.name for criterion in added)
            messages.success(page.request, _("The project asks: %(names)s.") % {"names": names})
            return page.redirect("criteria")
    return page.render("frontend/criteria_add.html", {"builtin": builtin, "file_form": file_form}, status=status)


@project_view("criteria", get="criteria.change", post="criteria.change")
def new(page: ProjectPage) -> HttpResponse:
    return _edit(page, None)


@project_view("criteria", get="criteria.change", post="criteria.change")
def edit(page: ProjectPage, key: str) -> HttpResponse:
    """Changing a criterion that is in use makes its next version; the service decides which."""
    return _edit(page, one_criterion(page.project, key))


def _edit(page: ProjectPage, standing: Criterion | None) -> HttpResponse:
    fields, options = initial_of(standing) if standing else ({}, [])
    data = page.data
    form, rows = CriterionForm(data, initial=fields), OptionFormSet(data, initial=options, prefix="option")
    if standing:
        form.fields["key"].disabled = form.fields["unit"].disabled = True
    status = status_of(form)
    if "change-back" in page.request.POST:
        status = 200
    elif form.is_valid() and rows.is_valid():
        try:
            spec = spec_of(form, rows, standing)
            asked = ask_about_labels(page, standing, check_spec(spec)) if standing else None
            if asked is not None:
                return asked
            saved = add_criteria(project=page.project, specs=[spec], actor=page.user)[0]
        except Refusal as refusal:
            status = refuse(form, refusal)
        else:
            messages.success(page.request, _saved(saved))
            return page.redirect("criteria")
    context: dict[str, Any] = {
        "form": form,
        "rows": rows,
        "standing": standing,
        "labels": standing.labels.count() if standing else 0,
    }
    return page.render("frontend/criterion_form.html", context, status=status)


def _saved(criterion: Criterion) -> str:
    return _("“%(name)s” is saved as version %(version)d.") % {"name": criterion.name, "version": criterion.version}
