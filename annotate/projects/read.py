"""A project's criteria, batches, samples, members and open invitations; projects and criteria by name, for command
lines. Permissions are not checked here."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import Count, F, Prefetch, Q, QuerySet, prefetch_related_objects
from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotate.core.errors import Invalid
from annotate.core.permissions import ROLES_FOR
from annotate.core.rows import first_or_raise
from annotate.core.scales import require_rated
from annotate.models import Batch, BatchCriterion, Criterion, Invite, Membership, Project, Sample, User
from annotate.models.project import UNRATED_SCALES, Role, Scale


def projects_of(user: User) -> QuerySet[Project]:
    projects = Project.objects.filter(deleting_at__isnull=True).order_by("name")
    return projects if user.is_superuser else projects.filter(memberships__user=user, memberships__is_active=True)


def current_criteria(project: Project) -> QuerySet[Criterion]:
    return project.criteria.filter(is_current=True).order_by("position", "id")


def voted_criteria(project: Project) -> QuerySet[Criterion]:
    """Those that have verdicts: all but free text."""
    return current_criteria(project).exclude(scale=Scale.TEXT)


def rated_criteria(project: Project) -> QuerySet[Criterion]:
    """Those that have figures: no judge, report or known answer is about free text or a multi-select criterion."""
    return current_criteria(project).exclude(scale__in=UNRATED_SCALES)


def criterion_names(project: Project | int) -> dict[str, str]:
    """By their keys, which also name what judges measure. project: or its id."""
    return dict(Criterion.objects.filter(project=project, is_current=True).values_list("key", "name"))


def one_criterion(project: Project, key: str) -> Criterion:
    refusal = Http404(_("Criterion “%(key)s” not found in this project.") % {"key": key})
    return first_or_raise(current_criteria(project).filter(key=key), refusal)


def one_rated_criterion(project: Project, key: str) -> Criterion:
    """Raises Invalid `free_text` or `multi_select` for one that has no figures."""
    criterion = one_criterion(project, key)
    require_rated(criterion)
    return criterion


def work_batches(project: Project) -> QuerySet[Batch]:
    """Without rounds, the training and the test of a qualification."""
    return Batch.objects.filter(project=project, qualification__isnull=True)


def batches_of(project: Project) -> QuerySet[Batch]:
    """The latest first, each with its criteria and annotators, and with the number of its samples."""
    return (
        work_batches(project)
        .annotate(sample_count=Count("batch_samples"))
        .prefetch_related(_ASKED, _ANNOTATORS)
        .order_by("-number")
    )


def one_batch(project: Project, number: int) -> Batch:
    """A round is none: it is run by its qualification (annotate.batches.qualifications)."""
    batches = work_batches(project).filter(number=number).select_related("project", "requires")
    return first_or_raise(batches, Http404(_("Batch %(number)s not found in this project.") % {"number": number}))


def without_why(batch: Batch) -> Batch:
    """Without what says why these samples: it may say what a judge said of them. Not to be saved."""
    batch.selection = {name: value for name, value in batch.selection.items() if name not in ("note", "came")}
    return batch


def one_sample(project: Project, sample_id: int) -> Sample:
    samples = Sample.objects.filter(project=project, pk=sample_id)
    return first_or_raise(samples, Http404(_("Sample not found in this project.")))


def members_of(project: Project) -> QuerySet[Membership]:
    return Membership.objects.filter(project=project).select_related("user").order_by("user__username")


def person_of(project: Project, username: str) -> User:
    """A user who is or was a member of the project. Whether there is an account of another name is not told."""
    return first_or_raise(_people(project).filter(username=username), no_member(username))


def no_member(username: str) -> Http404:
    return Http404(_NO_MEMBER % {"name": username[:80]})


def people_of(project: Project, usernames: Collection[str]) -> list[User]:
    """These, once each, as `person_of` finds them. Raises Invalid."""
    found = {user.username: user for user in _people(project).filter(username__in=usernames)}
    unknown = [name for name in usernames if name not in found]
    if unknown:
        raise Invalid("unknown_user", _NO_MEMBER % {"name": unknown[0][:80]})
    return [found[name] for name in dict.fromkeys(usernames)]


_NO_MEMBER = gettext_lazy("Member “%(name)s” not found in this project.")


def _people(project: Project) -> QuerySet[User]:
    """Raters stay when a membership has ended."""
    return User.objects.filter(Q(memberships__project=project) | Q(raters__project=project)).distinct()


_ASKED = Prefetch("batch_criteria", BatchCriterion.objects.select_related("criterion").order_by("position"))
_ANNOTATORS = Prefetch("annotators", User.objects.order_by("username"))


def asked_in(batch: Batch) -> list[Criterion]:
    """The criteria of the batch, in their order."""
    prefetch_related_objects([batch], _ASKED)  # asks nothing when `batches_of` did
    return [row.criterion for row in batch.batch_criteria.all()]


def annotators_of(batch: Batch) -> list[User]:
    prefetch_related_objects([batch], _ANNOTATORS)
    return list(batch.annotators.all())


def active_members(project: Project) -> dict[int, list[str]]:
    """User id -> tags, of every member who can work in the project."""
    members = Membership.objects.filter(project=project, is_active=True, user__is_active=True)
    return dict(members.values_list("user_id", "tags"))


def active_annotators(project: Project) -> list[User]:
    """Those who label, by username."""
    members = Membership.objects.filter(
        project=project, role=Role.ANNOTATOR, is_active=True, user__is_active=True
    ).select_related("user")
    return [member.user for member in members.order_by("user__username")]


def open_invites(project: Project) -> QuerySet[Invite]:
    """Those that can be used, the latest first. Only digests of their tokens are stored.

    They end with their maker's right to invite: a link of their own would lead an admin who was taken out back in.
    """
    entitled = Membership.objects.filter(project=project, role__in=ROLES_FOR["members.change"], is_active=True)
    makers = User.objects.filter(Q(is_superuser=True) | Q(pk__in=entitled.values("user")), is_active=True)
    return (
        Invite.objects.filter(
            project=project,
            project__deleting_at__isnull=True,
            revoked_at__isnull=True,
            expires_at__gt=timezone.now(),
            uses__lt=F("max_uses"),
            created_by__in=makers,
        )
        .select_related("created_by")
        .order_by("-id")
    )


def project_named(slug: str) -> Project:
    """Raises Invalid with a sentence that names what there is."""
    projects = Project.objects.filter(deleting_at__isnull=True)
    project = projects.filter(slug=slug).first()
    if project is None:
        known = ", ".join(projects.order_by("slug").values_list("slug", flat=True)[:20]) or "none yet"
        raise Invalid("unknown_project", f"There is no project “{slug}”. Projects: {known}.")
    return project


def criterion_named(project: Project, key: str) -> Criterion:
    """The current version of the criterion, for figures. Raises Invalid with a sentence that names the known keys, and
    for one that has no figures."""
    criterion = current_criteria(project).filter(key=key).first()
    if criterion is None:
        known = ", ".join(current_criteria(project).values_list("key", flat=True)) or "none yet"
        raise Invalid("unknown_criterion", f"“{project.slug}” has no criterion “{key}”. Criteria: {known}.")
    require_rated(criterion)
    return criterion
