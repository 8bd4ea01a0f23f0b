"""What a report says first, as a page and as a row of the overview: which judge agrees best with people, what may be
decided alone, three figures, and every judge with its picture, best first.

What a judge may do is asked of `decision_in_words`; once it was looked at, its figures are those of that look, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from frontend.reports.annotators import kappa_of_few
from frontend.reports.in_words import decision_in_words, where_alone
from frontend.reports.pictures import Picture, Scale
from frontend.reports.shown import Shown, percent, shown
from judges.certificates.decision_read import Ruling

# More judges are folded, so that the page stays a summary.
MOST_JUDGES = 6
_AGREEMENT = {
    "less_people_reached": gettext_noop(
        "%(judge)s agrees best with annotators (kappa %(kappa)s), about as well as they agree with each other."
    ),
    "less_people_below": gettext_noop(
        "%(judge)s agrees best with annotators (kappa %(kappa)s), but not as well as they agree with each other."
    ),
    # Neither is among the evidence.
    "": gettext_noop(
        "%(judge)s agrees best with annotators (kappa %(kappa)s), but is not proven as good as an annotator."
    ),
}
_BEST = gettext_noop("%(judge)s agrees best with annotators (kappa %(kappa)s).")
# Why no judge may decide alone, by what the best one may do.
_NOTHING = {
    "with_a_person": gettext_noop("May decide alone: nothing. No score range is certain enough."),
    "not_for_use": gettext_noop("May decide alone: nothing. Its agreement is below the declared minimum."),
    "cannot_tell": gettext_noop("May decide alone: nothing yet. Its agreement is not proven high enough."),
    "ended": gettext_noop("May decide alone: nothing now. Its certificate has ended."),
}
_NOT_ON_TEST = gettext_noop("May decide alone: nothing yet. Only an evaluation on the test set can allow it.")


def set_of(ruling: Ruling | None) -> str:
    """On which set a judge's figures are, beside each of them: on dev until it was looked at on test."""
    return _("on dev") if ruling is None else _("on test")


@dataclass(frozen=True, slots=True)
class JudgeInShort:
    """A row of the table of judges. said: the decision that rules it, as it is kept; decision: the same in words;
    ruling: None before the first look at test. row: that of the report."""

    row: Mapping[str, Any]
    ruling: Ruling | None
    said: Mapping[str, Any]
    decision: Mapping[str, Any]
    url: str
    kappa: Shown
    passes: Shown
    fails: Shown
    alone: str
    picture: Picture

    @property
    def title(self) -> str:
        title: str = self.row["title"]
        return title

    @property
    def place(self) -> int:
        """Among the report's judges, from 0."""
        return int(self.row["place"]) - 1

    @property
    def holds(self) -> bool:
        """Whether it may decide alone in its certified score range now."""
        return bool(self.alone) and self.ruling is not None and self.ruling.certificate is not None and not self.ended

    @property
    def ended(self) -> str:
        return (self.ruling and self.ruling.ended) or ""

    @property
    def where(self) -> str:
        """On which set its figures are; "" where it has none."""
        return set_of(self.ruling) if self.kappa.is_known else ""


@dataclass(frozen=True, slots=True)
class Figure:
    """One of the three. note: its interval, or why there is none; where: on which set; few: it is of too few units to
    rely on."""

    title: str
    value: str
    note: str
    where: str = ""
    few: bool = False


@dataclass(frozen=True, slots=True)
class FirstScreen:
    """best: the first judge whose kappa is known. alone: one that may decide alone, or may once an admin certifies it.
    between: how well annotators agree, one of the three figures."""

    judges: Sequence[JudgeInShort]
    best: JudgeInShort | None
    alone: JudgeInShort | None
    sentences: Sequence[str]
    between: Figure
    figures: Sequence[Figure]
    scale: Scale

    @property
    def where(self) -> str:
        """The set that all kappas of judges are of; "" where they are of several, and each row names its own."""
        sets = {one.where for one in self.judges if one.where}
        return sets.pop() if len(sets) == 1 else ""

    @property
    def first(self) -> Sequence[JudgeInShort]:
        return self.judges[:MOST_JUDGES]

    @property
    def rest(self) -> Sequence[JudgeInShort]:
        return self.judges[MOST_JUDGES:]


def first_screen(
    rows: Sequence[Mapping[str, Any]],
    people: Mapping[str, Any],
    matrix: Mapping[str, Any] | None,
    *,
    rulings: Sequence[Ruling | None],
    urls: Sequence[str],
    low: float = 0.0,
) -> FirstScreen:
    """rows: the judges of a report's result, or the parts of them that an overview takes out. people: their mean kappa;
    matrix: asked for what they have in common where that is undefined. rulings, urls: of each row. low: where the
    scale of pictures begins at the latest."""
    kappas = [row["kappa"] if ruling is None else ruling.kappa for row, ruling in zip(rows, rulings, strict=True)]
    scale = Scale.of(kappas, people, low)
    judges = [
        _judge(row, ruling, kappa, url, scale.picture(kappa))
        for row, ruling, kappa, url in zip(rows, rulings, kappas, urls, strict=True)
    ]
    order = sorted(range(len(judges)), key=lambda place: _rank(kappas[place]["value"]))
    judges = [judges[place] for place in order]
    best = next((one for one, place in zip(judges, order, strict=True) if kappas[place]["value"] is not None), None)
    alone = next((one for one in judges if one.holds), None) or next((one for one in judges if one.alone), None)
    among = _among(people, matrix)
    figures = [among] if best is None else [_of_best(best), among, _alone_figure(alone)]
    return FirstScreen(judges, best, alone, _sentences(judges, best, alone), among, figures, scale)


