"""Looking at the test half with one judge, and certifying what was seen."""

from __future__ import annotations

import shlex
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseRedirect, QueryDict
from django.utils.translation import gettext as _

from annotate.api.base import whole_number
from annotate.core.errors import Invalid, Refusal
from annotate.core.scales import as_number
from annotate.models import Criterion
from annotate.projects.read import one_criterion
from frontend.views.base import ProjectPage, project_view
from frontend.views.report_parts import judge_url
from judges.models import Judge, Look
from judges.selectors.drift import drift_sentence
from judges.selectors.looks import calibrator_in_words, cost_of, looks_context, next_look, percent_of, region_in_words
from judges.selectors.shown import number, shown
from judges.services.certificates import issue_certificate
from judges.services.gate import Gate, Standing, gate_markdown, held_to, standing
from judges.services.looks import look_at_test

# The bar that the gate is shown for until somebody names another: where trust begins to call a judge useful and more.
_BAR = 0.6


def looks_section(page: ProjectPage, criterion: Criterion, judge: str, dimension: str) -> dict[str, Any]:
    """The context of partials/judge_looks.html."""
    found = looks_context(criterion, judge, dimension)
    latest = found["latest"]
    return {
        **found,
        "judge": judge,
        "dimension": dimension,
        "may_look": page.may("test.look"),
        "may_certify": (
            page.may("certificates.issue")
            and latest is not None
            and found["is_last"]
            and not hasattr(latest["look"], "certificate")
        ),
        **_certificate(page, criterion, judge, dimension),
    }


def _certificate(page: ProjectPage, criterion: Criterion, judge: str, dimension: str) -> dict[str, Any]:
    held = standing(project=page.project, criterion_key=criterion.key, judge_name=judge, dimension=dimension)
    if held.certificate is None:
        return {"certificate": None}
    certificate, look = held.certificate, held.certificate.look
    result = look.result
    gated, wrong_bar, bar = _gated(page, held)
    return {
        "certificate": certificate,
        "certified": look,
        "certified_level": percent_of(look.level),
        "certified_kappa": shown(result["kappa"]),
        "certified_rates": [(name.upper(), shown(result[name])) for name in ("tpr", "tnr")],
        "certified_threshold": number(result["threshold"]),
        "certified_sign": "≥" if look.judge.higher_is_better else "≤",
        "certified_calibrator": calibrator_in_words(result["calibrated"]["calibrator"]),
        "certified_region": region_in_words(result["region"], look.judge.higher_is_better),
        "why_not": None if held.why is None else held.why[1],
        "drift": None if held.drift is None else drift_sentence(held.drift),
        "drift_left_out": 0 if held.drift is None else held.drift.chosen,
        "has_drifted": held.drift is not None and held.drift.alarm is not None,
        "gate": gated,
        "gate_markdown": None if gated is None else gate_markdown(gated),
        "gate_command": None if gated is None else _command(page, gated),
        "bar": bar,
        "wrong_bar": wrong_bar,
    }


def _gated(page: ProjectPage, held: Standing) -> tuple[Gate | None, str | None, str]:
    """The gate at the bar that the address names (`?bar=`), or why there is none; and the bar as it was written."""
    written = page.request.GET.get("bar", str(_BAR))
    bar = as_number(written.strip())
    try:
        if bar is None:
            raise Invalid("bad_min_kappa", _("The bar: a number from -1 to 1."))
        return held_to(held, bar), None, written
    except Invalid as refusal:
        return None, refusal.message, written


def _command(page: ProjectPage, gated: Gate) -> str:
    """The same on a command line; judges have names that a shell would take apart."""
    judge, bar = shlex.quote(gated.judge), f"{gated.min_kappa:g}"
    where = f"{page.project.slug} --criterion {gated.criterion} --judge {judge}"
    return f"manage.py gate {where} --min-kappa {bar} --format markdown"


@project_view("reports", get="test.look", post="test.look")
def look(page: ProjectPage, key: str) -> HttpResponse:
    """What the look would cost, before it is taken; a POST takes it."""
    criterion = one_criterion(page.project, key)
    given = page.request.POST if page.request.method == "POST" else page.request.GET
    judge, dimension = _named(page, given)
    if page.request.method != "POST":
        context = {
            "criterion": criterion,
            "judge": judge,
            "dimension": dimension,
            "cost": cost_of(next_look(criterion, judge)),
            "back": judge_url(page, key, judge, dimension),
        }
        return page.render("frontend/report_look.html", context)
    try:
        expected = whole_number(given.get("number"), "number", low=1)
        taken = look_at_test(
            criterion=criterion, judge_name=judge, dimension=dimension, user=page.user, expected=expected
        )
    except Refusal as refusal:
        messages.error(page.request, refusal.message)
        return _to_judge(page, key, judge, dimension)
    if taken.number < expected:
        said = _("Nothing has changed since look %(n)d: it is shown again, and nothing was spent.")
    else:
        said = _("This was look %(n)d. What it showed is below.")
    messages.success(page.request, said % {"n": taken.number})
    return _to_judge(page, key, judge, dimension)


@project_view("reports", post="certificates.issue")
def certify(page: ProjectPage, key: str) -> HttpResponse:
    """Issues the certificate of the look that the form names."""
    criterion = one_criterion(page.project, key)
    try:
        pk = whole_number(page.request.POST.get("look"), "look")
    except Refusal as refusal:
        messages.error(page.request, refusal.message)
        return page.redirect("report-judge", key)
    found = Look.objects.filter(pk=pk, criterion=criterion).select_related("judge").first()
    if found is None:
        raise Http404(_("There is no such look."))
    page.attempt(lambda: issue_certificate(look=found, user=page.user), _("The certificate is issued."))
    return _to_judge(page, key, found.judge.name, found.dimension)


def _named(page: ProjectPage, given: QueryDict) -> tuple[str, str]:
    """The judge and what it measures, as the address or the form names them."""
    judge, dimension = given.get("judge"), given.get("measures")
    if not judge or not dimension or not Judge.objects.filter(project=page.project, name=judge).exists():
        raise Http404(_("This project has no such judge."))
    return judge, dimension


def _to_judge(page: ProjectPage, key: str, judge: str, dimension: str) -> HttpResponse:
    return HttpResponseRedirect(f"{judge_url(page, key, judge, dimension)}#looks")
