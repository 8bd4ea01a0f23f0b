"""Labelling in any order: Hypothesis draws what annotators, reviewers and admins do one after the other, and after each
step the model in `labelling_model` must hold. `STEPS=10000` draws as many, others in each run."""

from __future__ import annotations

import itertools
import os
import uuid
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from annotate.batches.steps import (
    close_batch,
    extend_batch,
    pause_batch,
    reopen_batch,
    resume_batch,
    start_adjudication,
)
from annotate.core.errors import Stale
from annotate.members.write import deactivate_member, reactivate_member
from annotate.models import Task, User, Verdict
from annotate.projects.write import create_project, set_member
from annotate.tasks.label_changes import LabelChange, LabelInput
from annotate.tasks.labelling import save_labels, skip_task, submit_task
from annotate.tasks.task_queue import take_task
from annotate.tasks.write import hand_on_tasks, reassign_tasks, release_task, reopen_task, return_task
from annotate.verdicts.adjudication import approve, decide
from tests.annotate.factories import GRADE, TRISTATE, make_batch, make_sample
from tests.annotate.tasks.labelling_model import OPEN, REQUIRED, Model, Seat, answer_of

STEPS_EACH = 30
STEPS = int(os.environ.get("STEPS", "600"))
SPEC = {"name": "Any order", "criteria": [TRISTATE, {**GRADE, "cant_tell": True}]}
#: Two values each, so that people often agree.
VALUES = {"support": ["yes", "no"], "grade": [2, 4]}
STEPS_OF_A_BATCH: dict[str, Callable[..., Any]] = {
    "pause": pause_batch,
    "resume": resume_batch,
    "adjudicate": start_adjudication,
    "close": close_batch,
    "reopen": reopen_batch,
}
ANNOTATORS = ("ann", "ben", "rita")
REVIEWERS = ("rita", "rob")

annotators, reviewers = st.sampled_from(ANNOTATORS), st.sampled_from(REVIEWERS)
#: Which of those that there are, counted from the first and round again.
which = st.integers(0, 11)
#: 0: what is stored now was seen; else an earlier or a later revision.
off = st.sampled_from([0, 0, 0, 0, -1, 1])
choices = st.tuples(st.sampled_from(REQUIRED), st.integers(0, 3), off, st.booleans())

_numbers = itertools.count(1)


