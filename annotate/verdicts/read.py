"""The reviewer's queue: which units wait for a person, in which order, and what stands before and after one of them.

Where many wait, the queue is walked as other long lists are (decision 74): by sample, a part at a time.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, NamedTuple, overload

from django.http import Http404
from django.utils.translation import gettext as _

from annotate.core import walking
from annotate.core.blindness import Reader, may_know_names, parameters, require_unblind
from annotate.core.errors import Invalid
from annotate.core.rows import fetch_all, first_or_raise, limit_and_offset
from annotate.core.units import without_abstentions
from annotate.core.walking import Counted, Walked, count, walk
from annotate.labels.read import OF_BATCH
from annotate.labels.settled_read import IS_SINGLE
from annotate.models import Project, Verdict
from annotate.projects.read import voted_criteria
from annotate.samples.stretches_read import MOST_KEY, stretch_within
from annotate.verdicts import queue_sql as sql
from annotate.verdicts.queue_sql import AGREED, RETURNED, SINGLE, TO_CHECK

# "matters": the samples with the most to decide first, and among those the ones whose votes split most evenly.
# "sample": in the order of their import.
ORDERS = ("matters", "sample")
# Where a page begins: after this verdict, or after all of a sample ("s" before its primary key).
_CURSOR = re.compile(r"(?P<of>s?)(?P<key>[0-9]{1,18})", re.ASCII)
# A sample, and the place among its units; None: all of them.
_Position = tuple[int, tuple[Any, ...] | None]
_BY_CRITERION = """
    SELECT key, max(name), count(*), min(position) FROM waiting GROUP BY key ORDER BY min(position), key
