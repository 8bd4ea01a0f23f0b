"""Projects, judges and runs in which everything stands at another stage. For tests that only look at pages: no worker
is told of runs."""

from __future__ import annotations

import uuid
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.utils import timezone

from alignment import Estimate
from annotate.batches.audits_make import make_audit
from annotate.batches.audits_write import create_schedule
from annotate.batches.gold import import_gold
from annotate.batches.qualifications import Asked, create_qualification
from annotate.batches.steps import close_batch, open_batch, pause_batch, start_adjudication
from annotate.core.units import units_of
from annotate.models import AuditSchedule, Batch, Project, Sample, Task, User, Verdict
from annotate.models.batch import ConsensusRule, Purpose
from annotate.projects.write import create_project, set_member
from annotate.qualification.tries import start_test
from annotate.samples.read import samples_named
from annotate.tasks.labelling import submit_task
from annotate.tasks.threads import ask as ask_reviewers
from annotate.tasks.threads import write
from annotate.tasks.write import reopen_task, return_task
from annotate.verdicts.adjudication import approve
from judges.aligning.candidates import WHOLE
from judges.canaries.write import check_canaries
from judges.certificates.cascades import use_cascade
from judges.endpoints.write import create_endpoint
from judges.models import (
    PROMISE,
    Alignment,
    Ask,
    CascadeLook,
    Endpoint,
    Judge,
    JudgeVersion,
    Reply,
    Rule,
    Run,
    RunState,
    Score,
    Trial,
    VersionState,
)
from judges.reports.evidence import settled_on_dev
from judges.versions.write import add_version, create_judge
from systems.experiments.figures import freeze_figures
from systems.experiments.write import create_experiment
from systems.models import (
    FrozenSet,
    Question,
    QuestionRevision,
    QuestionSet,
    QuestionSetEntry,
    Response,
    SystemVersion,
    TargetAsk,
    TargetReply,
    TargetRun,
)
from systems.questions.contents import Content, new_revisions
from systems.questions.write import freeze_set
from systems.responses.versions import Description, create_version
from systems.targets.write import set_target
from tests.annotate.factories import TRISTATE, decide_unit, finish, make_batch, make_sample, say
from tests.judges.building import add_judge

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


LONG = "w" * 90


