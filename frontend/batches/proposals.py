"""A judge's proposals in a batch: the fields of its form, and in words how far they pull annotators."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from alignment.base.estimate import Estimate
from annotate.batches.anchoring_read import CriterionAnchoring, ProposalEffect, proposal_effect
from annotate.batches.proposing import source
from annotate.core.blindness import Reader
from annotate.core.text_tables import in_words
from annotate.models import Batch, Criterion, Project
from annotate.projects.read import asked_in, current_criteria
from frontend.batches.board import duration

# Of the form: a field for each criterion that has a judge to propose for it.
_FIELD = "propose_{key}"


class ProposalFields:
    """Which judge proposes for which criterion, as fields of a form."""

    def __init__(self, project: Project, fields: dict[str, forms.Field], before: dict[str, str]) -> None:
        self.names: dict[str, str] = {}
        for criterion in current_criteria(project):
            judges = source().proposers(criterion)
            if judges:
                name = self.names[criterion.key] = _FIELD.format(key=criterion.key)
                fields[name] = _judge_field(criterion, judges, before.get(criterion.key, ""))

    def chosen(self, given: dict[str, Any]) -> dict[str, str]:
        """Of a valid form, for the criteria that it asks."""
        asked = {criterion.key for criterion in given["criteria"]}
        return {key: given[name] for key, name in self.names.items() if key in asked and given[name]}


def _judge_field(criterion: Criterion, judges: list[str], before: str) -> forms.ChoiceField:
    choices: list[tuple[str, Any]] = [("", _("No proposals")), *((judge, judge) for judge in judges)]
    return forms.ChoiceField(label=criterion.name, choices=choices, required=False, initial=before)


def settings_in_words(batch: Batch) -> list[str]:
    """Of each criterion with proposals whose they are."""
    return [
        _("%(criterion)s: %(judge)s") % {"criterion": criterion.name, "judge": batch.proposals[criterion.key]}
        for criterion in asked_in(batch)
        if criterion.key in batch.proposals
    ]


def effect_of(batch: Batch, *, reader: Reader) -> dict[str, Any]:
    """What partials/proposals.html shows."""
    effect = proposal_effect(batch, reader=reader)
    if effect is None:
        return {}
    return {"effects": [_row(row) for row in effect.criteria], "effect_time": _time(effect)}


def _row(row: CriterionAnchoring) -> dict[str, str]:
    if row.more.value is None:
        said = _("Not known yet how far proposals pull annotators: %(why)s.") % {"why": in_words(row.more.reason)}
        return {"name": row.name, "said": said, "detail": ""}
    shares = {"shown": _percent(row.shown), "withheld": _percent(row.withheld)}
    detail = ngettext(
        "Agreement with the judge: %(shown)s with a proposal, %(withheld)s without; %(n)s label.",
        "Agreement with the judge: %(shown)s with a proposal, %(withheld)s without; %(n)s labels.",
        row.more.n,
    ) % {**shares, "n": number_format(row.more.n, use_l10n=True, force_grouping=True)}
    return {"name": row.name, "said": pull(row.judge, row.more), "detail": detail}


def pull(judge: str, more: Estimate) -> str:
    """The difference, in points, and what it shows."""
    assert more.value is not None
    assert more.low is not None
    assert more.high is not None
    points = round(100 * more.value)
    given = {"judge": judge, "points": abs(points), "low": _signed(more.low), "high": _signed(more.high)}
    if more.low > 0:
        return (
            ngettext(
                "With a proposal, annotators agreed with %(judge)s %(points)d point more often (%(low)s to %(high)s): "
                "proposals pull annotators.",
                "With a proposal, annotators agreed with %(judge)s %(points)d points more often (%(low)s to %(high)s): "
                "proposals pull annotators.",
                points,
            )
            % given
        )
    if more.high < 0:
        return (
            ngettext(
                "With a proposal, annotators agreed with %(judge)s %(points)d point less often (%(low)s to %(high)s): "
                "proposals make annotators disagree.",
                "With a proposal, annotators agreed with %(judge)s %(points)d points less often (%(low)s to %(high)s): "
                "proposals make annotators disagree.",
                abs(points),
            )
            % given
        )
    return _(
        "No pull is shown: with a proposal, agreement with %(judge)s changed by %(by)s points (%(low)s to %(high)s)."
    ) % {**given, "by": _signed(more.value)}


def _signed(share: float) -> str:
    return f"{round(100 * share):d}".replace("-", "−")


def _percent(share: Estimate) -> str:
    assert share.value is not None
    return f"{100 * share.value:.0f}%"


def _time(effect: ProposalEffect) -> str:
    if effect.seconds_shown is None or effect.seconds_withheld is None:
        return ""
    said = _("Median time per task: %(shown)s with proposals, %(withheld)s without.")
    given = {"shown": duration(effect.seconds_shown), "withheld": duration(effect.seconds_withheld)}
    return said % given
