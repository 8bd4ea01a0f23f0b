#!/usr/bin/env python3
"""May this build of the pipeline be shipped? A certified judge says, corrected for what it gets wrong.

Pushes the build's answers, has the judge look at them, and holds the share that people would pass against a bar. Only
Python's standard library is needed. docs/ci.md explains it; copy it and change what you need.

Exit code 0: the build passes. 1: it doesn't. 2: nobody can say, because the judge can't be relied on, too little was
scored, or something is unreachable; a pipeline should stop for that as well, but not blame the build.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

PASSED, FAILED, UNKNOWN = 0, 1, 2
# Of what is pushed at once; the server takes 16 MiB.
PUSHED_BYTES = 8 * 1024 * 1024
TRIES = 4
SHOWN_FAILURES = 5


class NobodyCanSay(Exception):
    pass


class Touchstone:
    """One project over the API."""

    def __init__(self, url: str, token: str, project: str) -> None:
        self._root = f"{url.rstrip('/')}/api/projects/{urllib.parse.quote(project)}/"
        self._token = token

    def get(self, path: str, **query: Any) -> Any:
        return self._ask("GET", f"{path}?{urllib.parse.urlencode(query)}" if query else path, None, tries=TRIES)

    def post(self, path: str, body: Any, *, tries: int = 1) -> Any:
        """tries: more than one only for what may come twice."""
        return self._ask("POST", path, body, tries=tries)

    def _ask(self, method: str, path: str, body: Any, *, tries: int) -> Any:
        headers = {"Authorization": f"Token {self._token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        for attempt in range(1, tries + 1):
            request = urllib.request.Request(self._root + path, data, headers, method=method)
            try:
                with urllib.request.urlopen(request, timeout=120) as reply:
                    return json.load(reply)
            except urllib.error.HTTPError as error:
                if error.code < 500 or attempt == tries:
                    raise NobodyCanSay(f"{method} {path}: {error.code}, {_said(error)}") from error
            except (OSError, ValueError) as error:
                if attempt == tries:
                    raise NobodyCanSay(f"{method} {path}: {error}") from error
            time.sleep(2**attempt)
        raise AssertionError("unreachable")


def main() -> int:
    given = _arguments()
    desk = Touchstone(given.url, given.token, given.project)
    try:
        # First, since it costs nothing: without a certificate that holds, the rest would tell nothing.
        _require_certificate(desk, given)
        push(desk, given.build, given.samples)
        run = _judge(desk, given)
        _show_failures(desk, run)
        return _verdict(desk, given)
    except NobodyCanSay as reason:
        print(f"Nobody can say: {reason}", file=sys.stderr)
        return UNKNOWN


def _require_certificate(desk: Touchstone, given: argparse.Namespace) -> None:
    bar = {} if given.min_kappa is None else {"min_kappa": given.min_kappa}
    found = desk.get("gate/", criterion=given.criterion, judge=given.judge, **bar)
    if not found["passed"]:
        raise NobodyCanSay(found["reason"])
    print(found["reason"])


def push(desk: Touchstone, build: str, path: Path) -> None:
    """In parts. Pushing the same again changes nothing, so each part may be tried again."""
    try:
        lines = [line for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
        samples = [json.loads(line) for line in lines]
    except (OSError, ValueError) as error:
        raise NobodyCanSay(f"{path}: {error}") from error
    part: list[Any] = []
    size = created = unchanged = 0
    for number, sample in enumerate(samples, start=1):
        part.append(sample)
        size += len(json.dumps(sample))
        if size > PUSHED_BYTES or number == len(samples):
            pushed = desk.post("samples/", {"version": build, "samples": part}, tries=TRIES)
            created, unchanged = created + pushed["created"], unchanged + pushed["unchanged"]
            part, size = [], 0
    print(f"Pushed {created} samples of “{build}”; {unchanged} were there.")


def _judge(desk: Touchstone, given: argparse.Namespace) -> Any:
    """The finished run over the build's samples. What was scored already is not asked again."""
    judge = next((one for one in desk.get("judges/") if one["name"] == given.judge), None)
    if judge is None:
        raise NobodyCanSay(f"there is no judge “{given.judge}”.")
    plan: dict[str, Any] = {"scope": {"pipeline": given.build}}
    if given.budget is not None:
        plan["budget"] = given.budget
    run = desk.post(f"judges/{judge['id']}/runs/", plan)
    deadline = time.monotonic() + given.wait
    while run["state"] == "running":
        if time.monotonic() > deadline:
            desk.post(f"runs/{run['id']}/cancel/", {})
            raise NobodyCanSay(f"run {run['id']} was not done within {given.wait:g} s, and was cancelled.")
        time.sleep(given.every)
        run = desk.get(f"runs/{run['id']}/")
    progress = run["progress"]
    if run["state"] != "done":
        raise NobodyCanSay(f"run {run['id']} is {run['state']}. {run['stop_message']}")
    cost = f", {progress['cost']} {progress['currency']}" if progress["currency"] else ""
    print(f"Run {run['id']}: {progress['done']} units judged{cost}.")
    return run


