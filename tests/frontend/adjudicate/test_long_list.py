"""Adjudication where more than 10,000 units are pending: pages follow each other from unit to unit, by sample."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from annotate.models import Project, User, Verdict
from tests.annotate.factories import many_verdicts
from tests.clients import as_user

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.django_db(transaction=True)
LIST = "/p/help/adjudicate/"
SAID = "With more than 10,000 units pending, samples are listed as they were imported."


@pytest.fixture
def many(rita: User, project: Project) -> list[int]:
    """One more than are sorted; as primary keys, in the order of import."""
    many_verdicts(project.criteria.get(key="support"), "claim:0", 20_002)
    return list(Verdict.objects.filter(state="disputed").order_by("sample").values_list("pk", flat=True))


def test_pages_by_sample(rita: User, many: list[int]) -> None:
    client = as_user(rita)
    reply = client.get(f"{LIST}?order=matters")
    assert [row.pk for row in reply.context["rows"]] == many[:50]
    text = reply.content.decode()
    assert SAID in text
    assert 'name="order"' not in text
    (group,) = (group for group, _link in reply.context["groups"] if group.key == "support")
    assert 0 < group.n <= 10_000
    assert not group.is_all
    assert re.search(r"at least [\d,]+</span>", text)
    after = re.search(r'rel="next" href="(\?[^"]*)"', text)
    assert after
    second = client.get(LIST + after[1].replace("&amp;", "&"))
    assert [row.pk for row in second.context["rows"]] == many[50:100]
    assert [row.pk for row in client.get(f"{LIST}?before={many[60]}").context["rows"]] == many[10:60]
    last = client.get(f"{LIST}?after={many[-3]}")
    assert [row.pk for row in last.context["rows"]] == many[-2:]
    # What is narrowed has the same order; what nothing has to be done about never had another.
    assert [row.pk for row in client.get(f"{LIST}?state=disputed").context["rows"]] == many[:50]
    agreed = client.get(f"{LIST}?state=agreed")
    assert SAID not in agreed.content.decode()
    assert 'rel="next"' in agreed.content.decode()


def test_many_are_resolved_part_by_part(rita: User, many: list[int]) -> None:
    client, url = as_user(rita), f"{LIST}accept/"
    votes = [{"rater": name, "value": "supported", "revision": 1, "label": 1} for name in ("ann", "ben")]
    Verdict.objects.filter(pk__in=many[4:9_000]).update(agreement=1, votes=votes)
    asked = {"method": "agreement", "criterion": "", "agreement": 66, "votes": 2}
    page = client.get(url, asked)
    preview, text = page.context["preview"], page.content.decode()
    assert 0 < preview.considered <= 5_000
    assert [one.id for one in preview.proposals] == many[4 : preview.considered]
    assert f"{page.context['n']:,} of {preview.considered:,} units looked at would be resolved" in text
    assert "With so many disputed units" in text
    further = re.search(r'href="(\?[^"]*)#preview"', text)
    assert further
    second = client.get(url + further[1].replace("&amp;", "&"))
    assert second.context["preview"].proposals[0].id == many[preview.considered]
    nothing = client.get(url, {**asked, "after": many[-2]})
    assert (nothing.context["preview"].considered, nothing.context["further"]) == (1, "")
    assert "None of these units meets the limits." in nothing.content.decode()
    done = client.post(url, {**asked, "seen": page.context["seen"], "reason": "Both agree."})
    assert done.status_code == 302
    assert Verdict.objects.filter(method="accepted", decided_by=rita).count() == len(preview.proposals)


def test_up_to_the_limit_nothing_is_said(rita: User, many: list[int]) -> None:
    Verdict.objects.filter(pk=many[0]).update(state="settled", value="supported", method="majority")
    reply = as_user(rita).get(LIST)
    text = reply.content.decode()
    assert SAID not in text
    assert 'name="order"' in text
    assert "Page 1 of 200" in text
    assert [group.n for group, _link in reply.context["groups"]] == [10_000]


def test_decides_and_goes_on(rita: User, many: list[int]) -> None:
    client, here = as_user(rita), f"{LIST}{many[4]}/"
    reply = client.get(here)
    around = reply.context["around"]
    assert (around.previous, around.next) == (f"{LIST}{many[3]}/", f"{LIST}{many[5]}/")
    assert re.search(r"At least [\d,]+ left", reply.content.decode())
    given = {"value": "supported", "reason": "So.", "revision": 1}
    done = client.post(here, given, follow=True)
    assert done.redirect_chain[-1][0] == f"{LIST}{many[5]}/"
    assert re.search(r"Decided\. At least \d+ left\.", done.content.decode())
    # Now 10,000 are left, and the most to decide comes first again.
    assert "10000 left" in done.content.decode()
    assert client.get(f"{LIST}{many[-1]}/").context["around"].next


def vote(rater: str) -> dict[str, Any]:
    return {"rater": rater, "value": "supported", "revision": 1, "label": 1}


def test_the_list_goes_on_where_the_next_is_not_found_in_time(rita: User, many: list[int], project: Project) -> None:
    """All but the first and the last are looked at in vain, which no page has the time for."""
    Verdict.objects.filter(pk__in=many[1:-1]).update(votes=[vote("ann")])
    client = as_user(rita)
    Verdict.objects.filter(pk__in=[many[0], many[-1]]).update(votes=[vote("rare")])
    project.raters.create(name="rare")
    project.show_names = True
    project.save()
    url, seen, steps = f"{LIST}?annotator=rare", list[int](), 0
    while url:
        steps += 1
        assert steps < 40
        reply = client.get(url)
        rows = reply.context["rows"]
        seen += [row.pk for row in rows]
        if not rows and rows.next:
            assert "No matches so far" in reply.content.decode()
            assert "Search further" in reply.content.decode()
        url = f"{LIST}?annotator=rare&{rows.next}" if rows.next else ""
    assert seen == [many[0], many[-1]]
    following = client.get(f"{LIST}{many[0]}/?annotator=rare").context["around"].next
    assert following.startswith((f"{LIST}{many[-1]}/?annotator=rare", f"{LIST}?annotator=rare&after=s"))


def test_by_keyboard_from_unit_to_unit(rita: User, many: list[int], new_page: Callable[..., Page]) -> None:
    from playwright.sync_api import expect

    page = new_page(rita)
    page.goto(LIST)
    expect(page.get_by_text(SAID)).to_be_visible()
    expect(page.get_by_role("link", name="Start adjudicating").locator("kbd")).to_be_visible()
    page.keyboard.press("s")
    page.wait_for_url(f"**{LIST}{many[0]}/")
    page.wait_for_load_state()
    page.keyboard.press("n")
    page.wait_for_url(f"**{LIST}{many[1]}/")
    page.wait_for_load_state()
    page.keyboard.press("p")
    page.wait_for_url(f"**{LIST}{many[0]}/")
    page.wait_for_load_state()
    page.keyboard.press("1")
    expect(page.get_by_label("Reason")).to_be_focused()
    page.keyboard.type("The context says so.")
    page.keyboard.press("Control+Enter")
    page.wait_for_url(f"**{LIST}{many[1]}/")
    expect(page.get_by_role("status")).to_contain_text("Decided. At least")
