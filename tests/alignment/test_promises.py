"""What bench/promises tries at length, tried a little."""

from __future__ import annotations

from types import ModuleType

import pytest

from bench.promises.__main__ import modules


@pytest.mark.parametrize("promise", modules(), ids=lambda module: module.__name__.rpartition(".")[2])
def test_the_promise_is_kept(promise: ModuleType) -> None:
    found = list(promise.rows(0.02))
    assert found
    assert [row for row in found if not row.kept] == []
