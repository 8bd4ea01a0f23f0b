"""Who may do what, and which scope a token needs for it: the one table. Views and API endpoints name an action;
nothing else decides."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404
from django.utils.translation import gettext as _

from annotate.models.account import Identity, Scope
from annotate.models.project import Membership, Project, Role, User

_ALL = frozenset(Role.values)
_STAFF = frozenset({Role.ADMIN.value, Role.REVIEWER.value})
_ADMIN = frozenset({Role.ADMIN.value})

ROLES_FOR: dict[str, frozenset[str]] = {
    "project.read": _ALL,  # name, guidelines, criteria
    "project.change": _ADMIN,
    "project.manage": _ADMIN,  # duplicate, archive, restore and delete it
    "audit.read": _ADMIN,  # who said and did what: names, labels, verdicts
    "guidelines.change": _STAFF,  # reviewers see in disputes what the guidelines leave open
    "members.read": _ADMIN,
    "members.change": _ADMIN,
    "criteria.read": _ALL,
    "criteria.change": _ADMIN,
    "samples.read": _STAFF,  # annotators see a sample only through their own task
    "views.change": _STAFF,  # one's own views of the list of samples
    "views.moderate": _ADMIN,  # views that others shared
    "claims.change": _STAFF,
    "import.read": _ADMIN,
    "import.run": _ADMIN,
    "batches.read": _STAFF,
    "batches.change": _ADMIN,
    "schedules.read": _STAFF,  # of audits
    "schedules.change": _ADMIN,
    "qualifications.read": _ADMIN,  # who passed which test, and how well
    "qualifications.change": _ADMIN,
    "tasks.return": _STAFF,
    "gold.read": _ADMIN,  # known answers: who is measured by them must not see them
    "gold.change": _ADMIN,
    "work.label": _ALL,  # one's own tasks only: annotate.tasks.labelling
    "own_threads.read": _ALL,  # what one asked about one's own tasks
    "threads.write": _ALL,  # in one's own; reviewers and admins in all
    "threads.read": _STAFF,  # everyone's
    "threads.answer": _STAFF,
    "flags.raise": _ALL,  # about the sample of one's own task
    "flags.read": _STAFF,
    "flags.resolve": _ADMIN,
    "adjudication.read": _STAFF,
    "adjudication.decide": _STAFF,
    "adjudication.names": _ADMIN,  # who said what, where the project hides it from reviewers
    "lessons.read": _ALL,  # what reviewers decided otherwise than one said oneself
    "reports.read": _STAFF,
    "reports.freeze": _STAFF,
    "reports.share": _ADMIN,  # with readers who have no account
    "test.look": _STAFF,
    "certificates.issue": _ADMIN,
    "judges.read": _STAFF,
    "judges.change": _ADMIN,
    "judges.run": _ADMIN,  # costs money; and what a judge gave as its reasons, and its raw replies
    "endpoints.read": _ADMIN,
    "endpoints.change": _ADMIN,
    "systems.read": _STAFF,
    "systems.change": _ADMIN,  # test sets are frozen, versions described, groups confirmed
    "systems.ask": _ADMIN,  # over HTTP, which costs money; and what came instead of an answer
    "export.read": _ADMIN,
    "export.run": _ADMIN,
}


# What a token of the scope may do, if its account's role allows it: these actions, and under `read` every GET. `admin`
# includes all others.
_ACTIONS_OF: dict[Scope, frozenset[str]] = {
    # Actions that only GETs have.
    Scope.READ: frozenset({
        "project.read", "audit.read", "members.read", "criteria.read", "samples.read", "schedules.read",
        "qualifications.read", "gold.read", "threads.read", "flags.read", "adjudication.read", "adjudication.names",
        "endpoints.read", "export.read",
    }),
    # One's own work.
    Scope.LABEL: frozenset({"work.label", "own_threads.read", "threads.write", "flags.raise", "lessons.read"}),
    # What a pipeline does: it brings data, has it labelled and scored, and asks what came of it.
    Scope.PUSH: frozenset({
        "import.read", "import.run", "batches.read", "batches.change", "reports.read", "judges.read", "judges.run",
        "systems.read", "systems.change", "systems.ask", "export.run",
    }),
    Scope.ADMIN: frozenset({
        "project.change", "project.manage", "guidelines.change", "members.change", "criteria.change", "views.change",
        "views.moderate", "claims.change", "schedules.change", "qualifications.change", "tasks.return", "gold.change",
        "threads.answer", "flags.resolve", "adjudication.decide", "reports.freeze", "reports.share", "test.look",
        "certificates.issue", "judges.change", "endpoints.change",
    }),
}  # fmt: skip
SCOPE_OF = {action: scope for scope, actions in _ACTIONS_OF.items() for action in actions}


# All that may be done in an archived project.
IN_ARCHIVE = frozenset({name for name in ROLES_FOR if name.endswith(".read")} | {"project.manage"})


class Archived(PermissionDenied):
    code = "archived"

    def __init__(self) -> None:
        super().__init__(_("This project is archived: it can be read, but not changed."))


class OutOfScope(PermissionDenied):
    """taken: the scopes of which the token needs one."""

    code = "scope"

    def __init__(self, taken: Collection[str]) -> None:
        # Who has to choose a scope for it need not take the widest.
        named = [scope for scope in taken if scope != Scope.ADMIN] or [Scope.ADMIN]
        super().__init__(f"A token needs the scope {' or '.join(f'“{scope}”' for scope in named)} for this.")


class BeingDeleted(PermissionDenied):
    code = "being_deleted"

    def __init__(self) -> None:
        super().__init__(_("This project is being deleted with all its data."))


class MembershipEnded(PermissionDenied):
    """For former members: they know the project, and are told that it is over, unlike a stranger."""

    code = "not_a_member"

    def __init__(self) -> None:
        super().__init__(_("You are no longer a member of this project."))


def role_of(user: User, project: Project) -> str | None:
    """The user's role in the project, or None for strangers. A superuser is an admin of every project."""
    if user.is_superuser:
        return Role.ADMIN.value
    memberships = Membership.objects.filter(project=project, user=user, is_active=True)
    return memberships.values_list("role", flat=True).first()


