"""Judges and runs of which each stands at another stage. For tests that only look at pages: nobody is woken."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from annotate.models import Project, User
from judges.models import Ask, Endpoint, Judge, JudgeVersion, Reply, Run, RunState, VersionState
from judges.services.versions import add_version, create_judge

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
