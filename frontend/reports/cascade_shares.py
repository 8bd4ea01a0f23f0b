"""Who decides how much in a cascade of two judges, and what that costs, in words and as places in a drawing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _

from frontend.reports.in_words import in_words
from frontend.reports.shown import Shown, money, percent
from judges.certificates.cascades_read import cost_of
from judges.models import JudgeVersion

_PER = 1_000


@dataclass(frozen=True, slots=True)
class Shares:
    """Who decides how much, as percentages in words, and as numbers for the bar."""

    cheap: float
    dear: float
    people: float

    @property
    def parts(self) -> list[tuple[str, str, str]]:
        """Of each who decides: start and width in the bar, and the percentage."""
        at, found = 0.0, []
        for share in (self.cheap, self.dear, self.people):
            found.append((f"{100 * at:.1f}%", f"{100 * share:.1f}%", f"{share:.0%}"))
            at += share
        return found

    @property
    def machines(self) -> str:
        return f"{self.cheap + self.dear:.0%}"


@dataclass(frozen=True, slots=True)
class Price:
    """Of a thousand units; amount: None where it is not known, and then why."""

    amount: Decimal | None
    currency: str | None
    why: str = ""

    @property
    def text(self) -> str:
        if self.amount == 0:
            return _("free")
        return "" if self.amount is None else money(self.amount, self.currency)


class Prices:
    """What the judges of a page cost, each asked for once."""

    def __init__(self, versions: Mapping[str, JudgeVersion]) -> None:
        self._of = {title: cost_of(version) for title, version in versions.items()}

    def of(self, title: str) -> Price:
        found = self._of[title]
        if found.unit is None:
            return Price(None, None, _("%(judge)s: no cost known") % {"judge": title})
        return Price(found.unit * _PER, found.currency)

    def of_cascade(self, cheap: str, dear: str, shares: Shares) -> Price:
        """The cheap judge on every unit, the dear one on those that are left."""
        first, second = self.of(cheap), self.of(dear)
        if first.amount is None or second.amount is None:
            return Price(None, None, first.why or second.why)
        if first.currency and second.currency and first.currency != second.currency:
            return Price(None, None, _("prices in several currencies"))
        needed = Decimal(1 - shares.cheap)
        return Price(first.amount + second.amount * needed, first.currency or second.currency)


def plot_of(points: Sequence[tuple[str, str, Shares, Price]]) -> dict[str, Any] | None:
    """Cost against the share that judges decide, as places in a drawing of 320 by 220; None without two known costs."""
    known = [(title, then, shares, price) for title, then, shares, price in points if price.amount is not None]
    most = max((price.amount for *_rest, price in known if price.amount is not None), default=Decimal(0))
    if len(known) < 2 or not most:
        return None
    return {
        "most": money(most, next((price.currency for *_rest, price in known if price.currency), None)),
        "points": [
            {
                "x": f"{320 * (shares.cheap + shares.dear):.1f}",
                "y": f"{220 - 220 * float(price.amount / most):.1f}",
                # Names find room towards the middle.
                "is_left": shares.cheap + shares.dear < 0.5,
                "title": _("%(cheap)s, then %(dear)s: %(share)s, %(price)s")
                % {"cheap": title, "dear": then, "share": shares.machines, "price": price.text},
                "name": title if not then else f"{title} → {then}",
            }
            for title, then, shares, price in known
            if price.amount is not None
        ],
    }


def agrees(disagreement: Mapping[str, Any]) -> Shown:
    """One less the disagreement, with its lower bound."""
    value, high = disagreement["value"], disagreement["high"]
    at_least = "" if high is None else _("at least %(share)s") % {"share": percent(1 - high)}
    text = percent(None if value is None else 1 - value)
    return Shown(text, at_least, in_words(disagreement["reason"]), disagreement["n"], disagreement["clusters"])
