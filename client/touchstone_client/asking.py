"""A system is asked the questions of a test set: which are left, in parallel, and what became of each."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

_MOST_ERROR = 2_000


@dataclass(frozen=True)
class Question:
    """As the test set froze it. relevant: {document id: grade}."""

    id: str
    text: str
    reference: str | None = None
    key_facts: Sequence[str] = ()
    relevant: Mapping[str, int] = field(default_factory=dict)
    kind: str = ""
    category: str = ""
    earlier_turns: Sequence[Mapping[str, str]] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """What a system said. contexts: [{"id", "text", "score"}] or texts, the best first. Times are in milliseconds;
    without `latency_ms` it is the time that the call took. What is None is unknown."""

    text: str
    contexts: Sequence[str | Mapping[str, Any]] | None = None
    latency_ms: float | None = None
    first_token_ms: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    metadata: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Asked:
    """answered, failed: of what was asked now. there: what the server had, or got from another process meanwhile."""

    answered: int = 0
    failed: int = 0
    there: int = 0


@dataclass(frozen=True)
class Progress:
    done: int
    of: int
    failed: int


Ask = Callable[[Question], Answer | str]
#: A question and its repeat, from 0.
Turn = tuple[Question, int]


def turns_left(
    questions: Iterable[Question], repeats: int, known: Mapping[tuple[str, int], str], *, only_failed: bool
) -> list[Turn]:
    """known: the status of the responses that the server has, by question and repeat. A request that failed is asked
    again only where that is wanted."""
    wanted = "failed" if only_failed else None
    return [
        (question, repeat)
        for repeat in range(repeats)
        for question in questions
        if known.get((question.id, repeat)) == wanted
    ]


def answers(
    turns: Sequence[Turn], ask: Ask, *, concurrency: int, retries: int, on_progress: Callable[[Progress], object] | None
) -> Iterator[dict[str, Any]]:
    """Rows as the server takes them, in the order in which they come. Never more than twice as many calls are waiting
    as are under way, so that what is asked last is stopped in time."""
    failed = done = 0
    left = iter(turns)
    with ThreadPoolExecutor(max_workers=concurrency, thread_name_prefix="touchstone") as threads:
        waiting: set[Future[dict[str, Any]]] = set()
        try:
            while True:
                for turn in left:
                    waiting.add(threads.submit(_row, ask, turn, retries))
                    if len(waiting) >= 2 * concurrency:
                        break
                if not waiting:
                    return
                ready, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                # First what came, then what is wrong with one of them.
                for one in sorted(ready, key=lambda one: one.exception() is not None):
                    row = one.result()
                    done += 1
                    failed += "error" in row
                    if on_progress is not None:
                        on_progress(Progress(done, len(turns), failed))
                    yield row
        finally:
            for one in waiting:
                one.cancel()


def _row(ask: Ask, turn: Turn, retries: int) -> dict[str, Any]:
    question, repeat = turn
    told: dict[str, Any] = {"question_id": question.id, "repeat": repeat}
    for tried in range(retries + 1):
        began = time.monotonic()
        try:
            said = ask(question)
        except Exception as error:  # noqa: BLE001 (whatever their code raises is a request that failed)
            took = 1000 * (time.monotonic() - began)
            if tried == retries:
                text = f"{type(error).__name__}: {error}"[:_MOST_ERROR]
                return {**told, "status": "failed", "error": text, "latency_ms": took}
        else:
            took = 1000 * (time.monotonic() - began)
            answer = Answer(said) if isinstance(said, str) else said
            if not isinstance(answer, Answer):
                raise TypeError(f"ask returns a text or an Answer, not {type(said).__name__}")
            return told | _said(answer, took)
    raise AssertionError


def _said(answer: Answer, took: float) -> dict[str, Any]:
    row = {
        "answer": answer.text,
        "contexts": None if answer.contexts is None else list(answer.contexts),
        "latency_ms": took if answer.latency_ms is None else answer.latency_ms,
        "first_token_ms": answer.first_token_ms,
        "input_tokens": answer.input_tokens,
        "output_tokens": answer.output_tokens,
        "cost": answer.cost,
        "metadata": None if answer.metadata is None else dict(answer.metadata),
    }
    return {name: value for name, value in row.items() if value is not None}
