"""Who takes part: accounts, their role in a project, and the raters that values are attributed to."""

from django.contrib.auth.models import AbstractUser
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _


class User(AbstractUser):
    """An account. `is_staff` may create projects; everything else is decided by membership."""

    display_name = models.CharField(max_length=150, blank=True)
    # "": whatever the browser asks for.
    language = models.CharField(max_length=10, blank=True, db_default="")
    # How this person likes to work (services.preferences knows the keys): hotkeys, layout of the workspace.
    preferences = models.JSONField(default=dict, blank=True, db_default=models.Value({}, models.JSONField()))

    class Meta(AbstractUser.Meta):
        swappable = "AUTH_USER_MODEL"

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        return self.display_name or self.username


class Role(models.TextChoices):
    ADMIN = "admin", _("Admin")
    REVIEWER = "reviewer", _("Reviewer")
    ANNOTATOR = "annotator", _("Annotator")


class Membership(models.Model):
    project = models.ForeignKey("annotate.Project", on_delete=models.PROTECT, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role)
    # False: left, or was asked to stop. Everything they said keeps their name.
    is_active = models.BooleanField(default=True, db_default=True)
    # What they know about: samples that need an expertise go to those who have it (Batch.tag_key).
    tags = ArrayField(
        models.TextField(), default=list, blank=True, db_default=models.Value([], ArrayField(models.TextField()))
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "user"], name="membership_once_per_project"),
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="membership_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} in {self.project_id} as {self.role}"


class Invite(models.Model):
    """A link that makes whoever opens it a member. Only a digest of its token is kept."""

    project = models.ForeignKey("annotate.Project", on_delete=models.PROTECT, related_name="invites")
    role = models.CharField(max_length=10, choices=Role)
    tags = ArrayField(models.TextField(), default=list, blank=True)
    token_digest = models.CharField(max_length=64, unique=True)
    # Who it was sent to; "": handed over in another way.
    email = models.EmailField(blank=True)
    max_uses = models.PositiveSmallIntegerField(default=1)
    uses = models.PositiveSmallIntegerField(default=0)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="invite_role_known"),
            models.CheckConstraint(
                condition=models.Q(uses__lte=models.F("max_uses"), max_uses__gte=1), name="invite_not_overused"
            ),
        ]

    def __str__(self) -> str:
        return f"invite {self.pk} to {self.project_id} as {self.role}"


class Rater(models.Model):
    """A person as labels name them: a member with an account, or a name from a file of labels made elsewhere."""

    project = models.ForeignKey("annotate.Project", on_delete=models.PROTECT, related_name="raters")
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="raters", null=True, blank=True)
    name = models.CharField(max_length=200)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="rater_name_once_per_project"),
            models.UniqueConstraint(fields=["project", "user"], name="rater_once_per_member"),
        ]

    def __str__(self) -> str:
        return self.name
