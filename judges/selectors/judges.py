"""The judges of a project as they are read."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from django.utils.translation import gettext as _

from annotate.core.blindness import samples_still_to_label
from annotate.core.errors import Invalid
from annotate.core.permissions import may
from annotate.models import Project, User
from annotate.samples.read import samples_named
from judges.models import Judge, JudgeVersion, VersionState


def judges_of(project: Project) -> QuerySet[Judge]:
    """By name, with everything that `judge_as_dict` shows."""
    return Judge.objects.filter(project=project).prefetch_related("versions").order_by("name")


def versions_of(judge: Judge) -> QuerySet[JudgeVersion]:
    """In the order in which they were made, with everything that `version_as_dict` shows."""
    return JudgeVersion.objects.filter(judge=judge).select_related(
        "judge__project", "endpoint", "based_on", "created_by"
    )


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
        raise Invalid(
            "unknown_judge",
            _("“%(project)s” has no judge “%(name)s”. Judges: %(known)s.")
            % {"project": project.slug, "name": name, "known": known or _("none yet")},
        )
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


def may_know_examples(version: JudgeVersion, *, reader: User, role: str | None) -> bool:
    """Whether they may know the verdicts that the configuration has as examples: admins may, except of samples that are
    still theirs to label. True where it has none."""
    names = samples_with_verdicts(version)
    if not names:
        return True
    if not may(role, "judges.run"):
        return False
    keys = samples_named(version.judge.project, names).values_list("pk", flat=True)
    return not samples_still_to_label(reader, list(keys))


def version_as_dict(version: JudgeVersion, *, with_examples: bool) -> dict[str, Any]:
    """with_examples: else what people decided of them is left out of the configuration (`drawn` is null)."""
    config = version.config
    if not with_examples:
        config = {**config, "examples": {**config["examples"], "drawn": None}}
    return {
        "number": version.number,
        "label": version.label,
        "state": version.state,
        "hash": version.content_hash,
        "endpoint": None if version.endpoint is None else version.endpoint.name,
        "based_on": None if version.based_on is None else version.based_on.number,
        "created_by": None if version.created_by is None else version.created_by.username,
        "created_at": version.created_at.isoformat(),
        "config": config,
    }