class Labelling(RuleBasedStateMachine):
    """Ann, Ben and Rita label, Rita and Rob review, and Alice runs the batches."""

    @initialize(
        strategy=st.sampled_from(["pull", "balanced"]),
        overlap=st.sampled_from([2, 1, 3]),
        consensus=st.sampled_from(["majority", "unanimous"]),
        samples=st.integers(1, 2),
    )
    def open(self, strategy: str, overlap: int, consensus: str, samples: int) -> None:
        names = ("alice", *ANNOTATORS, "rob")
        self.users = {name: User.objects.get_or_create(username=name)[0] for name in names}
        self.project = create_project(slug=f"any-{next(_numbers)}", spec=SPEC, created_by=self.users["alice"])
        for name in names[1:]:
            set_member(
                project=self.project, user=self.users[name], role="reviewer" if name in REVIEWERS else "annotator"
            )
        people = {user.pk: user for user in self.users.values()}
        self.model = Model(self.project, people, annotators={self.users[name].pk for name in ANNOTATORS})
        self.samples = 0
        for _ in range(samples):
            self._add_sample()
        self.given = {"overlap": overlap, "strategy": strategy, "consensus": consensus}
        self.batches = [make_batch(self.project, [self.users[name] for name in ANNOTATORS], **self.given)]
        self.model.refresh()

    def _add_sample(self) -> None:
        self.samples += 1
        make_sample(self.project, self.samples)

    # Annotators

    @rule(person=annotators, held=st.booleans())
    def take(self, person: str, held: bool) -> None:
        user = self.users[person]
        own = set(self.model.held(user.pk)) if user.pk in self.model.active else set()
        free = self.model.free_for(user.pk)
        lapsed = self._lapsed_for(user)
        task = take_task(user=user, project=self.project, exclude=sorted(own) if held else [])
        self.model.refresh()
        if task is None:
            assert held or not own
            assert (free, lapsed) == (set(), set())
            return
        seat = self.model.seats[task["id"]]
        assert (seat.person, seat.is_open) == (user.pk, True)
        at = (seat.batch, seat.sample)
        assert (task["id"] in own and not held) if own and not held else at in free | lapsed

    def _lapsed_for(self, user: User) -> set[tuple[int, int]]:
        """What another annotator took from a queue and left."""
        if user.pk not in self.model.active:
            return set()
        left = Task.objects.filter(batch__project=self.project, status__in=OPEN, batch__status="open")
        left = left.filter(lease_expires_at__lt=timezone.now()).exclude(annotator=user)
        seats = [Seat(*row) for row in left.values_list("batch", "sample", "annotator", "status")]
        return {(seat.batch, seat.sample) for seat in seats if not self.model.had(user.pk, seat)}

    @rule(person=annotators, task=which, said=st.lists(choices, min_size=1, max_size=3, unique_by=lambda one: one[0]))
    def choose(self, person: str, task: int, said: list[Any]) -> None:
        pk = self._task(person, task)
        if pk is None:
            return
        self._save(self.users[person], pk, [self._change(pk, one) for one in said])

    def _save(self, user: User, task: int, changes: Sequence[LabelChange]) -> None:
        expected = self.model.answer(user.pk, task, changes)
        code, reply = answer_of(lambda: save_labels(actor=user, task_id=task, changes=changes))
        assert code == expected
        if code == "":
            new = any(one.key not in self.model.keys for one in changes)
            assert [one["revision"] for one in reply] == self.model.save(task, changes)
            if new:
                self.model.seats[task].status = "in_progress"
        elif code == "stale":
            assert isinstance(reply, Stale)
            assert reply.status == 412
            (change,) = changes
            seen = reply.details["current"]
            assert (seen["revision"] if seen else 0) == self.model.revision(
                (task, change.said.unit, change.said.criterion)
            )
        self._same_seats()

    @rule(
        person=annotators,
        task=which,
        said=st.lists(choices, max_size=2, unique_by=lambda one: one[0]),
        whole=st.booleans(),
    )
    def submit(self, person: str, task: int, said: list[Any], whole: bool) -> None:
        """whole: with all that is still missing."""
        pk = self._task(person, task)
        if pk is None:
            return
        changes = [self._change(pk, one) for one in said]
        if whole:
            changes += [self._change(pk, (at, 0, 0, False)) for at in self.model.missing(pk, changes)]
            named = {(one.said.unit, one.said.criterion): one for one in changes}
            changes = list(named.values())
        self._finish(person, pk, changes)

    def _finish(self, person: str, task: int, changes: Sequence[LabelChange]) -> None:
        user = self.users[person]
        expected = self.model.answer(user.pk, task, changes, finish="submitted")
        code, _reply = answer_of(lambda: submit_task(actor=user, task_id=task, changes=changes))
        assert code == expected
        if code == "":
            self.model.save(task, changes)
            self.model.seats[task].status = "submitted"
        self._same_seats()

    @rule(person=annotators, value=st.integers(0, 1))
    def label_the_next(self, person: str, value: int) -> None:
        """What people do most."""
        user = self.users[person]
        task = take_task(user=user, project=self.project)
        self.model.refresh()
        if task is not None:
            self._finish(person, task["id"], [self._change(task["id"], (at, value, 0, False)) for at in REQUIRED])

    @rule(person=annotators, repeat=which)
    def repeat(self, person: str, repeat: int) -> None:
        """A label that was acknowledged is sent again, by whoever."""
        if not self.model.keys:
            return
        key, (at, revision) = list(self.model.keys.items())[repeat % len(self.model.keys)]
        value, cant_tell, comment = self.model.labels[at][revision - 1]
        said = LabelInput(at[1], at[2], value, comment=comment, cant_tell=cant_tell)
        self._save(self.users[person], at[0], [LabelChange(said, revision - 1, key)])

    @rule(person=annotators, task=which)
    def skip(self, person: str, task: int) -> None:
        pk = self._task(person, task)
        if pk is None:
            return
        user = self.users[person]
        expected = self.model.answer(user.pk, pk, [], finish="skipped")
        code, _reply = answer_of(lambda: skip_task(actor=user, task_id=pk, reason="Unclear."))
        assert code == expected
        self.model.refresh()
        assert code or self.model.seats[pk].status == "skipped"

    @rule(person=annotators, task=which)
    def reopen(self, person: str, task: int) -> None:
        pk = self._task(person, task)
        if pk is None:
            return
        before = self.model.seats[pk]
        code, _reply = answer_of(lambda: reopen_task(actor=self.users[person], task_id=pk))
        self.model.refresh()
        if code:
            assert self.model.seats[pk] == before
        else:
            assert self.model.seats[pk].status == (before.status if before.is_open else "in_progress")

    @rule(person=annotators)
    def leave_the_page(self, person: str) -> None:
        """The leases of what the person took from a queue run out."""
        own = Task.objects.filter(annotator=self.users[person], lease_expires_at__isnull=False)
        own.update(lease_expires_at=timezone.now() - timedelta(minutes=1))

    # Reviewers

    @rule(reviewer=reviewers, unit=which, value=st.integers(0, 1), seen=off, twice=st.booleans())
    def decide(self, reviewer: str, unit: int, value: int, seen: int, twice: bool) -> None:
        verdict = self._verdict(unit)
        if verdict is None:
            return
        user, chosen = self.users[reviewer], VALUES[verdict.criterion.key][value]
        given: dict[str, Any] = {"project": self.project, "verdict_id": verdict.pk, "value": chosen, "reason": "So."}
        given["expected_revision"] = verdict.revision + seen
        blind = self.model.still_to_label(user.pk, verdict.sample_id)
        for _time in range(1 + twice):
            now = Verdict.objects.get(pk=verdict.pk)
            repeated = (
                now.state == "settled"
                and now.decided_by_id == user.pk
                and now.value == chosen
                and now.revision == given["expected_revision"] + 1
            )
            fresh = now.revision == given["expected_revision"]
            expected = "still_to_label" if blind else "" if fresh or repeated else "stale"
            code, reply = answer_of(lambda: decide(reviewer=user, **given))
            assert code == expected
            if code == "" and fresh:
                self.model.decided[verdict.pk] = (reply.revision, chosen)
            assert code or reply.revision == given["expected_revision"] + 1

    @rule(reviewer=reviewers, unit=which)
    def approve(self, reviewer: str, unit: int) -> None:
        verdict = self._verdict(unit)
        if verdict is None:
            return
        user, revision = self.users[reviewer], verdict.revision
        code, _reply = answer_of(
            lambda: approve(reviewer=user, project=self.project, verdict_id=verdict.pk, expected_revision=revision)
        )
        if self.model.still_to_label(user.pk, verdict.sample_id):
            assert code == "still_to_label"
        elif verdict.state != "settled" or verdict.pk in self.model.decided:
            assert code == "not_agreed"
        else:
            assert code == ""
            self.model.approved[verdict.pk] = revision + 1

    @rule(reviewer=reviewers, task=which)
    def send_back(self, reviewer: str, task: int) -> None:
        self._move(
            task, lambda pk: return_task(actor=self.users[reviewer], project=self.project, task_id=pk, message="Again.")
        )

    # Admins

    @rule(task=which)
    def release(self, task: int) -> None:
        self._move(task, lambda pk: release_task(actor=self.users["alice"], project=self.project, task_id=pk))

    @rule(task=which, to=annotators)
    def reassign(self, task: int, to: str) -> None:
        given = {"actor": self.users["alice"], "project": self.project, "to": self.users[to]}
        self._move(task, lambda pk: reassign_tasks(task_ids=[pk], **given))

    @rule(person=annotators)
    def hand_on(self, person: str) -> None:
        hand_on_tasks(actor=self.users["alice"], project=self.project, user=self.users[person])
        self.model.refresh()
        for status in ("open", "paused"):
            assert not self.model.held(self.users[person].pk, batch=status)

    @rule(person=st.sampled_from(["ann", "ben"]), leaves=st.sampled_from([True, False, False]))
    def leave_or_come_back(self, person: str, leaves: bool) -> None:
        user = self.users[person]
        if leaves:
            deactivate_member(actor=self.users["alice"], project=self.project, user=user)
            self.model.active.discard(user.pk)
        else:
            reactivate_member(actor=self.users["alice"], project=self.project, user=user)
            self.model.active.add(user.pk)
        self.model.refresh()

    @rule(batch=which, step=st.sampled_from(list(STEPS_OF_A_BATCH)))
    def step(self, batch: int, step: str) -> None:
        one = self.batches[batch % len(self.batches)]
        code, _reply = answer_of(lambda: STEPS_OF_A_BATCH[step](batch=one, actor=self.users["alice"]))
        assert code in ("", "wrong_state")
        self.model.refresh()

    @rule(batch=which)
    def add_a_sample(self, batch: int) -> None:
        if self.samples == 4:
            return
        self._add_sample()
        chosen = {"method": "list", "samples": [f"s{self.samples}"]}
        one = self.batches[batch % len(self.batches)]
        answer_of(lambda: extend_batch(actor=self.users["alice"], batch=one, selection=chosen))
        self.model.refresh()

    @rule(strategy=st.sampled_from(["pull", "balanced"]))
    def ask_again(self, strategy: str) -> None:
        """A second batch with the same samples."""
        if len(self.batches) == 2 or len(self.model.active) < len(ANNOTATORS):
            return
        people = [self.users[name] for name in ANNOTATORS]
        self.batches.append(make_batch(self.project, people, **{**self.given, "strategy": strategy}))
        self.model.refresh()

    def _move(self, task: int, call: Callable[[int], Any]) -> None:
        before = self.model.seats
        pk = list(before)[task % len(before)]
        code, _reply = answer_of(lambda: call(pk))
        self.model.refresh()
        if code:
            assert self.model.seats == before

    # After each step, and now and then where pages count

    @rule()
    def open_the_pages(self) -> None:
        self.model.check_pages()

    def teardown(self) -> None:
        if hasattr(self, "model"):
            self.model.check_pages()

    @invariant()
    def holds(self) -> None:
        self.model.check()

    # Drawing

    def _task(self, person: str, which: int) -> int | None:
        """Mostly one of the person's own; now and then anybody's."""
        own = [pk for pk, seat in self.model.seats.items() if seat.person == self.users[person].pk]
        some = list(self.model.seats) if which == 11 else own
        return some[which % len(some)] if some else None

    def _change(self, task: int, drawn: Any) -> LabelChange:
        (unit, criterion), number, off, used = drawn
        seen = max(0, self.model.revision((task, unit, criterion)) + off)
        values = [*VALUES[criterion], None, None]
        cant_tell = "No date." if number == 3 and criterion == "grade" else ""
        said = LabelInput(unit, criterion, values[number], comment="c" * number, cant_tell=cant_tell)
        key = next(iter(self.model.keys), None) if used and number == 0 and off else None
        return LabelChange(said, seen, key or uuid.uuid4())

    def _verdict(self, which: int) -> Verdict | None:
        found = Verdict.objects.filter(sample__project=self.project).select_related("criterion").order_by("id")
        return found[which % len(found)] if found else None

    def _same_seats(self) -> None:
        """As the model has them, but for a queue that got a copy or lost one."""
        expected = self.model.seats
        self.model.refresh()
        assert self.model.seats == expected


@pytest.mark.django_db(transaction=True)
def test_labelling_in_any_order() -> None:
    run_state_machine_as_test(
        Labelling,
        settings=settings(
            max_examples=STEPS // STEPS_EACH,
            stateful_step_count=STEPS_EACH,
            derandomize="STEPS" not in os.environ,
            # Making a failure shorter takes minutes, and all of its steps are printed.
            phases=[Phase.generate],
        ),
    )
