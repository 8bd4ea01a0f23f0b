"""The trail's hash chains: they hold whoever writes at once, and what somebody does to the table is found."""

from __future__ import annotations

import hashlib
import importlib
import io
import json
import re
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.db.models import F
from django.utils import timezone

from annotate.core.rows import execute, fetch_one
from annotate.core.trail import note
from annotate.models import AuditChain, AuditEntry, Flag, Project, User
from annotate.projects.accounts import make_token
from annotate.projects.deletion import delete_waiting
from annotate.projects.write import set_member
from tests.annotate.factories import World, concurrently, make_sample, make_world, rewriting_history

EACH = 12


@pytest.fixture
def world(transactional_db: None) -> World:
    world = make_world()
    make_token(actor=world.alice, name="pipeline")
    return world


def trail(*arguments: str) -> str:
    out = io.StringIO()
    call_command("trail", *arguments, stdout=out)
    return out.getvalue()


def found(*arguments: str) -> str:
    with pytest.raises(CommandError) as refused:
        trail("verify", *arguments)
    return str(refused.value)


def positions(project: Project | None) -> list[int | None]:
    return list(AuditEntry.objects.filter(project=project).order_by("id").values_list("position", flat=True))


# Written


def test_every_entry_is_chained_when_its_transaction_ends(world: World) -> None:
    assert positions(world.project) == [*range(1, 10)]
    assert positions(None) == [1]
    assert AuditEntry.objects.exclude(hash="").count() == AuditEntry.objects.count()
    heads = {one.project_id: (one.length, one.hash) for one in AuditChain.objects.all()}
    assert heads[world.project.pk] == (9, AuditEntry.objects.get(project=world.project, position=9).hash)
    assert trail("verify") == trail("--head")
    assert [line.split(":")[0] for line in trail("--head").splitlines()] == ["(installation)", "desk", "next-door"]
    assert trail("verify", "--project", "desk").startswith("desk: 9 entries, ")


def test_what_is_taken_back_is_no_link(world: World) -> None:
    with transaction.atomic():
        note(actor=None, action="x.kept", subject="1", project=world.other)
        note(actor=None, action="x.kept", subject="2", project=world.project)
        with transaction.atomic():
            note(actor=None, action="x.gone", subject="3", project=world.project)
            transaction.set_rollback(True)
        note(actor=None, action="x.kept", subject="4")
        note(actor=None, action="x.kept", subject="5", project=world.project)
    assert positions(world.project) == [*range(1, 12)]
    trail("verify")


def test_the_rule_is_the_one_of_yesterday(world: World) -> None:
    """Entries that were hashed by another rule would not fit: this one never changes."""
    odd = {"b": 1.50, "a": [None, True, 'é\n"“中文” \U0001f600'], "large": 1e22, "small": 1e-7}
    note(actor=None, action="x.y", subject="1", project=world.project, **odd)
    row = AuditEntry.objects.latest("id")
    content = (
        f'{{"at": "{row.created_at:%Y-%m-%dT%H:%M:%S.%fZ}", "id": {row.pk}, "actor": null, "action": "x.y", '
        '"details": {"a": [null, true, "é\\n\\"“中文” \U0001f600"], "b": 1.5, "large": 10000000000000000000000, '
        f'"small": 0.0000001}}, "project": {world.project.pk}, "subject": "1"}}'
    )
    before = AuditEntry.objects.get(project=world.project, position=9).hash
    assert row.hash == hashlib.sha256(f"{before}\n{content}".encode()).hexdigest()
    trail("verify")


def test_eight_at_once_wait_for_nothing_but_their_turn(world: World) -> None:
    """Half of them hold a row to which the others refer after they noted something, and note it in another order."""
    sample = make_sample(world.project)
    chains = (world.project, None, world.other)
    before = [len(positions(project)) for project in chains]

    def work(number: int) -> Callable[[], None]:
        def call() -> None:
            for turn in range(EACH):
                with transaction.atomic():
                    if number % 2:
                        User.objects.select_for_update().get(pk=world.ann.pk)
                    for project in chains if number % 4 < 2 else reversed(chains):
                        note(actor=world.alice, action="x.y", subject=f"{number}/{turn}", project=project)
                    Flag.objects.create(project=world.project, sample=sample, raised_by=world.ann, reason="r")

        return call

    assert concurrently(*(work(number) for number in range(8))) == 8 * [None]
    trail("verify")
    for project, length in zip(chains, before, strict=True):
        assert set(positions(project)) == {*range(1, 8 * EACH + length + 1)}


