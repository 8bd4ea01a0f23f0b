"""Figures over many rows come in a second request, and are the same as those of a page that has them at once."""

from __future__ import annotations

import re
from html import unescape

import pytest

from annotate.models import Project, User
from frontend.base import pages
from tests.clients import as_user
from tests.frontend.building import make_samples

PARTS = {
    "batches/1/": "batch-figures",
    "export/": "truth-counts",
    "reports/support/labels/": "how-labelled",
}


@pytest.mark.usefixtures("disputes")
@pytest.mark.parametrize("path", PARTS)
def test_the_page_opens_without_them_and_fetches_them(
    path: str, alice: User, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    for version in ("v1", "v2"):
        for sample in make_samples(project, 2):
            sample.question, sample.pipeline_version = "What is open today?", version
            sample.save()
    client, url, part = as_user(alice), f"/p/help/{path}", f'id="{PARTS[path]}"'
    at_once = client.get(url).content.decode()
    assert part in at_once
    assert "Counting." not in at_once
    monkeypatch.setattr(pages, "MANY", 1)
    opened = client.get(url).content.decode()
    assert opened.count(part) == 1
    assert "Counting." in opened
    assert "htmx" in opened
    (asked,) = re.findall(r'hx-get="([^"]+)" hx-trigger="load,', opened)
    assert asked == f"{url}?figures=1"
    assert f'<noscript><p><a href="{asked}">' in opened
    assert _part(client.get(unescape(asked)).content.decode(), part) == _part(at_once, part)


def _part(page: str, part: str) -> str:
    """From the part on, without what is another in each request."""
    return re.sub(r'(csrfmiddlewaretoken" value=")\w+', r"\1", page[page.index(part) :]).split("</main>")[0]