def _show_failures(desk: Touchstone, run: Any) -> None:
    page = desk.get(f"runs/{run['id']}/failures/", limit=SHOWN_FAILURES)
    if page["count"]:
        print(f"{page['count']} units have no score, such as:")
    for one in page["results"]:
        print(f"  {one['sample']} {one['unit']}: {one['status']}, {one['detail']}")


def _verdict(desk: Touchstone, given: argparse.Namespace) -> int:
    asked = {"criterion": given.criterion, "judge": given.judge, "pipeline": given.build}
    found = desk.post("apply/", asked, tries=TRIES)
    coverage, rate = found["coverage"], found["corrected_pass_rate"]
    covered = coverage["scored"] / coverage["units"]
    print(
        f"{coverage['scored']} of {coverage['units']} units scored ({covered:.1%}); {_share(found['pass_rate'])} pass."
    )
    if covered < given.min_coverage:
        raise NobodyCanSay(f"{covered:.1%} of the units have a score, and {given.min_coverage:.1%} are needed.")
    if rate["low"] is None:
        raise NobodyCanSay(f"what share people would pass is unknown: {rate['reason']}.")
    passed = rate["low"] >= given.min_pass_rate
    print(f"People would pass {_share(rate)}; the bar is {given.min_pass_rate:.1%} for the lower end.")
    print("The build passes." if passed else "The build does not pass.")
    return PASSED if passed else FAILED


def _share(estimate: Any) -> str:
    if estimate["value"] is None:
        return "an unknown share"
    if estimate["low"] is None:
        return f"{estimate['value']:.1%}"
    return f"{estimate['value']:.1%} [{estimate['low']:.1%}, {estimate['high']:.1%}]"


def _said(error: urllib.error.HTTPError) -> str:
    """The API's sentence, with what it says about single rows."""
    try:
        reply = json.load(error)
        rows = [f"row {one['row']}, {one['field']}: {one['message']}" for one in reply.get("errors", [])]
        return " ".join([reply["error"]["message"], *rows[:SHOWN_FAILURES]])
    except (ValueError, KeyError, TypeError):
        return error.reason


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default=os.environ.get("TOUCHSTONE_URL", "http://localhost:8000"))
    parser.add_argument("--project", required=True, help="its short name")
    parser.add_argument("--build", required=True, help="the pipeline's version, such as a commit; without @")
    parser.add_argument("--samples", required=True, type=Path, help="JSONL: what the build answered")
    parser.add_argument("--judge", required=True)
    parser.add_argument("--criterion", required=True)
    parser.add_argument("--min-kappa", type=float, help="a bar for the judge above the one declared in the project")
    parser.add_argument("--min-pass-rate", type=float, required=True, help="the build's bar, 0 to 1")
    parser.add_argument("--min-coverage", type=float, default=0.95, help="share of the units that need a score")
    parser.add_argument("--budget", help="at which the run stops, in the endpoint's currency")
    parser.add_argument("--wait", type=float, default=1800, help="seconds until the run is given up")
    parser.add_argument("--every", type=float, default=3, help="seconds between two looks at the run")
    given = parser.parse_args()
    given.token = os.environ.get("TOUCHSTONE_TOKEN") or parser.error("set TOUCHSTONE_TOKEN")
    return given


if __name__ == "__main__":
    sys.exit(main())
