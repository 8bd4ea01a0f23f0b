"""The reviewer's queue: which part of it an address names, its list, and settling many disputed units at once."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from django.contrib import messages
from django.core.paginator import Page
from django.http import HttpResponse, HttpResponseRedirect
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotate.core.errors import Invalid, Refusal
from annotate.core.units import unit_number, unit_text, unit_title
from annotate.models import Criterion, Verdict
from annotate.models.batch import BatchStatus
from annotate.projects.read import rated_criteria, work_batches
from annotate.verdicts.adjudication import Accepted, accept_agreed, accept_probable, show_names
from annotate.verdicts.proposals_read import Preview, agreed_from, probable
from annotate.verdicts.queue_sql import AGREED, SINGLE, STATES, TO_CHECK
from annotate.verdicts.read import ORDERS, Queue
from frontend.adjudicate.forms import AgreedForm, ProbableForm
from frontend.base.hotkeys import keys_context
from frontend.base.pages import ProjectPage, names_key, project_view, refuse, sees_names, word
from frontend.data.lists import AFTER, Window, window


@dataclass(frozen=True)
class Narrowing:
    """What the address says, as far as it makes sense here: the rest is ignored, so that old links go on working."""

    criterion: str = ""
    batch: int | None = None
    state: str = ""
    order: str = ORDERS[0]
    annotator: str = ""
    # Of the agreed ones, or of single labels: how many percent, drawn with the seed.
    share: int = 100
    seed: int = 0

    @property
    def query(self) -> str:
        given = {
            "criterion": self.criterion,
            "batch": self.batch or "",
            "state": self.state,
            "order": "" if self.order == ORDERS[0] else self.order,
            "annotator": self.annotator,
            "share": self.share if self.draws else "",
            "seed": self.seed if self.draws else "",
        }
        kept = {name: value for name, value in given.items() if value}
        return "?" + urlencode(kept) if kept else ""

    def after(self, cursor: str) -> str:
        """The address of what comes after this in the list."""
        return f"{self.query or '?'}{'&' if self.query else ''}{urlencode({AFTER: cursor})}"

    @property
    def draws(self) -> bool:
        return self.state in TO_CHECK and self.share < 100

    def but(self, **change: Any) -> str:
        """The address of the same part but for this."""
        return replace(self, **change).query or "?"

    def queue(self, page: ProjectPage) -> Queue:
        return Queue(
            page.project,
            reader=page.user,
            criterion=self.criterion,
            batch=self.batch,
            state=self.state,
            order=self.order,
            annotator=self.annotator,
            share=self.share / 100,
            seed=self.seed,
        )


def narrowing(page: ProjectPage) -> Narrowing:
    asked = page.request.GET
    key, number = asked.get("criterion", "").replace("\x00", ""), asked.get("batch", "")
    batch = _whole(number)
    rater = asked.get("annotator", "").replace("\x00", "") if sees_names(page) else ""
    share = _whole(asked.get("share", ""))
    return Narrowing(
        criterion=key if key and page.project.criteria.filter(key=key).exists() else "",
        batch=batch if batch is not None and work_batches(page.project).filter(number=batch).exists() else None,
        state=asked.get("state", "") if asked.get("state") in STATES else "",
        order=asked.get("order", "") if asked.get("order") in ORDERS else ORDERS[0],
        annotator=rater if rater and page.project.raters.filter(name=rater).exists() else "",
        share=share if share is not None and 1 <= share <= 100 else 100,
        seed=_whole(asked.get("seed", "")) or 0,
    )


def _whole(number: str) -> int | None:
    return int(number) if number.isascii() and number.isdecimal() and len(number) <= 9 else None


STATE_NAMES = {
    "": gettext_lazy("All pending"),
    "disputed": gettext_lazy("Disputed"),
    "short": gettext_lazy("Too few labels"),
    "reopened": gettext_lazy("Reopened"),
    "returned": gettext_lazy("Sent back"),
    AGREED: gettext_lazy("Agreed, unchecked"),
    SINGLE: gettext_lazy("Single labels, unchecked"),
}
ORDER_NAMES = {"matters": gettext_lazy("Highest impact"), "sample": gettext_lazy("By sample")}


@project_view("adjudicate", get="adjudication.read")
def disputes(page: ProjectPage) -> HttpResponse:
    narrowed = narrowing(page)
    queue = narrowed.queue(page)
    rows: Window | Page = window(page, queue) if queue.is_walked else page.rows(queue)
    query = narrowed.query
    # By their criteria's numbers, as the index of these has them.
    criteria = list(page.project.criteria.values_list("pk", flat=True))
    approved = Verdict.objects.filter(criterion__in=criteria, approved_at__isnull=False)
    context = {
        "groups": [(group, narrowed.but(criterion=group.key)) for group in queue.groups()],
        "all_query": narrowed.but(criterion=""),
        "narrowed": narrowed,
        "states": STATE_NAMES.items(),
        "orders": [] if queue.is_many else ORDER_NAMES.items(),
        "most_sorted": queue.most_sorted if queue.is_many and narrowed.state not in TO_CHECK else 0,
        "batches": work_batches(page.project).exclude(status=BatchStatus.DRAFT).only("number", "name"),
        "rows": rows,
        "listed": _listed(list(rows)),
        "query": query,
        "page_query": query[1:] + "&" if query else "",
        "sent_back": 0 if narrowed.state else Queue(page.project, reader=page.user, state="returned").count(),
        "to_check": narrowed.state in TO_CHECK,
        "is_single": narrowed.state == SINGLE,
        "approved": approved.count() if narrowed.state in TO_CHECK else 0,
        "raters": _raters(page) if sees_names(page) else [],
        **keys_context(page.user, "disputes"),
    }
    return page.render("adjudicate/disputes.html", context)


def _raters(page: ProjectPage) -> list[tuple[str, str]]:
    """Name in the address, and what to call them."""
    raters = page.project.raters.select_related("user").order_by("name")
    return [(rater.name, rater.user.name if rater.user else rater.name) for rater in raters]


def _listed(verdicts: list[Verdict]) -> list[dict[str, Any]]:
    """The units on a page of the queue. first: of its sample; the others are listed under it."""
    samples = [None, *(verdict.sample_id for verdict in verdicts)]
    return [
        {**_unit(verdict), "first": verdict.sample_id != before}
        for before, verdict in zip(samples, verdicts, strict=False)
    ]


def _unit(verdict: Verdict) -> dict[str, Any]:
    return {
        "verdict": verdict,
        "title": unit_title(verdict.unit, unit_number(verdict.sample, verdict.unit)),
        "text": unit_text(verdict.sample, verdict.unit),
        "votes": [word(verdict.criterion.options, vote["value"]) for vote in verdict.votes],
    }


@project_view("adjudicate", post="adjudication.names")
def names(page: ProjectPage) -> HttpResponse:
    """Switches the annotators' names on or off, for this reviewer and in this session only."""
    shown = page.request.POST.get("shown") == "yes"
    if shown != sees_names(page):
        show_names(actor=page.user, project=page.project, shown=shown)
        page.request.session[names_key(page)] = shown
        messages.success(page.request, _("Names are shown.") if shown else _("Names are hidden."))
    back = page.request.POST.get("back", "")
    # Only to a page of ours.
    if not url_has_allowed_host_and_scheme(back, allowed_hosts=None):
        back = page.url("adjudicate")
    return HttpResponseRedirect(back)


