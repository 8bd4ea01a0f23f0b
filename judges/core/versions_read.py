"""Which version of a judge counts."""

from __future__ import annotations

from django.db.models import Q

from annotate.models import Project
from judges.models import Judge, JudgeVersion, VersionState

# Of scores, runs and whatever else has a version: only versions in use are held against people.
OF_KEPT = Q(version__state=VersionState.KEPT)


def current_version(judge: Judge) -> JudgeVersion | None:
    """The latest of those in use: what the judge says today."""
    return JudgeVersion.objects.filter(judge=judge, state=VersionState.KEPT).order_by("-number").first()


def version_named(project: Project, judge_name: str, label: str) -> JudgeVersion | None:
    found = JudgeVersion.objects.filter(judge__project=project, judge__name=judge_name, label=label)
    return found.select_related("judge").first()
