"""What to do next, by what the first screen of a report says: at most three links, each to the page that does it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any
from urllib.parse import urlencode

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from frontend.base.pages import ProjectPage
from frontend.reports.first_screen import FirstScreen, JudgeInShort
from frontend.reports.parts import judge_url
from frontend.reports.remark_words import hours_in_words
from judges.reports.next_samples import FEWEST_SAMPLES, MOST_SAMPLES

_MOST = 3
# Why no decision can be made: nobody knows how the labelled samples were chosen.
_UNKNOWN_CHANCES = ("no_known_chance", "none_drawn_on_test")


@dataclass(frozen=True, slots=True)
class Step:
    text: str
    url: str


def report_steps(page: ProjectPage, key: str, result: Mapping[str, Any], screen: FirstScreen) -> list[Step]:
    """Only what the reader may do. key: of the criterion; result: the report's."""
    return list(islice(_steps(page, key, result, screen), _MOST))


def _steps(page: ProjectPage, key: str, result: Mapping[str, Any], screen: FirstScreen) -> Iterator[Step]:
    if not result["agreement"]["ratings"]:
        if page.may("batches.change"):
            yield Step(_("Create a batch to label"), page.url("batch-new"))
        if page.may("import.read"):
            yield Step(_("Import labels"), page.url("import"))
        return
    if screen.alone is not None:
        yield from _of_alone(page, key, screen.alone)
    if screen.best is not None:
        yield from _of_best(page, key, screen.best)
    elif not screen.judges and page.may("import.read"):
        yield Step(_("Import judge scores"), page.url("import"))
    if not screen.judges and page.may("judges.read"):
        yield Step(_("Run a judge"), page.url("judges"))
    unsettled = result["reference"]["unsettled"]
    if unsettled["single"]:
        n = unsettled["single"]
        said = ngettext("Review %(n)s unit with one label", "Review %(n)s units with one label each", n) % {"n": n}
        yield Step(said, f"{page.url('adjudicate')}?{urlencode({'state': 'single', 'criterion': key})}")
    if unsettled["open"]:
        yield Step(_("Adjudicate disputed units"), f"{page.url('adjudicate')}?{urlencode({'criterion': key})}")


def _of_alone(page: ProjectPage, key: str, alone: JudgeInShort) -> Iterator[Step]:
    judge = alone.row["judge"], alone.row["dimension"]
    given = {"judge": alone.title, "share": alone.alone}
    if alone.holds:
        yield Step(
            _("Let %(judge)s decide its %(share)s of units") % given, judge_url(page, key, *judge, "report-triage")
        )
    elif alone.ended:
        yield Step(_("See why the certificate of %(judge)s has ended") % given, f"{judge_url(page, key, *judge)}#looks")
    elif page.may("certificates.issue"):
        yield Step(_("Certify the test evaluation of %(judge)s") % given, f"{judge_url(page, key, *judge)}#looks")


def _of_best(page: ProjectPage, key: str, best: JudgeInShort) -> Iterator[Step]:
    judge, given = (best.row["judge"], best.row["dimension"]), {"judge": best.title}
    verdict, more = best.said["verdict"], best.said["more"]
    if verdict == "with_a_person" and best.ruling is None and page.may("test.look"):
        asked = urlencode({"judge": judge[0], "measures": judge[1]})
        yield Step(_("Evaluate %(judge)s on the test set") % given, f"{page.url('report-look', key)}?{asked}")
    if more is not None:
        n = min(max(more, FEWEST_SAMPLES), MOST_SAMPLES)
        asked = urlencode({"n": n, "about": json.dumps(judge)})
        yield Step(_label_more(n, best.said["hours"]), f"{page.url('report-planner', key)}?{asked}")
    why = best.said["reason"].get("why")
    if isinstance(why, Mapping) and why["code"] in _UNKNOWN_CHANCES:
        yield Step(_("State how the labelled samples were chosen"), page.url("report-labels", key))
    if best.row["disagreements"]:
        yield Step(
            _("See where %(judge)s and annotators disagree") % given,
            f"{judge_url(page, key, *judge)}#judge-{best.row['place']}-disagreements",
        )


def _label_more(n: int, hours: float | None) -> str:
    said = ngettext("Label about %(n)s more sample", "Label about %(n)s more samples", n) % {"n": f"{n:,}"}
    return said if hours is None else _("%(step)s (%(time)s)") % {"step": said, "time": hours_in_words(hours)}
