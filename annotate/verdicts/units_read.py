"""The list of units: each unit on each criterion that asks about it, chosen by its words and by what people said about
it, and in which order.

Of a sample that the reader still has to label every unit is in progress, and nothing else is known of it: no filter, no
order and no count tells more.

Hand-written SQL, since units have no rows (decision 1). Where people's word is asked for it goes by the verdicts, which
are rows; otherwise by the samples, whose units it lists.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from annotate.core.blindness import (
    SAMPLES_TO_LABEL,
    Reader,
    parameters,
    samples_still_to_label,
    without_held_back,
)
from annotate.core.rows import fetch_all, limit_and_offset
from annotate.core.scales import json_spelling
from annotate.core.units import LISTED_KINDS, answers_asked, unit_text, units_sql
from annotate.core.walking import Counted, Walked, count, walk
from annotate.labels.read import counting_labels, latest_per_rater
from annotate.models import Criterion, Project, Sample, Verdict
from annotate.models.label import VerdictState
from annotate.projects.guidelines_read import newest_version
from annotate.projects.read import voted_criteria
from annotate.samples.stretches_read import MOST_KEY, stretch_end, stretch_within
from annotate.verdicts.samples_read import Agreement
from annotate.verdicts.units_sql import AMONG, IN_PROGRESS, IS_TO_LABEL, NAMED, OUTDATED, VERDICTS
from annotate.verdicts.wanted_units_read import STATUSES, WALKED, Chosen, ListedUnit, UnitStatus, WantedUnits

# A unit of a sample, by its primary key, and the place of its criterion in the list of those that are asked about.
_Unit = tuple[int, str, int]
# The same with its place among the sample's units.
_Found = tuple[int, str, int, int]
# Where a page begins: a sample, and one of its units by criterion and place; None: all of them.
_Position = tuple[int, tuple[int, int] | None]
_CURSOR = re.compile(r"(?P<sample>[0-9]{1,18})(?:\.(?P<place>[0-9]{1,6})\.(?P<key>[-\w]{1,60}))?", re.ASCII)
_SORTED_BY = {"id": "s.external_id", "agreement": "v.agreement", "changed": "v.updated_at"}


@dataclass(frozen=True)
class Units:
    """Those wanted, as rows: a slice of it is a list. The number of queries doesn't grow with what it holds.

    Where `is_walked`, a page is read from where the one before ended: `after`.
    """

    project: Project
    wanted: WantedUnits
    reader: Reader = field(kw_only=True)

    def count(self) -> int:
        counted = self._fetch(f"SELECT count(*) FROM ({self._rows()}) AS r")
        return int(counted[0][0]) if counted else 0

    def chosen(self) -> Chosen:
        found = self._fetch(f"""
            SELECT r.sample_id, count(*), array_agg(DISTINCT r.at) FROM ({self._rows()}) AS r GROUP BY 1 ORDER BY 1""")
        places = {at for _sample, _units, of_sample in found for at in of_sample}
        return Chosen(
            units=sum(units for _sample, units, _places in found),
            samples=[sample for sample, _units, _places in found],
            criteria={self._criteria[at - 1].key for at in places},
        )

    def __getitem__(self, part: slice) -> list[ListedUnit]:
        by, turn = _SORTED_BY.get(self.wanted.sort.removeprefix("-"), "s.id"), ""
        if self.wanted.sort.startswith("-"):
            turn = " DESC NULLS LAST" if by.startswith("v.") else " DESC"
        return self._listed(
            self._fetch(
                f"""SELECT r.sample_id, r.unit, r.at, r.place FROM ({self._rows(by)}) AS r
                     ORDER BY r.by{turn}, r.sample_id, r.at, r.place LIMIT %(limit)s OFFSET %(offset)s""",
                **limit_and_offset(part),
            )
        )

    @property
    def is_walked(self) -> bool:
        return self.wanted.sort in ("", *WALKED)

    def cursor(self, row: ListedUnit) -> str:
        return f"{row.sample.pk}.{row.place}.{row.criterion.key}"

    def position(self, cursor: str) -> _Position | None:
        """What `cursor` names, or with a primary key alone the whole sample; None: there is no such sample."""
        matched = _CURSOR.fullmatch(cursor)
        if not matched or not Sample.objects.filter(project=self.project, pk=int(matched["sample"])).exists():
            return None
        if matched["key"] is None:
            return int(matched["sample"]), None
        places = [criterion.key for criterion in self._criteria]
        at = places.index(matched["key"]) + 1 if matched["key"] in places else 0
        return int(matched["sample"]), (at, int(matched["place"]))

    def after(self, at: _Position | None, wanted: int, *, backwards: bool = False) -> Walked[ListedUnit]:
        """Those that follow, or come before, the nearest first; None: from the beginning, or the end."""
        order, sign, start, where, given = "r.sample_id, r.at, r.place", ">", None, "true", {}
        if backwards:
            order, sign = "r.sample_id DESC, r.at DESC, r.place DESC", "<"
        if at is not None:
            sample, unit = at
            # The sample itself as well where its units after this one are left.
            start = sample if unit is None else sample + (1 if backwards else -1)
            if unit is not None:
                where = f"(r.sample_id, r.at, r.place) {sign} (%(sample)s, %(at)s, %(place)s)"
                given = {"sample": sample, "at": unit[0], "place": unit[1]}

        def find(start: int | None, end: int | None, most: int) -> list[_Found]:
            low, high = stretch_within(start, end, descends=backwards)
            sql = f"""SELECT r.sample_id, r.unit, r.at, r.place FROM ({self._rows()}) AS r WHERE {where}
                       ORDER BY {order} LIMIT %(limit)s"""
            return self._fetch(sql, **given, low=low, high=high, limit=most)

        walked = walk(start, lambda start: stretch_end(self.project, start, descends=backwards), find, wanted)
        return Walked(self._listed(walked.rows), walked.reached)

    def counted(self) -> Counted:
        """Up to a limit of number and time."""

        def number(start: int | None, end: int | None, most: int) -> int:
            low, high = stretch_within(start, end)
            sql = f"SELECT count(*) FROM (SELECT FROM ({self._rows()}) AS r LIMIT %(limit)s) AS r"
            counted = self._fetch(sql, low=low, high=high, limit=most)
            return int(counted[0][0]) if counted else 0

        return count(lambda start: stretch_end(self.project, start), number)

    def _listed(self, found: list[_Found]) -> list[ListedUnit]:
        units = [(sample, unit, at) for sample, unit, at, _place in found]
        samples = self._samples({sample for sample, _unit, _at in units})
        said = self._said(units)
        verdicts = Verdict.objects.select_related("criterion").in_bulk([pk for pk, _ in said.values() if pk])
        votes = self._votes([unit for unit, (pk, _) in said.items() if pk is None])
        held_back = samples_still_to_label(self.reader, samples.keys())
        rows = []
        for sample, unit, at, place in (one for one in found if one[0] in samples):
            pk, is_begun = said[sample, unit, at]
            verdict = verdicts.get(pk)
            if verdict:
                status, values = STATUSES[VerdictState(verdict.state)], [vote["value"] for vote in verdict.votes]
            else:
                status = UnitStatus.IN_PROGRESS if is_begun else UnitStatus.UNLABELLED
                values = votes[sample, unit, at]
            rows.append(
                ListedUnit(
                    sample=samples[sample],
                    unit=unit,
                    place=place,
                    words=unit_text(samples[sample], unit),
                    criterion=verdict.criterion if verdict else self._criteria[at - 1],
                    status=status,
                    verdict=verdict,
                    votes=_counted(values),
                    held_back=sample in held_back,
                )
            )
        return rows

    def _fetch(self, sql: str, **given: Any) -> list[tuple[Any, ...]]:
        if not self._criteria:
            return []
        # Apart, or PostgreSQL may look for tasks of each row.
        return fetch_all(f"WITH ahead AS MATERIALIZED ({SAMPLES_TO_LABEL}) {sql}", {**self._given, **given})

    @cached_property
    def _criteria(self) -> list[Criterion]:
        """Those that the wanted units are on; a row's `at` is the place of its own, from 1."""
        asked = voted_criteria(self.project)
        if self.wanted.criterion:
            asked = asked.filter(key=self.wanted.criterion)
        if self.wanted.batch is not None:
            of_batch = Criterion.objects.filter(batches__project=self.project, batches__number=self.wanted.batch)
            asked = asked.filter(key__in=of_batch.values("key"))
        return list(asked)

    @cached_property
    def _given(self) -> dict[str, Any]:
        wanted, keys = self.wanted, [criterion.key for criterion in self._criteria]
        versions = Criterion.objects.filter(project=self.project, key__in=keys).order_by("pk")
        newest = newest_version(self.project) if wanted.outdated else None
        given = {
            "project": self.project.pk,
            "keys": keys,
            "current": [criterion.pk for criterion in self._criteria],
            "versions": list(versions.values_list("pk", flat=True)),
            "state": wanted.state,
            "value": json.dumps(wanted.value),
            "method": wanted.method,
            "batch": None if wanted.batch is None else self.project.batches.get(number=wanted.batch).pk,
            "words": f"%{_escaped(wanted.words)}%",
            "newest": newest.number if newest else 0,
            # Of a stretch of samples these bounds are its own.
            "low": 0,
            "high": MOST_KEY,
            **parameters(self.reader),
        }
        columns = [list(column) for column in zip(*wanted.among or (), strict=True)] or [[], [], []]
        given |= dict(zip(("among_samples", "among_units", "among_keys"), columns, strict=True))
        given |= wanted.without.given if wanted.without else {}
        for number, (key, value) in enumerate(wanted.metadata.items()):
            given |= {f"key_{number}": key, f"value_{number}": value}
        return given

    def _rows(self, by: str = "s.id") -> str:
        """A statement with a row for each unit: its sample, address, criterion (`at`), its place among the sample's
        units, and what it is sorted by: a column of the sample `s` or of the verdict `v`."""
        wanted = self.wanted
        of_sample = [
            f"s.pipeline_version = %(value_{n})s"
            if key == "pipeline_version"
            else f"s.metadata ->> %(key_{n})s::text = %(value_{n})s"
            for n, key in enumerate(wanted.metadata)
        ]
        of_sample.append("s.id > %(low)s AND s.id <= %(high)s")
        if wanted.words:
            of_sample.append("(u.words ILIKE %(words)s OR s.external_id ILIKE %(words)s)")
        unit, place = "u", "u.place"
        found = f"annotate_sample s CROSS JOIN LATERAL ({self._units()}) AS u (at, unit, place, words)"
        verdicts = f"({self._verdicts()}) AS v"
        of_unit = "v.sample_id = s.id AND v.unit = u.unit AND v.at = u.at"
        if wanted.has_verdict and not wanted.words:
            unit, place = "v", "coalesce(nullif(split_part(v.unit, ':', 2), ''), '0')::int"
            found = f"{verdicts} JOIN annotate_sample s ON s.id = v.sample_id"
        elif wanted.has_verdict:
            found += f" JOIN {verdicts} ON {of_unit}"
        elif wanted.status or by.startswith("v."):
            found += f" LEFT JOIN {verdicts} ON {of_unit}"
        rows = f"""
            SELECT s.id AS sample_id, {unit}.unit, {unit}.at, {place} AS place, {by} AS by
              FROM {found} WHERE {" AND ".join(["s.project_id = %(project)s", *of_sample])}"""
        if wanted.status and not wanted.state:
            # First those without a verdict: the rest is looked up for each of them.
            is_begun = "" if wanted.status == UnitStatus.IN_PROGRESS else "NOT "
            rows = f"SELECT r.* FROM ({rows} AND v.id IS NULL OFFSET 0) AS r WHERE {is_begun}{IN_PROGRESS}"
        return f"SELECT r.* FROM ({rows}) AS r WHERE {' AND '.join(self._of_row()) or 'true'}"

    def _verdicts(self) -> str:
        # Where PostgreSQL can't see that there is one criterion, it expects few rows and looks each of them up.
        at = "1" if len(self._criteria) == 1 else "array_position(%(keys)s::text[], c.key::text)"
        return VERDICTS.format(at=at, conditions="".join(f" AND {one}" for one in self._of_verdict()))

    def _units(self) -> str:
        """Of the sample `s`."""
        of_criterion = """SELECT {at}, of.* FROM {units} AS of (unit, place, words)
            WHERE num_nonnulls(s.answer, s.answer_b) >= {answers}"""
        return " UNION ALL ".join(
            of_criterion.format(
                at=at, units=units_sql(criterion.unit), answers=answers_asked(criterion.key, criterion.unit)
            )
            for at, criterion in enumerate(self._criteria, 1)
        )

    def _of_verdict(self) -> list[str]:
        """Conditions on the verdict `v`."""
        wanted = self.wanted
        # Said of verdicts as well: PostgreSQL doesn't carry a range over from the samples.
        found = ["v.sample_id > %(low)s AND v.sample_id <= %(high)s"]
        found += ["v.state = %(state)s"] if wanted.state else []
        if wanted.value is not None:
            found.append(
                "CASE c.scale WHEN 'multi' THEN v.value @> %(value)s::jsonb ELSE v.value = %(value)s::jsonb END"
            )
        if wanted.method:
            found.append("v.method = %(method)s")
        if wanted.agreement == Agreement.DISAGREE:
            found.append("v.agreement < 1")
        elif wanted.agreement:
            found.append("v.agreement = 1 AND jsonb_array_length(v.votes) > 1")
        return found

    def _of_row(self) -> list[str]:
        wanted = self.wanted
        found = []
        if wanted.outdated:
            found.append(f"{OUTDATED} AND NOT {IS_TO_LABEL}")
        if wanted.batch is not None:
            found.append("r.sample_id IN (SELECT sample_id FROM annotate_batchsample WHERE batch_id = %(batch)s)")
        if wanted.among is not None:
            found.append("EXISTS " + AMONG.format(rows=NAMED))
        if wanted.without is not None:
            found.append("NOT EXISTS " + AMONG.format(rows=wanted.without.sql))
        return found

    def _samples(self, keys: Collection[int]) -> dict[int, Sample]:
        """With the columns that hold units of the asked kinds: contexts are long."""
        kinds = {criterion.unit for criterion in self._criteria} & LISTED_KINDS.keys()
        columns = {"claims", *(LISTED_KINDS[kind] for kind in kinds)}
        return Sample.objects.only("external_id", "question", "answer", "abstained", *columns).in_bulk(keys)

    def _said(self, units: Sequence[_Unit]) -> dict[_Unit, tuple[int | None, bool]]:
        """Of each unit the primary key of its verdict, or whether it is in progress."""
        samples, addresses, places = ([row[n] for row in units] for n in range(3))
        sql = f"""
            SELECT r.sample_id, r.unit, r.at, v.id, v.id IS NULL AND {IN_PROGRESS}
              FROM unnest(%(samples)s::bigint[], %(units)s::text[], %(places)s::int[]) AS r (sample_id, unit, at)
              LEFT JOIN ({self._verdicts()}) AS v ON v.sample_id = r.sample_id AND v.unit = r.unit AND v.at = r.at"""
        found = self._fetch(sql, samples=samples, units=addresses, places=places) if units else []
        return {(sample, unit, at): (pk, is_begun) for sample, unit, at, pk, is_begun in found}

    def _votes(self, units: Sequence[_Unit]) -> Mapping[_Unit, list[Any]]:
        """Of units without a verdict, what people said by now."""
        places = {criterion.pk: place for place, criterion in enumerate(self._criteria, 1)}
        labels = counting_labels().filter(sample__in={sample for sample, *_ in units}, criterion__in=places)
        found: dict[_Unit, list[Any]] = defaultdict(list)
        for label in latest_per_rater(without_held_back(labels, reader=self.reader)) if units else ():
            found[label.sample_id, label.unit, places[label.criterion_id]].append(label.value)
        return found


def _counted(values: Iterable[Any]) -> list[tuple[Any, int]]:
    """Each value with how often it is there, the most frequent first."""
    counts = Counter(map(json_spelling, values))
    return [(json.loads(value), n) for value, n in counts.most_common()]


def _escaped(words: str) -> str:
    """As a pattern that matches these words alone."""
    return re.sub(r"([\\%_])", r"\\\1", words)
