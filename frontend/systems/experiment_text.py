"""An experiment as Markdown, for a pull request: for each version that is compared with the baseline what may be
concluded, and a row for each metric."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotate.core.text_tables import UNDEFINED, markdown_table
from frontend.systems.first_screen import FirstScreen, Row, candidates_of, first_screen
from frontend.systems.spelt import Spelt


def experiment_markdown(figures: Mapping[str, Any], url: str) -> str:
    """url: of its page."""
    name = figures["experiment"]
    parts = [f"### {name}"]
    for candidate in candidates_of(figures):
        screen = first_screen(figures, candidate)
        parts += [f"**{screen.chip}:** {screen.sentence}", _table(screen), *_preference(screen)]
    asked = figures["set"] or "all questions that the versions share"
    last = f"Test set: {asked}. Labels before the rule was set: {figures['labels_before_rule']:,}."
    return "\n\n".join([*parts, f"{last} [Experiment {name}]({url})"])


def _table(screen: FirstScreen) -> str:
    head = [
        "metric",
        "role",
        screen.baseline,
        screen.candidate,
        "difference, corrected",
        "interval",
        "margin",
        "verdict",
    ]
    return markdown_table([*head, "labelled, of those drawn"], [_cells(row, screen) for row in screen.rows])


def _preference(screen: FirstScreen) -> list[str]:
    found = screen.preferred
    if found is None:
        return []
    counts = ", ".join(f"{part.name}: {part.questions}" for part in found.parts)
    return [f"Side by side ({counts}): {found.sentence} Win rate, ties counting half: {_spelt(found.win_rate)}."]


def _cells(row: Row, screen: FirstScreen) -> list[str]:
    levels = {level.version: level.figure for level in row.levels}
    return [
        row.title,
        row.role,
        _spelt(levels[screen.baseline]),
        _spelt(levels[screen.candidate]),
        row.difference.text,
        row.difference.interval or UNDEFINED,
        row.margin or UNDEFINED,
        f"{row.chip}{f' ({row.why})' if row.why else ''}",
        f"{row.labelled} of {row.drawn}" if row.drawn else UNDEFINED,
    ]


def _spelt(figure: Spelt) -> str:
    return f"{figure.text} ({figure.interval})" if figure.interval else figure.text
