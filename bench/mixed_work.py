"""Eight clients do everything at once against `make run`: what fails, how long each sort of work takes, and whether an
export is of one moment.

    python -m bench.mixed_work [--minutes 10] [--exports 20]

Four annotators label and submit, two to a sample; a reviewer lists disputes and decides them; one admin imports
samples and adds them to the batch, one reads reports, pages and lists and searches them, one exports, evenly spread
over the time. Each export is compared with its manifest and with itself: the hash, every count, all labels of a task
or none (with one time of submission), and every verdict against the labels beside it. In the end every acknowledged
submission is looked for in the database, and two exports of the same data must be equal.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sys
import threading
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.at_work import PATIENCE_SECONDS
from bench.import_speed import samples
from bench.label_loop import CHOICES, Client, label_of
from bench.stage import Annotator, figure, heading, make_project, own_folder, percentile, same_services
from bench.under_faults import SLUG, make_run, new_member, upload

ANNOTATORS, OVERLAP = 4, 2
API, PAGES = f"/api/projects/{SLUG}/", f"/p/{SLUG}/"
# Clients pause a little, so that the samples last.
PAUSES = (0.02, 0.2)
IMPORTED = 20
WORKER_SECONDS = 120.0
READ = {
    "report": ["reports/", "reports/support/", "reports/support/annotators/", "reports/relevancy/"],
    "page": ["", "samples/", "batches/1/", "adjudicate/"],
    "list": ["samples/", "units/?criterion=support", "batches/1/", "batches/1/tasks/", "audit/", "releases/"],
    "search": ["samples/?search=label", "units/?search=claim", "samples/?status=disputed&sort=-agreement"],
}


@dataclass
class Desk:
    """One client, in a thread. Each request is counted by its sort of work: status (0: no reply) and seconds."""

    port: int
    person: Annotator
    stop: threading.Event
    choice: random.Random
    asked: dict[str, list[tuple[int, float]]] = field(default_factory=lambda: defaultdict(list))
    refused: list[str] = field(default_factory=list)
    client: Client | None = None

    def ask(self, sort: str, method: str, path: str, data: Any = None, headers: str = "") -> bytes | None:
        """The reply's body; None for one that was refused or failed."""
        began = time.perf_counter()
        try:
            if self.client is None:
                self.client = Client(self.port, SLUG, self.person, patience=PATIENCE_SECONDS)
            status, body, _seconds = self.client.send(method, path, data, headers)
        except OSError as error:
            self.client, status, body = None, 0, str(error).encode()
        self.note(sort, status, began, f"{method} {path}: {body[:300]!r}")
        return body if 200 <= status < 300 else None

    def note(self, sort: str, status: int, began: float, what: str) -> None:
        self.asked[sort].append((status, time.perf_counter() - began))
        if not 200 <= status < 400:
            self.refused.append(f"{status} {what}")

    def turns(self) -> Iterator[int]:
        turn = 0
        while not self.stop.is_set():
            yield turn
            turn += 1
            time.sleep(self.choice.uniform(*PAUSES))


# What they do


def label(desk: Desk, submitted: dict[int, dict[tuple[str, str], Any]]) -> None:
    """The first choice is saved by itself, the others travel with the submission; as in the workspace."""
    for _turn in desk.turns():
        reply = desk.ask("next task", "POST", f"{API}work/", {})
        task = json.loads(reply)["task"] if reply else None
        if task is None:
            continue
        values: dict[str, list[Any]] = {"claim": ["supported"] * 4 + ["contradicted"], "answer": [4, 4, 4, 2]}
        said = [(unit, key, desk.choice.choice(values[unit.partition(":")[0]])) for unit, key, _value in CHOICES]
        versions = f'If-Match: "0"\r\nIdempotency-Key: {uuid.uuid4()}\r\n'
        desk.ask("label", "PUT", f"/api/tasks/{task['id']}/labels/", label_of(said[0]), versions)
        rest = [label_of(one, revision=0, key=str(uuid.uuid4())) for one in said[1:]]
        if desk.ask("submit", "POST", f"/api/tasks/{task['id']}/submit/", {"active_seconds": 9, "labels": rest}):
            submitted[task["id"]] = {(unit, key): value for unit, key, value in said}


def decide(desk: Desk) -> None:
    for _turn in desk.turns():
        reply = desk.ask("list", "GET", f"{API}disputes/")
        for unit in json.loads(reply)["results"][:5] if reply else []:
            value = "supported" if unit["criterion"] == "support" else 4
            seen = f'If-Match: "{unit["revision"]}"\r\n'
            desk.ask("decide", "PUT", f"{API}disputes/{unit['id']}/", {"value": value, "reason": "So."}, seen)


