"""Every experiment of a project over time: the levels of its versions, metric by metric, and what changed in
between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from annotate.core.blindness import Reader
from annotate.models import Criterion, Project
from systems.experiments.read import FIGURES_VERSION, experiments_of, hidden_experiments
from systems.models import ExperimentFigures

# The latest are shown.
MOST_EXPERIMENTS = 24


@dataclass(frozen=True, slots=True)
class TrendLevel:
    """found: as the figures have it."""

    version: str
    is_baseline: bool
    found: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """An experiment's levels of one metric. changes: in what it differs from the one before it, so that the two can't
    be compared without a thought: "judge", "criterion", "set"."""

    experiment: str
    at: datetime
    levels: Sequence[TrendLevel]
    changes: Sequence[str]


@dataclass(frozen=True, slots=True)
class MetricTrend:
    """metric: as the figures of its latest experiment have it. points: the oldest first."""

    metric: Mapping[str, Any]
    points: Sequence[TrendPoint]


@dataclass(frozen=True, slots=True)
class Trends:
    """held_back: of how many experiments the reader must not know figures yet. left_out: how many older ones there
    are."""

    metrics: Sequence[MetricTrend]
    held_back: int
    left_out: int


def trends_of(project: Project, *, reader: Reader) -> Trends:
    """By the latest figures of each experiment, by its rule in force. Metrics by how many experiments have them."""
    latest = {one.rule.experiment_id: one for one in _latest_figures(project)}
    hidden = hidden_experiments(project, reader=reader)
    experiments = [one for one in experiments_of(project) if one.pk in latest]
    recent = experiments[:MOST_EXPERIMENTS]
    shown = [(one, latest[one.pk]) for one in recent if one.pk not in hidden]
    versions = _criterion_versions(project)
    by_metric: dict[tuple[str, str], list[tuple[dict[str, Any], TrendPoint]]] = {}
    before: dict[tuple[str, str], dict[str, Any]] = {}
    for experiment, figures in reversed(shown):
        for metric in figures.result["metrics"]:
            key = (metric["metric"], metric["unit"])
            rests_on = _rests_on(metric, figures, versions)
            earlier = before.get(key, rests_on)
            before[key] = rests_on
            point = TrendPoint(
                experiment=experiment.name,
                at=experiment.created_at,
                levels=[
                    TrendLevel(one["version"], one["version"] == figures.result["baseline"], one)
                    for one in metric["levels"]
                ],
                changes=[name for name, value in rests_on.items() if value != earlier[name]],
            )
            by_metric.setdefault(key, []).append((metric, point))
    trends = [MetricTrend(rows[-1][0], [point for _metric, point in rows]) for rows in by_metric.values()]
    return Trends(
        sorted(trends, key=lambda one: -len(one.points)), len(recent) - len(shown), len(experiments) - len(recent)
    )


def verdicts_of(project: Project) -> dict[int, list[dict[str, str]]]:
    """Of each experiment with figures, by primary key, the verdicts by its rule in force: [{"b", "verdict"}]. Not held
    back: `hidden_experiments` names those of which the reader must not know them."""
    return dict(_latest_figures(project).values_list("rule__experiment", "result__verdicts"))


def _latest_figures(project: Project) -> QuerySet[ExperimentFigures]:
    """By the rules in force, the latest of each last."""
    found = ExperimentFigures.objects.filter(rule__experiment__project=project, figures=FIGURES_VERSION)
    rules = {rule.pk for experiment in experiments_of(project) for rule in experiment.rules.all()[:1]}
    return found.filter(rule__in=rules).select_related("rule").order_by("id")


def _criterion_versions(project: Project) -> dict[str, list[tuple[datetime, int]]]:
    """Of each criterion since when which version has been there, the latest first."""
    found: dict[str, list[tuple[datetime, int]]] = {}
    rows = Criterion.objects.filter(project=project).order_by("-version").values_list("key", "created_at", "version")
    for key, since, version in rows:
        found.setdefault(key, []).append((since, version))
    return found


def _rests_on(
    metric: Mapping[str, Any], figures: ExperimentFigures, versions: Mapping[str, list[tuple[datetime, int]]]
) -> dict[str, Any]:
    key = metric.get("criterion")
    since = versions.get(key, []) if key is not None else []
    version = next((number for at, number in since if at <= figures.made_at), None)
    return {"judge": metric.get("judge"), "criterion": (key, version), "set": figures.result["set"]}
