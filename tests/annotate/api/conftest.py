from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

import pytest
from django.urls import get_resolver
from django.utils import timezone

from alignment.base.estimate import remark
from annotate.batches.audits_write import create_schedule
from annotate.members.write import create_invite
from annotate.models import (
    Batch,
    Flag,
    GoldAnswer,
    GuidelineImage,
    ImportJob,
    Job,
    Qualification,
    Release,
    Sample,
    SavedView,
    Task,
    User,
    Verdict,
)
from annotate.projects.write import set_member
from annotate.tasks.threads import ask
from judges.endpoints.write import create_endpoint
from judges.models import PROMISE, Alignment, Ask, CascadeLook, Judge, JudgeVersion, Rule, Run, Score, Trial
from systems.experiments.figures import freeze_figures
from systems.experiments.write import create_experiment
from systems.models import (
    Question,
    QuestionRevision,
    QuestionSet,
    QuestionSetEntry,
    Response,
    SystemVersion,
    Target,
    TargetAsk,
    TargetRun,
)
from systems.questions.write import freeze_set
from tests.annotate.factories import World, finish, make_batch, make_sample, make_world


@pytest.fixture(scope="module")
def _filled(module_transaction: None) -> Both:
    """Made once a module: there are many tests, and they are quick."""
    get_resolver()  # loaded before queries are counted anywhere
    return _both()


@pytest.fixture
def both(_filled: Both, db: None) -> Both:
    """Something of everything in Alice's project, and in Dora's next door."""
    return _filled


@pytest.fixture
def world(db: None) -> World:
    """Two empty projects."""
    return make_world()


@dataclass
class Both:
    """A world with something of everything in Alice's project, and in Dora's next door."""

    world: World
    own: dict[str, Any]  # values for the parameters of routes
    foreign: dict[str, Any]


NOWHERE = 77


def _both() -> Both:
    world = make_world()
    set_member(project=world.other, user=world.dora, role="admin")
    set_member(project=world.other, user=world.charlie, role="annotator")
    User.objects.create_user("outsider")
    return Both(
        world,
        own=_fill(world.project, world.ann, world.ben, criteria=["support", "grade"], number=1),
        foreign=_fill(world.other, world.dora, world.charlie, criteria=["grade"], number=NOWHERE),
    )


