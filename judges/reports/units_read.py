"""On which units a judge agrees with people, as the current reports compare them, and which it has scored.

People's word is a settled unit's value. The judge's is pass or fail where the criterion says what passes, at the
threshold of the report; else the option that it names. Nothing is told of the test half, nor of what the reader still
has to label or decide.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from functools import cache
from typing import Any

from annotate.core.blindness import Reader, without_judges_held_back
from annotate.core.errors import Invalid
from annotate.core.scales import normalise
from annotate.core.units import without_abstentions
from annotate.labels.settled_read import HOLDING, STANDING
from annotate.models import Criterion, Project, Verdict
from annotate.projects.read import rated_criteria
from annotate.verdicts.wanted_units_read import UnitOn, UnitRows
from judges.core.locked_read import locked
from judges.core.scores_read import OF_KEPT
from judges.models import JudgeVersion, Score, ScoreStatus, VersionState
from judges.reports.read import latest_report


class Against(StrEnum):
    """How a judge stands to annotators on a unit."""

    DISAGREES = "disagrees"
    AGREES = "agrees"
    UNSCORED = "unscored"


def compared_units(project: Project, judge: str, key: str, *, agreeing: bool, reader: Reader) -> set[UnitOn]:
    """Those on which the judge agrees with people, or those on which it doesn't. key: on this criterion; "": on all."""
    return {
        unit
        for criterion in rated_criteria(project)
        if key in ("", criterion.key)
        for unit, agrees in _compared(criterion, judge, reader)
        if agrees == agreeing
    }


# In a list of versions, so that their index has a range of samples for each of them and each name.
_SCORED = f"""
    SELECT sc.sample_id, sc.unit, names.key
      FROM judges_score sc JOIN unnest(%(scored_keys)s::text[], %(scored_names)s::text[]) AS names (key, name)
           ON names.name = sc.dimension
     WHERE sc.version_id = ANY(%(scored_versions)s) AND sc.dimension = ANY(%(scored_names)s::text[])
       AND sc.sample_id > %(low)s AND sc.sample_id <= %(high)s AND sc.repeat = 0
       AND sc.status = '{ScoreStatus.OK.value}'
"""


def scored_units(project: Project, judge: str, key: str, *, reader: Reader) -> UnitRows:
    """Those that a version of the judge in use has scored under the criterion's key, or under the name by which the
    current report compares it. Scores themselves are not told, so nothing is held back."""
    names = set()
    for criterion in rated_criteria(project):
        if key in ("", criterion.key):
            row = _row(criterion, judge, reader)
            names |= {(criterion.key, name) for name in (criterion.key, row["dimension"] if row else criterion.key)}
    versions = JudgeVersion.objects.filter(state=VersionState.KEPT, judge__project=project, judge__name=judge)
    return UnitRows(
        _SCORED,
        {
            "scored_keys": [key for key, _name in names],
            "scored_names": [name for _key, name in names],
            "scored_versions": list(versions.values_list("pk", flat=True)),
        },
    )


def _row(criterion: Criterion, judge: str, reader: Reader) -> dict[str, Any] | None:
    """The judge's in the current report: by scores under the criterion's key, where there are such."""
    report = latest_report(criterion, reader=reader)
    rows = [row for row in (report.result.get("judges", ()) if report else ()) if row["judge"] == judge]
    return min(rows, key=lambda row: row["dimension"] != criterion.key, default=None)


def _compared(criterion: Criterion, judge: str, reader: Reader) -> Iterator[tuple[UnitOn, bool]]:
    row = _row(criterion, judge, reader)
    if row is None:
        return
    settled = without_abstentions(Verdict.objects.filter(criterion=criterion)).alias(standing=STANDING)
    values = {
        (sample, unit): value
        for sample, unit, value in settled.filter(standing__in=HOLDING).values_list("sample", "unit", "value")
    }
    scores = Score.objects.filter(
        OF_KEPT,
        version__judge__project=criterion.project_id,
        version__judge__name=judge,
        version__label=row["version"],
        dimension=row["dimension"],
        repeat=0,
        status=ScoreStatus.OK,
    )
    told = list(without_judges_held_back(scores, reader=reader).values_list("sample", "unit", "number", "label"))
    hidden = locked(criterion.project, {sample for sample, *_ in told}, reader=reader)
    passes, threshold = criterion.passes, row["at_threshold"]["threshold"]

    @cache
    def option(label: str) -> Any:
        try:
            return normalise(criterion, label)
        except Invalid:
            return None

    for sample, unit, number, label in told:
        if (sample, unit) not in values or hidden.hides(sample, row["dimension"]):
            continue
        value = values[sample, unit]
        if label is not None and option(label) is not None:
            said = option(label)
            agrees = (said in passes) == (value in passes) if passes else said == value
        elif number is not None and passes and threshold is not None:
            is_pass = number >= threshold if row["higher_is_better"] else number <= threshold
            agrees = is_pass == (value in passes)
        else:
            continue
        yield (sample, unit, criterion.key), agrees
