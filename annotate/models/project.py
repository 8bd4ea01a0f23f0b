"""A project: what it asks (criteria with their scale and options), who takes part (accounts, roles, raters), what they
report about samples, and who did what when.
"""

from collections.abc import Collection
from typing import Any

from django.contrib.auth.hashers import check_password, make_password
from django.contrib.auth.models import AbstractUser
from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from annotate.models.account import DeletedAccount, PasswordReset


class Project(models.Model):
    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=200)
    # The newest of its GuidelineVersions, written with it (annotate.projects.guidelines).
    guidelines = models.TextField(blank=True)
    members = models.ManyToManyField("annotate.User", through="annotate.Membership", related_name="projects")
    # Seed of everything drawn by chance in the project (the dev/test division), so that figures can be made again.
    seed = models.BigIntegerField(default=20260901)
    # Reviewers see who said what; otherwise people are lettered, so that a name doesn't decide.
    show_names = models.BooleanField(default=False, db_default=False)
    # What the judges said about a unit is shown to a reviewer, once the unit is decided.
    show_judges = models.BooleanField(default=False, db_default=False)
    # Annotators see what reviewers decided otherwise, and why, once labelling has ended.
    teach = models.BooleanField(default=True, db_default=True)
    created_at = models.DateTimeField(auto_now_add=True, db_default=Now())
    created_by = models.ForeignKey("annotate.User", on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    # Since when it can only be read (annotate.core.permissions); None: it is worked in.
    archived_at = models.DateTimeField(null=True, blank=True)
    # Since when it waits to be deleted with all its data: no one finds it any more (annotate.projects.deletion).
    deleting_at = models.DateTimeField(null=True, blank=True)
    deleting_by = models.ForeignKey("annotate.User", on_delete=models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.slug


class UnitKind(models.TextChoices):
    CLAIM = "claim", _("Claim")
    CONTEXT = "context", _("Context")
    FACT = "fact", _("Key fact")
    ENTITY = "entity", _("Entity")
    ANSWER = "answer", _("Answer")
    SAMPLE = "sample", _("Sample")


class Scale(models.TextChoices):
    BINARY = "binary", _("Binary")
    NOMINAL = "nominal", _("Nominal")
    ORDINAL = "ordinal", _("Ordinal")
    INTERVAL = "interval", pgettext_lazy("scale", "Interval")
    # Any number of the options, also none: a value is a list of option values. Verdicts, and no figure (decision 40).
    MULTI = "multi", _("Multi-select")
    # Words of the annotator's own: no option, no vote, no figure.
    TEXT = "text", _("Free text")


# No judge, report, known answer or threshold is about them.
UNRATED_SCALES = (Scale.MULTI, Scale.TEXT)


class Prefill(models.TextChoices):
    """What the field of free text holds before anybody wrote: nothing, or a text of the sample, to be corrected."""

    NOTHING = "", _("Nothing")
    ANSWER = "answer", _("The answer, to be corrected")


class Criterion(models.Model):
    """One version of a question about one kind of unit.

    `options`: list of {"value", "label", "hotkey"?, "help"?} in scale order (worst to best for ordinal scales).
    `passes`: the values that count as *pass*; empty when the criterion has no pass/fail reading.
    Rows are immutable once labels rest on them: annotate.projects.criteria makes the next version.
    """

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="criteria")
    key = models.SlugField(max_length=60)
    version = models.PositiveIntegerField(default=1)
    is_current = models.BooleanField(default=True)
    position = models.PositiveIntegerField(default=0)
    name = models.CharField(max_length=120)
    unit = models.CharField(max_length=10, choices=UnitKind)
    scale = models.CharField(max_length=10, choices=Scale)
    prompt = models.TextField()
    help = models.TextField(blank=True)
    options = models.JSONField(default=list)
    passes = models.JSONField(default=list)
    required = models.BooleanField(default=True)
    # Whether "can't tell" is an answer.
    cant_tell = models.BooleanField(default=True, db_default=True)
    # Of free text. A label is what differs from it: who leaves it as it is has said nothing (decision 39).
    prefill = models.CharField(max_length=10, choices=Prefill, blank=True, default="", db_default="")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["project", "key", "version"], name="criterion_version_once"),
            models.UniqueConstraint(
                fields=["project", "key"], condition=Q(is_current=True), name="criterion_one_current_version"
            ),
            models.CheckConstraint(condition=Q(unit__in=UnitKind.values), name="criterion_unit_known"),
            models.CheckConstraint(condition=Q(scale__in=Scale.values), name="criterion_scale_known"),
            models.CheckConstraint(
                condition=Q(prefill="") | Q(prefill=Prefill.ANSWER, scale=Scale.TEXT, unit="answer", required=False),
                name="criterion_prefill_of_answers",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.key} v{self.version}"

    @property
    def levels(self) -> list[str | int | float | bool]:
        """The option values in scale order; empty for an open interval scale and for free text."""
        return [option["value"] for option in self.options]

    @property
    def is_text(self) -> bool:
        return self.scale == Scale.TEXT

    @property
    def is_multi(self) -> bool:
        return self.scale == Scale.MULTI


