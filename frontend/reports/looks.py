"""Looking at the test half with one judge, certifying what was seen, and both as the judge's page shows them."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.cache import cache
from django.http import Http404, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

import alignment
from annotate.api.serializers import whole_number
from annotate.batches.audits_read import is_audited
from annotate.core.errors import Conflict, Invalid, Refusal
from annotate.core.rows import first_or_raise
from annotate.core.scales import as_number
from annotate.core.text_tables import figure, number
from annotate.core.texts import is_storable
from annotate.models import Criterion
from frontend.base.pages import ProjectPage, project_view
from frontend.reports.asked import asked_criterion
from frontend.reports.bias import bias_said
from frontend.reports.in_words import decision_in_words, drawn_by_in_words, in_words, where_alone
from frontend.reports.parts import judge_url
from frontend.reports.shown import Shown, from_to, percent, shown, shown_share
from judges.canaries.read import latest_bias_check, probe_result
from judges.certificates.decision_read import PERMITTING, Standing, conditions_of, next_look, people_behind, standing_of
from judges.certificates.drift_read import drift_sentence
from judges.certificates.gate import Gate, gate_markdown, held_to
from judges.certificates.write import issue_certificate, look_at_test
from judges.core.requirement import requirement_of
from judges.models import Judge, Look, Measure, Requirement
from judges.reports.read import FIGURES_VERSION
from judges.versions.read import learned_for

# Figures of a look: name in its result (within `calibrated` where there is a point), title, in a sentence, anchor.
_FIGURES = (
    (
        "kappa",
        gettext_noop("Kappa at the threshold"),
        gettext_noop("Agreement with annotators beyond chance, as the judge is used today."),
        "a-judge-at-a-threshold",
    ),
    (
        "calibrated.kappa",
        gettext_noop("Kappa, calibrated"),
        gettext_noop("The same, when it passes what is more likely than not to pass."),
        "calibration",
    ),
    (
        "cutpoints.kappa",
        gettext_noop("Quadratic kappa of its grades"),
        gettext_noop("Agreement when its scores are read as the criterion’s levels."),
        "calibration",
    ),
    (
        "tpr",
        gettext_noop("Right passes (TPR)"),
        gettext_noop("Of what annotators pass, the share that the judge passes."),
        "a-judge-at-a-threshold",
    ),
    (
        "tnr",
        gettext_noop("Right fails (TNR)"),
        gettext_noop("Of what annotators fail, the share that the judge fails."),
        "a-judge-at-a-threshold",
    ),
    (
        "roc_auc",
        gettext_noop("ROC AUC"),
        gettext_noop("How often a unit that annotators pass scores better than one they fail; 0.5 is guessing."),
        "correlations-and-roc-auc",
    ),
    (
        "ceiling",
        gettext_noop("Judge − person"),
        gettext_noop("Its kappa with the majority of annotators − that of one of them; 0 is as good as a person."),
        "the-human-ceiling",
    ),
    (
        "error",
        gettext_noop("Wrong decisions"),
        gettext_noop(
            "The share of a sample’s decisions that are wrong, averaged over samples; no score counts as wrong."
        ),
        "drift",
    ),
    (
        "calibrated.brier",
        gettext_noop("Brier score"),
        gettext_noop("Squared distance of its probabilities from human decisions; 0 is best."),
        "calibration",
    ),
)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a look costs. level: that it decides at; wider: how many times as wide as a plain 95% interval that is."""

    number: int
    level: str
    wider: str


def cost_of(look: int) -> Cost:
    """Kept in the cache: the statistics take a second to load, and this is all that most page views want of them."""
    found: Cost | None = cache.get(key := f"cost-of-look:{FIGURES_VERSION}:{look}")
    if found is None:
        found = Cost(look, percent_of(alignment.level_of_look(look)), f"{alignment.widening(look):.1f}")
        cache.set(key, found, timeout=None)
    return found


def looks_context(criterion: Criterion, judge_name: str, dimension: str) -> dict[str, Any]:
    """`history`: every look with the judge at the criterion as it is now, newest first. `latest`: the last at this
    dimension in full, None before the first. `next`: what another one would cost."""
    looks = list(
        Look.objects.filter(criterion=criterion, judge__name=judge_name)
        .select_related("version", "judge", "created_by", "certificate")
        .defer("samples")
    )
    latest = next((look for look in looks if look.dimension == dimension), None)
    return {
        "history": [_in_history(look) for look in looks],
        "latest": None if latest is None else look_in_full(latest),
        "several_dimensions": len({look.dimension for look in looks}) > 1,
        "next": cost_of(next_look(criterion)),
    }


