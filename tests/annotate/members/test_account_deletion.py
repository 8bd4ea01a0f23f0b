"""Deleting an account: what goes, what stays under the pseudonym, and that figures, releases and the trail hold."""

from __future__ import annotations

import base64
import hashlib
import io
import json
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction

from annotate.core.blindness import SYSTEM
from annotate.core.errors import Conflict, Invalid
from annotate.core.rows import execute
from annotate.files.lookup import RaterLookup
from annotate.files.releases import make_release, open_release
from annotate.labels.consensus import settle_samples
from annotate.members.account_deletion import consequences, delete_account
from annotate.members.write import create_invite, reactivate_member
from annotate.models import (
    ApiToken,
    AuditEntry,
    Batch,
    DeletedAccount,
    Identity,
    Label,
    Membership,
    Rater,
    Release,
    SecondFactor,
    Task,
    User,
    Verdict,
    VerdictEvent,
)
from annotate.projects.accounts import make_token
from annotate.projects.trail_read import TrailFilter, trail
from annotate.verdicts.ratings_read import votes_of
from tests.annotate.factories import World, concurrently, decide_unit, finish, make_samples, make_world
from tests.clients import as_user, client_of


@pytest.fixture
def world(transactional_db: None) -> World:
    world = make_world()
    User.objects.filter(pk=world.ann.pk).update(
        email="ann@example.org", display_name="Ann Arbor", language="en", preferences={"view": "all"}
    )
    world.ann.refresh_from_db()
    return world


@pytest.fixture
def batch(world: World) -> Batch:
    """Ann and Ben labelled two of three samples and disagree about one; Rita decided that."""
    make_samples(world.project, 3)
    batch = world.batch(annotators=[world.ann, world.ben])
    tasks = list(batch.tasks.order_by("sample_id", "annotator_id"))
    for task in tasks[:4]:
        finish(task, grade=2 if task.annotator == world.ann and task.sample_id == tasks[0].sample_id else 4)
    decide_unit(world.rita, Verdict.objects.get(state="disputed"), 4)
    return batch


def delete(user: User, actor: User | None = None) -> str:
    return delete_account(actor=actor, user=user, confirm=user.username)


def everywhere(text: str) -> set[str]:
    """The tables in which the text stands."""
    found = set()
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT 1 FROM "{table}" AS row WHERE row::text ~ %s LIMIT 1', [rf"\m{text}\M"])
            if cursor.fetchone():
                found.add(table)
    return found


def test_who_they_were_is_gone_and_what_they_said_is_not(world: World, batch: Batch) -> None:
    make_token(actor=world.ann, name="pipeline")
    Identity.objects.create(user=world.ann, issuer="https://id.example", subject="s-1")
    SecondFactor.objects.create(user=world.ann, secret="sealed", last_step=0)
    create_invite(actor=world.alice, project=world.project, role="annotator", email="Ann@example.org")
    browser = as_user(world.ann)
    labels = list(Label.objects.order_by("pk").values_list("pk", "value", "revision", "updated_at", "rater_id"))
    left = consequences(world.ann)
    assert (left.labels, left.open_tasks) == (Label.objects.filter(rater__name="ann").count(), 1)

    pseudonym = delete(world.ann, world.alice)

    user = User.objects.get(pk=world.ann.pk)
    assert (user.username, user.name, user.email, user.language, user.preferences) == (pseudonym, pseudonym, "", "", {})
    assert (user.is_active, user.has_usable_password()) == (False, False)
    for model in (ApiToken, Identity, SecondFactor):
        assert not model.objects.filter(user=user).exists()
    assert browser.get("/api/me/").status_code == 401
    assert not [one for one in Session.objects.all() if one.get_decoded().get("_auth_user_id") == str(user.pk)]
    assert labels == list(Label.objects.order_by("pk").values_list("pk", "value", "revision", "updated_at", "rater_id"))
    assert {label.rater.name for label in Label.objects.all()} == {pseudonym, "ben"}
    # The audit log's words, which are hashed, are all that is left of the names.
    assert everywhere("ann") == everywhere("Ann@example.org") == {"annotate_auditentry"}
    assert everywhere("Ann Arbor") == set()


def test_the_trail_holds_and_readers_see_the_pseudonym(world: World, batch: Batch) -> None:
    create_invite(actor=world.alice, project=world.project, role="annotator", email="Ann@example.org")
    out = io.StringIO()
    pseudonym = delete(world.ann, world.alice)
    call_command("trail", "verify", stdout=out)
    assert AuditEntry.objects.filter(subject="ann").exists(), "what was written stays"
    assert not AuditEntry.objects.filter(subject="ann", action__in=["account.deleted", "member.deactivated"]).exists()
    rows = trail(project=world.project, reader=world.alice, asked=TrailFilter(), size=200).rows
    shown = json.dumps([[row.subject, row.details, row.actor and row.actor.username] for row in rows], default=str)
    assert pseudonym in shown
    assert '"ann"' not in shown
    assert "example.org" not in shown
    told = client_of(world.alice).get("/api/projects/desk/audit/").json()
    assert '"ann"' not in json.dumps(told)


