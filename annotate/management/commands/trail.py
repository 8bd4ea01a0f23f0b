"""manage.py trail verify | export FILE | --head"""

from __future__ import annotations

from argparse import ArgumentParser
from itertools import chain
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotate.core.rows import snapshot
from annotate.management.base import OneLineCommand, private
from annotate.projects.chain_read import Chain, Misfit, chains, lines, misfit
from annotate.projects.read import project_named

_WORDS = {
    "changed": "entry {position} (id {id}, {action}) does not fit: it, or one before it, is not what was written",
    "missing": "entry {position} is missing",
    "ends_elsewhere": "entry {position} does not fit: the chain says that it ends elsewhere, after {length} entries",
    "not_chained": "entry with id {id} ({action}) is not in the chain: it was not written by Touchstone",
}


class Command(OneLineCommand):
    help = (
        "The hash chains of the audit log: `verify` that no entry was changed, removed or inserted; `export` all "
        "entries with their hashes, as JSON lines; `--head` prints where each chain ends, to be kept somewhere else."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("what", nargs="?", choices=["verify", "export"])
        parser.add_argument("file", nargs="?", type=Path, help="for export: a new file")
        parser.add_argument("--project", metavar="SLUG", help="only this project")
        parser.add_argument("--head", action="store_true", help="print each chain's entries and its last hash")

    def handle(self, *args: Any, what: str | None, file: Path | None, **options: Any) -> None:
        if (what is None) != options["head"] or (what == "export") != (file is not None):
            raise CommandError("Use one of: verify, export FILE, --head.", returncode=self.misused)
        with snapshot():
            project = project_named(options["project"]) if options["project"] else None
            found = chains(project)
            if file is not None:
                self._export(found, file)
                return
            wrong = []
            for one in found:
                misfitting = misfit(one) if what == "verify" else None
                if misfitting is not None:
                    wrong.append(f"{one.name}: {_in_words(misfitting)}.")
                else:
                    self.stdout.write(f"{one.name}: {one.length or 0} entries, {one.hash}")
        if wrong:
            raise CommandError("\n".join(wrong))

    def _export(self, found: list[Chain], path: Path) -> None:
        entries = 0
        try:
            with open(path, "x", encoding="utf-8", opener=private) as file:
                for line in chain.from_iterable(map(lines, found)):
                    file.write(line)
                    entries += 1
        except OSError as error:
            raise CommandError(f"Cannot write {path}: {error.strerror}.") from None
        self.stdout.write(f"{path}: {entries} entries of {len(found)} chains.")


def _in_words(found: Misfit) -> str:
    return _WORDS[found.code].format(
        position=found.position, id=found.id, action=found.action, length=found.chain.length or 0
    )