def import_samples(desk: Desk, folder: Path) -> None:
    for turn in desk.turns():
        path = folder / f"more-{turn}.jsonl"
        rows = [{**row, "id": f"more-{turn}-{row['id']}"} for row in samples(IMPORTED)]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        began = time.perf_counter()
        status, reply, wait = upload(desk.port, desk.person, path)
        desk.note("import", status, began, f"{path.name}: {reply}")
        while status in (201, 202) and reply["status"] in ("waiting", "running") and not desk.stop.is_set():
            time.sleep(0.2)
            reply = json.loads(desk.ask("import status", "GET", f"{API}imports/{reply['id']}/") or "{}") or reply
        if reply.get("status") == "done":
            chosen = {"method": "list", "samples": [row["id"] for row in rows]}
            desk.ask("extend", "POST", f"{API}batches/1/extend/", {"selection": chosen})
        desk.stop.wait(wait + 2)


def read(desk: Desk) -> None:
    for turn in desk.turns():
        sort = desk.choice.choice(list(READ))
        begin = API if sort in ("list", "search") else PAGES
        desk.ask(sort, "GET", begin + desk.choice.choice(READ[sort]))
        if turn % 100 == 50:  # asks the worker for a new report
            desk.ask("ask for a report", "POST", f"{PAGES}reports/support/")


def export(desk: Desk, every: float, wrong: list[str], known: set[tuple[str, str, str]]) -> None:
    """known: the units of the export before; each later one has them as well."""
    due = time.monotonic() + every / 2
    while not desk.stop.wait(max(0.0, due - time.monotonic())):
        due += every
        release, content = _export(desk)
        if release is None:
            wrong.append("an export that was asked for never came")
        else:
            found = [json.loads(line) for line in content.splitlines()]
            wrong += [f"release {release['number']}: {one}" for one in problems(release["manifest"], content, found)]
            units = {(row["sample_id"], row["unit"], row["criterion"]) for row in found}
            if not known <= units:
                wrong.append(f"release {release['number']} lacks {len(known - units)} units of the one before")
            known |= units


def _export(desk: Desk) -> tuple[dict[str, Any] | None, bytes]:
    everything = {"include_disputed": True, "include_single": True, "annotators": "named"}
    before = _newest(desk)
    reply = desk.ask("export", "POST", f"{API}releases/", {"format": "jsonl", "filters": everything})
    deadline = time.monotonic() + WORKER_SECONDS
    release = None
    # Of a project with many samples the worker makes it; there is no other exporter.
    while reply and release is None and time.monotonic() < deadline:
        newest = _newest(desk)
        release = newest if newest and newest["number"] > (before["number"] if before else 0) else None
        time.sleep(0.5)
    if release is None:
        return None, b""
    content = desk.ask("download", "GET", f"{API}releases/{release['number']}/file/")
    return (release, content) if content else (None, b"")


def _newest(desk: Desk) -> dict[str, Any] | None:
    reply = desk.ask("list", "GET", f"{API}releases/")
    found = json.loads(reply)["results"] if reply else []
    return found[0] if found else None


# Whether an export is of one moment


def problems(manifest: dict[str, Any], content: bytes, rows: list[dict[str, Any]]) -> Iterator[str]:
    states = Counter(row["state"] for row in rows)
    counted: dict[str, Any] = {
        "sha256": hashlib.sha256(content).hexdigest(),
        "bytes": len(content),
        "rows": len(rows),
        "verdicts": len(rows),
        "samples": len({row["sample_id"] for row in rows}),
        "methods": dict(Counter(row["method"] or row["state"] for row in rows)),
        "states": {name: states[name] for name in ("settled", "disputed", "reopened")} | {"units": len(rows)},
    }
    for name, value in counted.items():
        stated = manifest[name]
        if name == "states":
            stated = {key: stated[key] + (stated["single"] if key == "settled" else 0) for key in value}
        if stated != value:
            yield f"{name}: the manifest has {stated}, the file {value}"
    by_sample = defaultdict(list)
    for row in rows:
        by_sample[row["sample_id"]].append(row)
    for name, units in by_sample.items():
        yield from (f"{name}: {one}" for one in _of_sample(units))


