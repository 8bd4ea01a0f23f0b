"""Which version of a judge counts, which scores are compared with a criterion, and what judges said about one unit."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from django.db.models import Exists, Q, QuerySet

import alignment
from annotate.core.blindness import Reader, samples_without_judges, still_to_label, without_judges_held_back
from annotate.core.errors import Invalid
from annotate.core.scales import Value, normalise
from annotate.models import Criterion, Project, Sample, Verdict
from annotate.models.label import DECIDED_METHODS, VerdictState
from annotate.verdicts.ratings_read import UnitKey
from annotate.verdicts.wanted_units_read import UnitOn
from judges.core.locked_read import locked
from judges.models import Confidence, Judge, JudgeVersion, Run, Score, ScoreStatus, VersionState

# For scores, runs and other rows that have a version: only versions in use are compared with people.
OF_KEPT = Q(version__state=VersionState.KEPT)


def current_version(judge: Judge) -> JudgeVersion | None:
    """The latest of those in use: what the judge says today."""
    return JudgeVersion.objects.filter(judge=judge, state=VersionState.KEPT).order_by("-number").first()


def version_named(project: Project, judge_name: str, label: str) -> JudgeVersion | None:
    found = JudgeVersion.objects.filter(judge__project=project, judge__name=judge_name, label=label)
    return found.select_related("judge").first()


NO_OPTION = "not an option"
MOST_NAMED = 10_000
# A score of the sample as a whole: of its answer, where it has one (annotate.core.units.whole_unit).
_OF_WHOLE = Q(unit="answer") | Q(unit="sample", sample__answer__isnull=True)


@dataclass(frozen=True, slots=True)
class _Metrics:
    """The metrics that labels of a kind of parts add up to: the built-in criterion that asks for them, and for each
    usual name of a metric its key in alignment.report."""

    built_in: str
    names: Mapping[str, str]


_METRICS = {
    "claim": _Metrics("support", {"faithfulness": "faithfulness"}),
    "context": _Metrics(
        "relevance",
        {
            "context_precision": "context_precision",
            "llm_context_precision_with_reference": "context_precision",
            "llm_context_precision_without_reference": "context_precision",
            "non_llm_context_precision_with_reference": "context_precision",
            "precision@5": "precision_at_k",
            "precision_at_5": "precision_at_k",
            "reciprocal_rank": "reciprocal_rank",
            "mrr": "reciprocal_rank",
            "ndcg@5": "ndcg_at_k",
            "ndcg_at_5": "ndcg_at_k",
        },
    ),
    "fact": _Metrics(
        "fact_in_context", {"context_recall": "context_recall", "non_llm_context_recall": "context_recall"}
    ),
    "entity": _Metrics(
        "entity_in_context",
        {"context_entity_recall": "context_entity_recall", "entity_recall": "context_entity_recall"},
    ),
}

# Of a kind of parts the built-in criterion whose labels add up to such metrics.
BUILT_IN = {kind: metrics.built_in for kind, metrics in _METRICS.items()}


def judge_scores(
    criterion: Criterion, judge_name: str | None = None, *, reader: Reader
) -> tuple[list[alignment.report.JudgeScores], list[alignment.report.JudgeScores]]:
    """What is compared with the criterion: of each judge (or of the one named) its latest version with such scores; and
    the versions before it, the latest first.

    A score counts for the criterion when its dimension is the criterion's key. A judge without any such is compared by
    its scores of the same kind of unit under names of its own (`overall`), one series for each name. Repeats after the
    first show how consistent a judge is, not how right, so they are kept apart. Versions on trial and dropped ones are
    compared with nothing.

    Raises Invalid for a judge that the project doesn't have.
    """
    judges = Judge.objects.filter(project_id=criterion.project_id).order_by("name")
    if judge_name is not None:
        names: Sequence[str] = list(judges.values_list("name", flat=True))
        if judge_name not in names:
            known = ", ".join(names) or "none yet"
            raise Invalid(
                "unknown_judge", f"Judge “{judge_name}” not found in “{criterion.project.slug}”. Judges: {known}."
            )
        judges = judges.filter(name=judge_name)
    current, earlier = [], []
    for own in _compared(criterion, _scores_against(criterion).filter(version__judge__in=judges)):
        latest = max(version.number for version, _ in own)
        now = [one for one in own if one[0].number == latest]
        before = [one for one in reversed(own) if one[0].number != latest]
        current += [load_scores(criterion, version, dimension, reader=reader) for version, dimension in now]
        earlier += [load_scores(criterion, version, dimension, reader=reader) for version, dimension in before]
    return current, earlier


def whole_scores(
    criterion: Criterion, judge_name: str | None = None, *, reader: Reader
) -> list[alignment.report.JudgeScores]:
    """Judges' scores of the samples as a whole, where the criterion asks about their parts: of each judge, or the one
    named, its latest version with such scores, one series for each name it has for them."""
    offered = _on_whole(criterion)
    if judge_name is not None:
        offered = offered.filter(version__judge__name=judge_name)
    return [
        load_scores(criterion, version, dimension, of=_OF_WHOLE, reader=reader)
        for candidates in _series_by_judge(offered)
        for version, dimension in candidates
        if version == candidates[-1][0]
    ]


@dataclass(frozen=True, slots=True)
class Series:
    """What one version of a judge says under one name. of_whole: of samples as a whole, where the criterion asks about
    their parts."""

    version: JudgeVersion
    dimension: str
    of_whole: bool


def series_for(criterion: Criterion, judge_name: str, metric: str | None = None) -> Series | None:
    """Where the judge's latest word on the criterion stands; None: it said nothing of it. metric: what the criterion's
    units are to add up to, which a judge may also have said of samples as a whole."""
    of_judge = {"version__judge__name": judge_name}
    for own in _compared(criterion, _scores_against(criterion).filter(**of_judge)):
        latest = max(own, key=lambda one: one[0].number)[0]
        return Series(latest, next(dimension for version, dimension in own if version == latest), of_whole=False)
    names = _METRICS[criterion.unit].names if criterion.unit in _METRICS else {}
    for candidates in _series_by_judge(_on_whole(criterion).filter(**of_judge)):
        for version, dimension in reversed(candidates):
            if dimension == criterion.key or names.get(dimension) == metric:
                return Series(version, dimension, of_whole=True)
    return None


def _compared(criterion: Criterion, scores: QuerySet[Score]) -> list[list[tuple[JudgeVersion, str]]]:
    """As `_series_by_judge`: of each judge those under the criterion's key, or, without any such, all."""
    return [
        [candidate for candidate in candidates if candidate[1] == criterion.key] or candidates
        for candidates in _series_by_judge(scores)
    ]


