"""Remarks (alignment.base.estimate) and trust verdicts in words, and plots with their words: in the reader's language.

The words of plots: on axes, in legends, beside marks, and in the descriptions for those who can't see them.

What else stands in a plot is a name or a figure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from html import escape, unescape
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from frontend.reports.words import WORDS, Words

#: Stands before and after a remark in a plot, as JSON. It is invisible, and has no width where plots are laid out.
MARK = "\u2063"

PLOT_WORDS: dict[str, Words] = {
    "undefined": Words(gettext_noop("undefined")),
    "people_with_each_other": Words(gettext_noop("people with each other")),
    "kappa_with_interval": Words(gettext_noop("Cohen’s kappa, with 95 % interval")),
    "kappa_difference_with_interval": Words(
        gettext_noop("kappa of the second less kappa of the first, with 95 % interval")
    ),
    "threshold": Words(gettext_noop("threshold")),
    "kappa": Words(gettext_noop("kappa")),
    "chosen_on_dev": Words(gettext_noop("chosen on dev: %(threshold)s")),
    "score": Words(gettext_noop("score")),
    "units": Words(gettext_noop("units")),
    "people": Words(gettext_noop("people")),
    "pass": Words(gettext_noop("pass")),
    "fail": Words(gettext_noop("fail")),
    "probability_given": Words(gettext_noop("probability given")),
    "share_that_people_pass": Words(gettext_noop("share that people pass")),
    "share_of_decisions": Words(gettext_noop("share of decisions kept, the surest first")),
    "of_them_wrong": Words(gettext_noop("of them wrong")),
    "all_weeks": Words(gettext_noop("all weeks")),
    "each_week": Words(gettext_noop("each week")),
    "percent_wrong": Words(gettext_noop("% wrong")),
    "worse_than_rest": Words(gettext_noop("worse than the rest")),
    "kappa_less_rest": Words(gettext_noop("kappa less that of the rest")),
    "labelled_samples": Words(gettext_noop("labelled samples, dev and test together; the dot is now")),
    "half_width_of_kappa": Words(gettext_noop("half-width of kappa (±)")),
    # Titles.
    "forest_of_judges": Words(gettext_noop("Kappa of each judge")),
    "forest_of_differences": Words(gettext_noop("Differences in kappa")),
    "sweep_of": Words(gettext_noop("Threshold sweep of %(judge)s")),
    "scores_of": Words(gettext_noop("Scores of %(judge)s")),
    "reliability_of": Words(gettext_noop("Reliability of %(judge)s")),
    "risk_of": Words(gettext_noop("Risk against coverage of %(judge)s")),
    "parts_of": Words(gettext_noop("Kappa of %(judge)s on parts of the data, less that on the rest")),
    "weeks_of": Words(gettext_noop("Share of wrong decisions of %(judge)s, week by week")),
    "widths": Words(gettext_noop("Width of kappa's interval against labelled samples")),
    # Descriptions. Figures come as they are written.
    "more_judges": Words(gettext_noop("%(n)s more judges are in the table only.")),
    "more_pairs": Words(gettext_noop("%(n)s more pairs are in the table only.")),
    "more_parts": Words(gettext_noop("%(n)s more parts are in the table only.")),
    "width_of_people": Words(
        gettext_noop("People with each other: ±%(now)s now, ±%(then)s with %(more)s more samples.")
    ),
    "width_of_judge": Words(gettext_noop("%(judge)s: ±%(now)s now, ±%(then)s with %(more)s more samples.")),
    "kappa_of_people": Words(gettext_noop("People with each other: %(kappa)s.")),
    "part_worse": Words(gettext_noop("%(part)s, worse than the rest.")),
    "sweep_undefined": Words(gettext_noop("Kappa is undefined at every threshold of the dev part.")),
    "sweep_best": Words(gettext_noop("On the dev part kappa is highest, %(kappa)s, at threshold %(threshold)s.")),
    "scores_spread": Words(
        gettext_noop(
            "Scores from %(low)s to %(high)s of %(passes)s units that people pass, most often %(where)s, and of "
            "%(fails)s that they fail, most often %(there)s."
        )
    ),
    "between": Words(gettext_noop("between %(low)s and %(high)s")),
    "nowhere": Words(gettext_noop("nowhere")),
    "reliability_groups": Words(
        gettext_noop(
            "%(n)s groups of units by the probability that was given to them. In %(held)s of the %(drawn)s with an "
            "interval, the interval of the share that people pass holds that probability."
        )
    ),
    "surest_wrong": Words(gettext_noop("Of the surest %(share)s of decisions %(wrong)s are wrong.")),
    "week_wrong": Words(gettext_noop("%(week)s: %(share)s wrong of %(n)s units.")),
    "weeks_wrong": Words(gettext_noop("All weeks: %(share)s.")),
}


_ALL_WORDS = {**WORDS, **PLOT_WORDS}
# Of each trust verdict what it is called, what it allows and what it doesn't.
_VERDICTS = {
    "at_ceiling": (
        gettext_noop("at the human ceiling"),
        gettext_noop(
            "One may say that on this criterion, for samples like these, the judge agrees with people about as well as "
            "they agree with each other, and let it take the place of one of several people."
        ),
        gettext_noop(
            "It does not say that the judge is right where people agree on a mistake, nor anything of other criteria, "
            "other samples, or a changed judge."
        ),
    ),
    "useful_once_calibrated": (
        gettext_noop("useful once calibrated"),
        gettext_noop(
            "One may use its calibrated verdicts beside people's, correct shares of passes for its errors, and let it "
            "decide alone inside a certified region."
        ),
        gettext_noop(
            "It does not say that the judge is as good as a person, nor anything of its scores as they stand, of other "
            "samples, or of a changed judge."
        ),
    ),
    "below_ceiling": (
        gettext_noop("below the ceiling"),
        gettext_noop("One may use its scores to choose what people look at first."),
        gettext_noop("It does not allow its verdicts to stand for people's, nor shares of passes taken from them."),
    ),
    "not_enough_labels": (
        gettext_noop("not enough labels"),
        gettext_noop("One may say that it was tried, and how many labels are missing."),
        gettext_noop("It does not say that the judge is good, nor that it is bad."),
    ),
    "no_signal": (
        gettext_noop("no signal"),
        gettext_noop("One may say that its scores tell passes from fails hardly better than a coin."),
        gettext_noop(
            "It does not allow any use on this criterion, calibrated or not; it says nothing of other criteria."
        ),
    ),
}
_MARKED = re.compile(f"{MARK}([^{MARK}]*){MARK}")


def in_words(remark: Mapping[str, Any] | None) -> str:
    """The remark as a sentence, or as the part of one that it is; "" for None."""
    if remark is None:
        return ""
    words = _ALL_WORDS[remark["code"]]
    given = {name: _spelt(value, words.spelling.get(name)) for name, value in remark.items() if name != "code"}
    # A sentence without places has no doubled percent signs either.
    return _(words.text) % given if given else _(words.text)


def _spelt(value: Any, spelling: Callable[[Any], str] | None) -> str:
    if isinstance(value, Mapping):
        return in_words(value)
    return str(value) if spelling is None else spelling(value)


def trust_in_words(trust: Mapping[str, Any]) -> dict[str, Any]:
    """The `trust` of templates, from that of a report or a look. `missing`: how many samples it lacks; "" if it lacks
    none, or that is not known."""
    verdict, allows, forbids = (_(text) for text in _VERDICTS[trust["verdict"]])
    more = trust["more"]
    return {
        "code": trust["verdict"],
        "verdict": verdict,
        "missing": "" if more is None else _("about %(n)s more samples") % {"n": f"{more:,}"},
        "reason": in_words(trust["reason"]),
        "allows": allows,
        "forbids": forbids,
        "part": trust["part"],
    }


def plot_in_words(svg: str) -> str:
    """A plot with the words that its marks stand for (frontend.reports.plots.svg)."""
    return _MARKED.sub(lambda found: escape(in_words(json.loads(unescape(found[1]))), quote=False), svg)
