"""manage.py diagnose: its table, and one clear line on error."""

from __future__ import annotations

from manage import asks_for_help
from systems.management.commands.diagnose import Command
from tests.systems.building import command, refused
from tests.systems.diagnosis.building import GOOD, Desk, question, response


def test_the_table_has_stages_and_figures(desk: Desk) -> None:
    desk.ask(question("q1"), question("q2"))
    desk.answer(response("q1"), response("q2"))
    desk.label("q1@v7", GOOD)
    printed = command("diagnose", "rag", "--version", "v7", "--set", "support")
    lines = [line.split() for line in printed.splitlines()]
    assert ["nothing", "wrong", "1", "0.500", "[0.013,", "0.987]"] in lines
    assert ["undecided", "1", "0.500", "[0.013,", "0.987]"] in lines
    assert any(line[:2] == ["triad", "groundedness"] and line[2] == "1.000" for line in lines)


def test_what_is_not_there(desk: Desk) -> None:
    assert refused("diagnose", "rag", "--version", "v9") == "Version “v9” not found in this project."
    desk.ask(question("q1"))
    desk.answer(response("q1"))
    assert refused("diagnose", "rag", "--version", "v7", "--set", "x@1") == "Test set “x@1” not found."


def test_version_on_the_command_line_is_the_systems() -> None:
    assert not asks_for_help(["diagnose", "rag", "--version", "v7"])
    assert all(map(asks_for_help, (["--version"], ["diagnose", "-h"], ["diagnose", "--help"])))
    asked = vars(Command().create_parser("manage.py", "diagnose").parse_args(["rag", "--version", "v7"]))
    assert (asked["slug"], asked["version"], asked["by"]) == ("rag", "v7", "people")
