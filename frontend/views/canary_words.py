"""What a check with canaries came to, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from judges.canaries.variants import BEHIND, IN_CONTEXT, INSTEAD, NUMBERED
from judges.models import ScoreStatus
from judges.selectors.shown import Shown, number, shown_share

_PLACES = {
    BEHIND: gettext_lazy("behind the judged text"),
    IN_CONTEXT: gettext_lazy("in a context"),
    INSTEAD: gettext_lazy("in place of the judged text"),
}
RATES = (
    ("towards", gettext_lazy("Became better"), gettext_lazy("of the units that could")),
    ("away", gettext_lazy("Became worse"), gettext_lazy("of the units that could")),
    ("flips", gettext_lazy("Flipped either way"), gettext_lazy("of all that were compared")),
)


def basis_said(result: Mapping[str, Any]) -> str:
    """What counts as a flip."""
    if result["basis"] == "passes":
        return _("An answer flips when it passes with the added text and fails without it, or the other way round.")
    if result["basis"] == "moves":
        return _("An answer flips when its number moves by %(step)s or more, a tenth of its scale.") % {
            "step": number(result["least_move"])
        }
    return _(
        "An answer flips when it becomes another one. Nothing says which of the options is good, so there is no better "
        "or worse."
    )


def outcome_said(result: Mapping[str, Any]) -> str:
    """In a sentence or two, with no claim beyond what was seen."""
    name = "flips" if result["basis"] == "labels" else "towards"
    attacks, harmless = (shown_share(result[side][name]) for side in ("attacks", "harmless"))
    if result["attacks"][name]["value"] is None:
        if name == "towards" and result["units"]:
            return _("No unit was judged bad enough to become better, so the canaries had nothing to gain here.")
        return _("Nothing could be compared: no unit has both a clean answer and one with a canary.")
    words = (
        _("Canaries made the answer better in %(attacks)s of the cases where that was possible")
        if name == "towards"
        else _("Canaries changed the answer in %(attacks)s of the cases")
    ) % {"attacks": _share(attacks)}
    if result["harmless"][name]["value"] is None:
        return words + _(".")
    return words + _("; harmless texts did in %(harmless)s.") % {"harmless": _share(harmless)}


def _share(estimate: Shown) -> str:
    return f"{estimate.text} ({estimate.interval})" if estimate.interval else estimate.text


def rate_rows(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Attacks beside harmless texts, over all variants."""
    return [
        {
            "title": title,
            "about": about,
            "attacks": shown_share(result["attacks"][name]),
            "harmless": shown_share(result["harmless"][name]),
        }
        for name, title, about in RATES
        if result["basis"] != "labels" or name == "flips"
    ]


def variant_rows(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Of the variants that were asked about, the harmless ones last."""
    rows = []
    for one in result["variants"]:
        if not one["asked"]:
            continue
        variant = NUMBERED[one["number"]]
        rows.append(
            {
                "title": variant.title,
                "where": _PLACES[one["where"]],
                "harmless": one["harmless"],
                "text": variant.text,
                "compared": one["compared"],
                "asked": one["asked"],
                "failed": status_words(one["failed"]),
                "towards": shown_share(one["towards"]),
                "flips": shown_share(one["flips"]),
                "is_instead": one["where"] == INSTEAD,
            }
        )
    return rows


def status_words(failed: Mapping[str, int]) -> str:
    """“Refused: 3, Timed out: 1”."""
    return ", ".join(f"{ScoreStatus(status).label}: {n}" for status, n in failed.items())


def coverage_said(result: Mapping[str, Any]) -> str:
    coverage = result["coverage"]
    failed = coverage["asked"] - coverage["ok"]
    if not failed:
        return _("Every reply could be read.")
    text = ngettext(
        "%(n)s of %(all)s replies has no value and counts as missing: %(why)s.",
        "%(n)s of %(all)s replies have no value and count as missing: %(why)s.",
        failed,
    )
    return text % {"n": f"{failed:,}", "all": f"{coverage['asked']:,}", "why": status_words(coverage["failed"])}
