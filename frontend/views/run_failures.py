"""What failed in a run: by how it failed, with the words that came instead of a score."""

from __future__ import annotations

from dataclasses import dataclass

from annotate.core.blindness import why_held_back
from annotate.core.units import has_unit, unit_anchor, unit_number, unit_title
from annotate.models import Sample
from annotate.samples.read import samples_named
from frontend.views.base import ProjectPage
from judges.models import Run, ScoreStatus
from judges.selectors.runs import Failure, RunProgress, failures


@dataclass(frozen=True, slots=True)
class FailureRow:
    """raw: what the model said; "" for those who may not see it."""

    sample: str
    title: str
    url: str
    repeat: int
    detail: str
    raw: str


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """count: of all that failed in this way; rows: the first of them."""

    status: str
    label: str
    count: int
    rows: list[FailureRow]


def failure_groups(page: ProjectPage, run: Run, progress: RunProgress, *, with_replies: bool) -> list[FailureGroup]:
    if not progress.failed:
        return []
    found = failures(run, reader=page.user)
    named = samples_named(page.project, {one.sample for one in found}).only("pk", "external_id", "claims")
    samples = {sample.external_id: sample for sample in named}
    groups = []
    for status, count in sorted(progress.by_status.items(), key=lambda item: -item[1]):
        if status == ScoreStatus.OK:
            continue
        rows = [_row(page, one, samples[one.sample], with_replies) for one in found if one.status == status]
        groups.append(FailureGroup(status, str(ScoreStatus(status).label), count, rows))
    return groups


def _row(page: ProjectPage, failure: Failure, sample: Sample, with_replies: bool) -> FailureRow:
    is_claim = failure.unit.startswith("claim:") and has_unit(sample, failure.unit)
    return FailureRow(
        sample=failure.sample,
        title=unit_title(failure.unit, unit_number(sample, failure.unit) if is_claim else None),
        url=f"{page.url('sample', sample.pk)}#{unit_anchor(failure.unit)}",
        repeat=failure.repeat,
        detail=why_held_back() if failure.held_back else failure.detail,
        raw=failure.raw if with_replies else "",
    )
