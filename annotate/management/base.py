"""What all our commands share: wrong arguments and refusals take one line."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, ClassVar, NoReturn

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotate.core.bodies import MIB, USUAL
from annotate.core.errors import Refusal, StorageError
from annotate.files.problems import RowError
from annotate.files.strict_json import parse_document


def described_in(path: Path) -> Any:
    """What the JSON of a file describes: a project, a judge, an experiment. Raises CommandError."""
    try:
        with path.open("rb") as file:
            raw = file.read(USUAL + 1)
        if len(raw) > USUAL:
            raise CommandError(f"{path}: larger than {USUAL // MIB} MiB.")
        return parse_document(raw)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}.") from error
    except RowError as error:
        where = f"{error.field}: " if error.field else ""
        raise CommandError(f"{path}: {where}{error.message}") from error


def private(path: str, flags: int) -> int:
    """The opener of a new file that only its owner may read."""
    return os.open(path, flags, 0o600)


class OneLineParser(CommandParser):
    misused: int

    def error(self, message: str) -> NoReturn:
        if self.called_from_command_line:
            self.exit(self.misused, f"{self.prog}: {message}\n")
        raise CommandError(f"Error: {message}", returncode=self.misused)


class OneLineCommand(BaseCommand):
    """Wrong arguments: one line on stderr, without the usage, and exit code `misused`. A refusal: its message on
    stderr, and exit code `refused`."""

    refused: ClassVar[int] = 1
    misused: ClassVar[int] = 2

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        # Django names its parser's class itself; ours differs in one method only.
        parser.__class__ = OneLineParser
        assert isinstance(parser, OneLineParser)
        parser.misused = self.misused
        return parser

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            return super().execute(*args, **options)
        except Refusal as refusal:
            raise CommandError(refusal.message, returncode=self.refused) from refusal
        except StorageError as error:
            raise CommandError(str(error), returncode=self.refused) from error
