"""Alignment reports: how people agree on a criterion, and how judges compare with them. Pages of the whole, of its
people, of one judge, of two side by side, and of the decisions that a judge may take alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotate.batches.criterion_change_read import versions_of
from annotate.batches.write import create_batch
from annotate.core.errors import Conflict
from annotate.models import Batch, Criterion, User
from annotate.models.batch import Came
from annotate.projects.read import rated_criteria
from annotate.verdicts.ratings_read import compared_after_answer
from frontend.base.pages import ProjectPage, RefusalsShown, project_view, status_of
from frontend.batches.forms import WhoLabelsForm
from frontend.reports.annotators import annotators_context, people_matrix
from frontend.reports.asked import asked_criterion
from frontend.reports.compare import compare_context
from frontend.reports.file import report_html, report_pdf
from frontend.reports.first_screen import FirstScreen, first_screen
from frontend.reports.judge import judge_context, looked_at, standing_of_row, triage_context
from frontend.reports.looks import looks_section
from frontend.reports.next_steps import next_steps
from frontend.reports.page import frame_context, report_context, screen_of
from frontend.reports.parts import (
    ask_for_report,
    chosen_judge,
    judge_url,
    labels_shown,
    links,
    mistakes_url,
    report_part,
    switcher,
)
from frontend.reports.report_steps import report_steps
from judges.api.reports_serializers import Report
from judges.certificates.decision_read import Looked, looked_decisions
from judges.certificates.triage_read import Left, left_to_people
from judges.models import AlignmentReport, Judge, Look
from judges.reports.read import Overview, is_shown, latest_report, one_report, overview, report_state
from judges.reports.reproduction import bundle

# Ending of the file's name -> its type, and what makes it.
DOWNLOADS: dict[str, tuple[str, Callable[[AlignmentReport, User], str | bytes]]] = {
    "html": ("text/html; charset=utf-8", lambda report, _reader: report_html(report)),
    "json": ("application/json", lambda report, _reader: json.dumps(Report.show(report), ensure_ascii=False, indent=2)),
    "pdf": ("application/pdf", lambda report, _reader: report_pdf(report)),
    "zip": ("application/zip", lambda report, reader: bundle(report, Report.show(report), reader=reader)),
}


@project_view("reports", get="reports.read", post="reports.freeze")
def reports(page: ProjectPage) -> HttpResponse:
    """All judges on all criteria, as their latest reports have them. A POST asks for every report that is missing or
    out of date."""
    if page.request.method == "POST":
        _bring_up_to_date(page)
        return page.redirect("reports")
    latest, looked = overview(page.project), looked_decisions(page.project)
    found = {criterion: latest.get(criterion.pk) for criterion in rated_criteria(page.project)}
    screens = {one: _screen(page, one, row, looked) for one, row in found.items() if row is not None}
    # One scale for all of them: their pictures stand below each other.
    low = min((screen.scale.low for screen in screens.values()), default=0.0)
    rows = [
        {
            "criterion": criterion,
            "report": row,
            "screen": None if row is None else _screen(page, criterion, row, looked, low),
        }
        for criterion, row in found.items()
    ]
    return page.render("reports/reports.html", {"rows": rows, "help_url": reverse("statistics-help")})


def _bring_up_to_date(page: ProjectPage) -> None:
    states = [(criterion, report_state(criterion, reader=page.user)) for criterion in rated_criteria(page.project)]
    old = [criterion for criterion, state in states if state.report is None or state.is_out_of_date]
    asked = sum(ask_for_report(page, criterion) for criterion in old)
    if asked:
        text = ngettext("%(n)s report is being created.", "%(n)s reports are being created.", asked) % {"n": asked}
        messages.success(page.request, text + " " + _("Reload this page in a few seconds."))
    elif not old:
        messages.info(page.request, _("All reports are up to date."))


def _screen(page: ProjectPage, criterion: Criterion, found: Overview, looked: Looked, low: float = 0.0) -> FirstScreen:
    return first_screen(
        found.judges,
        found.people,
        found.matrix,
        rulings=[looked_at(criterion.pk, row, looked) for row in found.judges],
        urls=[judge_url(page, criterion.key, row["judge"], row["dimension"]) for row in found.judges],
        low=low,
    )


@project_view("reports", get="reports.read", post="reports.freeze")
def report(page: ProjectPage, key: str) -> HttpResponse:
    """The latest report. A POST asks for a new one."""
    if page.request.method == "POST":
        ask_for_report(page, asked_criterion(page.project, key))
        return HttpResponseRedirect(page.request.get_full_path())

    def context(report: AlignmentReport) -> dict[str, Any]:
        found = report_context(report, links(page, key), looked_decisions(page.project))
        return {**found, "steps": report_steps(page, key, report.result, found["screen"])}

    return report_part(page, key, "report", "reports/report.html", context, criterion=_earlier(page, key))


def _earlier(page: ProjectPage, key: str) -> Criterion | None:
    """The version that the address names (`?version=1`), if there is a report on it that pages can show."""
    number = page.request.GET.get("version")
    if number is None:
        return None
    found = next((one for one in versions_of(page.project, key) if str(one.version) == number), None)
    if found is None or (not found.is_current and latest_report(found, reader=page.user) is None):
        raise Http404(_("Report not found."))
    return found


@project_view("reports", get="reports.read")
def status(page: ProjectPage, key: str) -> HttpResponse:
    """What a browser asks for while a report is being made; once it is there, the whole page is asked for. With
    `?figures=1`, whether anything has changed since the report was made."""
    criterion = asked_criterion(page.project, key)
    labels = labels_shown(page)
    looks = "figures" in page.request.GET
    state = report_state(criterion, labels, reader=page.user, looks=looks)
    context = {"criterion": criterion, "state": state, "report": state.report, "labels": labels}
    reply = page.render("reports/partials/report_status.html", context)
    if not (looks or state.is_pending):
        reply["HX-Refresh"] = "true"
    return reply


@project_view("reports", get="reports.read")
def download(page: ProjectPage, key: str, number: int, form: str) -> HttpResponse:
    """A frozen report as one HTML file that needs nothing else, its summary as a PDF, as JSON, or with all it rests on
    and the script that works every figure out again."""
    found = one_report(page.project, number, reader=page.user)
    if found.criterion.key != key or form not in DOWNLOADS:
        raise Http404(_("Report not found."))
    if form != "json" and not is_shown(found):
        messages.error(
            page.request, _("An earlier version of Touchstone created this report. It is still available as JSON.")
        )
        return page.redirect("report", key)
    kind, content = DOWNLOADS[form]
    name = f"{page.project.slug}-{key}-report-{number}.{form}"
    try:
        file = content(found, page.user)
    except Conflict as refusal:
        messages.error(page.request, refusal.message)
        return page.redirect("report", key)
    return HttpResponse(file, content_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})


@project_view("reports", get="reports.read")
def annotators(page: ProjectPage, key: str) -> HttpResponse:
    """For reviewers and admins: annotators may not compare themselves with each other while they label."""
    return report_part(
        page,
        key,
        "report-annotators",
        "reports/report_annotators.html",
        lambda report: {
            **frame_context(report),
            "annotators": annotators_context(report),
            "after_answer": compared_after_answer(report.criterion),
            "matrix": people_matrix(report),
            "disagree_url": f"{page.url('samples')}?{urlencode({'criterion': key, 'agreement': 'disagree'})}",
        },
    )


@project_view("reports", get="reports.read")
def compare(page: ProjectPage, key: str) -> HttpResponse:
    """Of the latest report the two that the address names (`?first=…&second=…`), else the first pair there is."""

    def context(report: AlignmentReport) -> dict[str, Any]:
        first, second = (page.request.GET.get(name) for name in ("first", "second"))
        try:
            shown = compare_context(report, links(page, key), first, second, reader=page.user)
        except LookupError as error:
            raise Http404(_("This report has no such judge.")) from error
        return {**frame_context(report), "compared": shown}

    return report_part(page, key, "report-compare", "reports/report_compare.html", context)


@project_view("reports", get="reports.read")
def judge(page: ProjectPage, key: str) -> HttpResponse:
    """Of the latest report the judge that the address names (`?judge=…&measures=…`), else the one that
    may decide alone, or the best."""

    def context(report: AlignmentReport) -> dict[str, Any]:
        looked, to = looked_decisions(page.project), links(page, key)
        screen = screen_of(report, looked=looked)
        place = chosen_judge(page, report, screen)
        common = {**frame_context(report), "switcher": switcher(page, key, "report-judge", screen, place)}
        if place is None:
            return {**common, "judge": None}
        row = report.result["judges"][place]
        looks = looks_section(page, report.criterion, row["judge"], row["dimension"])
        found, ruling = judge_context(report, place, to, looked), looked_at(report.criterion_id, row, looked)
        steps = next_steps(page, report.criterion, row, ruling, looks, f"{found['anchor']}-disagreements")
        of = Judge.objects.filter(project=page.project, name=row["judge"]).first()
        in_groups = "" if of is None else mistakes_url(page, key, of.pk, row["dimension"])
        return {**common, "judge": found, "looks": looks, "next_steps": steps, "mistakes_url": in_groups}

    return report_part(page, key, "report-judge", "reports/report_judge.html", context)


@project_view("reports", get="reports.read", post="batches.change")
def triage(page: ProjectPage, key: str) -> HttpResponse:
    """Of the latest report the judge that the address names (`?judge=…&measures=…`). A POST makes a draft batch of
    what is left to people."""
    # Annotators read the name: it must not say what a judge said.
    form = WhoLabelsForm(page.project, page.data, initial={"name": _("Samples for human review")})
    if page.data is not None:
        criterion = asked_criterion(page.project, key)
        found = _left(page, criterion)
        if found is None:
            said = _("Nothing can be decided automatically, so there is no rest to create a batch of.")
            messages.error(page.request, said)
            return HttpResponseRedirect(page.request.get_full_path())
        if form.is_valid():
            with RefusalsShown(form):
                batch = _make(page, criterion, form, *found)
                said = _("Batch %(n)d is a draft. Open it to make the tasks.")
                messages.success(page.request, said % {"n": batch.number})
                return page.redirect("batch", batch.number)

    def context(report: AlignmentReport) -> dict[str, Any]:
        screen = screen_of(report, looked=looked_decisions(page.project))
        place = chosen_judge(page, report, screen)
        common = {**frame_context(report), "switcher": switcher(page, key, "report-triage", screen, place)}
        if place is None:
            return {**common, "triage": None}
        row = report.result["judges"][place]
        named = row["judge"], row["dimension"]
        return {
            **common,
            "triage": triage_context(report, place, links(page, key), reader=page.user),
            "alone": screen.alone,
            # Which judge it is about must not hang on what the address doesn't say.
            "here": judge_url(page, key, *named, "report-triage"),
            "outcomes_url": judge_url(page, key, *named, "report-outcomes"),
            "form": form if page.may("batches.change") else None,
        }

    return report_part(page, key, "report-triage", "reports/report_triage.html", context, status=status_of(form))


def _left(page: ProjectPage, criterion: Criterion) -> tuple[Look, Left] | None:
    report = latest_report(criterion, reader=page.user)
    if report is None:
        return None
    place = chosen_judge(page, report, screen_of(report, looked=looked_decisions(page.project)))
    if place is None:
        return None
    look = standing_of_row(criterion, report.result["judges"][place]).alone_in
    left = None if look is None else left_to_people(look, reader=page.user)
    return None if look is None or left is None else (look, left)


def _make(page: ProjectPage, criterion: Criterion, form: WhoLabelsForm, look: Look, left: Left) -> Batch:
    """The batch of all that is left, or of what nobody has labelled yet, by the button that was pressed."""
    names = left.unlabelled if page.request.POST.get("which") == "unlabelled" else left.rest
    note = _(
        "For human review: outside the score range of %(judge)s certified by test evaluation %(look)d, or not scored."
    )
    given = {name: form.cleaned_data[name] for name in ("name", "annotators", "overlap", "due_date")}
    return create_batch(
        project=page.project,
        criteria=[criterion],
        selection={
            "method": "list",
            "samples": names,
            "note": note % {"judge": look.judge.name, "look": look.number},
            "came": Came.TRIAGE,
        },
        created_by=page.user,
        **given,
    )
