"""Samples by their ids, and what is known of them: metadata, pipeline versions, the expertise that each needs, how many
units it has, and flags.

Lists of samples are given in one array: PostgreSQL takes at most 65,535 parameters.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, reduce
from operator import or_
from sys import intern
from typing import Any

from django.db.models import Count, F, Max, Min, QuerySet
from django.db.models.functions import Collate
from django.utils.translation import gettext as _

from annotate.core.blindness import Reader, may_know_names, samples_still_to_label
from annotate.core.errors import Invalid
from annotate.core.rows import Row, fetch_all
from annotate.core.texts import check_json
from annotate.core.units import LISTED_KINDS, UnitCount, asks_any, is_dropped
from annotate.models import Criterion, Flag, Project, Sample, User
from annotate.models.project import UnitKind


def samples_named(project: Project, names: Collection[str]) -> QuerySet[Sample]:
    """Those with these ids of their own; of an id that the project doesn't have, none."""
    return Sample.objects.filter(project=project).extra(where=["external_id = ANY(%s)"], params=[sorted(names)])


def context_ids(sample: Sample) -> list[str]:
    """Of what was retrieved: the contexts' own where each has one, else those that the file gave beside them."""
    ids = [context["id"] for context in sample.contexts]
    return ids if ids and all(ids) else sample.retrieved_doc_ids


def matching_samples(project: Project, conditions: Mapping[str, Any]) -> QuerySet[Sample]:
    """Samples whose metadata contain the given values, none of them composed. Containment takes no operators, so names
    can't reach columns."""
    samples = Sample.objects.filter(project=project, composed=False)
    for key, value in conditions.items():
        if not isinstance(key, str) or not isinstance(value, str | int | float | bool):
            raise Invalid("bad_filter", _("filter: each value must be text, a number, true or false."))
        check_json({key: value})
        if key == "pipeline_version":
            samples = samples.filter(pipeline_version=str(value))
        else:
            samples = samples.filter(metadata__contains={key: value})
    return samples


def groups_of(project: Project, names: Collection[str] | None = None) -> dict[str, str]:
    """Of those samples, of all or of these, whose group is not their own id: the group, by own id.

    A group that is named by the id of a sample of another group is part of that one: the answer `kb-001` came first,
    then its later versions in the group `kb-001`, and then it got a group itself.
    """
    every = Sample.objects.filter(project=project)
    if not every.exclude(group_key="").exists():
        return {}
    found = _group_keys(every if names is None else samples_named(project, names))
    links, asked = dict(found), set[str]()
    while names is not None and (more := set(links.values()) - links.keys() - asked):
        asked |= more
        links |= _group_keys(samples_named(project, more))
    ends = {name: _end(links, name) for name in found}
    return {name: end for name, end in ends.items() if end != name}


def _group_keys(samples: QuerySet[Sample]) -> dict[str, str]:
    grouped = samples.exclude(group_key="").exclude(group_key=F("external_id"))
    return dict(grouped.order_by(Collate("external_id", "C")).values_list("external_id", "group_key"))


def _end(links: Mapping[str, str], name: str) -> str:
    """Where it leads to; the first by name of those that lead to each other."""
    way = [name]
    while (after := links.get(way[-1])) is not None:
        if after in way:
            return min(way[way.index(after) :])
        way.append(after)
    return way[-1]


def samples_keyed(keys: Collection[int]) -> QuerySet[Sample]:
    """Those with these primary keys."""
    return Sample.objects.extra(where=["annotate_sample.id = ANY(%s)"], params=[list(keys)])


_NAMES = """
    SELECT s.external_id FROM unnest(%(samples)s::bigint[]) WITH ORDINALITY AS of (id, place)
      JOIN annotate_sample s ON s.id = of.id ORDER BY of.place
"""


def names_of(keys: Collection[int]) -> list[str]:
    """The own ids of the samples with these primary keys, in their order; one object for each, however often it is
    read: a million of them take a hundred megabytes."""
    names = [intern(name) for (name,) in fetch_all(_NAMES, {"samples": list(keys)})]
    assert len(names) == len(keys), "a sample was deleted while what was said of it was read"
    return names


def of_samples(rows: QuerySet[Row], keys: Collection[int]) -> QuerySet[Row]:
    """The rows that belong to samples with these primary keys. rows: not within another query.

    Named by their own column: over a table that is just being filled, and whose statistics are old, PostgreSQL would
    join the samples with all of its rows.
    """
    named = f'"{rows.model._meta.db_table}".sample_id = ANY(%s)'
    return rows.extra(where=[named], params=[list(keys)])  # noqa: S610 - a table of ours


