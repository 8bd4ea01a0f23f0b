"""Frozen figures: worked out once of the data as they are, by the rule in force, and never changed afterwards."""

from __future__ import annotations

from typing import Any

from django.db import transaction

import alignment
from annotate.core.trail import note
from annotate.models import Project, User
from systems.experiments.evidence import Evidence, evidence_of
from systems.experiments.read import FIGURES_VERSION, ExperimentState, data_version
from systems.models import Experiment, ExperimentFigures, ExperimentRule

SCHEMA = 1
# Of the folds, where no order was drawn yet.
_FIRST_SEED = 0


def freeze_figures(*, experiment: Experiment, user: User | None = None) -> ExperimentFigures:
    """Of the data as they are now; those that are there when nothing that they rest on has changed since. Raises as
    `evidence_of`."""
    rule = ExperimentState(experiment).rule
    # Read before the data: what changes meanwhile makes figures out of date, never wrongly up to date.
    seen = data_version(experiment, rule)
    made = ExperimentFigures.objects.filter(rule=rule, figures=FIGURES_VERSION)
    current = made.filter(data_version=seen).first()
    if current is not None:
        return current
    seed = _FIRST_SEED if experiment.seed is None else experiment.seed
    evidence = evidence_of(experiment, rule)
    fingerprint = evidence.fingerprint(seed=seed, figures=FIGURES_VERSION)
    result = _result(experiment, rule, evidence, seed)
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=experiment.project_id)
        same = made.filter(fingerprint=fingerprint).first()
        if same is not None:
            # The figures are frozen; that they are up to date again is not one of them.
            same.data_version = seen
            same.save(update_fields=["data_version"])
            return same
        found = ExperimentFigures.objects.create(
            rule=rule, fingerprint=fingerprint, data_version=seen, seed=seed, figures=FIGURES_VERSION, result=result,
            made_by=user,
        )  # fmt: skip
        note(
            actor=user, action="experiment.figures", subject=experiment.name, project=experiment.project,
            rule=rule.number,
        )  # fmt: skip
    return found


def _result(experiment: Experiment, rule: ExperimentRule, evidence: Evidence, seed: int) -> dict[str, Any]:
    """{"schema", "experiment", "set", "baseline", "versions", "population", "rule", "rule_set_at",
    "labels_before_rule", "metrics", "verdict", "parts", "preferences", …}: metrics and verdicts as
    `alignment.experiment_figures` has them, parts as `alignment.sliced_figures`, preferences, of each version of which
    people saw answers beside the baseline's, as `alignment.preference_figures`, at the level of one of all comparisons.

    set: None where there is none. population: how many questions the figures are of; left_out: how many others were
    asked, and are in none, since they came after the order of labelling was drawn or their groups are dev or test.
    rule_number: above 1 where the rule was changed; after_figures: whether that was after figures had been made.
    """
    found = alignment.experiment_figures(evidence.asked, evidence.metrics, evidence.rule, seed=seed)
    parts = alignment.sliced_figures(evidence.asked, evidence.metrics, evidence.rule, evidence.parts, seed=seed)
    level = alignment.comparison_level(rule.level, len(evidence.asked.versions))
    preferences = [alignment.preference_figures(one, level=level, seed=seed) for one in evidence.preferences]
    frozen = experiment.frozen_set
    return {
        "schema": SCHEMA,
        "experiment": experiment.name,
        "set": None if frozen is None else frozen.manifest["set"],
        "baseline": evidence.asked.versions[evidence.asked.baseline],
        "versions": list(evidence.asked.versions),
        "population": evidence.questions,
        "left_out": evidence.left_out,
        "rule": {"primary": rule.primary, "margin": rule.margin, "guards": rule.guards, "level": rule.level},
        "rule_number": rule.number,
        "rule_set_at": rule.set_at.isoformat(),
        "labels_before_rule": rule.labels_before,
        "after_figures": rule.after_figures,
        "seed": experiment.seed,
        **found,
        "parts": parts,
        "preferences": preferences,
    }
