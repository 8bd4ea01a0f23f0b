"""The invitations of a project that somebody could still use."""

from __future__ import annotations

from typing import Any

from django.db.models import F, QuerySet
from django.utils import timezone

from annotate.models import Invite, Project


def open_invites(project: Project) -> QuerySet[Invite]:
    """The latest first. Tokens are known to nobody but those who have the links."""
    return (
        Invite.objects.filter(
            project=project, revoked_at__isnull=True, expires_at__gt=timezone.now(), uses__lt=F("max_uses")
        )
        .select_related("created_by")
        .order_by("-id")
    )


def invite_as_dict(invite: Invite) -> dict[str, Any]:
    return {
        "id": invite.pk,
        "role": invite.role,
        "tags": invite.tags,
        "email": invite.email,
        "max_uses": invite.max_uses,
        "uses": invite.uses,
        "expires_at": invite.expires_at,
        "created_by": invite.created_by.username,
    }
