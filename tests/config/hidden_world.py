"""A project that hides names and judges, with units in every state. What people and judges say of a sample bears its
name, in words that occur nowhere else; so do names and scores.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from django.utils import timezone

from annotate.batches.audits_write import create_schedule
from annotate.core.units import units_of
from annotate.files.releases import make_release
from annotate.labels.consensus import settle_imported
from annotate.models import Batch, Criterion, Flag, GoldAnswer, Label, Project, Rater, Sample, Task, User, Verdict
from annotate.projects.write import create_project, set_member
from annotate.samples.flags import raise_flag, resolve_flag
from annotate.tasks.labelling import skip_task, submit_task
from annotate.tasks.threads import ask, write
from annotate.tasks.write import return_task
from judges.certificates.write import issue_certificate, look_at_test
from judges.endpoints.write import create_endpoint
from judges.models import Ask, Judge, JudgeVersion, Look, Reply, Run, Score, Trial
from judges.reports.write import freeze_report
from judges.versions.write import create_judge
from tests.annotate.factories import GRADE, decide_unit, make_batch, say
from tests.judges.building import add_judge, add_labels, add_samples, add_scores, drawn_in_full

SUPPORT = {
    "key": "support",
    "unit": "claim",
    "scale": "nominal",
    "prompt": "Supported?",
    "options": [{"value": "v-supported"}, {"value": "v-contradicted"}],
    "pass": ["v-supported"],
}
SLUG = "hidden"
ANNOTATORS = ("zann", "zben", "zchen")
# Their labels were made elsewhere.
ELSEWHERE = ("zimp", "zout")
SETTLED = [f"settled-{place:02}" for place in range(48)]
DISPUTED, OPEN, BEGUN, REOPENED, SKIPPED, IMPORTED, UNTOUCHED, RETURNED = UNDECIDED = [
    f"undecided-{state}"
    for state in ("disputed", "open", "begun", "reopened", "skipped", "imported", "untouched", "returned")
]
# What a judge says of what is not decided, and nothing else.
NUMBER = 0.71312


@dataclass(frozen=True)
class Hidden:
    project: Project
    # By name: the admins alice and aldo, the reviewer rita, and the annotators.
    users: Mapping[str, User]
    samples: Mapping[str, Sample]

    def criterion(self, key: str) -> Criterion:
        return self.project.criteria.get(key=key, is_current=True)


def hidden_world() -> Hidden:
    users = {name: User.objects.create_user(name) for name in ("alice", "aldo", "rita", *ANNOTATORS)}
    project = create_project(
        slug=SLUG, spec={"name": "Hidden", "criteria": [SUPPORT, GRADE]}, created_by=users["alice"]
    )
    set_member(project=project, user=users["aldo"], role="admin")
    set_member(project=project, user=users["rita"], role="reviewer")
    for name in ANNOTATORS:
        set_member(project=project, user=users[name], role="annotator")
    claims = [{"text": text, "start": None, "end": None} for text in ("Claim one.", "Claim two.")]
    samples = add_samples(project, [*SETTLED, *UNDECIDED], claims=claims, pipeline_version="v7")
    world = Hidden(project, users, samples)
    _label_elsewhere(world)
    _label_here(world)
    _score(world)
    _try_out(world)
    for key in ("support", "grade"):
        freeze_report(criterion=world.criterion(key))
    _certify(world)
    create_schedule(
        project=project, actor=users["alice"], today=timezone.localdate(), name="Audits", samples=5,
        criteria=[world.criterion("grade")], annotators=[users["aldo"], users["rita"]],
    )  # fmt: skip
    named = {"include_disputed": True, "annotators": "named"}
    make_release(project=project, user=users["alice"], file_format="jsonl")
    make_release(project=project, user=users["alice"], file_format="csv", filters=named)
    return world


def _grade(place: int) -> int:
    return (1, 5, 4, 2, 5, 3, 4, 1)[place % 8]


def _label_elsewhere(world: Hidden) -> None:
    """Two people agree on all of the settled samples; one looked at one that isn't."""
    support, grade = world.criterion("support"), world.criterion("grade")
    for rater in ELSEWHERE:
        values = {name: "v-supported" if place % 3 else "v-contradicted" for place, name in enumerate(SETTLED)}
        rows = [(name, f"claim:{at}", rater, value) for name, value in values.items() for at in range(2)]
        add_labels(support, world.samples, rows)
        grades = [(name, "answer", rater, _grade(place)) for place, name in enumerate(SETTLED)]
        add_labels(grade, world.samples, grades)
    for criterion in (support, grade):
        settle_imported(project=world.project, criterion=criterion, needed=2)
    add_labels(support, world.samples, [(IMPORTED, "claim:0", "zimp", "v-supported")])
    for label in Label.objects.filter(criterion__in=(support, grade)).select_related("rater", "sample"):
        Label.objects.filter(pk=label.pk).update(comment=remark(label.sample.external_id))


