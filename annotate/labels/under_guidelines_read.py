"""What was labelled under each version of a project's guidelines."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Count

from annotate.core import walking
from annotate.core.rows import execute, fetch_all
from annotate.core.walking import Counted, up_to_limit
from annotate.labels.read import is_carried
from annotate.models import Label, Project

# Up to so many, which PostgreSQL is not told beforehand: it would take any rows of the table for a sample of all, and
# look for labels of the latest version from the first of all labels on.
_FIRST = """
    SELECT FROM annotate_label l JOIN annotate_rater r ON r.id = l.rater_id
     WHERE r.project_id = %(project)s AND l.guideline_version {version} AND (l.value IS NOT NULL OR l.cant_tell <> '')
       AND NOT EXISTS (SELECT FROM annotate_labelevent e
                        WHERE e.label_id = l.id AND e.revision = 1 AND e.carried_from_id IS NOT NULL)
     LIMIT (SELECT {most})
"""
_COUNTED = f"""
    SELECT v.number, (SELECT count(*) FROM ({_FIRST.format(version="= v.number", most="%(most)s::int")}) AS found)
      FROM unnest(%(numbers)s::int[]) AS v (number)
     UNION ALL
    SELECT NULL, count(*) FROM ({_FIRST.format(version="IS NULL", most="%(most)s::int")}) AS found
"""
_HAS_OLDER = f"SELECT EXISTS ({_FIRST.format(version='< %(newest)s', most='1')})"


def labels_by_version(project: Project) -> dict[int | None, int]:
    """How many labels were made under each; None: under which, nobody knows; an imported label is one of these.

    Of every label that says something; also of tasks that are still open. One that was carried over to a later
    version of its criterion was made once."""
    said = Label.objects.filter(~is_carried(), rater__project=project).exclude(value__isnull=True, cant_tell="")
    return dict(said.order_by().values_list("guideline_version").annotate(Count("id")))


@dataclass(frozen=True)
class Under:
    """counts: as `labels_by_version`, each up to a limit. has_older: whether some were made under one before the
    newest."""

    counts: dict[int | None, Counted]
    has_older: bool


def first_labels_by_version(project: Project, numbers: Collection[int], newest: int) -> Under:
    """Of these versions, for a page. Which labels a version has is told by an index of a few pages, which says of each
    part of the table what is in it; PostgreSQL doesn't trust it where it never saw a label with a version."""
    given = {
        "project": project.pk, "numbers": list(numbers), "newest": newest, "most": walking.MOST_COUNTED + 1,
    }  # fmt: skip
    with transaction.atomic():
        execute("SET LOCAL enable_seqscan = off")
        counted = fetch_all(_COUNTED, given)
        ((has_older,),) = fetch_all(_HAS_OLDER, given)
        execute("SET LOCAL enable_seqscan = on")
    return Under({number: up_to_limit(n) for number, n in counted}, has_older)
