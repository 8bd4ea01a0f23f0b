"""Prints docs/promises.md.

    python -m bench.promises [NAME …] [--runs 1.0] > docs/promises.md

NAME: modules of this package; all of them when none is named. `--runs` scales how often everything is drawn, for a
quick look. Ends with 1 when a promise was not kept.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
import textwrap
import time
from types import ModuleType

import bench.promises
from bench.promises import SEED, STATED, Promise, Row

INTRODUCTION = f"""\
# What we promise, and how often it held

Made by `python -m bench.promises > docs/promises.md`, seed {SEED}; don't edit. Each promise that a look, a certificate
or a report makes is tried in worlds of which the truth is known, drawn again and again as the product itself draws
labels. *Before* is what the version before [decision 27](decisions/0027-one-decision.md) did in such worlds. A share of
R worlds is itself uncertain; a promise counts as kept unless what was found, or worse, would be seen in less than one
of 1,000 such tries. *Stated* is what we do not promise, and show.
"""


def modules() -> list[ModuleType]:
    names = [found.name for found in pkgutil.iter_modules(bench.promises.__path__) if found.name != "__main__"]
    found = [importlib.import_module(f"bench.promises.{name}") for name in names]
    return sorted(found, key=lambda module: module.PROMISE.place)


def head(promise: Promise) -> str:
    texts = (f"**We say:** {promise.claim}", promise.worlds)
    return "\n\n".join([f"## {promise.title}", *(textwrap.fill(text, 120, break_on_hyphens=False) for text in texts)])


def section(module: ModuleType, runs: float) -> bool:
    promise, began = module.PROMISE, time.monotonic()
    rows: list[Row] = list(module.rows(runs))
    print(f"\n{head(promise)}\n")
    print("| world | before | now | promised | |\n| --- | --- | --- | --- | --- |")
    for row in rows:
        kept = "" if row.must == STATED else "kept" if row.kept else "**not kept**"
        print(f"| {row.world} | {row.before or '–'} | {row.after} | {row.must} | {kept} |")
    print(f"{promise.title}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return all(row.kept for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.promises")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--runs", type=float, default=1.0)
    options = parser.parse_args()
    print(INTRODUCTION, end="")
    chosen = [one for one in modules() if not options.names or one.__name__.rpartition(".")[2] in options.names]
    kept = [section(one, options.runs) for one in chosen]
    sys.exit(0 if all(kept) else 1)


if __name__ == "__main__":
    main()
