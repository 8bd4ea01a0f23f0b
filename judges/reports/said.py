"""What frozen reports say, in the reader's language.

The alignment module writes its sentences into reports in English, once; here are those that are always the same, and in
said_patterns those with figures in them, so that catalogues have them. Tests hold the lists against what writes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import get_language, gettext_noop
from django.utils.translation import gettext as _

from judges.reports.said_patterns import SENTENCES, in_words_of, plot_in_words_of_reader

REASONS = (
    gettext_noop("the scale has no levels"),
    gettext_noop("the levels have no order"),
    gettext_noop("the levels are not numbers"),
    gettext_noop("some values are negative: they have no ratio"),
    gettext_noop("only one category was used"),
    gettext_noop("only one value was used"),
    gettext_noop("fewer than 2 common units"),
    gettext_noop("no unit has two ratings"),
    gettext_noop("no units"),
    gettext_noop("no unit is positive by people"),
    gettext_noop("no unit is negative by people"),
    gettext_noop("nothing varies between clusters: no interval"),
    gettext_noop("nobody else labelled these units"),
    gettext_noop("the others never had a majority"),
    gettext_noop("no unlabelled units"),
)
VERDICTS = (
    gettext_noop("at the human ceiling"),
    gettext_noop("useful once calibrated"),
    gettext_noop("below the ceiling"),
    gettext_noop("not enough labels"),
    gettext_noop("no signal"),
)
CONSEQUENCES = (
    gettext_noop(
        "One may say that on this criterion, for samples like these, the judge agrees with people about as well as "
        "they agree with each other, and let it take the place of one of several people."
    ),
    gettext_noop(
        "One may use its calibrated verdicts beside people's, correct shares of passes for its errors, and let it "
        "decide alone inside a certified region."
    ),
    gettext_noop("One may use its scores to choose what people look at first."),
    gettext_noop("One may say that it was tried, and how many labels are missing."),
    gettext_noop("One may say that its scores tell passes from fails hardly better than a coin."),
    gettext_noop(
        "It does not say that the judge is right where people agree on a mistake, nor anything of other criteria, "
        "other samples, or a changed judge."
    ),
    gettext_noop(
        "It does not say that the judge is as good as a person, nor anything of its scores as they stand, of other "
        "samples, or of a changed judge."
    ),
    gettext_noop("It does not allow its verdicts to stand for people's, nor shares of passes taken from them."),
    gettext_noop("It does not say that the judge is good, nor that it is bad."),
    gettext_noop("It does not allow any use on this criterion, calibrated or not; it says nothing of other criteria."),
)


def said(text: str | None) -> str:
    """The sentence in the reader's language; in English where no catalogue has it."""
    if not text or _is_written_in_it():
        return text or ""
    return in_words_of(text, SENTENCES) if (same := _(text)) == text else same


def said_plot(svg: str) -> str:
    """A plot with its words in the reader's language."""
    return svg if _is_written_in_it() else plot_in_words_of_reader(svg)


def _is_written_in_it() -> bool:
    return (get_language() or "en").startswith("en")


def more_samples(trust: Mapping[str, Any]) -> str:
    """How many samples a trust verdict lacks; "" if it lacks none, or nobody can say."""
    return "" if trust["more"] is None else _("about %(n)s more samples") % {"n": f"{trust['more']:,}"}
