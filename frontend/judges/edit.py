"""Making a judge: what to start from, its form, a file; and editing one, which makes its next version."""

from __future__ import annotations

from functools import partial
from itertools import count
from typing import Any

from django import forms
from django.contrib import messages
from django.forms import BaseForm
from django.http import Http404, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotate.core.errors import Refusal
from frontend.base.pages import ProjectPage, RefusalsShown, project_view, status_of
from frontend.judges.kinds.base import ConfigForm
from frontend.judges.kinds.registry import config_form, groups, start_named, version_form
from frontend.judges.run_start import can_be_run
from frontend.projects.views import JSONUpload
from judges.core.scores_read import current_version
from judges.models import Endpoint, Judge, JudgeKind, JudgeVersion, VersionState
from judges.versions.read import one_judge, withheld
from judges.versions.specs import Made, judge_from_spec
from judges.versions.write import add_version, create_judge


class JudgeForm(forms.Form):
    """What a judge of any kind has."""

    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=200,
        help_text=gettext_lazy("Name in reports and commands. Can’t be changed later."),
    )
    description = forms.CharField(
        label=gettext_lazy("Description"), required=False, max_length=10_000, widget=forms.Textarea({"rows": 2})
    )
    higher_is_better = forms.BooleanField(label=gettext_lazy("A higher score is better"), required=False, initial=True)


class VersionForm(forms.Form):
    """What becomes of an edited configuration."""

    state = forms.ChoiceField(
        label=gettext_lazy("New version"),
        initial=VersionState.KEPT,
        widget=forms.RadioSelect,
        choices=(
            (VersionState.KEPT, gettext_lazy("Active: its scores count at once")),
            (VersionState.TRIAL, gettext_lazy("Experimental: not counted until activated")),
        ),
    )


class JudgeFileForm(forms.Form):
    file = JSONUpload(
        label=gettext_lazy("From a JSON file"),
        help_text=gettext_lazy("A judge downloaded from another project, or in the format of create_judge."),
        widget=forms.FileInput({"accept": ".json,application/json"}),
    )

    def spec(self) -> dict[str, Any]:
        given = self.cleaned_data["file"]
        return given if isinstance(given, dict) else {}


@project_view("judges", get="judges.change", post="judges.change")
def choose(page: ProjectPage) -> HttpResponse:
    """What one may start from; a POST brings a file."""
    sent = page.request.method == "POST"
    form = JudgeFileForm(page.data, page.request.FILES if sent else None)
    if form.is_valid():
        with RefusalsShown(form, "file"):
            made = judge_from_spec(project=page.project, spec=form.cleaned_data["file"], actor=page.user)
            return _from_file(page, made)
    context = {
        "groups": groups(page.project),
        "file_form": form,
        "has_endpoints": Endpoint.objects.filter(project=page.project).exists(),
    }
    return page.render("judges/judge_new.html", context, status=status_of(form))


@project_view("judges", get="judges.change", post="judges.change")
def new(page: ProjectPage, start: str) -> HttpResponse:
    found = start_named(page.project, start)
    if found is None:
        raise Http404(_("Starting point not found."))
    kind, begun = found
    form = JudgeForm(page.data, initial={"name": _free(page, begun.name), "higher_is_better": begun.higher_is_better})
    config = config_form(kind, page.project, begun.config, page.data)
    # Both, so that all that is wrong is shown at once.
    if all([form.is_valid(), config.is_valid()]):
        given = form.cleaned_data
        with RefusalsShown(form, show=partial(_show, form, config)):
            made = create_judge(
                project=page.project,
                name=given["name"],
                kind=kind,
                config=config.config(),
                endpoint=config.endpoint(),
                description=given["description"],
                higher_is_better=given["higher_is_better"],
                actor=page.user,
            )
            return _made(page, made)
    context = {"start": begun, "form": form, "config": config, "kind": JudgeKind(kind).label}
    return page.render("judges/judge_form.html", context, status=status_of(form))


def _free(page: ProjectPage, name: str) -> str:
    """The name, or with a number where there is a judge of that name already."""
    taken = set(Judge.objects.filter(project=page.project, name__startswith=name).values_list("name", flat=True))
    return next(one for n in count(1) if (one := name if n == 1 else f"{name}-{n}") not in taken)


@project_view("judges", get="judges.change", post="judges.change")
def edit(page: ProjectPage, judge_id: int) -> HttpResponse:
    """From the version that the address names (`?version=2`), else from the one in use."""
    judge = one_judge(page.project, judge_id)
    standing = _standing(page, judge)
    form = VersionForm(page.data)
    hidden = withheld(standing, reader=page.user, role=page.role)
    config = version_form(standing, page.data, hidden=hidden)
    if all([form.is_valid(), config.is_valid()]):
        last = judge.versions.order_by("-number")[0].number
        with RefusalsShown(form, show=partial(_show, form, config)):
            version = add_version(
                judge=judge,
                config=config.config(),
                endpoint=config.endpoint(),
                state=form.cleaned_data["state"],
                based_on=standing,
                actor=page.user,
            )
            _say_saved(page, version, is_new=version.number > last)
            return page.redirect("judge", judge.pk)
    context = {"judge": judge, "standing": standing, "form": form, "config": config, "kind": judge.get_kind_display()}
    return page.render("judges/judge_form.html", context, status=status_of(form))


def _standing(page: ProjectPage, judge: Judge) -> JudgeVersion:
    versions = judge.versions.select_related("judge__project", "endpoint").order_by("-number")
    asked = page.request.GET.get("version")
    found = versions.filter(number=int(asked)) if asked and asked.isdecimal() else versions
    current = current_version(judge)
    version = found.filter(pk=current.pk).first() if current and not asked else found.first()
    if version is None or not can_be_run(judge, version):
        raise Http404(_("This judge can’t be edited."))
    return version


def _say_saved(page: ProjectPage, version: JudgeVersion, *, is_new: bool) -> None:
    label = {"label": version.label}
    if not is_new:
        messages.info(page.request, _("No changes from version %(label)s, so no new version was created.") % label)
    else:
        messages.success(page.request, _("Saved as version %(label)s. Run it to get scores.") % label)


def _from_file(page: ProjectPage, made: Made) -> HttpResponse:
    judge = made.version.judge
    if made.is_new_judge:
        return _made(page, judge)
    _say_saved(page, made.version, is_new=made.is_new_version)
    return page.redirect("judge", judge.pk)


def _made(page: ProjectPage, judge: Judge) -> HttpResponse:
    said = _("“%(name)s” created. Run it to get scores.")
    messages.success(page.request, said % {"name": judge.name})
    return page.redirect("judge", judge.pk)


def _show(form: BaseForm, config: ConfigForm, refusal: Refusal) -> None:
    """Shows the refusal at the field that it is about."""
    place, problem = str(refusal.details.get("field", "")), str(refusal.details.get("problem", refusal.message))
    if refusal.code == "name_taken":
        place = "name"
    if place in form.fields:
        form.add_error(place, problem)
    elif place:
        config.refuse(place, problem)
    else:
        form.add_error(None, refusal.message)