def remark(sample: str) -> str:
    return f"Remarked of {sample}"


def _label_here(world: Hidden) -> None:
    """All three are asked about each of these; what they don't agree on goes to the reviewer."""
    asked = [name for name in UNDECIDED if name not in (IMPORTED, UNTOUCHED)]
    people = [world.users[name] for name in ANNOTATORS]
    batch = make_batch(world.project, people, samples=asked, consensus="unanimous", name="Work")
    tasks = {(task.sample.external_id, task.annotator.username): task for task in _tasks(batch)}
    for name, who in [(name, who) for name in (DISPUTED, REOPENED, RETURNED) for who in ANNOTATORS]:
        _finish(tasks[name, who], agrees=who == "zann")
    for who in ("zann", "zben"):
        _finish(tasks[OPEN, who], agrees=True)
    for who in ("zann", "zchen"):
        _finish(tasks[SKIPPED, who], agrees=who == "zann")
    _say(tasks[BEGUN, "zann"], agrees=True)
    skip_task(actor=world.users["zben"], task_id=tasks[SKIPPED, "zben"].pk, reason=f"Skipped, for {SKIPPED} is so")
    aldo, rita = world.users["aldo"], world.users["rita"]
    for verdict in Verdict.objects.filter(sample__external_id=REOPENED).order_by("pk"):
        value = 4 if verdict.criterion.key == "grade" else "v-supported"
        decide_unit(rita, verdict, value, f"Reasoned of {REOPENED}")
    for name in (REOPENED, RETURNED):
        message = f"Returned since {name} is so"
        return_task(actor=rita, project=world.project, task_id=tasks[name, "zben"].pk, message=message)
    again = Task.objects.select_related("annotator", "sample").get(pk=tasks[REOPENED, "zben"].pk)
    _say(again, agrees=True, seen=1)
    submit_task(actor=again.annotator, task_id=again.pk)
    for name, is_resolved in ((DISPUTED, False), (SKIPPED, True)):
        flag = raise_flag(
            actor=world.users["zann"], task_id=tasks[name, "zann"].pk, reason=f"Flagged that {name} is so"
        )
        if is_resolved:
            done = f"Resolved that {name} is so"
            resolve_flag(actor=world.users["aldo"], project=world.project, flag_id=flag.pk, resolution=done)
    of = {"actor": world.users["zben"], "task_id": tasks[BEGUN, "zben"].pk}
    thread = ask(**of, text=f"Asked of {BEGUN}", idempotency_key=uuid.uuid4())
    of = {"actor": aldo, "project": world.project, "thread_id": thread.pk}
    write(**of, text=f"Answered of {BEGUN}", idempotency_key=uuid.uuid4())
    GoldAnswer.objects.create(
        sample=world.samples[OPEN], unit="answer", criterion=world.criterion("grade"), value=5,
        reason=f"Known of {OPEN}", created_by=aldo,
    )  # fmt: skip
    retired = world.criterion("grade")
    retired.pk, retired.key, retired.is_current = None, "retired", False
    retired.save()
    GoldAnswer.objects.create(
        sample=world.samples[OPEN], unit="answer", criterion=retired, value=5, reason=f"Known of {OPEN}"
    )
    assert {verdict.state for verdict in Verdict.objects.filter(sample__external_id=REOPENED)} == {"reopened"}
    assert Flag.objects.count() == 2


def _tasks(batch: Batch) -> list[Task]:
    return list(batch.tasks.select_related("annotator", "sample", "batch"))


def _say(task: Task, *, agrees: bool, seen: int = 0) -> None:
    name = task.sample.external_id
    for unit in units_of(task.sample, "claim"):
        value = "v-supported" if agrees else "v-contradicted"
        say(task.annotator, task, unit, "support", value, seen=seen, comment=remark(name))
    say(task.annotator, task, "answer", "grade", 5 if agrees else 1, seen=seen, comment=remark(name))


def _finish(task: Task, *, agrees: bool) -> None:
    _say(task, agrees=agrees)
    submit_task(actor=task.annotator, task_id=task.pk)