def _series_by_judge(scores: QuerySet[Score]) -> list[list[tuple[JudgeVersion, str]]]:
    """The versions and dimensions of these scores (repeat 0), by judge: judges by name, versions oldest first."""
    pairs = set(scores.filter(repeat=0).order_by().values_list("version_id", "dimension").distinct())
    versions = JudgeVersion.objects.filter(pk__in={version for version, _ in pairs}).select_related("judge")
    found: dict[int, list[tuple[JudgeVersion, str]]] = {}
    for version in versions.order_by("judge__name", "number"):
        for dimension in sorted(dimension for pk, dimension in pairs if pk == version.pk):
            found.setdefault(version.judge_id, []).append((version, dimension))
    return list(found.values())


def measured_by(criterion: Criterion, whole: Iterable[alignment.report.JudgeScores]) -> dict[str, str]:
    """The metric that each of these series is named after, where its name is not the criterion's own."""
    names = _METRICS[criterion.unit].names if criterion.unit in _METRICS else {}
    return {one.dimension: names[one.dimension] for one in whole if one.dimension != criterion.key}


def scores_that_count(criterion: Criterion) -> QuerySet[Score]:
    """Every score that a report on the criterion could rest on: for counting them."""
    return _scores_against(criterion) | _on_whole(criterion)


def has_scores_against(criterion: Criterion, judge: Judge, dimension: str) -> bool:
    """Whether `judge_scores` has the judge under this name."""
    own = _scores_against(criterion).filter(version__judge=judge, repeat=0)
    if dimension != criterion.key and own.filter(dimension=criterion.key).exists():
        return False
    return own.filter(dimension=dimension).exists()


def _scores_against(criterion: Criterion) -> QuerySet[Score]:
    """Every score that could be compared with the criterion, of all versions in use and all repeats."""
    others = Criterion.objects.filter(project_id=criterion.project_id).exclude(key=criterion.key).values("key")
    return Score.objects.filter(
        OF_KEPT, _on_kind(criterion.unit), version__judge__project_id=criterion.project_id
    ).exclude(dimension__in=others)


# Judge, version, dimension, and the unit.
Said = tuple[str, str, str, UnitKey]


def rationales(project: Project, wanted: Iterable[Said], *, reader: Reader) -> dict[Said, str]:
    """The judges' own words on these units."""
    wanted = set(wanted)
    scores = Score.objects.filter(
        OF_KEPT,
        version__judge__project=project,
        version__judge__name__in={judge for judge, _, _, _ in wanted},
        sample__external_id__in={sample for _, _, _, (sample, _) in wanted},
        repeat=0,
    )
    rows = without_judges_held_back(scores, reader=reader).values_list(
        "version__judge__name", "version__label", "dimension", "sample__external_id", "unit", "rationale"
    )
    found = {
        (judge, version, dimension, (sample, unit)): text for judge, version, dimension, sample, unit, text in rows
    }
    return {one: found[one] for one in wanted if one in found}


