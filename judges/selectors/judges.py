"""The judges of a project as they are read."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from django.utils.translation import gettext as _

from annotate.errors import Invalid
from annotate.models import Project
from judges.models import Judge, JudgeVersion, VersionState


def judges_of(project: Project) -> QuerySet[Judge]:
    """By name, with everything that `judge_as_dict` shows."""
    return Judge.objects.filter(project=project).prefetch_related("versions").order_by("name")


def versions_of(judge: Judge) -> QuerySet[JudgeVersion]:
    """In the order in which they were made, with everything that `version_as_dict` shows."""
    return JudgeVersion.objects.filter(judge=judge).select_related("judge", "endpoint", "based_on", "created_by")


def one_version(judge: Judge, number: int) -> JudgeVersion:
    found = versions_of(judge).filter(number=number).first()
    if found is None:
        raise Http404(_("This judge has no such version."))
    return found


def one_judge(project: Project, judge_id: int) -> Judge:
    found = judges_of(project).filter(pk=judge_id).first()
    if found is None:
        raise Http404(_("This project has no such judge."))
    return found


def judge_named(project: Project, name: str) -> Judge:
    """For command lines. Raises Invalid with a sentence that names what there is."""
    judge = Judge.objects.filter(project=project, name=name).first()
    if judge is None:
        known = ", ".join(Judge.objects.filter(project=project).order_by("name").values_list("name", flat=True)[:20])
        raise Invalid("unknown_judge", f"“{project.slug}” has no judge “{name}”. Judges: {known or 'none yet'}.")
    return judge


def judge_as_dict(judge: Judge) -> dict[str, Any]:
    return {
        "id": judge.pk,
        "name": judge.name,
        "kind": judge.kind,
        "description": judge.description,
        "higher_is_better": judge.higher_is_better,
        "versions": [version.label for version in judge.versions.all()],
        "current": max(
            (version.number for version in judge.versions.all() if version.state == VersionState.KEPT), default=None
        ),
    }


def samples_with_verdicts(version: JudgeVersion) -> set[str]:
    """The samples, by their own ids, of which the configuration tells what people decided: its examples."""
    examples = version.config.get("examples") or {}
    return {example["sample"] for example in examples.get("drawn", [])}


def version_as_dict(version: JudgeVersion, *, with_config: bool) -> dict[str, Any]:
    """with_config: else it is null, for somebody who may not know the verdicts that it has as examples."""
    return {
        "number": version.number,
        "label": version.label,
        "state": version.state,
        "hash": version.content_hash,
        "endpoint": None if version.endpoint is None else version.endpoint.name,
        "based_on": None if version.based_on is None else version.based_on.number,
        "created_by": None if version.created_by is None else version.created_by.username,
        "created_at": version.created_at.isoformat(),
        "config": version.config if with_config else None,
    }
