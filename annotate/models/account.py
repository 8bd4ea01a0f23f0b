"""What an account has besides itself: tokens for programs, a link to reset its password, its identity at an OpenID
Connect provider, its second factor; how many wrong passwords were tried for it lately; and that it was deleted."""

import hashlib

from django.contrib.postgres.fields import ArrayField
from django.core.signing import Signer
from django.db import models
from knox.models import AbstractAuthToken

_FORMER = "annotate.former_names"


class Scope(models.TextChoices):
    """What a token is for. What each allows: annotate.core.permissions."""

    READ = "read"
    LABEL = "label"
    PUSH = "push"
    ADMIN = "admin"


class ApiToken(AbstractAuthToken):
    """A token of a program. Only a digest of it is kept; its beginning (`token_key`) names it in lists."""

    # What its owner calls it: the pipeline that uses it.
    name = models.CharField(max_length=80, blank=True, db_default="")
    # To the hour: a program asks thousands of times.
    last_used = models.DateTimeField(null=True, blank=True)
    # The database's default is for tokens from before there were scopes, which may do all that their account may.
    scopes = ArrayField(models.CharField(max_length=8), db_default=[Scope.ADMIN.value])

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(scopes__contained_by=Scope.values, scopes__len__gte=1), name="token_scopes_known"
            ),
        ]


class PasswordReset(models.Model):
    """A link by which the owner of an account chooses a new password. Only a digest of its token is kept.

    An account has at most one: a new link takes the place of the one before, and another password ends it (User.save).
    """

    user = models.OneToOneField("annotate.User", on_delete=models.CASCADE, related_name="password_reset")
    token_digest = models.CharField(max_length=64, unique=True)
    # Where an admin made it: its audit log says so, and when it was used.
    project = models.ForeignKey("annotate.Project", on_delete=models.CASCADE, related_name="+")
    created_by = models.ForeignKey("annotate.User", on_delete=models.CASCADE, related_name="+")
    expires_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"password reset of {self.user_id}"


class Identity(models.Model):
    """Who the account's person is at the OpenID Connect provider, and what groups there gave the account: at the next
    sign-in without the group that is taken back, and nothing else (annotate.members.single_sign_on)."""

    user = models.OneToOneField("annotate.User", on_delete=models.CASCADE, related_name="identity")
    issuer = models.TextField()
    # Names the person at the issuer for ever; names and addresses may pass to others.
    subject = models.CharField(max_length=255)
    # Of is_superuser and is_staff.
    flags = ArrayField(models.CharField(max_length=20), default=list, blank=True)
    # Slug of a project -> {"role": given by a group, "before": by hand, or None for no member}. A role of None: the
    # membership ended with the group.
    roles = models.JSONField(default=dict, blank=True)

    class Meta:
        verbose_name_plural = "identities"
        constraints = [models.UniqueConstraint(fields=["issuer", "subject"], name="identity_once")]

    def __str__(self) -> str:
        return f"{self.subject} at {self.issuer}"


class SecondFactor(models.Model):
    """Codes of an authenticator app (TOTP), asked after the password."""

    user = models.OneToOneField("annotate.User", on_delete=models.CASCADE, related_name="second_factor")
    # annotate.core.sealed
    secret = models.TextField()
    # The half minute of the last code that was used: none serves twice.
    last_step = models.BigIntegerField()
    # Digests of the recovery codes that are left.
    recovery = ArrayField(models.CharField(max_length=64), default=list, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"second factor of {self.user_id}"


class Attempts(models.Model):
    """Wrong tries of one kind, as a bucket that leaks: each try adds its share, and `until` is when all has run out.

    key: a digest of who tries what (annotate.core.attempts); neither names nor addresses are kept.
    """

    key = models.CharField(max_length=64, primary_key=True)
    until = models.DateTimeField()

    class Meta:
        verbose_name_plural = "attempts"
        indexes = [
            # Reader: the removal of those that have run out.
            models.Index(fields=["until"], name="attempts_until"),
        ]

    def __str__(self) -> str:
        return f"attempts until {self.until:%H:%M:%S}"


class DeletedAccount(models.Model):
    """An account whose person is gone: what they said stays, under the pseudonym that is its user name now.

    former: keyed digests of its user name and address of before. The name isn't given again, and where texts that
    can't change have one of them, pages show the pseudonym (annotate.core.former_names).
    """

    user = models.OneToOneField("annotate.User", on_delete=models.PROTECT, related_name="deleted_account")
    # As long as a digest is: an unkeyed one, as versions before wrote, doesn't fit.
    former = ArrayField(models.CharField(max_length=43))
    deleted_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"deleted account {self.user_id}"

    @staticmethod
    def digest(name: str) -> str:
        """Who has the database and a list of addresses, and not SECRET_KEY, finds nobody in it. Of a SHA-256 of the
        name, which is all that rows from before it was keyed had (migration 0042)."""
        return Signer(salt=_FORMER).signature(hashlib.sha256(name.encode()).hexdigest())
