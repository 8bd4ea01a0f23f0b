"""Remarks (alignment.base.estimate), decisions and plots in words, in the reader's language."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import date
from html import escape, unescape
from typing import Any

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from annotate.core.text_tables import figure, number
from frontend.reports.remark_words import SPELLINGS, WORDS
from judges.certificates.decision_read import Ruling, labels_missing, verdict_named

#: Stands before and after a remark in a plot, as JSON. It is invisible, and has no width where plots are laid out.
MARK = "\u2063"

# On axes, in legends, beside marks, and in the descriptions for those who can't see them. What else stands in a plot is
# a name or a figure.
PLOT_WORDS = {
    "undefined": gettext_noop("undefined"),
    "people_with_each_other": gettext_noop("between annotators"),
    "kappa_difference_with_interval": gettext_noop("difference in kappa, with 95% interval"),
    "threshold": gettext_noop("threshold"),
    "kappa": gettext_noop("kappa"),
    "chosen_on_dev": gettext_noop("chosen on dev: %(threshold)s"),
    "score": gettext_noop("score"),
    "units": gettext_noop("units"),
    "people": gettext_noop("annotators"),
    "pass": gettext_noop("pass"),
    "fail": gettext_noop("fail"),
    "probability_given": gettext_noop("probability given"),
    "share_that_people_pass": gettext_noop("share that annotators pass"),
    "confidence_given": gettext_noop("the judge’s confidence"),
    "share_that_agrees": gettext_noop("share that agrees with annotators"),
    "share_of_decisions": gettext_noop("share of decisions kept, most confident first"),
    "of_them_wrong": gettext_noop("of them wrong"),
    "all_weeks": gettext_noop("all weeks"),
    "each_week": gettext_noop("each week"),
    "percent_wrong": gettext_noop("% wrong"),
    "worse_than_rest": gettext_noop("worse than the rest"),
    "kappa_less_rest": gettext_noop("difference in kappa from the rest"),
    "labelled_samples": gettext_noop("labelled samples, dev and test; dot: now"),
    "half_width_of_kappa": gettext_noop("margin of error of kappa (±)"),
    # Titles.
    "forest_of_differences": gettext_noop("Differences in kappa"),
    "sweep_of": gettext_noop("Threshold sweep of %(judge)s"),
    "scores_of": gettext_noop("Scores of %(judge)s"),
    "reliability_of": gettext_noop("Reliability of %(judge)s"),
    "confidence_of": gettext_noop("Reliability of the confidence of %(judge)s"),
    "risk_of": gettext_noop("Risk against coverage of %(judge)s"),
    "parts_of": gettext_noop("Kappa of %(judge)s by data slice: difference from the rest"),
    "weeks_of": gettext_noop("Share of wrong decisions of %(judge)s, by week"),
    "widths": gettext_noop("Margin of error of kappa by labelled samples"),
    # Descriptions. Figures come as they are written.
    "more_judges": gettext_noop("%(n)s more judges are in the table only."),
    "more_pairs": gettext_noop("%(n)s more pairs are in the table only."),
    "more_parts": gettext_noop("%(n)s more slices are in the table only."),
    "width_of_people": gettext_noop("Between annotators: ±%(now)s now, ±%(then)s with %(more)s more samples."),
    "width_of_judge": gettext_noop("%(judge)s: ±%(now)s now, ±%(then)s with %(more)s more samples."),
    "part_worse": gettext_noop("%(part)s, worse than the rest."),
    "sweep_undefined": gettext_noop("Kappa is undefined at every threshold of the dev set."),
    "sweep_best": gettext_noop("On the dev set kappa is highest, %(kappa)s, at threshold %(threshold)s."),
    "scores_spread": gettext_noop(
        "Scores from %(low)s to %(high)s of %(passes)s units that annotators pass, most often %(where)s, and of "
        "%(fails)s that they fail, most often %(there)s."
    ),
    "between": gettext_noop("between %(low)s and %(high)s"),
    "nowhere": gettext_noop("nowhere"),
    "reliability_groups": gettext_noop(
        "%(n)s groups of units by predicted probability. In %(held)s of the %(drawn)s with an interval, the "
        "interval of the share that annotators pass contains it."
    ),
    "confidence_groups": gettext_noop(
        "%(n)s groups of units by confidence. In %(held)s of the %(drawn)s with an interval, the interval of the share "
        "on which the judge agrees with annotators contains it."
    ),
    "surest_wrong": gettext_noop("Of the most confident %(share)s of decisions, %(wrong)s are wrong."),
    "week_wrong": gettext_noop("%(week)s: %(share)s wrong of %(n)s units."),
    "weeks_wrong": gettext_noop("All weeks: %(share)s."),
}


_ALL_WORDS = {**WORDS, **PLOT_WORDS}
# What each verdict (alignment.judging.decision) allows, as a chip and as a sentence; by the look that "ended" a
# certificate, nothing.
_CHIPS = {
    "alone_in_region": gettext_noop("Decides alone in a score range"),
    "with_a_person": gettext_noop("Together with a person"),
    "not_for_use": gettext_noop("Not for use"),
    "cannot_tell": gettext_noop("Not proven yet"),
    "ended": gettext_noop("Certificate ended"),
}
_MEANINGS = {
    "alone_in_region": gettext_noop(
        "It may decide alone in its certified score range. A person decides the rest, with its verdict beside them."
    ),
    "with_a_person": gettext_noop("A person may decide with its verdict beside them. It may decide nothing alone."),
    "not_for_use": gettext_noop("Don’t use it on this criterion: neither its verdicts nor shares taken from them."),
    "cannot_tell": gettext_noop("Don’t use it yet: too little is known of how well it agrees with annotators."),
    "ended": gettext_noop("Don’t use it now: its certificate has ended."),
}
# Why, in a few words: by the code of the decision's reason, and by why a certificate has ended.
_SHORT = {
    "endpoint_kappa_unknown": gettext_noop("agreement unknown"),
    "endpoint_less_people_unknown": gettext_noop("agreement unknown"),
    "endpoint_of_few": gettext_noop("too few samples"),
    "endpoint_of_few_alike": gettext_noop("too few samples"),
    "coverage_low": gettext_noop("too few units scored"),
    "kappa_below": gettext_noop("below the minimum of %(bar)s"),
    "less_people_below": gettext_noop("below the minimum of %(bar)s"),
    "endpoint_kappa_open": gettext_noop("may be below %(bar)s"),
    "endpoint_less_people_open": gettext_noop("may be below %(bar)s"),
    "kappa_reached": gettext_noop("no score range certain enough"),
    "less_people_reached": gettext_noop("no score range certain enough"),
    "criterion_changed": gettext_noop("the criterion changed"),
    "judge_changed": gettext_noop("the judge changed"),
    "out_of_date": gettext_noop("evaluate it again"),
    "looked_since": gettext_noop("evaluated again since"),
    "labels_undeclared": gettext_noop("how labels came is withdrawn"),
    "drift": gettext_noop("errs more often than certified"),
    "drift_or_streak": gettext_noop("may err more often than certified"),
    "audits_unscored": gettext_noop("too few audited units scored"),
}
_MARKED = re.compile(f"{MARK}([^{MARK}]*){MARK}")


# By how labelled samples came (alignment.report.DrawnBy).
_DRAWN_BY = {
    "all": gettext_noop("%(n)s: all samples, in batch %(batch)s, made by %(by)s on %(day)s"),
    "random": gettext_noop("%(n)s: drawn at random for batch %(batch)s by %(by)s on %(day)s"),
    "planned": gettext_noop("%(n)s: drawn with known chances for batch %(batch)s by %(by)s on %(day)s"),
    "before": gettext_noop("%(n)s: labelled before batch %(batch)s was drawn; they stand for themselves"),
    "declared_all": gettext_noop("%(n)s: all samples, declared by %(by)s on %(day)s"),
    "declared_random": gettext_noop("%(n)s: drawn at random, declared by %(by)s on %(day)s"),
    "declared_column": gettext_noop("%(n)s: drawn with the chances in their metadata, declared by %(by)s on %(day)s"),
}


def drawn_by_in_words(row: Mapping[str, Any]) -> str:
    """Whence the chances of labelled samples are known: a DrawnBy as a dict."""
    day = date_format(date.fromisoformat(row["day"]), "DATE_FORMAT")
    by = row["by"] or _("an admin, on the command line,")
    said = {"n": f"{row['samples']:,}", "batch": row["batch"], "by": by, "day": day}
    sentence = _DRAWN_BY[row["how"]]
    return _(sentence) % said


def in_words(remark: Mapping[str, Any] | None) -> str:
    """The remark as a sentence, or as the part of one that it is; "" for None."""
    if remark is None:
        return ""
    text, spelling = _ALL_WORDS[remark["code"]], SPELLINGS.get(remark["code"], {})
    given = {name: _spelt(value, spelling.get(name, str)) for name, value in remark.items() if name != "code"}
    # A sentence without places has no doubled percent signs either.
    return _(text) % given if given else _(text)


def _spelt(value: Any, spelling: Callable[[Any], str]) -> str:
    return in_words(value) if isinstance(value, Mapping) else spelling(value)


def decision_in_words(decision: Mapping[str, Any], looked: Ruling | None = None) -> dict[str, Any]:
    """The `decision` of `reports/verdict.html` and `reports/decision.html`, from that of a report or a look
    (alignment.judging.decision). looked: what rules a report's judge since it was looked at; what the report says of it
    is then evidence. `short`: why not alone, in a few words. `missing`: how many labels settle it; "" where none do, or
    that is not known. `look`, `certificate`: the numbers of those it comes from, None for none.
    `is_provisional`: it is of the dev set."""
    ruled = decision if looked is None else looked.decision
    ended = None if looked is None else looked.ended
    code = "ended" if ended else ruled["verdict"]
    chip, meaning = _CHIPS[code], _MEANINGS[code]
    return {
        "code": code,
        "chip": _(chip),
        "verdict": in_words(verdict_named(ruled)),
        "meaning": _(meaning),
        "missing": in_words(labels_missing(ruled)),
        "reason": ended or in_words(ruled["reason"]),
        "short": _in_short(ruled, None if looked is None else looked.ended_code),
        "supports": [in_words(one) for one in ruled["for"]],
        "opposes": [in_words(one) for one in ruled["against"]],
        "part": ruled["part"],
        "is_provisional": ruled["part"] == "dev",
        "look": None if looked is None else looked.look,
        "certificate": None if looked is None else looked.certificate,
    }


def _in_short(decision: Mapping[str, Any], ended: str | None) -> str:
    """Why a judge may not decide alone; "" where it may."""
    reason = decision["reason"]
    code = ended or reason["code"]
    if code not in _SHORT:
        return ""
    if decision["verdict"] == "with_a_person" and decision["part"] == "dev":
        return _("test pending")
    said = _SHORT[code]
    return _(said) % {"bar": figure(reason["bar"], 2)} if "bar" in reason else _(said)


def where_alone(region: Mapping[str, Any], higher_is_better: bool) -> str:
    """Which scores pass and which fail without a person, in the region of a look."""
    if region["distance"] == 0:
        return _("It decides every score.")
    low, high = region["threshold"] - region["distance"], region["threshold"] + region["distance"]
    upper = _("%(score)s or more") % {"score": number(high)}
    lower = _("%(score)s or less") % {"score": number(low)}
    passes, fails = (upper, lower) if higher_is_better else (lower, upper)
    return _("It passes scores of %(passes)s and fails those of %(fails)s.") % {"passes": passes, "fails": fails}


def plot_in_words(svg: str) -> str:
    """A plot with the words that its marks stand for (frontend.reports.plots.svg)."""
    return _MARKED.sub(lambda found: escape(in_words(json.loads(unescape(found[1]))), quote=False), svg)