def asked_by(samples: QuerySet[Sample], *criteria: Criterion) -> QuerySet[Sample]:
    """Those of which at least one of the criteria asks something."""
    return samples.filter(reduce(or_, map(asks_any, criteria))) if criteria else samples.none()


def asked_keys(keys: Collection[int], criteria: Iterable[Criterion]) -> set[int]:
    """The same of the samples with these primary keys."""
    return set(asked_by(samples_keyed(keys), *criteria).values_list("pk", flat=True))


# Metadata are looked at in this many samples only, so that the form opens at once in a large project.
METADATA_SAMPLES = 5000
MAX_KEYS, MAX_VALUES = 8, 30
LONGEST_VALUE = 100


@dataclass(frozen=True)
class KnownValue:
    value: str | int | float | bool
    samples: int

    @property
    def shown(self) -> str:
        text = self.value if isinstance(self.value, str) else str(self.value)
        return text if len(text) <= 60 else text[:59] + "…"


@dataclass
class KnownKey:
    key: str
    values: list[KnownValue] = field(default_factory=list)


# A pipeline's version is chosen by and compared by like any other metadata.
_ALL = """metadata || CASE WHEN pipeline_version = '' THEN '{}'::jsonb
                                    ELSE jsonb_build_object('pipeline_version', pipeline_version) END"""
_METADATA = f"""
    WITH pairs AS (
        SELECT pair.key, pair.value, count(*) AS samples
        FROM (
            SELECT {_ALL} AS metadata
            FROM annotate_sample WHERE project_id = %(project)s ORDER BY id LIMIT %(samples)s
        ) AS s, jsonb_each(s.metadata) AS pair
        WHERE jsonb_typeof(pair.value) IN ('string', 'number', 'boolean')
        GROUP BY pair.key, pair.value
    ), ranked AS (
        SELECT *, sum(samples) OVER same_key AS total, max(samples) OVER same_key AS most,
               row_number() OVER (PARTITION BY key ORDER BY samples DESC, value) AS place
        FROM pairs WINDOW same_key AS (PARTITION BY key)
    )
    SELECT key, value, samples FROM ranked WHERE place <= %(values)s AND most > 1 ORDER BY total DESC, key, place
"""


def known_metadata(project: Project) -> list[KnownKey]:
    """The metadata keys found in most samples, each with its most frequent values.

    Keys whose values are all different (ids, addresses) are left out: they are no use as a filter.
    """
    found: dict[str, KnownKey] = {}
    given = {"project": project.pk, "samples": METADATA_SAMPLES, "values": MAX_VALUES}
    for key, value, samples in fetch_all(_METADATA, given):
        found.setdefault(key, KnownKey(key)).values.append(KnownValue(_decoded(value), samples))
    return list(found.values())[:MAX_KEYS]


_OF_SAMPLES = f"""
    SELECT s.external_id, jsonb_object_agg(pair.key, pair.value)
    FROM (
        SELECT external_id, {_ALL} AS metadata FROM annotate_sample
        WHERE project_id = %(project)s AND external_id = ANY(%(samples)s)
    ) AS s, jsonb_each(s.metadata) AS pair
    WHERE jsonb_typeof(pair.value) IN ('string', 'number', 'boolean') AND length(pair.value::text) <= %(longest)s
    GROUP BY s.external_id ORDER BY s.external_id COLLATE "C"
"""


def metadata_of(project: Project, samples: Collection[str]) -> dict[str, dict[str, Any]]:
    """The metadata of these samples that may name a part of the data: texts of ordinary length, numbers, true/false."""
    given = {"project": project.pk, "samples": sorted(samples), "longest": LONGEST_VALUE}
    # Many say the same, and stand for one object.
    decoded = cache(_decoded)
    return {intern(sample): decoded(values) for sample, values in fetch_all(_OF_SAMPLES, given)}


