"""What is asked: the list of criteria, a form for one, a file, and the built-in ones. A criterion that has labels is
changed in two steps: first the page says what that would touch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotate.batches.criterion_change_read import Change, Impact, change_between, impact, versions_of
from annotate.batches.relabelling import Relabelled, change_criterion, relabel
from annotate.batches.version_uses_read import version_uses
from annotate.core.walking import first, up_to_limit
from annotate.models import Criterion
from annotate.models.project import UNRATED_SCALES
from annotate.projects.builtin_criteria import builtin_in_language
from annotate.projects.criteria import add_criteria, check_spec
from annotate.projects.read import current_criteria, one_criterion
from frontend.base.pages import ProjectPage, RefusalsShown, project_view, status_of
from frontend.projects.criteria_forms import (
    BuiltinForm,
    ChangeForm,
    CriteriaFileForm,
    CriterionForm,
    OptionFormSet,
    RequirementForm,
    initial_of,
    spec_of,
)
from judges.core.requirement import require, requirement_of
from judges.reports.read import reports_of

# What the page itself sends; everything else is the criterion's form, which it brings along.
_STEP, _CHECK, _CONFIRM = "change-step", "check", "confirm"
_PREFIX = "change"


def ask_about_labels(page: ProjectPage, standing: Criterion, spec: Mapping[str, Any]) -> HttpResponse | None:
    """The page that says what the change touches; what follows once it is confirmed; None when there is nothing to
    ask: neither labels nor known answers, or no change. Raises Refusal as the service."""
    shown = impact(old=standing, new=spec)
    if not shown.change or not (shown.labels or shown.gold_kept or shown.gold_again):
        return None
    carried_along = [
        (name, value)
        for name, values in page.request.POST.lists()
        for value in values
        if not name.startswith(f"{_PREFIX}-") and name != "csrfmiddlewaretoken"
    ]
    return _step(page, standing, spec, shown, carried_along)


@project_view("criteria", get="criteria.change", post="criteria.change")
def carry(page: ProjectPage, key: str, version: int) -> HttpResponse:
    """Labels of an earlier version, for which nobody decided when the later one was made."""
    versions = {criterion.version: criterion for criterion in versions_of(page.project, key)}
    old, new = versions.get(version), max(versions.values(), key=lambda c: c.version)
    if old is None or old == new:
        raise Http404(_("Earlier version not found for this criterion."))
    return _step(page, old, new, impact(old=old, new=new), [])


def _step(
    page: ProjectPage,
    old: Criterion,
    new: Criterion | Mapping[str, Any],
    shown: Impact,
    carried_along: list[tuple[str, str]],
) -> HttpResponse:
    step = page.request.POST.get(_STEP)
    form = ChangeForm(page.project, shown, page.request.POST if step else None, prefix=_PREFIX)
    found = shown
    if form.is_valid():
        with RefusalsShown(form, places={"no_reason": "reason"}):
            if step == _CONFIRM:
                return _done(page, _act(page, old, new, form))
            found = impact(old=old, new=new, choices=form.choices())
    context = {
        "standing": old,
        "form": form,
        "impact": found,
        "lines": change_lines(shown.change),
        "carried_along": carried_along,
        "is_saved": isinstance(new, Criterion),
        "next_version": new.version if isinstance(new, Criterion) else old.version + 1,
        "redo": [person for person in found.people if person.can_redo],
    }
    return page.render("projects/criterion_impact.html", context, status=status_of(form) if form.errors else 200)


def _act(page: ProjectPage, old: Criterion, new: Criterion | Mapping[str, Any], form: ChangeForm) -> Relabelled:
    given: dict[str, Any] = {
        "project": page.project,
        "choices": form.choices(),
        "hand_to": form.hand_to(),
        "due_date": form.cleaned_data["due_date"],
    }
    if isinstance(new, Criterion):
        return relabel(old=old, new=new, actor=page.user, **given)
    return change_criterion(seen=old, spec=new, actor=page.user, **given)


def _done(page: ProjectPage, done: Relabelled) -> HttpResponse:
    named = {"name": done.criterion.name, "version": done.criterion.version}
    parts = [_("“%(name)s” saved as version %(version)d.") % named]
    if done.carried:
        parts.append(
            ngettext("%(n)d label is carried over.", "%(n)d labels are carried over.", done.carried)
            % {"n": done.carried}
        )
    if done.batch is not None:
        parts.append(_("Batch %(number)d was created for the rest.") % {"number": done.batch.number})
    if done.waiting:
        parts.append(
            ngettext(
                "%(n)d unit needs a reviewer, since no annotator is asked again.",
                "%(n)d units need a reviewer, since no annotators are asked again.",
                done.waiting,
            )
            % {"n": done.waiting}
        )
    messages.success(page.request, " ".join(parts))
    return page.redirect("batch", done.batch.number) if done.batch else page.redirect("criterion", done.criterion.key)


def change_lines(change: Change) -> list[dict[str, Any]]:
    """What changes, one line each: its name, and how it reads before and after (None: it isn't there)."""
    names = {
        "name": _("Name"),
        "unit": _("Applies to"),
        "scale": _("Scale"),
        "prompt": _("Question"),
        "help": _("Help"),
        "required": _("Required"),
        "cant_tell": _("Allow “can’t tell”"),
        "prefill": _("The field starts with"),
    }
    lines: list[dict[str, Any]] = [
        {"what": names[name], "before": _words(before), "after": _words(after)}
        for name, (before, after) in change.fields.items()
    ]
    lines += [
        {
            "what": _("Option %(value)s") % {"value": option.value},
            "before": option.before and _option_words(option.before),
            "after": option.after and _option_words(option.after),
        }
        for option in change.options
    ]
    if change.reordered:
        lines.append({"what": _("Option order"), "before": _("before"), "after": _("changed")})
    if change.passes is not None:
        before, after = (", ".join(map(str, values)) or _("nothing") for values in change.passes)
        lines.append({"what": _("Passes"), "before": before, "after": after})
    return lines


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    return str(value)


def _option_words(option: Mapping[str, Any]) -> str:
    words = str(option.get("label") or option["value"])
    if option.get("help"):
        words += f": {option['help']}"
    return words + (f" [{option['hotkey']}]" if option.get("hotkey") else "")


def changes_between(versions: list[Criterion]) -> list[list[dict[str, Any]]]:
    """Of each version, latest first, what it changed of the one before."""
    before = [*versions[1:], None]
    return [
        [] if old is None else change_lines(change_between(old, new)) for new, old in zip(versions, before, strict=True)
    ]


@project_view("criteria", get="criteria.read")
def criteria(page: ProjectPage) -> HttpResponse:
    rows = [
        {
            "criterion": criterion,
            "options": [{**o, "passes": o["value"] in criterion.passes} for o in criterion.options],
        }
        for criterion in current_criteria(page.project)
    ]
    return page.render("projects/criteria.html", {"rows": rows, "may_change": page.may("criteria.change")})


@project_view("criteria", get="criteria.read", post="criteria.change")
def criterion(page: ProjectPage, key: str) -> HttpResponse:
    """One criterion through its versions; who may read reports sees those of each. A POST declares what a judge must
    show on it."""
    versions = versions_of(page.project, key)
    standing = requirement_of(versions[0])
    # Of what has no figures nothing can be required.
    sent = None if versions[0].scale in UNRATED_SCALES else page.data
    form = RequirementForm(sent, initial={name: getattr(standing, name) for name in RequirementForm.base_fields})
    if form.is_valid():
        with RefusalsShown(form, show=lambda why: form.add_error(why.details["field"], why.details["problem"])):
            require(criterion=versions[0], **form.cleaned_data, actor=page.user)
            messages.success(page.request, _("Saved. Used by test evaluations from now on."))
            return page.redirect("criterion", key)
    reports: dict[int, list[Any]] = {}
    if page.may("reports.read"):
        for report in reports_of(page.project).filter(criterion__in=versions):
            reports.setdefault(report.criterion_id, []).append(report)
    uses = version_uses(versions, exactly=False) if page.may("batches.read") else [None] * len(versions)
    rows = [
        {"criterion": version, "use": use, "lines": lines, "reports": reports.get(version.pk, [])}
        for version, use, lines in zip(versions, uses, changes_between(versions), strict=True)
    ]
    context = {
        "current": versions[0],
        "rows": rows,
        "may_change": page.may("criteria.change"),
        "requirement": standing if page.may("reports.read") and versions[0].passes else None,
        "requirement_form": form,
    }
    return page.render("projects/criterion.html", context, status=status_of(form))


@project_view("criteria", get="criteria.change", post="criteria.change")
def add(page: ProjectPage) -> HttpResponse:
    """Built-in criteria and a file, on one page; both end in the same service."""
    sent = page.request.method == "POST"
    from_file = sent and "from_file" in page.request.POST
    taken = set(current_criteria(page.project).values_list("key", flat=True))
    builtin = BuiltinForm(taken, page.request.POST if sent and not from_file else None)
    file_form = CriteriaFileForm(*((page.request.POST, page.request.FILES) if from_file else ()))
    used = file_form if from_file else builtin
    if sent and used.is_valid():
        given = (
            used.cleaned_data["file"] if from_file else list(map(builtin_in_language, used.cleaned_data["criteria"]))
        )
        with RefusalsShown(used):
            added = add_criteria(
                project=page.project, specs=given if isinstance(given, list) else [given], actor=page.user
            )
            names = ", ".join(criterion.name for criterion in added)
            messages.success(page.request, _("Criteria added: %(names)s.") % {"names": names})
            return page.redirect("criteria")
    return page.render(
        "projects/criteria_add.html", {"builtin": builtin, "file_form": file_form}, status=status_of(used)
    )


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
        for fixed in ("key", "unit", "prefill"):
            form.fields[fixed].disabled = True
    is_back = "change-back" in page.request.POST
    if not is_back and form.is_valid() and rows.is_valid():
        with RefusalsShown(form):
            spec = spec_of(form, rows, standing)
            asked = ask_about_labels(page, standing, check_spec(spec)) if standing else None
            if asked is not None:
                return asked
            saved = add_criteria(project=page.project, specs=[spec], actor=page.user)[0]
            said = _("“%(name)s” saved as version %(version)d.")
            messages.success(page.request, said % {"name": saved.name, "version": saved.version})
            return page.redirect("criteria")
    context: dict[str, Any] = {
        "form": form,
        "rows": rows,
        "standing": standing,
        "labels": up_to_limit(first(standing.labels.order_by("sample_id")).count()) if standing else None,
    }
    return page.render("projects/criterion_form.html", context, status=200 if is_back else status_of(form))