class Stages:
    """Batches are numbered in the order in which they are made; `names` has what pages are addressed by."""

    def __init__(self, alma: User, remy: User, ana: User, ben: User) -> None:
        self.alma, self.remy, self.ana = alma, remy, ana
        self.ben = ben
        self.project: Project = create_project(
            slug="stages", spec={"name": "Stages", "criteria": [TRISTATE, SCORE, "corrected_answer"]}, created_by=alma
        )
        set_member(project=self.project, user=remy, role="reviewer")
        for user in (ana, self.ben):
            set_member(project=self.project, user=user, role="annotator")
        self.samples = 0
        self.names: dict[str, Any] = {}
        self._batches()
        self._units()
        self._tasks()
        self._proposals()
        self._qualification()

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

    def _corrected(self) -> Task:
        """Ana's, begun; Ben has submitted his. It is of the sample that has the reopened unit."""
        sample = Verdict.objects.get(pk=self.names["reopened"]).sample
        self.names["corrected_sample"] = sample.pk
        batch = self._batch("corrected", self.ana, self.ben, sample=sample, asks="corrected_answer")
        task = _task(batch, self.ben)
        say(self.ben, task, "answer", "corrected_answer", "It opens at ten. It closes at five, but not on Sundays.")
        submit_task(actor=self.ben, task_id=task.pk)
        say(self.ana, _task(batch, self.ana), "answer", "corrected_answer", "On Sundays it stays closed.")
        return _task(batch, self.ana)

    def _qualification(self) -> None:
        """Ana has not begun; Ben failed his first test."""
        values = ("yes", "no", "unsure")
        samples = [make_sample(self.project, 500 + n, contexts=_CONTEXTS) for n in range(10)]
        rows = [
            {"sample_id": one.external_id, "unit": "claim:0", "criterion": "support", "value": values[n % 3],
             "reason": "The first context says so."}
            for n, one in enumerate(samples)
        ]  # fmt: skip
        import_gold(actor=self.alma, project=self.project, rows=rows)
        asked = Asked(criteria=[self.project.criteria.get(key="support")], training=2, test=4, tries=2)
        made = create_qualification(
            actor=self.alma, project=self.project, name="Newcomers", asked=asked, annotators=[self.ana, self.ben],
            seed=1,
        )  # fmt: skip
        self.names["qualification"] = made.pk
        for batch in (made.training, made.test):
            if not batch.gold_feedback:
                start_test(actor=self.ben, qualification=made)
            for task in Task.objects.filter(batch=batch, annotator=self.ben).select_related(
                "annotator", "sample", "batch"
            ):
                finish(task)

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
        answer = {"sample_id": known.sample.external_id, "criterion": "support", "reason": "The first context says so."}
        rows = [{**answer, "unit": unit, "value": value} for unit, value in (("claim:0", "yes"), ("claim:1", "no"))]
        import_gold(actor=self.alma, project=self.project, rows=rows)
        Task.objects.filter(pk=known.pk).update(purpose=Purpose.GOLD)
        self.names["drafted_sample"] = self._batch("draft", self.ana).samples.get().pk
        number = self._batch("number", self.ana, asks="score")
        texts = self._batch("texts", self.ben)
        self.names |= {
            "returned_task": returned.pk,
            "gold_task": known.pk,
            "number_task": _task(number, self.ana).pk,
            "corrected_task": self._corrected().pk,
            "texts_task": _task(texts, self.ben).pk,
            **self._questions(),
        }

    def _proposals(self) -> None:
        """Of two samples, of which one is withheld; Ana has the other one's task."""
        samples = [make_sample(self.project, self.samples + place, contexts=_CONTEXTS) for place in (1, 2)]
        self.samples += 2
        named = {sample.external_id: sample for sample in samples}
        values = [(name, f"claim:{place}", "yes") for name in named for place in (0, 1)]
        add_judge(self.project, f"Proposer {LONG}", named, values)
        batch = make_batch(
            self.project,
            [self.ana],
            name="proposing",
            criteria=list(self.project.criteria.filter(key="support")),
            samples=list(named),
            created_by=self.alma,
            proposals={"support": f"Proposer {LONG}"},
        )
        self.names["proposing"] = batch.number
        shown = batch.proposed.get(shown=True).sample
        self.names["proposing_task"] = batch.tasks.get(sample=shown).pk

    def _questions(self) -> dict[str, int]:
        """One that is answered, which Ana has not read; one that waits."""
        task = _task(self._batch("asked", self.ana), self.ana)
        given = {"actor": self.ana, "task_id": task.pk, "unit": "claim:0", "criterion": "support"}
        asked = ask_reviewers(**given, text="Does “nine” mean " + "a" * 90 + "?", idempotency_key=uuid.uuid4())
        answer = {"project": self.project, "thread_id": asked.pk, "idempotency_key": uuid.uuid4()}
        write(actor=self.remy, text="Yes, <b>nine</b> in the morning.", **answer)
        ask_reviewers(actor=self.ana, task_id=task.pk, text="Is this a duplicate?", idempotency_key=uuid.uuid4())
        return {"asked_task": task.pk, "asked": asked.pk}


def _task(batch: Batch, user: User) -> Task:
    return Task.objects.select_related("annotator", "sample", "batch").get(batch=batch, annotator=user)


def audit_stages(project: Project, alma: User, *people: User) -> dict[str, int]:
    """A schedule with a history, and one that can't make its batch."""
    given: dict[str, Any] = {
        "project": project, "actor": alma, "today": timezone.localdate(), "samples": 4, "opens": False,
        "criteria": list(project.criteria.filter(key="support", is_current=True)), "annotators": list(people),
    }  # fmt: skip
    audits = create_schedule(name="Weekly audit", **given)
    for week in range(2):
        make_audit(audits.pk, today=audits.next_on + timedelta(weeks=week))
    stuck = create_schedule(name="x" * 180, **given)
    problem = {"code": "too_few_annotators", "there": 1, "needed": 2, "gone": ["n" * 90]}
    AuditSchedule.objects.filter(pk=stuck.pk).update(problem=problem)
    return {"audits": audits.pk, "stuck": stuck.pk}