"""


@dataclass(frozen=True)
class Place:
    """Where a unit stands in a queue. The queue goes round, so that skipped units come again. waiting: how many wait in
    it; others: how many of them are not this unit; where not is_all, there are more. further: where a walked queue was
    looked through up to without a next one; "": to its end."""

    waiting: int
    others: int
    previous: int | None
    next: int | None
    is_all: bool = True
    further: str = ""


@dataclass(frozen=True)
class Group:
    """How many units of a criterion wait; where not is_all, there may be more."""

    key: str
    name: str
    n: int
    is_all: bool = True


class Disputed(NamedTuple):
    """A disputed unit. value: the one that most votes are for; of several with as many, any."""

    id: int
    revision: int
    criterion_id: int
    sample_id: int
    unit: str
    agreement: float | None
    votes: int
    value: Any


@dataclass(frozen=True)
class Queue:
    """What waits for the reader, in order, without samples that they have to label themselves; a slice of it is a list
    of verdicts.

    criterion: a key, batch: a number, state: one of STATES; empty ones narrow nothing. annotator: a rater's name, only
    what they voted on; raises Invalid where the reader may not know names. Of `agreed` and `single`, share: only this
    share of them, drawn with the seed.

    Where `is_many`, all orders are by sample, and where `is_walked`, a page is read from where the one before ended:
    `after`. most_sorted: of more than so many it is so. seconds: how long it is walked for one page; stretch: how many
    units that may wait, or samples where nothing leads to these, are looked at at a time.
    """

    project: Project
    reader: Reader = field(kw_only=True)
    criterion: str = ""
    batch: int | None = None
    state: str = ""
    order: str = "matters"
    annotator: str = ""
    share: float = 1
    seed: int = 0
    most_sorted: int = walking.MOST_SORTED
    seconds: float = walking.SECONDS
    stretch: int = 1_000

    def __post_init__(self) -> None:
        if self.annotator and not may_know_names(self.reader, self.project):
            raise Invalid("names_hidden", _("This project hides who gave which label."))

    @cached_property
    def is_many(self) -> bool:
        """Of the whole project, so that an order is the same however the queue is narrowed."""
        condition = sql.OF_INDEX[self.state if self.state in TO_CHECK else ""]
        ((number,),) = self._fetch(
            f"""SELECT count(*) FROM (SELECT FROM annotate_verdict e WHERE {sql.of_project("e")} AND {condition}
                                       LIMIT %(most)s) AS e""",
            most=self.most_sorted + 1,
        )
        return bool(number > self.most_sorted)

    @property
    def is_walked(self) -> bool:
        """Not of what was sent back: a person wrote to somebody about each, and an index leads to them."""
        return self.state != RETURNED and self.is_many

    def count(self) -> int:
        """Counted once, together with `groups`, for this instance: after a change, make another."""
        return sum(group.n for group in self._groups if not self.criterion or group.key == self.criterion)

    def __len__(self) -> int:
        return self.count()

    @overload
    def __getitem__(self, part: int) -> Verdict: ...
    @overload
    def __getitem__(self, part: slice) -> list[Verdict]: ...
    def __getitem__(self, part: int | slice) -> Verdict | list[Verdict]:
        if isinstance(part, int):
            return self[part : part + 1][0]
        return self._verdicts(self.ids(part))

    def __iter__(self) -> Iterator[Verdict]:
        return iter(self[:])

    def ids(self, part: slice = slice(None)) -> list[int]:
        if part.stop is not None and self.is_walked:
            return self._walk(None, part.stop, math.inf).rows[part.start or 0 :]
        at = limit_and_offset(part)
        rows = self._rows(
            f"SELECT id FROM waiting ORDER BY {self._in_order} LIMIT %(limit)s OFFSET %(offset)s",
            weighed=self._is_weighed,
            limit=at["limit"],
            offset=at["offset"],
        )
        return [row[0] for row in rows]

    def _verdicts(self, ids: list[int]) -> list[Verdict]:
        found = Verdict.objects.select_related("criterion", "sample").in_bulk(ids)
        return [found[pk] for pk in ids if pk in found]

    def cursor(self, row: Verdict) -> str:
        return str(row.pk)

    def position(self, cursor: str) -> _Position | None:
        """What `cursor` names; None: there is no such unit, or sample."""
        matched = _CURSOR.fullmatch(cursor)
        if not matched:
            return None
        key = int(matched["key"])
        if matched["of"]:
            return (key, None) if self.project.samples.filter(pk=key).exists() else None
        found = self._fetch(
            f"""SELECT {sql.PLACE}
                  FROM (SELECT e.sample_id, c.position, c.key, e.criterion_id, e.unit, e.id
                          FROM annotate_verdict e JOIN annotate_criterion c ON c.id = e.criterion_id
                         WHERE c.project_id = %(project)s AND e.id = %(verdict)s) AS e""",
            verdict=key,
        )
        return (found[0][0], found[0]) if found else None

    def after(self, at: _Position | None, wanted: int, *, backwards: bool = False) -> Walked[Verdict]:
        """Those that follow, or come before, the nearest first; None: from the beginning, or the end."""
        walked = self._walk(at, wanted, backwards=backwards)
        return Walked(self._verdicts(walked.rows), _of_sample(walked.reached))

    def counted(self) -> Counted:
        """Up to a limit of number and time."""
        return self._counted(time.monotonic() + self.seconds)

    def place(self, verdict_id: int) -> Place:
        if self.is_walked:
            return self._walked_place(verdict_id)
        ((waiting, first, last, at, before, after),) = self._rows(
            f""", listed AS (
                SELECT id, row_number() OVER ordered AS at, lag(id) OVER ordered AS before,
                       lead(id) OVER ordered AS after
                  FROM waiting WINDOW ordered AS (ORDER BY {self._in_order})
            )
            SELECT (SELECT count(*) FROM listed), (SELECT id FROM listed WHERE at = 1),
                   (SELECT id FROM listed ORDER BY at DESC LIMIT 1), one.at, one.before, one.after
              FROM (VALUES (%(verdict)s::bigint)) AS asked (id) LEFT JOIN listed one USING (id)""",
            weighed=self._is_weighed,
            verdict=verdict_id,
        )
        if at is None:
            return Place(waiting, waiting, None, first)
        if waiting == 1:
            return Place(1, 0, None, None)
        return Place(waiting, waiting - 1, before or last, after or first)

    def _walked_place(self, verdict_id: int) -> Place:
        """All within the time of one page; nothing stands before the first."""
        until = time.monotonic() + self.seconds
        at = self.position(str(verdict_id))
        following = self._walk(at, 1, until)
        if at is not None and not following.rows and following.reached is None:
            following = self._walk(None, 1, until)
        before = self._walk(at, 1, until, backwards=True).rows if at is not None else []
        waiting = self._counted(until)
        others = waiting.number
        if at is not None and (waiting.is_all or others < walking.MOST_COUNTED):
            here = (at[0] - 1, at[0])
            ((is_in,),) = self._rows("SELECT count(*) FROM waiting WHERE id = %(verdict)s", here, verdict=verdict_id)
            others = max(others - is_in, 0)
        after = [pk for pk in following.rows if pk != verdict_id]
        return Place(
            waiting.number,
            others,
            before[0] if before else None,
            after[0] if after else None,
            waiting.is_all,
            _of_sample(following.reached) or "",
        )

    def groups(self) -> list[Group]:
        """How many wait per criterion, also of criteria that the queue is not narrowed to."""
        if not self.is_walked:
            return self._groups
        if self.criterion:
            return replace(self, criterion="").groups()
        found: Counter[tuple[int, str, str]] = Counter()

        def number(start: int | None, end: int | None, most: int) -> int:
            rows = self._rows(_BY_CRITERION, stretch_within(start, end))
            found.update({(position, key, name): n for key, name, n, position in rows})
            return sum(n for _key, _name, n, _position in rows)

        counted = count(self._end, number, time.monotonic() + self.seconds)
        if counted.is_all:
            return [Group(key, name, n) for (_position, key, name), n in sorted(found.items())]
        for criterion in voted_criteria(self.project):
            found[criterion.position, criterion.key, criterion.name] += 0
        most = walking.MOST_COUNTED
        return [Group(key, name, min(n, most), is_all=False) for (_position, key, name), n in sorted(found.items())]

    @cached_property
    def _groups(self) -> list[Group]:
        return [Group(key, name, n) for key, name, n, _position in self._rows(_BY_CRITERION, criterion="")]

    def _counted(self, until: float) -> Counted:
        def number(start: int | None, end: int | None, most: int) -> int:
            ((found,),) = self._rows("SELECT count(*) FROM waiting", stretch_within(start, end))
            return int(found)

        return count(self._end, number, until)

    def _walk(
        self, at: _Position | None, wanted: int, until: float | None = None, *, backwards: bool = False
    ) -> Walked[int]:
        start, where, given = None, "true", {}
        if at is not None:
            start, place = at
            if place is not None:
                # The sample itself as well: its units after this one are left.
                start += 1 if backwards else -1
                given = {f"at_{number}": value for number, value in enumerate(place)}
                values = ", ".join(f"%({name})s" for name in given)
                where = f"({sql.PLACE}) {'<' if backwards else '>'} ({values})"
        order = f"{sql.BY_SAMPLE}{' DESC' if backwards else ''}"

        def find(start: int | None, end: int | None, most: int) -> list[int]:
            rows = self._rows(
                f"SELECT id FROM waiting WHERE {where} ORDER BY {order} LIMIT %(limit)s",
                stretch_within(start, end, descends=backwards),
                **given,
                limit=most,
            )
            return [row[0] for row in rows]

        if until is None:
            until = time.monotonic() + self.seconds
        return walk(start, lambda start: self._end(start, descends=backwards), find, wanted, until)

    def _end(self, start: int | None, descends: bool = False) -> int | None:
        """The sample with which a stretch ends that follows this one; None: it is the last."""
        if start is None:
            start = MOST_KEY if descends else 0
        rows = self._fetch(
            sql.ENDS[self.state == AGREED, self.batch is not None].format(
                condition=sql.OF_INDEX[self.state],
                criterion="c.key = %(criterion)s" if self.criterion else "true",
                sign="<" if descends else ">",
                order="DESC" if descends else "ASC",
            ),
            start=start,
            size=self.stretch,
        )
        return rows[0][0] if rows else None

    @property
    def _is_weighed(self) -> bool:
        """Not of what nothing has to be done about."""
        return self.order == "matters" and self.state not in TO_CHECK and not self.is_many

    @property
    def _in_order(self) -> str:
        return sql.BY_WEIGHT if self._is_weighed else sql.BY_SAMPLE

    def part(self, at: _Position | None, wanted: int) -> Walked[int]:
        """Of a walked queue the next ones' primary keys, and where what follows them begins."""
        walked = self._walk(at, wanted)
        last = str(walked.rows[-1]) if len(walked.rows) == wanted else None
        return Walked(walked.rows, _of_sample(walked.reached) or last)

    def disputed(self, only: Collection[int] | None = None) -> list[Disputed]:
        """Those that no reviewer has decided yet, in order, with the value that most votes are for."""
        rows = self._rows(
            sql.DISPUTED.format(order=self._in_order),
            weighed=self._is_weighed,
            only=None if only is None else list(only),
        )
        # Many units have a handful of different values: each spelling is parsed once.
        parse = cache(json.loads)
        return [Disputed._make((*row, parse(value or "null"))) for *row, value in rows]

    def _rows(
        self, select: str, within: tuple[int, int] | None = None, *, weighed: bool = False, **given: Any
    ) -> list[tuple[Any, ...]]:
        """within: only of samples after the first of these primary keys, and up to the second."""
        given = {"criterion": self.criterion, **given}
        if within is None:
            filters = [sql.NOT_BLIND]
        else:
            filters = [sql.NOT_BLIND_WITHIN, sql.WITHIN]
            given |= {"low": within[0], "high": within[1]}
        if self.state == AGREED:
            waiting = sql.WAITING_FOR_CHECK
        elif self.state == SINGLE:
            waiting = sql.WAITING_FOR_CHECK
            filters.append(IS_SINGLE)
        else:
            waiting = sql.WAITING_WEIGHED if weighed else sql.WAITING
            filters.append(sql.LOOKED_UP[self.state])
        if self.share < 1 and self.state in TO_CHECK:
            filters.append(sql.DRAWN)
        if self.annotator:
            filters.append(sql.VOTED)
        if given.get("only") is not None:
            filters.append("e.id = ANY(%(only)s::bigint[])")
        if given["criterion"]:
            filters.append("c.key = %(criterion)s")
        if self.batch is not None:
            filters.append(OF_BATCH)
        return self._fetch(waiting.replace("{filters}", " AND ".join(filters)) + select, **given)

    def _fetch(self, statement: str, **given: Any) -> list[tuple[Any, ...]]:
        values = {
            "project": self.project.pk,
            **parameters(self.reader),
            "criterion": self.criterion,
            "batch": self.batch,
            "annotator": self.annotator,
            "share": self.share,
            "seed": self.seed,
        }
        return fetch_all(statement, values | given)


def _of_sample(key: int | None) -> str | None:
    """The cursor after all units of a sample, whose key alone would name a verdict."""
    return None if key is None else f"s{key}"


def one_verdict(project: Project, verdict_id: int, *, reader: Reader) -> Verdict:
    """Raises Http404, and Conflict while the reader still has the sample to label."""
    verdicts = Verdict.objects.select_related("criterion", "sample", "decided_by", "approved_by", "batch")
    verdict = first_or_raise(
        without_abstentions(verdicts.filter(pk=verdict_id, criterion__project=project)),
        Http404(_("Unit not found.")),
    )
    require_unblind(reader, verdict.sample)
    return verdict
