"""Experiments are made, and their rules changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from annotate.core.errors import Conflict, Invalid
from annotate.core.trail import note
from annotate.labels.read import counting_labels
from annotate.models import Project, User
from systems.core.set_names import is_name
from systems.experiments.read import ExperimentState
from systems.experiments.responses_read import compared_responses
from systems.experiments.specification import Specification, read_specification
from systems.models import Experiment, ExperimentFigures, ExperimentRule, ExperimentVersion


@dataclass(frozen=True)
class Creation:
    """is_new: whether the experiment was made; is_changed: whether the rule is another one than before."""

    experiment: Experiment
    rule: ExperimentRule
    is_new: bool
    is_changed: bool


def create_experiment(*, actor: User | None, project: Project, name: Any, said: Any) -> Creation:
    """As `read_specification` reads it. One of this name that compares the same versions on the same questions gets the
    rule, which is its next number where it is another one.

    Raises Invalid, and Conflict for other versions or another set.
    """
    if not is_name(name):
        raise Invalid("bad_name", _("name: use a–z, 0–9, “-” and “_”, at most 60 characters."))
    wanted = read_specification(project, said)
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        experiment = Experiment.objects.filter(project=project, name=name).first()
        is_new = experiment is None
        if experiment is None:
            experiment = _made(actor, project, name, wanted)
        else:
            _require_same(experiment, wanted)
            stands = ExperimentState(experiment).rule
            if _content(stands) == _content(wanted):
                return Creation(experiment, stands, is_new=False, is_changed=False)
        rule = _set_rule(actor, experiment, wanted)
        note(
            actor=actor, action="experiment.created" if is_new else "experiment.rule_changed", subject=name,
            project=project, rule=rule.number, primary=rule.primary, labels_before=rule.labels_before,
            after_figures=rule.after_figures,
        )  # fmt: skip
    return Creation(experiment, rule, is_new=is_new, is_changed=not is_new)


def _made(actor: User | None, project: Project, name: str, wanted: Specification) -> Experiment:
    experiment = Experiment.objects.create(project=project, name=name, frozen_set=wanted.frozen_set, created_by=actor)
    ExperimentVersion.objects.bulk_create(
        ExperimentVersion(
            experiment=experiment, version=version, position=position, is_baseline=version == wanted.baseline
        )
        for position, version in enumerate(wanted.versions)
    )
    _require_responses(experiment, wanted)
    return experiment


def _require_responses(experiment: Experiment, wanted: Specification) -> None:
    """Each version was asked something of what is compared."""
    there = set(compared_responses(experiment).version)
    for position, version in enumerate(wanted.versions):
        if position not in there:
            where = f"versions[{position}]"
            if wanted.frozen_set is None:
                said = _("%(where)s: “%(name)s” was asked nothing that “%(baseline)s” was asked.")
            else:
                said = _("%(where)s: “%(name)s” has no responses to the questions of %(set)s.")
            given = {
                "where": where,
                "name": version.name,
                "baseline": wanted.baseline.name,
                "set": wanted.frozen_set and wanted.frozen_set.manifest["set"],
            }
            raise Invalid("bad_experiment", said % given)


def _require_same(experiment: Experiment, wanted: Specification) -> None:
    state = ExperimentState(experiment)
    same_versions = [one.version for one in state.versions] == wanted.versions
    if not same_versions or state.baseline != wanted.baseline.name or experiment.frozen_set != wanted.frozen_set:
        raise Conflict(
            "other_experiment",
            _(
                "Experiment “%(name)s” is there already and compares other versions or questions. Only its metrics and "
                "its rule can change; give this one another name."
            )
            % {"name": experiment.name},
        )


def _content(rule: ExperimentRule | Specification) -> list[Any]:
    return [rule.metrics, rule.primary, rule.margin, rule.guards, rule.level]


def _set_rule(actor: User | None, experiment: Experiment, wanted: Specification) -> ExperimentRule:
    keys = {metric["criterion"] for metric in wanted.metrics if "criterion" in metric}
    labels = counting_labels().filter(
        criterion__project=experiment.project_id,
        criterion__key__in=keys,
        sample__response__version__experiments=experiment,
    )
    return ExperimentRule.objects.create(
        experiment=experiment,
        number=experiment.rules.count() + 1,
        metrics=wanted.metrics,
        primary=wanted.primary,
        margin=wanted.margin,
        guards=wanted.guards,
        level=wanted.level,
        labels_before=labels.order_by().values("sample").distinct().count(),
        after_figures=ExperimentFigures.objects.filter(rule__experiment=experiment).exists(),
        set_by=actor,
    )
