"""What speaks for a judge and against it, in one list: each figure under a heading that says its result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from annotate.core.text_tables import UNDEFINED
from frontend.base.spelling import metadata_key
from frontend.reports.in_words import in_words
from frontend.reports.shown import Shown, shown, signed
from judges.certificates.decision_read import Ruling

#: Why a figure does not apply, and never will as long as criterion and judge are of their kinds.
NOT_OF_THIS_KIND = {
    "answers_labels", "not_graded", "no_distance", "only_pass_or_fail", "no_numeric_scale", "no_numbers", "no_passes",
    "only_numbers",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """name: of its template (`reports/judge_<name>.html`), and of its place on the page; "" where the result is all
    there is. side: "for" or "against" the judge; "" for neither."""

    name: str
    title: str
    result: str
    side: str = ""

    @property
    def template(self) -> str:
        return f"reports/judge_{self.name}.html"


_TITLES = {
    "confusion": gettext_noop("Pass and fail"),
    "labels": gettext_noop("Agreement on labels"),
    "people": gettext_noop("Human ceiling"),
    "threshold": gettext_noop("Threshold curve"),
    "histogram": gettext_noop("Score distribution"),
    "values": gettext_noop("Without a threshold"),
    "distance": gettext_noop("Bias"),
    "calibration": gettext_noop("Calibration"),
    "confidence": gettext_noop("Confidence"),
    "grades": gettext_noop("Scores as grades"),
    "slices": gettext_noop("Data slices"),
    "weeks": gettext_noop("Week by week"),
    "steadiness": gettext_noop("Repeatability"),
    "noise": gettext_noop("Human error"),
    "population": gettext_noop("Estimated pass rate"),
    "disagreements": gettext_noop("Disagreements"),
}
# The remarks of a decision (alignment.judging.decision) that are the result of a part; the others have no part.
_PART_OF = {
    "kappa_reached": "confusion",
    "kappa_below": "confusion",
    "less_people_reached": "people",
    "less_people_below": "people",
    "calibrated_reached": "calibration",
    "auc_tells": "values",
    "auc_weak": "values",
    "auc_turned": "values",
}
# What they are about, where they stand alone.
_ABOUT = {
    **{code: _TITLES[part] for code, part in _PART_OF.items()},
    "coverage_reached": gettext_noop("Units scored"),
    "coverage_low": gettext_noop("Units scored"),
    "region_missing": gettext_noop("Automatic decisions"),
    "units_open": gettext_noop("Unresolved units"),
    "few_samples": gettext_noop("Number of samples"),
    "few_of_the_rarer": gettext_noop("Number of samples"),
}


def evidence_context(row: Mapping[str, Any], judge: Mapping[str, Any], ruling: Ruling | None) -> dict[str, Any]:
    """The `evidence` of a judge (frontend.reports.judge.judge_context). row: the judge of a report's result. `test`:
    rows of the test set, once it was looked at; `dev`: of the dev set. `missing`: what there is no figure of, and why.
    What does not apply to judges or criteria of this kind is in neither."""
    parts, missing = dict(_parts(row, judge)), []
    for name, reason in _reasons(row).items():
        parts.pop(name, None)
        if reason["code"] not in NOT_OF_THIS_KIND:
            missing.append({"title": _title(name), "why": in_words(reason)})
    found = [(side, one) for side in ("for", "against") for one in row["decision"][side]]
    alone = []
    sides: dict[str, str] = {}
    for side, one in found:
        part = _PART_OF.get(one["code"])
        if part in parts:
            parts[part], sides[part] = in_words(one), side
        else:
            alone.append(_alone(side, one))
    listed = [Row(name, _title(name), parts[name], sides.get(name, "")) for name in _TITLES if name in parts]
    listed.sort(key=lambda one: not one.side)
    if ruling is None:
        return {"test": [], "dev": [*alone, *listed], "missing": missing}
    test = [_alone(side, one) for side in ("for", "against") for one in ruling.decision[side]]
    return {"test": test, "dev": listed, "missing": missing}


def _title(name: str) -> str:
    title = _TITLES[name]
    return _(title)


def _alone(side: str, one: Mapping[str, Any]) -> Row:
    about = _ABOUT[one["code"]]
    return Row("", _(about), in_words(one), side)


def _reasons(row: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Why there is nothing to show of a part."""
    people, calibration, grades, areas = (row[name] for name in ("people", "calibration", "grades", "values"))
    areas = areas["pr_auc"]
    found = {
        "people": people["difference"]["reason"] if people["difference"]["value"] is None else None,
        "values": areas["passes"]["reason"] if areas["share"] is None else None,
        "distance": row["values"]["distance"]["reason"],
        "calibration": calibration["reason"],
        "confidence": row["confidence"]["reason"] if "confidence" in row else None,
        "grades": None if grades is None else grades["reason"],
        "slices": row["slices"]["reason"],
        "weeks": row["weeks"]["reason"],
        "steadiness": row["steadiness"]["reason"],
        "noise": row["noise"]["reason"],
        "population": row["population"]["reason"] if row["population"]["classical"]["value"] is None else None,
    }
    return {name: reason for name, reason in found.items() if reason is not None}


