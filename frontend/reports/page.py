"""A frozen report as its templates show it: every figure already a text, every list a list. With it judges against
people sample by sample, what share passes, how many more labels the figures want, and what a drawn batch says of all
samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from itertools import groupby
from typing import TYPE_CHECKING, Any

from django.utils.formats import date_format
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

import alignment
from annotate.core.text_tables import UNDEFINED, figure
from frontend.reports.annotators import matrix_context
from frontend.reports.first_screen import FirstScreen, first_screen
from frontend.reports.headings import headings
from frontend.reports.in_words import in_words, plot_in_words
from frontend.reports.judge import judge_summary, looked_at
from frontend.reports.shown import Links, from_to, percent, shown, shown_share, worded
from judges.certificates.decision_read import Looked
from judges.models import AlignmentReport

if TYPE_CHECKING:
    from judges.reports.next_samples import Draw

_NAMES = {
    "kappa": gettext_noop("Kappa"),
    "tpr": gettext_noop("Right passes (TPR)"),
    "tnr": gettext_noop("Right fails (TNR)"),
}
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
            {"title": who or _("Between annotators"), "is_people": who is None, "rows": list(group)}
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
    rows: list[dict[str, Any]] = []
    for judge in drawn["judges"]:
        rows += [{"title": judge["title"], "figure": _(title), **worded(judge[name])} for name, title in _NAMES.items()]
    return {
        **drawn,
        "rows": rows,
        "apart": figure(drawn["heaviest"] / drawn["lightest"], 1),
        "lightest": f"{drawn['lightest']:.3g}",
        "heaviest": f"{drawn['heaviest']:.3g}",
    }


_OF = {"all": gettext_noop("All samples, weighted"), "labelled": gettext_noop("Labelled units, each alike")}


def passing_context(found: Mapping[str, Any]) -> dict[str, Any]:
    """The `passing` of `reports/passing_fragment.html`."""
    rows = [(title, found[name]) for name, title in _OF.items() if found[name] is not None]
    return {
        "reason": in_words(found["reason"]),
        "rows": [
            {
                **worded(row, shown_share),
                "title": _(title),
                "bounds": from_to(percent(row["none"]), percent(row["every"])),
            }
            for title, row in rows
        ],
    }


def strata_context(seen: Draw[alignment.report.Proposal]) -> dict[str, Any]:
    """A draw that nobody has confirmed yet: its strata, and what it is worth."""
    proposal = seen.found
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
        "sentence": capfirst(in_words(row["goal"]) or _("as sure as a plan can say")),
        "widths": [_width(row["curve"][place]) for place in places],
        "wanted": None if half_width is None else _wanted(row, half_width),
    }


def _wanted(row: Mapping[str, Any], half_width: float) -> str:
    more = alignment.report.Growth.from_dict(row).more_for(half_width)
    if more is None:
        return UNDEFINED
    return _("about %(n)s") % {"n": f"{alignment.two_digits(more):,}"} if more else _("reached")


def _width(half_width: float | None) -> str:
    return UNDEFINED if half_width is None else f"±{figure(half_width, 2)}"


def _places(count: int) -> list[int]:
    """Some places of the steps, evenly, the last one among them."""
    if count <= _COLUMNS:
        return list(range(count))
    return [round(place * (count - 1) / (_COLUMNS - 1)) for place in range(_COLUMNS)]


# Title and what it is, in the order in which the figures come.
_WORDS = {
    "faithfulness": (
        gettext_noop("Share of claims that pass"),
        gettext_noop("faithfulness, where the question is whether contexts support them"),
    ),
    "context_precision": (
        gettext_noop("Context precision by rank, of what was retrieved"),
        gettext_noop("whether the contexts that pass are ranked first"),
    ),
    "precision_at_k": (
        gettext_noop("Precision@%(k)s, of what was retrieved"),
        gettext_noop("share of the first %(k)s contexts that pass"),
    ),
    "retrieved_precision": (
        gettext_noop("Context precision, of what was retrieved"),
        gettext_noop("share of all contexts that pass"),
    ),
    "reciprocal_rank": (
        gettext_noop("Reciprocal rank, of what was retrieved"),
        gettext_noop("1 / the rank of the first context that passes"),
    ),
    "ndcg_at_k": (
        gettext_noop("nDCG@%(k)s, of what was retrieved"),
        gettext_noop("the order of the contexts by their grades, against their best order"),
    ),
    "context_recall": (
        gettext_noop("Share of key facts that pass"),
        gettext_noop("context recall, where the question is about the contexts"),
    ),
    "context_entity_recall": (
        gettext_noop("Share of entities that pass"),
        gettext_noop("context entity recall, where the question is about the contexts"),
    ),
}
_PARTS = {
    "claim": (gettext_noop("claim"), gettext_noop("claims")),
    "context": (gettext_noop("context"), gettext_noop("contexts")),
    "fact": (gettext_noop("key fact"), gettext_noop("key facts")),
    "entity": (gettext_noop("entity"), gettext_noop("entities")),
}


def per_sample_context(found: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The `per_sample` of `judges/per_sample.html`; None where a sample has one unit."""
    if found is None:
        return None
    part, parts = _PARTS[found["unit"]]
    metrics = [_metric(metric, found["k"]) for metric in found["metrics"]]
    return {
        "part": _(part),
        "parts": _(parts),
        "metrics": metrics,
        # Reports of before there were abstentions don't say.
        "abstained": found.get("abstained", 0),
        # The same sentence wherever it is needed.
        "caveat": in_words(next((metric["caveat"] for metric in found["metrics"] if metric["caveat"]), None)),
        "is_ranked": found["unit"] == "context",
        "uses_dev": any(row["on_dev"] for metric in metrics for row in metric["judges"]),
        "has_whole": any(row["whole"] for metric in metrics for row in metric["judges"]),
    }