def judge_stages(project: Project, user: User) -> dict[str, int]:
    """By what pages are addressed."""
    overlap = {"measure": "token_overlap", "criterion": "support"}
    words = create_judge(project=project, name=f"Words {LONG}", kind="lexical", config=overlap, actor=user)
    Endpoint.objects.create(project=project, name="house", base_url="http://127.0.0.1:1/v1", created_by=user)
    asking = {"criterion": "support", "model": f"small-{LONG}", "prompt": "Is it said?\n\n{{claim}}\n{{contexts}}"}
    llm = create_judge(project=project, name="Asks", kind="llm", config=asking, endpoint="house", actor=user)
    prompt = {"prompt": f"Do the contexts say it? {LONG}\n\n{{{{claim}}}}\n{{{{contexts}}}}"}
    add_version(
        judge=llm,
        config={**asking, **prompt},
        endpoint="house",
        state=VersionState.TRIAL,
        based_on=_first(llm),
        actor=user,
    )
    return {
        "words": words.pk,
        "asks": llm.pk,
        "going_run": _run(_first(words), user, RunState.RUNNING, done=1).pk,
        "stopped_run": _run(
            _first(llm),
            user,
            RunState.STOPPED,
            done=2,
            budget=Decimal(2),
            cost=Decimal("1.9"),
            tokens_in=123_456,
            tokens_out=7_890,
            unpriced=1,
            stop_code="unauthorized",
            stop_message="The endpoint refused the key (401).",
        ).pk,
        "done_run": _run(_first(words), user, RunState.DONE, done=4).pk,
    }


def trial_stages(project: Project, user: User) -> dict[str, int]:
    """A trial that is done, of a version that answers otherwise, and one under way; neither version is in use, so that
    reports stay what they are."""
    criterion = project.criteria.get(key="support", is_current=True)
    judge = Judge.objects.create(project=project, name=f"Tried {LONG}", kind="lexical")
    values = [option["value"] for option in criterion.options]
    old, new = (
        JudgeVersion.objects.create(
            judge=judge,
            number=number,
            label=str(number),
            config={"measure": "token_overlap", "note": f"{number} {LONG}\nline"},
            content_hash=str(number),
            state=VersionState.TRIAL,
        )
        for number in (1, 2)
    )
    names = settled_on_dev(criterion)[:12]
    runs = [_run(version, user, RunState.DONE, done=4) for version in (old, new)]
    for place, sample in enumerate(samples_named(project, names).order_by("pk")):
        for version, run in zip((old, new), runs, strict=True):
            Score.objects.bulk_create(
                Score(
                    version=version,
                    run=run,
                    sample=sample,
                    unit=unit,
                    dimension="support",
                    label=values[0 if version == old or place % 3 else 1],
                    rationale=f"Since it says so. {LONG}",
                )
                for unit in units_of(sample, "claim")
            )
    given = {"version": new, "base": old, "criterion": criterion, "dimension": "support", "seed": 1, "wanted": 12}
    done = Trial.objects.create(**given, samples=names, run=runs[1], base_run=runs[0], created_by=user)
    going = Trial.objects.create(**given, samples=names, run=_run(new, user, RunState.RUNNING, done=1))
    return {"tried": judge.pk, "done_trial": done.pk, "going_trial": going.pk}