def _score(world: Hidden) -> None:
    """One judge gives numbers to answers, another one labels to claims, each to all samples."""
    likely = [_grade(place) / 5 + place / 1000 for place in range(len(SETTLED))]
    numbers = [1 - number if place % 7 == 0 else number for place, number in enumerate(likely)]
    scored = [(name, "answer", number) for name, number in zip(SETTLED, numbers, strict=True)]
    scored += [(name, "answer", NUMBER) for name in UNDECIDED]
    add_judge(world.project, "scorer", world.samples, scored, dimension="grade")
    told = [(name, f"claim:{at}", "v-contradicted") for name in (*SETTLED, *UNDECIDED) for at in range(2)]
    version = add_judge(world.project, "labeller", world.samples, told, dimension="support")
    drawn = [{"sample": OPEN, "unit": "claim:0", "value": f"Exampled of {OPEN}"}]
    JudgeVersion.objects.filter(pk=version.pk).update(
        config={"prompt": "P", "examples": {"count": 1, "seed": 1, "drawn": drawn}}
    )
    other = JudgeVersion.objects.create(
        judge=version.judge,
        number=2,
        label="2",
        content_hash="2",
        config={"prompt": "Q", "examples": {"count": 0, "seed": 1, "drawn": []}},
    )
    add_scores(other, world.samples, [(name, unit, "v-supported") for name, unit, _ in told], dimension="support")
    for score in Score.objects.select_related("sample"):
        Score.objects.filter(pk=score.pk).update(rationale=f"Judged of {score.sample.external_id}")


def _try_out(world: Hidden) -> None:
    """An LLM judge with a run that failed of one unit and one that found something of one, a trial, and checks with
    canaries and bias probes."""
    endpoint = create_endpoint(project=world.project, name="model", base_url="http://127.0.0.1:1/v1")
    config = {"criterion": "support", "model": "m", "template": "claim_support"}
    judge: Judge = create_judge(project=world.project, name="asker", kind="llm", endpoint=endpoint.name, config=config)
    base = judge.versions.get()
    tried = JudgeVersion.objects.create(
        judge=judge, number=2, label="tried", content_hash="tried", state="trial", config=base.config,
        endpoint=base.endpoint, based_on=base,
    )  # fmt: skip
    runs = {}
    for version, label in ((base, "v-supported"), (tried, "v-contradicted")):
        runs[version.pk] = run = Run.objects.create(version=version, purpose="trial", state="done")
        for name, unit in [(name, f"claim:{at}") for name in (*SETTLED, *UNDECIDED) for at in range(2)]:
            Score.objects.create(
                version=version, run=run, sample=world.samples[name], unit=unit, dimension="support", label=label,
                rationale=f"Judged of {name}",
            )  # fmt: skip
    few = Run.objects.create(version=base, purpose="scores", state="done", scope={"samples": [DISPUTED]}, is_laid=True)
    Score.objects.create(
        version=base, run=few, sample=world.samples[DISPUTED], unit="claim:0", dimension="support", repeat=1,
        label="v-contradicted", finding="no_citation", rationale=f"Judged of {DISPUTED}",
    )  # fmt: skip
    reply = Reply.objects.create(
        project=world.project, key="k", body={"text": f"Replied of {DISPUTED}"}, model="m", latency=0.1
    )
    for name in (SETTLED[0], DISPUTED):
        Ask.objects.create(
            run=runs[tried.pk], sample=world.samples[name], unit="claim:0", state="done", status="parse_error",
            detail=f"Failed of {name}", replies=[reply.pk],
        )  # fmt: skip
    for names in ([*SETTLED, *UNDECIDED], [OPEN]):
        Trial.objects.create(
            version=tried, base=base, criterion=world.criterion("support"), dimension="support", seed=1,
            wanted=len(names), samples=names, run=runs[tried.pk],
        )  # fmt: skip
    for purpose, names in product(("canaries", "probes"), ([*SETTLED[:24], DISPUTED], [DISPUTED])):
        check = Run.objects.create(
            version=base, purpose=purpose, state="done", scope={"samples": names}, terms={"set": 1, "seed": 1},
            planned=2 * len(names), is_laid=True,
        )  # fmt: skip
        for place, name in enumerate(names):
            _check(check, world.samples[name], "v-supported" if place % 2 else "v-contradicted")


def _certify(world: Hidden) -> None:
    """The samples are too few for the judge to be permitted anything; it is, so that what follows from it is shown."""
    drawn_in_full(world.criterion("grade"))
    look = look_at_test(criterion=world.criterion("grade"), judge_name="scorer")
    decision = {**look.result["decision"], "verdict": "with_a_person"}
    people = list(Rater.objects.filter(project=world.project).values_list("pk", flat=True))
    Look.objects.update(result={**look.result, "decision": decision, "people": people})
    issue_certificate(look=look)


def _check(run: Run, sample: Sample, clean: str) -> None:
    for variant, value in ((0, clean), (1, "v-supported"), (4, "v-supported")):
        said: dict[str, Any] = {
            "unit": "claim:0", "status": "ok", "value": value, "reason": f"Judged of {sample.external_id}",
        }  # fmt: skip
        Ask.objects.create(
            run=run, sample=sample, unit="sample", repeat=variant, state="done", status="ok", outcome=[said]
        )