def _fill(project: Any, first: User, second: User, *, criteria: list[str], number: int) -> dict[str, Any]:
    sample: Sample = make_sample(project, number)
    asked = list(project.criteria.filter(key__in=criteria))
    batch = make_batch(project, [first, second], criteria=asked)
    asked_of = batch.tasks.get(annotator=first)
    thread = ask(actor=first, task_id=asked_of.pk, text="Of what?", idempotency_key=uuid.uuid4())
    for person, grade in ((first, 1), (second, 5)):
        finish(batch.tasks.get(annotator=person), grade=grade)
    make_sample(project, number + 1)
    waiting = make_batch(project, [first], name="Waiting", criteria=asked)
    Batch.objects.filter(pk=batch.pk).update(number=number + 100)
    Batch.objects.filter(pk=waiting.pk).update(number=number)
    job = ImportJob.objects.create(
        project=project, kind="samples", status="failed", file_name="f.jsonl", file_format="jsonl"
    )
    job_said = {"project": project, "asked": {}, "created_by": first}
    upload = ImportJob.objects.create(
        project=project, kind="samples", status="arriving", file_name="f.jsonl", size=9, received=0
    )
    Release.objects.create(project=project, number=number, file_format="jsonl", stored_as=f"releases/{uuid.uuid4()}")
    judge = Judge.objects.create(project=project, name=f"judge of {project.slug}", kind="lexical")
    config = {**lexical_config(criteria[-1]), "unit": "answer", "dimension": criteria[-1]}  # as kept
    version = JudgeVersion.objects.create(
        judge=judge, number=number, label=str(number), config=config, content_hash=f"{number}"
    )
    run = Run.objects.create(version=version, purpose="scores", state="paused", scope={"all": True}, planned=1)
    Ask.objects.create(run=run, sample=sample, unit="answer", state="done", status="error", detail="No words.")
    Score.objects.create(version=version, run=run, sample=sample, unit="answer", dimension=criteria[-1], number=0.5)
    endpoint = create_endpoint(project=project, name=f"at-{project.slug}", base_url="http://127.0.0.1:1/v1")
    inviting = project.memberships.get(role="admin").user
    invite, _ = create_invite(actor=inviting, project=project, role="annotator")
    flag = Flag.objects.create(project=project, sample=sample, reason="Cut off.", raised_by=first)
    gold = GoldAnswer.objects.create(
        sample=sample, unit="answer", criterion=project.criteria.get(key=criteria[-1], is_current=True), value=2
    )
    trial = Trial.objects.create(
        version=JudgeVersion.objects.create(
            judge=judge, number=number + 1, label="tried", config=config, content_hash="tried", state="trial"
        ),
        base=version,
        criterion=gold.criterion,
        dimension=gold.criterion.key,
        seed=1,
        wanted=1,
        samples=[sample.external_id],
        run=run,
    )
    alignment = Alignment.objects.create(
        base=version, criterion=gold.criterion, dimension=gold.criterion.key, seed=1, run=run,
        units=[[sample.external_id, "answer", sample.external_id, 0, 2, 1]],
    )  # fmt: skip
    rule = Rule.objects.create(
        alignment=alignment, proposed="So.", text="So.", sources=[[sample.external_id, "answer"]], groups=1
    )
    nothing = {"confidence": 0.99, "tried": 0, "reason": remark("no_cascade_decides"), "step": None}
    looked = CascadeLook.objects.create(
        project=project, criterion_key=criteria[-1], criterion=gold.criterion, cheap=version, dear=trial.version,
        cheap_dimension=criteria[-1], dear_dimension=criteria[-1], number=number, level=0.97, promise=PROMISE,
        fingerprint="f", samples={"dev": [], "test": [], "chances": {}},
        result={
            "judges": [], "drawn_by": [], "dev": 0, "units": 0, "groups": 0, "unsettled": 0, "family": [],
            "certified": [{"agreement": share, **nothing} for share in (0.8, 0.85, 0.9, 0.95)],
        },
    )  # fmt: skip
    view = SavedView.objects.create(project=project, owner=inviting, name="View", conditions={"q": "a"})
    schedule = create_schedule(
        project=project, actor=inviting, today=timezone.localdate(), name="Audits", criteria=asked, annotators=[first],
        overlap=1, samples=5,
    )  # fmt: skip
    image = GuidelineImage.objects.create(project=project, name=f"{number:032}", content=b"RIFF", width=1, height=1)
    newcomers = Qualification.objects.create(
        project=project, name="Newcomers", kappa=0.6, test_samples=5, tries=1, seed=1
    )
    for place, shows in enumerate((True, False), start=number + 200):
        Batch.objects.create(
            project=project, number=place, name="A round", status="open", seed=1, gold_feedback=shows,
            qualification=newcomers,
        )  # fmt: skip
    of_systems = _fill_systems(project, sample)
    task: Task = waiting.tasks.get(sample__external_id=f"s{number}")
    return {
        "slug": project.slug,
        "key": criteria[-1],
        "sample_id": sample.pk,
        "number": number,
        "verdict_id": Verdict.objects.get(sample=sample, unit="answer").pk,
        "task_id": task.pk,
        "job_id": job.pk,
        "uploads/job_id": upload.pk,
        **{f"{kind}-jobs/job_id": Job.objects.create(**job_said, kind=kind).pk for kind in ("report", "release")},
        "gold_id": gold.pk,
        "judge_id": judge.pk,
        "trial_id": trial.pk,
        "alignment_id": alignment.pk,
        "look_id": looked.pk,
        "rule_id": rule.pk,
        "run_id": run.pk,
        "name": endpoint.name,
        "flag_id": flag.pk,
        "thread_id": thread.pk,
        "step": "close",
        "form": "json",
        "username": second.username,
        "token_id": "ts_0123456789ab",
        "invite_id": invite.pk,
        "link_id": 1,
        "view_id": view.pk,
        "schedule_id": schedule.pk,
        "image_name": image.name,
        "qualification_id": newcomers.pk,
        **of_systems,
    }


def _fill_systems(project: Any, sample: Sample) -> dict[str, Any]:
    """A frozen test set of one question, which a version answered by this sample, an experiment about it, a target, and
    a run that asks it there."""
    question = Question.objects.create(project=project, external_id="q1", group_key="q1")
    revision = QuestionRevision.objects.create(question=question, number=1, text=sample.question, content_hash=b"0")
    question_set = QuestionSet.objects.create(project=project, name=f"set-of-{project.slug}")
    QuestionSetEntry.objects.create(question_set=question_set, question=question, revision=revision, position=0)
    frozen = freeze_set(actor=None, project=project, name=question_set.name).frozen
    version = SystemVersion.objects.create(project=project, name=f"build-of-{project.slug}")
    response = Response.objects.create(
        version=version, question=question, revision=revision, status="ok", sample=sample
    )
    other = SystemVersion.objects.create(project=project, name=f"rival-of-{project.slug}")
    Response.objects.create(version=other, question=question, revision=revision, status="failed", error="timeout")
    experiment = create_experiment(
        actor=None,
        project=project,
        name=f"experiment-of-{project.slug}",
        said={
            "versions": [version.name, other.name],
            "metrics": [{"criterion": "grade"}, {"field": "answered"}],
            "rule": {"primary": "grade", "margin": 0.1},
        },
    ).experiment
    freeze_figures(experiment=experiment)
    target = {"body": {"q": "{{question}}"}, "reply": {"answer": "/answer"}}
    Target.objects.create(project=project, endpoint=project.endpoints.get(), **target)
    asking = TargetRun.objects.create(version=version, frozen_set=frozen, state="paused", planned=1)
    TargetAsk.objects.create(run=asking, revision=revision, repeat=1, status="failed", detail="No answer.")
    return {
        "question_id": question.pk,
        "set_name": question_set.name,
        "version_id": version.pk,
        "experiment_name": experiment.name,
        "response_id": response.pk,
        "asking_id": asking.pk,
    }


def lexical_config(criterion: str) -> dict[str, Any]:
    """Of a judge that needs no model, on a criterion that asks about answers."""
    return {"measure": "token_overlap", "criterion": criterion}
