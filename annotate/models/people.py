"""Who takes part: accounts, their role in a project, and the raters that values are attributed to."""

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils.translation import gettext_lazy as _


class User(AbstractUser):
    """An account. `is_staff` may create projects; everything else is decided by membership."""

    display_name = models.CharField(max_length=150, blank=True)

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
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "user"], name="membership_once_per_project"),
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="membership_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} in {self.project_id} as {self.role}"


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
