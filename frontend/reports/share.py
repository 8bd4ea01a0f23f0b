"""A report for readers without an account: its links, which admins make and revoke, and what such a link shows."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django import forms
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_safe

from annotate.core.attempts import count_wrong_secret
from frontend.base.pages import ProjectPage, RefusalsShown, project_view, status_of
from frontend.reports.annotators import matrix_context
from frontend.reports.asked import asked_criterion
from frontend.reports.file import report_pdf
from frontend.reports.first_screen import JudgeInShort, in_a_line
from frontend.reports.in_words import in_words, plot_in_words
from frontend.reports.page import STATISTICS, planning_context
from frontend.reports.shown import percent, shown
from frontend.reports.summary import summary_context
from judges.certificates.decision_read import looked_decisions
from judges.models import AlignmentReport
from judges.reports.links import DAYS, DEFAULT_DAYS, create_link, open_links, revoke_link, shared_report
from judges.reports.read import latest_report


class ShareForm(forms.Form):
    days = forms.TypedChoiceField(
        label=gettext_lazy("The link works for"),
        coerce=int,
        initial=DEFAULT_DAYS,
        choices=[(days, ngettext_lazy("%(n)s day", "%(n)s days", days) % {"n": days}) for days in DAYS],
    )


@never_cache
@project_view("reports", get="project.manage", post="reports.share")
def share(page: ProjectPage, key: str) -> HttpResponse:
    """The links to reports on the criterion. A POST makes one to the latest report and shows it. No redirect: the link
    is kept nowhere, so only this page has it."""
    criterion, made = asked_criterion(page.project, key), None
    report = latest_report(criterion, reader=page.user)
    form = ShareForm(page.data)
    if report is not None and form.is_valid():
        with RefusalsShown(form):
            link, token = create_link(actor=page.user, report=report, days=form.cleaned_data["days"])
            address = page.request.build_absolute_uri(reverse("shared-report", args=[token]))
            made, form = {"link": link, "address": address}, ShareForm()
    links = [link for link in open_links(page.project) if link.report.criterion.key == key]
    context = {"criterion": criterion, "report": report, "form": form, "made": made, "links": links}
    return page.render("reports/share.html", context, status=201 if made else status_of(form))


@project_view("reports", post="project.manage")
def revoke(page: ProjectPage, key: str, link_id: int) -> HttpResponse:
    """In an archived project as well, where nothing else changes: its links work on."""
    done = _("The link is revoked: it no longer works.")
    page.attempt(lambda: revoke_link(actor=page.user, project=page.project, link_id=link_id), done)
    return page.redirect("report-share", key)


def _for_everyone(show: Callable[[HttpRequest, AlignmentReport], HttpResponse]) -> Callable[..., HttpResponse]:
    """A page for whoever has the link: kept by no cache, listed by no search engine. One reply for every link that
    doesn't work, whatever the reason."""

    @never_cache
    @require_safe
    @wraps(show)
    @sensitive_variables("token")
    def view(request: HttpRequest, token: str) -> HttpResponse:
        try:
            reply = show(request, shared_report(token))
        except Http404:
            count_wrong_secret(request)
            reply = render(request, "reports/shared_gone.html", status=404)
        reply["X-Robots-Tag"] = "noindex, nofollow"
        # A link in the page must not tell the address.
        reply["Referrer-Policy"] = "no-referrer"
        return reply

    return view


@_for_everyone
def shared(request: HttpRequest, report: AlignmentReport) -> HttpResponse:
    return render(request, "reports/shared.html", {**_shared_context(report), "pdf_url": f"{request.path}summary.pdf"})


@_for_everyone
def shared_pdf(_request: HttpRequest, report: AlignmentReport) -> HttpResponse:
    name = f"report-{report.number}.pdf"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(report_pdf(report), content_type="application/pdf", headers=headers)


def _shared_context(report: AlignmentReport) -> dict[str, Any]:
    result, summary = report.result, summary_context(report, looked_decisions(report.project))
    estimates = result["agreement"]["estimates"]
    known = [(_(title), shown(estimates[name])) for name, title in STATISTICS if estimates[name]["value"] is not None]
    return {
        "summary": summary,
        "screen": summary["screen"],
        "steps": summary["steps"],
        "is_labelled": bool(result["agreement"]["ratings"]),
        "has_passes": bool(result["criterion"]["passes"]),
        "uses_dev": any(row["at_threshold"]["confusion"] is not None for row in result["judges"]),
        "result": result,
        "judges": [_judge(report, one) for one in summary["screen"].judges],
        "people": in_a_line(summary["screen"].between),
        "statistics": known,
        "no_statistics": in_words(estimates["percent_agreement"]["reason"]),
        "agreement_caveat": in_words(result["agreement_caveat"]),
        "agreement_note": in_words(result["agreement_note"]),
        "prevalence": [{**row, "percent": percent(row["share"])} for row in result["prevalence"]],
        "matrix": matrix_context(result["matrix"]),
        "planning": planning_context(report),
    }


# Of each judge, and what it shows.
_PLOTS = {
    "sweep": gettext_lazy("Threshold curve"),
    "histogram": gettext_lazy("Score distribution"),
    "reliability": gettext_lazy("Calibration"),
    "weeks": gettext_lazy("Wrong decisions, week by week"),
}


def _judge(report: AlignmentReport, judge: JudgeInShort) -> dict[str, Any]:
    anchor = judge.url.removeprefix("#")
    place = anchor.removeprefix("judge-")
    plots = [(name, title, report.plots.get(f"{name}-{place}")) for name, title in _PLOTS.items()]
    return {
        "anchor": anchor,
        "title": judge.title,
        "decision": judge.decision,
        "kappa": judge.kappa,
        "passes": judge.passes,
        "fails": judge.fails,
        "auc": shown(judge.row["roc_auc"]),
        "coverage": judge.row["coverage"],
        "plots": [
            {"title": title, "svg": plot_in_words(svg), "is_square": name == "reliability"}
            for name, title, svg in plots
            if svg
        ],
    }
