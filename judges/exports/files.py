"""A version for use elsewhere: as the file from which the same judge can be made, with what it was certified for, or as
code."""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext as _

from annotate.core.errors import Conflict
from judges.certificates.decision_read import ended_of
from judges.exports.python import LIBRARIES, as_python
from judges.models import Certificate, JudgeKind, JudgeVersion
from judges.versions.specs import FORMAT, FORMAT_VERSION
from judges.versions.write import judge_spec

JSON = "json"
TARGETS = (JSON, *LIBRARIES)


def exported(version: JudgeVersion, target: str) -> HttpResponse:
    """For a reader who may know its examples. Raises Conflict where the version can't be exported so."""
    if target == JSON:
        text, kind, ending = json.dumps(as_file(version), ensure_ascii=False, indent=2), "application/json", "json"
    else:
        text, kind, ending = as_python(version, target), "text/x-python; charset=utf-8", f"{target}.py"
    name = f"{version.judge.project.slug}-judge-{version.judge_id}-{version.number}.{ending}"
    return HttpResponse(text, content_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def as_file(version: JudgeVersion) -> dict[str, Any]:
    """What `create_judge --file` reads. The endpoint is a name: neither its address nor its key is in it.

    Raises Conflict for an imported judge."""
    if version.judge.kind == JudgeKind.IMPORTED:
        raise Conflict("imported_judge", _("The scores of this judge were imported. There is nothing to export."))
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        **judge_spec(version),
        "identity": {
            "project": version.judge.project.slug,
            "version": version.label,
            "hash": version.content_hash,
            "code_version": version.code_version,
        },
        "certificates": [_certificate(one) for one in _certificates(version)],
    }


def _certificates(version: JudgeVersion) -> list[Certificate]:
    found = Certificate.objects.filter(look__version=version).select_related("look__criterion__project", "look__judge")
    return list(found.order_by("number"))


def _certificate(certificate: Certificate) -> dict[str, Any]:
    look = certificate.look
    ended = ended_of(certificate)
    return {
        "number": certificate.number,
        "criterion": look.criterion.key,
        "criterion_version": look.criterion.version,
        "dimension": look.dimension,
        "level": look.level,
        "decision": look.decision,
        "threshold": look.result["threshold"],
        "region": look.result["region"],
        "calibrator": (look.result.get("calibrated") or {}).get("calibrator"),
        "kappa": look.result["kappa"],
        "ended": None if ended is None else {"code": ended[0], "reason": ended[1]},
    }
