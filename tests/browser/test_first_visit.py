"""What a browser that was never here loads until the first task can be labelled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.browser.conftest import Desk

if TYPE_CHECKING:
    from playwright.sync_api import Page, Response

    from tests.processes import LiveApp


def test_the_workspace_is_one_page_one_script_and_one_style_sheet(
    desk: Desk, live_app: LiveApp, new_page: Callable[..., Page]
) -> None:
    page = new_page(desk.ana)
    responses: list[Response] = []
    failed: list[str] = []

    def answered(response: Response) -> None:
        responses.append(response)

    page.on("response", answered)
    page.on("requestfailed", lambda request: failed.append(request.url))
    page.on("console", lambda message: failed.append(message.text))
    page.goto(f"{live_app.url}/p/desk/label/")
    page.wait_for_selector("#work:not([hidden])")
    page.wait_for_load_state("networkidle")

    assert failed == []
    assert [response.url for response in responses if response.status != 200] == []
    assert len(responses) <= 12
    kinds = Counter(response.request.resource_type for response in responses)
    assert kinds["document"] == kinds["script"] == kinds["stylesheet"] == 1
    for response in responses:
        if response.request.resource_type in {"script", "stylesheet"}:
            assert response.headers["content-encoding"] == "gzip"
            assert "immutable" in response.headers["cache-control"]
    policy = responses[0].headers["content-security-policy"].split("; ")
    assert {"script-src 'self'", "style-src 'self'"} < set(policy)
