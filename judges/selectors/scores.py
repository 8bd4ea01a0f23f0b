"""Which scores are held against a criterion."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from django.db.models import Q, QuerySet
from django.db.models.functions import Collate

from annotate.errors import Invalid
from annotate.models import Criterion, Project
from annotate.scales import Value, normalise
from annotate.selectors.ratings import UnitKey
from judges.models import Judge, JudgeVersion, Score, ScoreStatus

if TYPE_CHECKING:
    from alignment.figures import JudgeScores

NO_OPTION = "not an option"
MOST_NAMED = 10_000


def judge_scores(criterion: Criterion, judge_name: str | None = None) -> tuple[list[JudgeScores], list[JudgeScores]]:
    """What is held against the criterion: of each judge (or of the one named) its latest version with such scores; and
    the versions before it, the latest first.

    A score counts for the criterion when its dimension is the criterion's key. A judge without any such is held
    against it with whatever it has on the same kind of unit under a name of its own (`overall`), one series for each.
    Repeats after the first say how steady a judge is, not how right, so they stand apart.

    Raises Invalid for a judge that the project doesn't have.
    """
    judges = Judge.objects.filter(project_id=criterion.project_id).order_by("name")
    if judge_name is not None:
        _refuse_stranger(criterion.project, judge_name)
        judges = judges.filter(name=judge_name)
    current, earlier = [], []
    offered = _offered(criterion, judges)
    versions = JudgeVersion.objects.filter(pk__in={version for version, _ in offered}).select_related("judge")
    by_judge: dict[int, list[tuple[JudgeVersion, str]]] = {}
    for version in versions.order_by("judge__name", "number"):
        for dimension in sorted(dimension for pk, dimension in offered if pk == version.pk):
            by_judge.setdefault(version.judge_id, []).append((version, dimension))
    for candidates in by_judge.values():
        own = [candidate for candidate in candidates if candidate[1] == criterion.key] or candidates
        latest = max(version.number for version, _ in own)
        now = [one for one in own if one[0].number == latest]
        before = [one for one in reversed(own) if one[0].number != latest]
        current += [load_scores(criterion, version, dimension) for version, dimension in now]
        earlier += [load_scores(criterion, version, dimension) for version, dimension in before]
    return current, earlier


def scores_against(criterion: Criterion) -> QuerySet[Score]:
    """Every score that could be held against the criterion, of all versions and repeats."""
    others = Criterion.objects.filter(project_id=criterion.project_id).exclude(key=criterion.key).values("key")
    return Score.objects.filter(_on_kind(criterion.unit), version__judge__project_id=criterion.project_id).exclude(
        dimension__in=others
    )


# Judge, version and name of what it measures, and the unit.
Said = tuple[str, str, str, UnitKey]


def rationales(project: Project, wanted: Iterable[Said]) -> dict[Said, str]:
    """The judges' own words on these units."""
    wanted = set(wanted)
    rows = Score.objects.filter(
        version__judge__project=project,
        version__judge__name__in={judge for judge, _, _, _ in wanted},
        sample__external_id__in={sample for _, _, _, (sample, _) in wanted},
        repeat=0,
    ).values_list("version__judge__name", "version__label", "dimension", "sample__external_id", "unit", "rationale")
    found = {
        (judge, version, dimension, (sample, unit)): text for judge, version, dimension, sample, unit, text in rows
    }
    return {one: found[one] for one in wanted if one in found}


def among(samples: Collection[int]) -> Q:
    """Rows of these samples; of any sample when they are too many to be named (a statement takes 65,535 values)."""
    return Q(sample__in=samples) if len(samples) <= MOST_NAMED else Q()


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


def load_scores(
    criterion: Criterion, version: JudgeVersion, dimension: str, samples: Collection[int] | None = None
) -> JudgeScores:
    """What the version said under this name about the criterion's kind of units: of all samples, or, where that is
    fewer, of those named by their primary keys."""
    # Here, not above: the statistics take a second to load, and most processes never count anything.
    from alignment.figures import JudgeScores

    numbers: dict[UnitKey, float] = {}
    labels: dict[UnitKey, Value] = {}
    failed: dict[UnitKey, str] = {}
    again: dict[UnitKey, list[Value]] = {}
    rows = (
        Score.objects.filter(_on_kind(criterion.unit), version=version, dimension=dimension)
        .filter(Q() if samples is None else among(samples))
        .order_by(Collate("sample__external_id", "C"), Collate("unit", "C"), "repeat")
        .values_list("sample__external_id", "unit", "repeat", "status", "number", "label")
    )
    as_option = cache(lambda text: _as_option(criterion, text))
    for sample, unit, repeat, status, number, label in rows.iterator(chunk_size=20_000):
        option = None if label is None else as_option(label)
        if repeat:
            value = option if number is None else number
            if value is not None:
                again.setdefault((sample, unit), []).append(value)
        elif status != ScoreStatus.OK:
            failed[sample, unit] = status
        elif number is not None:
            numbers[sample, unit] = number
        elif option is None:
            failed[sample, unit] = NO_OPTION
        else:
            labels[sample, unit] = option
    judge = version.judge
    return JudgeScores(judge.name, version.label, dimension, judge.higher_is_better, numbers, labels, failed, again)


def _as_option(criterion: Criterion, label: str) -> Value | None:
    try:
        return normalise(criterion, label)
    except Invalid:
        return None
