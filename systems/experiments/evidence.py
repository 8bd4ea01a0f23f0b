"""What an experiment's figures rest on: of each response what people and judges said, or what was measured.

People's word counts where the response went out to them in a draw with the answers of all other versions to its
question; the draw says for which questions it speaks. What they have not settled there lies between bounds.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
from django.utils.translation import gettext as _

import alignment
from annotate.core.blindness import SYSTEM
from annotate.core.errors import Conflict
from annotate.core.rows import fetch_all
from annotate.core.units import LISTED_KINDS, asks_any, indices_sql
from annotate.models import Criterion
from annotate.projects.read import rated_criteria
from annotate.samples.read import samples_keyed
from annotate.verdicts.evidence_read import reference_evidence
from judges.core.scores_read import Series, series_for
from systems.core.response_fields import FIELDS
from systems.experiments.bands_read import ProjectBands, bands_of
from systems.experiments.judged import Level, judge_values
from systems.experiments.pairs_read import preferences_of
from systems.experiments.responses_read import Compared, SentOut, compared_responses, compared_versions, sent_out
from systems.models import Experiment, ExperimentRule, QuestionKind

# By what questions are parted.
PARTS = ("category", "difficulty", "kind")
_UNKNOWN = (0.0, 1.0)


@dataclass(frozen=True)
class Evidence:
    asked: alignment.Asked
    metrics: list[alignment.Quality | alignment.Measured]
    rule: alignment.Rule
    parts: dict[str, list[str]]
    preferences: list[alignment.SideBySide]
    found: Compared

    @property
    def left_out(self) -> int:
        return self.found.left_out

    @property
    def questions(self) -> int:
        return len(self.asked.group)

    def fingerprint(self, **parameters: Any) -> str:
        """SHA-256 of everything that goes into the figures."""
        digest = hashlib.sha256()
        for part in (self.asked, *self.metrics, self.rule, *self.preferences):
            digest.update(orjson.dumps([type(part).__name__, part]))
        digest.update(
            orjson.dumps({"left_out": self.left_out, "parts": self.parts, **parameters}, option=orjson.OPT_SORT_KEYS)
        )
        return digest.hexdigest()


def evidence_of(experiment: Experiment, rule: ExperimentRule) -> Evidence:
    """Raises Conflict where a criterion of the rule is gone, or says nowhere any more what passes."""
    found, out = compared_responses(experiment), sent_out(experiment)
    criteria, bands = {one.key: one for one in rated_criteria(experiment.project)}, bands_of(experiment.project)
    sheets: dict[str, _Sheet] = {}
    metrics: list[alignment.Quality | alignment.Measured] = []
    for metric in rule.metrics:
        if "field" in metric:
            metrics.append(_measured(found, metric, bands))
            continue
        key = metric["criterion"]
        if key not in sheets:
            sheets[key] = _Sheet.of(_still_asked(criteria, metric), found, out)
        metrics.append(sheets[key].metric(metric, bands))
    return Evidence(
        asked=_asked(experiment, found, out),
        metrics=metrics,
        rule=alignment.Rule(
            rule.primary, rule.margin, {one["metric"]: one["margin"] for one in rule.guards}, rule.level
        ),
        parts={name: [getattr(found.asked[question], name) for question in found.groups] for name in PARTS},
        preferences=preferences_of(experiment),
        found=found,
    )


def _still_asked(criteria: Mapping[str, Criterion], metric: Mapping[str, Any]) -> Criterion:
    criterion = criteria.get(metric["criterion"])
    if criterion is None or not (criterion.passes or ("derived" not in metric and Level(criterion).is_graded)):
        raise Conflict(
            "criterion_changed",
            _("Criterion “%(key)s” has changed so that “%(name)s” can’t be worked out any more. Change the rule.")
            % {"key": metric["criterion"], "name": metric["name"]},
        )
    return criterion


def _asked(experiment: Experiment, found: Compared, out: SentOut) -> alignment.Asked:
    """Groups are numbered in the order in which they are drawn; before an order was, by name."""
    order = experiment.order or sorted(set(found.groups.values()))
    there = set(found.groups.values())
    names = [name for name in order if name in there]
    number = {name: place for place, name in enumerate(names)}
    questions = {question: place for place, question in enumerate(found.groups)}
    versions = compared_versions(experiment)
    return alignment.Asked(
        versions=[one.version.name for one in versions],
        baseline=next(place for place, one in enumerate(versions) if one.is_baseline),
        version=found.version,
        question=[questions[question] for question in found.question],
        failed=found.failed,
        abstained=found.abstained,
        group=[number[name] for name in found.groups.values()],
        unanswerable=[found.asked[question].kind == QuestionKind.UNANSWERABLE for question in found.groups],
        drawn=[name in out.groups for name in names],
        closed=[name in out.closed for name in names],
    )


def _measured(found: Compared, metric: Mapping[str, Any], bands: ProjectBands) -> alignment.Measured:
    name = metric["field"]
    return alignment.Measured(
        name=metric["name"],
        title=metric["name"],
        unit=FIELDS[name].unit,
        value=[math.nan if value is None else value for value in found.measures[name]],
        higher_is_better=metric["direction"] == "higher",
        limits=bands.limits(metric),
        about={"field": name, "bands": bands.shown(metric)},
    )


@dataclass(frozen=True)
class _Sheet:
    """A criterion's side: of each sample its units, and of each that went out to people their values, (least, most).
    labelled: those of them of which people have said something, settled or not. judged: what judges say, once it was
    read; several metrics may be of the same."""

    criterion: Criterion
    found: Compared
    units: Mapping[int, Sequence[int | None]]
    bounds: Mapping[int, Sequence[tuple[float, float]]]
    labelled: Collection[int]
    positive: Mapping[tuple[str, str], bool]
    judged: dict[Series, Mapping[int, Mapping[int | None, float]]] = field(default_factory=dict)

    @classmethod
    def of(cls, criterion: Criterion, found: Compared, out: SentOut) -> _Sheet:
        units = _units(criterion, found.samples)
        evidence = reference_evidence(criterion, reader=SYSTEM)
        reference = alignment.report.reference_of(evidence)
        values = _settled(criterion, reference)
        names = dict(samples_keyed(out.samples).values_list("pk", "external_id"))
        bounds = {
            sample: [values.get((names[sample], _address(criterion, index)), _UNKNOWN) for index in units[sample]]
            for sample in out.samples
            if sample in units
        }
        said = set(reference.units)
        labelled = {
            sample
            for sample in bounds
            if any((names[sample], _address(criterion, index)) in said for index in units[sample])
        }
        return cls(criterion, found, units, bounds, labelled, reference.positive)

    def metric(self, metric: Mapping[str, Any], bands: ProjectBands) -> alignment.Quality:
        derived = metric.get("derived")
        units = [() if sample is None else self.units.get(sample, ()) for sample in self.found.sample]
        bounds = [() if sample is None else self.bounds.get(sample, ()) for sample in self.found.sample]
        least, most = alignment.report.response_bounds(
            derived, [[low for low, _high in one] for one in bounds], [[high for _low, high in one] for one in bounds]
        )
        return alignment.Quality(
            name=metric["name"],
            title=self.criterion.name if metric["name"] == self.criterion.key else metric["name"],
            score=self._scores(metric, units),
            least=least,
            most=most,
            labelled=[sample in self.labelled for sample in self.found.sample],
            undefined=[not failed and not one for failed, one in zip(self.found.failed, units, strict=True)],
            limits=bands.limits(metric),
            about={
                **{name: metric[name] for name in ("criterion", "derived", "judge") if name in metric},
                "bands": bands.shown(metric),
            },
        )

    def _scores(self, metric: Mapping[str, Any], units: Sequence[Sequence[int | None]]) -> list[float]:
        judge, derived = metric.get("judge"), metric.get("derived")
        series = None if judge is None else series_for(self.criterion, judge, derived)
        if series is None:
            return [math.nan] * len(units)
        if series not in self.judged:
            self.judged[series] = judge_values(self.criterion, series, self.found.samples, self.positive)
        said = self.judged[series]
        nothing: Mapping[int | None, float] = {}
        of_sample = [nothing if sample is None else said.get(sample, nothing) for sample in self.found.sample]
        if series.of_whole:
            return [
                values.get(None, math.nan) if one else math.nan for values, one in zip(of_sample, units, strict=True)
            ]
        return alignment.report.response_values(
            derived,
            [[values.get(index, math.nan) for index in one] for values, one in zip(of_sample, units, strict=True)],
        )


def _settled(criterion: Criterion, reference: alignment.report.Reference) -> dict[tuple[str, str], tuple[float, float]]:
    """Of each unit that people settled its value, as bounds that are equal. Of grades the verdict, else their mean."""
    level = Level(criterion)
    if not level.is_graded:
        return {unit: (float(passed), float(passed)) for unit, passed in reference.positive.items()}
    values = {unit: level.of(value) for unit, value in reference.labels().items()}
    if reference.mean is not None:
        means = reference.mean.only(~reference.left_out)
        values |= {unit: level.of(mean) for unit, mean in means.items() if unit not in reference.evidence.verdicts}
    return {unit: (value, value) for unit, value in values.items()}


def _address(criterion: Criterion, index: int | None) -> str:
    return criterion.unit if index is None else f"{criterion.unit}:{index}"


def _units(criterion: Criterion, samples: Sequence[int]) -> dict[int, Sequence[int | None]]:
    """Of each sample of which the criterion asks something, the indices of its units; [None] where it has one."""
    asked = samples_keyed(samples).filter(asks_any(criterion))
    if criterion.unit not in LISTED_KINDS:
        return dict.fromkeys(asked.values_list("pk", flat=True), (None,))
    rows = fetch_all(
        f"SELECT s.id, {indices_sql(criterion.unit)} FROM annotate_sample s WHERE s.id = ANY(%(samples)s)",
        {"samples": list(asked.values_list("pk", flat=True))},
    )
    return dict(rows)
