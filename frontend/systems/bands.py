"""The bands of metrics, and what a project aims at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django import forms
from django.http import HttpResponse
from django.utils.translation import gettext as _

from frontend.base.pages import ProjectPage, RefusalsShown, project_view, status_of
from frontend.systems.experiment_form import offers_of
from systems.experiments.bands_read import NO_BANDS, RECALL, ProjectBands, bands_of, metrics_with_bands
from systems.experiments.bands_write import change_bands

_LIMITS = ("fair", "good", "excellent")


class BandsForm(forms.Form):
    """Of each metric `N_fair`, `N_good`, `N_excellent` and `N_target`."""

    def __init__(self, data: Any, standing: ProjectBands) -> None:
        super().__init__(data)
        titles = {offer.name: offer.title for offer in offers_of(standing.project)}
        titles[RECALL] = _("Recall@5, of all relevant documents")
        labels = {
            "fair": _("Fair from, of %(metric)s"),
            "good": _("Good from, of %(metric)s"),
            "excellent": _("Excellent from, of %(metric)s"),
            "target": _("Target of %(metric)s"),
        }
        self._metrics = metrics_with_bands(standing.project)
        self._titles = titles
        for place, name in enumerate(self._metrics):
            bands = standing.metrics.get(name, NO_BANDS)
            values = dict(zip(_LIMITS, bands.limits, strict=False)) | {"target": bands.target}
            for end, label in labels.items():
                said = label % {"metric": titles[name]}
                field = forms.FloatField(label=said, required=False, initial=values.get(end))
                field.widget.attrs |= {"aria-label": said, "step": "any"}
                self.fields[f"{place}_{end}"] = field

    @property
    def rows(self) -> Iterator[tuple[str, bool, list[forms.BoundField]]]:
        """A metric, whether less of it is better, and its fields."""
        for place, (name, direction) in enumerate(self._metrics.items()):
            fields = [self[f"{place}_{end}"] for end in (*_LIMITS, "target")]
            yield self._titles[name], direction == "lower", fields

    def metrics(self) -> dict[str, Any]:
        """As systems.experiments.bands_write takes them."""
        given = self.cleaned_data
        found = {}
        for place, name in enumerate(self._metrics):
            limits = [given[f"{place}_{end}"] for end in _LIMITS]
            there = [one for one in limits if one is not None]
            found[name] = {"limits": there, "target": given[f"{place}_target"]}
        return found


@project_view("systems", get="systems.change", post="systems.change")
def bands(page: ProjectPage) -> HttpResponse:
    standing = bands_of(page.project)
    form = BandsForm(page.data, standing)
    if form.is_valid():
        with RefusalsShown(form):
            change_bands(actor=page.user, project=page.project, metrics=form.metrics())
            return page.redirect("systems")
    return page.render("systems/bands.html", {"form": form, "standing": standing}, status=status_of(form))