class User(AbstractUser):  # type: ignore[django-manager-missing]  # of tokens: knox ships no types
    """An account. `is_staff` may create projects; everything else is decided by membership."""

    display_name = models.CharField(max_length=150, blank=True)
    # "": whatever the browser asks for.
    language = models.CharField(max_length=10, blank=True, db_default="")
    # How this person likes to work (annotate.projects.accounts knows the keys): hotkeys, layout of the workspace.
    preferences = models.JSONField(default=dict, blank=True, db_default=models.Value({}, models.JSONField()))
    # The address to which a link was sent that confirmed it; it counts as long as it is the account's address.
    confirmed_email = models.EmailField(blank=True, db_default="")
    # Until when they have read what concerns them (annotate.projects.notices_read); None: they never said so.
    notices_seen_at = models.DateTimeField(null=True, blank=True)

    class Meta(AbstractUser.Meta):
        swappable = "AUTH_USER_MODEL"

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        return self.display_name or self.username

    @property
    def has_confirmed_email(self) -> bool:
        return bool(self.email) and self.confirmed_email == self.email

    def clean(self) -> None:
        """The name of a deleted account is nobody else's: entries of the trail and released files still have it."""
        super().clean()
        if self.has_former_name():
            raise ValidationError({"username": self.unique_error_message(User, ("username",))})

    def has_former_name(self) -> bool:
        return DeletedAccount.objects.filter(former__contains=[DeletedAccount.digest(self.username)]).exists()

    def check_password(self, raw_password: str | None) -> bool:
        """Django's own, but a hash that is brought up to date takes only the place of the one that was checked: not of
        a password that was set meanwhile."""

        def bring_up_to_date(password: str | None) -> None:
            fresh = make_password(password)
            if User.objects.filter(pk=self.pk, password=self.password).update(password=fresh):
                self.password = fresh

        return check_password(raw_password, self.password, bring_up_to_date)

    def save(self, *args: Any, keep_tokens: Collection[str] = (), **kwargs: Any) -> None:
        """With another password, whoever sets it, all tokens end but those with these digests, as all sessions do; so
        does a link to reset it."""
        fields = kwargs.get("update_fields")
        with transaction.atomic():
            is_changed = (
                not self._state.adding
                and (fields is None or "password" in fields)
                and self.password != User.objects.select_for_update(no_key=True).get(pk=self.pk).password
            )
            super().save(*args, **kwargs)
            if is_changed:
                self.auth_token_set.exclude(pk__in=keep_tokens).delete()
                PasswordReset.objects.filter(user=self).delete()


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
    # The latest version of the guidelines whose news this person has closed; None: none yet.
    guidelines_seen = models.PositiveIntegerField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "user"], name="membership_once_per_project"),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="membership_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} in {self.project_id} as {self.role}"


