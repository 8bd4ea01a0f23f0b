"""The metadata that samples have, as something to choose from."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from django.db import connection

from annotate.models import Project

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

    Keys whose values are all different (ids, addresses) are left out: nobody filters by them.
    """
    with connection.cursor() as cursor:
        cursor.execute(_METADATA, {"project": project.pk, "samples": METADATA_SAMPLES, "values": MAX_VALUES})
        found: dict[str, KnownKey] = {}
        for key, value, samples in cursor.fetchall():
            known = found.setdefault(key, KnownKey(key))
            known.values.append(KnownValue(_decoded(value), samples))
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
    with connection.cursor() as cursor:
        cursor.execute(_OF_SAMPLES, {"project": project.pk, "samples": sorted(samples), "longest": LONGEST_VALUE})
        return {sample: _decoded(values) for sample, values in cursor.fetchall()}


def _decoded(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value