def canary_stages(llm: int, user: User) -> dict[str, int]:
    """Checks of the judge: one that is done, in which an order did something and replies failed, one under way, and one
    with bias probes that is done."""
    version = JudgeVersion.objects.filter(judge=llm).order_by("number")[0]
    done, going = (check_canaries(version=version, samples=3, seed=seed, actor=user) for seed in (1, 2))
    best, other, *_ = [option["value"] for option in version.config["options"]]
    for ask in done.asks.all():
        is_bad = ask.repeat == 9
        status = "refused" if is_bad else "ok"
        value = None if is_bad else best if ask.repeat in (1, 12) else other
        given = {"unit": ask.unit, "status": status, "value": value, "reason": f"Since it says so. {LONG}"}
        Ask.objects.filter(pk=ask.pk).update(state="done", status=status, outcome=[given])
    bias = check_canaries(version=version, test="bias", samples=12, seed=1, actor=user)
    for place, ask in enumerate(bias.asks.all()):
        value = best if ask.repeat == 5 or place % 5 == 0 else other
        given = {"unit": ask.unit, "status": "ok", "value": value, "reason": f"Since it says so. {LONG}"}
        Ask.objects.filter(pk=ask.pk).update(state="done", status="ok", outcome=[given])
    Run.objects.filter(pk__in=(done.pk, bias.pk)).update(state=RunState.DONE)
    return {
        "bias_check": bias.pk,
        "done_check": done.pk,
        "going_check": going.pk,
        "proposed_run": _proposals(version, user).pk,
    }


def alignment_stages(llm: int, user: User) -> dict[str, int]:
    """One that is done and helped, with a rule in each state; one in which nothing was better; one under way."""
    version = JudgeVersion.objects.filter(judge=llm).order_by("number")[0]
    project = version.judge.project
    criterion = project.criteria.get(key="support", is_current=True)
    samples = list(project.samples.order_by("pk")[:12])
    units = [[one.external_id, "claim:0", one.external_id, place % 4, 1.0, 1] for place, one in enumerate(samples)]
    given = {"base": version, "criterion": criterion, "dimension": "support", "units": units, "created_by": user}
    values = [("start", 0.31, 0.09, 0.31), ("rules", 0.64, 0.0, 0.7), ("all_nearest", 0.6, 0.04, 0.93)]
    names = ("name", "kappa", "error", "same_labels")
    candidates = [{**dict(zip(names, one, strict=True)), "answered": 11} for one in values]
    of_units: dict[str, Any] = {"n": 12, "clusters": 12, "method": "kappa"}
    result = {
        "candidates": candidates, "chosen": 1, "of_folds": [1, 1, 2, 1], "same_labels": 0.93,
        "before": Estimate(0.31, 0.12, 0.5, **of_units).as_dict(),
        "after": Estimate(0.62, 0.4, 0.8, **of_units).as_dict(),
        "gain": Estimate(0.31, 0.08, 0.52, **of_units).as_dict(), "units": 12, "groups": 12, "wrong": 3, "divided": 2,
    }  # fmt: skip
    nothing = {**result, "chosen": 0, "gain": Estimate(0.02, -0.09, 0.13, **of_units).as_dict()}
    parts = [{"name": name, "parts": {str(WHOLE): {"rules": name != "start"}}} for name, *_rest in values]
    done, same = (
        Alignment.objects.create(**given, seed=seed, step="done", candidates=parts, result=found)
        for seed, found in enumerate((result, nothing))
    )
    going = Alignment.objects.create(
        **given, seed=2, step="rules", run=_run(version, user, RunState.RUNNING, done=1, purpose="align")
    )
    Run.objects.filter(pk=going.run_id).update(terms={"alignment": going.pk, "step": going.step})
    sources = [[name, unit] for name, unit, *_rest in units[:2]]
    for state in ("proposed", "accepted", "dropped"):
        text = f"A claim that names a holiday needs the year. {LONG}"
        Rule.objects.create(alignment=done, proposed=text, text=text, sources=sources, groups=2, state=state)
    return {"done_alignment": done.pk, "same_alignment": same.pk, "going_alignment": going.pk}


