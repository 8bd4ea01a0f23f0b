"""One unit as a reviewer sees it: what each annotator said, what changed since it was decided, what else there is."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.db.models import Min, QuerySet
from django.utils.translation import gettext as _

from annotate.core.blindness import Reader, may_know_names
from annotate.core.units import unit_sort_key
from annotate.labels.read import counting_labels, latest_per_rater, undecided_labels, was_after_answer
from annotate.models import BatchCriterion, Label, Project, Sample, Verdict, VerdictEvent
from annotate.models.batch import OPEN_TASK_STATUSES, RUNNING_BATCH_STATUSES, TaskStatus
from annotate.models.label import VerdictState
from annotate.verdicts.read import one_verdict


@dataclass(frozen=True)
class People:
    """The annotators of a sample, for a page or reply that may name them or not.

    letters: a rater's name -> the letter that they have on every page of this sample. names: -> what to call them.
    """

    letters: dict[str, str]
    names: dict[str, str] | None

    def letter(self, rater: str) -> str:
        return self.letters.get(rater, "?")

    def place(self, rater: str) -> tuple[int, str]:
        """Sorts raters by their letters."""
        return len(self.letter(rater)), self.letter(rater)

    def who(self, rater: str) -> str:
        if self.names is not None:
            return self.names.get(rater, rater)
        return _("Annotator %(letter)s") % {"letter": self.letter(rater)}


def people_of(sample: Sample, *, named: bool) -> People:
    """Letters in the order in which people began with the sample, so that they stay when others join."""
    return people_of_samples([sample.pk], named=named)[sample.pk]


def people_of_samples(sample_ids: Collection[int], *, named: bool) -> dict[int, People]:
    """`people_of` each of the samples. One query."""
    rows = (
        Label.objects.filter(sample__in=sample_ids)
        .values("sample", "rater__name", "rater__user__display_name")
        .annotate(first=Min("id"))
        .order_by("first")
    )
    by_sample: dict[int, dict[str, str]] = {pk: {} for pk in sample_ids}
    for row in rows:
        by_sample[row["sample"]][row["rater__name"]] = row["rater__user__display_name"] or row["rater__name"]
    return {
        pk: People({name: letter(index) for index, name in enumerate(names)}, names if named else None)
        for pk, names in by_sample.items()
    }


def letter(index: int) -> str:
    """A, B, … Z, AA, AB, …"""
    name = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        name = chr(65 + rest) + name
    return name


@dataclass(frozen=True)
class Said:
    """What one annotator said about the unit. `value` None: could not tell, and said why.

    changed: the label is not the revision that was counted. returned: its task was sent back and is not submitted
    again. task_id: None when it was made elsewhere. carried: over from an earlier version of the criterion, which is
    the one that its task asks. may_return: its task can be sent back now. after_answer: it was given after a reviewer
    had answered a question about it.
    """

    letter: str
    who: str
    value: Any
    cant_tell: str = ""
    comment: str = ""
    evidence: list[dict[str, Any]] = field(default_factory=list)
    changed: bool = False
    returned: bool = False
    task_id: int | None = None
    carried: bool = False
    may_return: bool = False
    after_answer: bool = False


@dataclass(frozen=True)
class Change:
    """How a vote differs from the one that the decision rested on. None: there was, or is, no vote."""

    letter: str
    who: str
    before: Any
    after: Any


@dataclass
class OtherUnit:
    """Another question about the same sample: a unit on a criterion, with what was said. prefill: what its texts
    change, if they change one."""

    unit: str
    criterion: str
    options: list[dict[str, Any]]
    votes: list[dict[str, Any]]
    verdict: Verdict | None
    version: int | None
    prefill: str


@dataclass(frozen=True)
class Dispute:
    """A unit as a reviewer decides it, each part read when it is asked for."""

    verdict: Verdict
    people: People

    @cached_property
    def labels(self) -> list[Said]:
        """The labels that the verdict rests on, as they are now, and those that say "can't tell"; by letter."""
        verdict, people = self.verdict, self.people
        labels = _with_task(Label.objects.all()).in_bulk([vote["label"] for vote in verdict.votes])
        asking = set(BatchCriterion.objects.filter(criterion=verdict.criterion_id).values_list("batch", flat=True))
        could_not = undecided_labels().filter(
            sample_id=verdict.sample_id, unit=verdict.unit, criterion_id=verdict.criterion_id
        )
        said: dict[str, dict[str, Any]] = {}
        for label in latest_per_rater(_with_task(could_not)):
            said[label.rater.name] = {"value": None, "cant_tell": label.cant_tell, **_details(label, asking)}
        # A vote counts for more than "can't tell".
        for vote in verdict.votes:
            counted = labels.get(vote["label"])
            changed = counted is None or counted.revision != vote["revision"]
            said[vote["rater"]] = {"value": vote["value"], "changed": changed, **_details(counted, asking)}
        return [
            Said(people.letter(rater), people.who(rater), **said[rater]) for rater in sorted(said, key=people.place)
        ]

    @cached_property
    def changes(self) -> list[Change]:
        """What reopened the verdict. Empty when it isn't reopened, or was decided before this was recorded."""
        if self.verdict.state != VerdictState.REOPENED or self.verdict.decided_votes is None:
            return []
        before = {vote["rater"]: vote for vote in self.verdict.decided_votes}
        after = {vote["rater"]: vote for vote in self.verdict.votes}
        return [
            Change(
                self.people.letter(rater),
                self.people.who(rater),
                before[rater]["value"] if rater in before else None,
                after[rater]["value"] if rater in after else None,
            )
            for rater in sorted({*before, *after}, key=self.people.place)
            if before.get(rater) != after.get(rater)
        ]

    @cached_property
    def history(self) -> list[VerdictEvent]:
        """Every state the verdict had, the latest first."""
        events = VerdictEvent.objects.filter(verdict=self.verdict)
        return list(events.select_related("actor").order_by("-revision", "-id"))

    @cached_property
    def rest(self) -> list[OtherUnit]:
        """All that people said about the sample but what is on the page: first this unit on other criteria."""
        verdict, people = self.verdict, self.people
        labels = latest_per_rater(
            counting_labels().filter(sample_id=verdict.sample_id).select_related("criterion", "rater")
        )
        verdicts = {
            (one.unit, one.criterion_id): one
            for one in Verdict.objects.filter(sample_id=verdict.sample_id).only(
                "unit", "criterion_id", "state", "value", "sample_id"
            )
        }

        def place(label: Label) -> tuple[Any, ...]:
            others = label.unit != verdict.unit
            criterion = label.criterion
            return others, unit_sort_key(label.unit), criterion.position, criterion.pk, people.place(label.rater.name)

        rows: dict[tuple[str, int], OtherUnit] = {}
        for label in sorted(labels, key=place):
            key, criterion = (label.unit, label.criterion_id), label.criterion
            if key == (verdict.unit, verdict.criterion_id):
                continue
            version = None if criterion.is_current else criterion.version
            other = OtherUnit(
                label.unit, criterion.name, criterion.options, [], verdicts.get(key), version, criterion.prefill
            )
            vote = {"letter": people.letter(label.rater.name), "value": label.value}
            rows.setdefault(key, other).votes.append(vote)
        return list(rows.values())


