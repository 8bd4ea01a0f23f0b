"""What bench/promises tries at length, tried a little; and the page of it."""

from __future__ import annotations

import re
from types import ModuleType

import pytest

from bench.promises.__main__ import INTRODUCTION, head, modules
from tests.conftest import ROOT


@pytest.mark.parametrize("promise", modules(), ids=lambda module: module.__name__.rpartition(".")[2])
def test_the_promise_is_kept(promise: ModuleType) -> None:
    found = list(promise.rows(0.02))
    assert found
    assert [row for row in found if not row.kept] == []


def test_the_page_says_what_is_promised_and_that_it_held() -> None:
    """Run `python -m bench.promises > docs/promises.md` after a change; at `--runs 1.0`."""
    page = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")
    introduction, *sections = re.split(r"\n(?=## )", page)
    assert introduction == INTRODUCTION
    assert [section.partition("\n\n| ")[0] for section in sections] == [head(one.PROMISE) for one in modules()]
    assert "**not kept**" not in page
    assert all(re.search(r"% of \d+,\d{3}", section) for section in sections), "made of fewer than 1,000 worlds"
