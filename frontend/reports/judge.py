"""One judge of a frozen report, as its pages show it: its figures, what share of all units passes, and triage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from annotate.core.blindness import Reader
from annotate.core.text_tables import figure, number
from annotate.core.units import unit_title
from annotate.models import Criterion
from frontend.reports.beside import beside_context
from frontend.reports.card import card_context
from frontend.reports.evidence import evidence_context, told
from frontend.reports.in_words import decision_in_words, in_words, plot_in_words, where_alone
from frontend.reports.shown import Links, from_to, percent, shown, shown_share, worded
from judges.certificates.decision_read import PERMITTING, Looked, Ruling, Standing, standing_of
from judges.certificates.triage_read import left_to_people
from judges.models import AlignmentReport


def population_context(found: Mapping[str, Any]) -> dict[str, Any]:
    """The `population` of `judges/judge_population.html` from a judge of a report's result."""
    return {**_population(found), "versions": [_population(one) for one in found.get("versions", ())]}


def _population(found: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **worded(found, shown_share),
        "weight": figure(found["weight"], 2),
        "narrower": _narrower(found["classical"], found["tuned"]),
    }


def _narrower(classical: Mapping[str, Any], tuned: Mapping[str, Any]) -> str:
    """By how much of its width the judge narrows the interval; empty where it doesn't, or there is none."""
    if classical["low"] is None or tuned["low"] is None:
        return ""
    share = 1 - (tuned["high"] - tuned["low"]) / (classical["high"] - classical["low"])
    return percent(share) if share >= 0.001 else ""


# Rows of the table beside a sweep plot.
_SWEEP_ROWS = 20
# Whether people pass it, and whether the judge does.
_OUTCOMES = {
    (False, True): gettext_noop("false pass"),
    (True, False): gettext_noop("false fail"),
    (True, True): gettext_noop("both pass"),
    (False, False): gettext_noop("both fail"),
}
# Where the two differ.
_MISTAKES = ((False, True), (True, False))
_METHODS = {"platt": gettext_noop("Platt’s curve"), "isotonic": gettext_noop("Isotonic steps")}


def looked_at(criterion: int, row: Mapping[str, Any], looked: Looked) -> Ruling | None:
    """What rules the judge of a report's row, since it was looked at."""
    return looked.get((criterion, row["judge"], row["version"], row["dimension"]))


def judge_summary(
    report: AlignmentReport, place: int, links: Links | None = None, looked: Looked | None = None
) -> dict[str, Any]:
    """One of the `judges` of `reports/report_fragment.html`; `place` is its own among the report's judges, from 0."""
    row = report.result["judges"][place]
    at = row["at_threshold"]
    return {
        "title": row["title"],
        "anchor": f"judge-{place + 1}",
        "url": links.judge(row["judge"], row["dimension"]) if links else f"#judge-{place + 1}",
        "decision": decision_in_words(row["decision"], looked_at(report.criterion_id, row, looked or {})),
        "kappa": shown(row["kappa"]),
        "threshold": number(at["threshold"]),
        "sign": "≥" if row["higher_is_better"] else "≤",
        "rates": {name: shown(at[name]) for name in ("tpr", "tnr", "f1", "precision", "accuracy", "ac1")},
        "correlations": {name: shown(row[name]) for name in ("roc_auc", "spearman", "kendall", "pearson")},
        "coverage": row["coverage"],
        "best_kappa": figure(row["sweep_best"]["kappa"], 2),
        "best_threshold": number(row["sweep_best"]["threshold"]),
    }


def judge_context(
    report: AlignmentReport, place: int, links: Links | None = None, looked: Looked | None = None
) -> dict[str, Any]:
    """The `judge` of `reports/judge_fragment.html`: what it may do (`card`), and the evidence for and against it. With
    `looked` both are of the test set, for a judge that was looked at."""
    row, plots = report.result["judges"][place], report.plots
    at, ruling = row["at_threshold"], looked_at(report.criterion_id, row, looked or {})
    judge = {
        **judge_summary(report, place, links, looked),
        "card": card_context(report, row, ruling),
        "may_be_used": (ruling.decision if ruling else row["decision"])["verdict"] in PERMITTING
        and not (ruling and ruling.ended),
        "labels": {name: shown(estimate) for name, estimate in (row["labels"] or {}).items()},
        "confusion": at["confusion"],
        "left_out": at["left_out"]
        and {
            "units": at["left_out"]["units"],
            "all": figure(at["left_out"]["all_agree"], 2),
            "none": figure(at["left_out"]["none_agrees"], 2),
        },
        "note": in_words(row["note"]),
        "caveat": in_words(row["caveat"]),
        "learned": in_words(row.get("learned")),
        "roc_auc_caveat": in_words(row["roc_auc_caveat"]),
        "plot": plot_in_words(plots.get(f"sweep-{place + 1}", "")),
        "sweep": _sweep_rows(row["sweep"]) if f"sweep-{place + 1}" in plots else [],
        "dial": _dial(row, f"sweep-{place + 1}", links) if f"sweep-{place + 1}" in plots else None,
        "histogram": _histogram(row["histogram"], plot_in_words(plots.get(f"histogram-{place + 1}", ""))),
        "calibration": _calibration(row, plot_in_words(plots.get(f"reliability-{place + 1}", ""))),
        "grades": _grades(row["grades"]),
        "confidence": _confidence(row.get("confidence"), plot_in_words(plots.get(f"confidence-{place + 1}", ""))),
        "population": population_context(row["population"]),
        "disagreements": [_disagreement(row, at, links) for at in range(len(row["disagreements"]))],
        "held_back": row.get("held_back", 0),
        **beside_context(row, plots, place),
    }
    return {**judge, "evidence": evidence_context(row, judge, ruling)}


