"""The figures of a batch's dashboard in words."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import formats
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from alignment.base.estimate import Estimate
from annotate.batches.board_read import Forecast, PersonBoard, forecast, person_boards
from annotate.models import Batch


def board_of(batch: Batch) -> dict[str, Any]:
    """What partials/batch_board.html shows. Columns for gold and repeats only where the batch has such tasks."""
    seen, boards = forecast(batch), person_boards(batch)
    return {
        "rows": [_row(board) for board in boards],
        # Of a pull queue: what is not taken yet.
        "waiting": seen.left - sum(board.left for board in boards),
        "with_too_fast": any(board.too_fast for board in boards),
        "with_gold": batch.gold_share > 0,
        "with_repeats": batch.repeat_share > 0,
        "forecast": seen,
        "outlook": outlook(seen),
    }


def outlook(seen: Forecast) -> list[str]:
    """Sentences on when it will be done; none where nothing can be said."""
    said = []
    if seen.work_seconds:
        said.append(_("About %(time)s of work left.") % {"time": duration(seen.work_seconds)})
    if seen.done_on:
        # A weekday where that is clear, else the date.
        form = "l" if seen.done_on - seen.today < timedelta(days=7) else "DATE_FORMAT"
        day = formats.date_format(seen.done_on, form)
        said.append(_("At the pace of the last 7 days, it will be finished around %(day)s.") % {"day": day})
    return said


def duration(seconds: float) -> str:
    """ "45 s", "12 min", "3 h 20 min"; hours alone from twenty on."""
    if seconds < 90:
        return _("%(n)d s") % {"n": round(seconds)}
    minutes = round(seconds / 60)
    if minutes < 60:
        return _("%(n)d min") % {"n": minutes}
    hours, rest = divmod(minutes, 60)
    if hours >= 20:
        return _("%(n)d h") % {"n": round(seconds / 3600)}
    return _("%(hours)d h %(minutes)d min") % {"hours": hours, "minutes": rest}


def _row(board: PersonBoard) -> dict[str, Any]:
    return {
        "board": board,
        "pace": _("%(n)s per hour") % {"n": formats.number_format(board.pace, 1)} if board.pace is not None else "",
        "per_task": duration(board.seconds_per_task) if board.seconds_per_task is not None else "",
        "per_unit": _seconds(board.seconds_per_unit) if board.seconds_per_unit is not None else "",
        **{name: share(getattr(board, name)) for name in ("agreement", "gold", "steadiness")},
    }


def _seconds(seconds: float) -> str:
    """Units take seconds, of which tenths can matter."""
    return _("%(n)s s") % {"n": formats.number_format(seconds, 1)} if seconds < 10 else duration(seconds)


def share(estimate: Estimate) -> dict[str, str | None]:
    """An estimate as percent: "86%", "74–93%", "42 units". text None: not enough yet."""
    interval = ""
    if estimate.low is not None and estimate.high is not None:
        interval = f"{100 * estimate.low:.0f}–{100 * estimate.high:.0f}%"
    return {
        "text": None if estimate.value is None else f"{100 * estimate.value:.0f}%",
        "interval": "" if estimate.value is None else interval,
        "units": ngettext("%(n)d unit", "%(n)d units", estimate.n) % {"n": estimate.n},
    }
