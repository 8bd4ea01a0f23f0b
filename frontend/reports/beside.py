"""What a judge is worth beside people, over parts of the data and over time, as its page shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from annotate.core.text_tables import UNDEFINED, figure, number
from frontend.reports.in_words import in_words, plot_in_words
from frontend.reports.shown import from_to, shown, shown_share, spelt, worded

BASES = {
    "pass or fail": gettext_noop("Labels are read as pass or fail; the judge with its decisions on the dev set."),
    "labels": gettext_noop(
        "This criterion has no pass or fail, so the labels themselves are compared, on all samples."
    ),
}


def beside_context(row: Mapping[str, Any], plots: Mapping[str, str], place: int) -> dict[str, Any]:
    """The sections of `judges/judge_beside.html` from a judge of a report's result; `place` is its own, from 0."""
    people, steadiness = row["people"], row["steadiness"]
    basis = BASES[people["basis"]]
    return {
        "people": {
            **worded(people),
            "basis": _(basis),
            "has_ties": any(one["ties"] for one in people["annotators"]),
            "test": None if people["test"] is None else _test(people["test"], people["annotators"]),
        },
        "values": _values(row["values"], row["roc_auc"]),
        "slices": {**_slices(row["slices"]), "plot": plot_in_words(plots.get(f"slices-{place + 1}", ""))},
        "weeks": {
            **worded(row["weeks"], shown_share),
            "plot": plot_in_words(plots.get(f"weeks-{place + 1}", "")),
        },
        "steadiness": {
            **worded(steadiness, shown_share),
            "moved": steadiness["moved"] and spelt(steadiness["moved"], _points),
            "scores": _ends(steadiness["scores"]),
        },
        "noise": worded(row["noise"], shown_share),
    }


def _test(test: Mapping[str, Any], annotators: list[dict[str, Any]]) -> dict[str, Any]:
    tested = [{"name": one["name"], **one["test"]} for one in annotators if one["test"]["n"]]
    shares = any(one["samples"] < one["n"] for one in tested)
    omega, other = test["winning_rate_clustered"], test["winning_rate"]
    return {
        **worded(test),
        "epsilon": figure(test["epsilon"], 1),
        "points": f"{100 * test['epsilon']:.0f}",
        "won": None if omega["value"] is None else round(omega["value"] * test["tested"]),
        "passes": test["passes_clustered"],
        "omega": figure(omega["value"], 2),
        # The paper's own test takes units for independent; where samples have one unit each, the two are the same.
        "by_units": {"omega": figure(other["value"], 2), "passes": test["passes"]} if shares else None,
        "rows": [
            {
                **worded(one),
                "p": _p(one["p_clustered"]),
                "won": {True: _("yes"), False: _("no"), None: ""}[one["won_clustered"]],
            }
            for one in tested
        ],
    }


def _values(found: Mapping[str, Any], roc_auc: Mapping[str, Any]) -> dict[str, Any]:
    area, distance = found["pr_auc"], found["distance"]
    share = area["share"]
    rows = [
        ("ROC AUC", shown(roc_auc), figure(0.5, 2)),
        (_("PR AUC, finding what passes"), shown(area["passes"]), figure(share, 2)),
        (_("PR AUC, finding what fails"), shown(area["fails"]), figure(None if share is None else 1 - share, 2)),
    ]
    return {
        "areas": rows,
        "why": "" if share is not None else in_words(area["passes"]["reason"]),
        "distance": {
            **worded(distance),
            "ends": _ends(distance["ends"]),
            "scale": _ends(distance["scale"]),
            "words": _bias_in_words(distance["bias"]),
            "bands": [
                {
                    "people": number(band["low"])
                    if band["low"] == band["high"]
                    else _ends([band["low"], band["high"]]),
                    "n": band["n"],
                    "judge": figure(band["judge"], 2),
                    "bias": f"{band['bias'] + 0.0:+.2f}",
                }
                for band in distance["bands"]
            ],
        },
    }


def _bias_in_words(bias: Mapping[str, Any]) -> str:
    if bias["value"] is None:
        return ""
    if bias["low"] is None or bias["low"] <= 0 <= bias["high"]:
        return _("No significant difference between the judge’s mean score and that of annotators.")
    words = (
        _("On average the judge scores %(points)s higher than annotators.")
        if bias["value"] > 0
        else _("On average the judge scores %(points)s lower than annotators.")
    )
    return words % {"points": figure(abs(bias["value"]), 2)}


def _slices(found: Mapping[str, Any]) -> dict[str, Any]:
    rows = [
        {
            **part,
            "value": value_in_words(part["value"]),
            **{name: figure(part[name], 2) for name in ("kappa", "tpr", "tnr")},
            "difference": shown(part["difference"]),
            "words": _slice_in_words(part),
        }
        for part in found["slices"]
    ]
    return {
        **found,
        "reason": in_words(found["reason"]),
        "rows": rows,
        "worse": [row for row in rows if row["worse"]],
        "too_few": all(part["difference"]["value"] is None for part in found["slices"]),
        "skipped": worded(found["skipped"]),
        "more_skipped": found["skipped_in_all"] - len(found["skipped"]),
    }


def value_in_words(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _slice_in_words(part: Mapping[str, Any]) -> str:
    if part["difference"]["value"] is None:
        return _("too few labels to test")
    if part["worse"] is None:
        return _("no difference")
    return _("worse than the rest") if part["worse"] else _("not shown to be worse")


def _p(value: float | None) -> str:
    if value is None:
        return ""
    return "< 0.001" if value < 0.001 else figure(value, 3)


def _ends(pair: list[float] | None) -> str | None:
    return None if pair is None else from_to(*map(number, pair))


def _points(value: float | None) -> str:
    """In points of a scale that may be of any size."""
    return UNDEFINED if value is None else f"{value:.2g}"