def _decoded(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


def pipeline_versions(project: Project) -> list[dict[str, Any]]:
    """[{"version", "samples", "first_at", "last_at"}], the one whose samples came last first."""
    rows = (
        Sample.objects.filter(project=project)
        .exclude(pipeline_version="")
        .order_by()
        .values_list("pipeline_version")
        .annotate(samples=Count("pk"), first_at=Min("created_at"), last_at=Max("created_at"))
    )
    return [
        {"version": version, "samples": samples, "first_at": first.isoformat(), "last_at": last.isoformat()}
        for version, samples, first, last in sorted(rows, key=lambda row: (row[3], row[0]), reverse=True)
    ]


def samples_by_version(project: Project, versions: Collection[str]) -> dict[str, int]:
    """How many samples each of these has. From an index alone, other than `pipeline_versions`."""
    samples = Sample.objects.filter(project=project, pipeline_version__in=versions)
    return dict(samples.order_by().values_list("pipeline_version").annotate(Count("pk")))


# By hand: Django would take a key such as "7" for a place in a list.
_TAGS = """
    SELECT id, external_id, metadata ->> %(key)s::text, jsonb_typeof(metadata -> %(key)s::text)
      FROM annotate_sample WHERE id = ANY(%(samples)s) AND metadata ? %(key)s::text
"""


def sample_tags(key: str, samples: Collection[int]) -> dict[int, str]:
    """By sample the value of the metadata key as text. Of a sample without one, or with null or "": nothing.

    Raises Invalid for a list or an object: no member's tag could ever equal it.
    """
    if not key:
        return {}
    rows = fetch_all(_TAGS, {"key": key, "samples": list(samples)})
    for _pk, name, _text, kind in rows:
        if kind in ("array", "object"):
            said = _("“%(key)s” of sample “%(sample)s” must be one text or number to be used as expertise.")
            raise Invalid("bad_tag", said % {"key": key, "sample": name[:80]})
    return {pk: text for pk, _name, text, _kind in rows if text}


@dataclass(frozen=True, slots=True)
class ShownFlag:
    """held_back: reason and resolution are empty, as the reader still has to label the sample, and what others say of
    it may say what is right. by: who raised it; None where the reader may not know names."""

    flag: Flag
    by: User | None
    reason: str
    resolution: str
    held_back: bool


@dataclass(frozen=True)
class Flags:
    """The latest first: those that wait, or those that were resolved; a slice of it is a list."""

    project: Project
    reader: Reader = field(kw_only=True)
    resolved: bool = False

    def count(self) -> int:
        return self._rows().count()

    def __getitem__(self, part: slice) -> list[ShownFlag]:
        rows = list(
            self._rows()
            .select_related("sample", "raised_by", "resolved_by", "task__batch")
            .defer("sample__answer", "sample__contexts", "sample__claims", "sample__metadata")
            .order_by("-id")[part]
        )
        blind = samples_still_to_label(self.reader, {flag.sample_id for flag in rows if flag.raised_by != self.reader})
        named = may_know_names(self.reader, self.project)
        return [self._shown(flag, named, flag.raised_by != self.reader and flag.sample_id in blind) for flag in rows]

    def _rows(self) -> QuerySet[Flag]:
        return Flag.objects.filter(project=self.project, resolved_at__isnull=not self.resolved)

    def _shown(self, flag: Flag, named: bool, is_blind: bool) -> ShownFlag:
        by = flag.raised_by if named or flag.raised_by == self.reader else None
        words = ("", "") if is_blind else (flag.reason, flag.resolution)
        return ShownFlag(flag, by, *words, held_back=is_blind)


def abstentions(project: Project, *, batch: int | None = None) -> int:
    """How many answers abstain; batch: of those of the batch of this number."""
    samples = Sample.objects.filter(project=project, abstained=True)
    if batch is not None:
        samples = samples.filter(batches__number=batch)
    return samples.count()


def unit_counts(criterion: Criterion, samples: Collection[str]) -> dict[str, int]:
    """Of each of these samples, by its own id; nothing for a kind of unit that a sample has once."""
    if criterion.unit not in LISTED_KINDS:
        return {}
    rows = (
        samples_named(criterion.project, samples)
        .annotate(units=UnitCount(criterion.unit))
        .order_by(Collate("external_id", "C"))
    )
    return {intern(name): units for name, units in rows.values_list("external_id", "units")}


def dropped_claims(criterion: Criterion, samples: Collection[str]) -> dict[str, list[int]]:
    """Of those of these samples that have such, the indices of claims that are units no more; nothing for another kind
    of unit."""
    if criterion.unit != UnitKind.CLAIM:
        return {}
    rows = samples_named(criterion.project, samples).filter(claims__contains=[{"dropped": True}])
    return {
        name: [index for index, claim in enumerate(claims) if is_dropped(claim)]
        for name, claims in rows.order_by(Collate("external_id", "C")).values_list("external_id", "claims")
    }
