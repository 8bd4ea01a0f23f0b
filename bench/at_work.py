"""Annotators at work in threads: each keeps to what the workspace does, and every label is in a journal before it is
sent, and again when the server has acknowledged it."""

from __future__ import annotations

import json
import random
import threading
import time
import urllib.error
import urllib.request
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.label_loop import Client
from bench.stage import Annotator, figure

# A person reads before choosing: twenty of them choose about twenty labels a second.
PAUSES = (0.5, 1.5)
PATIENCE_SECONDS = 20.0
# A browser tries for ever; this gives up after about twenty minutes, and says so.
FIRST_RETRY, LAST_RETRY, TRIES = 1.0, 30.0, 40


class Journal:
    """What was sent and what was acknowledged, a line each, written before anything else happens."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", buffering=1, encoding="utf-8")
        self._lock = threading.Lock()
        self._path = path

    def write(self, what: str, **about: Any) -> None:
        with self._lock:
            self._file.write(json.dumps({"what": what, "at": time.monotonic(), **about}) + "\n")

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._path.read_text(encoding="utf-8").splitlines()]


@dataclass
class Labelling:
    """One annotator at work in a thread: chooses, is acknowledged, submits, goes on to the next task."""

    port: int
    slug: str
    annotator: Annotator
    journal: Journal
    stop: threading.Event
    choice: random.Random
    client: Client | None = None
    refused: list[str] = field(default_factory=list)

    def work(self) -> None:
        task, following = self._ask_for_work()
        while not self.stop.is_set():
            if task is None:
                self.journal.write("finished")  # every sample, before the fault was over
                return
            value = self.choice.randint(1, 5)
            key = str(uuid.uuid4())
            self.journal.write("chosen", key=key, task=task, value=value)
            label = {"unit": "answer", "criterion": "relevancy", "value": value, "comment": "", "evidence": []}
            versions = f'If-Match: "0"\r\nIdempotency-Key: {key}\r\n'
            self._until_answered("label", key, "PUT", f"/api/tasks/{task}/labels/", label, versions)
            finish = {"active_seconds": 3, "exclude": [following] if following else []}
            reply = self._until_answered("finish", key, "POST", f"/api/tasks/{task}/submit/", finish)
            if reply is None:
                task, following = self._ask_for_work()
            else:
                task, following = following, (reply["next"] or {}).get("id")
            time.sleep(self.choice.uniform(*PAUSES))

    def _ask_for_work(self) -> tuple[int | None, int | None]:
        ids: list[int] = []
        while len(ids) < 2:
            reply = self._until_answered("work", "", "POST", f"/api/projects/{self.slug}/work/", {"exclude": ids})
            if reply is None or reply["task"] is None:
                break
            ids.append(reply["task"]["id"])
        first, second = [*ids, None, None][:2]
        return first, second

    def _until_answered(self, what: str, key: str, method: str, path: str, data: Any = None, headers: str = "") -> Any:
        """The reply's JSON; None for one that was refused. What the workspace's outbox does."""
        failures = 0
        while True:
            status, body, seconds = self._send(method, path, data, headers)
            self.journal.write("reply", to=what, key=key, status=status, seconds=seconds)
            if status == 200:
                if what == "label":
                    self.journal.write("acknowledged", key=key, revision=json.loads(body)["revision"], tries=failures)
                return json.loads(body)
            if 400 <= status < 500 and status not in (408, 429):
                self.refused.append(f"{method} {path}: {status} {body[:200]!r}")
                return None
            wait = min(LAST_RETRY, FIRST_RETRY * 2**failures) * self.choice.uniform(0.75, 1.25)
            failures += 1
            if failures > TRIES:
                return None
            time.sleep(wait)

    def _send(self, method: str, path: str, data: Any, headers: str) -> tuple[int, bytes, float]:
        """Status 0: no reply."""
        began = time.perf_counter()
        try:
            if self.client is None:
                self.client = Client(self.port, self.slug, self.annotator, patience=PATIENCE_SECONDS)
            return self.client.send(method, path, data, headers)
        except OSError:
            self.client = None
            return 0, b"", time.perf_counter() - began


def desks_of(port: int, slug: str, people: list[Annotator], folder: Path) -> list[Labelling]:
    """One for each, with one journal and one end."""
    journal, stop = Journal(folder / "journal.jsonl"), threading.Event()
    return [Labelling(port, slug, one, journal, stop, random.Random(number)) for number, one in enumerate(people)]


@contextmanager
def at_work(desks: list[Labelling]) -> Iterator[None]:
    threads = [threading.Thread(target=desk.work) for desk in desks]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        desks[0].stop.set()
        for thread in threads:
            thread.join()


@dataclass
class Health:
    """`/readyz`, asked ten times a second: (when, status or 0, seconds, the whole reply)."""

    port: int
    stop: threading.Event
    answers: list[tuple[float, int, float, dict[str, Any]]] = field(default_factory=list)

    def watch(self) -> None:
        while not self.stop.is_set():
            began = time.monotonic()
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=PATIENCE_SECONDS) as reply:
                    found = (reply.status, json.loads(reply.read()))
            except urllib.error.HTTPError as error:
                found = (error.code, json.loads(error.read() or b"{}"))
            except OSError:
                found = (0, {})
            self.answers.append((began, found[0], time.monotonic() - began, found[1]))
            self.stop.wait(0.1)

    def all_well_after(self, moment: float) -> float | None:
        """Seconds until everything answered again."""
        later = [one for one in self.answers if one[0] >= moment]
        ill = [n for n, one in enumerate(later) if not (one[3].get("database") and one[3].get("redis"))]
        after = (ill[-1] + 1) if ill else 0
        return None if after >= len(later) else later[after][0] + later[after][2] - moment


def compare(lines: list[dict[str, Any]], refused: list[str]) -> bool:
    """The journal against the database."""
    from django.db import connection

    from annotate.models import Label, LabelEvent

    connection.close()  # the server that it was made to may have been killed
    chosen = {line["key"]: line for line in lines if line["what"] == "chosen"}
    acknowledged = {line["key"]: line["revision"] for line in lines if line["what"] == "acknowledged"}
    events = Counter(str(key) for key in LabelEvent.objects.values_list("idempotency_key", flat=True))
    of_task = Counter(LabelEvent.objects.values_list("label__task", flat=True))
    stored = {task: (value, number) for task, value, number in Label.objects.values_list("task", "value", "revision")}
    lost = [key for key in acknowledged if not events[key]]
    expected = {key: (chosen[key]["value"], revision) for key, revision in acknowledged.items()}
    other = [key for key, pair in expected.items() if stored.get(chosen[key]["task"]) != pair]
    doubled = [key for key, choice in chosen.items() if of_task[choice["task"]] > 1]
    never = [key for key in chosen if key not in acknowledged]
    figure("acknowledged", f"{len(acknowledged):,} of {len(chosen):,} chosen")
    figure("lost", str(len(lost)), "0")
    figure("stored otherwise than chosen", str(len(other)), "0")
    figure("stored twice", str(len(doubled)), "0")
    figure("never acknowledged", str(len(never)), "0")
    figure("refused", f"{len(refused)} {refused[:3] or ''}", "0")
    return not (lost or other or doubled or never or refused)
