"""Targets are defined, removed and tried. Only the endpoint decides where a request goes, and has the key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson
from django.db import transaction
from django.http import Http404
from django.utils.translation import gettext as _

from annotate.core.errors import Invalid
from annotate.core.trail import note
from annotate.models import Project, User
from judges.endpoints.calls import CallFailed, StopRun
from judges.endpoints.door import Door
from judges.endpoints.read import one_endpoint
from judges.endpoints.write import LONGEST_TRY
from systems.models import Method, Question, QuestionRevision, SystemVersion, Target
from systems.targets.asking import open_asker
from systems.targets.read import own_target
from systems.targets.replies import Mapped, NoAnswer, check_pointers
from systems.targets.template import check_asks, check_body, check_headers, check_path

FIELDS = ("endpoint", "method", "path", "headers", "body", "reply")


def set_target(
    *, actor: User | None, project: Project, version: SystemVersion | None = None, said: Mapping[str, Any]
) -> Target:
    """Stores the whole target: what is left out is what a new one has. said: of FIELDS; endpoint is a name.

    version: whose own it is, else of all that have none. Raises Invalid, with its `field`.
    """
    wanted = _checked(project, said)
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        target = own_target(project, version) or Target(project=project, version=version, created_by=actor)
        changed = [name for name, value in wanted.items() if target.pk is None or getattr(target, name) != value]
        if changed:
            target.revision += target.pk is not None
            for name, value in wanted.items():
                setattr(target, name, value)
            target.save()
            note(
                actor=actor, action="target.set", subject=_subject(project, version), project=project,
                endpoint=target.endpoint.name, fields=sorted(changed),
            )  # fmt: skip
    return target


def remove_target(*, actor: User | None, project: Project, version: SystemVersion | None = None) -> None:
    """Raises Http404 where there is none. What was asked stays."""
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        target = own_target(project, version)
        if target is None:
            raise Http404(_("No target is defined here."))
        target.delete()
        note(actor=actor, action="target.removed", subject=_subject(project, version), project=project)


def copy_targets(*, actor: User, project: Project, made: Project) -> None:
    """Into a project that was made with endpoints of the same names: the target of all versions, as a copy has no
    versions."""
    target = own_target(project, None)
    if target is not None:
        said = {name: getattr(target, name) for name in FIELDS}
        set_target(actor=actor, project=made, said={**said, "endpoint": target.endpoint.name})


def _subject(project: Project, version: SystemVersion | None) -> str:
    return project.name if version is None else version.name


def _checked(project: Project, said: Mapping[str, Any]) -> dict[str, Any]:
    unknown = sorted(said.keys() - set(FIELDS))
    if unknown:
        name = unknown[0][:80]
        raise Invalid("unknown_field", _("Unknown field “%(name)s”.") % {"name": name}, field=name)
    try:
        endpoint = one_endpoint(project, str(said.get("endpoint") or ""))
    except Http404 as error:
        raise Invalid("bad_endpoint", _("Endpoint: %(problem)s") % {"problem": error}, field="endpoint") from None
    method = said.get("method") or Method.POST
    if method not in Method.values:
        known = ", ".join(Method.values)
        raise Invalid("bad_method", _("Method: must be one of %(known)s.") % {"known": known}, field="method")
    wanted = {
        "endpoint": endpoint,
        "method": method,
        "path": check_path(said.get("path") or ""),
        "headers": check_headers(said.get("headers") or {}),
        "body": check_body(said.get("body")),
        "reply": check_pointers(said.get("reply") or {}),
    }
    check_asks(wanted["method"], wanted["path"], wanted["body"])
    return wanted


@dataclass(frozen=True, slots=True)
class TargetTrial:
    """What came of one question. message: why it would be a failure; empty where it is an answer. raw: the reply."""

    message: str
    raw: str = ""
    seconds: float | None = None
    mapped: Mapped | None = field(default=None)

    @property
    def works(self) -> bool:
        return self.mapped is not None

    @property
    def shown_raw(self) -> str:
        """Indented, where it is JSON."""
        try:
            return orjson.dumps(orjson.loads(self.raw), option=orjson.OPT_INDENT_2).decode()
        except orjson.JSONDecodeError:
            return self.raw


def try_target(*, target: Target, version: SystemVersion, question: QuestionRevision) -> TargetTrial:
    """Asks one question and says what its reply would become. Nothing is stored. version: for its places; one that is
    not stored will do, and so will a question."""
    raw, seconds = "", None
    try:
        with open_asker(target, version, door=Door(1), at_most=LONGEST_TRY) as asker:
            came = asker.ask(asker.sent(question, 0))
            raw, seconds = came.text, came.seconds
            return TargetTrial("", raw, seconds, asker.mapped(came))
    except (StopRun, Invalid) as stop:
        return TargetTrial(stop.message)
    except (CallFailed, NoAnswer) as failure:
        return TargetTrial(failure.detail, raw, seconds)


def unsaved_question(text: str) -> QuestionRevision:
    """A question of somebody who tries a target. Raises Invalid for none."""
    if not text.strip():
        raise Invalid("no_question", _("Write a question."), field="question")
    return QuestionRevision(question=Question(external_id="try"), number=1, text=text)


def unsaved_version(project: Project) -> SystemVersion:
    """Where the project has none yet."""
    return SystemVersion(project=project, name="try", configuration={}, price={})
