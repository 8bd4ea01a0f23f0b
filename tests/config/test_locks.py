"""What an import holds, and what it doesn't."""

from __future__ import annotations

from pathlib import Path


def test_a_project_is_locked_without_its_key(root: Path) -> None:
    """Rows that refer to a project hold its key until they are committed: those of an import for minutes."""
    sources = [path for floor in ("annotate", "judges", "frontend") for path in (root / floor).rglob("*.py")]
    locking = [path for path in sources if "Project.objects.select_for_update(" in path.read_text()]
    assert locking
    with_key = [path for path in locking if "Project.objects.select_for_update()" in path.read_text()]
    assert with_key == []