def look_in_full(look: Look) -> dict[str, Any]:
    result = look.result
    calibrated, cutpoints = result["calibrated"], result["cutpoints"]
    return {
        **look_in_short(look),
        **_decided(look),
        "confusion": result["confusion"],
        "figures": [
            {"title": _(title), "sentence": _(sentence), "estimate": _shown(result, name), "anchor": anchor}
            for name, title, sentence, anchor in _FIGURES
            if name != "cutpoints.kappa" or cutpoints["calibrator"] is not None
        ],
        "why_not_calibrated": in_words(calibrated["reason"]),
        "points": [_point(point) for point in calibrated["points"]],
    }


def _decided(look: Look) -> dict[str, Any]:
    """The decision and what it rests on; of a look that is out of date nothing, since it can't be relied on."""
    result = look.result
    if look.is_out_of_date:
        return {"decision": None}
    endpoint, drawn = result["endpoint"], result["drawn"]
    units = ngettext("%(n)s drawn unit", "%(n)s drawn units", drawn["units"]) % {"n": f"{drawn['units']:,}"}
    samples = ngettext("of %(n)s sample", "of %(n)s samples", drawn["samples"]) % {"n": f"{drawn['samples']:,}"}
    return {
        "decision": decision_in_words(result["decision"]),
        "declared": declared_in_words(Requirement(**_declared(endpoint))),
        "measure": capfirst(Measure(endpoint["name"]).label),
        "figure": shown(result["figure"]),
        "if_right": figure(result["if_right"], 2) if result["if_right"] is not None else "",
        "coverage": shown_share(result["coverage"]),
        "rests_on": f"{units} {samples}" if drawn["units"] else "",
        "drawn_by": [drawn_by_in_words(row) for row in result["drawn_by"]],
        "left_out": _left_out(drawn),
    }


def _declared(endpoint: Mapping[str, Any]) -> dict[str, Any]:
    return {"measure": endpoint["name"], **{name: endpoint[name] for name in ("bar", "risk", "coverage")}}


def _left_out(drawn: Mapping[str, Any]) -> str:
    if not drawn["left_out"]:
        return ""
    return ngettext(
        "%(n)s resolved unit: it was chosen, or how it came is not known.",
        "%(n)s resolved units: they were chosen, or how they came is not known.",
        drawn["left_out"],
    ) % {"n": f"{drawn['left_out']:,}"}


def declared_in_words(requirement: Requirement) -> str:
    """What a judge must show, in a sentence."""
    given = {
        "measure": requirement.get_measure_display(),
        "bar": f"{requirement.bar:g}",
        "coverage": f"{100 * requirement.coverage:g}%",
        "risk": f"{100 * requirement.risk:g}%",
    }
    return _(
        "%(measure)s at least %(bar)s, with %(coverage)s of the units scored; where it decides alone, at most "
        "%(risk)s of what annotators fail passed, and of what they pass failed."
    ) % {**given, "measure": capfirst(given["measure"])}


def look_in_short(look: Look) -> dict[str, Any]:
    """What a certificate of the look says as well."""
    higher_is_better = look.judge.higher_is_better
    return {
        "look": look,
        "level": percent_of(look.level),
        "threshold": number(look.result["threshold"]),
        "sign": "≥" if higher_is_better else "≤",
        "calibrator": calibrator_in_words(look.result["calibrated"]["calibrator"]),
        "region": "" if look.is_out_of_date else region_in_words(look.result["region"], higher_is_better),
    }


def calibrator_in_words(calibrator: Mapping[str, Any] | None) -> str:
    """The calibrator with its parameters; nothing when there is none."""
    if calibrator is None:
        return ""
    if calibrator["method"] == "platt":
        given = {name: number(calibrator[name]) for name in ("slope", "intercept", "lowest", "highest")}
        return (
            _("Platt, slope %(slope)s, intercept %(intercept)s, between the scores %(lowest)s and %(highest)s") % given
        )
    if calibrator["method"] == "isotonic":
        scores = calibrator["scores"]
        ends = {"n": len(scores), "lowest": number(scores[0]), "highest": number(scores[-1])}
        return _("isotonic, %(n)s points between the scores %(lowest)s and %(highest)s") % ends
    raise AssertionError(f"no certificate has a calibrator “{calibrator['method']}”")


