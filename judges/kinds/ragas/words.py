"""What the model said on the way, as a person reads it: a line for each verdict, with its reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from judges.kinds.ragas.rules import VERDICTS

# Lists whose name is the verdict on what stands in them.
_CLASSES = ("TP", "FP", "FN")


def in_words(replies: Sequence[Any]) -> str:
    return "\n".join(line for reply in replies for line in _lines(reply))


def _lines(node: Any, mark: str = "") -> Iterator[str]:
    if isinstance(node, list):
        for part in node:
            yield from _lines(part, mark)
        return
    if not isinstance(node, dict):
        return
    verdict = next((str(node[name]) for name in VERDICTS if name in node), mark)
    if verdict:
        said = [node[name] for name in ("statement", "question", "reason") if node.get(name)]
        yield f"{verdict} · {' — '.join(said)}"
    elif "entities" in node:
        yield ", ".join(node["entities"])
    for name, part in node.items():
        if isinstance(part, list):
            yield from _lines(part, name if name in _CLASSES else "")
