"""The reviewer's queue: which units wait for a person, in which order, and what stands before and after one of them.
And how much ground truth a project has, and what it could still be made from.

Hand-written SQL, because the order is worked out over all that waits: one pass over an index (verdict_for_people) that
touches no row but those that are shown.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, NamedTuple, overload

from django.db.models import Count, Q
from django.http import Http404
from django.utils.translation import gettext as _

from annotate.batches.read import counts_without_abstentions
from annotate.core.blindness import SAMPLES_TO_LABEL, Reader, may_know_names, parameters, require_unblind
from annotate.core.counting import IS_LATEST
from annotate.core.errors import Invalid
from annotate.core.rows import fetch_all, first_or_raise, limit_and_offset
from annotate.core.units import no_abstention, without_abstentions
from annotate.labels.read import OF_BATCH
from annotate.labels.settled_read import IS_SINGLE, STANDING, Standing
from annotate.models import Criterion, Label, Project, Verdict
from annotate.models.batch import OPEN_TASK_STATUSES_SQL
from annotate.models.label import DECIDED_METHODS, RULED_METHODS, VerdictMethod, VerdictState
from annotate.models.project import Scale

# "matters": the samples with the most to decide first, and among those the ones whose votes split most evenly.
# "sample": in the order of their import.
ORDERS = ("matters", "sample")
# disputed: enough labels, and no rule settles them. short: fewer labels than the sample was to get, or
# than its batch says that it takes (Batch.settle_votes). reopened: decided, and changed since. returned: sent back to
# an annotator, and so out of every other list until it is submitted again.
# agreed: settled by the votes themselves and not approved yet; nothing has to be done about them, and a reviewer may
# look at all of them or at a share drawn at random. single: those of them that rest on one label, and settle nothing
# until somebody approves them.
AGREED, SINGLE = "agreed", "single"
TO_CHECK = (AGREED, SINGLE)
STATES = ("disputed", "short", "reopened", "returned", AGREED, SINGLE)

_OF_PROJECT = f"""
    v.criterion_id = ANY(ARRAY(SELECT id FROM annotate_criterion WHERE project_id = %(project)s))
      AND {no_abstention("v")}
"""
_NOT_SETTLED = f"SELECT v.* FROM annotate_verdict v WHERE {_OF_PROJECT} AND NOT (v.state = 'settled')"
# With how much their samples matter. A sample's place must not change while a reviewer decides its units one by one:
# units that were decided count as well as those that wait. For the same reason reopened units are a list of their own
# in front.
_WEIGHED = f"""
    SELECT v.id, v.sample_id, v.criterion_id, v.unit, v.state, v.batch_id,
           count(*) OVER of_sample AS disputes, sum(1 - coalesce(v.agreement, 0)) OVER of_sample AS spread
      FROM annotate_verdict v
     WHERE {_OF_PROJECT}
       AND (NOT (v.state = 'settled') OR v.method IN ({", ".join(f"'{method.value}'" for method in DECIDED_METHODS)}))
    WINDOW of_sample AS (PARTITION BY v.sample_id)
"""
_WAITING = f"""
    WITH waiting AS (
        SELECT e.*, c.position, c.key, c.name
          FROM ({{source}}) AS e JOIN annotate_criterion c ON c.id = e.criterion_id
         WHERE e.state <> 'settled' AND {IS_LATEST.format(verdict="e")} AND {{filters}}
    )
"""

# The draw depends on the seed and the unit only, so that the same units are drawn again.
_TO_CHECK = """
    WITH waiting AS (
        SELECT e.id, e.sample_id, e.criterion_id, e.unit, e.state, e.batch_id, c.position, c.key, c.name
          FROM annotate_verdict e JOIN annotate_criterion c ON c.id = e.criterion_id
         WHERE c.project_id = %(project)s AND e.state = 'settled' AND e.method IN ({ruled})
           AND e.approved_by_id IS NULL AND {is_latest} AND {no_abstention} AND {{filters}}
    )
""".format(
    ruled=", ".join(f"'{method.value}'" for method in RULED_METHODS),
    is_latest=IS_LATEST.format(verdict="e"),
    no_abstention=no_abstention("e"),
)
_DRAWN = """
    ('x' || substr(md5(%(seed)s || ':' || e.sample_id || ':' || e.unit || ':' || c.key), 1, 7))::bit(28)::int
        < %(share)s * 268435456
