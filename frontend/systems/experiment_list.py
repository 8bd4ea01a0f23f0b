"""The experiments of a project, each with what it says of the versions that it compares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from frontend.base.pages import ProjectPage
from frontend.systems.first_screen import WHOLE
from frontend.systems.metric_names import metric_title
from systems.experiments.read import experiments_of, hidden_experiments
from systems.experiments.trend_read import verdicts_of
from systems.models import Experiment

_TONES = {"better": "badge-ok", "not_worse": "badge-warn", "worse": "badge-error", "cannot_tell": ""}


@dataclass(frozen=True, slots=True)
class Said:
    """Of one version; chip: in words."""

    version: str
    chip: str
    tone: str


@dataclass(frozen=True, slots=True)
class Listed:
    """verdicts: none where figures are missing or held back, and `note` says which."""

    experiment: Experiment
    versions: Sequence[str]
    primary: str
    verdicts: Sequence[Said]
    note: str


def listed(page: ProjectPage) -> list[Listed]:
    verdicts, hidden = verdicts_of(page.project), hidden_experiments(page.project, reader=page.user)
    return [_listed(one, verdicts.get(one.pk), one.pk in hidden) for one in experiments_of(page.project)]


def _listed(experiment: Experiment, verdicts: Sequence[dict[str, str]] | None, is_hidden: bool) -> Listed:
    rule = experiment.rules.all()[0]
    note = ""
    if verdicts is None:
        note = _("no figures yet")
    elif is_hidden:
        note = _("hidden until you have submitted your labels")
    shown = [] if note or verdicts is None else verdicts
    return Listed(
        experiment=experiment,
        versions=[one.version.name for one in experiment.compared.all()],
        primary=next(metric_title(one) for one in rule.metrics if one["name"] == rule.primary),
        verdicts=[_said(**one) for one in shown],
        note=note,
    )


def _said(b: str, verdict: str) -> Said:
    return Said(b, _(WHOLE[verdict]), _TONES[verdict])
