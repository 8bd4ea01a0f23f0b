"""Two judges of a frozen report side by side, as their page shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from annotate.core.units import unit_title
from annotate.models import User
from frontend.reports.in_words import in_words, plot_in_words
from frontend.reports.shown import Links, measure_rows, signed
from judges.models import AlignmentReport
from judges.reports.read import outcome, said_by_judge, with_both_words

_FLIPS = (
    (1, "only_second_right", gettext_noop("Only %(second)s is right")),
    (-1, "only_first_right", gettext_noop("Only %(first)s is right")),
    (0, "both_wrong", gettext_noop("They differ, and both are wrong")),
)
ONE_JUDGE = gettext_noop("A comparison takes two judges, or two versions of one, with scores for this criterion.")
SAME_TWICE = gettext_noop("Choose two different ones.")
NOT_COMPARED = gettext_noop(
    "An earlier version is compared with the latest version of the same judge, and with nothing else."
)


def compare_context(
    report: AlignmentReport, links: Links, first: str | None, second: str | None, *, reader: User
) -> dict[str, Any]:
    """The pair with these keys, else the first there is. LookupError: a key that the report doesn't have."""
    compared = report.result["compared"]
    # What an address calls a judge's version: the same in every report.
    keys = [
        "/".join(quote(side[part], safe="") for part in ("judge", "version", "dimension")) for side in compared["sides"]
    ]
    chosen = _chosen(compared["pairs"], keys, first, second)
    pair = None if chosen is None else _oriented(compared["pairs"], *chosen)
    options = [{**side, "key": key} for side, key in zip(compared["sides"], keys, strict=True)]
    return {
        "sides": {
            "latest": [one for one in options if one["latest"]],
            "earlier": [one for one in options if not one["latest"]],
        },
        "first": None if chosen is None else options[chosen[0]],
        "second": None if chosen is None else options[chosen[1]],
        "pair": None if pair is None else _pair(report, compared, pair, links, reader),
        "note": _(_why_none(chosen)) if pair is None else "",
        "on_dev": compared["basis"] == "pass or fail",
        "plot": plot_in_words(report.plots.get("compared", "")),
        "pairs": [_in_short(compared["sides"], keys, one) for one in compared["pairs"]],
        "left_out": compared["left_out"],
    }


def _chosen(
    pairs: Sequence[Mapping[str, Any]], keys: Sequence[str], first: str | None, second: str | None
) -> tuple[int, int] | None:
    if first is not None and second is not None:
        if first not in keys or second not in keys:
            raise LookupError
        return keys.index(first), keys.index(second)
    usable = [pair for pair in pairs if pair["reason"] is None] or pairs
    return (usable[0]["first"], usable[0]["second"]) if usable else None


def _why_none(chosen: tuple[int, int] | None) -> str:
    if chosen is None:
        return ONE_JUDGE
    return SAME_TWICE if chosen[0] == chosen[1] else NOT_COMPARED


def _oriented(pairs: Sequence[dict[str, Any]], first: int, second: int) -> dict[str, Any] | None:
    """The pair, turned round when it was worked out the other way: differences change their sign."""
    for pair in pairs:
        if (pair["first"], pair["second"]) == (first, second):
            return pair
        if (pair["first"], pair["second"]) == (second, first):
            return _turned(pair)
    return None


def _turned(pair: dict[str, Any]) -> dict[str, Any]:
    flips = pair["flips"]
    return {
        **pair,
        "first": pair["second"],
        "second": pair["first"],
        "own": pair["own"][::-1],
        "difference": {name: _negative(estimate) for name, estimate in pair["difference"].items()},
        "flips": {
            **flips,
            "only_first_right": flips["only_second_right"],
            "only_second_right": flips["only_first_right"],
        },
        "flipped": [
            {
                **row,
                "first": row["second"],
                "second": row["first"],
                "first_score": row["second_score"],
                "second_score": row["first_score"],
                "gain": -row["gain"],
            }
            for row in pair["flipped"]
        ],
    }


def _negative(estimate: Mapping[str, Any]) -> dict[str, Any]:
    value, low, high = (estimate[end] for end in ("value", "high", "low"))
    ends = {"value": value, "low": low, "high": high}
    return {**estimate, **{name: None if end is None else -end for name, end in ends.items()}}


def _pair(
    report: AlignmentReport, compared: dict[str, Any], pair: Mapping[str, Any], links: Links, reader: User
) -> dict[str, Any]:
    first, second = (compared["sides"][pair[one]] for one in ("first", "second"))
    rows = with_both_words(report.project, first, second, pair["flipped"], reader=reader)
    groups = []
    for gain, name, title in _FLIPS:
        shown_rows = [_flipped(row, compared["basis"], links) for row in rows if row["gain"] == gain]
        if pair["flips"][name]:
            heading = _(title) % {"first": first["title"], "second": second["title"]}
            groups.append({"title": heading, "count": pair["flips"][name], "rows": shown_rows})
    return {
        "outcome": in_words(outcome(first["title"], second["title"], pair)),
        "units": pair["units"],
        "samples": pair["samples"],
        "measures": measure_rows(pair, compared["basis"]),
        "flipped": sum(pair["flips"].values()),
        "groups": groups,
        "held_back": pair.get("held_back", 0),
        "reason": in_words(pair["reason"]),
    }


def _flipped(row: dict[str, Any], basis: str, links: Links) -> dict[str, Any]:
    return {
        **row,
        "url": "" if row["sample"] is None else links.sample(row["sample"], row["unit"]),
        "unit_title": unit_title(row["unit"], row["unit_number"]),
        "human": said_by_judge(row["human"], None, basis),
        "first": said_by_judge(row["first"], row["first_score"], basis),
        "second": said_by_judge(row["second"], row["second_score"], basis),
    }


def _in_short(sides: Sequence[Mapping[str, Any]], keys: Sequence[str], pair: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "first": sides[pair["first"]]["title"],
        "second": sides[pair["second"]]["title"],
        "first_key": keys[pair["first"]],
        "second_key": keys[pair["second"]],
        "kappa": signed(pair["difference"]["kappa"]),
        "units": pair["units"],
        "flipped": sum(pair["flips"].values()),
    }
