"""Creating judges and their versions, taking versions into and out of use, and setting a judge's direction. Nothing
else about them ever changes.
"""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import Max, Q
from django.utils.translation import gettext as _

from annotate.core.errors import Conflict, Invalid
from annotate.core.texts import check_json, is_blank, is_storable
from annotate.core.trail import note
from annotate.models import Project, User
from judges.core.scores_read import version_named
from judges.kinds.base import Kind, Refused
from judges.kinds.registry import kind_named
from judges.models import (
    CascadeLook,
    Certificate,
    Endpoint,
    Judge,
    JudgeKind,
    JudgeVersion,
    Look,
    Run,
    RunState,
    VersionState,
)
from judges.versions.identity import canonical_json, content_hash, imported_content_hash
from judges.versions.read import kept_on_top_of, members_of

MAX_NAME = 200
MAX_DESCRIPTION = 10_000
# Of a configuration as JSON: a prompt with its examples is far smaller.
MAX_CONFIG_BYTES = 1_000_000


def create_judge(
    *,
    project: Project,
    name: str,
    kind: str,
    config: Any,
    endpoint: str | None = None,
    description: str = "",
    higher_is_better: bool = True,
    actor: User | None = None,
) -> Judge:
    """A judge with its first version, in use.

    endpoint: the name of one of the project's, for a judge that asks a model.

    Raises Invalid for a wrong field (`field` in its details says which) and Conflict for a name that is taken.
    """
    name = _name(name)
    if not isinstance(description, str) or len(description) > MAX_DESCRIPTION or not is_storable(description):
        raise _bad("description", _("must be text of at most %(most)d characters.") % {"most": MAX_DESCRIPTION})
    if not isinstance(higher_is_better, bool):
        raise _bad("higher_is_better", _("must be true or false."))
    if not isinstance(kind, str):
        raise _bad("kind", _("must be a kind of judge."))
    made = kind_named(kind)
    with transaction.atomic():
        # Locked as by looks and imports.
        locked = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        if Judge.objects.filter(project=locked, name=name).exists():
            raise Conflict(
                "name_taken",
                _("Judge “%(name)s” already exists. Save a new version of it, or choose another name.")
                % {"name": name},
            )
        judge = Judge.objects.create(
            project=locked, name=name, kind=kind, description=description, higher_is_better=higher_is_better
        )
        note(actor=actor, action="judge.created", subject=name, project=locked, kind=kind)
        _add(judge, made, config, endpoint, VersionState.KEPT, None, actor)
    return judge


def add_version(
    *,
    judge: Judge,
    config: Any,
    endpoint: str | None = None,
    state: str = VersionState.KEPT,
    based_on: JudgeVersion | None = None,
    actor: User | None = None,
) -> JudgeVersion:
    """The judge's version of this configuration: a new one, or the existing one when nothing differs.

    state: of a new one, kept or on trial. An existing one is taken into use when that is asked for, and one that was
    dropped gets this state; one in use stays in use.

    Raises Invalid for a configuration that can't be taken, and Conflict for an imported judge and where `keep_version`
    does.
    """
    if state not in (VersionState.KEPT, VersionState.TRIAL):
        raise _bad("state", _("must be kept or trial."))
    if judge.kind == JudgeKind.IMPORTED:
        raise Conflict(
            "imported_judge",
            _("The scores of “%(name)s” were imported, so it can’t be run here. Create a judge with another name.")
            % {"name": judge.name},
        )
    if based_on is not None and based_on.judge_id != judge.pk:
        raise _bad("based_on", _("must be a version of the same judge."))
    made = kind_named(judge.kind)
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=judge.project_id)
        return _add(judge, made, config, endpoint, state, based_on, actor)


def imported_version(judge: Judge, label: str) -> tuple[JudgeVersion, bool]:
    """The imported judge's version that files call by this label, and whether it was created just now. For the import,
    which has locked the project."""
    config = {"source": "import", "version": label}
    digest = imported_content_hash(config)
    found = JudgeVersion.objects.filter(judge=judge, content_hash=digest).first()
    if found is not None:
        return found, False
    made = JudgeVersion.objects.create(
        judge=judge, number=_next_number(judge), label=label, config=config, content_hash=digest
    )
    return made, True


def keep_version(*, version: JudgeVersion, actor: User | None = None) -> JudgeVersion:
    """Takes a version into use: from now on it is the judge's current one, and its scores count.

    Raises Conflict when a later version is in use already, and for one that is made of versions that aren't.
    """
    with transaction.atomic():
        _lock(version)
        return _keep(version, actor)