def test_votes_are_the_same_votes(world: World, batch: Batch) -> None:
    before = list(Verdict.objects.order_by("pk").values("pk", "state", "value", "revision", "updated_at", "reason"))
    events = VerdictEvent.objects.count()
    criteria = [world.criteria(key)[0] for key in ("support", "grade")]
    votes = [votes_of(one, reader=SYSTEM) for one in criteria]
    needed = dict.fromkeys(Task.objects.filter(status="submitted").values_list("sample_id", flat=True), 2)
    pseudonym = delete(world.ann)
    assert VerdictEvent.objects.count() == events
    assert settle_samples(criterion_ids=[one.pk for one in criteria], needed=needed, batch_id=batch.pk) == 0
    assert before == list(
        Verdict.objects.order_by("pk").values("pk", "state", "value", "revision", "updated_at", "reason")
    )
    renamed = [[(s, u, pseudonym if r == "ann" else r, v) for s, u, r, v in some] for some in votes]
    assert [votes_of(one, reader=SYSTEM) for one in criteria] == renamed
    said = {vote["rater"] for row in VerdictEvent.objects.all() for vote in row.votes}
    assert said == {pseudonym, "ben"}


def test_of_an_event_only_names_may_change(world: World, batch: Batch) -> None:
    for change in ("reason = 'x'", "votes = '[]'", """votes = jsonb_set(votes, '{0,value}', '5')"""):
        with pytest.raises(DatabaseError, match="refused"), transaction.atomic():
            execute(f"UPDATE annotate_verdictevent SET {change} WHERE votes <> '[]'")


def read(release: Release) -> str:
    with open_release(release) as file:
        return file.read().decode()


def test_released_files_keep_their_hash(world: World, batch: Batch) -> None:
    release = make_release(
        project=world.project, user=world.alice, file_format="jsonl", filters={"include_disputed": True}
    )
    content = read(release)
    delete(world.ann)
    release.refresh_from_db()
    assert read(release) == content
    again = make_release(
        project=world.project, user=world.alice, file_format="jsonl", filters={"include_disputed": True}
    )
    lines, now = content.splitlines(), read(again).splitlines()
    pseudonym = User.objects.get(pk=world.ann.pk).username
    assert [line.replace('"ann"', f'"{pseudonym}"') for line in lines] == now


def test_open_tasks_are_handed_on(world: World, batch: Batch) -> None:
    assert batch.tasks.filter(annotator=world.ann, status="pending").count() == 1
    delete(world.ann)
    assert not Task.objects.filter(annotator=world.ann, status__in=["pending", "in_progress"]).exists()
    member = Membership.objects.get(user=world.ann)
    assert (member.is_active, member.tags) == (False, [])


def test_the_name_is_not_given_again(world: World, batch: Batch) -> None:
    delete(world.ann)
    with pytest.raises(ValidationError, match="already exists"):
        User(username="ann", password="x").full_clean()
    with pytest.raises(CommandError, match="already exists"):
        call_command("add_member", "desk", "ann", "--role", "annotator", "--create")


def test_digests_of_names_take_the_key(world: World, settings: Any) -> None:
    delete(world.ann)
    (deleted,) = DeletedAccount.objects.all()
    names = ("ann", "ann@example.org")
    assert deleted.former == sorted(map(DeletedAccount.digest, names))
    assert User(username="ann").has_former_name()
    plain = [hashlib.sha256(name.encode()).digest() for name in names]
    spelt = {text for one in plain for text in (one.hex(), base64.urlsafe_b64encode(one).decode().rstrip("="))}
    assert not spelt & {*deleted.former}
    settings.SECRET_KEY = "another one, of another installation"
    assert not User(username="ann").has_former_name()


def test_a_file_of_before_names_the_same_rater(world: World, batch: Batch) -> None:
    rater = Rater.objects.get(user=world.ann)
    delete(world.ann)
    lookup = RaterLookup(world.project)
    assert (lookup.id_of("ann"), lookup.created) == (rater.pk, 0)


def test_there_is_no_way_back(world: World) -> None:
    pseudonym = delete(world.ann)
    with pytest.raises(Conflict):
        reactivate_member(actor=world.alice, project=world.project, user=User.objects.get(pk=world.ann.pk))
    with pytest.raises(Conflict):
        delete(User.objects.get(username=pseudonym))
    reply = client_of(world.alice).put(f"/api/projects/desk/members/{pseudonym}/", {"role": "admin"}, format="json")
    assert reply.status_code == 404


def test_without_the_name_typed_nothing_goes(world: World) -> None:
    with pytest.raises(Invalid):
        delete_account(actor=None, user=world.ann, confirm="Ann")
    assert not DeletedAccount.objects.exists()


def test_a_project_keeps_an_admin(world: World) -> None:
    with pytest.raises(Conflict, match="Support desk"):
        delete(world.alice)
    assert User.objects.filter(username="alice", is_active=True).exists()


def test_of_two_superusers_who_delete_each_other_one_stays(world: World) -> None:
    User.objects.filter(pk__in=[world.ann.pk, world.ben.pk]).update(is_superuser=True)
    told = concurrently(*(lambda user=user: delete(User.objects.get(pk=user.pk)) for user in (world.ann, world.ben)))
    assert sum(isinstance(one, Conflict) for one in told) == 1, told
    assert User.objects.filter(is_superuser=True, is_active=True).count() == 1


def test_by_command(world: World, batch: Batch, capsys: Any) -> None:
    call_command("delete_account", "ann")
    assert "Nothing was deleted" in capsys.readouterr().out
    assert User.objects.filter(username="ann").exists()
    for wrong in (["nobody"], ["ann", "--confirm", "ben"], ["alice", "--confirm", "alice"]):
        with pytest.raises(CommandError):
            call_command("delete_account", *wrong)
    call_command("delete_account", "ann", "--confirm", "ann")
    assert "deleted-" in capsys.readouterr().out
    assert not User.objects.filter(username="ann").exists()
