"""The trail of who did what when. Labels and verdicts keep logs of their own (LabelEvent, VerdictEvent)."""

from __future__ import annotations

from typing import Any

from annotate.models import AuditEntry, Project, User


def note(*, actor: User | None, action: str, subject: str, project: Project | None = None, **details: Any) -> None:
    """Writes one entry, in the transaction of what it tells about: either both happened or neither.

    action: "member.role_changed"; subject: what it was done to, as people name it; details: JSON, never a secret.
    actor None: the command line.
    """
    AuditEntry.objects.create(
        project=project, actor=actor, action=action, subject=subject, details=details, position=AuditEntry.TO_CHAIN
    )