def drop_version(*, version: JudgeVersion, actor: User | None = None) -> JudgeVersion:
    """Takes a version out of use: its scores are kept, but no longer count. When it was the latest in use, the previous
    one is the judge's current one again.

    Raises Conflict for an imported version, one that is being run, one that judges in use are made of, and the only one
    in use of a judge that was certified.
    """
    with transaction.atomic():
        _lock(version)
        if version.state == VersionState.DROPPED:
            return version
        _refuse_drop(version.judge, version)
        return _set_state(version, VersionState.DROPPED, "judge.version_dropped", actor)


def judge_spec(version: JudgeVersion) -> dict[str, Any]:
    """Everything that is needed to create the same judge elsewhere: what `create_judge --file` reads."""
    judge = version.judge
    return {
        "name": judge.name,
        "kind": judge.kind,
        "description": judge.description,
        "higher_is_better": judge.higher_is_better,
        "endpoint": None if version.endpoint is None else version.endpoint.name,
        "config": version.config,
    }


def _add(
    judge: Judge,
    kind: Kind,
    config: Any,
    endpoint_name: str | None,
    state: str,
    based_on: JudgeVersion | None,
    actor: User | None,
) -> JudgeVersion:
    check_json(config)
    complete = _complete(kind, config, judge.project)
    endpoint = _endpoint(judge.project, endpoint_name, kind.asks_model(complete))
    digest = content_hash(kind, complete, None if endpoint is None else endpoint.name)
    there = JudgeVersion.objects.filter(judge=judge, content_hash=digest).select_related("judge").first()
    if there is not None:
        if there.state == VersionState.DROPPED and state == VersionState.TRIAL:
            _set_state(there, VersionState.TRIAL, "judge.version_tried_again", actor)
        return _keep(there, actor) if state == VersionState.KEPT else there
    if state == VersionState.KEPT:
        _require_kept_members(judge, complete)
    number = _next_number(judge)
    added = JudgeVersion.objects.create(
        judge=judge,
        number=number,
        label=str(number),
        config=complete,
        content_hash=digest,
        code_version=kind.code_version,
        state=state,
        based_on=based_on,
        endpoint=endpoint,
        created_by=actor,
    )
    note(
        actor=actor,
        action="judge.version_added",
        subject=judge.name,
        project=judge.project,
        label=added.label,
        state=str(state),
        hash=digest,
    )
    return added


def _next_number(judge: Judge) -> int:
    return (JudgeVersion.objects.filter(judge=judge).aggregate(last=Max("number"))["last"] or 0) + 1


def _keep(version: JudgeVersion, actor: User | None) -> JudgeVersion:
    judge = version.judge
    if version.state == VersionState.KEPT:
        return version
    later = JudgeVersion.objects.filter(judge=judge, state=VersionState.KEPT, number__gt=version.number)
    last = later.order_by("-number").first()
    if last is not None:
        raise Conflict(
            "later_version_kept",
            _("The later version %(label)s of “%(name)s” is active. Discard it first to go back.")
            % {"label": last.label, "name": judge.name},
            version=last.label,
        )
    _require_kept_members(judge, version.config)
    return _set_state(version, VersionState.KEPT, "judge.version_kept", actor)


def _lock(version: JudgeVersion) -> None:
    """The project and the version, as a run does when it starts."""
    Project.objects.select_for_update(no_key=True).get(pk=version.judge.project_id)
    version.refresh_from_db(fields=["state"], from_queryset=JudgeVersion.objects.select_for_update())


def _set_state(version: JudgeVersion, state: VersionState, action: str, actor: User | None) -> JudgeVersion:
    version.state = state
    version.save(update_fields=["state"])
    judge = version.judge
    note(actor=actor, action=action, subject=judge.name, project=judge.project, label=version.label)
    return version


def _require_kept_members(judge: Judge, config: Any) -> None:
    for name, label in members_of(judge.kind, config):
        member = version_named(judge.project, name, label)
        if member is None or member.state != VersionState.KEPT:
            raise Conflict(
                "member_not_kept",
                _("“%(judge)s” uses version %(label)s of “%(name)s”, which is not active.")
                % {"judge": judge.name, "label": label, "name": name},
            )


