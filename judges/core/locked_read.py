"""What is locked: of which samples no user may know what judges said (docs/decisions/0032-what-is-locked.md).

What judges say of the test half is measured at looks alone. Whoever knows it beforehand can choose by it, and whoever
decides about units can change a verdict by it. So it is told to no user, whatever their role: for a criterion with
passing values, of samples on the test half, and of those that people labelled and that have no side yet, since they may
come to lie there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from annotate.core.blindness import GeneralReader, Reader
from annotate.core.rows import fetch_all
from annotate.models import Project
from judges.models import Side


@dataclass(frozen=True, slots=True)
class Locked:
    """keys: of each locked sample, by primary key, the criteria it is locked for. asked: every criterion key of the
    project."""

    keys: Mapping[int, Collection[str]] = field(default_factory=dict)
    asked: Collection[str] = ()

    def hides(self, sample_id: int, dimension: str | None = None) -> bool:
        """Whether a judge's answer under this name is hidden. A name that is no criterion's key may be compared with
        any criterion; None: the answer may be about all of them."""
        keys = self.keys.get(sample_id, ())
        return dimension in keys if dimension in self.asked else bool(keys)


# The side of a sample's group is the strongest of its own and of those that its samples had alone, as
# judges.core.split has it.
_LOCKED = """
    WITH keys AS (
        SELECT DISTINCT key FROM annotate_criterion WHERE project_id = %(project)s AND passes <> '[]'
    )
    SELECT s.id, keys.key FROM annotate_sample s CROSS JOIN keys
    CROSS JOIN LATERAL (
        SELECT bool_or(m.side = %(dev)s) AS dev, bool_or(m.side = %(systems)s) AS systems, count(*) AS sides
        FROM judges_groupside m
        WHERE m.project_id = s.project_id AND m.criterion_key = keys.key AND (
            m."group" = coalesce(nullif(s.group_key, ''), s.external_id)
            OR s.group_key <> '' AND m."group" IN (
                SELECT o.external_id FROM annotate_sample o
                WHERE o.project_id = s.project_id AND o.group_key = s.group_key
            )
        )
    ) AS side
    WHERE s.project_id = %(project)s AND s.id = ANY(%(samples)s) AND CASE
        WHEN side.sides > 0 THEN NOT side.dev AND NOT side.systems
        ELSE EXISTS (
            SELECT FROM annotate_label l JOIN annotate_criterion c ON c.id = l.criterion_id
            WHERE l.sample_id = s.id AND c.key = keys.key
        ) OR EXISTS (
            SELECT FROM annotate_verdict v JOIN annotate_criterion c ON c.id = v.criterion_id
            WHERE v.sample_id = s.id AND c.key = keys.key
        )
    END
"""


def locked(project: Project, sample_ids: Collection[int], *, reader: Reader) -> Locked:
    """Of these samples. Two queries; nothing is locked for a reader that is no user."""
    if isinstance(reader, GeneralReader) or not sample_ids:
        return Locked()
    keys = locked_keys(project, sample_ids)
    return Locked(keys, set(project.criteria.order_by().values_list("key", flat=True)))


def locked_keys(project: Project, sample_ids: Collection[int]) -> dict[int, set[str]]:
    """Of those of these samples that are locked for a criterion, the keys of such."""
    sides = {"dev": Side.DEV, "systems": Side.SYSTEMS}
    keys: dict[int, set[str]] = defaultdict(set)
    for sample, key in fetch_all(_LOCKED, {"project": project.pk, "samples": list(sample_ids), **sides}):
        keys[sample].add(key)
    return dict(keys)


def locked_samples(project: Project, sample_ids: Collection[int], *, reader: Reader) -> set[int]:
    """Those of the samples that are locked for any criterion."""
    return set(locked(project, sample_ids, reader=reader).keys)


def why_locked() -> str:
    return _("Judge results for this sample are locked: it is, or may be, in the test set.")
