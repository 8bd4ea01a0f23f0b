"""What people report about samples, as admins and reviewers read it."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from annotate.models import Flag, Project


def flags_of(project: Project, *, resolved: bool = False) -> QuerySet[Flag]:
    """The latest first: those that wait, or those that were resolved."""
    return (
        Flag.objects.filter(project=project, resolved_at__isnull=not resolved)
        .select_related("sample", "raised_by", "resolved_by", "task__batch")
        .defer("sample__answer", "sample__contexts", "sample__claims", "sample__metadata")
        .order_by("-id")
    )


def flag_as_dict(flag: Flag) -> dict[str, Any]:
    return {
        "id": flag.pk,
        "sample": flag.sample_id,
        "sample_id": flag.sample.external_id,
        "reason": flag.reason,
        "raised_by": flag.raised_by.username,
        "created_at": flag.created_at,
        "resolution": flag.resolution,
        "resolved_by": flag.resolved_by.username if flag.resolved_by else None,
        "resolved_at": flag.resolved_at,
    }
