"""A version of the system with what its responses took, its description, and questions that a person confirms."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from frontend.base.pages import ProjectPage, RefusalsShown, project_view, status_of
from frontend.data.lists import window
from systems.models import SystemVersion
from systems.questions.read import sets_of
from systems.responses.linking import confirm_questions
from systems.responses.read import figures_of, one_version
from systems.responses.unlinked_read import Proposals
from systems.responses.versions import Description, change_version

# Of each measure its name, its unit, and how many digits it is shown with.
MEASURES = {
    "latency_ms": (gettext_lazy("Latency"), "ms", "0g"),
    "first_token_ms": (gettext_lazy("Time to first token"), "ms", "0g"),
    "input_tokens": (gettext_lazy("Input tokens"), "", "0g"),
    "output_tokens": (gettext_lazy("Output tokens"), "", "0g"),
    "cost": (gettext_lazy("Cost"), "", "4g"),
}


class VersionForm(forms.Form):
    """Configuration stands one key per line, `key = value`; numbers, true and false are read as such."""

    configuration = forms.CharField(
        label=gettext_lazy("Configuration"),
        required=False,
        widget=forms.Textarea({"rows": 6, "spellcheck": "false"}),
        help_text=gettext_lazy("One key per line, such as temperature = 0.2."),
    )
    commit = forms.CharField(label=gettext_lazy("Commit"), required=False, max_length=100)
    parent_commit = forms.CharField(
        label=gettext_lazy("Parent commit"),
        required=False,
        max_length=100,
        help_text=gettext_lazy("The commit that this build follows."),
    )
    tags = forms.CharField(label=gettext_lazy("Tags"), required=False, help_text=gettext_lazy("Separated by commas."))
    price_input = forms.FloatField(
        label=gettext_lazy("Price of input"),
        required=False,
        min_value=0,
        help_text=gettext_lazy("For a million tokens."),
    )
    price_output = forms.FloatField(
        label=gettext_lazy("Price of output"),
        required=False,
        min_value=0,
        help_text=gettext_lazy("For a million tokens."),
    )
    is_baseline = forms.BooleanField(
        label=gettext_lazy("Baseline"),
        required=False,
        help_text=gettext_lazy("The version that others are compared with. There is one per project."),
    )

    def clean_configuration(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for line in filter(str.strip, self.cleaned_data["configuration"].splitlines()):
            key, equals, value = (part.strip() for part in line.partition("="))
            if not equals or not key or key in found:
                raise forms.ValidationError(_("“%(line)s” must be key = value, each key once.") % {"line": line[:80]})
            found[key] = _typed(value)
        return found

    def description(self) -> Description:
        given = self.cleaned_data
        prices = {name: given[f"price_{name}"] for name in ("input", "output")}
        return Description(
            configuration=given["configuration"],
            commit=given["commit"],
            parent_commit=given["parent_commit"],
            tags=[tag for tag in map(str.strip, given["tags"].split(",")) if tag],
            price={name: price for name, price in prices.items() if price is not None},
            is_baseline=given["is_baseline"],
        )


def _typed(value: str) -> str | int | float | bool:
    if value in ("true", "false"):
        return value == "true"
    for read in (int, float):
        try:
            return read(value)
        except ValueError:
            continue
    return value


def written(value: Any) -> str:
    """A value of a configuration, as it is typed."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _as_described(version: SystemVersion) -> dict[str, Any]:
    return {
        "configuration": "\n".join(f"{key} = {written(value)}" for key, value in version.configuration.items()),
        "commit": version.commit,
        "parent_commit": version.parent_commit,
        "tags": ", ".join(version.tags),
        "price_input": version.price.get("input"),
        "price_output": version.price.get("output"),
        "is_baseline": version.is_baseline,
    }


@project_view("systems", get="systems.read")
def version(page: ProjectPage, version_id: int) -> HttpResponse:
    found = one_version(page.project, version_id)
    figures = figures_of(found)
    context = {
        "version": found,
        "figures": figures,
        "measures": [(*MEASURES[one.name], one) for one in figures.measures],
        "configuration": [(key, written(value)) for key, value in found.configuration.items()],
        "may_change": page.may("systems.change"),
        "may_import": page.may("import.run"),
        "may_target": page.may("endpoints.read"),
        "has_sets": sets_of(page.project).exists(),
    }
    return page.render("systems/version.html", context)


@project_view("systems", get="systems.change", post="systems.change")
def edit_version(page: ProjectPage, version_id: int) -> HttpResponse:
    found = one_version(page.project, version_id)
    form = VersionForm(page.data, initial=_as_described(found))
    if form.is_valid():
        with RefusalsShown(
            form,
            "configuration",
            places={"bad_tags": "tags", "bad_commit": "commit", "bad_parent_commit": "parent_commit"},
        ):
            change_version(actor=page.user, version=found, said=form.description())
            return page.redirect("system-version", found.pk)
    return page.render("systems/version_edit.html", {"form": form, "version": found}, status=status_of(form))


@project_view("systems", get="systems.read", post="systems.change")
def unlinked(page: ProjectPage) -> HttpResponse:
    """A POST confirms those that are ticked, or all."""
    if page.request.method == "POST":
        keys = None if "every" in page.request.POST else page.request.POST.getlist("key")
        page.attempt(
            lambda: confirm_questions(actor=page.user, project=page.project, keys=keys),
            ngettext("%(n)d question confirmed.", "%(n)d questions confirmed.", len(keys)) % {"n": len(keys)}
            if keys is not None
            else _("All questions confirmed."),
        )
        return page.redirect("unlinked")
    found = Proposals(page.project)
    context = {
        "rows": window(page, found),
        "ready": found.counted_to_confirm() if page.may("systems.change") else None,
        "may_change": page.may("systems.change"),
    }
    return page.render("systems/unlinked.html", context)