def _rank(kappa: float | None) -> tuple[bool, float]:
    return kappa is None, -(kappa or 0.0)


def _judge(
    row: Mapping[str, Any], ruling: Ruling | None, kappa: Mapping[str, Any], url: str, picture: Picture
) -> JudgeInShort:
    said = row["decision"] if ruling is None else ruling.decision
    at = row.get("at_threshold")
    rates = [None, None] if at is None else [at["tpr"], at["tnr"]]
    if ruling is not None:
        rates = [ruling.tpr, ruling.tnr]
    passes, fails = (Shown("", "", "", 0, 0) if rate is None else shown(rate) for rate in rates)
    alone = percent(said["reason"]["share"]) if said["verdict"] == "alone_in_region" else ""
    decision = decision_in_words(row["decision"], ruling)
    return JudgeInShort(row, ruling, said, decision, url, shown(kappa), passes, fails, alone, picture)


def _sentences(judges: Sequence[JudgeInShort], best: JudgeInShort | None, alone: JudgeInShort | None) -> Sequence[str]:
    if not judges:
        return [_("No judge has scores for this criterion yet.")]
    if best is None:
        return [_("No judge can be compared with annotators yet."), judges[0].decision["reason"]]
    codes = {one["code"] for one in (best.said["reason"], *best.said["for"], *best.said["against"])}
    code = next((code for code in _AGREEMENT if code in codes), "")
    # What may decide alone was proven enough for that; that this is not shown as well speaks against nothing.
    sentence = _BEST if best.holds and not code else _AGREEMENT[code]
    agrees = _(sentence) % {"judge": best.title, "kappa": _with_interval(best.kappa)}
    if alone is not None and alone.holds:
        given = {"judge": alone.title, "share": alone.alone}
        return [_("%(judge)s may decide %(share)s of units alone.") % given, _where(alone), agrees]
    return [agrees, _alone_sentence(alone, best)]


def _alone_sentence(alone: JudgeInShort | None, best: JudgeInShort) -> str:
    if alone is None:
        decision = best.decision
        sentence = _NOTHING[decision["code"]]
        if decision["code"] == "with_a_person" and decision["is_provisional"]:
            sentence = _NOT_ON_TEST
        return _(sentence)
    given = {"judge": alone.title}
    if alone.ended:
        return _("May decide alone: nothing now, as the certificate of %(judge)s has ended.") % given
    return _("May decide alone: nothing until the test evaluation of %(judge)s is certified.") % given


def _where(alone: JudgeInShort) -> str:
    """Which scores a certified judge decides alone, and how often it is wrong there."""
    assert alone.ruling is not None
    region = alone.ruling.region
    wrong = _("There it passes at most %(risk)s of what annotators fail, and fails at most %(risk)s of what they pass.")
    said = [where_alone(region, alone.row["higher_is_better"]), wrong % {"risk": _risk(alone)}]
    return " ".join(said if region["distance"] == 0 else [*said, _("The rest goes to human review.")])


def _alone_figure(alone: JudgeInShort | None) -> Figure:
    title = _("May decide alone")
    if alone is None:
        return Figure(title, _("Nothing yet"), "")
    if not alone.holds:
        return Figure(title, _("Nothing now") if alone.ended else _("Nothing yet"), _("not certified"))
    return Figure(title, alone.alone, _("of units, at most %(risk)s wrong") % {"risk": _risk(alone)})


def _risk(alone: JudgeInShort) -> str:
    """As it was declared, without digits that nobody wrote."""
    return f"{100 * alone.said['reason']['risk']:g}%"


def _of_best(best: JudgeInShort) -> Figure:
    return Figure(_("Best judge with annotators"), best.kappa.text, best.kappa.interval or best.kappa.why, best.where)


def _among(people: Mapping[str, Any], matrix: Mapping[str, Any] | None) -> Figure:
    title, found = _("Between annotators"), shown(people)
    few = kappa_of_few(matrix) if people["value"] is None and matrix is not None else None
    if few is None:
        return Figure(title, found.text, found.interval or found.why)
    said = ngettext("on %(n)s common unit: too few to rely on", "on %(n)s common units: too few to rely on", few.units)
    return Figure(title, few.kappa, said % {"n": few.units}, few=True)


def _with_interval(figure: Shown) -> str:
    return f"{figure.text}, {figure.interval}" if figure.interval else figure.text


def in_a_line(figure: Figure) -> str:
    """As a heading says it: `0.76 (0.71 to 0.81)`."""
    return _("%(value)s (%(note)s)") % {"value": figure.value, "note": figure.note} if figure.note else figure.value
