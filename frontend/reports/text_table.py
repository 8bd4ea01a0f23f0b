"""The judges of a criterion as a table of text: `align`, and what `make run` prints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import alignment
from annotate.core.text_tables import figure, interval, markdown_table, number, text_table
from frontend.reports.in_words import in_words

_HEAD = ["judge", "kappa [95% interval]", "n", "clusters", "threshold", "TPR", "TNR", "ROC AUC", "Spearman"]
CROSS_FITTED = (
    "On the dev half of the samples, each fifth of it by the threshold that is best on the other four. The test half "
    "stays closed until somebody looks (manage.py look)."
)
_HEAD += ["failed", "missing"]


def judge_table(found: Mapping[str, Any], *, markdown: bool = False) -> str:
    """The reference in a sentence, a row per judge, and why anything that is missing is."""
    reference = found["reference"]
    head = (
        f"{found['criterion']} version {found['version']}: {in_words(reference['method'])}; {reference['units']} units"
    )
    if reference["reason"] is None:
        head += f", {reference['positives']} pass, {reference['ties']} ties left out"
    else:
        head += f"; no pass or fail, because {in_words(reference['reason'])}"
    head += _unsettled(reference)
    if not found["judges"]:
        return f"{head}\n\nNo judge has scores for this criterion."
    table = markdown_table if markdown else text_table
    titled = list(zip(alignment.report.judge_titles(found["judges"]), found["judges"], strict=True))
    parts = [head, table(_HEAD, [_row(title, row) for title, row in titled])]
    if any(row["at_threshold"]["threshold"] is not None for row in found["judges"]):
        parts.append(CROSS_FITTED)
    parts += [sentence for title, row in titled if (sentence := _what_is_missing(title, row["at_threshold"]))]
    return "\n\n".join(parts)


def _unsettled(reference: Mapping[str, Any]) -> str:
    found = reference["unsettled"]
    parts = (
        (found["single"], "of one label that no reviewer approved"),
        (found["elsewhere"], "of one label made elsewhere (manage.py settle --needed 1 says that it is enough)"),
        (found["open"], "disputed or still being labelled"),
    )
    said = "; ".join(f"{count} {what}" for count, what in parts if count)
    if not said:
        return ""
    return f".\nNot settled and {'left out' if reference['settled_only'] else 'counted all the same'}: {said}"


def _what_is_missing(title: str, at_threshold: Mapping[str, Any]) -> str | None:
    kappa = at_threshold["kappa"]
    if kappa["value"] is not None and kappa["low"] is not None:
        return None
    what = "kappa" if kappa["value"] is None else "interval"
    return f"{title}: no {what}, because {in_words(at_threshold['reason'] or kappa['reason'])}."


def _row(title: str, row: Mapping[str, Any]) -> list[object]:
    at, coverage = row["at_threshold"], row["coverage"]
    return [
        title,
        interval(at["kappa"]),
        at["kappa"]["n"],
        at["kappa"]["clusters"],
        number(at["threshold"]),
        figure(at["tpr"]["value"], 2),
        figure(at["tnr"]["value"], 2),
        figure(row["roc_auc"]["value"]),
        figure(row["spearman"]["value"]),
        coverage["failed"],
        coverage["missing"],
    ]
