"""The reviewer's queue."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse, HttpResponseRedirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _

from annotate.core.units import unit_number, unit_text, unit_title
from annotate.models import Verdict
from annotate.models.batch import BatchStatus
from annotate.verdicts.adjudication import show_names
from annotate.verdicts.read import AGREED, Queue
from frontend.hotkeys import keys_context
from frontend.views.base import ProjectPage, names_key, project_view, sees_names
from frontend.views.narrowing import narrowing, order_names, state_names
from frontend.views.words import word

PAGE_SIZE = 50


@dataclass(frozen=True)
class Row:
    """A unit in the queue. first: of its sample on this page; the others stand under it."""

    verdict: Verdict
    title: str
    text: str
    votes: list[str]
    first: bool


@project_view("adjudicate", get="adjudication.read")
def disputes(page: ProjectPage) -> HttpResponse:
    narrowed = narrowing(page)
    queue = narrowed.queue(page)
    rows = Paginator(queue, PAGE_SIZE).get_page(page.request.GET.get("page"))
    query = narrowed.query
    context = {
        "groups": [(group, narrowed.but(criterion=group.key)) for group in queue.groups()],
        "all_query": narrowed.but(criterion=""),
        "narrowed": narrowed,
        "states": state_names().items(),
        "orders": order_names().items(),
        "batches": page.project.batches.exclude(status=BatchStatus.DRAFT).only("number", "name"),
        "rows": rows,
        "listed": _listed(list(rows)),
        "query": query,
        "page_query": query[1:] + "&" if query else "",
        "sent_back": 0 if narrowed.state else Queue(page.project, page.user, state="returned").count(),
        "may_decide": page.may("adjudication.decide"),
        "to_check": narrowed.state == AGREED,
        "approved": _approved(page) if narrowed.state == AGREED else 0,
        "raters": _raters(page) if sees_names(page) else [],
        **keys_context(page.user, "disputes"),
    }
    return page.render("frontend/disputes.html", context)


def _approved(page: ProjectPage) -> int:
    return Verdict.objects.filter(criterion__project=page.project, approved_at__isnull=False).count()


def _raters(page: ProjectPage) -> list[tuple[str, str]]:
    """Name in the address, and what to call them."""
    raters = page.project.raters.select_related("user").order_by("name")
    return [(rater.name, rater.user.name if rater.user else rater.name) for rater in raters]


def _listed(verdicts: list[Verdict]) -> list[Row]:
    listed: list[Row] = []
    for verdict in verdicts:
        listed.append(
            Row(
                verdict,
                unit_title(verdict.unit, unit_number(verdict.sample, verdict.unit)),
                unit_text(verdict.sample, verdict.unit),
                [word(verdict.criterion.options, vote["value"]) for vote in verdict.votes],
                not listed or listed[-1].verdict.sample_id != verdict.sample_id,
            )
        )
    return listed


@project_view("adjudicate", post="adjudication.names")
def names(page: ProjectPage) -> HttpResponse:
    """Switches the annotators' names on or off, for whoever asks and in this session only."""
    shown = page.request.POST.get("shown") == "yes"
    if shown != sees_names(page):
        show_names(actor=page.user, project=page.project, shown=shown)
        page.request.session[names_key(page)] = shown
        messages.success(page.request, _("Names are shown to you now.") if shown else _("Names are hidden again."))
    back = page.request.POST.get("back", "")
    # Only to a page of ours.
    if not url_has_allowed_host_and_scheme(back, allowed_hosts=None):
        back = page.url("adjudicate")
    return HttpResponseRedirect(back)
