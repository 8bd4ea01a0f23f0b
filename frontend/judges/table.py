"""The list of judges: what each measures, how far it got, and what a report says of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from django.db.models import Count, F, Func, Q, TextField, Value

from annotate.core.units import KIND_ORDER
from annotate.models import Criterion, Project
from annotate.models.project import UnitKind
from annotate.projects.read import criterion_names, rated_criteria
from frontend.reports.shown import Shown, shown
from judges.kinds.registry import kind_named, runnable_kinds
from judges.models import (
    WITHOUT_SCORES,
    Judge,
    JudgeKind,
    JudgeVersion,
    Run,
    RunPurpose,
    Score,
    ScoreStatus,
    VersionState,
)
from judges.reports.read import overview
from judges.versions.read import judges_of


@dataclass(frozen=True, slots=True)
class Measured:
    """What a version's scores are of: a kind of unit, and a criterion's key or the judge's own name for it."""

    unit: str
    dimension: str
    # Of the criterion; its own one of the judge otherwise.
    name: str = field(default="", compare=False)

    @property
    def unit_label(self) -> str:
        return str(UnitKind(self.unit).label)


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many units a version has scored, and how many of them failed: those have no score."""

    ok: int = 0
    failed: int = 0

    @property
    def units(self) -> int:
        return self.ok + self.failed


@dataclass(slots=True)
class JudgeRow:
    judge: Judge
    # The latest kept one; None when all are on trial or dropped.
    version: JudgeVersion | None
    can_run: bool
    measures: Sequence[Measured] = ()
    coverage: Coverage = Coverage()
    last_run: Run | None = None
    # Of each report: the criterion, the judge's dimension, and its kappa.
    agreement: list[tuple[Criterion, str, Shown]] = field(default_factory=list)


def judge_rows(project: Project) -> list[JudgeRow]:
    """A row per judge, by name. As many queries for two judges as for two hundred."""
    runnable = set(runnable_kinds())
    rows = []
    for judge in judges_of(project):
        # As judges.core.scores_read.current_version has it, of versions that are read already.
        kept = [version for version in judge.versions.all() if version.state == VersionState.KEPT]
        rows.append(JudgeRow(judge, max(kept, key=lambda one: one.number, default=None), judge.kind in runnable))
    found = coverage_of(row.version for row in rows if row.version)
    last = _last_runs(project)
    said = agreement_in_reports(project)
    for row in rows:
        row.last_run = last.get(row.judge.pk)
        row.agreement = said.get(row.judge.name, [])
        if row.version is not None:
            row.measures, row.coverage = found[row.version.pk]
    return rows


def coverage_of(versions: Iterable[JudgeVersion]) -> dict[int, tuple[list[Measured], Coverage]]:
    """By version: what it measures, and how many units it has scored or failed to score."""
    versions = list(versions)
    # What a cascade leaves to people is neither.
    counted = (
        Score.objects.filter(version__in=versions, repeat=0)
        .exclude(status=ScoreStatus.LEFT)
        .annotate(kind=Func(F("unit"), Value(":"), Value(1), function="split_part", output_field=TextField()))
        .values_list("version_id", "kind", "dimension")
        .order_by()
        .annotate(ok=Count("pk", filter=Q(status=ScoreStatus.OK)), every=Count("pk"))
    )
    found: dict[int, dict[Measured, Coverage]] = {version.pk: {} for version in versions}
    for version, kind, dimension, ok, every in counted:
        found[version][Measured(kind, dimension)] = Coverage(ok, every - ok)
    names = {pk: criterion_names(pk) for pk in {version.judge.project_id for version in versions}}
    return {version.pk: _together(version, found[version.pk], names[version.judge.project_id]) for version in versions}


def _together(
    version: JudgeVersion, found: Mapping[Measured, Coverage], names: Mapping[str, str]
) -> tuple[list[Measured], Coverage]:
    measures = [
        replace(one, name=names.get(one.dimension, one.dimension)) for one in {*found, *measured_by_kind(version)}
    ]
    return (
        sorted(measures, key=lambda one: (KIND_ORDER.index(one.unit), one.dimension)),
        Coverage(sum(one.ok for one in found.values()), sum(one.failed for one in found.values())),
    )


def measured_by_kind(version: JudgeVersion) -> list[Measured]:
    """What its configuration says that it measures; nothing for imported judges, whose scores say it."""
    if version.judge.kind == JudgeKind.IMPORTED or version.judge.kind not in runnable_kinds():
        return []
    return [Measured(*pair) for pair in kind_named(version.judge.kind).dimensions(version.config)]


def _last_runs(project: Project) -> dict[int, Run]:
    """By judge, of those that score. Trials are seen with their judge, not here."""
    runs = (
        Run.objects.filter(version__judge__project=project)
        .exclude(purpose__in=(RunPurpose.TRIAL, *WITHOUT_SCORES))
        .order_by("version__judge_id", "-pk")
        .distinct("version__judge_id")
        .select_related("version")
    )
    return {run.version.judge_id: run for run in runs}


def agreement_in_reports(project: Project) -> dict[str, list[tuple[Criterion, str, Shown]]]:
    """By judge's name, in the order of the criteria: of each report the criterion, the judge's dimension, its kappa."""
    latest = overview(project)
    said: dict[str, list[tuple[Criterion, str, Shown]]] = {}
    for criterion in rated_criteria(project):
        found = latest.get(criterion.pk)
        for row in found.judges if found else ():
            said.setdefault(row["judge"], []).append((criterion, row["dimension"], shown(row["kappa"])))
    return said
