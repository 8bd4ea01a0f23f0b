"""An experiment's figures as text, for terminals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotate.core.text_tables import in_words, interval, text_table

_COUNTS = ("questions", "failed", "drawn", "labelled")
_LEVELS = ("metric", "version", *_COUNTS, "people", "judge, not corrected", "corrected")
_DIFFERENCES = ("metric", "versions", "role", "people", "judge, not corrected", "corrected", "verdict")


def experiment_table(result: Mapping[str, Any]) -> str:
    """Levels, differences from the baseline, and what they allow to say."""
    rule, asked = result["rule"], result["set"] or "all that was asked of both"
    when = f"set {result['rule_set_at']} with {result['labels_before_rule']} answers labelled"
    lines = [
        f"{result['experiment']}: {', '.join(result['versions'])} on {result['population']} questions ({asked}).",
        f"Rule {result['rule_number']}, {when}: {rule['primary']} decides, margin {rule['margin']:g}.",
        *(["The rule was changed after figures had been made."] if result["after_figures"] else []),
        "",
        text_table(_LEVELS, [_level(metric, one) for metric in result["metrics"] for one in metric["levels"]]),
        "",
        text_table(
            _DIFFERENCES, [_difference(metric, one) for metric in result["metrics"] for one in metric["differences"]]
        ),
        "",
        *(f"{one['b']}: {_words(one['verdict'])}." for one in result["verdicts"]),
        *map(_preference, result["preferences"]),
        *_remarks(result),
    ]
    return "\n".join(lines)


def _level(metric: Mapping[str, Any], one: Mapping[str, Any]) -> list[object]:
    figures = [interval(one[way]) for way in ("people", "raw", "corrected")]
    return [metric["metric"], one["version"], *(one[name] for name in _COUNTS), *figures]


def _difference(metric: Mapping[str, Any], one: Mapping[str, Any]) -> list[object]:
    figures = [interval(one[way]) for way in ("people", "raw", "corrected")]
    return [metric["metric"], f"{one['b']} − {one['a']}", metric["role"], *figures, _words(one["verdict"])]


def _preference(one: Mapping[str, Any]) -> str:
    counts = one["counts"]
    said = (
        f"{counts['b']} prefer {one['b']}, {counts['neither']} neither, {counts['a']} {one['a']}, {counts['open']} open"
    )
    return f"{one['b']} beside {one['a']}: {said}; win rate {interval(one['win_rate'])}: {_words(one['verdict'])}."


def _remarks(result: Mapping[str, Any]) -> list[str]:
    """Why something can't be told, and what it takes."""
    found = []
    for metric in result["metrics"]:
        for one in metric["differences"]:
            about = f"{metric['metric']}, {one['b']}"
            if one["reason"] is not None:
                found.append(f"{about}: {in_words(one['reason'])}.")
            if one["needed"]["labels"] is not None:
                questions = one["needed"]["questions"]
                of = "" if questions is None else f" of {questions}"
                found.append(f"{about}: about {one['needed']['labels']}{of} labelled questions needed.")
    return found


def _words(verdict: str) -> str:
    return verdict.replace("_", " ")
