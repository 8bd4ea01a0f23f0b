"""Everything that people and judges said about one sample."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from annotate.core.blindness import Reader, may_know_names, samples_without_judges, still_to_label
from annotate.core.units import unit_sort_key, without_abstentions
from annotate.labels.read import counting_labels
from annotate.models import Criterion, Sample, Verdict
from annotate.verdicts.disputes_read import people_of
from judges.core.locked_read import locked
from judges.core.scores_read import OF_KEPT, JudgeSaid
from judges.models import Score


@dataclass
class Said:
    """What people and judges said about one unit on one criterion. labels: of each what its annotator is called (a
    letter, for readers who may not know names), value, comment and evidence, and whether it corrects the answer."""

    unit: str
    criterion: str
    labels: list[dict[str, Any]] = field(default_factory=list)
    verdict: Verdict | None = None
    scores: list[JudgeSaid] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SaidOfSample:
    """One entry per unit and criterion, or per measure of a judge.

    people_held_back: the reader still has the sample to label, and there are no entries. judges_held_back: no entry has
    scores, for that reason or since the reader has to decide about the sample first. judges_locked: some of the scores
    are left out, since nobody may know them before a look."""

    entries: list[Said]
    people_held_back: bool
    judges_held_back: bool
    judges_locked: bool = False


def said_about(sample: Sample, *, reader: Reader) -> SaidOfSample:
    if still_to_label(reader, sample):
        return SaidOfSample([], people_held_back=True, judges_held_back=True)
    judges_held_back = bool(samples_without_judges(reader, [sample.pk]))
    people = people_of(sample, named=may_know_names(reader, sample.project))
    entries: dict[tuple[str, str], Said] = {}
    names: dict[str, str] = dict(
        Criterion.objects.filter(project=sample.project_id, is_current=True).values_list("key", "name")
    )

    def entry(unit: str, key: str) -> Said:
        return entries.setdefault((unit, key), Said(unit, names.get(key, key)))

    labels = counting_labels().filter(sample=sample).select_related("rater", "criterion")
    for label in sorted(labels, key=lambda label: (people.place(label.rater.name), label.pk)):
        shown = {
            "who": people.who(label.rater.name),
            "value": label.value,
            "is_correction": bool(label.criterion.prefill),
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
    hidden = locked(sample.project, [sample.pk], reader=reader)
    given = [] if judges_held_back else list(scores)
    told = [score for score in given if not hidden.hides(sample.pk, score.dimension)]
    for score in told:
        entry(score.unit, score.dimension).scores.append(JudgeSaid.of(score))
    listed = [entries[key] for key in sorted(entries, key=lambda key: (unit_sort_key(key[0]), key[1]))]
    return SaidOfSample(listed, False, judges_held_back, judges_locked=len(told) < len(given))
