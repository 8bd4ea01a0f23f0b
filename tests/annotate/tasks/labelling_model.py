"""What must hold of a project's labels, tasks and verdicts, by what was acknowledged so far: a small model in memory,
for `test_state_machine`. It says how each request must be answered, and compares itself with the database."""

from __future__ import annotations

import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.http import Http404

from annotate.batches.read import batch_annotators, batch_criteria
from annotate.core.errors import Refusal
from annotate.core.permissions import MembershipEnded
from annotate.models import Batch, BatchSample, Label, LabelEvent, Project, Task, User, Verdict
from annotate.models.label import VerdictEvent
from annotate.tasks.label_changes import LabelChange
from annotate.tasks.read import work_progress

OPEN = ("pending", "in_progress", "returned")
RUNNING = ("open", "paused")
FINISHED = ("submitted", "skipped", "released")
#: What is asked of a sample with two claims: unit and criterion.
REQUIRED = [("claim:0", "support"), ("claim:1", "support"), ("answer", "grade")]

Said = tuple[Any, str, str]  # value, cant_tell, comment
At = tuple[int, str, str]  # task, unit, criterion


@dataclass
class Seat:
    """A task as it stands."""

    batch: int
    sample: int
    person: int | None
    status: str

    @property
    def is_open(self) -> bool:
        return self.status in OPEN


