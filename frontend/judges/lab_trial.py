"""A trial in words, for its page: what both versions are worth, and what they took."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from frontend.reports.plots.trial import Bar, trial_plot
from frontend.reports.shown import MEASURES, Shown, money, number, shown, signed
from frontend.reports.wording import in_words
from judges.core.scores_read import NO_OPTION
from judges.lab.read import Found, Spent, title_of
from judges.models import ScoreStatus, Trial
from judges.reports.disagreements_read import outcome


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
        "measures": _measures(figures),
        "plot": "" if figures["reason"] is not None else _plot(titles, figures),
        "caveat": in_words(found.caveat),
        "versions": [_version(trial, found, at, title) for at, title in enumerate(titles)],
        "uneven": _uneven(figures),
    }


def _measures(figures: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "title": _(title),
            "about": _(about),
            "first": shown(figures["own"][0][name]),
            "second": shown(figures["own"][1][name]),
            "difference": signed(figures["difference"][name]),
        }
        for name, title, about in MEASURES[figures["basis"]]
    ]


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
        axes=(_("kappa, with 95 % interval"), _("new version less old one, on the same units")),
        description=" ".join(sentences),
    )


def _in_short(estimate: Shown) -> str:
    if estimate.interval:
        return f"{estimate.text} ({estimate.interval})"
    return estimate.text


def _version(trial: Trial, found: Found, at: int, title: str) -> dict[str, Any]:
    coverage, higher = found.figures["coverage"][at], trial.version.judge.higher_is_better
    threshold = found.figures["thresholds"][at]
    failed = [{"status": _status(status), "n": n} for status, n in found.failed[at].most_common()]
    return {
        "title": title,
        "coverage": coverage,
        "of": coverage["scored"] + coverage["failed"] + coverage["missing"],
        "failed": failed,
        "threshold": "" if threshold is None else f"{'≥' if higher else '≤'} {number(threshold)}",
        "spent": _spent_in_words(found.spent[at]),
    }


def _status(status: str) -> str:
    if status == NO_OPTION:
        return _("Not one of the criterion’s options")
    return str(ScoreStatus(status).label)


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


def _uneven(figures: Mapping[str, Any]) -> int:
    """How many units only one of the versions scored: they are in no figure."""
    return sum(one["scored"] for one in figures["coverage"]) - 2 * figures["units"]
