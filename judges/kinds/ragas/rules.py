"""What replies must hold for a metric to have a value, where the library would return a number all the same; and what
the model said in them, as a rationale.

The library counts an answer without statements as right, a sample without entities as not recalled, and takes any
number for a verdict. Each rule gets all replies so far, as objects, and checks the last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from judges.kinds.base import NoScore
from judges.kinds.llm.answers import NoAnswer

Reply = dict[str, Any]
VERDICTS = ("verdict", "attributed", "noncommittal")


def check(metric: str, replies: Sequence[Reply], contexts: int) -> None:
    """Checks the latest of the replies. contexts: how many the sample has.

    Raises NoScore: a reply that isn't an answer, or one that is, with nothing to take a share of.
    """
    last = replies[-1]
    if any(verdict not in (0, 1) for verdict in _verdicts(last)):
        raise NoAnswer("A verdict is neither 0 nor 1.")
    rule = _RULES.get(metric)
    if rule is not None:
        rule(replies, contexts)


def _verdicts(node: Any) -> Iterator[Any]:
    if isinstance(node, dict):
        yield from (node[name] for name in VERDICTS if name in node)
    parts = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    for part in parts:
        yield from _verdicts(part)


def _some(statements: Sequence[str], of: str) -> None:
    if not any(statement.strip() for statement in statements):
        raise NoScore(f"The model found no statement in the {of}.")


def _as_many(given: Sequence[str], judged: Sequence[Any]) -> None:
    if len(given) != len(judged):
        raise NoAnswer(f"The model was given {len(given)} statements and judged {len(judged)}.")


def _faithfulness(replies: Sequence[Reply], contexts: int) -> None:
    given = replies[0]["statements"]
    _some(given, "answer")
    if len(replies) > 1:
        _as_many(given, replies[-1]["statements"])


def _relevancy(replies: Sequence[Reply], contexts: int) -> None:
    if not replies[-1]["question"].strip():
        raise NoAnswer("The model wrote no question.")


def _recall(replies: Sequence[Reply], contexts: int) -> None:
    _some([one["statement"] for one in replies[-1]["classifications"]], "reference")


def _correctness(replies: Sequence[Reply], contexts: int) -> None:
    if len(replies) < 3:
        _some(replies[-1]["statements"], ("answer", "reference")[len(replies) - 1])
    elif not any(replies[-1][name] for name in ("TP", "FP", "FN")):
        raise NoAnswer("The model judged none of the statements.")


def _entities(replies: Sequence[Reply], contexts: int) -> None:
    if len(replies) == 1 and not any(entity.strip() for entity in replies[0]["entities"]):
        raise NoScore("The model found no entity in the reference.")


def _noise(replies: Sequence[Reply], contexts: int) -> None:
    """Statements of the reference and of the answer; verdicts on both, context by context; and once more on the
    answer's, compared with the reference."""
    number = len(replies) - 1
    if number < 2:
        _some(replies[-1]["statements"], ("reference", "answer")[number])
        return
    of_answer = number % 2 == 1 or number == 2 + 2 * contexts
    _as_many(replies[1 if of_answer else 0]["statements"], replies[-1]["statements"])


_RULES: dict[str, Callable[[Sequence[Reply], int], None]] = {
    "faithfulness": _faithfulness,
    "answer_relevancy": _relevancy,
    "context_recall": _recall,
    "answer_correctness": _correctness,
    "context_entity_recall": _entities,
    "noise_sensitivity": _noise,
}


# Lists whose name is the verdict on what stands in them.
_CLASSES = ("TP", "FP", "FN")


def in_words(replies: Sequence[Any]) -> str:
    """A line for each verdict, with its reason."""
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