@dataclass
class Model:
    project: Project
    people: dict[int, User]
    #: Who labels every batch, and who of them is a member now.
    annotators: set[int]
    active: set[int] = field(init=False)
    seats: dict[int, Seat] = field(default_factory=dict)
    #: Every acknowledged revision of a label, the first one first.
    labels: dict[At, list[Said]] = field(default_factory=lambda: defaultdict(list))
    #: By when a label was last saved: of two of one person about one unit the later one is the vote.
    saved: dict[At, int] = field(default_factory=dict)
    keys: dict[uuid.UUID, tuple[At, int]] = field(default_factory=dict)
    #: Verdict -> its revision after a reviewer's decision or approval, and what was decided; None: approved.
    decided: dict[int, tuple[int, Any]] = field(default_factory=dict)
    approved: dict[int, int] = field(default_factory=dict)
    batches: dict[int, Batch] = field(default_factory=dict)
    #: How many people label a sample, by batch and sample.
    overlap: dict[tuple[int, int], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.active = set(self.annotators)

    # Reading

    def refresh(self) -> None:
        """Tasks and batches as the database has them. What must not move is checked on the way."""
        self.batches = {batch.pk: batch for batch in Batch.objects.filter(project=self.project)}
        samples = BatchSample.objects.filter(batch__project=self.project)
        self.overlap = {(batch, sample): n for batch, sample, n in samples.values_list("batch", "sample", "overlap")}
        rows = Task.objects.filter(batch__project=self.project)
        found = {pk: Seat(*fields) for pk, *fields in rows.values_list("id", "batch", "sample", "annotator", "status")}
        for pk, before in self.seats.items():
            now = found.get(pk)
            if now is None:
                assert before.person is None, f"task {pk} of {before} is gone"
                continue
            said = any(at[0] == pk for at in self.labels)
            if said or before.status in FINISHED:
                assert now.person == before.person, f"task {pk} with labels went from {before} to {now}"
            if before.status == "released":
                assert now == before
        self.seats = found

    def revision(self, at: At) -> int:
        return len(self.labels.get(at, ()))

    def missing(self, task: int, changes: Sequence[LabelChange] = ()) -> list[tuple[str, str]]:
        says = {(unit, key): said[-1] for (pk, unit, key), said in self.labels.items() if pk == task and said}
        says |= {(one.said.unit, one.said.criterion): said_in(one) for one in changes}
        return [at for at in REQUIRED if at not in says or says[at][:2] == (None, "")]

    def held(self, person: int, *, of: tuple[str, ...] = OPEN, batch: str = "open") -> list[int]:
        return [
            pk
            for pk, seat in self.seats.items()
            if seat.person == person and seat.status in of and self.batches[seat.batch].status == batch
        ]

    def had(self, person: int, seat: Seat) -> bool:
        same = (seat.batch, seat.sample)
        return any(one.person == person and (one.batch, one.sample) == same for one in self.seats.values())

    def free_for(self, person: int) -> set[tuple[int, int]]:
        """(batch, sample) that wait in a queue for anybody, and so for this person."""
        if person not in self.active:
            return set()
        return {
            (seat.batch, seat.sample)
            for seat in self.seats.values()
            if seat.person is None
            and seat.is_open
            and self.batches[seat.batch].status == "open"
            and not self.had(person, seat)
        }

    def still_to_label(self, person: int, sample: int) -> bool:
        """As `annotate.core.blindness` has it."""
        return person in self.annotators and any(
            seat.sample == sample
            and seat.is_open
            and self.batches[seat.batch].status in RUNNING
            and (seat.person == person or (seat.person is None and not self.had(person, seat)))
            for seat in self.seats.values()
        )

    # What a request must be answered: a code, "" for yes

    def answer(self, person: int, task: int, changes: Sequence[LabelChange], *, finish: str = "") -> str:
        """finish: submitted or skipped; "": the labels are only saved."""
        seat = self.seats[task]
        if person not in self.active:
            return "not_a_member"
        if seat.person != person:
            return "not_found"
        codes = [self._answer_of(task, one) for one in changes]
        refused = [code for code in codes if code not in ("", "repeated")]
        if refused:
            return refused[0] if len(changes) == 1 else "labels_refused"
        new = [one for one, code in zip(changes, codes, strict=True) if not code]
        if not new and (not finish or seat.status == finish):
            return ""
        if not seat.is_open:
            return f"task_{seat.status}"
        status = self.batches[seat.batch].status
        if status != "open":
            return "batch_paused" if status == "paused" else "batch_not_open"
        if finish == "submitted" and self.missing(task, new):
            return "incomplete"
        if any(one.key in self.keys for one in new):
            return "key_reused" if len(changes) == 1 else "labels_refused"
        return ""

    def _answer_of(self, task: int, change: LabelChange) -> str:
        at = (task, change.said.unit, change.said.criterion)
        if change.seen == self.revision(at):
            return ""
        if change.key not in self.keys:
            return "stale"
        stored, revision = self.keys[change.key]
        same = stored == at and self.labels[at][revision - 1] == said_in(change)
        return "repeated" if same else "key_reused"

    def save(self, task: int, changes: Sequence[LabelChange]) -> list[int]:
        """Notes what was acknowledged, and returns the revision that each label must have been answered with."""
        revisions = []
        for change in changes:
            at = (task, change.said.unit, change.said.criterion)
            if self._answer_of(task, change) == "":
                self.labels[at].append(said_in(change))
                self.saved[at] = len(self.keys)
                self.keys[change.key] = (at, len(self.labels[at]))
            revisions.append(self.keys[change.key][1])
        return revisions

    # What must hold after each step

    def check(self) -> None:
        self._check_labels()
        self._check_seats()
        self._check_verdicts()

    def _check_labels(self) -> None:
        """No acknowledged label is lost, none is there that was not acknowledged, and the log has every revision."""
        stored = Label.objects.filter(task__batch__project=self.project).select_related("criterion")
        fields = ("task_id", "unit", "criterion__key", "revision", "value", "cant_tell", "comment")
        found = {
            (task, unit, key): (revision, *said) for task, unit, key, revision, *said in stored.values_list(*fields)
        }
        expected = {at: (len(said), *said[-1]) for at, said in self.labels.items() if said}
        assert found == expected
        events = LabelEvent.objects.filter(label__task__batch__project=self.project).order_by("revision")
        logged: dict[At, list[Said]] = defaultdict(list)
        keys = {}
        fields = ("label__task_id", "label__unit", "label__criterion__key", "idempotency_key", "revision")
        for task, unit, key, of, revision, *said in events.values_list(*fields, "value", "cant_tell", "comment"):
            logged[task, unit, key].append(tuple(said))
            keys[of] = ((task, unit, key), revision)
        assert logged == {at: said for at, said in self.labels.items() if said}
        assert keys == self.keys

    def _check_seats(self) -> None:
        """Each sample at most overlap times, and no one twice."""
        taken = Counter(
            (seat.batch, seat.sample) for seat in self.seats.values() if seat.status not in ("skipped", "released")
        )
        assert {at: n for at, n in taken.items() if n > self.overlap[at]} == {}
        met = Counter((seat.batch, seat.sample, seat.person) for seat in self.seats.values() if seat.person)
        assert {at: n for at, n in met.items() if n > 1} == {}
        for pk, seat in self.seats.items():
            assert seat.person or seat.status == "pending", f"{pk}: {seat}"
            assert seat.status != "submitted" or not self.missing(pk), f"{pk} was submitted incomplete"

    def _check_verdicts(self) -> None:
        """Verdicts follow from labels by the rule of their batch; what a person decided stands, and is reopened when
        the votes change."""
        found = list(Verdict.objects.filter(sample__project=self.project).select_related("criterion"))
        events = VerdictEvent.objects.filter(verdict__sample__project=self.project)
        assert events.count() == sum(one.revision for one in found)
        of_unit = {(one.sample_id, one.unit, one.criterion.key): one for one in found}
        votes = self._votes()
        at_work = {
            seat.sample for seat in self.seats.values() if seat.is_open and self.batches[seat.batch].status in RUNNING
        }
        settled = {unit for unit in votes if unit[0] not in at_work}
        assert settled <= set(of_unit), "units with labels have no verdict"
        for unit, verdict in of_unit.items():
            said = sorted((vote["rater"], str(vote["value"]), vote["revision"]) for vote in verdict.votes)
            if unit[0] not in at_work:
                assert said == sorted(votes.get(unit, [])), f"{unit}: {said}"
            self._check_verdict(unit, verdict, self.overlap[verdict.batch_id, unit[0]])

    def _votes(self) -> dict[tuple[int, str, str], list[tuple[str, str, int]]]:
        """(sample, unit, criterion) -> the votes of submitted tasks; empty where people only couldn't tell."""
        latest: dict[tuple[int, str, str, int], At] = {}
        votes: dict[tuple[int, str, str], list[tuple[str, str, int]]] = {}
        for at in sorted((at for at, said in self.labels.items() if said), key=lambda at: self.saved[at]):
            seat, (value, cant_tell, _comment) = self.seats[at[0]], self.labels[at][-1]
            if seat.status != "submitted" or (value is None and not cant_tell):
                continue
            votes.setdefault((seat.sample, *at[1:]), [])
            if value is not None:
                assert seat.person is not None
                latest[seat.sample, at[1], at[2], seat.person] = at
        for (sample, unit, key, person), at in latest.items():
            vote = (self.people[person].username, str(self.labels[at][-1][0]), len(self.labels[at]))
            votes[sample, unit, key].append(vote)
        return votes

    def _check_verdict(self, unit: tuple[int, str, str], verdict: Verdict, needed: int) -> None:
        values = Counter(str(vote["value"]) for vote in verdict.votes)
        top, most = values.most_common(1)[0] if values else ("", 0)
        share = most / len(verdict.votes) if verdict.votes else 0
        is_approved = self.approved.get(verdict.pk) == verdict.revision
        assert (verdict.approved_by_id is not None) == is_approved, unit
        if verdict.pk in self.decided:
            revision, value = self.decided[verdict.pk]
            expected = "settled" if revision == verdict.revision else "reopened"
            assert (verdict.state, verdict.value, verdict.method) == (expected, value, "adjudicated"), unit
            return
        assert verdict.batch_id is not None
        enough = share == 1 if self.batches[verdict.batch_id].consensus == "unanimous" else share > 0.5
        state = "settled" if len(verdict.votes) >= needed and enough else "disputed"
        assert verdict.state == state, f"{unit}: {verdict.votes} of {needed} are {verdict.state}"
        if state == "settled":
            assert (str(verdict.value), verdict.method) == (top, "unanimous" if share == 1 else "majority"), unit

    def check_pages(self) -> None:
        """The counts that pages show are those of the tasks and labels."""
        for person in self.active:
            tasks = [self.seats[pk] for pk in self.held(person, of=(*OPEN, "submitted", "skipped"))]
            free = len(self.free_for(person))
            counts = Counter("left" if seat.is_open else seat.status for seat in tasks)
            shown = work_progress(user=self.people[person], project=self.project)
            expected = {"total": len(tasks) + free, "done": counts["submitted"], "skipped": counts["skipped"]}
            assert (person, shown) == (person, {**expected, "left": counts["left"] + free})
        for batch in self.batches.values():
            own = {pk: seat for pk, seat in self.seats.items() if seat.batch == batch.pk}
            for row in batch_annotators(batch):
                statuses = Counter(
                    seat.status
                    for seat in own.values()
                    if seat.person and self.people[seat.person].username == row.name
                )
                assert (row.done, row.skipped) == (statuses["submitted"], statuses["skipped"])
                assert row.total == statuses.total() - statuses["released"]
            given = Counter(
                at[2]
                for at, said in self.labels.items()
                if at[0] in own and own[at[0]].status not in ("skipped", "released") and said[-1][0] is not None
            )
            assert {row.key: row.given for row in batch_criteria(batch)} == {
                key: given[key] for key in ("support", "grade")
            }


def said_in(change: LabelChange) -> Said:
    return change.said.value, change.said.cant_tell, change.said.comment


def answer_of(call: Callable[[], Any]) -> tuple[str, Any]:
    """An empty code with the reply, or the refusal's code with the refusal."""
    try:
        return "", call()
    except Http404:
        return "not_found", None
    except MembershipEnded as ended:
        return ended.code, None
    except Refusal as refusal:
        return refusal.code, refusal