def cascade_stages(project: Project, user: User) -> dict[str, int]:
    """A look with two judges that certified two of four shares of agreement, and the judge that was made of it."""
    criterion = project.criteria.get(key="support", is_current=True)
    versions = {
        version.judge.name: version
        for version in JudgeVersion.objects.filter(judge__project=project, state=VersionState.KEPT)
    }
    of_units: dict[str, Any] = {"n": 120, "clusters": 60, "method": "exact"}
    step = {
        "cheap": 0.4, "dear": 0.0, "shares": {"cheap": 0.5, "dear": 0.3, "people": 0.2},
        "disagreement": Estimate(0.08, 0.0, 0.15, **of_units).as_dict(),
        "of_settled": Estimate(0.05, 0.0, 0.12, **of_units).as_dict(),
    }  # fmt: skip
    tried = {"confidence": 0.97, "tried": 1}
    missed = {"reason": {"code": "no_cascade_decides"}, "step": None}
    certified = [
        {"agreement": share, **tried, **({"reason": None, "step": step} if share < 0.9 else missed)}
        for share in (0.8, 0.85, 0.9, 0.95)
    ]
    judges = [{"threshold": 0.5, "coverage": 1.0, "by_confidence": False} for _name in versions]
    look = CascadeLook.objects.create(
        project=project, criterion_key=criterion.key, criterion=criterion, cheap=versions["token-overlap"],
        cheap_dimension="support", dear=versions["claim-checker"], dear_dimension="support", number=7, level=0.97,
        promise=PROMISE, fingerprint="f", samples={"dev": [], "test": [], "chances": {}}, created_by=user,
        result={
            "reason": None, "confidence": 0.97, "judges": judges[:2], "drawn_by": [], "dev": 60, "units": 120,
            "groups": 60, "unsettled": 3, "family": [[0.4, 0.0]], "certified": certified,
        },
    )  # fmt: skip
    judge = use_cascade(look=look, agreement=0.85, name=f"overlap-then-checker {LONG}"[:200], actor=user)
    return {"cascade": look.number, "cascade_judge": judge.pk}


def _proposals(version: JudgeVersion, user: User) -> Run:
    """Of two samples, one of which failed."""
    run = Run.objects.create(version=version, purpose="claims", state="done", scope={"all": True}, created_by=user)
    for place, sample in enumerate(version.judge.project.samples.order_by("pk")[:2]):
        claims = [{"text": f"It is said otherwise. {LONG}", "start": None, "end": None}]
        Ask.objects.create(
            run=run,
            sample=sample,
            unit="answer",
            state="done",
            status="refused" if place else "ok",
            detail="The model refused." if place else "",
            outcome=None if place else {"claims": claims, "revision": sample.claims_revision},
        )
    return run


def system_stages(project: Project, user: User) -> dict[str, int]:
    """A test set that was frozen and changed since, asked of two versions; an experiment with figures and one without;
    a target, a run that is done and one that stopped; and questions to be confirmed."""
    draft = QuestionSet.objects.create(project=project, name="support")
    turns = [{"role": "user", "text": "It is Sunday."}, {"role": "assistant", "text": "Closed."}]
    said = [
        Content("When does it open?", "At nine.", ["nine"], ["Sunday"], {"hours": 2}, "simple", "easy", "hours", turns),
        Content(LONG * 4, kind="unanswerable", category=LONG, metadata={"k" * 60: "v" * 200}),
    ]
    questions = [
        Question.objects.create(project=project, external_id=name, group_key=name) for name in ("opening", "q" * 300)
    ]
    for position, revision in enumerate(new_revisions(zip(questions, (1, 1), said, strict=True))):
        QuestionSetEntry.objects.create(
            question_set=draft, question_id=revision.question_id, revision=revision, position=position
        )
    frozen = freeze_set(actor=user, project=project, name="support").frozen
    (revision,) = new_revisions([(questions[0], 2, Content("When does it open on Sundays?", relevant={"hours": 1}))])
    draft.entries.filter(question=questions[0]).update(revision=revision)
    builds = [create_version(actor=user, project=project, name=name, said=_DESCRIBED) for name in ("v7", LONG[:90])]
    asked = {"question": questions[0], "revision": revision, "latency_ms": 812.5, "cost": 0.002}
    SystemVersion.objects.filter(pk=builds[1].pk).update(configuration={"top_k": 20})
    for build in builds:
        sample = make_sample(project, 700 + build.pk, question=revision.text, pipeline_version=build.name)
        ranking = [{"id": "hours", "score": 1.5}, {"id": LONG * 3, "score": None}]
        Response.objects.create(version=build, sample=sample, status="ok", ranking=ranking, **asked)
    Response.objects.create(
        version=builds[0], repeat=1, status="failed", error="reported", error_text=f"timeout {LONG}", **asked
    )
    spec = {
        "versions": [build.name for build in builds],
        "metrics": [{"field": "latency_ms"}, {"field": "answered", "name": LONG[:80]}, {"criterion": "support"}],
        "rule": {"primary": "latency_ms", "margin": 5, "guards": [{"metric": LONG[:80], "margin": 0.1}]},
    }
    for name in ("shipping", "not-yet"):
        create_experiment(actor=user, project=project, name=name, said=spec)
    freeze_figures(experiment=project.experiments.get(name="shipping"), user=user)
    asking = _asking(project, user, frozen, builds, revision)
    for n, group in enumerate(("", "", "a", "b")):
        words = "Is it open?" if n < 2 else LONG
        make_sample(project, 800 + n, question=words, pipeline_version=builds[n % 2].name, group_key=group)
    return {
        "asked_question": questions[0].pk,
        "build": builds[0].pk,
        "answered": builds[0].responses.first().pk,
        "asking": asking,
    }


