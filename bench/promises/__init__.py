"""What we promise, and how often it held: a module for each promise, with seeded worlds of which the truth is known.

A module has `PROMISE` and `rows(runs)`, which yields what became of it; `python -m bench.promises` prints them all.
"""

from __future__ import annotations

from dataclasses import dataclass

from scipy.stats import binom

SEED = 20261123


@dataclass(frozen=True, slots=True)
class Promise:
    """``place``: where it stands on the page. ``claim``: what a reader is told, in a sentence. ``worlds``: what is
    drawn, and what *before* was."""

    place: int
    title: str
    claim: str
    worlds: str


@dataclass(frozen=True, slots=True)
class Row:
    """``before``: what an earlier version did in such worlds; "" where nobody knows. ``after``: what this one does.
    ``must``: what is promised of it. ``kept``: whether it is, within what chance allows."""

    world: str
    before: str
    after: str
    must: str
    kept: bool


#: In place of what is promised.
STATED = "stated"
#: The page has dozens of rows: one is refuted by what happens in one of a thousand pages, not of twenty.
REFUTED = 0.001


def at_least(hits: int, runs: int, promised: float) -> bool:
    """Whether a share of at least ``promised`` is not refuted, by the exact binomial test."""
    return bool(binom.cdf(hits, runs, promised) >= REFUTED)


def at_most(hits: int, runs: int, promised: float) -> bool:
    return bool(binom.sf(hits - 1, runs, promised) >= REFUTED)


def percent(part: float, digits: int = 1) -> str:
    """0.435 as “43.5 %”."""
    return f"{100 * part:.{digits}f} %"


def share(hits: int, runs: int) -> str:
    return f"{percent(hits / runs)} of {runs:,}"