def test_admins_at_once(world: World) -> None:
    roles = ("annotator", "reviewer", "admin")
    people = (world.ann, world.ben, world.chen, world.charlie)

    def work(number: int) -> Callable[[], None]:
        def call() -> None:
            for turn in range(EACH):
                project = (world.project, world.other)[number % 2]
                person = people[(number // 2 + turn) % 4]
                set_member(actor=world.alice, project=project, user=person, role=roles[(turn + number) % 3])

        return call

    assert concurrently(*(work(number) for number in range(8))) == 8 * [None]
    trail("verify")


# Found


def change(statement: str, *parameters: Any) -> None:
    """By somebody who may do what they like in the database."""
    with rewriting_history():
        assert execute(statement, parameters)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("""UPDATE annotate_auditentry SET details = '{"role": "annotator"}' WHERE position = 2 AND project_id = %s""",
         r"desk: entry 2 \(id \d+, [a-z.]+\) does not fit"),
        (("UPDATE annotate_auditentry SET created_at = created_at - interval '1 second'"
         " WHERE position = 3 AND project_id = %s"), r"desk: entry 3 \(id \d+, [a-z.]+\) does not fit"),
        ("UPDATE annotate_auditentry SET actor_id = NULL WHERE position = 1 AND project_id = %s",
         r"desk: entry 1 \(id \d+, [a-z.]+\) does not fit"),
        ("DELETE FROM annotate_auditentry WHERE position = 1 AND project_id = %s", "desk: entry 1 is missing"),
        ("DELETE FROM annotate_auditentry WHERE position = 4 AND project_id = %s", "desk: entry 4 is missing"),
        ("DELETE FROM annotate_auditentry WHERE position = 9 AND project_id = %s",
         "desk: entry 9 does not fit: the chain says that it ends elsewhere, after 9 entries"),
        ("DELETE FROM annotate_auditentry WHERE project_id = %s", "desk: entry 1 does not fit"),
        ("DELETE FROM annotate_auditchain WHERE project_id = %s", "desk: entry 10 does not fit"),
        # Two change places: all that they say, or where they stand.
        (("UPDATE annotate_auditentry e SET subject = o.subject, details = o.details FROM annotate_auditentry o"
         " WHERE e.project_id = %s AND o.project_id = e.project_id AND e.position + o.position = 5"
         " AND e.position IN (2, 3)"), r"desk: entry 2 \(id \d+, [a-z.]+\) does not fit"),
        (("INSERT INTO annotate_auditentry (project_id, action, subject, details, created_at)"
         " VALUES (%s, 'x.y', 's', '{}', now())"), r"desk: entry with id \d+ \(x.y\) is not in the chain"),
        (("INSERT INTO annotate_auditentry (project_id, action, subject, details, created_at, position, hash)"
         " SELECT project_id, action, 's', details, created_at, 10, hash FROM annotate_auditentry"
         " WHERE project_id = %s AND position = 9"), r"desk: entry 10 \(id \d+, [a-z.]+\) does not fit"),
    ],
)  # fmt: skip
def test_what_is_done_to_a_row_is_found(world: World, statement: str, said: str) -> None:
    change(statement, world.project.pk)
    assert re.match(said, found()), found()
    assert found("--project", "desk") == found()
    trail("verify", "--project", "next-door")


def test_two_rows_that_change_places_are_found(world: World) -> None:
    second, third = AuditEntry.objects.filter(project=world.project, position__in=(2, 3)).order_by("position")
    with rewriting_history():
        for row, position, of in ((second, 99, second), (third, 2, second), (second, 3, third)):
            AuditEntry.objects.filter(pk=row.pk).update(position=position, hash=of.hash)
    assert found().startswith(f"desk: entry 2 (id {third.pk}, ")


def end_at(world: World, position: int) -> None:
    execute(
        "UPDATE annotate_auditchain c SET length = e.position, hash = e.hash FROM annotate_auditentry e"
        " WHERE c.project_id = %(project)s AND e.project_id = c.project_id AND e.position = %(position)s",
        {"project": world.project.pk, "position": position},
    )


def test_a_row_between_two_is_found_though_its_own_hash_fits(world: World) -> None:
    """All after it move on by one, and the chain ends with the last of them."""
    later = AuditEntry.objects.filter(project=world.project, position__gt=2)
    with rewriting_history():
        later.update(position=F("position") + 100)
        later.update(position=F("position") - 99)
    end_at(world, 2)
    note(actor=world.alice, action="x.y", subject="s", project=world.project)
    assert positions(world.project) == [1, 2, *range(4, 11), 3]
    end_at(world, 10)
    assert found().startswith("desk: entry 4 (")


def test_what_is_added_by_the_usual_way_bears_the_time_of_now(world: World) -> None:
    before = timezone.now()
    execute(
        "INSERT INTO annotate_auditentry (project_id, action, subject, details, created_at, position)"
        " VALUES (%s, 'x.y', 's', '{}', '2020-01-01', 0)",
        [world.project.pk],
    )
    assert AuditEntry.objects.latest("id").created_at >= before
    trail("verify")


