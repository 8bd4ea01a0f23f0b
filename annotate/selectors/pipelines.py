"""Which versions of a pipeline a project has samples of."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Max, Min

from annotate.models import Project, Sample


def pipeline_versions(project: Project) -> list[dict[str, Any]]:
    """[{"version", "samples", "first_at", "last_at"}], the one whose samples came last first."""
    rows = (
        Sample.objects.filter(project=project)
        .exclude(pipeline_version="")
        .order_by()
        .values("pipeline_version")
        .annotate(samples=Count("pk"), first_at=Min("created_at"), last_at=Max("created_at"))
    )
    return [
        {
            "version": row["pipeline_version"],
            "samples": row["samples"],
            "first_at": row["first_at"].isoformat(),
            "last_at": row["last_at"].isoformat(),
        }
        for row in sorted(rows, key=lambda row: (row["last_at"], row["pipeline_version"]), reverse=True)
    ]
