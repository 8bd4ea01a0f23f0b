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
    (1, "only_second_right", gettext_noop("Only %(second)s is correct")),
    (-1, "only_first_right", gettext_noop("Only %(first)s is correct")),
    (0, "both_wrong", gettext_noop("Different, and both wrong")),
)
_FAMILIES = {
    "judges": gettext_noop("Each judge vs. the best one"),
    "versions": gettext_noop("Latest versions vs. earlier ones"),
}
_SAID_OF = {
    "judges": gettext_noop(
        "The intervals of kappa hold for all %(n)s pairs of judges together: were all equally good, at most 5%% of "
        "reports would show a difference."
    ),
    "versions": gettext_noop(
        "The intervals of kappa hold for all %(n)s comparisons of versions together: did no version change anything, "
        "at most 5%% of reports would show a difference."
    ),
}
ONE_JUDGE = gettext_noop("A comparison needs two judges, or two versions of one, with scores for this criterion.")
NOT_COMPARED = gettext_noop(
    "Judges are compared with the best one, and earlier versions with the latest version of the same judge."
)


def compare_context(
    report: AlignmentReport, links: Links, first: str | None, second: str | None, *, reader: User
) -> dict[str, Any]:
    """The pair with these keys, in either order, else the first there is. LookupError: a key that the report doesn't
    have."""
    compared = report.result["compared"]
    # What an address calls a judge's version: the same in every report.
    keys = [
        "/".join(quote(side[part], safe="") for part in ("judge", "version", "dimension")) for side in compared["sides"]
    ]
    pairs = best_first(compared["pairs"])
    pair = _chosen(pairs, keys, first, second)
    by_family = {family: [one for one in pairs if one["family"] == family] for family in _FAMILIES}
    return {
        "pair": None if pair is None else _pair(report, compared, pair, links, reader),
        "note": "" if pair is not None else _(NOT_COMPARED) if pairs else _(ONE_JUDGE),
        "on_dev": compared["basis"] == "pass or fail",
        "plot": plot_in_words(report.plots.get("compared", "")),
        "families": [
            {
                "title": _(_FAMILIES[family]),
                "adjusted": adjusted(pairs[0]),
                "pairs": [_in_short(compared["sides"], keys, one) | {"is_shown": one is pair} for one in pairs],
            }
            for family, pairs in by_family.items()
            if pairs
        ],
        "left_out": compared["left_out"],
    }


def best_first(pairs: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Judges before versions of one; of either by how much more the second agrees with annotators than the first, last
    those of which that is not known."""

    def place(pair: Mapping[str, Any]) -> tuple[int, bool, float]:
        more = pair["difference"]["kappa"]["value"]
        return list(_FAMILIES).index(pair["family"]), more is None, -(more or 0.0)

    return sorted(pairs, key=place)


def adjusted(pair: Mapping[str, Any]) -> str:
    """What the interval of a pair's difference in kappa holds together with."""
    if pair["among"] < 2:
        return _("The only such comparison: its interval is a plain 95% one.")
    said = _SAID_OF[pair["family"]]
    return _(said) % {"n": pair["among"]}


def _chosen(
    pairs: Sequence[Mapping[str, Any]], keys: Sequence[str], first: str | None, second: str | None
) -> Mapping[str, Any] | None:
    if first is not None and second is not None:
        if first not in keys or second not in keys:
            raise LookupError
        wanted = {keys.index(first), keys.index(second)}
        return next((pair for pair in pairs if {pair["first"], pair["second"]} == wanted), None)
    usable = [pair for pair in pairs if pair["reason"] is None] or pairs
    return usable[0] if usable else None


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
        "first": first["title"],
        "second": second["title"],
        "names": (first["title"], second["title"]),
        "adjusted": adjusted(pair),
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