def _asking(
    project: Project, user: User, frozen: FrozenSet, builds: list[SystemVersion], revision: QuestionRevision
) -> int:
    """A target, its run that stopped, with failures, and one that is done. Returns the first."""
    endpoint = create_endpoint(project=project, actor=user, name="rag", base_url="http://127.0.0.1:9/v1")
    body = {"question": "{{question}}", "note": LONG * 4}
    said = {"endpoint": endpoint.name, "body": body, "reply": {"answer": "/answer"}}
    for version in (None, builds[1]):
        set_target(actor=user, project=project, version=version, said=said)
    stopped = {"state": "stopped", "stop_code": "refused", "stop_message": LONG, "planned": 4, "requests": 4}
    run = TargetRun.objects.create(version=builds[1], frozen_set=frozen, repeats=2, created_by=user, **stopped)
    reply = TargetReply.objects.create(version=builds[1], key="k", text=f"<p>{LONG * 20}", seconds=0.2)
    for repeat, detail in enumerate(("The reply is HTML or XML, not JSON.", LONG)):
        TargetAsk.objects.create(run=run, revision=revision, repeat=repeat, status="failed", detail=detail, reply=reply)
    TargetRun.objects.create(version=builds[0], frozen_set=frozen, state="done", planned=0, only_failed=True)
    return run.pk


_DESCRIBED = Description(
    configuration={"model": "m" * 120, "top_k": 5, "rerank": True}, commit="a" * 40, parent_commit="b" * 40,
    price={"input": 0.5, "output": 1.5}, tags=["nightly", "t" * 90], is_baseline=True,
)  # fmt: skip


def _first(judge: Judge) -> JudgeVersion:
    return judge.versions.get(number=1)


def _run(
    version: JudgeVersion, user: User, state: RunState, *, done: int, purpose: str = "scores", **fields: Any
) -> Run:
    """Of four asks; of those that are done every second one failed."""
    run = Run.objects.create(
        version=version, purpose=purpose, state=state, scope={"all": True}, planned=4, created_by=user, **fields
    )
    samples = list(version.judge.project.samples.order_by("pk")[:2])
    reply = Reply.objects.create(
        project=version.judge.project, key=f"run {run.pk}", body={"text": f"It is. {LONG * 3}"}, latency=0.2
    )
    for n, (sample, unit) in enumerate((sample, unit) for sample in samples for unit in ("claim:0", "claim:1")):
        is_done, is_bad = n < done, n % 2 == 1
        Ask.objects.create(
            run=run,
            sample=sample,
            unit=unit,
            state="done" if is_done else "waiting",
            status=("parse_error" if is_bad else "ok") if is_done else "",
            detail="The reply is not one JSON object and nothing else." if is_done and is_bad else "",
            replies=[reply.pk] if is_done else [],
        )
    return run
