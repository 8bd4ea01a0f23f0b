"""What all our commands share: what is wrong with the arguments takes one line."""

from __future__ import annotations

from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandError, CommandParser


class OneLineParser(CommandParser):
    def error(self, message: str) -> NoReturn:
        if self.called_from_command_line:
            self.exit(2, f"{self.prog}: {message}\n")
        raise CommandError(f"Error: {message}")


class OneLineCommand(BaseCommand):
    """Wrong arguments: one line on stderr instead of the usage, and exit code 2."""

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        # Django names its parser's class itself; ours differs in one method only.
        parser.__class__ = OneLineParser
        return parser