def region_in_words(region: Mapping[str, Any], higher_is_better: bool) -> str:
    """Which scores the judge may decide alone, or why it may decide none."""
    if region["distance"] is None:
        return _("%(why)s.") % {"why": capfirst(in_words(region["reason"]))}
    most = {name: percent(region[f"false_{name}"]["high"]) for name in ("passes", "fails")}
    wrong = _(
        "Of what annotators fail there it passes at most %(passes)s, of what they pass it fails at most %(fails)s."
    )
    wrong %= most
    alone = where_alone(region, higher_is_better)
    if region["distance"] == 0:
        return f"{alone} {wrong}"
    share = {"share": percent(region["inside"]["value"])}
    rest = _("%(share)s of all units on the test set lie there; the rest goes to human review.") % share
    return f"{alone} {wrong} {rest}"


def percent_of(level: float) -> str:
    """A level of confidence, with two digits of what it misses: 99.970 % and 99.997 % are different promises."""
    missed = 100 * (1 - level)
    digits = max(2, 1 - math.floor(math.log10(missed)))
    return f"{100 - missed:.{digits}f}%"


def _in_history(look: Look) -> dict[str, Any]:
    return {
        "look": look,
        "kappa": shown(look.result["kappa"]),
        "level": percent_of(look.level),
        "certificate": look.certificate.number if hasattr(look, "certificate") else None,
    }


def _shown(result: Mapping[str, Any], name: str) -> Shown:
    part, _dot, inner = name.rpartition(".")
    return shown((result[part] if part else result)[inner])


def _point(point: Mapping[str, Any]) -> dict[str, Any]:
    lowest, highest = percent(point["lowest"]), percent(point["highest"])
    return {
        "range": lowest if lowest == highest else from_to(lowest, highest),
        "predicted": percent(point["predicted"]),
        "observed": percent(point["observed"]["value"]),
        "low": percent(point["observed"]["low"]),
        "high": percent(point["observed"]["high"]),
        "n": point["observed"]["n"],
    }


def looks_section(page: ProjectPage, criterion: Criterion, judge: str, dimension: str) -> dict[str, Any]:
    """The context of partials/judge_looks.html."""
    found = looks_context(criterion, judge, dimension)
    latest = found["latest"]
    return {
        **found,
        "judge": judge,
        "dimension": dimension,
        "may_look": page.may("test.look"),
        "look_url": _look_url(page, criterion, judge, dimension),
        # The quality gate was asked: what it says is to be seen.
        "asked": "bar" in page.request.GET,
        "may_certify": (
            page.may("certificates.issue")
            and latest is not None
            and not latest["look"].is_out_of_date
            and not hasattr(latest["look"], "certificate")
        ),
        **_certificate(page, criterion, judge, dimension),
    }


def _look_url(page: ProjectPage, criterion: Criterion, judge: str, dimension: str) -> str:
    return f"{page.url('report-look', criterion.key)}?{urlencode({'judge': judge, 'measures': dimension})}"


def _certificate(page: ProjectPage, criterion: Criterion, judge: str, dimension: str) -> dict[str, Any]:
    held = standing_of(project=page.project, criterion_key=criterion.key, judge_name=judge, dimension=dimension)
    if held.certificate is None:
        return {"certificate": None}
    certificate, look = held.certificate, held.certificate.look
    gated, wrong_bar, bar = _gated(page, held)
    return {
        "certificate": certificate,
        "certified": {**look_in_short(look), **_decided(look)},
        "permitting": PERMITTING,
        "conditions": {one.name: one.holds for one in conditions_of(look)},
        "people": people_behind(look, reader=page.user),
        **_bias(page, look),
        "learned": learned_for(look.version, reader=page.user),
        "ended": None if held.ended is None else held.ended[1],
        # Where it is why the certificate has ended, that is said above.
        "drift": "" if held.drift is None or held.ended else drift_sentence(held.drift),
        "audits_url": _audits_url(page, criterion, held),
        "drift_left_out": 0 if held.drift is None else held.drift.chosen,
        "gate": gated,
        "gate_markdown": None if gated is None else gate_markdown(gated),
        "gate_command": None if gated is None else _command(page, gated),
        "bar": bar,
        "wrong_bar": wrong_bar,
    }


