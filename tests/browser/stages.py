"""A project in which everything stands at another stage: batches, units, tasks. For tests that only look at pages."""

from __future__ import annotations

from typing import Any

from annotate.batches.gold import set_gold
from annotate.batches.steps import close_batch, open_batch, pause_batch, start_adjudication
from annotate.models import Batch, Project, Sample, Task, User, Verdict
from annotate.models.batch import ConsensusRule, Purpose
from annotate.projects.write import create_project, set_member
from annotate.tasks.labelling import submit_task
from annotate.tasks.write import reopen_task, return_task
from annotate.verdicts.adjudication import approve
from tests.annotate.factories import TRISTATE, decide_unit, finish, make_batch, make_sample, say

SCORE = {
    "key": "score",
    "unit": "answer",
    "scale": "interval",
    "prompt": "How much of the question does it answer, in percent?",
    "help": "A number from 0 to 100.",
}
# Contexts with hits for the search, and what no eye sees: a soft hyphen, a zero-width space, a turn to the left.
_CONTEXTS = [
    {
        "id": "hours",
        "text": "It opens at nine. On Sun\u00addays it stays\u200b closed. It closes at five.",
        "score": 0.7,
    },
    {"id": None, "text": "营业时间：九点。It opens \u202eat ten\u202c on holidays.", "score": None},
]


class Stages:
    """Batches are numbered in the order in which they are made; `names` has what pages are addressed by."""

    def __init__(self, alma: User, remy: User, ana: User, ben: User) -> None:
        self.alma, self.remy, self.ana = alma, remy, ana
        self.ben = ben
        self.project: Project = create_project(
            slug="stages", spec={"name": "Stages", "criteria": [TRISTATE, SCORE]}, created_by=alma
        )
        set_member(project=self.project, user=remy, role="reviewer")
        for user in (ana, self.ben):
            set_member(project=self.project, user=user, role="annotator")
        self.samples = 0
        self.names: dict[str, Any] = {}
        self._batches()
        self._units()
        self._tasks()

    def _batch(
        self, name: str, *people: User, sample: Sample | None = None, asks: str = "support", **more: Any
    ) -> Batch:
        self.samples += 1
        sample = sample or make_sample(self.project, self.samples, contexts=_CONTEXTS)
        batch = make_batch(
            self.project,
            people,
            name=name,
            criteria=list(self.project.criteria.filter(key=asks)),
            samples=[sample.external_id],
            created_by=self.alma,
            opened=False,
            **more,
        )
        self.names[name] = batch.number
        return batch if name == "draft" else open_batch(batch=batch, actor=self.alma)

    def _disagree(self, batch: Batch) -> None:
        """On the first claim; on the second one all agree."""
        for user, first in ((self.ana, "yes"), (self.ben, "no")):
            finish(_task(batch, user), support=lambda unit, first=first: first if unit == "claim:0" else "yes")

    def _decided(self, batch: Batch) -> Verdict:
        self._disagree(batch)
        verdict = Verdict.objects.get(sample__batches=batch, unit="claim:0")
        return decide_unit(self.remy, verdict, "yes", "The first context says so.")

    def _batches(self) -> None:
        pause_batch(actor=self.alma, batch=self._batch("paused", self.ana))
        adjudicating = self._batch("adjudicating", self.ana, self.ben)
        self._disagree(adjudicating)
        start_adjudication(batch=adjudicating, actor=self.alma)
        closed = self._batch("closed", self.ana, self.ben)
        self.names["settled"] = self._decided(closed).pk
        close_batch(batch=closed, actor=self.alma)
        # What the labels settled by themselves: one of them a reviewer looked at.
        agreed = Verdict.objects.filter(sample__project=self.project, state="settled", unit="claim:1").order_by("pk")
        self.names["agreed"] = agreed[0].pk
        looked_at = agreed[1]
        self.names["approved"] = looked_at.pk
        approve(reviewer=self.remy, project=self.project, verdict_id=looked_at.pk, expected_revision=looked_at.revision)

    def _units(self) -> None:
        changed = self._batch("changed", self.ana, self.ben)
        self.names["reopened"] = self._decided(changed).pk
        task = _task(changed, self.ben)
        reopen_task(actor=self.ben, task_id=task.pk)
        say(self.ben, task, "claim:0", "support", "unsure", seen=1, comment="It may open later.")
        submit_task(actor=self.ben, task_id=task.pk)
        # A reviewer who labels it as well sees nothing of what others said until then.
        shared = self._batch("shared", self.ana, self.ben)
        self._disagree(shared)
        sample = Sample.objects.get(batches=shared)
        self._batch("blind", self.remy, sample=sample)
        # More than half agree, which this batch doesn't take for enough.
        wanted = self._batch("unanimous", self.ana, self.ben, self.alma, consensus=ConsensusRule.UNANIMOUS)
        self._disagree(wanted)
        finish(_task(wanted, self.alma))
        self.names["blind"] = Verdict.objects.get(sample=sample, unit="claim:0").pk

    def _tasks(self) -> None:
        returned = _task(self._batch("returned", self.ana), self.ana)
        finish(returned)
        message = "Read the second context again, please."
        return_task(actor=self.remy, project=self.project, task_id=returned.pk, message=message)
        practice = self._batch("practice", self.ana, gold_feedback=True)
        known = _task(practice, self.ana)
        criterion = self.project.criteria.get(key="support")
        for unit, value in (("claim:0", "yes"), ("claim:1", "no")):
            set_gold(
                actor=self.alma, project=self.project, sample=known.sample, unit=unit, criterion=criterion,
                value=value, reason="The first context says so.",
            )  # fmt: skip
        Task.objects.filter(pk=known.pk).update(purpose=Purpose.GOLD)
        self.names["drafted_sample"] = self._batch("draft", self.ana).samples.get().pk
        number = self._batch("number", self.ana, asks="score")
        texts = self._batch("texts", self.ben)
        self.names |= {
            "returned_task": returned.pk,
            "gold_task": known.pk,
            "number_task": _task(number, self.ana).pk,
            "texts_task": _task(texts, self.ben).pk,
        }


def _task(batch: Batch, user: User) -> Task:
    return Task.objects.select_related("annotator", "sample", "batch").get(batch=batch, annotator=user)