def _of_sample(rows: list[dict[str, Any]]) -> Iterator[str]:
    if len(rows) != len(CHOICES):
        yield f"{len(rows)} of {len(CHOICES)} units"
    times = defaultdict(set)
    for row in rows:
        said = {
            name.removesuffix(".value"): value
            for name, value in row.items()
            if name.endswith(".value") and value is not None
        }
        for person in said:
            times[person].add(row[f"{person}.submitted_at"])
        if said != {vote["rater"]: vote["value"] for vote in row["votes"]} or len(said) != OVERLAP:
            yield f"{row['unit']}: votes {row['votes']}, labels {said}"
        agree = len(set(map(str, said.values()))) == 1
        by_rule = ("settled", "unanimous", next(iter(said.values()), None)) if agree else ("disputed", None, None)
        if row["method"] != "adjudicated" and (row["state"], row["method"], row["value"]) != by_rule:
            yield f"{row['unit']}: {row['state']}, {row['method']}, {row['value']} from {said}"
    if any(len(moments) > 1 or None in moments for moments in times.values()):
        yield f"several submissions of one task: {dict(times)}"


def lost(submitted: dict[int, dict[tuple[str, str], Any]]) -> int:
    """Acknowledged submissions that the database has otherwise, or not."""
    from annotate.models import Label, Task

    labels: dict[int, dict[tuple[str, str], Any]] = defaultdict(dict)
    for task, unit, key, value in Label.objects.values_list("task", "unit", "criterion__key", "value"):
        labels[task][unit, key] = value
    done = set(Task.objects.filter(status="submitted").values_list("pk", flat=True))
    return sum(task not in done or labels[task] != said for task, said in submitted.items())


# The run


def measure(minutes: float, exports: int, count: int) -> bool:
    """Whether nothing failed, was lost or was inconsistent."""
    with own_folder() as folder, make_run(folder) as (port, _log), same_services():
        given = {"criteria": ["relevancy", "support"], "annotators": ANNOTATORS, "overlap": OVERLAP, "folder": folder}
        people = make_project(SLUG, samples=samples(count), **given)
        admin, reviewer = new_member("admin"), new_member("reviewer")
        stop, wrong, submitted = threading.Event(), list[str](), dict[int, dict[tuple[str, str], Any]]()
        works: list[tuple[Annotator, Callable[[Desk], None]]] = [
            *((one, lambda desk: label(desk, submitted)) for one in people),
            (reviewer, decide),
            (admin, lambda desk: import_samples(desk, folder)),
            (admin, read),
            (admin, lambda desk: export(desk, minutes * 60 / exports, wrong, set())),
        ]
        desks = [Desk(port, who, stop, random.Random(number)) for number, (who, _work) in enumerate(works)]
        threads = [threading.Thread(target=work, args=[desk]) for desk, (_who, work) in zip(desks, works, strict=True)]
        heading(f"{len(desks)} clients, mixed work, {minutes:g} minutes")
        for thread in threads:
            thread.start()
        time.sleep(minutes * 60)
        stop.set()
        for thread in threads:
            thread.join()
        failed = _print(desks)
        hashes = {_export(desks[-1])[0]["manifest"]["sha256"] for _time in range(2)}  # type: ignore[index]
        missing = lost(submitted)
    figure("exports compared", str(len(desks[-1].asked["download"]) - 2))
    figure("inconsistent", f"{len(wrong)} {wrong[:3] or ''}", "0")
    figure("two exports of the same data", "equal" if len(hashes) == 1 else "differ", "equal")
    figure("submissions acknowledged, lost", f"{len(submitted):,}, {missing}", "0 lost")
    return not (failed or wrong or missing or len(hashes) > 1)


def _print(desks: list[Desk]) -> int:
    """How many requests failed: no reply, or 5xx."""
    failed = 0
    for sort in sorted({sort for desk in desks for sort in desk.asked}):
        asked = [one for desk in desks for one in desk.asked[sort]]
        statuses = Counter(status for status, _seconds in asked)
        failed += sum(n for status, n in statuses.items() if status == 0 or status >= 500)
        milliseconds = [seconds * 1000 for _status, seconds in asked] * (1 if len(asked) > 1 else 2)
        figure(sort, f"n {len(asked):,}   p95 {percentile(milliseconds, 95):,.0f} ms   {dict(statuses)}")
    for one in [one for desk in desks for one in desk.refused][:10]:
        print(f"  refused: {one}", flush=True)
    figure("no reply, or 5xx", str(failed), "0")
    return failed


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--exports", type=int, default=20)
    parser.add_argument("--samples", type=int, default=4000, help="labelled by two each")
    options = parser.parse_args()
    sys.exit(0 if measure(options.minutes, options.exports, options.samples) else 1)


if __name__ == "__main__":
    main()
