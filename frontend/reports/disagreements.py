"""From one disagreement of a judge with people to the next, sample by sample."""

from __future__ import annotations

from dataclasses import dataclass

from annotate.models import Sample
from annotate.projects.read import current_criteria
from frontend.base.pages import ProjectPage
from frontend.reports.judge import outcome
from frontend.reports.parts import disagreement_url, judge_url
from judges.reports.read import report_state

MOST_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Walk:
    """Which disagreement of how many a page shows, from 1, and the addresses beside it; empty where there is none."""

    judge: str
    judge_url: str
    at: int
    count: int
    outcome: str
    previous: str
    next: str


def walk(page: ProjectPage, sample: Sample) -> Walk | None:
    """The way through the disagreements that the address names, in the report that the judge's page shows.

    None when it names none, or one that is no longer there: reports are made anew.
    """
    asked = page.request.GET
    number, key = asked.get("disagreement", ""), asked.get("criterion", "")
    if not page.may("reports.read") or not (number.isdecimal() and len(number) <= MOST_DIGITS):
        return None
    criterion = current_criteria(page.project).filter(key=key).first()
    report = None if criterion is None else report_state(criterion).report
    judges = [] if report is None else report.result["judges"]
    name, measures = asked.get("judge"), asked.get("measures")
    judge = next((row for row in judges if (row["judge"], row["dimension"]) == (name, measures)), None)
    if judge is None:
        return None
    rows, place = judge["disagreements"], int(number) - 1
    if not 0 <= place < len(rows) or rows[place]["sample"] != sample.pk:
        return None
    return Walk(
        judge=judge["title"],
        judge_url=judge_url(page, key, judge["judge"], judge["dimension"]),
        at=place + 1,
        count=len(rows),
        outcome=outcome(rows[place]),
        previous=disagreement_url(page, key, judge, place - 1) if place else "",
        next=disagreement_url(page, key, judge, place + 1) if place + 1 < len(rows) else "",
    )
