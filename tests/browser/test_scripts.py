"""No script that stands in a text runs, and none changes a page: every page of the URL configuration in a real browser,
as everybody who may open it, when every text of the database holds scripts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from annotate.models import Project
from judges.reports.write import freeze_report
from tests.browser.scripts import found_in, plant, some, texts
from tests.browser.test_accessibility import PAGES, settled, world
from tests.pages import pages_of
from tests.scripts import HOST, TEXTS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page, Request

    from tests.processes import LiveApp

__all__ = ["world"]

pytestmark = pytest.mark.django_db

VISITS = [(who, path) for names, path in PAGES for who in names.split(" ")]
# Reports and experiments as files.
FILES = ["/p/demo/reports/support/{report}.html", "/p/stages/systems/experiments/shipping.html"]
# Fields that have no script here. Numbers, keys, and texts of which a script would leave no code that is known:
WITHOUT = """
    Alignment.candidates Alignment.result Alignment.units Rule.sources
    AuditSchedule.problem Batch.selection CascadeLook.result CascadeLook.samples Criterion.passes Experiment.order
    ExperimentDraw.groups ExperimentRule.guards ExperimentRule.metrics FrozenSet.manifest GoldAnswer.value
    GuidelineImage.name Identity.roles ImportJob.errors ImportJob.mapping ImportJob.options ImportJob.result Job.asked
    Look.samples MetricBands.metrics PairDraw.groups ProposedValues.proposed Release.filters Response.ranking
    Run.scope Run.terms SystemVersion.price Target.headers User.preferences Verdict.decided_votes
"""
# What no row of the world has:
WITHOUT += """
    AuditSchedule.conditions ClaimEdit.change ClaimEdit.claims ComposedSample.documents DeclaredDraw.column
    DiagnosisMapping.questions Job.error_message Label.cant_tell Label.evidence LabelEvent.evidence
    QuestionRevision.relevant Relevance.document_id RelevanceDecision.document_id Sample.answer_b
"""


@pytest.fixture(scope="module")
def planted(world: dict[str, Any]) -> dict[str, Any]:
    fields = plant()
    # Its plots are drawn of what now stands there.
    report = freeze_report(criterion=Project.objects.get(slug="demo").criteria.get(key="support", is_current=True))
    return {**world, "fields": fields, "report": report.number}


@pytest.fixture(scope="module")
def page(planted: dict[str, Any], browser: Browser, standing_app: LiveApp) -> Iterator[Page]:
    with pages_of(browser, standing_app) as make:
        yield make()


def test_there_are_enough() -> None:
    assert len(set(TEXTS)) == len(TEXTS) >= 100


def test_every_text_of_the_database_has_some(planted: dict[str, Any]) -> None:
    """A new field of a model gets them by itself; one without a row in the world above fails here."""
    assert texts().keys() - planted["fields"] == set(WITHOUT.split())


def test_no_page_runs_one(page: Page, planted: dict[str, Any]) -> None:
    with watched(page) as found:
        for who, path in VISITS:
            page.context.clear_cookies()
            if who:
                page.context.add_cookies([planted["cookies"][who]])
            reply = page.goto(address_of(path, planted))
            assert reply is not None
            assert reply.status < 500, f"{who} {path}"
            settled(page)
            look(page, found)
    assert not found, "\n".join(found)


def address_of(path: str, planted: dict[str, Any]) -> str:
    address = path.format(**planted)
    for judge in ("claim-checker", "token-overlap"):
        address = address.replace(judge, quote(some(judge, 200)))
    return address


@contextmanager
def watched(page: Page) -> Iterator[list[str]]:
    """What a page asked of a person or of another host, and what is added meanwhile."""
    found: list[str] = []

    def asks(request: Request) -> None:
        if HOST in request.url:
            found.append(f"{page.url}: {request.url}")

    def says(dialog: Dialog) -> None:
        found.append(f"{page.url}: {dialog.message}")
        dialog.dismiss()

    page.on("request", asks)
    page.on("dialog", says)
    yield found
    page.remove_listener("request", asks)
    page.remove_listener("dialog", says)


def look(page: Page, found: list[str]) -> None:
    """Folded parts too, whose pictures would be asked for only now."""
    page.evaluate("for (const folded of document.querySelectorAll('details')) folded.open = true")
    found += found_in(page)


@pytest.mark.parametrize("path", FILES)
def test_no_file_runs_one(page: Page, planted: dict[str, Any], tmp_path: Path, path: str) -> None:
    page.context.add_cookies([planted["cookies"]["alma"]])
    reply = page.request.get(address_of(path, planted))
    assert reply.status == 200
    text = reply.text()
    assert "planted" in text, "none of them is in it, so this shows nothing"
    file = tmp_path / "report.html"
    file.write_text(text, encoding="utf-8")
    with watched(page) as found:
        page.goto(file.as_uri())
        look(page, found)
    assert not found, "\n".join(found)


@pytest.fixture
def unwatched(browser: Browser) -> Iterator[Page]:
    """A page in which things go wrong, and nothing leads away from it."""
    with browser.new_context() as context:
        context.route(f"**//{HOST}/**", lambda route: route.abort())
        yield context.new_page()


def test_a_file_with_one_is_found(page: Page, unwatched: Page, planted: dict[str, Any], tmp_path: Path) -> None:
    """Its own policy lets no script run; what is added to the page is seen nevertheless."""
    page.context.add_cookies([planted["cookies"]["alma"]])
    file = tmp_path / "report.html"
    file.write_text(unescape(page.request.get(address_of(FILES[0], planted)).text()), encoding="utf-8")
    with watched(unwatched) as found:
        unwatched.goto(file.as_uri())
        look(unwatched, found)
    assert any(": added: <" in one for one in found)


def test_those_that_are_markup_are_found(unwatched: Page) -> None:
    """Each of them by itself, where it is not written as text. The others do harm in attributes, in scripts and as
    Markdown only."""
    seen = []
    for text in TEXTS:
        unwatched.goto("about:blank")
        with watched(unwatched) as found:
            unwatched.set_content(f"<title>x</title><p>{text}", wait_until="commit")
            look(unwatched, found)
        seen.append(found)
    assert sum(bool(found) for found in seen) >= 90
    assert sum(any("a script ran" in one for one in found) for found in seen) >= 10
