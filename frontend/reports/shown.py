"""Figures of a frozen report in words, for templates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from annotate.core.text_tables import UNDEFINED, figure
from frontend.reports.in_words import in_words
from frontend.reports.remark_words import with_sign

# From a sample and one of its units to the page where they are seen.
SampleUrl = Callable[[int, str], str]
# From a judge and the name of what it measures to its page.
JudgeUrl = Callable[[str, str], str]
# From a judge's row of a report and the place of one of its disagreements, from 0, to where that is read.
DisagreementUrl = Callable[[Mapping[str, Any], int], str]


@dataclass(frozen=True, slots=True)
class Links:
    """Where a page leads to; a file has none."""

    sample: SampleUrl
    judge: JudgeUrl
    disagreement: DisagreementUrl


@dataclass(frozen=True, slots=True)
class Shown:
    """An estimate in words: the value, its interval, and why one of them is missing."""

    text: str
    interval: str
    why: str
    n: int
    clusters: int

    @property
    def is_known(self) -> bool:
        return self.text not in ("", UNDEFINED)


def shown(estimate: Mapping[str, Any], digits: int = 2) -> Shown:
    return spelt(estimate, lambda value: figure(value, digits))


def from_to(low: str, high: str) -> str:
    """A range, as an interval or the ends of a scale."""
    return _("%(low)s to %(high)s") % {"low": low, "high": high}


def percent(share: float | None) -> str:
    return UNDEFINED if share is None else f"{share:.1%}"


def shown_share(estimate: Mapping[str, Any]) -> Shown:
    """An estimate of a share, as percentages."""
    return spelt(estimate, percent)


def spelt(estimate: Mapping[str, Any], spell: Callable[[float | None], str]) -> Shown:
    low, high = estimate["low"], estimate["high"]
    interval = "" if low is None else from_to(spell(low), spell(high))
    return Shown(spell(estimate["value"]), interval, in_words(estimate["reason"]), estimate["n"], estimate["clusters"])


_ESTIMATE = {"value", "low", "high", "n", "clusters", "reason"}


def worded(found: Any, spell: Callable[[Mapping[str, Any]], Shown] = shown) -> Any:
    """A part of a report as templates read it: every estimate spelt, every remark in words, the rest as it is."""
    if isinstance(found, list):
        return [worded(one, spell) for one in found]
    if not isinstance(found, Mapping):
        return found
    if "code" in found:
        return in_words(found)
    if found.keys() >= _ESTIMATE:
        return spell(found)
    return {name: worded(one, spell) for name, one in found.items()}


def money(amount: Any, currency: str | None) -> str:
    """An amount with its currency, to the cent, or to two figures where it is less than that; "" for None."""
    if amount is None:
        return ""
    if amount == 0:
        text = "0"
    elif amount >= 1:
        text = f"{amount:,.2f}"
    else:
        text = f"{float(amount):.2g}" if amount >= 0.0001 else _("less than 0.0001")
    return f"{text} {currency}" if currency else text


MEASURES = {
    "pass or fail": (
        ("kappa", gettext_noop("Kappa"), gettext_noop("agreement beyond chance")),
        ("tpr", gettext_noop("Right passes (TPR)"), gettext_noop("of what annotators pass, the share it passes")),
        ("tnr", gettext_noop("Right fails (TNR)"), gettext_noop("of what annotators fail, the share it fails")),
        ("accuracy", gettext_noop("Accuracy"), gettext_noop("share of units decided as annotators do")),
    ),
    "labels": (
        ("kappa", gettext_noop("Kappa"), gettext_noop("agreement beyond chance")),
        ("linear", gettext_noop("Linear kappa"), gettext_noop("two steps apart is twice as bad as one")),
        ("quadratic", gettext_noop("Quadratic kappa"), gettext_noop("two steps apart is four times as bad as one")),
        ("percent", gettext_noop("Percent agreement"), gettext_noop("share of units labelled as annotators do")),
    ),
}


def signed(estimate: Mapping[str, Any]) -> Shown:
    """A difference in words, with its sign."""
    found = shown(estimate)
    if estimate["value"] is None:
        return found
    ends = [] if estimate["low"] is None else [with_sign(estimate[end]) for end in ("low", "high")]
    return replace(found, text=with_sign(estimate["value"]), interval=from_to(*ends) if ends else "")


def measure_rows(found: Mapping[str, Any], basis: str) -> list[dict[str, Any]]:
    """The measures of two judges, or versions of one, side by side. found: their `own` figures and the `difference`."""
    return [
        {
            "title": _(title),
            "about": _(about),
            "first": shown(found["own"][0][name]),
            "second": shown(found["own"][1][name]),
            "difference": signed(found["difference"][name]),
        }
        for name, title, about in MEASURES[basis]
    ]
