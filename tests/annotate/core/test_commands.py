"""The commands that make projects, members and verdicts, and what they say when something is wrong."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command, get_commands, load_command_class

from annotate.management.base import OneLineCommand
from annotate.models import Criterion, Label, Membership, Project, Rater, User, Verdict
from tests.annotate.factories import World, make_samples, make_world


@pytest.fixture
def world(db: None) -> World:
    return make_world()


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


# settle


def label(world: World, number: int, criterion: Criterion, *values: object) -> None:
    sample = world.project.samples.get(external_id=f"s{number}")
    for index, value in enumerate(values):
        rater, _ = Rater.objects.get_or_create(project=world.project, name=f"crowd-{index}")
        Label.objects.create(rater=rater, sample=sample, unit="answer", criterion=criterion, value=value)


def test_settle(world: World) -> None:
    make_samples(world.project, 3)
    (grade,) = world.criteria("grade")
    for number, values in enumerate([(4, 4), (1, 5), (3,)], start=1):
        label(world, number, grade, *values)
    settle = ("settle", "desk", "--criterion", "grade", "--needed")
    assert run(*settle, "2") == "grade: 2 verdicts written or changed; now 1 units resolved, 1 disputed.\n"
    assert run(*settle, "1") == "grade: 1 verdicts written or changed; now 2 units resolved, 1 disputed.\n"
    assert run(*settle, "1") == "grade: 0 verdicts written or changed; now 2 units resolved, 1 disputed.\n"
    reopened = {"state": "reopened", "method": "adjudicated", "value": 5, "confidence": 0.5, "decided_by": world.rita}
    Verdict.objects.filter(state="disputed").update(**reopened)
    assert run(*settle, "1").endswith("now 2 units resolved, 0 disputed, 1 reopened.\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nowhere", "--criterion", "grade", "--needed", "2"), "Projects: desk, next-door"),
        (("desk", "--criterion", "x", "--needed", "2"), "has no criterion “x”"),
        (("desk", "--criterion", "grade", "--needed", "0"), "a whole number, at least 1"),
        (("desk", "--criterion", "grade"), "--needed"),
    ],
)
def test_settle_refuses(arguments: tuple[str, ...], said: str, world: World) -> None:
    with pytest.raises(CommandError, match=said):
        run("settle", *arguments)
    assert not Verdict.objects.exists()


# add_member


def test_add_member(world: World) -> None:
    assert run("add_member", "desk", "charlie", "--role", "reviewer") == "charlie is reviewer of desk.\n"
    assert run("add_member", "desk", "charlie", "--role", "annotator") == "charlie is annotator of desk.\n"
    assert Membership.objects.get(project=world.project, user=world.charlie).role == "annotator"


@pytest.mark.parametrize("staff", [False, True])
def test_add_member_makes_the_account_on_request(staff: bool, world: World) -> None:
    out = run("add_member", "desk", "alma", "--role", "admin", "--create", *(["--staff"] if staff else []))
    said, password = out.splitlines()
    assert said == "alma is admin of desk."
    alma = User.objects.get(username="alma")
    assert alma.check_password(password.removeprefix("Password (shown only once): "))
    assert (alma.is_staff, alma.is_superuser) == (staff, False)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("desk", "alma", "--role", "admin"), "No active account “alma”. Use --create"),
        (("desk", "charlie", "--role", "admin", "--create"), "Account “charlie” already exists"),
        (("desk", "charlie", "--role", "admin", "--staff"), "--staff needs --create"),
        (("desk", "charlie", "--role", "boss"), "invalid choice"),
        (("desk", "al ma", "--role", "admin", "--create"), "is not a valid user name"),
        (("desk", "crowd", "--role", "admin", "--create"), "is already used by"),
        (("nowhere", "alma", "--role", "admin", "--create"), "There is no project “nowhere”"),
        (("desk", "alice", "--role", "annotator"), "at least one admin"),
    ],
)
def test_add_member_refuses(arguments: tuple[str, ...], said: str, world: World) -> None:
    Rater.objects.create(project=world.project, name="crowd", user=world.dora)
    before = (User.objects.count(), list(Membership.objects.values()))
    with pytest.raises(CommandError, match=said):
        run("add_member", *arguments)
    assert (User.objects.count(), list(Membership.objects.values())) == before


# create_project


def project_file(folder: Path, text: str) -> str:
    path = folder / "project.json"
    path.write_text(text)
    return str(path)


def test_create_project_says_that_it_has_no_members(tmp_path: Path, db: None) -> None:
    User.objects.create_user("alma")
    file = project_file(tmp_path, '\ufeff{"criteria": ["support"]}')
    made = run("create_project", "triage", "--file", file).splitlines()
    assert made == [
        "Created project triage with 1 criteria.",
        "No members yet. Add one: manage.py add_member triage USERNAME --role admin",
    ]
    assert "Nobody" not in run("create_project", "other", "--file", file, "--admin", "alma")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"name": "A", "name": "B"}', "The key “name” comes twice"),
        ('{"criteria": [{"key": "a", "key": "b"}]}', "The key “key” comes twice"),
        ("{", "Not JSON"),
        ("[" * 100_000, "Nested more than"),
        ('["support"]', "Must be an object"),
    ],
)
def test_create_project_reads_strictly(text: str, said: str, tmp_path: Path, db: None) -> None:
    with pytest.raises(CommandError, match=said):
        run("create_project", "triage", "--file", project_file(tmp_path, text))
    assert not Project.objects.exists()


# All of them


OURS = sorted(name for name, app in get_commands().items() if app in ("annotate", "judges"))


@pytest.mark.parametrize("name", OURS)
def test_wrong_arguments_take_one_line(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = load_command_class(get_commands()[name], name)
    assert isinstance(command, OneLineCommand)
    with pytest.raises(SystemExit) as ended:
        command.run_from_argv(["manage.py", name, "--nonsense"])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith(f"manage.py {name}: ")
    assert said.count("\n") == 1
