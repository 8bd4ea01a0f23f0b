"""Which scores are held against a criterion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import cast

from django.db.models import Q, QuerySet

from annotate.errors import Invalid
from annotate.models import Criterion, Project
from annotate.selectors.ratings import UnitKey
from judges.models import Judge, JudgeVersion, Score, ScoreStatus


@dataclass(frozen=True, eq=False, slots=True)
class Series:
    """All scores one judge version gave on one dimension, in the order of sample and unit."""

    version: JudgeVersion
    dimension: str
    numbers: dict[UnitKey, float] = field(default_factory=dict)
    labels: dict[UnitKey, str] = field(default_factory=dict)
    failed: dict[UnitKey, str] = field(default_factory=dict)

    @property
    def judge(self) -> Judge:
        return self.version.judge

    @property
    def name(self) -> tuple[str, str, str]:
        return self.judge.name, self.version.label, self.dimension


def series_for(criterion: Criterion, judge_name: str | None = None) -> list[Series]:
    """What is held against the criterion: of each judge (or of the one named) its latest version with such scores.

    A score counts for the criterion when its dimension is the criterion's key. A judge without any such is held
    against it with whatever it has on the same kind of unit under a name of its own (`overall`), one series for each.
    Repeats after the first say how steady a judge is, not how right, so they stay out.

    Raises Invalid for a judge that the project doesn't have.
    """
    judges = Judge.objects.filter(project_id=criterion.project_id).order_by("name")
    if judge_name is not None:
        _refuse_stranger(criterion.project, judge_name)
        judges = judges.filter(name=judge_name)
    found = []
    offered = _offered(criterion, judges)
    versions = JudgeVersion.objects.filter(pk__in={version for version, _ in offered}).select_related("judge")
    by_judge: dict[int, list[tuple[JudgeVersion, str]]] = {}
    for version in versions.order_by("judge__name", "number"):
        for dimension in sorted(dimension for pk, dimension in offered if pk == version.pk):
            by_judge.setdefault(version.judge_id, []).append((version, dimension))
    for candidates in by_judge.values():
        own = [candidate for candidate in candidates if candidate[1] == criterion.key] or candidates
        latest = max(version.number for version, _ in own)
        found += [_load(criterion, version, dimension) for version, dimension in own if version.number == latest]
    return found


def scores_against(criterion: Criterion) -> QuerySet[Score]:
    """Every score that could be held against the criterion, of all versions and repeats."""
    others = Criterion.objects.filter(project_id=criterion.project_id).exclude(key=criterion.key).values("key")
    return Score.objects.filter(_on_kind(criterion.unit), version__judge__project_id=criterion.project_id).exclude(
        dimension__in=others
    )


def rationales(wanted: Iterable[tuple[Series, UnitKey]]) -> dict[tuple[int, str, UnitKey], str]:
    """The judges' own words on these units, by (version id, dimension, unit)."""
    wanted = list(wanted)
    rows = Score.objects.filter(
        version__in={series.version.pk for series, _ in wanted},
        sample__in={sample for _, (sample, _) in wanted},
        repeat=0,
    ).values_list("version_id", "dimension", "sample_id", "unit", "rationale")
    return {(version, dimension, (sample, unit)): text for version, dimension, sample, unit, text in rows}


def _refuse_stranger(project: Project, judge_name: str) -> None:
    names: Sequence[str] = list(Judge.objects.filter(project=project).order_by("name").values_list("name", flat=True))
    if judge_name not in names:
        known = ", ".join(names) or "none yet"
        raise Invalid("unknown_judge", f"“{project.slug}” has no judge “{judge_name}”. Judges: {known}.")


def _offered(criterion: Criterion, judges: QuerySet[Judge]) -> set[tuple[int, str]]:
    pairs = scores_against(criterion).filter(version__judge__in=judges, repeat=0)
    return set(pairs.order_by().values_list("version_id", "dimension").distinct())


def _on_kind(kind: str) -> Q:
    return Q(unit=kind) | Q(unit__startswith=f"{kind}:")


def _load(criterion: Criterion, version: JudgeVersion, dimension: str) -> Series:
    series = Series(version, dimension)
    rows = (
        Score.objects.filter(_on_kind(criterion.unit), version=version, dimension=dimension, repeat=0)
        .order_by("sample_id", "unit")
        .values_list("sample_id", "unit", "status", "number", "label")
    )
    for sample, unit, status, number, label in rows.iterator(chunk_size=20_000):
        if status != ScoreStatus.OK:
            series.failed[sample, unit] = status
        elif number is not None:
            series.numbers[sample, unit] = number
        else:
            series.labels[sample, unit] = cast("str", label)
    return series