def _refuse_drop(judge: Judge, version: JudgeVersion) -> None:
    named = {"label": version.label, "name": judge.name}
    if judge.kind == JudgeKind.IMPORTED:
        raise Conflict(
            "imported_version",
            _("Version %(label)s of “%(name)s” was imported and can’t be changed.") % named,
        )
    if Run.objects.filter(version=version, state=RunState.RUNNING).exists():
        raise Conflict(
            "run_under_way", _("Version %(label)s of “%(name)s” is running. Cancel or pause the run first.") % named
        )
    if version.state != VersionState.KEPT:
        return
    users = kept_on_top_of(version)
    if users:
        names = ", ".join(f"“{one.judge.name}” ({one.label})" for one in users)
        raise Conflict(
            "member_of_kept",
            _("Active judges use version %(label)s of “%(name)s”: %(names)s.") % {**named, "names": names},
        )
    others = JudgeVersion.objects.filter(judge=judge, state=VersionState.KEPT).exclude(pk=version.pk)
    certificate = Certificate.objects.filter(look__version=version).first()
    if certificate is not None and not others.exists():
        raise Conflict(
            "certified",
            _(
                "Version %(label)s of “%(name)s” is the only active one, and certificate %(number)s uses it. "
                "Activate another version first."
            )
            % {**named, "number": certificate.number},
            certificate=certificate.number,
        )


def _complete(kind: Kind, config: Any, project: Project) -> dict[str, Any]:
    try:
        complete = kind.complete(config, project)
    except Refused as error:
        raise _bad(f"config.{error.field}" if error.field else "config", error.message) from error
    written = canonical_json(complete)
    if len(written) > MAX_CONFIG_BYTES:
        raise _bad("config", _("must be at most %(most)d bytes as JSON.") % {"most": MAX_CONFIG_BYTES})
    return complete


def _endpoint(project: Project, name: Any, is_needed: bool) -> Endpoint | None:
    if not is_needed:
        if name is not None:
            raise _bad("endpoint", _("this judge doesn’t call a model. Leave out the endpoint."))
        return None
    known = list(Endpoint.objects.filter(project=project).order_by("name"))
    for endpoint in known:
        if endpoint.name == name:
            return endpoint
    names = ", ".join(endpoint.name for endpoint in known) or _("none yet")
    if name is None:
        raise _bad(
            "endpoint",
            _("this judge calls a model. Must be one of the project’s endpoints (%(names)s).") % {"names": names},
        )
    raise _bad(
        "endpoint",
        _("“%(name)s” not found in this project. Must be one of %(names)s.") % {"name": str(name)[:80], "names": names},
    )


def _name(name: Any) -> str:
    if not isinstance(name, str) or is_blank(name) or len(name) > MAX_NAME or not is_storable(name):
        raise _bad("name", _("must be text of 1 to %(most)d characters.") % {"most": MAX_NAME})
    return name.strip()


def _bad(field: str, message: str) -> Invalid:
    return Invalid("bad_judge", f"{field}: {message}", field=field, problem=message)


def set_direction(*, judge: Judge, higher_is_better: Any, actor: User | None = None) -> Judge:
    """Sets whether a higher score means better, which makes earlier reports out of date.

    Raises Conflict once the judge was measured on test: a look and its certificate hold in the direction in which they
    were taken, and never change.
    """
    if not isinstance(higher_is_better, bool):
        raise Invalid("bad_direction", "higher_is_better: true or false.")
    with transaction.atomic():
        # Locked as by looks and imports.
        Project.objects.select_for_update(no_key=True).get(pk=judge.project_id)
        judge.refresh_from_db(fields=["higher_is_better"])
        if judge.higher_is_better == higher_is_better:
            return judge
        if judge.kind == JudgeKind.CASCADE:
            raise Conflict("cascade", _("A cascade scores 1 for a pass, so higher is better."))
        looks = Look.objects.filter(judge=judge).count()
        looks += CascadeLook.objects.filter(Q(cheap__judge=judge) | Q(dear__judge=judge)).count()
        if looks:
            raise Conflict(
                "has_looks",
                _(
                    "“%(name)s” was evaluated on the test set (%(looks)s times), so its direction can’t change. Import "
                    "the scores under another name."
                )
                % {"name": judge.name, "looks": looks},
                looks=looks,
            )
        judge.higher_is_better = higher_is_better
        judge.save(update_fields=["higher_is_better"])
        note(
            actor=actor,
            action="judge.direction_set",
            subject=judge.name,
            project=judge.project,
            higher_is_better=higher_is_better,
        )
    return judge