# How many of those that would be settled are shown one by one.
SHOWN = 100


@project_view("adjudicate", get="adjudication.read", post="adjudication.decide")
def accept(page: ProjectPage) -> HttpResponse:
    """Two forms, one for each method. A GET with the fields of one shows what would be settled; a POST settles what was
    shown."""
    asked = page.data if page.data is not None else page.request.GET
    method = asked.get("method", "")
    forms: dict[str, AgreedForm | ProbableForm] = {
        name: form(page.project, asked) if name == method else form(page.project, initial=asked.dict())
        for name, form in (("agreement", AgreedForm), ("dawid_skene", ProbableForm))
    }
    form = forms.get(method)
    preview, status = None, 200
    reason = page.request.POST.get("reason", "").strip()
    if form is None or not form.is_valid():
        status = 422 if form is not None or page.data is not None else 200
    else:
        try:
            if page.data is not None:
                return _done(page, _accept(page, method, form.cleaned_data, reason))
        except Refusal as refusal:
            status = refuse(form, refusal)
        try:
            preview = _preview(page, method, form.cleaned_data)
        except Refusal as refusal:
            # The same refusal twice is one.
            if not form.errors:
                status = refuse(form, refusal)
    context = {
        "agreed": forms["agreement"],
        "probable": forms["dawid_skene"],
        "method": method,
        "form": form,
        "preview": preview,
        "reason": reason,
        **(_shown(page, preview) if preview else {}),
    }
    return page.render("adjudicate/accept.html", context, status=status)