def _metric(metric: Mapping[str, Any], k: int) -> dict[str, Any]:
    title, about = (_(text) % {"k": k} for text in _WORDS[metric["key"]])
    return {**worded(metric), "title": title, "about": about}


STATISTICS = (
    ("percent_agreement", gettext_noop("Percent agreement")),
    ("cohen_kappa_mean", gettext_noop("Cohen’s kappa, mean over pairs")),
    ("cohen_kappa_mean_weighted_by_common_units", gettext_noop("… weighted by common units")),
    ("cohen_kappa_linear_mean", gettext_noop("… linear weights")),
    ("cohen_kappa_quadratic_mean", gettext_noop("… quadratic weights")),
    ("fleiss_kappa", gettext_noop("Fleiss’ kappa")),
    ("krippendorff_alpha_nominal", gettext_noop("Krippendorff’s alpha, nominal")),
    ("krippendorff_alpha_ordinal", gettext_noop("Krippendorff’s alpha, ordinal")),
    ("krippendorff_alpha_interval", gettext_noop("Krippendorff’s alpha, interval")),
    ("krippendorff_alpha_ratio", gettext_noop("Krippendorff’s alpha, ratio")),
    ("icc_one_way", gettext_noop("Intraclass correlation, one-way")),
    ("icc_agreement", gettext_noop("… two-way, agreement")),
    ("icc_consistency", gettext_noop("… two-way, consistency")),
    ("gwet_ac1", gettext_noop("Gwet’s AC1")),
    ("gwet_ac2_linear", gettext_noop("Gwet’s AC2, linear weights")),
    ("gwet_ac2_quadratic", gettext_noop("… quadratic weights")),
    ("brennan_prediger", gettext_noop("Brennan and Prediger’s kappa")),
    ("scott_pi_mean", gettext_noop("Scott’s pi, mean over pairs")),
)


