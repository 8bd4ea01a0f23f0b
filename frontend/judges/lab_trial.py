"""A trial for its page: in words, what both versions are worth and took, and in one picture, with both versions' kappa
and the paired difference below them.

Drawn by hand, not by matplotlib: a page shows it while it is being asked for, and a web process doesn't load that
library (frontend.reports.plots.svg). Its words come in the reader's language.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from django.utils.translation import gettext as _

from annotate.core.text_tables import number
from frontend.reports.in_words import in_words
from frontend.reports.plots.ink import JUDGE, TPR, plain
from frontend.reports.shown import Shown, measure_rows, money, shown, signed
from judges.core.scores_read import NO_OPTION
from judges.lab.read import Found, Spent, title_of
from judges.models import ScoreStatus, Trial
from judges.reports.read import outcome

# As wide as a phone's page: the words of a bar stand over it, so that nothing has to scroll.
WIDTH, _ROW, _TICKS = 320, 42, 22
_LEFT, _RIGHT = 12, 308
# From the words to their bar.
_BELOW = 12


@dataclass(frozen=True, slots=True)
class Bar:
    """estimate: as Estimate.as_dict. text: its figures, or why there are none, in words."""

    title: str
    text: str
    estimate: Mapping[str, Any]


def trial_plot(
    name: str, kappas: Sequence[Bar], difference: Bar, *, title: str, axes: tuple[str, str], description: str
) -> str:
    """An SVG element as text. axes: what is on the upper axis, and on the lower one."""
    lowest = [bar.estimate[end] for bar in kappas for end in ("low", "value") if bar.estimate[end] is not None]
    upper = _Axis(min([0.0, *lowest]), 1.0)
    ends = [abs(difference.estimate[end]) for end in ("low", "value", "high") if difference.estimate[end] is not None]
    reach = max([0.2, *ends])
    lower = _Axis(-reach, reach)
    top = len(kappas) * _ROW
    second = top + _TICKS + 58
    parts = [
        *_axis(upper, top, axes[0]),
        *(part for at, bar in enumerate(kappas) for part in _bar(upper, bar, (at + 1) * _ROW - _BELOW, JUDGE)),
        *_axis(lower, second + _BELOW, axes[1]),
        *_bar(lower, difference, second, TPR),
    ]
    height = second + _BELOW + _TICKS + 18
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" class="plot plot-phone" role="img" '
        f'aria-labelledby="{name}-title {name}-description" font-family="inherit" font-size="13" fill="currentColor">'
        f'<title id="{name}-title">{escape(plain(title, 200))}</title>'
        f'<desc id="{name}-description">{escape(plain(description, 1000))}</desc>{"".join(parts)}</svg>'
    )


@dataclass(frozen=True, slots=True)
class _Axis:
    low: float
    high: float

    def x(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(_LEFT + share * (_RIGHT - _LEFT), 1)

    def ticks(self) -> list[float]:
        step = next(step for step in (0.1, 0.2, 0.25, 0.5, 1.0) if (self.high - self.low) / step <= 6)
        first = -int(-self.low / step)
        return [round(place * step, 2) for place in range(first, int(self.high / step + 1e-9) + 1)]


def _number(tick: float) -> str:
    return f"{tick:g}".replace("-", "−")


def _axis(axis: _Axis, bottom: int, label: str) -> list[str]:
    middle = (_LEFT + _RIGHT) // 2
    return [
        f'<line x1="{_LEFT}" x2="{_RIGHT}" y1="{bottom}" y2="{bottom}" stroke="currentColor" stroke-opacity="0.5"/>',
        *(
            f'<text x="{axis.x(tick)}" y="{bottom + 16}" text-anchor="middle">{_number(tick)}</text>'
            for tick in axis.ticks()
        ),
        f'<text x="{middle}" y="{bottom + 33}" text-anchor="middle">{escape(label)}</text>',
    ]


def _bar(axis: _Axis, bar: Bar, y: int, colour: str) -> list[str]:
    value, low, high = (bar.estimate[end] for end in ("value", "low", "high"))
    zero = axis.x(0)
    parts = [
        f'<line x1="{zero}" x2="{zero}" y1="{y - 7}" y2="{y + 7}" stroke="currentColor" stroke-opacity="0.5"/>',
        f'<text x="{_LEFT}" y="{y - _BELOW}">{escape(plain(bar.title, 20))}</text>',
        f'<text x="{_RIGHT}" y="{y - _BELOW}" text-anchor="end">{escape(plain(bar.text, 24))}</text>',
    ]
    if low is not None:
        ends = max(low, axis.low), min(high, axis.high)
        parts.append(
            f'<line x1="{axis.x(ends[0])}" x2="{axis.x(ends[1])}" y1="{y}" y2="{y}" stroke="{colour}" '
            'stroke-width="2.5"/>'
        )
    if value is not None:
        parts.append(f'<circle cx="{axis.x(value)}" cy="{y}" r="4.5" fill="{colour}"/>')
    return parts


def gains(figures: Mapping[str, Any]) -> bool:
    """Whether the new version's kappa is higher, also at the low end of the interval of the difference."""
    low = None if figures["reason"] is not None else figures["difference"]["kappa"]["low"]
    return low is not None and bool(low > 0)