def among(samples: Collection[int]) -> Q:
    """Rows of these samples; of all samples when these are too many to be listed (a statement takes 65,535 values)."""
    return Q(sample__in=samples) if len(samples) <= MOST_NAMED else Q()


def _on_whole(criterion: Criterion) -> QuerySet[Score]:
    """Scores of whole samples under the criterion's key, or under a usual name of the metric that its labels add up to.

    A usual name belongs to the built-in criterion that asks for this metric, or else to the project's only criterion on
    this kind of unit: labels on whether claims are supported add up to faithfulness, those on whether they are correct
    don't.
    """
    if criterion.unit not in _METRICS:
        return Score.objects.none()
    others = Criterion.objects.filter(project_id=criterion.project_id).exclude(key=criterion.key)
    usual = Q(dimension__in=_METRICS[criterion.unit].names) & ~Q(dimension__in=others.values("key"))
    if criterion.key != _METRICS[criterion.unit].built_in:
        usual &= Q(~Exists(others.filter(unit=criterion.unit, is_current=True)))
    return Score.objects.filter(
        OF_KEPT, Q(dimension=criterion.key) | usual, _OF_WHOLE, version__judge__project_id=criterion.project_id
    )


def _on_kind(kind: str) -> Q:
    return Q(unit=kind) | Q(unit__startswith=f"{kind}:")


def load_scores(
    criterion: Criterion,
    version: JudgeVersion,
    dimension: str,
    samples: Collection[int] | None = None,
    *,
    of: Q | None = None,
    reader: Reader,
) -> alignment.report.JudgeScores:
    """The version's scores under this name of the criterion's kind of units, or of others: of all samples, or only of
    those with these primary keys. Of a criterion on claims none of answers that abstain. With its confidence, if the
    version is to have one: that of its answers, or how often it said the same again."""
    import numpy as np

    from alignment.base.coded import Coded, array_of
    from alignment.report.units import ByUnit
    from annotate.core.packed import Kind
    from annotate.verdicts.unit_columns_read import unit_columns

    every = Score.objects.filter(of or _on_kind(criterion.unit), version=version, dimension=dimension)
    scores = every.exclude(sample__abstained=True) if criterion.unit == "claim" else every
    way = version.config.get("confidence")
    kept: dict[str, Kind] = {"confidence": "number"} if way == Confidence.LOGPROBS else {}
    units, (repeat, status, number, label, *sure) = unit_columns(
        criterion.project,
        without_judges_held_back(scores.filter(Q() if samples is None else among(samples)), reader=reader),
        samples,
        repeat="whole",
        status="json",
        number="number",
        label="json",
        **kept,
    )
    option = Coded([None if text is None else _as_option(criterion, text) for text in label.items], label.codes)
    is_ok, has_number = array_of(status, ScoreStatus.OK.__eq__, np.bool_), ~np.isnan(number)
    has_option = array_of(option, lambda value: value is not None, np.bool_)
    first = repeat == 0
    numbers, labels = first & is_ok & has_number, first & is_ok & ~has_number & has_option
    failed = first & ~(numbers | labels)
    why = Coded([*status.items, NO_OPTION], np.where(is_ok, len(status.items), status.codes))
    more = np.flatnonzero(~first & (has_number | has_option))
    again: dict[UnitKey, list[Value]] = {}
    for row in more[np.lexsort((repeat[more], units.codes[more]))].tolist():
        again.setdefault(units[row], []).append(float(number[row]) if has_number[row] else cast("Value", option[row]))
    confidence: Mapping[UnitKey, float] = {}
    if way == Confidence.REPEATS:
        first_said = dict(zip(units[numbers], number[numbers].tolist(), strict=True))
        first_said |= dict(zip(units[labels], option[labels], strict=True))
        confidence = _same_again(first_said, again)
    elif sure:
        known = (numbers | labels) & ~np.isnan(sure[0])
        confidence = ByUnit.of_rows(units[known], sure[0][known])
    judge = version.judge
    return alignment.report.JudgeScores(
        judge.name,
        version.label,
        dimension,
        judge.higher_is_better,
        ByUnit.of_rows(units[numbers], number[numbers]),
        ByUnit.of_rows(units[labels], option[labels]),
        ByUnit.of_rows(units[failed], why[failed]),
        again,
        confidence,
    )