def _criterion(page: ProjectPage, given: dict[str, Any]) -> Criterion:
    return rated_criteria(page.project).get(key=given["criterion"])


def _preview(page: ProjectPage, method: str, given: dict[str, Any]) -> Preview:
    queue = Queue(page.project, reader=page.user, criterion=given["criterion"])
    if method == "dawid_skene":
        return probable(queue, _criterion(page, given), posterior=given["posterior"] / 100)
    cursor = page.request.GET.get(AFTER, "")
    return agreed_from(queue, cursor, agreement=given["agreement"] / 100, votes=given["votes"])


def _accept(page: ProjectPage, method: str, given: dict[str, Any], reason: str) -> Accepted:
    common: dict[str, Any] = {"project": page.project, "seen": _seen(page), "reason": reason}
    if method == "dawid_skene":
        return accept_probable(
            criterion=_criterion(page, given), posterior=given["posterior"] / 100, reviewer=page.user, **common
        )
    return accept_agreed(agreement=given["agreement"] / 100, votes=given["votes"], reviewer=page.user, **common)


def _seen(page: ProjectPage) -> Any:
    try:
        return json.loads(page.request.POST.get("seen", ""))
    except (ValueError, RecursionError):
        raise Invalid("bad_seen", _("This preview has nothing to resolve. Refresh it.")) from None


def _done(page: ProjectPage, done: Accepted) -> HttpResponse:
    text = ngettext("%(n)d unit resolved.", "%(n)d units resolved.", done.settled) % {"n": done.settled}
    if done.left:
        left = ngettext(
            "%(n)d changed since the preview and was skipped.",
            "%(n)d changed since the preview and were skipped.",
            done.left,
        )
        text += " " + left % {"n": done.left}
    (messages.success if done.settled else messages.warning)(page.request, text)
    return page.redirect("adjudicate")


def _shown(page: ProjectPage, preview: Preview) -> dict[str, Any]:
    first = preview.proposals[:SHOWN]
    verdicts = Verdict.objects.select_related("criterion", "sample").in_bulk([one.id for one in first])
    listed = [
        {
            **_unit(verdicts[one.id]),
            "word": word(verdicts[one.id].criterion.options, one.value),
            "percent": 100 * one.confidence,
        }
        for one in first
        if one.id in verdicts
    ]
    named = sees_names(page)
    raters = [
        {
            "who": rater.rater if named else _("Annotator %(letter)s") % {"letter": place},
            "labels": rater.labels,
            "percent": 100 * rater.right,
        }
        for place, rater in enumerate(preview.model.raters if preview.model else (), start=1)
    ]
    further = page.request.GET.copy()
    further[AFTER] = preview.reached
    return {
        "further": further.urlencode() if preview.reached else "",
        "listed": listed,
        "raters": raters,
        "n": len(preview.proposals),
        "hidden": len(preview.proposals) - len(listed),
        "seen": json.dumps([[one.id, one.revision, one.value] for one in preview.proposals]),
    }
