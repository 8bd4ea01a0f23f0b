"""One's own keys where one adjudicates and edits claims: in the controls, in the help, and for the page's script."""

from __future__ import annotations

import re

from annotate.models import Sample, User, Verdict
from annotate.projects.accounts import change_preferences
from tests.clients import as_user

QUEUE = "/p/help/adjudicate/"


def keys_of(page: str) -> set[str]:
    return set(re.findall(r'aria-keyshortcuts="(\S)"', page))


def shown(page: str) -> set[str]:
    """In controls and in the help; of the digits the help says that they choose options."""
    return set(re.findall(r"<kbd[^>]*>(\S)</kbd>", page)) - set("19↓↑↵")


def test_the_keys_in_force_stand_on_each_page(rita: User, disputes: list[Verdict], samples: list[Sample]) -> None:
    client = as_user(rita)
    pages = (QUEUE, f"{QUEUE}{disputes[0].pk}/", f"/p/help/samples/{samples[0].pk}/claims/")
    usual = ("s", "njpkcebo?", "njpkawzyrsmebd?")
    for address, keys in zip(pages, usual, strict=True):
        page = client.get(address).content.decode()
        assert shown(page) == set(keys), address
        assert keys_of(page), address
        assert keys_of(page) <= shown(page), address
    own = {"start": "q", "next_unit": "t", "send_back": "i", "split": "q", "undo": "l", "keys": "!"}
    change_preferences(user=rita, changes={"hotkeys": own})
    for address, mine, not_mine in zip(pages, ("q", "ti!", "tql!"), ("s", "njb?", "njsz?"), strict=True):
        page = client.get(address).content.decode()
        assert shown(page) >= set(mine), address
        assert not (shown(page) | keys_of(page)) & set(not_mine), address
    assert '"send_back": ["i"]' in client.get(pages[1]).content.decode()


def test_without_single_keys_no_page_promises_one(rita: User, disputes: list[Verdict], samples: list[Sample]) -> None:
    change_preferences(user=rita, changes={"single_keys": False})
    client = as_user(rita)
    for address in (QUEUE, f"{QUEUE}{disputes[0].pk}/", f"/p/help/samples/{samples[0].pk}/claims/"):
        page = client.get(address).content.decode()
        assert (keys_of(page), shown(page)) == (set(), set()), address
    assert "Single-key shortcuts are off." in page


def test_keys_are_grouped_by_page(rita: User) -> None:
    groups = dict(as_user(rita).get("/account/keys/").context["form"].key_groups)
    assert list(groups) == ["On several pages", "Labelling", "Adjudicating", "Editing claims"]
    names = {name: [field.name for field in fields] for name, fields in groups.items()}
    assert names["Adjudicating"] == ["key_start", "key_approve", "key_send_back", "key_rest"]
    assert names["On several pages"] == [
        "key_next_unit", "key_previous_unit", "key_comment", "key_undo", "key_redo", "key_evidence", "key_keys",
    ]  # fmt: skip
