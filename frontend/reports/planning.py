"""How many more labels a report's figures want, and what a drawn batch says of all samples, as pages show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

import alignment
from annotate.core.text_tables import UNDEFINED, figure
from frontend.reports.shown import shown
from frontend.reports.wording import in_words, plot_in_words
from judges.models import AlignmentReport

if TYPE_CHECKING:
    from judges.reports.next_samples import NextSamples

_NAMES = {"kappa": gettext_noop("Kappa"), "tpr": "TPR", "tnr": "TNR"}
# Columns of the table; the plot has all.
_COLUMNS = 4


def planning_context(report: AlignmentReport, half_width: float | None = None) -> dict[str, Any]:
    """The context of `reports/planning_fragment.html`; with `half_width` how many samples each figure wants for it."""
    planning = report.result["planning"]
    places = _places(len(planning["more"]))
    rows = [_row(row, places, half_width) for row in planning["rows"]]
    # Figure, value, now, samples; the steps; the width one asked for; words.
    span = 4 + len(places) + (half_width is not None) + 1
    return {
        "span": span,
        "rest": span - 2,
        "samples": planning["samples"],
        "dev": planning["dev"],
        "columns": [f"{planning['more'][place]:,}" for place in places],
        "groups": [
            {"title": who or _("People with each other"), "is_people": who is None, "rows": list(group)}
            for who, group in groupby(rows, key=lambda row: row["judge"])
        ],
        "half_width": None if half_width is None else f"±{half_width:.2f}",
        "plot": plot_in_words(report.plots.get("planning", "")),
    }


def drawn_context(report: AlignmentReport) -> dict[str, Any] | None:
    """The `drawn` of `reports/drawn_fragment.html`; None when nothing was drawn, or nothing of it is labelled."""
    drawn = report.result["drawn"]
    if drawn is None:
        return None
    rows = [{"title": _("Share that people pass"), "figure": "", **_pair(drawn["passes"])}]
    for judge in drawn["judges"]:
        rows += [{"title": judge["title"], "figure": _(title), **_pair(judge[name])} for name, title in _NAMES.items()]
    return {
        **drawn,
        "rows": rows,
        "apart": figure(drawn["heaviest"] / drawn["lightest"], 1),
        "lightest": f"{drawn['lightest']:.3g}",
        "heaviest": f"{drawn['heaviest']:.3g}",
    }


def strata_context(seen: NextSamples) -> dict[str, Any]:
    """A draw that nobody has confirmed yet: its strata, and what it is worth."""
    proposal = seen.proposal
    return {
        "rows": [
            {
                "number": number,
                "score": _range(stratum.score),
                "disagreement": _range(stratum.disagreement),
                "samples": f"{stratum.samples:,}",
                "drawn": f"{stratum.drawn:,}",
                "chance": f"{stratum.chance:.1%}" if stratum.chance < 1 else _("all"),
            }
            for number, stratum in enumerate(proposal.strata, start=1)
        ],
        "frame": seen.frame,
        "drawn": len(proposal.chosen),
        "seed": seen.seed,
        "basis": proposal.basis,
        # Less than a tenth more is not worth a sentence.
        "alike": None
        if proposal.worth is None or proposal.worth < 1.1
        else f"{round(proposal.worth * len(proposal.chosen)):,}",
    }


def _range(ends: tuple[float, float] | None) -> str:
    """Ranks between 0 and 1 as whole percents."""
    if ends is None:
        return _("no scores")
    low, high = (f"{100 * end:.0f}" for end in ends)
    return low if low == high else f"{low}–{high}"


def _row(row: Mapping[str, Any], places: Sequence[int], half_width: float | None) -> dict[str, Any]:
    name = _NAMES[row["figure"]]
    found = {
        "judge": row["judge"],
        "title": _(name),
        "value": figure(row["value"], 2),
        "why": in_words(row["reason"]),
        "now": "",
    }
    if row["half_width"] is None:
        return found
    return {
        **found,
        "now": _width(row["half_width"]),
        "clusters": row["clusters"],
        "sentence": _capitalised(in_words(row["goal"]) or _("as sure as a plan can say")),
        "widths": [_width(row["curve"][place]) for place in places],
        "wanted": None if half_width is None else _wanted(row, half_width),
    }


def _wanted(row: Mapping[str, Any], half_width: float) -> str:
    more = alignment.report.Growth.from_dict(row).more_for(half_width)
    if more is None:
        return UNDEFINED
    return _("about %(n)s") % {"n": f"{alignment.two_digits(more):,}"} if more else _("reached")


def _pair(both: Mapping[str, Any]) -> dict[str, Any]:
    return {name: shown(both[name]) for name in ("weighted", "plain")}


def _width(half_width: float | None) -> str:
    return UNDEFINED if half_width is None else f"±{figure(half_width, 2)}"


def _places(count: int) -> list[int]:
    """Some places of the steps, evenly, the last one among them."""
    if count <= _COLUMNS:
        return list(range(count))
    return [round(place * (count - 1) / (_COLUMNS - 1)) for place in range(_COLUMNS)]


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]
