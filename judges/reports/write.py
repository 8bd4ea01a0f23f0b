"""Frozen reports: everything worked out once, stored, and never changed afterwards."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from django.core.cache import cache
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

import alignment
from annotate.core import memory
from annotate.core.blindness import EVERYONE
from annotate.core.jobs import end
from annotate.core.trail import note
from annotate.models import Criterion, Job, Project, User
from judges.core.split import DEV_SHARE
from judges.models import AlignmentReport
from judges.reports.evidence import fingerprint_of, full_evidence
from judges.reports.read import FIGURES_VERSION, Labels, data_version, pending_key, with_words
from judges.reports.reproduction import pack
from judges.reports.requests import draw_plots

LEVEL = 0.95


def freeze_report(*, criterion: Criterion, user: User | None = None, labels: Labels = "settled") -> AlignmentReport:
    """The report on the data as they are now; the one that exists when nothing it rests on has changed since. labels:
    whether judges are compared with settled units, or with all that people labelled.

    Two at the same time make one report: the unique fingerprint decides under the project's lock.
    """
    try:
        basis = basis_of(criterion, labels=labels)
        return _existing(criterion, basis) or _freeze(criterion, basis, user)
    finally:
        cache.delete(pending_key(criterion.pk, labels))


def make_requested(job: Job) -> None:
    """As judges.reports.requests.request_job asked for it."""
    criterion = Criterion.objects.select_related("project").get(pk=job.asked["criterion"])
    end(job, freeze_report(criterion=criterion, user=job.created_by, labels=job.asked["labels"]).number)


def build_report(*, criterion: Criterion, judge_name: str | None = None, labels: Labels = "settled") -> AlignmentReport:
    """A report that is not stored. Raises Invalid for a judge that the project doesn't have."""
    return _worked_out(criterion, basis_of(criterion, judge_name, labels=labels))


@dataclass(frozen=True)
class Basis:
    """What a report rests on: read in a moment, where working out the figures and drawing them takes seconds."""

    data_version: str
    evidence: alignment.report.Evidence
    parameters: dict[str, Any]
    fingerprint: str


def basis_of(criterion: Criterion, judge_name: str | None = None, *, labels: Labels = "settled") -> Basis:
    # Read before the data: what changes while we read makes the report out of date, never wrongly up to date.
    seen = data_version(criterion)
    evidence = full_evidence(criterion, judge_name, settled_only=labels == "settled")
    memory.give_back()
    parameters = {
        "labels": labels,
        "seed": criterion.project.seed,
        "level": LEVEL,
        "dev_share": DEV_SHARE,
        "figures": FIGURES_VERSION,
        "libraries": {
            "python": platform.python_version(),
            **{library: version(library) for library in ("numpy", "scipy", "matplotlib")},
        },
    }
    return Basis(seen, evidence, parameters, fingerprint_of(evidence, parameters))


def _existing(criterion: Criterion, basis: Basis) -> AlignmentReport | None:
    report = AlignmentReport.objects.filter(criterion=criterion, fingerprint=basis.fingerprint).first()
    if report is not None:
        # The figures are frozen; that they are up to date again is not one of them.
        report.parameters = {**report.parameters, "data_version": basis.data_version}
        report.present_at = timezone.now()
        report.save(update_fields=["parameters", "present_at"])
    return report


def _freeze(criterion: Criterion, basis: Basis, user: User | None) -> AlignmentReport:
    report = _worked_out(criterion, basis)
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=criterion.project_id)
        made_meanwhile = _existing(criterion, basis)
        if made_meanwhile is not None:
            return made_meanwhile
        last = AlignmentReport.objects.filter(project_id=criterion.project_id).aggregate(last=Max("number"))["last"]
        report.number = (last or 0) + 1
        report.created_by = user
        report.save(force_insert=True)
        note(
            actor=user,
            action="report.made",
            subject=criterion.key,
            project=report.project,
            version=criterion.version,
            number=report.number,
        )
    return report


def _worked_out(criterion: Criterion, basis: Basis) -> AlignmentReport:
    project = criterion.project
    figures = alignment.report.report_figures(basis.evidence)
    result = {
        "project": {"slug": project.slug, "name": project.name},
        **figures,
        "judges": with_words(project, figures["judges"], reader=EVERYONE),
    }
    return AlignmentReport(
        project=project,
        criterion=criterion,
        number=0,
        fingerprint=basis.fingerprint,
        parameters={**basis.parameters, "data_version": basis.data_version},
        result=result,
        plots=draw_plots(result),
        evidence=pack(basis.evidence),
    )