def test_an_entry_that_waits_for_its_place_is_not_rewritten(world: World) -> None:
    for change in ("subject = 's'", "created_at = '2020-01-01'", "project_id = NULL"):
        with transaction.atomic():
            note(actor=None, action="x.y", subject="1", project=world.project)
            with pytest.raises(DatabaseError, match="is refused"), transaction.atomic():
                execute(f"UPDATE annotate_auditentry SET {change} WHERE position = 0")


# Kept


def test_a_person_with_another_name(world: World) -> None:
    User.objects.filter(pk=world.alice.pk).update(username="person-7")
    trail("verify")


def test_a_deleted_project_ends_in_the_installations_chain(world: World) -> None:
    length, end = AuditChain.objects.values_list("length", "hash").get(project=world.project)
    Project.objects.filter(pk=world.project.pk).update(deleting_at=timezone.now(), deleting_by=world.alice)
    assert delete_waiting(world.project.pk)
    trail("verify")
    assert [line.split(":")[0] for line in trail("--head").splitlines()] == ["(installation)", "next-door"]
    deleted = AuditEntry.objects.get(action="project.deleted")
    assert (deleted.position, deleted.details["trail"]) == (2, {"length": length, "hash": end})


# Checked by others


def documented(path: Path) -> subprocess.CompletedProcess[str]:
    """What the script in docs/operations.md says of the file."""
    text = (settings.BASE_DIR / "docs" / "operations.md").read_text()
    (script,) = re.findall(r"```python\n(.*?)```", text[text.index("## The audit log") :], re.DOTALL)
    return subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, check=False)


def test_a_file_is_checked_without_touchstone(world: World, tmp_path: Path) -> None:
    path = tmp_path / "trail.jsonl"
    note(actor=world.alice, action="x.y", subject="“中文”\u2028\n\x85", project=world.project)
    assert trail("export", str(path)) == f"{path}: {AuditEntry.objects.count()} entries of 3 chains.\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    said = documented(path)
    assert (said.returncode, said.stderr) == (0, "")
    heads = {str(one.project_id): f"{one.length} entries, {one.hash}" for one in AuditChain.objects.all()}
    assert dict(line.split(": ") for line in said.stdout.splitlines()) == heads
    lines = path.read_text().split("\n")[:-1]
    first = json.loads(lines[1])
    assert (first["project"], first["actor"]) == ("desk", "alice")
    assert json.loads(first["content"])["action"] == "project.created"
    for wrong in (
        [lines[0], lines[1].replace("project.created", "project.changed"), *lines[2:]],
        [*lines[:3], *lines[4:]],
        [*lines[:3], lines[4], lines[3], *lines[5:]],
        [*lines[:3], lines[2], *lines[3:]],
    ):
        path.write_text("\n".join([*wrong, ""]))
        said = documented(path)
        assert said.returncode == 1
        assert "does not fit" in said.stderr


def test_of_one_project(world: World, tmp_path: Path) -> None:
    path = tmp_path / "trail.jsonl"
    assert trail("export", str(path), "--project", "desk") == f"{path}: 9 entries of 1 chains.\n"
    assert documented(path).returncode == 0
    # Never over another one.
    with pytest.raises(CommandError, match=r"trail.jsonl: File exists\.$"):
        trail("export", str(path))


@pytest.mark.parametrize(
    "arguments", [(), ("verify", "f"), ("export",), ("verify", "--head"), ("export", "f", "--head")]
)
def test_misused(arguments: tuple[str, ...]) -> None:
    with pytest.raises(CommandError, match=r"Use one of: verify, export FILE, --head\."):
        trail(*arguments)


# Of before


def test_entries_of_before_are_chained_in_their_order_and_what_was_interrupted_goes_on(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    migration: Any = importlib.import_module("annotate.migrations.0034_chain_entries_of_before")
    monkeypatch.setattr(migration, "_NEXT", migration._NEXT.replace(f"LIMIT {migration._BATCH}", "LIMIT 7"))
    monkeypatch.setattr(migration, "_BATCH", 7)
    with transaction.atomic():
        for number in range(40):
            note(actor=None, action="x.y", subject=str(number), project=(world.project, None)[number % 2])
    expected = trail("--head")
    for chained in (0, 3):
        with rewriting_history():
            execute("UPDATE annotate_auditentry SET position = NULL, hash = '' WHERE position > %s", [chained])
            execute("UPDATE annotate_auditchain SET length = %s WHERE length > %s", [chained, chained])
            execute(
                "UPDATE annotate_auditchain c SET hash = coalesce((SELECT hash FROM annotate_auditentry e WHERE"
                " e.project_id IS NOT DISTINCT FROM c.project_id AND e.position = c.length), '')"
            )
        assert fetch_one("SELECT count(*) FROM annotate_auditentry WHERE position IS NULL")[0] > 40
        migration._chain_all(None, connection.schema_editor(atomic=False))
        assert trail("verify") == expected
