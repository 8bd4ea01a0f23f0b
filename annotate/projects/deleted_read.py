"""Projects that are being deleted, and what is noted of those that were: outside of any project, and so told to those
who deleted them, and of all of them to superusers."""

from __future__ import annotations

from django.db.models import QuerySet

from annotate.models import AuditEntry, Project, User

ACTIONS = ("project.deleted", "project.delete_failed")


def being_deleted(reader: User) -> QuerySet[Project]:
    """The latest first."""
    waiting = Project.objects.filter(deleting_at__isnull=False).select_related("deleting_by").order_by("-deleting_at")
    return waiting if reader.is_superuser else waiting.filter(deleting_by=reader)


def deletions(reader: User) -> QuerySet[AuditEntry]:
    """The latest first."""
    noted = AuditEntry.objects.filter(project__isnull=True, action__in=ACTIONS).select_related("actor")
    noted = noted.order_by("-created_at", "-pk")
    return noted if reader.is_superuser else noted.filter(actor=reader)
