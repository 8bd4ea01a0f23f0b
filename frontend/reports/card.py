"""What a judge may do, in one card: the decision that rules it, the declared minimum, and where the judge stands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.formats import date_format
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from annotate.core.text_tables import figure, number
from frontend.reports.first_screen import set_of
from frontend.reports.in_words import decision_in_words, in_words
from frontend.reports.shown import from_to, percent, shown, shown_share
from judges.certificates.decision_read import PERMITTING, Ruling
from judges.core.requirement import requirement_of
from judges.models import AlignmentReport, Measure

# What the picture's scale spans at least, by measure.
_SPAN = {Measure.KAPPA: (0.0, 1.0), Measure.KAPPA_LESS_PEOPLE: (-0.5, 0.2)}
# The picture's width without its margins, and where it begins.
_WIDTH, _LEFT = 280.0, 10.0


def card_context(report: AlignmentReport, row: Mapping[str, Any], ruling: Ruling | None) -> dict[str, Any]:
    """The `card` of `reports/decision.html`. ruling: what rules the judge since it was looked at; None before."""
    decision = decision_in_words(row["decision"], ruling)
    endpoint, found = _on_dev(report, row) if ruling is None else (ruling.endpoint, ruling.figure)
    stands = shown(found)
    return {
        "decision": decision,
        "basis": _basis(ruling),
        "learned": in_words(row.get("learned")) if ruling is None else "",
        "alone": _alone(decision["code"], ruling),
        "measure": capfirst(Measure(endpoint["name"]).label),
        "bound": {
            "title": _("Declared minimum"),
            "value": figure(endpoint["bar"], 2),
            "note": _("even at the low end of the interval"),
        },
        "stands": stands,
        "where": set_of(ruling) if stands.is_known else "",
        "level": "" if ruling is None or found["low"] is None else f"{100 * ruling.level:.3g}%",
        "picture": _picture(endpoint, found),
        **_drifted(ruling),
    }


def _drifted(ruling: Ruling | None) -> dict[str, Any]:
    """Where the watch for drift has ended the certificate: its figure in place of that of the test set."""
    if ruling is None or ruling.ended_code != "drift" or ruling.drift is None or ruling.drift.error is None:
        return {}
    certified = {"title": _("Certified at most"), "value": percent(ruling.drift.certified), "note": ""}
    found = shown_share(ruling.drift.error)
    return {
        "measure": _("Errors in audits"),
        "stands": found,
        "where": "",
        "level": "",
        "bound": certified,
        "picture": None,
    }


def _on_dev(report: AlignmentReport, row: Mapping[str, Any]) -> tuple[dict[str, Any], Mapping[str, Any]]:
    """The endpoint that the report's decision was held to, and the judge's figure: that of the decision's reason; where
    that has none, the report's own."""
    declared, reason = requirement_of(report.criterion), row["decision"]["reason"]
    endpoint = {"name": declared.measure, "bar": reason.get("bar", declared.bar)}
    told = reason.get("kappa", reason.get("less"))
    if told is not None and "value" in told:
        return endpoint, {"low": None, "high": None, "reason": told.get("why"), "n": 0, "clusters": 0, **told}
    return endpoint, row["kappa"] if declared.measure == Measure.KAPPA else row["people"]["difference"]


def _basis(ruling: Ruling | None) -> str:
    if ruling is None:
        return _(
            "Provisional (dev set): a prompt tuned on these samples looks better than it is. Confirm on the test set."
        )
    given = {"n": ruling.look, "date": date_format(ruling.created_at, "DATE_FORMAT"), "certificate": ruling.certificate}
    if ruling.certificate is None:
        return _("From test evaluation %(n)s of %(date)s. Not certified yet, so nothing is decided by it.") % given
    if ruling.ended:
        return _("From test evaluation %(n)s of %(date)s. Certificate %(certificate)s has ended.") % given
    if ruling.decision["verdict"] not in PERMITTING:
        # “Holds” would read as a permission.
        return _("From test evaluation %(n)s of %(date)s. Certificate %(certificate)s says the same.") % given
    return _("From test evaluation %(n)s of %(date)s. Certificate %(certificate)s holds.") % given


def _alone(code: str, ruling: Ruling | None) -> dict[str, str]:
    """What the judge may decide alone, in a word, and why no more."""
    if code == "alone_in_region":
        assert ruling is not None
        region = ruling.region
        share = {"share": percent(region["inside"]["value"])}
        if ruling.certificate is None:
            return {"text": _("Nothing yet"), "why": _("%(share)s of units, once certified") % share}
        given = {
            "low": number(region["threshold"] - region["distance"]),
            "high": number(region["threshold"] + region["distance"]),
            "confidence": f"{100 * region['confidence']:.3g}%",
        }
        why = _("Scores up to %(low)s or from %(high)s. The limits on errors hold with %(confidence)s confidence.")
        return {"text": _("%(share)s of units") % share, "why": why % given}
    return {"text": _("Nothing"), "why": _why_nothing(code, ruling)}


def _why_nothing(code: str, ruling: Ruling | None) -> str:
    if code == "not_for_use":
        return _("agreement is below the minimum")
    if code == "cannot_tell":
        return _("agreement is not proven")
    if code == "ended":
        return _("its certificate has ended")
    missing = [] if ruling is None else [one for one in ruling.decision["against"] if one["code"] == "region_missing"]
    if missing:
        return in_words(missing[0]["why"])
    return _("a score range is certified only on the test set")


def _picture(endpoint: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, str] | None:
    """Where the interval lies against the minimum, in units of the drawing; None where there is no figure."""
    if found["value"] is None:
        return None
    low, high = found["low"], found["high"]
    points = [endpoint["bar"], found["value"], *(end for end in (low, high) if end is not None)]
    first, last = _SPAN[Measure(endpoint["name"])]
    first, last = min(first, *points), max(last, *points)

    def at(value: float) -> str:
        return f"{_LEFT + _WIDTH * (value - first) / (last - first):.1f}"

    bar = endpoint["bar"]
    return {
        "bar": at(bar),
        "value": at(found["value"]),
        "low": "" if low is None else at(low),
        "high": "" if high is None else at(high),
        "enough": f"{_LEFT + _WIDTH - float(at(bar)):.1f}",
        "first": figure(first, 1),
        "last": figure(last, 1),
        "said": _("%(value)s (%(interval)s); the minimum is %(bar)s")
        % {
            "value": figure(found["value"], 2),
            "interval": _("no interval") if low is None else from_to(figure(low, 2), figure(high, 2)),
            "bar": figure(bar, 2),
        },
    }
