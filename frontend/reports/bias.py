"""What bias probes did to a judge, in words: on the test's own page, and as evidence beside its certificate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from frontend.reports.shown import Shown, percent, spelt
from judges.canaries.probes import NUMBERED, SWAPPED

# By verdict: its badge, and the tone of that.
VERDICTS = {
    "more": (gettext_lazy("favoured"), "error"),
    "less": (gettext_lazy("penalised"), "error"),
    "otherwise": (gettext_lazy("changes results"), "warn"),
    "small": (gettext_lazy("no more than 5%"), "ok"),
    "cannot_tell": (gettext_lazy("not clear"), ""),
}


def signed(share: float | None) -> str:
    """A difference of two shares."""
    text = percent(share).replace("-", "−")
    return f"+{text}" if share is not None and round(share, 3) > 0 else text


def shown_difference(estimate: Mapping[str, Any]) -> Shown:
    return spelt(estimate, signed)


def bias_said(result: Mapping[str, Any]) -> str:
    """What was found, what was ruled out and what is not clear: a sentence for each."""
    sentences: dict[str, Callable[[], str]] = {
        "more": lambda: _("Favoured: %(what)s."),
        "less": lambda: _("Penalised: %(what)s."),
        "otherwise": lambda: _("Changes results more often than an unchanged repeat: %(what)s."),
        "small": lambda: _("An effect of more than 5%% is ruled out: %(what)s."),
        "cannot_tell": lambda: _("Not clear: %(what)s."),
    }
    said = []
    for verdict, sentence in sentences.items():
        rows = [row for row in result["probes"] if row["verdict"] == verdict]
        if rows:
            said.append(sentence() % {"what": "; ".join(_with_figure(row) for row in rows)})
    return " ".join(said) or _("Nothing to compare yet.")


def _with_figure(row: Mapping[str, Any]) -> str:
    title = _("the first of two answers") if row["number"] == SWAPPED else str(NUMBERED[row["number"]].title)
    is_clear = row["verdict"] in ("more", "less", "otherwise")
    figure = shown_difference(row["excess"] if row["verdict"] == "otherwise" else row["effect"]) if is_clear else None
    return title if figure is None else f"{title} ({figure.text}, {figure.interval})"
