"""The worker's part in certificates: that one has ended, or holds again, is noted in the audit log.

Nothing is noted where a certificate ends: labels, scores, a criterion's new version or a withdrawn word may end it, by
many hands and in bulk. Instead the worker looks now and then, and compares what holds with what it last noted.
"""

from __future__ import annotations

from typing import Any

from django.db import transaction

from annotate.core.trail import note
from judges.certificates.decision_read import Standing, standings_of
from judges.models import Certificate, Judge


def look_for_ends() -> None:
    """Asked for by every worker now and then (config.celery)."""
    watched = Judge.objects.filter(project__archived_at__isnull=True, project__deleting_at__isnull=True)
    for judge in watched.filter(looks__certificate__isnull=False).select_related("project").distinct():
        for standing in standings_of(judge):
            _note(standing)


def _note(standing: Standing) -> None:
    """Once, of however many workers: the first changes the row, which then is as the others would have it."""
    certificate = standing.certificate
    assert certificate is not None
    code = "" if standing.ended is None else standing.ended[0]
    said: dict[str, Any] = {
        "actor": None, "subject": str(certificate.number), "project": standing.judge.project,
        "judge": standing.judge.name, "criterion": standing.criterion.key,
    }  # fmt: skip
    with transaction.atomic():
        if not Certificate.objects.filter(pk=certificate.pk).exclude(noted_end=code).update(noted_end=code):
            return
        if code:
            note(action="certificate.ended", code=code, **said)
        else:
            note(action="certificate.resumed", **said)