class Invite(models.Model):
    """A link that makes the person who opens it a member. Only a digest of its token is kept."""

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
            models.CheckConstraint(condition=Q(role__in=Role.values), name="invite_role_known"),
            models.CheckConstraint(
                condition=Q(uses__lte=models.F("max_uses"), max_uses__gte=1), name="invite_not_overused"
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


class Flag(models.Model):
    """An annotator or reviewer tells the admin that something is wrong with a sample. It stays until it is resolved."""

    project = models.ForeignKey("annotate.Project", on_delete=models.PROTECT, related_name="flags")
    sample = models.ForeignKey("annotate.Sample", on_delete=models.PROTECT, related_name="flags")
    # Where it was raised; None: on the sample's own page.
    task = models.ForeignKey("annotate.Task", on_delete=models.SET_NULL, related_name="flags", null=True, blank=True)
    reason = models.TextField()
    raised_by = models.ForeignKey("annotate.User", on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    resolution = models.TextField(blank=True)
    resolved_by = models.ForeignKey("annotate.User", on_delete=models.PROTECT, related_name="+", null=True, blank=True)
    resolved_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(resolved_at__isnull=True, resolved_by__isnull=True)
                | Q(resolved_at__isnull=False, resolved_by__isnull=False),
                name="flag_resolved_by_someone",
            ),
        ]
        indexes = [
            # Reader: the admin's list of what waits.
            models.Index(fields=["project", "-id"], condition=Q(resolved_at__isnull=True), name="flag_waiting"),
        ]

    def __str__(self) -> str:
        return f"flag {self.pk} on {self.sample_id}"


# Those that people are told of (annotate.projects.notices_read).
NOTICED_ACTIONS = (
    "batch.adjudicating", "batch.opened", "certificate.ended", "qualification.tested", "qualification.waived",
    "task.reassigned", "task.returned", "thread.answered", "thread.asked",
)  # fmt: skip


class AuditEntry(models.Model):
    """Who did what when, for everything but labels and verdicts, which have logs of their own. Append-only.

    action: what was done, spelled like permissions ("member.role_changed"). subject: what it was done to, as people
    name it. details: what else one needs to understand it; never a secret.
    """

    project = models.ForeignKey(
        "annotate.Project", on_delete=models.PROTECT, related_name="audit_entries", null=True, blank=True
    )
    actor = models.ForeignKey("annotate.User", on_delete=models.PROTECT, related_name="+", null=True, blank=True)
    action = models.CharField(max_length=60)
    subject = models.TextField()
    details = models.JSONField(default=dict)
    # Of those that are chained the database tells the time.
    created_at = models.DateTimeField(auto_now_add=True)
    # In its chain, from 1 on, given by a trigger when the transaction ends (decision 64). TO_CHAIN: until then.
    position = models.BigIntegerField(null=True)
    hash = models.CharField(max_length=64, default="", db_default="")

    TO_CHAIN = 0

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "position"],
                condition=Q(position__gt=0),
                name="audit_chained_once",
                nulls_distinct=False,
            ),
        ]
        indexes = [
            # Reader: the trigger, of its own transaction.
            models.Index(fields=["position"], condition=Q(position__lt=1), name="audit_to_chain"),
            # Reader: the trail, newest first (annotate.projects.trail_read).
            models.Index(fields=["project", "-created_at", "-id"], name="audit_by_project_and_time"),
            # Reader: how many notices are new, in the header of every page.
            models.Index(
                fields=["project", "created_at"], condition=Q(action__in=NOTICED_ACTIONS), name="audit_noticed"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.subject}"


class AuditChain(models.Model):
    """Where the chain of a project's entries ends, or of those of no project; locked while another is added."""

    project = models.ForeignKey("annotate.Project", on_delete=models.PROTECT, related_name="+", null=True, blank=True)
    length = models.BigIntegerField()
    hash = models.CharField(max_length=64)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project"], name="audit_one_chain", nulls_distinct=False)]

    def __str__(self) -> str:
        return f"{self.length} entries of {self.project_id}"
