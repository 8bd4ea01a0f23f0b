"""Projects and their members."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from annotate.core.errors import Conflict, Invalid
from annotate.core.texts import words_or_raise
from annotate.core.trail import note
from annotate.models import Membership, Project, Rater, Task, User
from annotate.models.batch import OPEN_TASK_STATUSES, RUNNING_BATCH_STATUSES
from annotate.models.project import Role
from annotate.projects.criteria import add_criteria
from annotate.projects.guidelines import change_guidelines, check_guidelines, first_guidelines

# What reviewers and annotators get to see (models.Project).
PROJECT_OPTIONS = ("show_names", "show_judges", "teach")
_FIELDS = {"slug", "name", "guidelines", "criteria"}
_SLUG = re.compile(r"^[a-z0-9]+(?:[-_][a-z0-9]+)*$")


def create_project(
    *, slug: str, spec: Mapping[str, Any], created_by: User | None = None, guidelines: str | None = None
) -> Project:
    """A project with its criteria from a specification (docs/formats.md: project.json). All or nothing.

    guidelines: in place of the specification's, and taken as they are: those that another project has already. The
    creator becomes an admin. Raises Invalid or Conflict with a sentence.
    """
    if not isinstance(spec, Mapping):
        raise Invalid("bad_project", _("Must be an object with “name” and “criteria”."))
    unknown = set(spec) - _FIELDS
    if unknown:
        raise Invalid(
            "unknown_field",
            _("Unknown field “%(unknown)s”. Must be one of %(fields)s.")
            % {"unknown": min(map(str, unknown))[:80], "fields": ", ".join(sorted(_FIELDS - {"slug"}))},
        )
    if not isinstance(slug, str) or not _SLUG.fullmatch(slug) or len(slug) > 60:
        raise Invalid(
            "bad_slug",
            _("“%(slug)s” can’t be a short name. Use only a–z, 0–9, “-” and “_”, at most 60.")
            % {"slug": str(slug)[:80]},
        )
    name = _name(spec.get("name") or slug)
    if guidelines is None:
        guidelines = check_guidelines(spec.get("guidelines") or "")
    criteria = spec.get("criteria", [])
    if not isinstance(criteria, list):
        raise Invalid("bad_criteria", "criteria: write a list of criteria or of keys of built-in ones.")
    try:
        with transaction.atomic():
            project = Project.objects.create(slug=slug, name=name, guidelines=guidelines, created_by=created_by)
            note(actor=created_by, action="project.created", subject=name, project=project)
            first_guidelines(project=project, actor=created_by)
            add_criteria(project=project, specs=criteria, actor=created_by)
            if created_by is not None:
                set_member(project=project, user=created_by, role=Role.ADMIN, actor=created_by)
    except IntegrityError as error:
        raise Conflict("slug_taken", _("A project “%(slug)s” already exists.") % {"slug": slug}) from error
    return project


def change_project(
    *,
    actor: User | None = None,
    project: Project,
    name: str,
    guidelines: str | None = None,
    show_names: bool | None = None,
    show_judges: bool | None = None,
    teach: bool | None = None,
) -> Project:
    """Changes what differs; what is None stays as it is. Other guidelines are their next version."""
    wanted: dict[str, Any] = {"name": _name(name)}
    for option, value in zip(PROJECT_OPTIONS, (show_names, show_judges, teach), strict=True):
        if not isinstance(value, bool | None):  # 0 is not false: it would come back as it came
            raise Invalid("bad_option", _("%(option)s: must be true or false.") % {"option": option})
        wanted |= {} if value is None else {option: value}
    with transaction.atomic():
        stands = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        changed = [field for field, value in wanted.items() if getattr(stands, field) != value]
        for field, value in wanted.items():
            setattr(project, field, value)
        if changed:
            project.save(update_fields=changed)
            options = {field: wanted[field] for field in changed if field in PROJECT_OPTIONS}
            note(
                actor=actor,
                action="project.changed",
                subject=project.name,
                project=project,
                fields=changed,
                **options,
            )
        if guidelines is not None:
            change_guidelines(actor=actor, project=project, text=guidelines)
    return project


def _name(text: Any) -> str:
    return words_or_raise(text, Invalid("bad_name", "name: write a text of 1 to 200 characters."), most=200)


def set_member(
    *, project: Project, user: User, role: str, actor: User | None = None, keeps_an_admin: bool = True
) -> Membership:
    """Adds the user with the role, or changes the role. A project keeps at least one admin, unless it is the provider's
    groups that decide (annotate.members.single_sign_on)."""
    if role not in Role.values:
        raise Invalid(
            "bad_role",
            _("role: “%(role)s” must be one of %(known)s.") % {"role": role, "known": ", ".join(Role.values)},
        )
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        if keeps_an_admin:
            keep_an_admin(project, user, becomes=role)
        before = Membership.objects.filter(project=project, user=user).values_list("role", flat=True).first()
        membership, _made = Membership.objects.update_or_create(project=project, user=user, defaults={"role": role})
        _rater_for(project, user)
        if before is None:
            note(actor=actor, action="member.added", subject=user.username, project=project, role=role)
        elif before != role:
            note(
                actor=actor,
                action="member.role_changed",
                subject=user.username,
                project=project,
                role=role,
                before=before,
            )
    return membership


def remove_member(*, project: Project, user: User, actor: User | None = None) -> None:
    """Takes the user out of the project. Their labels stay and keep their name; open tasks must be finished first."""
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        keep_an_admin(project, user, becomes=None)
        tasks = Task.objects.filter(
            batch__project=project,
            batch__status__in=RUNNING_BATCH_STATUSES,
            annotator=user,
            status__in=OPEN_TASK_STATUSES,
        ).count()
        if tasks:
            raise Conflict(
                "has_open_tasks",
                _("%(name)s still has %(tasks)s unfinished tasks in open batches. Reassign them first.")
                % {"name": user.name, "tasks": tasks},
                tasks=tasks,
            )
        gone = Membership.objects.filter(project=project, user=user)
        for role in gone.values_list("role", flat=True):
            note(actor=actor, action="member.removed", subject=user.username, project=project, role=role)
        gone.delete()


def keep_an_admin(project: Project, user: User, *, becomes: str | None) -> None:
    admins = Membership.objects.filter(project=project, role=Role.ADMIN, is_active=True, user__is_active=True)
    if becomes != Role.ADMIN and set(admins.values_list("user_id", flat=True)) == {user.pk}:
        raise Conflict("last_admin", _("A project needs at least one admin. Make another member admin first."))


def _rater_for(project: Project, user: User) -> Rater:
    """The member's rater. A rater of imported labels with this name is taken over only while it has no user."""
    rater = Rater.objects.filter(project=project, user=user).first()
    if rater is not None:
        return rater
    rater, created = Rater.objects.get_or_create(project=project, name=user.username, defaults={"user": user})
    if not created and rater.user_id is None:
        rater.user = user
        rater.save(update_fields=["user"])
    elif rater.user_id != user.pk:
        raise Conflict(
            "rater_name_taken",
            _("The name “%(username)s” is already used by imported labels.") % {"username": user.username},
        )
    return rater
