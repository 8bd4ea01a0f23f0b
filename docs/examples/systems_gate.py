#!/usr/bin/env python3
"""May this version of the system be shipped? An experiment on a test set says, by labels and a judge that they correct.

Pushes what the version answered, has it compared with the baseline, has answers drawn for people to label the first
time, and holds the figures to gate.yaml. Only Python's standard library is needed, and ci_gate.py beside this file.
docs/ci.md explains it. In experiment.json and gate.yaml $VERSION stands for the version's name.

Exit code 0: it passes. 1: it fails. 2: nobody can tell yet, as people have not labelled enough. 3: it was not asked: a
file that cannot be read, or a server that cannot be reached.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any, NoReturn

from ci_gate import NobodyCanSay, Touchstone, push

NOT_ASKED = 3


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Not with argparse's own 2, which says something else here."""
        self.exit(NOT_ASKED, f"{self.prog}: {message}\n")


def main() -> int:
    given = _arguments()
    desk = Touchstone(given.url, given.token, given.project)
    try:
        push(desk, given.version, given.responses)
        experiment = f"experiments/{given.experiment}/"
        said = json.loads(_of_version(given.rule, given.version))
        desk.post("experiments/", {"name": given.experiment, **said})
        if given.questions and not desk.get(experiment)["draws"]:
            drawn = desk.post(f"{experiment}draw/", {"questions": given.questions, "seed": given.seed})
            print(f"Drew {drawn['questions']} questions to be labelled, in batch {drawn['batch']}.")
        desk.post(f"{experiment}figures/", {})
        found = desk.post(f"{experiment}gate/", {"gate": _of_version(given.gate, given.version)})
        _write(given.out, found)
    except (NobodyCanSay, OSError, ValueError) as reason:
        print(f"Not asked: {reason}", file=sys.stderr)
        return NOT_ASKED
    print(found["sentence"])
    return int(found["exit_code"])


def _of_version(path: Path, version: str) -> str:
    return path.read_text(encoding="utf-8").replace("$VERSION", version)


def _write(folder: Path, found: dict[str, Any]) -> None:
    """For whoever looks later: Markdown for a comment, JUnit XML for what shows tests, and all of it as JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "gate.md").write_text(found["markdown"] + "\n", encoding="utf-8")
    (folder / "gate.xml").write_text(found["junit"] + "\n", encoding="utf-8")
    (folder / "gate.json").write_text(json.dumps(found, indent=1), encoding="utf-8")


def _arguments() -> argparse.Namespace:
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default=os.environ.get("TOUCHSTONE_URL", "http://localhost:8000"))
    parser.add_argument("--project", required=True, help="its short name")
    parser.add_argument("--version", required=True, help="of the system, such as a commit")
    parser.add_argument("--responses", type=Path, required=True, metavar="FILE", help="JSONL, a response on each line")
    parser.add_argument("--experiment", required=True, metavar="NAME", help="one for each version")
    parser.add_argument("--rule", type=Path, default=Path("experiment.json"), help="what is compared, and how")
    parser.add_argument("--gate", type=Path, default=Path("gate.yaml"), help="what the version must show")
    parser.add_argument("--questions", type=int, default=0, help="draw so many to be labelled, the first time")
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    parser.add_argument("--out", type=Path, default=Path("gate"), metavar="FOLDER", help="gate.md, gate.xml, gate.json")
    given = parser.parse_args()
    given.token = os.environ.get("TOUCHSTONE_TOKEN") or parser.error("set TOUCHSTONE_TOKEN")
    return given


if __name__ == "__main__":
    sys.exit(main())