"""

_BY_SAMPLE = (
    "sample_id, position, key, criterion_id, coalesce(nullif(split_part(unit, ':', 2), ''), '0')::int, unit, id"
)
_BY_WEIGHT = f"(state = 'reopened') DESC, disputes DESC, spread DESC, {_BY_SAMPLE}"

# Read once, however few units PostgreSQL expects: for few it compares each of them with all tasks, for minutes.
_NOT_BLIND = f"e.sample_id NOT IN ({SAMPLES_TO_LABEL})"
_RETURNED = f"""
    EXISTS (SELECT FROM annotate_task t JOIN annotate_label l ON l.task_id = t.id
              JOIN annotate_batch b ON b.id = t.batch_id AND b.status = ANY(%(running)s)
             WHERE t.sample_id = e.sample_id AND t.status IN {OPEN_TASK_STATUSES_SQL} AND NOT (t.return_message = '')
               AND l.unit = e.unit AND l.criterion_id = e.criterion_id)
"""
_AT_WORK = """
    EXISTS (SELECT FROM annotate_task t JOIN annotate_batch b ON b.id = t.batch_id AND b.status = ANY(%(running)s)
             WHERE t.batch_id = e.batch_id AND t.sample_id = e.sample_id AND t.status = ANY(%(open)s)
               AND t.purpose = 'label' AND e.state = 'disputed')
"""
_SHORT = """
    (e.state = 'disputed' AND
     (SELECT jsonb_array_length(v.votes) FROM annotate_verdict v WHERE v.id = e.id) <
     (SELECT coalesce(b.settle_votes, s.overlap)
        FROM annotate_batchsample s JOIN annotate_batch b ON b.id = s.batch_id
       WHERE s.batch_id = e.batch_id AND s.sample_id = e.sample_id))