def trial_context(trial: Trial, found: Found) -> dict[str, Any]:
    """What the page says of the figures."""
    figures = found.figures
    titles = title_of(trial.base), title_of(trial.version)
    return {
        "titles": titles,
        "outcome": in_words(outcome(*titles, figures)),
        "reason": in_words(figures["reason"]),
        "units": figures["units"],
        "samples": figures["samples"],
        "on_dev": figures["basis"] == "pass or fail",
        "has_thresholds": any(threshold is not None for threshold in figures["thresholds"]),
        "measures": measure_rows(figures, figures["basis"]),
        # Only then activating is what the page recommends.
        "gains": gains(figures),
        "plot": "" if figures["reason"] is not None else _plot(titles, figures),
        "caveat": in_words(found.caveat),
        "learned": in_words(found.learned),
        "versions": [_version(trial, found, at, title) for at, title in enumerate(titles)],
        # How many units only one of the versions scored: they are in no figure.
        "uneven": sum(one["scored"] for one in figures["coverage"]) - 2 * figures["units"],
    }


def _plot(titles: tuple[str, str], figures: Mapping[str, Any]) -> str:
    own = [figures["own"][side]["kappa"] for side in (0, 1)]
    gain = figures["difference"]["kappa"]
    bars = [Bar(title, _in_short(shown(one)), one) for title, one in zip(titles, own, strict=True)]
    difference = Bar(_("Difference"), _in_short(signed(gain)), gain)
    sentences = [f"{bar.title}: {bar.text}." for bar in (*bars, difference)]
    return trial_plot(
        "trial",
        bars,
        difference,
        title=_("Kappa of both versions, and their difference"),
        axes=(_("kappa, with 95% interval"), _("new − old, on the same units")),
        description=" ".join(sentences),
    )


def _in_short(estimate: Shown) -> str:
    if estimate.interval:
        return f"{estimate.text} ({estimate.interval})"
    return estimate.text


def _version(trial: Trial, found: Found, at: int, title: str) -> dict[str, Any]:
    coverage, higher = found.figures["coverage"][at], trial.version.judge.higher_is_better
    threshold = found.figures["thresholds"][at]
    return {
        "title": title,
        "coverage": coverage,
        "of": coverage["scored"] + coverage["failed"] + coverage["missing"],
        "failed": [
            {
                "status": _("Not one of the criterion’s options") if status == NO_OPTION else ScoreStatus(status).label,
                "n": n,
            }
            for status, n in found.failed[at].most_common()
        ],
        "threshold": "" if threshold is None else f"{'≥' if higher else '≤'} {number(threshold)}",
        "spent": _spent_in_words(found.spent[at]),
    }


def _spent_in_words(spent: Spent) -> dict[str, str]:
    """Empty where there is no such figure: a judge that asks no model, or scores from before."""
    if not spent.replies:
        return {}
    return {
        "replies": f"{spent.replies:,}",
        "latency": "" if spent.latency is None else _("%(n)s s") % {"n": f"{spent.latency:.2g}"},
        "cost": money(spent.cost, spent.currency),
        "unpriced": f"{spent.unpriced:,}" if spent.unpriced else "",
        "tokens": ""
        if spent.tokens_in is None and spent.tokens_out is None
        else f"{spent.tokens_in or 0:,} / {spent.tokens_out or 0:,}",
    }