def report_context(report: AlignmentReport, links: Links | None = None, looked: Looked | None = None) -> dict[str, Any]:
    """The context of `reports/report_fragment.html`."""
    result = report.result
    screen = screen_of(report, links, looked)
    statistics = result["agreement"]["estimates"]
    known = [(_(title), shown(statistics[name])) for name, title in STATISTICS if statistics[name]["value"] is not None]
    return {
        **frame_context(report),
        "screen": screen,
        "headings": headings(result, screen),
        "is_labelled": bool(result["agreement"]["ratings"]),
        "rests": _rests_on(result["reference"]),
        "too_fast": _too_fast(result),
        "judges": [judge_summary(report, place, links, looked) for place in range(len(result["judges"]))],
        "uses_dev": any(row["at_threshold"]["confusion"] is not None for row in result["judges"]),
        "agreement_caveat": in_words(result["agreement_caveat"]),
        "agreement_note": in_words(result["agreement_note"]),
        "statistics": known,
        "no_statistics": "" if known else in_words(statistics["percent_agreement"]["reason"]),
        "prevalence": [{**row, "percent": percent(row["share"])} for row in result["prevalence"]],
        "matrix": matrix_context(result["matrix"]),
        "planning": planning_context(report),
        "passing": passing_context(result["passing"]),
        "drawn": drawn_context(report),
        "per_sample": per_sample_context(result["per_sample"]),
    }


def screen_of(report: AlignmentReport, links: Links | None = None, looked: Looked | None = None) -> FirstScreen:
    """The `screen` of `reports/hero.html` and `reports/judges_table.html`."""
    rows = [{**row, "place": place} for place, row in enumerate(report.result["judges"], start=1)]
    return first_screen(
        rows,
        report.result["people"],
        report.result["matrix"],
        rulings=[looked_at(report.criterion_id, row, looked or {}) for row in rows],
        urls=[links.judge(row["judge"], row["dimension"]) if links else f"#judge-{row['place']}" for row in rows],
    )


def _rests_on(reference: Mapping[str, Any]) -> dict[str, Any]:
    """The `rests` of `reports/rests_on.html`."""
    return {
        "reference": reference,
        "unsettled": sum(reference["unsettled"].values()),
        "declared": [_declared(row) for row in reference["declared"]],
    }


def _too_fast(result: Mapping[str, Any]) -> dict[str, Any] | None:
    """The `too_fast` of `reports/too_fast.html`: kappas as they are, and without the units of such labels."""
    found = result["too_fast"]
    if found is None:
        return None
    rows = [(_("Between annotators"), result["people"]["value"], found["agreement"]["value"])]
    for judge, without in zip(result["judges"], found["judges"], strict=True):
        rows.append((judge["title"], judge["at_threshold"]["kappa"]["value"], without["kappa"]))
    return {
        **found,
        "count": len(found["people"]),
        "share": percent(found["labels"] / found["of"]),
        "rows": [{"title": title, "now": figure(now, 2), "without": figure(then, 2)} for title, now, then in rows],
    }


def _declared(row: Mapping[str, Any]) -> str:
    given = {
        "n": row["units"],
        "who": row["by"] or _("An admin, on the command line,"),
        "day": date_format(date.fromisoformat(row["day"]), "DATE_FORMAT") if row["day"] else UNDEFINED,
        "number": row["batch"],
    }
    if row["batch"] is None:
        said = ngettext(
            "%(n)s of them rests on one imported label. %(who)s decided on %(day)s that this is enough.",
            "%(n)s of them rest on one imported label each. %(who)s decided on %(day)s that this is enough.",
            row["units"],
        )
    else:
        said = ngettext(
            "%(n)s of them rests on one label. %(who)s decided on %(day)s that this is enough in batch %(number)s.",
            "%(n)s of them rest on one label each. %(who)s decided on %(day)s that this is enough in batch %(number)s.",
            row["units"],
        )
    return said % given


def frame_context(report: AlignmentReport) -> dict[str, Any]:
    """What every page and part of a report needs: what was asked, and how it was worked out."""
    result = report.result
    return {
        "report": report,
        "result": result,
        "has_passes": bool(result["criterion"]["passes"]),
        "human_is_share": _human_is_share(result),
        "libraries": ", ".join(f"{name} {version}" for name, version in report.parameters["libraries"].items()),
        "parameters": report.parameters,
    }


def _human_is_share(result: Mapping[str, Any]) -> bool:
    """Whether people's figure for a unit is the share that passes; else it is the mean of their values, which is taken
    of numbers on an ordered scale of more than two (judges.reports.evidence)."""
    criterion, values = result["criterion"], [row["value"] for row in result["prevalence"]]
    has_mean = criterion["scale"] in ("ordinal", "interval") and all(isinstance(value, int | float) for value in values)
    return bool(criterion["passes"]) and not has_mean