def _same_again(first: Mapping[UnitKey, Value], again: Mapping[UnitKey, Sequence[Value]]) -> dict[UnitKey, float]:
    """Of each unit that was answered more than once, the share of the answers that are as the first."""
    return {
        unit: (1 + sum(one == first[unit] for one in more)) / (1 + len(more))
        for unit, more in again.items()
        if unit in first
    }


def _as_option(criterion: Criterion, label: str) -> Value | None:
    try:
        return normalise(criterion, label)
    except Invalid:
        return None


@dataclass(frozen=True, slots=True)
class ShownScore:
    """held_back: number, label, rationale and confidence are None, as the reader still has to label the sample or to
    decide about it, or since nobody may know them before a look."""

    sample: Sample
    unit: str
    dimension: str
    repeat: int
    status: str
    number: float | None
    label: Value | None
    rationale: str | None
    confidence: float | None
    held_back: bool


@dataclass(frozen=True)
class Scores:
    """The scores of a run, or all of a version, in the order in which they were stored; a slice of it is a list."""

    of: Run | JudgeVersion
    reader: Reader = field(kw_only=True)

    def count(self) -> int:
        return self._rows().count()

    def __getitem__(self, part: slice) -> list[ShownScore]:
        rows = list(self._rows().select_related("sample").order_by("pk")[part])
        samples = {row.sample_id for row in rows}
        blind = samples_without_judges(self.reader, samples)
        version = self.of.version if isinstance(self.of, Run) else self.of
        hidden = locked(version.judge.project, samples, reader=self.reader)
        return [self._shown(row, row.sample_id in blind or hidden.hides(row.sample_id, row.dimension)) for row in rows]

    def _rows(self) -> QuerySet[Score]:
        return Score.objects.filter(run=self.of) if isinstance(self.of, Run) else Score.objects.filter(version=self.of)

    def _shown(self, row: Score, is_blind: bool) -> ShownScore:
        return ShownScore(
            sample=row.sample,
            unit=row.unit,
            dimension=row.dimension,
            repeat=row.repeat,
            # That it was left to people tells how sure the judges were.
            status=ScoreStatus.OK if is_blind and row.status == ScoreStatus.LEFT else row.status,
            number=None if is_blind else row.number,
            label=None if is_blind else row.label,
            rationale=None if is_blind else row.rationale,
            confidence=None if is_blind else row.confidence,
            held_back=is_blind,
        )


@dataclass(frozen=True)
class JudgeSaid:
    """failed: why there is no value."""

    judge: str
    version: str
    value: Value | None
    failed: str
    rationale: str

    @classmethod
    def of(cls, score: Score) -> JudgeSaid:
        return cls(
            score.version.judge.name,
            score.version.label,
            score.number if score.label is None else score.label,
            "" if score.status == ScoreStatus.OK else score.get_status_display(),
            score.rationale,
        )


def judges_on(verdict: Verdict, *, reader: Reader) -> list[JudgeSaid]:
    """The judges' scores of a unit that a person has decided, on its criterion. Empty for any other unit, since a judge
    must not decide for people; while the reader still has the sample to label; and where nobody may know them before a
    look, since the reader can still change the verdict."""
    if verdict.state != VerdictState.SETTLED or verdict.method not in DECIDED_METHODS:
        return []
    sample = verdict.sample
    if still_to_label(reader, sample):
        return []
    if locked(sample.project, [sample.pk], reader=reader).hides(sample.pk, verdict.criterion.key):
        return []
    scores = (
        Score.objects.filter(
            OF_KEPT, sample_id=verdict.sample_id, unit=verdict.unit, dimension=verdict.criterion.key, repeat=0
        )
        .select_related("version__judge")
        .order_by("version__judge__name", "version__number")
    )
    return [JudgeSaid.of(score) for score in scores]


def judges_on_units(project: Project, units: Collection[UnitOn], *, reader: Reader) -> dict[UnitOn, list[JudgeSaid]]:
    """What each judge's latest version says of each of these units on its criterion, in the order of the judges' names;
    nothing of samples that the reader still has to label or decide, nor what nobody may know before a look."""
    samples = {sample for sample, _unit, _key in units}
    scores = (
        Score.objects.filter(OF_KEPT, sample__in=samples, dimension__in={key for *_, key in units}, repeat=0)
        .select_related("version__judge")
        .order_by("version__judge__name", "-version__number")
    )
    hidden = locked(project, samples, reader=reader)
    found: dict[UnitOn, dict[str, JudgeSaid]] = {unit: {} for unit in units}
    for score in without_judges_held_back(scores, reader=reader):
        unit = (score.sample_id, score.unit, score.dimension)
        if unit in found and not hidden.hides(score.sample_id, score.dimension):
            found[unit].setdefault(score.version.judge.name, JudgeSaid.of(score))
    return {unit: list(said.values()) for unit, said in found.items()}