def _with_task(labels: QuerySet[Label]) -> QuerySet[Label]:
    """And whether each was given after an answer."""
    return labels.select_related("rater", "task__batch").annotate(after_answer=was_after_answer())


def _details(label: Any, asking: Collection[int]) -> dict[str, Any]:
    """label: with `after_answer`, or None. asking: the batches that ask the label's version of its criterion."""
    if label is None:
        return {}
    task = label.task
    carried = task is not None and task.batch_id not in asking
    return {
        "comment": label.comment,
        "evidence": label.evidence,
        "returned": task is not None and task.status in OPEN_TASK_STATUSES and bool(task.return_message),
        "task_id": label.task_id,
        "carried": carried,
        "after_answer": label.after_answer,
        "may_return": task is not None
        and not carried
        and task.status == TaskStatus.SUBMITTED
        and task.batch.status in RUNNING_BATCH_STATUSES,
    }


def one_dispute(project: Project, verdict_id: int, *, reader: Reader, named: bool) -> Dispute:
    """named: people by their names, as far as the reader may know them. Raises Http404, and Conflict while the reader
    still has the sample to label."""
    verdict = one_verdict(project, verdict_id, reader=reader)
    return Dispute(verdict, people_of(verdict.sample, named=named and may_know_names(reader, project)))
