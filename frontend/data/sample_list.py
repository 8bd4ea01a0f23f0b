"""The list of samples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext_lazy

from annotate.models.view import ViewOf
from annotate.samples.read import abstentions, samples_named
from frontend.base.pages import ProjectPage, project_view
from frontend.batches.chosen_samples import SAMPLE
from frontend.batches.list_filter import LONGEST
from frontend.batches.sample_filter import SampleFilter
from frontend.data.lists import Column, ListPage, show_list, view_named


def _more(page: ProjectPage, is_all: bool, rows: Iterable[Any]) -> Mapping[str, Any]:
    # What a search would come to in the end, where it looks through a large project.
    named = samples_named(page.project, [page.request.GET.get("q", "")[:LONGEST].replace("\0", "")]).first()
    return {"abstentions": abstentions(page.project) if is_all else 0, "named": named}


SAMPLES = ListPage(
    ViewOf.SAMPLES,
    SAMPLE,
    SampleFilter,
    (
        Column("id", gettext_lazy("ID")),
        Column("", gettext_lazy("Question")),
        Column("claims", gettext_lazy("Claims"), is_number=True, greatest_first=True),
        Column("contexts", gettext_lazy("Contexts"), is_number=True, greatest_first=True),
        Column("", gettext_lazy("Status")),
        Column("agreement", gettext_lazy("Lowest agreement"), is_number=True),
        Column("pipeline", gettext_lazy("Pipeline")),
    ),
    "data/samples.html",
    _more,
)


@project_view("samples", get="samples.read")
def samples(page: ProjectPage) -> HttpResponse:
    form = SampleFilter(page.project, page.request.GET, reader=page.user)
    return show_list(page, SAMPLES, form, view_named(page, SAMPLES.of))
