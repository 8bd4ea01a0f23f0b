"""A project of the server."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

from touchstone_client.asking import Ask, Asked, Progress, Question, answers, turns_left
from touchstone_client.files import lines_of, send_file
from touchstone_client.server import Refused, Server

if TYPE_CHECKING:
    import pandas as pd

#: Rows of one push, so that an interrupted run loses no more than these.
PART = 32
_WAIT_SECONDS = 0.5


class Client:
    """token: of *Account → API tokens*. A context manager; without `with` it is open until the process ends."""

    def __init__(self, url: str, token: str, *, timeout: float = 60.0) -> None:
        self._server = Server(url, token, timeout=timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        self._server.__exit__(*error)

    def project(self, slug: str) -> Project:
        return Project(self._server, slug)


class Project:
    """Everything raises Refused for what the server does not take, and Unreachable where it does not answer."""

    def __init__(self, server: Server, slug: str) -> None:
        self._server = server
        self.slug = slug

    def _path(self, *parts: object) -> str:
        return "/".join(["projects", self.slug, *map(str, parts)]) + "/"

    # What systems are asked, and what they said

    def push_questions(
        self, test_set: str, rows: Iterable[Mapping[str, Any]], *, replace_others: bool = False
    ) -> dict[str, Any]:
        """Questions of a test set, rows as in a questions file (docs/formats.md); returns what the import says.

        replace_others: those that are not among the rows leave the set's draft.
        """
        said = {"kind": "questions", "set": test_set, **({"replace": "1"} if replace_others else {})}
        with lines_of(rows) as file:
            return self._import(file, "questions.jsonl", said)

    def freeze(self, test_set: str) -> str:
        """The set as it is now, under its number: “support@1”. What is frozen already keeps its number."""
        name: str = self._server.post(self._path("question-sets", test_set, "freeze"))["name"]
        return name

    def questions(self, test_set: str) -> list[Question]:
        """Of a frozen set, “support@1”, as they were then, in its order."""
        name, at, number = test_set.partition("@")
        if not at or not number.isdecimal():
            raise ValueError(f"{test_set!r} is no frozen test set: name it as name@number")
        frozen = self._server.get(self._path("question-sets", name, number))
        said = {one["id"]: one["revisions"] for one in self._server.pages(self._path("questions"))}
        return [
            _question(external_id, next(one for one in said[external_id] if one["number"] == revision))
            for external_id, revision, *_hash in frozen["manifest"]["revisions"]
        ]

    def describe_version(
        self,
        name: str,
        *,
        configuration: Mapping[str, Any] | None = None,
        commit: str | None = None,
        parent_commit: str | None = None,
        tags: Sequence[str] | None = None,
        price: Mapping[str, float] | None = None,
        baseline: bool | None = None,
    ) -> None:
        """Makes the version, or describes it otherwise where there is one. What is None stays as it is."""
        said = {
            "configuration": configuration,
            "commit": commit,
            "parent_commit": parent_commit,
            "tags": tags,
            "price": price,
            "baseline": baseline,
        }
        body = {key: value for key, value in said.items() if value is not None}
        for version in self._server.get(self._path("versions"))["results"]:
            if version["name"] == name:
                self._server.request("PATCH", self._path("versions", version["pk"]), json=body)
                return
        self._server.post(self._path("versions"), {"name": name, **body})

    def push_samples(self, version: str, rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
        """Samples that a version made, rows as in a samples file, however many: all of them are imported or none.
        Returns what the import says. What is there already changes nothing."""
        with lines_of(rows) as file:
            return self._import(file, f"{version}.jsonl", {"kind": "samples", "version": version})

    def import_file(self, kind: str, path: str | Path, **said: str) -> dict[str, Any]:
        """A file of samples, labels, scores, questions, qrels or run, of any format that the server reads, and what is
        said beside it (`set`, `version`, `mapping` as JSON); returns what the import says."""
        with Path(path).open("rb") as file:
            return self._import(file, Path(path).name, {"kind": kind, **said})

    def _import(self, file: IO[bytes], name: str, said: Mapping[str, str]) -> dict[str, Any]:
        job = send_file(self._server, self._path(), file, name, said)
        while job["status"] in ("waiting", "running"):
            time.sleep(_WAIT_SECONDS)
            job = self._server.get(self._path("imports", job["id"]))
        if job["status"] != "done":
            raise Refused(422, "import_failed", "Nothing was imported.", job["errors"])
        found: dict[str, Any] = job["result"]
        return found

    def push_responses(self, version: str, rows: Iterable[Mapping[str, Any]]) -> Asked:
        """What a version said, rows as in a samples file with `question_id` (docs/formats.md).

        What is there already stays as it is: a row that says something else is dropped, and counts as `there`.
        """
        done = Asked()
        part: list[dict[str, Any]] = []

        def push() -> None:
            nonlocal done, part
            sent, part = part, []
            if sent:
                done = _added(done, self._pushed(version, sent))

        try:
            for row in rows:
                part.append(dict(row))
                if len(part) == PART:
                    push()
        finally:
            # Also of a run that is interrupted: what was answered is not lost.
            push()
        return done

    def ask(
        self,
        version: str,
        ask: Ask,
        test_set: str,
        *,
        repeats: int = 1,
        concurrency: int = 4,
        retries: int = 0,
        only_failed: bool = False,
        on_progress: Callable[[Progress], object] | None = None,
    ) -> Asked:
        """Asks a system all questions of a frozen set that the server has no response to, and pushes what it says.

        ask: a text or an Answer to a question; called in threads, `concurrency` at once. What it raises is a request
        that failed, after `retries` more tries.
        """
        if min(repeats, concurrency) < 1 or retries < 0:
            raise ValueError("repeats and concurrency are 1 or more, retries 0 or more")
        known = {
            (one["question"], one["repeat"]): one["status"]
            for one in self._server.pages(self._path("responses"), version=version, set=test_set)
        }
        questions = self.questions(test_set)
        turns = turns_left(questions, repeats, known, only_failed=only_failed)
        rows = answers(turns, ask, concurrency=concurrency, retries=retries, on_progress=on_progress)
        done = self.push_responses(version, rows)
        return replace(done, there=done.there + len(questions) * repeats - len(turns))

    def _pushed(self, version: str, part: list[dict[str, Any]]) -> Asked:
        try:
            self._server.post(self._path("responses"), {"version": version, "samples": part})
        except Refused as refused:
            # Rows are counted from 1. All other errors are the caller's.
            taken = {one["row"] for one in refused.rows if one["code"] == "conflict"}
            if not taken or len(taken) < len({one["row"] for one in refused.rows}):
                raise
            left = [row for number, row in enumerate(part, start=1) if number not in taken]
            done = self._pushed(version, left) if left else Asked()
            return replace(done, there=done.there + len(taken))
        failed = sum(row.get("status") == "failed" for row in part)
        return Asked(answered=len(part) - failed, failed=failed)

    # What people and judges said

    def ground_truth_rows(self, release: int | None = None) -> list[dict[str, Any]]:
        """The rows of a release in JSON lines; the newest of these where none is named."""
        releases = [one for one in self._server.get(self._path("releases"))["results"] if one["format"] == "jsonl"]
        numbers = [one["number"] for one in releases] if release is None else [release]
        if not numbers:
            raise LookupError(f"{self.slug} has no release in JSON lines yet")
        reply = self._server.request("GET", self._path("releases", max(numbers), "file"))
        return [json.loads(line) for line in reply.content.decode().splitlines() if line]

    def ground_truth(self, release: int | None = None) -> pd.DataFrame:
        return _table(self.ground_truth_rows(release))

    def score_rows(self, judge: str, version: int | None = None) -> list[dict[str, Any]]:
        """Of the version with this number; of the one in use where none is named."""
        found = [one for one in self._server.get(self._path("judges")) if one["name"] == judge]
        if not found:
            raise LookupError(f"{self.slug} has no judge {judge!r}")
        number = found[0]["current"] if version is None else version
        return list(self._server.pages(self._path("judges", found[0]["id"], "versions", number, "scores")))

    def scores(self, judge: str, version: int | None = None) -> pd.DataFrame:
        return _table(self.score_rows(judge, version))

    def report_rows(self, criterion: str) -> list[dict[str, Any]]:
        """The judges of the criterion's newest report, each with its kappa against annotators and its interval."""
        state = self._server.get(self._path("criteria", criterion, "report"))
        if state["number"] is None:
            raise LookupError(f"{criterion} has no report yet")
        report = self._server.get(self._path("reports", state["number"]))
        return [
            {
                "judge": one["judge"],
                "title": one["title"],
                **_figure("kappa", one["kappa"]),
                "decision": one["decision"]["verdict"],
                "report": state["number"],
                "is_out_of_date": state["is_out_of_date"],
            }
            for one in report["result"]["judges"]
        ]

    def report(self, criterion: str) -> pd.DataFrame:
        return _table(self.report_rows(criterion))

    def experiment_rows(self, name: str) -> list[dict[str, Any]]:
        """How far each version is from the baseline, on each metric: people's figure, and the judge's that they
        correct. The figures are of the data as they are; the server works them out where anything has changed."""
        figures = self._server.post(self._path("experiments", name, "figures"))["figures"]
        return [
            {
                "metric": metric["metric"],
                "role": metric["role"],
                "baseline": one["a"],
                "version": one["b"],
                **_figure("people", one["people"]),
                **_figure("corrected", one["corrected"]),
                "verdict": one["verdict"],
            }
            for metric in figures["metrics"]
            for one in metric["differences"]
        ]

    def experiment(self, name: str) -> pd.DataFrame:
        return _table(self.experiment_rows(name))


def _question(external_id: str, said: Mapping[str, Any]) -> Question:
    names = ("text", "reference", "key_facts", "relevant", "kind", "category", "earlier_turns", "metadata")
    return Question(external_id, **{name: said[name] for name in names})


def _figure(name: str, figure: Mapping[str, Any]) -> dict[str, Any]:
    return {name: figure["value"], f"{name}_low": figure["low"], f"{name}_high": figure["high"]}


def _added(one: Asked, other: Asked) -> Asked:
    return Asked(one.answered + other.answered, one.failed + other.failed, one.there + other.there)


def _table(rows: list[dict[str, Any]]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(rows)
