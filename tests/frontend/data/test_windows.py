"""Pages of the lists of samples and units follow each other from row to row."""

from __future__ import annotations

import re
from itertools import chain
from typing import Any

import pytest
from django.test import Client

from annotate.core import walking
from annotate.models import Project, Sample, User
from frontend.data import lists
from tests.clients import as_user
from tests.frontend.building import make_samples

SAMPLES, UNITS = "/p/help/samples/", "/p/help/units/"


@pytest.fixture
def names(rita: User, project: Project, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Of five samples, in the order of import, on pages of two; with two pipelines, so that many sort alike."""
    monkeypatch.setattr(lists, "PAGE_SIZE", 2)
    names = [sample.external_id for sample in make_samples(project, 5)]
    for number, name in enumerate(names):
        Sample.objects.filter(external_id=name).update(pipeline_version=f"v{number % 2}")
    return names


class Shown:
    """The rows of a page, and where its links lead to; "" where there is none."""

    def __init__(self, client: Client, url: str) -> None:
        reply = client.get(url)
        rows, text = reply.context["rows"], reply.content.decode()
        self.rows = [f"{row.sample.external_id} {getattr(row, 'unit', '')}".strip() for row in rows]
        links = {rel: query.replace("&amp;", "&") for rel, query in re.findall(r'rel="(\w+)" href="\?([^"]*)"', text)}
        self.to = {rel: f"{url.partition('?')[0]}?{query}" for rel, query in links.items()}


def walked(client: Client, url: str, rel: str = "next") -> list[Shown]:
    pages = [Shown(client, url)]
    while rel in pages[-1].to:
        assert len(pages) < 50
        pages.append(Shown(client, pages[-1].to[rel]))
    return pages


def rows_of(pages: list[Shown]) -> list[str]:
    return list(chain.from_iterable(page.rows for page in pages))


@pytest.mark.parametrize("url", [*(f"{SAMPLES}?sort={sort}" for sort in ("", "-added", "-id", "-pipeline")), UNITS])
def test_each_row_once_and_back_again(rita: User, names: list[str], url: str) -> None:
    client = as_user(rita)
    forth = walked(client, url)
    rows = rows_of(forth)
    assert len(rows) == len(set(rows))
    assert {row.split()[0] for row in rows} == set(names)
    back = walked(client, forth[-2].to["next"], "prev")
    assert [page.rows for page in back] == [page.rows for page in forth[::-1]]


def test_rows_that_come_and_go_move_no_other(rita: User, names: list[str]) -> None:
    client = as_user(rita)
    second = Shown(client, SAMPLES).to["next"]
    third = Shown(client, second).to["next"]
    new = Sample.objects.get(external_id=names[4])
    Sample.objects.filter(external_id=names[0]).delete()
    new.pk, new.external_id = None, "new"
    new.save()
    page = Shown(client, second)
    assert page.rows == names[2:4]
    # Less than a page is left before it: the first page, in full.
    assert Shown(client, page.to["prev"]).rows == names[1:3]
    # All after it have gone: what is left is the last page.
    Sample.objects.filter(external_id__in=(names[4], "new")).delete()
    assert Shown(client, third).rows == names[2:4]


def test_what_names_no_row_is_the_first_page(rita: User, names: list[str]) -> None:
    other = Sample.objects.get(external_id=names[4])
    other.project = Project.objects.create(slug="other", name="Other")
    other.save()
    client = as_user(rita)
    for url in (SAMPLES, UNITS):
        first = Shown(client, url)
        for asked in (f"after={other.pk}", f"before={'9' * 30}", "after=1.x.y", "before=%00", "after=٣"):
            page = Shown(client, f"{url}?{asked}")
            assert (page.rows, page.to) == (first.rows, first.to)


@pytest.mark.parametrize("url", [f"{SAMPLES}?q={{name}}", f"{SAMPLES}?status=unlabelled", f"{UNITS}?q={{name}}"])
def test_looked_through_part_by_part_it_is_the_same(
    rita: User, names: list[str], url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, url = as_user(rita), url.format(name=names[4])
    at_once, counted = rows_of(walked(client, url)), client.get(url).context["counted"]
    assert at_once
    assert counted.is_all
    monkeypatch.setattr(walking, "STRETCH", 2)
    monkeypatch.setattr(walking, "SECONDS", 60)
    assert rows_of(walked(client, url)) == at_once
    assert client.get(url).context["counted"] == counted
    # With no time each page looks through one part.
    monkeypatch.setattr(walking, "SECONDS", -1)
    assert rows_of(walked(client, url)) == at_once
    reply = client.get(url)
    assert not reply.context["counted"].is_all
    assert ("No matches so far" in reply.content.decode()) == ("q=" in url)


def test_a_search_for_an_id_leads_to_its_sample_at_once(rita: User, names: list[str]) -> None:
    sample = Sample.objects.get(external_id=names[4])
    page = as_user(rita).get(f"{SAMPLES}?q={names[4]}").content.decode()
    assert f'<a href="{SAMPLES}{sample.pk}/">Open sample <bdi>{names[4]}</bdi></a>' in page


def test_counts_up_to_a_limit(rita: User, names: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walking, "MOST_COUNTED", 3)
    assert "At least 3 samples" in as_user(rita).get(SAMPLES).content.decode()


def test_a_large_project_offers_the_orders_that_an_index_has(
    rita: User, names: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And says so; an address of before opens the list as it was imported."""
    client = as_user(rita)
    small = {url: client.get(f"{url}?sort=-agreement") for url in (SAMPLES, UNITS)}
    monkeypatch.setattr(walking, "MOST_SORTED", len(names))
    assert offered(client.get(SAMPLES)) == offered(small[SAMPLES]), "not more samples than that"
    monkeypatch.setattr(walking, "MOST_SORTED", len(names) - 1)
    for url, left in ((SAMPLES, {"id", "pipeline"}), (UNITS, set())):
        large = client.get(f"{url}?sort=-agreement")
        assert {"agreement", "-agreement"} & offered(small[url])
        assert "With more than" not in small[url].content.decode()
        assert offered(large) == left
        assert "With more than 4 samples" in large.content.decode()
        assert Shown(client, f"{url}?sort=-agreement").rows == Shown(client, url).rows
    assert rows_of(walked(client, f"{SAMPLES}?sort=id")) == sorted(names)


def offered(reply: Any) -> set[str]:
    return set(re.findall(r'class="sort" href="\?sort=([-\w]+)', reply.content.decode()))
