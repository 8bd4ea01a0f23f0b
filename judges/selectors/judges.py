"""The judges of a project as they are read."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from django.utils.translation import gettext as _

from annotate.errors import Invalid
from annotate.models import Project
from judges.models import Judge


def judges_of(project: Project) -> QuerySet[Judge]:
    """By name, with everything that `judge_as_dict` shows."""
    return Judge.objects.filter(project=project).prefetch_related("versions").order_by("name")


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
    }
