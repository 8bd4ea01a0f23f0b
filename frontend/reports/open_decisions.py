"""Whether more labels could change what a judge may do: the planner's first sentence.

By the one rule (alignment.judging.decision): where the interval of the declared figure lies clear of the minimum, no
narrower one around the same figure decides otherwise. Where the minimum lies in it, or there is none yet, labels settle
it.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotate.core.text_tables import figure
from frontend.reports.first_screen import FirstScreen, JudgeInShort

# Closer to the minimum than two digits tell.
_SMALLEST = 0.01
# Decided with an interval on one side of the minimum.
_CLEAR = ("alone_in_region", "with_a_person", "not_for_use")
# What is missing there is scores, not labels.
_UNSCORED = "coverage_low"


@dataclass(frozen=True)
class OpenDecisions:
    """said: which judge's decision is open, and what would settle it; "" where there is no judge. judge: the title of
    the one whose decision labels would settle; None where they settle none."""

    said: str
    judge: str | None = None


def open_decisions(screen: FirstScreen) -> OpenDecisions:
    judges = [one for one in screen.judges if not one.ended]
    undecided = [one for one in judges if one.said["verdict"] not in _CLEAR]
    waiting = [one for one in undecided if one.said["reason"]["code"] != _UNSCORED]
    if waiting:
        others = len(waiting) - 1
        more = ngettext("%(n)s more judge is open.", "%(n)s more judges are open.", others) % {"n": others}
        return OpenDecisions(" ".join([*_open(waiting[0]), *([more] if others else [])]), waiting[0].title)
    if undecided:
        given = {"judge": undecided[0].title, "reason": undecided[0].decision["reason"]}
        return OpenDecisions(_("Labels settle no decision now. %(judge)s: %(reason)s") % given)
    if not judges:
        return OpenDecisions("")
    said = [_("A smaller margin alone changes no decision: every judge’s interval is already clear of its minimum.")]
    regions = [one.title for one in judges if _lacks_region(one)]
    if regions:
        said.append(_("It may still certify a score range for %(judge)s.") % {"judge": regions[0]})
    return OpenDecisions(" ".join(said))


def _open(judge: JudgeInShort) -> list[str]:
    """In order: that it is open and why, the margin, the labels."""
    reason = judge.said["reason"]
    told = reason.get("kappa", reason.get("less"))
    said = [_("Open: %(judge)s. %(reason)s") % {"judge": judge.title, "reason": judge.decision["reason"]}]
    if told is not None and "low" in told:
        away = abs(told["value"] - reason["bar"])
        if away >= _SMALLEST:
            given = {"value": figure(told["value"], 2), "width": figure(away, 2)}
            said.append(_("Should it stay at %(value)s, a margin below ±%(width)s settles it.") % given)
    if judge.decision["missing"]:
        said.append(_("%(why)s.") % {"why": capfirst(judge.decision["missing"])})
    return said


def _lacks_region(judge: JudgeInShort) -> bool:
    """Evaluated on test, allowed with a person, and alone nowhere: more labels there may be enough for a range."""
    against = {one["code"] for one in judge.said["against"]}
    return judge.ruling is not None and judge.said["verdict"] == "with_a_person" and "region_missing" in against
