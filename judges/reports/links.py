"""Addresses at which a report can be read without an account: made and revoked by admins, open for a time. What is read
there is the report without anything that is of one person or of one unit."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.core.blindness import annotator_numbers
from annotate.core.errors import Invalid
from annotate.core.permissions import ROLES_FOR
from annotate.core.rows import first_or_raise
from annotate.core.secret_links import digest, new_token
from annotate.core.trail import note
from annotate.models import Membership, Project, User
from judges.models import AlignmentReport, ReportLink
from judges.reports.read import is_shown

DAYS = (7, 30, 90)
DEFAULT_DAYS = 30


def create_link(*, actor: User, report: AlignmentReport, days: int = DEFAULT_DAYS) -> tuple[ReportLink, str]:
    """The link and its token, which is shown only now: its digest is all that is stored."""
    if days not in DAYS:
        offered = ", ".join(map(str, DAYS))
        raise Invalid("bad_days", _("Days that the link works: choose one of %(offered)s.") % {"offered": offered})
    token, token_digest = new_token()
    with transaction.atomic():
        link = ReportLink.objects.create(
            report=report,
            token_digest=token_digest,
            expires_at=timezone.now() + timedelta(days=days),
            created_by=actor,
        )
        _note(actor, link, "report.shared", until=link.expires_at.isoformat())
    return link, token


def revoke_link(*, actor: User, project: Project, link_id: int) -> ReportLink:
    """It stops working at once. Repeating it changes nothing."""
    with transaction.atomic():
        links = ReportLink.objects.select_for_update(of=("self",)).select_related("report__criterion")
        missing = Http404(_("This project has no such link."))
        link = first_or_raise(links.filter(report__project=project, pk=link_id), missing)
        if link.revoked_at is None:
            link.revoked_at = timezone.now()
            link.save(update_fields=["revoked_at"])
            _note(actor, link, "report.unshared")
    return link


def open_links(project: Project) -> QuerySet[ReportLink]:
    """Those that work, the latest first.

    They end with their maker's right to share, as invitations do: who was taken out has no way back in.
    """
    entitled = Membership.objects.filter(project=project, role__in=ROLES_FOR["reports.share"], is_active=True)
    makers = User.objects.filter(Q(is_superuser=True) | Q(pk__in=entitled.values("user")), is_active=True)
    return ReportLink.objects.filter(
        report__project=project,
        report__project__deleting_at__isnull=True,
        revoked_at__isnull=True,
        expires_at__gt=timezone.now(),
        created_by__in=makers,
    ).select_related("report__criterion", "created_by")


def shared_report(token: str) -> AlignmentReport:
    """What a link shows. Raises Http404 in the same words for a link that is unknown, expired or revoked."""
    gone = Http404(_("This link doesn’t work."))
    links = ReportLink.objects.filter(token_digest=digest(token)).select_related("report__project", "report__criterion")
    link = first_or_raise(links, gone)
    if not open_links(link.report.project).filter(pk=link.pk).exists() or not is_shown(link.report):
        raise gone
    return _without_people(link.report)


# Figures over many units and people. Nothing else of a report is told; what later versions add has to be named here.
_FIGURES = ("criterion", "agreement_caveat", "agreement_note", "prevalence", "passing", "people", "planning")
_OF_AGREEMENT = ("ratings", "units", "estimates")
_OF_JUDGES = (
    "title", "judge", "version", "dimension", "higher_is_better", "decision", "kappa", "at_threshold", "coverage",
    "roc_auc", "spearman", "kendall", "pearson", "sweep_best", "labels", "calibration", "caveat", "learned", "note",
)  # fmt: skip
# A kappa on fewer would tell who said what of one of them.
_FEWEST_UNITS = 10
_PLOTS = ("planning", "sweep-", "histogram-", "reliability-", "weeks-")


def _without_people(report: AlignmentReport) -> AlignmentReport:
    """The report, of which nothing must be saved any more: figures and plots, annotators by number, no single unit, no
    text of a sample and no metadata."""
    result, called = report.result, annotator_numbers(report.project)
    matrix, annotators = result["matrix"], result["annotators"]
    raters = [
        {**one, "name": called.get(one["name"], _("An annotator"))} if one["kind"] == "person" else one
        for one in matrix["raters"]
    ]
    cells = [[cell if cell and cell["n"] >= _FEWEST_UNITS else None for cell in row] for row in matrix["cells"]]
    report.result = {
        **_only(result, _FIGURES),
        "project": {"name": result["project"]["name"]},
        "reference": _only(result["reference"], ("units", "positives", "ties", "settled_only")),
        "agreement": {**_only(result["agreement"], _OF_AGREEMENT), "raters": [""] * len(result["agreement"]["raters"])},
        "matrix": {**matrix, "raters": raters, "cells": cells},
        # How many they are.
        "annotators": {"people": [{} for _one in annotators["people"]], "left_out": annotators["left_out"]},
        "judges": [_only(judge, _OF_JUDGES) for judge in result["judges"]],
    }
    report.plots = {name: plot for name, plot in report.plots.items() if name.startswith(_PLOTS)}
    return report


def _only(found: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: found[name] for name in names if name in found}


def _note(actor: User, link: ReportLink, action: str, **details: Any) -> None:
    report = link.report
    note(
        actor=actor,
        action=action,
        subject=str(link.pk),
        project=report.project,
        number=report.number,
        criterion=report.criterion.key,
        **details,
    )
