"""Everything that people and judges said about one sample."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from annotate.core.blindness import Reader, still_to_label
from annotate.core.units import unit_sort_key
from annotate.core.units import unit_sort_key, without_abstentions
from annotate.labels.read import counting_labels
from annotate.models import Criterion, Sample, Verdict
from judges.core.scores_read import OF_KEPT, JudgeSaid
from judges.models import Score


@dataclass
class Said:
    """What people and judges said about one unit on one criterion."""

    unit: str
    criterion: str
    labels: list[dict[str, Any]] = field(default_factory=list)
    verdict: Verdict | None = None
    scores: list[JudgeSaid] = field(default_factory=list)


def said_about(sample: Sample, *, reader: Reader) -> list[Said] | None:
    """One entry per unit and criterion (or per measure of a judge). None while the reader still has the sample to
    label."""
    if still_to_label(reader, sample):
        return None
    entries: dict[tuple[str, str], Said] = {}
    names: dict[str, str] = dict(
        Criterion.objects.filter(project=sample.project_id, is_current=True).values_list("key", "name")
    )

    def entry(unit: str, key: str) -> Said:
        return entries.setdefault((unit, key), Said(unit, names.get(key, key)))

    for label in counting_labels().filter(sample=sample).select_related("rater", "criterion").order_by("rater__name"):
        shown = {
            "who": label.rater.name,
            "value": label.value,
            "comment": label.comment,
            "evidence": label.evidence,
            "old": not label.criterion.is_current,
            "version": label.criterion.version,
        }
        entry(label.unit, label.criterion.key).labels.append(shown)
    verdicts = without_abstentions(Verdict.objects.filter(sample=sample)).select_related("criterion", "decided_by")
    for verdict in verdicts.order_by("criterion__version"):
        entry(verdict.unit, verdict.criterion.key).verdict = verdict
    scores = (
        without_abstentions(Score.objects.filter(OF_KEPT, sample=sample))
        .select_related("version__judge")
        .order_by("version__judge__name", "id")
    )
    for score in scores:
        entry(score.unit, score.dimension).scores.append(JudgeSaid.of(score))
    return [entries[key] for key in sorted(entries, key=lambda key: (unit_sort_key(key[0]), key[1]))]
