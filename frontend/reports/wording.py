"""Remarks (alignment.base.remark) and trust verdicts in words, and plots with their words: in the reader's language."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from html import escape, unescape
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from frontend.reports.plot_words import MARK, PLOT_WORDS
from frontend.reports.words import WORDS

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
