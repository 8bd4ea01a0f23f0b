"""Two people save the guidelines at the same moment."""

from __future__ import annotations

from typing import Any

import pytest

from annotate.projects.guidelines import change_guidelines
from annotate.projects.guidelines_read import versions_of
from tests.annotate.factories import concurrently, make_world


@pytest.mark.django_db(transaction=True)
def test_one_version_is_made_and_the_other_author_is_told() -> None:
    world = make_world()

    def save(text: str) -> Any:
        return lambda: change_guidelines(actor=world.alice, project=world.project, text=text, seen=1)

    done = concurrently(save("One."), save("Two."))
    assert sorted(type(one).__name__ for one in done) == ["GuidelineVersion", "Stale"]
    assert [version.number for version in versions_of(world.project)] == [2, 1]