"""


def _looked_up(exists: str) -> str:
    """For each unit in an index, where PostgreSQL would expect few units and compare each with all open tasks."""
    return exists.rstrip().removesuffix(")") + " OFFSET 0)"


_NOBODY_AT_IT = f"NOT {_looked_up(_AT_WORK)} AND NOT {_looked_up(_RETURNED)}"
_STATE_FILTERS = {
    "": f"NOT {_AT_WORK} AND NOT {_RETURNED}",
    "disputed": f"e.state = 'disputed' AND {_SHORT} IS NOT TRUE AND {_NOBODY_AT_IT}",
    "short": f"{_SHORT} AND {_NOBODY_AT_IT}",
    "reopened": f"e.state = 'reopened' AND NOT {_RETURNED}",
    "returned": _RETURNED,
}


@dataclass(frozen=True)
class Place:
    """Where a unit stands in a queue. The queue goes round, so that skipped units come again. waiting: how many wait in
    it; others: how many of them are not this unit."""

    waiting: int
    others: int
    previous: int | None
    next: int | None


@dataclass(frozen=True)
class Group:
    """How many units of a criterion wait."""

    key: str
    name: str
    n: int


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

    def __post_init__(self) -> None:
        if self.annotator and not may_know_names(self.reader, self.project):
            raise Invalid("names_hidden", _("This project hides who gave which label."))

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
        ids = self.ids(part)
        found = Verdict.objects.select_related("criterion", "sample").in_bulk(ids)
        return [found[pk] for pk in ids if pk in found]

    def __iter__(self) -> Iterator[Verdict]:
        return iter(self[:])

    def ids(self, part: slice = slice(None)) -> list[int]:
        rows = self._rows(
            f"SELECT id FROM waiting ORDER BY {self._in_order} LIMIT %(limit)s OFFSET %(offset)s",
            **limit_and_offset(part),
        )
        return [row[0] for row in rows]

    def place(self, verdict_id: int) -> Place:
        ((count, first, last, at, before, after),) = self._rows(
            f""", listed AS (
                SELECT id, row_number() OVER ordered AS at, lag(id) OVER ordered AS before,
                       lead(id) OVER ordered AS after
                  FROM waiting WINDOW ordered AS (ORDER BY {self._in_order})
            )
            SELECT (SELECT count(*) FROM listed), (SELECT id FROM listed WHERE at = 1),
                   (SELECT id FROM listed ORDER BY at DESC LIMIT 1), one.at, one.before, one.after
              FROM (VALUES (%(verdict)s::bigint)) AS asked (id) LEFT JOIN listed one USING (id)""",
            verdict=verdict_id,
        )
        if at is None:
            return Place(count, count, None, first)
        if count == 1:
            return Place(1, 0, None, None)
        return Place(count, count - 1, before or last, after or first)

    def groups(self) -> list[Group]:
        """How many wait per criterion, also of criteria that the queue is not narrowed to."""
        return self._groups

    @cached_property
    def _groups(self) -> list[Group]:
        rows = self._rows(
            "SELECT key, max(name), count(*) FROM waiting GROUP BY key ORDER BY min(position), key",
            False,
            criterion="",
        )
        return [Group(*row) for row in rows]

    @property
    def _is_weighed(self) -> bool:
        """Not of what nothing has to be done about."""
        return self.order == "matters" and self.state not in TO_CHECK

    @property
    def _in_order(self) -> str:
        return _BY_WEIGHT if self._is_weighed else _BY_SAMPLE

    def disputed(self, only: Collection[int] | None = None) -> list[Disputed]:
        """Those that no reviewer has decided yet, in order, with the value that most votes are for."""
        rows = self._rows(
            f"""SELECT w.id, v.revision, v.criterion_id, v.sample_id, v.unit, v.agreement,
                       jsonb_array_length(v.votes),
                       (SELECT vote -> 'value' FROM jsonb_array_elements(v.votes) AS vote
                         GROUP BY 1 ORDER BY count(*) DESC LIMIT 1)
                  FROM (SELECT id, row_number() OVER (ORDER BY {self._in_order}) AS at FROM waiting) AS w
                  JOIN annotate_verdict v ON v.id = w.id
                 WHERE v.state = 'disputed' AND (%(only)s::bigint[] IS NULL OR v.id = ANY(%(only)s))
                 ORDER BY w.at""",
            only=None if only is None else list(only),
        )
        # Many units have a handful of different values: each spelling is parsed once.
        parse = cache(json.loads)
        return [Disputed._make((*row, parse(value or "null"))) for *row, value in rows]

    def _rows(self, sql: str, is_ordered: bool = True, /, **given: Any) -> list[tuple[Any, ...]]:
        values = {
            "project": self.project.pk,
            **parameters(self.reader),
            "criterion": self.criterion,
            "batch": self.batch,
            "annotator": self.annotator,
            "share": self.share,
            "seed": self.seed,
            **given,
        }
        filters = [_NOT_BLIND]
        if self.state in TO_CHECK:
            filters += [IS_SINGLE] if self.state == SINGLE else []
            filters += [_DRAWN] if self.share < 1 else []
        else:
            filters.append(_STATE_FILTERS[self.state])
        if self.annotator:
            filters.append(
                "(SELECT v.votes FROM annotate_verdict v WHERE v.id = e.id)"
                " @> jsonb_build_array(jsonb_build_object('rater', %(annotator)s::text))"
            )
        if values["criterion"]:
            filters.append("c.key = %(criterion)s")
        if self.batch is not None:
            filters.append(OF_BATCH)
        waiting = _TO_CHECK if self.state in TO_CHECK else _WAITING
        source = _WEIGHED if self._is_weighed and is_ordered else _NOT_SETTLED
        return fetch_all(waiting.format(source=source, filters=" AND ".join(filters)) + sql, values)


def one_verdict(project: Project, verdict_id: int, *, reader: Reader) -> Verdict:
    """Raises Http404, and Conflict while the reader still has the sample to label."""
    verdicts = Verdict.objects.select_related("criterion", "sample", "decided_by", "approved_by", "batch")
    verdict = first_or_raise(
        without_abstentions(verdicts.filter(pk=verdict_id, criterion__project=project)),
        Http404(_("Unit not found.")),
    )
    require_unblind(reader, verdict.sample)
    return verdict


def ground_truth(project: Project) -> list[dict[str, Any]]:
    """Verdicts per criterion and version: settled by each method, approved, and still disputed; `single`: those of one
    label that no reviewer looked at, which releases leave out."""
    settled = Q(state=VerdictState.SETTLED)
    counts = counts_without_abstentions(
        Verdict.objects.filter(criterion__project=project).alias(standing=STANDING),
        "criterion_id",
        waiting=Count("pk", filter=~settled),
        approved=Count("pk", filter=Q(approved_at__isnull=False)),
        single=Count("pk", filter=Q(standing=Standing.SINGLE)),
        settled=Count("pk", filter=settled),
        **{method.value: Count("pk", filter=settled & Q(method=method)) for method in VerdictMethod},
    )
    criteria = Criterion.objects.filter(project=project).exclude(scale=Scale.TEXT).order_by("position", "-version")
    rows = criteria.values("pk", "key", "name", "version", "is_current")
    counted = [{**row, **counts[row["pk"]]} for row in rows]
    return [row for row in counted if row["is_current"] or row["settled"] or row["waiting"]]


def imported_labels(project: Project) -> Sequence[Mapping[str, Any]]:
    """Labels that were made elsewhere, per criterion that can have verdicts."""
    return list(
        without_abstentions(
            Label.objects.filter(criterion__project=project, criterion__is_current=True, task__isnull=True)
        )
        .exclude(criterion__scale=Scale.TEXT)
        .values("criterion__name")
        .annotate(labels=Count("id"), raters=Count("rater", distinct=True))
        .order_by("criterion__position")
    )
