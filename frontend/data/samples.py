"""Samples: a list to search, one sample with what was said about it, and what people report about them."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from annotate.core.units import unit_sort_key
from annotate.models import Sample
from annotate.projects.read import one_sample
from annotate.projects.trail_read import LABELS, Happening, unit_history
from annotate.samples.flags import resolve_flag
from annotate.samples.read import flags_of
from frontend.base.forms import SampleSearch
from frontend.base.pages import ProjectPage, project_view
from frontend.base.trail import sentence, unit_words, who
from frontend.data import sample_units as samples_read
from frontend.data.sample_units import answer_pieces
from frontend.reports.disagreements import walk
from judges.core.sample_read import said_about

PAGE_SIZE = 50


@project_view("samples", get="samples.read")
def samples(page: ProjectPage) -> HttpResponse:
    form = SampleSearch(page.request.GET)
    words = form.cleaned_data["q"] if form.is_valid() else ""
    pages = Paginator(samples_read.rows(page.project, words), PAGE_SIZE)
    query = urlencode({"q": words}) + "&" if words else ""
    context = {"form": form, "words": words, "query": query, "rows": pages.get_page(page.request.GET.get("page"))}
    return page.render("data/samples.html", {**context, "may_import": page.may("import.run")})


@project_view("samples", get="samples.read")
def sample(page: ProjectPage, sample_id: int) -> HttpResponse:
    found = one_sample(page.project, sample_id)
    said = said_about(found, reader=page.user)
    units = samples_read.units(found, said or ())
    titles = samples_read.kind_titles()
    context = {
        "sample": found,
        "blind": said is None,
        "pieces": answer_pieces(found.answer, found.claims, units["claim"], len(found.contexts)),
        "contexts": units["context"],
        "groups": [
            {"kind": kind, "title": titles[kind], "units": units[kind]}
            for kind in ("claim", "fact", "entity", "answer", "sample")
            if units[kind] and (kind not in ("answer", "sample") or units[kind][0].said)
        ],
        "metadata": sorted(found.metadata.items()),
        "walk": walk(page, found),
        "history": _history(page, found),
        "may_edit_claims": page.may("claims.change"),
    }
    return page.render("data/sample.html", context)


def _history(page: ProjectPage, sample: Sample) -> list[dict[str, Any]]:
    """Per unit what was said and decided, in the order of a sample's units. Whoever may not read the trail learns the
    names of annotators only where the project shows them."""
    named = page.may("audit.read") or page.project.show_names

    def name(row: Happening) -> str:
        return who(row) if named or row.log != LABELS else _("An annotator")

    history = unit_history(sample=sample, reader=page.user)
    return [
        {
            "unit": unit_words(unit),
            "rows": [{"at": row.at, "who": name(row), "what": sentence(row, of_unit=True)} for row in history[unit]],
        }
        for unit in sorted(history, key=unit_sort_key)
    ]


@project_view("flags", get="flags.read")
def flags(page: ProjectPage) -> HttpResponse:
    resolved = page.request.GET.get("state") == "resolved"
    rows = Paginator(flags_of(page.project, resolved=resolved), PAGE_SIZE).get_page(page.request.GET.get("page"))
    context = {
        "rows": rows,
        "resolved": resolved,
        "query": "state=resolved&" if resolved else "",
        "may_resolve": page.may("flags.resolve"),
    }
    return page.render("data/flags.html", context)


@project_view("flags", post="flags.resolve")
def resolve(page: ProjectPage, flag_id: int) -> HttpResponse:
    words = page.request.POST.get("resolution", "")
    page.attempt(
        lambda: resolve_flag(actor=page.user, project=page.project, flag_id=flag_id, resolution=words),
        _("The flag is resolved."),
    )
    return page.redirect("flags")
