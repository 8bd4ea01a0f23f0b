"""A test set under a number: what it holds, that it never changes, and what the next number changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import IntegrityError, transaction

from annotate.models import AuditEntry, Project
from annotate.projects.deletion import delete_waiting
from systems.models import FrozenQuestion, FrozenSet, QuestionRevision, QuestionSet
from systems.questions.read import SetState, one_set
from tests.annotate.factories import World
from tests.systems.building import freeze, import_questions, refused

Write = Callable[..., Path]

ROWS = [
    {"id": "q1", "question": "Which port?", "type": "simple", "category": "net"},
    {"id": "q2", "question": "And TLS?", "category": "net"},
    {"id": "q3", "question": "How fast?"},
]


def test_a_set_is_frozen_with_a_manifest_and_its_hash(world: World, write: Write) -> None:
    import_questions(write("a.jsonl", ROWS))
    printed = freeze()
    frozen = FrozenSet.objects.get()
    assert printed == f"Frozen: support@1, 3 questions, SHA-256 {frozen.sha256}.\n"
    digests = [bytes(one.content_hash).hex() for one in QuestionRevision.objects.order_by("id")]
    assert frozen.manifest == {
        "set": "support@1",
        "questions": 3,
        "revisions": [["q1", 1, digests[0]], ["q2", 1, digests[1]], ["q3", 1, digests[2]]],
        "kinds": {"": 2, "simple": 1},
        "categories": {"net": 2, "": 1},
        "added": ["q1", "q2", "q3"],
        "removed": [],
        "changed": [],
    }
    canonical = json.dumps(frozen.manifest, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert frozen.sha256 == hashlib.sha256(canonical.encode()).hexdigest()
    assert [one.revision.question.external_id for one in frozen.questions.all()] == ["q1", "q2", "q3"]
    entry = AuditEntry.objects.get(action="set.frozen")
    assert (entry.subject, entry.details) == ("support@1", {"questions": 3, "sha256": frozen.sha256})


def test_freezing_what_has_not_changed_says_so(world: World, write: Write) -> None:
    import_questions(write("a.jsonl", ROWS))
    freeze()
    import_questions(write("a.jsonl", ROWS))
    assert freeze().startswith("Nothing has changed: still support@1, 3 questions")
    assert FrozenSet.objects.count() == AuditEntry.objects.filter(action="set.frozen").count() == 1


def test_the_draft_of_the_next_number_has_a_diff(world: World, write: Write) -> None:
    import_questions(write("a.jsonl", ROWS))
    freeze()
    changed = [{**ROWS[1], "reference": "Yes."}, {"id": "q4", "question": "New?"}, ROWS[0]]
    import_questions(write("b.jsonl", changed), "support", "--replace")
    state = SetState(one_set(world.project, "support"))
    assert (state.next_number, state.changes.added, state.changes.removed, state.changes.changed) == (
        2,
        ["q4"],
        ["q3"],
        ["q2"],
    )
    assert freeze().startswith("Frozen: support@2, 3 questions")
    second, first = FrozenSet.objects.all()
    assert (second.manifest["added"], second.manifest["removed"], second.manifest["changed"]) == (
        ["q4"],
        ["q3"],
        ["q2"],
    )
    assert [row[:2] for row in first.manifest["revisions"]] == [["q1", 1], ["q2", 1], ["q3", 1]]
    assert [row[:2] for row in second.manifest["revisions"]] == [["q2", 2], ["q4", 1], ["q1", 1]]


def test_an_empty_set_and_a_number_are_refused(world: World) -> None:
    QuestionSet.objects.create(project=world.project, name="support")
    assert "“support” has no questions. Import some first." in refused("freeze_set", "desk", "support")
    assert "“support@1” is frozen. Name the set without its number." in refused("freeze_set", "desk", "support@1")
    assert "Test set “none” not found in this project." in refused("freeze_set", "desk", "none")
    assert not FrozenSet.objects.exists()


@pytest.mark.parametrize("model", [FrozenSet, FrozenQuestion, QuestionRevision])
def test_the_database_keeps_what_was_frozen(world: World, write: Write, model: type) -> None:
    import_questions(write("a.jsonl", ROWS))
    freeze()
    before = list(model.objects.values())  # type: ignore[attr-defined]
    for change in (lambda rows: rows.update(id=99), lambda rows: rows._raw_delete("default")):
        with pytest.raises(IntegrityError, match="stays as it is"), transaction.atomic():
            change(model.objects.filter(pk=before[-1]["id"]))  # type: ignore[attr-defined]
    assert list(model.objects.values()) == before  # type: ignore[attr-defined]


def test_it_goes_with_its_project(world: World, write: Write) -> None:
    import_questions(write("a.jsonl", ROWS))
    freeze()
    Project.objects.filter(slug="desk").update(deleting_at="2026-01-01T00:00:00Z", deleting_by=world.alice)
    assert delete_waiting(world.project.pk)
    assert not FrozenSet.objects.exists()
    assert not QuestionRevision.objects.exists()
