"""Audit schedules in words: how often, what was made on each date, and what is in the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.dates import WEEKDAYS
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotate.models import AuditSchedule, ScheduledAudit


def how_often(schedule: AuditSchedule) -> str:
    day = {"day": WEEKDAYS[schedule.weekday]}
    if schedule.weeks == 1:
        return _("Every %(day)s") % day
    return _("Every %(n)d weeks on %(day)s") % {**day, "n": schedule.weeks}


@dataclass(frozen=True, slots=True)
class Made:
    """A line of the history."""

    audit: ScheduledAudit
    notes: list[str]


def made(audit: ScheduledAudit, names: Mapping[str, str]) -> Made:
    """names: of criteria, by their keys."""
    return Made(audit, _notes(audit, names))


def _notes(audit: ScheduledAudit, names: Mapping[str, str]) -> list[str]:
    said = []
    if not audit.eligible:
        said.append(_("No new samples, so no batch."))
    elif audit.eligible < audit.wanted:
        said.append(
            ngettext(
                "Only %(n)d new sample, fewer than the %(wanted)d to draw.",
                "Only %(n)d new samples, fewer than the %(wanted)d to draw.",
                audit.eligible,
            )
            % {"wanted": audit.wanted, "n": audit.eligible}
        )
    if audit.eligible and audit.batch is None:
        said.append(_("The batch was deleted."))
    if audit.missed:
        said.append(
            ngettext("%(n)d earlier date was missed.", "%(n)d earlier dates were missed.", audit.missed)
            % {"n": audit.missed}
        )
    if audit.without:
        said.append(_("Without %(names)s: no longer active members.") % {"names": ", ".join(audit.without)})
    if audit.unasked:
        listed = ", ".join(names.get(key, key) for key in audit.unasked)
        said.append(_("Not asked, as no drawn sample has units for it: %(criteria)s.") % {"criteria": listed})
    if audit.made_at.date() > audit.due_on:
        said.append(_("Made on %(day)s.") % {"day": date_format(audit.made_at, "DATE_FORMAT")})
    return said


def problem_in_words(problem: Mapping[str, Any] | None, names: Mapping[str, str]) -> str:
    """Why the batch that is due isn't made, and what to do. names: of criteria, by their keys."""
    if problem is None:
        return ""
    code = problem["code"]
    if code == "too_few_annotators":
        said = ngettext(
            "Each sample needs %(needed)d annotators, but only %(there)d of this schedule’s annotators is an active "
            "member.",
            "Each sample needs %(needed)d annotators, but only %(there)d of this schedule’s annotators are active "
            "members.",
            problem["there"],
        ) % {"needed": problem["needed"], "there": problem["there"]}
        if problem["gone"]:
            said += " " + _("No longer active: %(names)s.") % {"names": ", ".join(problem["gone"])}
        return said + " " + _("Edit the schedule: select others, or fewer annotators per sample.")
    if code == "no_criterion":
        listed = ", ".join(names.get(key, key) for key in problem["criteria"])
        said = _("The project no longer has these criteria: %(criteria)s. Edit the schedule.")
        return said % {"criteria": listed}
    return _("The schedule’s settings can’t be used as they are. Edit the schedule.")