def _bias(page: ProjectPage, look: Look) -> dict[str, Any]:
    """The version's latest test for bias: evidence beside the decision, which doesn't rest on it."""
    run = latest_bias_check(look.version)
    if run is None:
        return {}
    url = page.url("canary-check", look.judge_id, run.pk)
    try:
        return {"bias": bias_said(probe_result(run, reader=page.user)), "bias_url": url}
    except Conflict as refusal:
        return {"bias": refusal.message, "bias_url": url}


def _audits_url(page: ProjectPage, criterion: Criterion, held: Standing) -> str:
    """Where to have labels come in that show drift, while nothing sees to it."""
    is_watched = held.drift is not None and held.drift.certified is not None and not held.ended
    if not is_watched or not page.may("schedules.change") or is_audited(page.project, criterion.key):
        return ""
    return f"{page.url('audits-new')}?{urlencode({'criterion': criterion.key})}"


def _gated(page: ProjectPage, held: Standing) -> tuple[Gate | None, str | None, str]:
    """The gate, at the bar that the address may name (`?bar=`), or why there is none; and the bar as it was written."""
    written = page.request.GET.get("bar", "")
    bar = as_number(written.strip())
    try:
        if bar is None and written.strip():
            raise Invalid("bad_min_kappa", _("The minimum: a number from -1 to 1."))
        return held_to(held, bar), None, written
    except Invalid as refusal:
        return None, refusal.message, written


def _command(page: ProjectPage, gated: Gate) -> str:
    """The same on a command line; judges have names that a shell would take apart."""
    where = f"{page.project.slug} --criterion {gated.criterion} --judge {shlex.quote(gated.judge)}"
    bar = "" if gated.min_kappa is None else f" --min-kappa {gated.min_kappa:g}"
    return f"manage.py gate {where}{bar} --format markdown"


@project_view("reports", get="test.look", post="test.look")
def look(page: ProjectPage, key: str) -> HttpResponse:
    """What the look would cost, before it is taken; a POST takes it."""
    criterion = asked_criterion(page.project, key)
    given = page.request.POST if page.request.method == "POST" else page.request.GET
    judge, dimension = _named(page, given)
    if page.request.method != "POST":
        context = {
            "criterion": criterion,
            "judge": judge,
            "dimension": dimension,
            "cost": cost_of(next_look(criterion)),
            "declared": declared_in_words(requirement_of(criterion)),
            "requirement_url": f"{reverse('criterion', args=[page.project.slug, key])}#requirement",
            "back": judge_url(page, key, judge, dimension),
        }
        return page.render("reports/report_look.html", context)
    try:
        expected = whole_number(given.get("number"), "number", low=1)
        taken = look_at_test(
            criterion=criterion, judge_name=judge, dimension=dimension, user=page.user, expected=expected
        )
    except Refusal as refusal:
        messages.error(page.request, refusal.message)
        return _to_judge(page, key, judge, dimension)
    if taken.number < expected:
        said = _("Nothing has changed since test evaluation %(n)d: it is shown again, and nothing was spent.")
    else:
        said = _("This was test evaluation %(n)d. Its result is below.")
    messages.success(page.request, said % {"n": taken.number})
    return _to_judge(page, key, judge, dimension)


@project_view("reports", post="certificates.issue")
def certify(page: ProjectPage, key: str) -> HttpResponse:
    """Issues the certificate of the look that the form names."""
    criterion = asked_criterion(page.project, key)
    try:
        pk = whole_number(page.request.POST.get("look"), "look")
    except Refusal as refusal:
        messages.error(page.request, refusal.message)
        return page.redirect("report-judge", key)
    looks = Look.objects.filter(pk=pk, criterion=criterion).select_related("judge")
    found = first_or_raise(looks, Http404(_("Test evaluation not found.")))
    page.attempt(lambda: issue_certificate(look=found, user=page.user), _("The certificate is issued."))
    return _to_judge(page, key, found.judge.name, found.dimension)


def _named(page: ProjectPage, given: QueryDict) -> tuple[str, str]:
    """The judge and what it measures, as the address or the form names them."""
    judge, dimension = given.get("judge"), given.get("measures")
    if not (judge and dimension and is_storable(judge) and is_storable(dimension)):
        raise Http404(_("This project has no such judge."))
    if not Judge.objects.filter(project=page.project, name=judge).exists():
        raise Http404(_("This project has no such judge."))
    return judge, dimension


def _to_judge(page: ProjectPage, key: str, judge: str, dimension: str) -> HttpResponse:
    return HttpResponseRedirect(judge_url(page, key, judge, dimension))
