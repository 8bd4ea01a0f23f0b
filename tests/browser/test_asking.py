"""An annotator asks while labelling and never leaves the keyboard; a reviewer answers; the annotator reads it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from annotate.models import Task, Thread, ThreadMessage
from annotate.tasks.threads import ask, write
from tests.browser.conftest import Desk, wait_for_next_task
from tests.browser.test_deciding import open_workspace, press, task_of

if TYPE_CHECKING:
    from playwright.sync_api import Page, Request

    from tests.processes import LiveApp

NewPage = Callable[..., "Page"]
WORDS = "Does <b>nine</b> mean a.m.?"


def in_hand(page: Page) -> str:
    return str(page.evaluate("document.activeElement.id"))


def test_asked_by_keyboard_answered_and_read(desk: Desk, live_app: LiveApp, new_page: NewPage) -> None:
    page = open_workspace(new_page(desk.ana), live_app)
    first = task_of(page)
    press(page, "q")
    assert in_hand(page) == "ask-text"
    page.keyboard.type(WORDS)
    press(page, "Control+Enter")
    page.wait_for_selector("#ask-threads article")
    assert "Waiting for an answer" in page.inner_text("#ask-threads")
    assert WORDS in page.inner_text("#ask-threads"), "as text"
    press(page, "Escape")
    assert page.locator("#ask-panel").is_hidden()
    thread = Thread.objects.get()
    assert (thread.task_id, thread.unit, thread.criterion.key) == (int(first), "claim:0", "support")  # type: ignore[union-attr]
    # Back to work at once.
    press(page, "1", "1", "Enter")
    wait_for_next_task(page, first)
    assert page.locator("#ask-threads article").count() == 0, "the next task has none"

    reviewer = new_page(desk.remy)
    reviewer.goto(f"{live_app.url}/")
    reviewer.get_by_role("link", name="Answer questions").click()
    card = reviewer.locator("article")
    assert WORDS in card.inner_text()
    assert "It opens at nine." in card.inner_text(), "the unit's text"
    assert "Question 0?" in card.inner_text(), "the sample's question"
    assert "ana" not in reviewer.inner_text("main").split()
    card.get_by_label("Your answer").fill("Yes, in the morning.")
    card.get_by_role("button", name="Send answer").click()
    reviewer.get_by_text("No questions to answer").wait_for()

    page.goto(f"{live_app.url}/")
    assert "1 question of yours was answered" in page.inner_text("main")
    page.get_by_role("link", name="Notices: 2 new").click()
    page.get_by_role("link", name="Your question was answered").click()
    assert "Yes, in the morning." in page.inner_text("article")
    page.goto(f"{live_app.url}/notices/")
    page.get_by_role("button", name="Mark all as read").click()
    page.get_by_role("link", name="Notices", exact=True).wait_for()
    page.goto(f"{live_app.url}/")
    page.get_by_role("link", name="See answers").click()
    assert "Yes, in the morning." in page.inner_text("article")
    assert "remy" not in page.content()
    page.get_by_role("button", name="Mark as read").click()
    page.wait_for_selector("text=Marked as read.")
    assert page.get_by_role("button", name="Mark as read").count() == 0
    page.goto(f"{live_app.url}/")
    assert "was answered" not in page.inner_text("main")


def test_the_answer_is_read_at_the_task_without_a_request_for_it(
    desk: Desk, live_app: LiveApp, new_page: NewPage
) -> None:
    task = Task.objects.filter(annotator=desk.ana).order_by("position")[0]
    thread = ask(
        actor=desk.ana, task_id=task.pk, unit="claim:0", criterion="support", text=WORDS, idempotency_key=uuid4()
    )
    answer = {"project": desk.project, "thread_id": thread.pk, "text": "Yes.", "idempotency_key": uuid4()}
    write(actor=desk.remy, **answer)
    page = new_page(desk.ana)
    sent: list[str] = []

    def note(request: Request) -> None:
        if "/api/" in request.url:
            sent.append(f"{request.method} {request.url.partition('/api/')[2]}")

    page.on("request", note)
    open_workspace(page, live_app)
    assert page.inner_text("#ask-words") == "New answers: 1"
    page.wait_for_selector("#hint:not([hidden])")
    assert sent == []
    with page.expect_response("**/read/"):
        press(page, "q")
    assert "Yes." in page.inner_text("#ask-threads")
    assert sent == [f"POST projects/desk/threads/{thread.pk}/read/"]
    page.wait_for_function("document.getElementById('ask-words').textContent === 'Ask…'")
    thread.refresh_from_db()
    assert not thread.is_new
    # The next words are a reply, unless one chooses otherwise.
    page.keyboard.type("Thank you.")
    press(page, "Control+Enter")
    page.wait_for_selector("#ask-threads .ask-message:nth-of-type(4)")
    assert thread.messages.count() == 3


def test_what_is_written_and_not_sent_is_not_left_behind(desk: Desk, live_app: LiveApp, new_page: NewPage) -> None:
    page = open_workspace(new_page(desk.ana), live_app)
    task = task_of(page)
    press(page, "q")
    page.keyboard.type("Half a question")
    press(page, "Escape", "1", "1", "Enter")
    assert in_hand(page) == "ask-text"
    assert "Send or clear your question first." in page.inner_text("#ask-form")
    assert task_of(page) == task
    page.fill("#ask-text", "")
    press(page, "Escape", "Enter")
    wait_for_next_task(page, task)
    assert not Thread.objects.exists()


def test_a_lost_reply_writes_one_message(desk: Desk, live_app: LiveApp, new_page: NewPage) -> None:
    page = open_workspace(new_page(desk.ana), live_app)
    press(page, "q")
    page.keyboard.type(WORDS)

    def lose(route: object) -> None:
        route.fetch()  # type: ignore[attr-defined]
        route.abort()  # type: ignore[attr-defined]

    page.route("**/threads/", lose)
    press(page, "Control+Enter")
    page.wait_for_selector("#ask-error:not([hidden])")
    assert page.input_value("#ask-text") == WORDS
    page.unroute("**/threads/")
    press(page, "Control+Enter")
    page.wait_for_selector("#ask-threads article")
    assert ThreadMessage.objects.count() == 1


@pytest.mark.parametrize("answered", [True, False])
def test_beside_the_unit_that_is_decided(desk: Desk, live_app: LiveApp, new_page: NewPage, *, answered: bool) -> None:
    from tests.annotate.factories import finish

    tasks = desk.batch.tasks.select_related("annotator", "sample", "batch").order_by("sample_id")
    mine = tasks.filter(annotator=desk.ana)[0]
    ask(actor=desk.ana, task_id=mine.pk, unit="claim:0", criterion="support", text=WORDS, idempotency_key=uuid4())
    finish(mine, support="supported")
    finish(tasks.filter(annotator=desk.ben)[0], support="contradicted")
    page = new_page(desk.remy)
    page.goto(f"{live_app.url}/p/desk/adjudicate/")
    page.locator("main a[href*='/adjudicate/']", has_text="Start adjudicating").click()
    page.locator("#questions summary").click()
    here = page.url
    article = page.locator("#questions article")
    assert WORDS in article.inner_text()
    if answered:
        article.get_by_label("Your answer").fill("Yes.")
        article.get_by_role("button", name="Send answer").click()
    else:
        article.get_by_role("button", name="Close question").click()
    page.wait_for_selector(".messages")
    assert page.url.partition("?")[0] == here.partition("?")[0]
    assert Thread.objects.get().state == ("answered" if answered else "closed")