def outcome(disagreement: Mapping[str, Any]) -> str:
    """The cell of the confusion matrix that a disagreement stands in; empty where there is none."""
    cell = _OUTCOMES.get((disagreement["passes"], disagreement["judge_passes"]))
    return _(cell) if cell else ""


def _disagreement(judge: Mapping[str, Any], at: int, links: Links | None) -> dict[str, Any]:
    row = judge["disagreements"][at]
    return {
        **row,
        "url": links.disagreement(judge, at) if links else "",
        "unit_title": unit_title(row["unit"], row.get("unit_number")),
        "human": figure(row["human"], 2),
        "verdict": {True: _("pass"), False: _("fail"), None: _("tied")}[row["passes"]],
        "outcome": outcome(row),
        "is_mistake": (row["passes"], row["judge_passes"]) in _MISTAKES,
        "said": number(row["score"]) if row["label"] is None else str(row["label"]),
    }


def _sweep_rows(curve: Mapping[str, Sequence[float | None]]) -> list[list[str]]:
    size = len(curve["thresholds"])
    step = max(1, -(-size // _SWEEP_ROWS))
    return [
        [number(curve["thresholds"][at]), *(figure(curve[name][at], 2) for name in ("kappa", "tpr", "tnr"))]
        for at in range(0, size, step)
    ]


def _dial(row: Mapping[str, Any], name: str, links: Links | None) -> dict[str, Any] | None:
    """The threshold that a page lets one drag: what is shown at the best one, and the same at each stop.

    None where kappa is undefined at every threshold. A file has no script, and so no stops.
    """
    curve = row["sweep"]
    if curve["best"] is None:
        return None
    best, size = curve["thresholds"].index(curve["best"]), len(curve["thresholds"])
    stops = {
        "threshold": [number(value) for value in curve["thresholds"]],
        **{name: [figure(value, 2) for value in curve[name]] for name in ("kappa", "tpr", "tnr")},
        "tp": curve["tp"],
        "fp": curve["fp"],
        "fn": [curve["positives"] - count for count in curve["tp"]],
        "tn": [curve["negatives"] - count for count in curve["fp"]],
    }
    return {
        "name": name,
        "best": best,
        "last": size - 1,
        "stops": size,
        "observed": curve["observed"],
        "skipped": curve["observed"] - size,
        "shown": {key: values[best] for key, values in stops.items()},
        "data": stops if links and size > 1 else None,
        "data_id": f"{name}-data",
    }


def _histogram(histogram: Mapping[str, Any] | None, plot: str) -> dict[str, Any] | None:
    if histogram is None:
        return None
    edges = [number(edge) for edge in histogram["edges"]]
    rows = zip(edges[:-1], edges[1:], histogram["passes"], histogram["fails"], strict=True)
    return {"plot": plot, "rows": list(rows)}


def _calibration(row: Mapping[str, Any], plot: str) -> dict[str, Any] | None:
    """None for a judge that answers with labels, and where there is no pass or fail: nothing is missing there."""
    found = row["calibration"]
    if row["histogram"] is None:
        return None
    if found["reason"] is not None:
        return {"reason": in_words(found["reason"])}
    chosen, constant = found["chosen"], found["constant"]
    # In our own order: the database keeps the keys of JSON in another.
    rows = [_method(_(title), found["methods"][name], name == chosen) for name, title in _METHODS.items()]
    rows.insert(0, _method(_("Threshold"), {"reason": None, "kappa": row["at_threshold"]["kappa"]}, is_chosen=False))
    if found["as_is"] is not None:
        rows.insert(0, _method(_("Scores as they are"), found["as_is"], is_chosen=False))
    return {
        "reason": None,
        "chosen": chosen and _(_METHODS[chosen]),
        "why_none": in_words(found["why_none"]),
        "is_idle": chosen is not None and found["methods"][chosen]["log_loss"]["value"] >= constant["log_loss"],
        "units": found["units"],
        "samples": found["samples"],
        "rows": rows,
        "constant": {
            "share": percent(constant["share"]),
            "brier": figure(constant["brier"], 3),
            "log_loss": figure(constant["log_loss"], 3),
        },
        "plot": plot,
        "points": [_point(point) for point in found["points"]],
    }


def _confidence(found: Mapping[str, Any] | None, plot: str) -> dict[str, Any] | None:
    """None for a judge that has none."""
    if found is None or found["reason"] is not None:
        return None
    calibrated, constant = found["calibrated"], found["constant"]
    given = calibrated["reason"] is None
    return {
        "units": found["units"],
        "samples": found["samples"],
        "without": found["without"],
        "as_is": told(shown(found["as_is"]["brier"], 3)),
        "calibrated": told(shown(calibrated["brier"], 3)) if given else "",
        "why_none": in_words(calibrated["reason"]),
        "is_idle": not given or calibrated["brier"]["value"] >= constant["brier"],
        "constant": {"share": percent(constant["share"]), "brier": figure(constant["brier"], 3)},
        "plot": plot,
        "points": [_point(point) for point in found["as_is"]["points"]],
    }


def _method(title: str, row: Mapping[str, Any], is_chosen: bool) -> dict[str, Any]:
    if row["reason"] is not None:
        return {"title": title, "reason": in_words(row["reason"])}
    others = [shown(row[name], 3) if name in row else None for name in ("brier", "log_loss")]
    return {
        "title": title,
        "reason": None,
        "is_chosen": is_chosen,
        "cells": [shown(row["kappa"]), *others],
        # Without intervals: above 0 by luck alone.
        "ece": figure(row["ece"]["value"], 3) if "ece" in row else "",
        "ece_if_perfect": figure(row["ece_if_perfect"], 3) if "ece_if_perfect" in row else "",
    }


def _point(point: Mapping[str, Any]) -> dict[str, Any]:
    has_interval = point["low"] is not None
    return {
        "range": from_to(percent(point["lowest"]), percent(point["highest"])),
        "predicted": percent(point["predicted"]),
        "observed": percent(point["observed"]),
        "interval": from_to(percent(point["low"]), percent(point["high"])) if has_interval else "",
        "n": point["n"],
    }


def _grades(grades: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Each level with the scores that reach it."""
    if grades is None or grades["reason"] is not None:
        return None if grades is None else {**grades, "reason": in_words(grades["reason"])}
    sign, below = ("≥", "<") if grades["higher_is_better"] else ("≤", ">")
    first = f"{below} {number(grades['cuts'][0])}"
    scores = [first, *(_("none") if cut is None else f"{sign} {number(cut)}" for cut in grades["cuts"])]
    rows = [{"level": level, "score": score} for level, score in zip(grades["levels"], scores, strict=True)]
    return {"reason": None, "kappa": shown(grades["kappa"]), "rows": rows}


def triage_context(report: AlignmentReport, place: int, links: Links, *, reader: Reader) -> dict[str, Any]:
    """The curve as it was frozen; what the judge may do, and what is left to people, as they are now."""
    row = report.result["judges"][place]
    triage, held = row["triage"], standing_of_row(report.criterion, row)
    look = None if held.certificate is None or held.decision is None else held.certificate.look
    curve = triage["curve"]["risk"]
    return {
        "title": row["title"],
        "url": links.judge(row["judge"], row["dimension"]),
        "why": in_words(triage["reason"]),
        "plot": plot_in_words(report.plots.get(f"triage-{place + 1}", "")),
        "aurc": shown(triage["aurc"], 3),
        "error": figure(curve[-1], 3) if curve else "",
        "rows": [
            {
                "coverage": percent(one["coverage"]),
                "distance": number(one["distance"]),
                "error": shown_share(one["error"]),
            }
            for one in triage["rows"]
        ],
        "certificate": held.certificate,
        "ended": None if held.ended is None else held.ended[1],
        "decision": None if held.decision is None else decision_in_words(held.decision),
        "look": look,
        "region": None if look is None else _region(look.result["region"], row["higher_is_better"]),
        "left": None if look is None else left_to_people(look, reader=reader),
    }


def standing_of_row(criterion: Criterion, row: Mapping[str, Any]) -> Standing:
    """What the judge of a report's row may do now."""
    return standing_of(
        project=criterion.project, criterion_key=criterion.key, judge_name=row["judge"], dimension=row["dimension"]
    )


def _region(region: Mapping[str, Any], higher_is_better: bool) -> dict[str, Any]:
    reason = region["reason"]
    tried = [
        {"distance": number(step["distance"]), "errors": [_error(step["false_passes"]), _error(step["false_fails"])]}
        for step in region["tried"]
    ]
    if region["distance"] is None:
        # The page says before it that there is no region.
        return {"reason": in_words(reason["why"] if reason["code"] == "no_region" else reason), "tried": tried}
    threshold, distance = region["threshold"], region["distance"]
    return {
        "tried": tried,
        "where": where_alone(region, higher_is_better),
        "risk": f"{100 * region['risk']:g}%",
        "confidence": f"{100 * region['confidence']:.3g}%",
        "distance": number(distance),
        "threshold": number(threshold),
        "false_passes": _error(region["false_passes"]),
        "false_fails": _error(region["false_fails"]),
        "inside": shown_share(region["inside"]),
    }


def _error(bound: Mapping[str, Any]) -> dict[str, Any]:
    """The share of one kind of error in a region, and what it is at most."""
    found = shown_share(bound)
    return {"found": found.text, "high": percent(bound["high"]), "groups": found.clusters}
