"""Certificates: a look at test that one stands by."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from annotate.core.errors import Conflict
from annotate.core.trail import note
from annotate.models import Project, User
from judges.models import Certificate, Look


def issue_certificate(*, look: Look, user: User | None = None) -> Certificate:
    """The certificate of a look; the one there is when it was issued before.

    Raises Conflict for a look that is not the judge's latest: a later one has shown more, and cost more.
    """
    with transaction.atomic():
        project = Project.objects.select_for_update(no_key=True).get(pk=look.criterion.project_id)
        issued = Certificate.objects.filter(look=look).first()
        if issued is not None:
            return issued
        last = Look.objects.filter(criterion=look.criterion, judge=look.judge).aggregate(last=Max("number"))["last"]
        if look.number != last:
            raise Conflict(
                "not_the_latest",
                _("Look %(number)s is not the latest; look %(last)s is.") % {"number": look.number, "last": last},
            )
        number = (Certificate.objects.filter(project=project).aggregate(last=Max("number"))["last"] or 0) + 1
        certificate = Certificate.objects.create(
            project=project, number=number, look=look, judge_hash=look.version.content_hash, created_by=user
        )
        note(
            actor=user,
            action="certificate.issued",
            subject=str(number),
            project=project,
            judge=look.judge.name,
            criterion=look.criterion.key,
            version=look.criterion.version,
        )
    return certificate


def certificate_as_dict(certificate: Certificate) -> dict[str, Any]:
    """All that one needs to rely on it elsewhere: what was certified, how to apply it, and what it is worth."""
    look = certificate.look
    result = look.result
    return {
        "number": certificate.number,
        "criterion": look.criterion.key,
        "criterion_version": look.criterion.version,
        "judge": look.judge.name,
        "judge_version": look.version.label,
        "judge_hash": certificate.judge_hash,
        "dimension": look.dimension,
        "label_fingerprint": look.fingerprint,
        "look": look.number,
        "level": look.level,
        "threshold": result["threshold"],
        "higher_is_better": look.judge.higher_is_better,
        "calibrator": result["calibrated"]["calibrator"],
        "cutpoints": result["cutpoints"]["calibrator"],
        "region": {name: result["region"][name] for name in ("distance", "risk", "confidence", "reason")},
        **{name: result[name] for name in ("kappa", "tpr", "tnr", "confusion")},
        "error": result["error"],
        "trust": result["trust"],
        "created_at": certificate.created_at.isoformat(),
        "created_by": certificate.created_by.username if certificate.created_by else None,
    }
