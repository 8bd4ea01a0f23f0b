"""Three hosts on one PostgreSQL, one Redis and one S3 server: nothing done twice, nothing lost.

    python -m bench.several_hosts [--samples 300] [--hosts 3]

Each host is a gunicorn, a worker and an importer with a DATA_DIR of their own, as on machines of their own. Annotators
label from one queue, two to a sample, and send every request to the next host; two reviewers decide the same disputes;
an admin starts each import on all hosts at once, and asks for reports and releases on all at once; a judge runs; an
audit is due, and a project waits to be deleted. In the middle a gunicorn, a worker and an importer are killed
(`kill -9`), each on another host, and start again. In the end everything that was acknowledged is looked for in the
database.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import threading
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import cycle
from pathlib import Path
from typing import Any

from bench.hosts import Host, Visitor, environment_of_hosts, started, wait_until
from bench.import_speed import samples
from bench.judges import llm_version
from bench.label_loop import CHOICES, label_of
from bench.mixed_work import lost
from bench.object_storage import Person
from bench.stage import (
    Annotator,
    figure,
    free_port,
    heading,
    import_rows,
    own_services,
    session_of,
)
from bench.under_faults import SLUG, new_member

ANNOTATORS, OVERLAP, REVIEWERS = 6, 2, 2
IMPORTS, IMPORTED = 6, 40
ASKED_AT_ONCE = 8
API = f"/api/projects/{SLUG}/"


# What they do


@dataclass
class Done:
    """submitted: task -> what was said. handed: to whom each task was given. decided: of each dispute how many
    decisions were acknowledged."""

    submitted: dict[int, dict[tuple[str, str], Any]] = field(default_factory=dict)
    handed: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    decided: Counter[int] = field(default_factory=Counter)


def label(visitor: Visitor, choice: random.Random, done: Done, stop: threading.Event) -> None:
    values: dict[str, list[Any]] = {"claim": ["supported"] * 4 + ["contradicted"], "answer": [4, 4, 4, 2]}
    while not stop.is_set():
        _status, reply = visitor.ask("POST", f"{API}work/", {})
        task = reply["task"]
        if task is None:
            return
        done.handed[task["id"]].add(visitor.person.user_id)
        said = [(unit, key, choice.choice(values[unit.partition(":")[0]])) for unit, key, _value in CHOICES]
        labels = [label_of(one, revision=0, key=str(uuid.uuid4())) for one in said]
        finish = {"active_seconds": 9, "labels": labels}
        if visitor.ask("POST", f"/api/tasks/{task['id']}/submit/", finish)[0] == 200:
            done.submitted[task["id"]] = {(unit, key): value for unit, key, value in said}


def decide(visitor: Visitor, done: Done, stop: threading.Event) -> None:
    while not stop.is_set():
        _status, reply = visitor.ask("GET", f"{API}disputes/")
        for unit in reply["results"][:5]:
            value = "supported" if unit["criterion"] == "support" else 4
            seen = f'If-Match: "{unit["revision"]}"\r\n'
            decision = {"value": value, "reason": "So."}
            if visitor.ask("PUT", f"{API}disputes/{unit['id']}/", decision, seen)[0] == 200:
                done.decided[unit["id"]] += 1
        stop.wait(0.1)


def at_once(ports: list[int], do: Callable[[int], Any]) -> list[Any]:
    found: list[Any] = []
    threads = [threading.Thread(target=lambda port=port: found.append(do(port))) for port in ports]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def import_and_ask(ports: list[int], session: str, folder: Path) -> None:
    """Each file is uploaded to one host and started on all; then reports and releases are asked for on all."""
    people = {port: Person(port, session) for port in ports}
    for number, port in zip(range(IMPORTS), cycle(ports), strict=False):
        path = folder / f"more-{number}.jsonl"
        rows = ({**row, "id": f"more-{number}-{row['id']}"} for row in samples(IMPORTED * (1 + 20 * (number % 2))))
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        job = _until_answered(lambda port=port, path=path: people[port].upload(path))["id"]
        at_once(ports, lambda port, job=job: _sent(people[port], f"imports/{job}/start/", {}))
        asked = {"format": "jsonl", "filters": {"include_disputed": True}}
        for what, said in (("reports/", {"criterion": "support"}), ("releases/", asked)):
            at_once(ports, lambda port, what=what, said=said: _sent(people[port], what, said))
        time.sleep(1)


def _sent(person: Person, path: str, said: Any) -> Any:
    try:
        return person.send(path, said)
    except (OSError, ValueError):
        return None  # of a host that was killed


def _until_answered(do: Callable[[], Any]) -> Any:
    while True:
        try:
            found = do()
            if "id" in found:
                return found
        except (OSError, ValueError):
            pass
        time.sleep(0.5)


def kill_some(hosts: list[Host]) -> None:
    """One process of each sort, on different hosts where there are several."""
    first, second, third = hosts[0], hosts[1 % len(hosts)], hosts[2 % len(hosts)]
    killed = [first.worker, second.web, third.importer]
    for process in killed:
        process.kill()
    time.sleep(3)
    for process in killed:
        process.start()


# What is to be found afterwards


def set_up(folder: Path, server: Any, count: int) -> tuple[list[Annotator], list[Annotator], Annotator]:
    """The project with its queue, judges, an audit that is due, and another project that is to be deleted."""
    from django.utils import timezone

    from annotate.batches.audits_write import create_schedule
    from annotate.batches.steps import open_batch
    from annotate.batches.write import create_batch
    from annotate.models import AuditSchedule, Project, User
    from annotate.models.project import Role
    from annotate.projects.write import create_project, set_member

    project = create_project(slug=SLUG, spec={"name": SLUG, "criteria": ["relevancy", "support"]})
    users = [User.objects.create_user(f"person-{number}") for number in range(ANNOTATORS)]
    for user in users:
        set_member(project=project, user=user, role=Role.ANNOTATOR)
    import_rows(project, "samples", samples(count), folder)
    batch = create_batch(
        project=project, name="First", criteria=list(project.criteria.all()), annotators=users, overlap=OVERLAP,
        selection={"method": "all"}, seed=1, strategy="pull",
    )  # fmt: skip
    open_batch(batch=batch)
    today = timezone.localdate()
    create_schedule(
        project=project, actor=None, today=today - timedelta(days=8), name="Weekly", samples=5, opens=False,
        criteria=list(project.criteria.all()), annotators=users, weekday=today.weekday(),
    )  # fmt: skip
    AuditSchedule.objects.update(next_on=today)
    doomed = create_project(slug="doomed", spec={"name": "doomed", "criteria": ["support"]})
    import_rows(doomed, "samples", samples(20), folder)
    Project.objects.filter(pk=doomed.pk).update(deleting_at=timezone.now())
    llm_version(project, server.port, at_once=ASKED_AT_ONCE)
    reviewers = [new_member("reviewer")]
    other = User.objects.create_user("second-reviewer")
    set_member(project=project, user=other, role=Role.REVIEWER)
    reviewers.append(Annotator(other.pk, session_of(other)))
    return [Annotator(user.pk, session_of(user)) for user in users], reviewers, new_member("admin")


def measure(folder: Path, count: int, number: int, judge_port: int) -> bool:
    from config.prepare import collect_static
    from tests import s3_server
    from tests.openai_server import OpenAIServer

    with ExitStack() as until_the_end:
        files = s3_server.start(folder / "s3.log")
        until_the_end.callback(files.process.stop)
        server = until_the_end.enter_context(OpenAIServer(port=judge_port, latency=0.1))
        collect_static()
        people, reviewers, admin = set_up(folder, server, count)
        hosts = [Host(f"host-{n}", folder, environment_of_hosts(**files.environment())) for n in range(number)]
        heading(f"{number} hosts, {len(people)} annotators, {count} samples twice")
        until_the_end.enter_context(started(hosts))
        ports = [host.port for host in hosts]
        done = work(hosts, count, people, reviewers, admin, folder)
        good = compare(done, server, count)
        good = is_fresh(ports, people[0], admin) and good
        said = [line for host in hosts for line in host.log.read_text(errors="replace").splitlines()]
        faults = [line for line in said if "Traceback" in line or " ERROR " in line or line.startswith("ERROR")]
        figure("errors in the logs", f"{len(faults)} {faults[:3] or ''}", "0")
    return good and not faults


def work(
    hosts: list[Host], count: int, people: list[Annotator], reviewers: list[Annotator], admin: Annotator, folder: Path
) -> Done:
    from annotate.models import ImportJob, Job, Project
    from judges.models import Run

    done, stop, ports = Done(), threading.Event(), [host.port for host in hosts]
    # Each begins with another host.
    visitors = [Visitor(cycle(ports[n % len(ports) :] + ports[: n % len(ports)]), who) for n, who in enumerate(people)]
    deciding = [Visitor(cycle(ports[n:] + ports[:n]), who) for n, who in enumerate(reviewers)]
    runner = Visitor(cycle(ports), admin)
    judge = Project.objects.get(slug=SLUG).judges.get()
    key = f"Idempotency-Key: {uuid.uuid4()}\r\n"
    scope = {"scope": {"all": True}}
    for _port in ports:  # the same request, at each of them
        runner.ask("POST", f"{API}judges/{judge.pk}/runs/", scope, key)
    began = time.monotonic()
    threads = [
        threading.Thread(target=label, args=[one, random.Random(n), done, stop]) for n, one in enumerate(visitors)
    ]
    watching = [threading.Thread(target=decide, args=[one, done, stop]) for one in deciding]
    importing = threading.Thread(target=import_and_ask, args=[ports, admin.session, folder])
    for thread in (*threads, *watching, importing):
        thread.start()
    wait_until("a third of the tasks", lambda: len(done.submitted) > count * OVERLAP / 3)
    kill_some(hosts)
    for thread in (*threads, importing):
        thread.join()
    figure("labelled in", f"{time.monotonic() - began:.0f} s")
    stop.set()
    for thread in watching:
        thread.join()
    under_way = ("waiting", "running")
    wait_until("imports", lambda: not ImportJob.objects.filter(status__in=under_way).exists())
    wait_until("reports and releases", lambda: not Job.objects.filter(status__in=under_way).exists())
    wait_until("runs", lambda: not Run.objects.filter(state="running").exists())
    wait_until("the deletion", lambda: not Project.objects.filter(slug="doomed").exists())
    refused = sum((one.refused for one in (*visitors, *deciding, runner)), Counter[str]())
    figure("sent again, to the next host", str(sum(one.unanswered for one in (*visitors, *deciding, runner))))
    figure("refused", str(dict(refused)), "only disputes that are decided (409, 412)")
    return done


def compare(done: Done, server: Any, count: int) -> bool:
    from django.core.management import CommandError, call_command

    from annotate.models import AuditEntry, ImportJob, Job, Project, Release, Sample, ScheduledAudit, Task
    from annotate.models.label import VerdictEvent
    from judges.models import AlignmentReport, Run, Score

    project = Project.objects.get(slug=SLUG)
    tasks = list(Task.objects.filter(batch__name="First").values_list("sample", "annotator", "status"))
    pairs, copies = Counter((sample, who) for sample, who, _ in tasks), Counter(sample for sample, _, _ in tasks)
    imports = ImportJob.objects.filter(project=project, created_by__isnull=False)
    rows = sum(IMPORTED * (1 + 20 * (number % 2)) for number in range(IMPORTS))
    reports = AlignmentReport.objects.filter(project=project)
    numbers = [
        sorted(model.objects.filter(project=project).values_list("number", flat=True))
        for model in (AlignmentReport, Release)
    ]
    bodies = Counter(request.body for request in server.requests)
    scored = Counter(Score.objects.values_list("version", "sample", "unit", "dimension", "repeat"))
    decisions = Counter(VerdictEvent.objects.filter(method="adjudicated").values_list("verdict", flat=True))
    wrong = {
        "tasks left, or handed out twice": sum(status != "submitted" for _, _, status in tasks)
        + sum(many > 1 for many in pairs.values())
        + sum(many != OVERLAP for many in copies.values())
        + sum(len(people) > 1 for people in done.handed.values()),
        "submissions lost": lost(done.submitted),
        "submissions of nobody": len(tasks) - len(done.submitted),
        "decisions lost, or made twice": sum(decisions[one] != times for one, times in done.decided.items()),
        "imports not done once": IMPORTS - imports.filter(status="done").count()
        + abs(AuditEntry.objects.filter(action="import.done", project=project).count() - IMPORTS - 1),
        "samples too few or too many": abs(Sample.objects.filter(project=project).count() - count - rows),
        "reports or releases not done": Job.objects.exclude(status="done").count(),
        "reports of the same data": reports.count() - reports.values("fingerprint").distinct().count(),
        "numbers left out or given twice": sum(found != list(range(1, len(found) + 1)) for found in numbers),
        "runs not done, or started twice": Run.objects.exclude(state="done").count() + Run.objects.count() - 1,
        "units scored twice": sum(many > 1 for many in scored.values()),
        "audits not made once": abs(ScheduledAudit.objects.count() - 1),
        "deletions not noted once": abs(AuditEntry.objects.filter(action="project.deleted").count() - 1),
    }  # fmt: skip
    for name, many in wrong.items():
        figure(name, str(many), "0")
    again = sum(bodies.values()) - len(bodies)
    figure(
        "requests to the judge, asked again",
        f"{sum(bodies.values()):,}, {again}",
        f"≤ {ASKED_AT_ONCE}, as one worker died",
    )
    figure("reports, releases, scores", f"{len(numbers[0])}, {len(numbers[1])}, {sum(scored.values()):,}")
    try:
        call_command("trail", "verify")
    except CommandError as error:
        print(f"  {error}")
        return False
    return not any(wrong.values()) and again <= ASKED_AT_ONCE


def is_fresh(ports: list[int], person: Annotator, admin: Annotator) -> bool:
    """Whether what one host changes counts at the others with the next request."""
    from annotate.models import User

    username = User.objects.get(pk=person.user_id).username
    seen = []
    for first, second in zip(ports, [*ports[1:], ports[0]], strict=True):
        there, here = Visitor(cycle([second]), person), Person(first, admin.session)
        before = there.ask("GET", f"{API}work/")[0]
        here.ask("DELETE", f"members/{username}/")
        after = there.ask("GET", f"{API}work/")[0]
        here.ask("PUT", f"members/{username}/", '{"role": "annotator"}', **{"Content-Type": "application/json"})
        seen.append((before, after, there.ask("GET", f"{API}work/")[0]))
    figure("a member who left and came back", str(seen), "200, 404, 200")
    return all(one == (200, 404, 200) for one in seen)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--samples", type=int, default=300, help="labelled by two each")
    parser.add_argument("--hosts", type=int, default=3)
    options = parser.parse_args()
    judge_port = free_port()
    os.environ["JUDGE_PRIVATE_HOSTS"] = f"127.0.0.1:{judge_port}"
    with own_services() as folder:
        sys.exit(0 if measure(folder, options.samples, options.hosts, judge_port) else 1)


if __name__ == "__main__":
    main()
