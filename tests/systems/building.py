"""Questions and responses, brought in by the commands that an engineer uses."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command


def command(name: str, *arguments: Any) -> str:
    """What the command prints."""
    out = StringIO()
    call_command(name, *map(str, arguments), stdout=out, stderr=StringIO())
    return out.getvalue()


def refused(name: str, *arguments: Any) -> str:
    """What the command says of its input that it does not take: all problems, then why it ended."""
    err = StringIO()
    with pytest.raises(CommandError) as error:
        call_command(name, *map(str, arguments), stdout=StringIO(), stderr=err)
    return f"{err.getvalue()}{error.value}"


def import_questions(path: Path, set_name: str = "support", *options: str) -> str:
    return command("import_questions", "desk", set_name, path, *options)


def freeze(set_name: str = "support") -> str:
    return command("freeze_set", "desk", set_name)