def _parts(row: Mapping[str, Any], judge: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Each part that a judge's page has, with its result in a sentence."""
    if judge["confusion"]:
        said = _("Kappa %(kappa)s; the same decision on %(accuracy)s of units.")
        at = row["at_threshold"]
        yield "confusion", said % {"kappa": told(shown(at["kappa"])), "accuracy": _percent(at["accuracy"]["value"])}
    if judge["labels"]:
        yield "labels", _("Kappa %(kappa)s on the labels themselves.") % {"kappa": told(judge["labels"]["kappa"])}
    yield "people", _people(row["people"])
    if judge["plot"]:
        given = {"sign": judge["sign"], "threshold": judge["best_threshold"], "kappa": judge["best_kappa"]}
        yield "threshold", _("Kappa is highest, %(kappa)s, at a score of %(sign)s %(threshold)s.") % given
    if judge["histogram"]:
        yield "histogram", _("How it scores what annotators pass, and what they fail.")
    said = _("ROC AUC %(auc)s; 0.50 is guessing.")
    yield "values", said % {"auc": told(judge["correlations"]["roc_auc"])}
    yield "distance", judge["values"]["distance"].get("words") or ""
    if judge["calibration"]:
        yield "calibration", _calibration(judge["calibration"])
    if judge["confidence"]:
        yield "confidence", _confidence(judge["confidence"])
    if judge["grades"]:
        kappa = judge["grades"].get("kappa")
        yield "grades", _("Quadratic kappa %(kappa)s with the levels annotators gave.") % {"kappa": told(kappa)}
    yield "slices", _slices(judge["slices"])
    yield "weeks", _weeks(row["weeks"])
    yield "steadiness", _steady(row["steadiness"])
    yield "noise", _noise(row["noise"])
    yield "population", _population(row["population"])
    if judge["disagreements"] or judge["held_back"]:
        yield "disagreements", _disagreements(judge["disagreements"])


def told(found: Shown | None) -> str:
    if found is None or found.text == UNDEFINED:
        return UNDEFINED
    return f"{found.text} ({found.interval})" if found.interval else found.text


def _percent(share: float | None) -> str:
    return UNDEFINED if share is None else f"{share:.0%}"


def _people(found: Mapping[str, Any]) -> str:
    if found["difference"]["value"] is None:
        return ""
    less = signed(found["difference"])
    if not less.interval:
        return _("Judge − person: %(less)s in kappa; too few labels for an interval.") % {"less": less.text}
    low, high = found["difference"]["low"], found["difference"]["high"]
    given = {"less": told(less)}
    if low <= 0 <= high:
        return _("Judge − person: %(less)s in kappa; no difference is shown.") % given
    return _("Judge − person: %(less)s in kappa.") % given


def _calibration(found: Mapping[str, Any]) -> str:
    if found["reason"] is not None:
        return ""
    if not found["chosen"]:
        return _("No method gives probabilities that can be compared.")
    if found["is_idle"]:
        return _("As probabilities, its scores tell nothing.")
    return _("%(chosen)s gives the best probabilities.") % {"chosen": found["chosen"]}


def _confidence(found: Mapping[str, Any]) -> str:
    if found["is_idle"]:
        return _("It does not tell which decisions agree with annotators.")
    return _("Brier score %(calibrated)s when calibrated; %(constant)s without a confidence.") % {
        "calibrated": found["calibrated"],
        "constant": found["constant"]["brier"],
    }


def _slices(found: Mapping[str, Any]) -> str:
    if found["worse"]:
        rows = ", ".join(f"{metadata_key(row['key'])} {row['value']}" for row in found["worse"])
        return _("Worse than the rest: %(slices)s.") % {"slices": rows}
    if found["tested"]:
        return _("No slice is significantly worse than the rest.")
    return _("Too few labels to compare slices.") if found["too_few"] else _("No slice differs from the rest.")


def _weeks(found: Mapping[str, Any]) -> str:
    if found["reason"] is not None:
        return ""
    n = len(found["weeks"])
    said = ngettext(
        "%(share)s of its decisions are wrong, over %(n)s week.",
        "%(share)s of its decisions are wrong, over %(n)s weeks.",
        n,
    )
    return said % {"n": n, "share": _percent(found["error"]["value"])}


def _steady(found: Mapping[str, Any]) -> str:
    if found["reason"] is not None:
        return ""
    if found["agreement"]["value"] is None:
        return _("Scored several times.")
    return _("The same result in %(share)s of repeats.") % {"share": _percent(found["agreement"]["value"])}


def _noise(found: Mapping[str, Any]) -> str:
    values = [line["accuracy"]["value"] for line in found["lines"] if line["accuracy"]["value"] is not None]
    given = {"observed": _percent(found["observed"]["value"])}
    if not values:
        return _("It agrees with the majority on %(observed)s of units.") % given
    given["most"] = _percent(max(values))
    return _("It agrees with the majority on %(observed)s of units; up to %(most)s may be right.") % given


def _population(found: Mapping[str, Any]) -> str:
    share = found["classical"]["value"]
    return "" if share is None else _("%(share)s, by labels alone.") % {"share": _percent(share)}


def _disagreements(rows: list[dict[str, Any]]) -> str:
    passes, fails = (sum((row["passes"], row["judge_passes"]) == kind for row in rows) for kind in _MISTAKES)
    if passes + fails:
        said = ngettext("%(n)s unit to read", "%(n)s units to read", len(rows)) % {"n": len(rows)}
        return _("%(units)s: %(passes)s false passes, %(fails)s false fails.") % {
            "units": said,
            "passes": passes,
            "fails": fails,
        }
    return ngettext("%(n)s unit to read.", "%(n)s units to read.", len(rows)) % {"n": len(rows)}


# By whether people pass it, and whether the judge does: a false pass, a false fail.
_MISTAKES = ((False, True), (True, False))
