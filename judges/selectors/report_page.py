"""A frozen report as its template shows it: every figure already a text, every list a list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from judges.models import AlignmentReport
from judges.selectors.judge_page import judge_summary
from judges.selectors.matrix_table import matrix_context
from judges.selectors.per_sample import per_sample_context
from judges.selectors.planner_page import drawn_context, planning_context
from judges.selectors.said import said_plot
from judges.selectors.shown import Links, percent, shown

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


def report_context(report: AlignmentReport, links: Links | None = None) -> dict[str, Any]:
    """The context of `judges/report_fragment.html`."""
    result = report.result
    return {
        **frame_context(report),
        "people": shown(result["people"]),
        "judges": [judge_summary(report, place, links) for place in range(len(result["judges"]))],
        "uses_dev": any(row["at_threshold"]["confusion"] is not None for row in result["judges"]),
        "forest": said_plot(report.plots.get("forest", "")),
        "statistics": [(_(title), shown(result["agreement"]["estimates"][name])) for name, title in STATISTICS],
        "prevalence": [{**row, "percent": percent(row["share"])} for row in result["prevalence"]],
        "matrix": matrix_context(result["matrix"]),
        "planning": planning_context(report),
        "drawn": drawn_context(report),
        "per_sample": per_sample_context(result["per_sample"]),
    }


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
    of numbers on an ordered scale of more than two (judges.selectors.reference)."""
    criterion, values = result["criterion"], [row["value"] for row in result["prevalence"]]
    has_mean = criterion["scale"] in ("ordinal", "interval") and all(isinstance(value, int | float) for value in values)
    return bool(criterion["passes"]) and not has_mean
