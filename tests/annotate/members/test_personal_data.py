"""The file of everything that is held about a person: all of it, no secret, and nothing of anybody else."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.db.models import ForeignKey

from annotate.core.blindness import SYSTEM, Reader
from annotate.members import personal_data
from annotate.members.personal_data import written
from annotate.members.resets import create_reset
from annotate.members.write import create_invite
from annotate.models import ApiToken, Identity, PasswordReset, SecondFactor, User, Verdict
from annotate.projects.accounts import make_token
from annotate.tasks.labelling import submit_task
from tests.annotate.factories import World, decide_unit, finish, make_samples, say
from tests.clients import as_user

pytestmark = pytest.mark.django_db


def file_of(user: User, reader: Reader = SYSTEM) -> dict[str, Any]:
    found: dict[str, Any] = json.loads("".join(written(user, reader=reader)))
    return found


def test_all_that_is_held(world: World) -> None:
    make_samples(world.project, 3)
    batch = world.batch(annotators=[world.ann, world.ben])
    first, second = batch.tasks.filter(annotator=world.ann).order_by("sample_id")[:2]
    finish(first, grade=2)
    say(world.ann, second, "answer", "grade", 3, comment="Not sure 😀")
    finish(batch.tasks.get(annotator=world.ben, sample=first.sample), grade=4)
    decide_unit(world.rita, Verdict.objects.get(state="disputed"), 4, "Ben is right about it.")
    make_token(actor=world.ann, name="pipeline")
    Identity.objects.create(user=world.ann, issuer="https://id.example", subject="s-1")
    found = file_of(world.ann)
    assert found["account"]["username"] == "ann"
    assert found["sign_in"]["tokens"][0]["name"] == "pipeline"
    assert found["sign_in"]["provider"]["subject"] == "s-1"
    assert [one["role"] for one in found["memberships"]] == ["annotator"]
    assert {one["of_sample"] for one in found["tasks"]} == {task.sample_id for task in batch.tasks.all()}
    assert len(found["labels"]) == len(found["label_changes"]) == 4
    assert [one["comment"] for one in found["labels"] if one["comment"]] == ["Not sure 😀"]
    assert [one["action"] for one in found["trail"]] == ["member.added", "token.created"]
    assert {one["table"] for one in found["named_in"]} == {"annotate_batch_annotators"}
    # What others said and decided is theirs.
    everything = json.dumps(found, ensure_ascii=False)
    for others in ("Ben is right", '"ben"', '"rita"', '"alice"', "purpose"):
        assert others not in everything
    assert file_of(world.rita)["decisions"][0]["reason"] == "Ben is right about it."


def test_what_is_still_to_label_is_held_back_from_the_person(world: World) -> None:
    """Who labels a sample a second time must not read in between what they said the first time."""
    make_samples(world.project, 2)
    first, second = world.batch(annotators=[world.ann], overlap=1).tasks.order_by("sample_id")
    finish(first)
    say(world.ann, second, "answer", "grade", 3)
    say(world.ann, second, "answer", "grade", 2, seen=1)
    shown, whole = file_of(world.ann, world.ann), file_of(world.ann)
    assert {one["of_sample"] for one in shown["labels"]} == {first.sample_id}
    assert shown["held_back"] == {"labels": 1, "label_changes": 2, "decisions": 0}
    assert len(whole["labels"]) == len(shown["labels"]) + 1
    assert set(whole["held_back"].values()) == {0}
    for claim in ("claim:0", "claim:1"):
        say(world.ann, second, claim, "support", "yes")
    submit_task(actor=world.ann, task_id=second.pk)
    again = file_of(world.ann, world.ann)
    assert (again["labels"], set(again["held_back"].values())) == (file_of(world.ann)["labels"], {0})


def test_without_secrets(world: World) -> None:
    _instance, token = make_token(actor=world.ann)
    SecondFactor.objects.create(user=world.ann, secret="SEALED-SECRET", last_step=0, recovery=["RECOVERY-DIGEST"])
    create_reset(actor=world.alice, project=world.project, user=world.ann)
    as_user(world.ann)
    text = json.dumps(file_of(world.ann))
    user = User.objects.get(pk=world.ann.pk)
    session = next(one for one in Session.objects.all() if one.get_decoded()["_auth_user_id"] == str(user.pk))
    secrets = [token, ApiToken.objects.get().digest, "SEALED-SECRET", "RECOVERY-DIGEST", user.password]
    for secret in [*secrets, PasswordReset.objects.get().token_digest, session.session_key]:
        assert secret not in text
    assert '"recovery_codes_left": 1' in text
    assert '"sessions_until": ["' in text


def test_invitations_of_others_are_not_told_to_who_writes_their_address(world: World) -> None:
    create_invite(actor=world.alice, project=world.project, role="reviewer", email="victim@example.org")
    stranger = world.charlie
    stranger.email = "victim@example.org"
    stranger.save()
    text = "".join(written(stranger, reader=stranger))
    assert json.loads(text)["invitations"] == []
    assert world.project.slug not in text
    stranger.confirmed_email = "Victim@example.org"
    stranger.save()
    assert file_of(stranger, stranger)["invitations"] == [], "of an address that the account had before"
    assert len(file_of(stranger)["invitations"]) == 1, "the operator's"
    stranger.confirmed_email = stranger.email
    stranger.save()
    assert [one["role"] for one in file_of(stranger, stranger)["invitations"]] == ["reviewer"]


def test_every_table_that_names_people_is_told(world: World) -> None:
    """What is told in its own section is told by a field that there is."""
    fields = {
        (model, field.name)
        for model in apps.get_models(include_auto_created=True)
        for field in model._meta.get_fields()
        if isinstance(field, ForeignKey) and field.related_model is User
    }
    assert fields > personal_data._TOLD


def test_by_command(world: World, tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "ann.json"
    call_command("export_account", "ann", str(path))
    assert json.loads(path.read_text(encoding="utf-8"))["account"]["username"] == "ann"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for name, where in (("nobody", tmp_path / "n.json"), ("ann", path)):
        with pytest.raises(CommandError):
            call_command("export_account", name, str(where))
