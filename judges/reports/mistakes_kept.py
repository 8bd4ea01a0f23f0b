"""What a judge gets wrong, in words (judges.reports.mistakes), as the worker worked it out when somebody asked.

It is kept in the cache and nowhere else: what it rests on is stored, and the worker can be asked again. One result is
for all readers; those who still have to label or to decide about a sample that it rests on have one of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any

from django.core.cache import cache
from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext as _
from kombu.exceptions import OperationalError

from annotate.core import memory
from annotate.core.background import hand_over
from annotate.core.blindness import Reader, samples_without_judges
from annotate.core.errors import Invalid, Unavailable
from annotate.models import Criterion, User
from annotate.samples.read import samples_named
from judges.core.scores_read import has_scores_against
from judges.models import Judge
from judges.reports.mistakes import mistakes
from judges.reports.read import data_version
from judges.reports.requests import PENDING_SECONDS

# Raised when the same data would give another result.
_VERSION = 1
_KEPT_SECONDS = 30 * 24 * 3600


@dataclass(frozen=True, slots=True)
class Series:
    """What a judge says of a criterion under one name."""

    criterion: Criterion
    judge: Judge
    dimension: str

    def key(self, what: str, whose: int | None) -> str:
        """whose: of one reader, by primary key; None: of all. Names may be long, and of any characters."""
        named = sha256(self.dimension.encode()).hexdigest()[:16]
        return f"mistakes-{what}:{_VERSION}:{self.criterion.pk}:{self.judge.pk}:{named}:{whose or 'all'}"


@dataclass(frozen=True, slots=True)
class Mistakes:
    """The latest that the reader may see. found: as `mistakes` has it, None where nobody asked yet. is_out_of_date:
    None where nobody looked."""

    found: dict[str, Any] | None
    made_at: datetime | None
    is_out_of_date: bool | None
    is_pending: bool


@dataclass(frozen=True, slots=True)
class _Kept:
    found: dict[str, Any]
    data_version: str
    made_at: datetime


def series_of(criterion: Criterion, judge: Judge, dimension: str | None = None) -> Series:
    """Raises Http404 where the judge has no such scores that are compared with the criterion."""
    named = dimension or criterion.key
    if not has_scores_against(criterion, judge, named):
        raise Http404(_("“%(judge)s” has no scores for this criterion.") % {"judge": judge.name})
    return Series(criterion, judge, named)


def mistakes_of(series: Series, *, reader: Reader, looks: bool = True) -> Mistakes:
    """looks: for changes since, which counts every label, task, verdict and score of the criterion."""
    kept = _latest(series, reader)
    is_out_of_date = None
    if kept is not None and looks:
        is_out_of_date = kept.data_version != data_version(series.criterion)
    return Mistakes(
        found=None if kept is None else kept.found,
        made_at=None if kept is None else kept.made_at,
        is_out_of_date=is_out_of_date,
        is_pending=cache.get(series.key("pending", _whose(reader))) is not None,
    )


def request_mistakes(series: Series, *, user: User) -> bool:
    """Has the worker find them, as this user may see them. False: it is at it.

    Raises Unavailable when the message can't be sent.
    """
    pending = series.key("pending", user.pk)
    if not cache.add(pending, 1, timeout=PENDING_SECONDS):
        return False
    try:
        hand_over("judges.tasks.find_mistakes", series.criterion.pk, series.judge.pk, series.dimension, user.pk)
    except OperationalError as error:
        cache.delete(pending)
        raise Unavailable("no_broker", "The worker can't be reached just now; nothing was requested.") from error
    return True


def find_mistakes(series: Series, user: User) -> None:
    """What `request_mistakes` asked for; nothing where it is there, and still up to date."""
    try:
        # Read before the data, as for a report.
        seen, kept = data_version(series.criterion), _latest(series, user)
        if kept is None or kept.data_version != seen:
            _find(series, user, seen)
    finally:
        cache.delete(series.key("pending", user.pk))


def _find(series: Series, user: User, seen: str) -> None:
    try:
        found = mistakes(series.criterion, series.judge.name, series.dimension, reader=user)
    except Invalid:
        # Its scores went in the meantime; the page says so.
        return
    memory.give_back()
    whose = user.pk if found["held_back"] else None
    cache.set(series.key("kept", whose), _Kept(found, seen, timezone.now()), timeout=_KEPT_SECONDS)


def _latest(series: Series, reader: Reader) -> _Kept | None:
    """None of which names a sample that the reader has to label or to decide about, be it since it was found."""
    kept = [cache.get(series.key("kept", whose)) for whose in {None, _whose(reader)}]
    newest = sorted((one for one in kept if one is not None), key=lambda one: one.made_at, reverse=True)
    return next((one for one in newest if not _is_held_back(series, one, reader)), None)


def _whose(reader: Reader) -> int | None:
    return reader.pk if isinstance(reader, User) else None


def _is_held_back(series: Series, kept: _Kept, reader: Reader) -> bool:
    keys = samples_named(series.criterion.project, set(_named(kept.found))).values_list("pk", flat=True)
    return bool(samples_without_judges(reader, set(keys)))


def _named(found: dict[str, Any]) -> Iterator[str]:
    for way in found["directions"]:
        for group in (*way["groups"], way["rest"]):
            yield from (one["sample"] for one in group["listed"])
