"""Judges and runs of which each stands at another stage. For tests that only look at pages: nobody is woken."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from annotate.core.units import units_of
from annotate.models import Project, User
from annotate.samples.read import samples_named
from judges.canaries.write import check_canaries
from judges.models import Ask, Endpoint, Judge, JudgeVersion, Reply, Run, RunState, Score, Trial, VersionState
from judges.reports.evidence import settled_on_dev
from judges.versions.write import add_version, create_judge

LONG = "w" * 90


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
    """Checks of the judge: one that is done, in which an order did something and replies failed, and one under way."""
    version = JudgeVersion.objects.filter(judge=llm).order_by("number")[0]
    done, going = (check_canaries(version=version, samples=3, seed=seed, actor=user) for seed in (1, 2))
    best, other, *_ = [option["value"] for option in version.config["options"]]
    for ask in done.asks.all():
        is_bad = ask.repeat == 9
        status = "refused" if is_bad else "ok"
        value = None if is_bad else best if ask.repeat in (1, 12) else other
        given = {"unit": ask.unit, "status": status, "value": value, "reason": f"Since it says so. {LONG}"}
        Ask.objects.filter(pk=ask.pk).update(state="done", status=status, outcome=[given])
    Run.objects.filter(pk=done.pk).update(state=RunState.DONE)
    return {"done_check": done.pk, "going_check": going.pk, "proposed_run": _proposals(version, user).pk}


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


def _first(judge: Judge) -> JudgeVersion:
    return judge.versions.get(number=1)


def _run(version: JudgeVersion, user: User, state: RunState, *, done: int, **fields: Any) -> Run:
    """Of four asks; of those that are done every second one failed."""
    run = Run.objects.create(
        version=version, purpose="scores", state=state, scope={"all": True}, planned=4, created_by=user, **fields
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