def roles_of(user: User) -> dict[int, str]:
    """Project id -> the user's role in it, for lists. Empty for a superuser, who is an admin everywhere."""
    if user.is_superuser:
        return {}
    return dict(Membership.objects.filter(user=user, is_active=True).values_list("project_id", "role"))


def may_in(project: Project, role: str | None, action: str) -> bool:
    """Whether the role allows it in the project as it is now."""
    return may(role, action) and (project.archived_at is None or action in IN_ARCHIVE)


def may(role: str | None, action: str) -> bool:
    return role is not None and role in ROLES_FOR[action]


def scopes_for(method: str, scope: Scope) -> list[str]:
    """Of these scopes a token needs one, for a request with the method that is part of what the scope is for."""
    wanted = {scope, Scope.ADMIN}
    reads = method in ("GET", "HEAD", "OPTIONS")
    return [one.value for one in Scope if (reads if one == Scope.READ else one in wanted)]


def with_own_password(accounts: Iterable[User]) -> list[User]:
    """Those of which a link may reset the password at all: no superuser's, and none of the OpenID Connect provider's,
    where a password would be a way past it."""
    wanted = [user for user in accounts if user.is_active and not user.is_superuser]
    if settings.OIDC_ISSUER:
        provided = set(Identity.objects.filter(user__in=wanted).values_list("user_id", flat=True))
        wanted = [user for user in wanted if settings.PASSWORD_LOGIN and user.pk not in provided]
    return wanted


def resettable(actor: User, accounts: Iterable[User]) -> set[int]:
    """Ids of those accounts for which the actor may make a link that resets the password (annotate.members.resets).

    Who sets the password of an account can be that account: so it may open nothing that is closed to the actor. Of
    those `with_own_password`, never the actor's own, who has the page of the account; and, unless the actor is a
    superuser, no account that creates projects if the actor can't, and none with a membership in a project of which
    the actor is no admin.
    """
    wanted = [user for user in with_own_password(accounts) if user.pk != actor.pk]
    if actor.is_superuser:
        return {user.pk for user in wanted}
    administered = Membership.objects.filter(user=actor, is_active=True, role__in=ROLES_FOR["members.change"])
    elsewhere = set(
        Membership.objects.filter(user__in=wanted, is_active=True)
        .exclude(project__in=administered.values("project"))
        .values_list("user_id", flat=True)
    )
    return {user.pk for user in wanted if user.pk not in elsewhere and (actor.is_staff or not user.is_staff)}


def project_for(user: User, slug: str, action: str) -> tuple[Project, str]:
    """The project and the user's role in it, if they may.

    Raises Http404 for strangers, in the same words as for a project that does not exist, PermissionDenied for members
    whose role is not enough, Archived for what changes an archived project, BeingDeleted for all of a project that is
    about to go, and MembershipEnded for those who are members no more.
    """
    project = Project.objects.filter(slug=slug).first()
    role = role_of(user, project) if project else None
    if project is not None and role is None and _ended(user).filter(project=project).exists():
        raise MembershipEnded
    if project is None or role is None:
        raise Http404(_("Project not found, or you are not a member."))
    if project.deleting_at is not None:
        raise BeingDeleted
    if not may(role, action):
        raise PermissionDenied(_("Your role in this project doesn’t allow this."))
    if not may_in(project, role, action):
        raise Archived
    return project, role


def no_such_task(user: User, task_id: int) -> Exception:
    """Why the user finds no task of theirs there: another person's task does not exist for them, and neither does any
    of a project that they are out of."""
    if _ended(user).filter(project__batches__tasks=task_id).exists():
        return MembershipEnded()
    return Http404(_("Task not found."))


def _ended(user: User) -> QuerySet[Membership]:
    return Membership.objects.filter(user=user, is_active=False)
