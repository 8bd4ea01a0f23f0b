"""Every saved text of the guidelines is a version, and labels say under which they were made."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext

from annotate.batches.criterion_change_read import Choices
from annotate.batches.relabelling import change_criterion
from annotate.core import walking
from annotate.core.errors import Invalid, Stale
from annotate.core.walking import Counted
from annotate.files.releases import make_release, open_release
from annotate.labels.under_guidelines_read import Under, first_labels_by_version, labels_by_version
from annotate.models import AuditEntry, GuidelineVersion, Label, Membership, Project, Task
from annotate.projects.guidelines import MAX_LINES, MAX_NOTE, MAX_TEXT, change_guidelines, note_seen
from annotate.projects.guidelines_read import guideline_news, newest_version, versions_of
from annotate.projects.write import change_project
from annotate.tasks.labelling import submit_task
from judges.endpoints.duplicate import duplicate_project
from tests.annotate.factories import GRADE, World, finish, make_sample, make_world, say
from tests.clients import as_user
from tests.plans import nodes, plan_of


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> World:
    world = make_world()
    make_sample(world.project)
    world.batch(annotators=[world.ann, world.ben])
    return world


@pytest.fixture
def task(world: World) -> Task:
    return Task.objects.get(annotator=world.ann)


def numbers(world: World) -> list[tuple[int, str, str]]:
    return [(version.number, version.text, version.note) for version in versions_of(world.project)]


def write(world: World, text: str, **more: Any) -> GuidelineVersion:
    return change_guidelines(actor=world.alice, project=world.project, text=text, **more)


def test_a_new_project_begins_with_version_1_and_each_other_text_is_the_next(world: World) -> None:
    assert numbers(world) == [(1, "", "")]
    write(world, "Read *all*.", note="  First rules. ")
    write(world, "Read *all*.", note="Nothing changed.")
    # As a browser spells the ends of lines.
    write(world, "Read *all*.\r\nTwice.", note="Twice.")
    write(world, "Read *all*.\nTwice.")
    assert numbers(world) == [(3, "Read *all*.\nTwice.", "Twice."), (2, "Read *all*.", "First rules."), (1, "", "")]
    world.project.refresh_from_db()
    assert world.project.guidelines == "Read *all*.\nTwice."
    noted = AuditEntry.objects.filter(action="guidelines.changed").order_by("id")
    assert [(entry.actor, entry.details) for entry in noted] == [
        (world.alice, {"version": 2, "note": "First rules."}),
        (world.alice, {"version": 3, "note": "Twice."}),
    ]


def test_a_change_of_the_project_makes_a_version_too(world: World) -> None:
    change_project(actor=world.alice, project=world.project, name="Desk", guidelines="Rules.")
    change_project(actor=world.alice, project=world.project, name="Desk", teach=False)
    assert numbers(world) == [(2, "Rules.", ""), (1, "", "")]


def test_a_duplicate_begins_with_the_text_that_stands(world: World) -> None:
    write(world, "Rules.")
    world.project.refresh_from_db()
    made = duplicate_project(actor=world.alice, project=world.project, slug="copy", name="Copy")
    assert [(version.number, version.text) for version in versions_of(made)] == [(1, "Rules.")]


def test_a_duplicate_takes_texts_that_are_longer_than_one_may_be_today(world: World) -> None:
    long = "x" * (MAX_TEXT + 1)
    Project.objects.filter(pk=world.project.pk).update(guidelines=long)
    world.project.refresh_from_db()
    made = duplicate_project(actor=world.alice, project=world.project, slug="copy", name="Copy")
    assert [(version.number, version.text) for version in versions_of(made)] == [(1, long)]


@pytest.mark.parametrize(
    ("text", "note", "code"),
    [
        (None, "", "bad_text"), ("\x00", "", "bad_text"), ("\ud800", "", "bad_text"),
        ("x" * (MAX_TEXT + 1), "", "guidelines_too_long"), ("\n" * MAX_LINES, "", "guidelines_too_long"),
        ("x", "\x00", "bad_note"), ("x", 3, "bad_note"), ("x", "n" * (MAX_NOTE + 1), "note_too_long"),
    ],
)  # fmt: skip
def test_what_is_no_text_is_refused_and_makes_no_version(text: Any, note: Any, code: str, world: World) -> None:
    with pytest.raises(Invalid) as refused:
        write(world, text, note=note)
    assert refused.value.code == code
    assert numbers(world) == [(1, "", "")]


def test_the_second_of_two_editors_gets_both_texts(world: World) -> None:
    write(world, "Hers.", note="By Alice.", seen=1)
    with pytest.raises(Stale) as refused:
        write(world, "His.", note="By Bob.", seen=1)
    assert refused.value.details == {
        "current": {"version": 2, "text": "Hers.", "note": "By Alice."},
        "yours": {"version": 1, "text": "His.", "note": "By Bob."},
    }
    assert write(world, "His.", seen=2).number == 3
    # Who writes what stands there already has nothing to settle.
    assert write(world, "His.", seen=1).number == 3


@pytest.mark.parametrize(
    "what", ["UPDATE annotate_guidelineversion SET text = 'x'", "DELETE FROM annotate_guidelineversion"]
)
def test_what_was_written_stays(what: str, world: World) -> None:
    with pytest.raises(DatabaseError, match="stays as it is"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(what)


# Labels


def test_a_label_says_under_which_version_it_was_saved_last(
    world: World, task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(world.ann, task, "claim:0", "support", "yes", guideline_version=1)
    say(world.ann, task, "claim:1", "support", "yes")
    write(world, "Rules.")
    say(world.ann, task, "answer", "grade", 4, guideline_version=2)
    stamped = dict(Label.objects.values_list("unit", "guideline_version"))
    assert stamped == {"claim:0": 1, "claim:1": None, "answer": 2}
    say(world.ann, task, "claim:0", "support", "no", seen=1, guideline_version=2)
    assert Label.objects.get(unit="claim:0").guideline_version == 2
    counted = labels_by_version(world.project)
    assert counted == {None: 1, 2: 2}
    under = first_labels_by_version(world.project, [1, 2], 2)
    assert under == Under({None: Counted(1, True), 1: Counted(0, True), 2: Counted(2, True)}, has_older=False)
    assert first_labels_by_version(world.project, [], 3).has_older
    monkeypatch.setattr(walking, "MOST_COUNTED", 1)
    with CaptureQueriesContext(connection) as asked:
        counts = first_labels_by_version(world.project, [1, 2], 2).counts
    assert counts == {None: Counted(1, True), 1: Counted(0, True), 2: Counted(1, False)}
    (sql,) = [query["sql"] for query in asked if "unnest" in query["sql"]]
    with connection.cursor() as cursor:
        cursor.execute(
            "SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = off; SET LOCAL enable_nestloop = off"
        )
    assert "label_by_guidelines" in {node.get("Index Name") for node in nodes(plan_of(sql, run=False))}
    assert "1+ label" in as_user(world.alice).get(f"/p/{world.project.slug}/guidelines/").content.decode()


@pytest.mark.parametrize("number", [0, 2, -1, True, "1", 1.0, 2**31])
def test_a_version_that_there_is_not_is_refused(number: Any, world: World, task: Task) -> None:
    with pytest.raises(Invalid) as refused:
        say(world.ann, task, "claim:0", "support", "yes", guideline_version=number)
    assert refused.value.code == "bad_guideline_version"
    assert not Label.objects.exists()


def test_a_label_that_is_carried_over_keeps_its_version(world: World, task: Task) -> None:
    write(world, "Rules.")
    say(world.ann, task, "answer", "grade", 4, guideline_version=1)
    finish(Task.objects.get(annotator=world.ben), grade=5)
    say(world.ann, task, "claim:0", "support", "yes", guideline_version=2)
    say(world.ann, task, "claim:1", "support", "yes", guideline_version=2)
    submit_task(actor=world.ann, task_id=task.pk)
    (grade,) = world.criteria("grade")
    spec = {**GRADE, "prompt": "How good is it?"}
    changed = change_criterion(
        actor=world.alice,
        project=world.project,
        seen=grade,
        spec=spec,
        choices=Choices(same_meaning=True, reason="Only the words."),
    )
    carried = Label.objects.filter(criterion=changed.criterion).order_by("guideline_version")
    assert [(label.value, label.guideline_version) for label in carried] == [(4, 1), (5, None)]
    # It was made once.
    counted = labels_by_version(world.project)
    assert (counted[1], counted[2]) == (1, 2)
    under = first_labels_by_version(world.project, [1, 2], 2)
    assert {number: one.number for number, one in under.counts.items()} == counted
    assert under.has_older


def test_exports_say_the_version(world: World) -> None:
    write(world, "Rules.")
    for person in (world.ann, world.ben):
        task = Task.objects.get(annotator=person)
        for unit in ("claim:0", "claim:1"):
            say(person, task, unit, "support", "yes", guideline_version=2 if person == world.ann else None)
        say(person, task, "answer", "grade", 4)
        submit_task(actor=person, task_id=task.pk)
    chosen = {"criteria": ["support"], "annotators": "named"}
    release = make_release(project=world.project, user=None, file_format="jsonl", filters=chosen)
    with open_release(release) as file:
        rows = [json.loads(line) for line in file.read().splitlines()]
    assert [(row["ann.guideline_version"], row["ben.guideline_version"]) for row in rows] == [(2, None)] * 2


# News


def test_who_labelled_under_an_earlier_version_is_told_once(world: World, task: Task) -> None:
    def told(who: Any) -> list[int]:
        return [version.number for version in guideline_news(who, world.project, newest_version(world.project))]

    say(world.ann, task, "claim:0", "support", "yes", guideline_version=1)
    assert told(world.ann) == []
    write(world, "Two.", note="Second.")
    write(world, "Three.", note="Third.")
    assert told(world.ann) == [3, 2]
    # Who has never labelled here has nothing to unlearn.
    assert told(world.ben) == []
    note_seen(user=world.ann, project=world.project, number=2)
    assert told(world.ann) == [3]
    note_seen(user=world.ann, project=world.project, number=3)
    note_seen(user=world.ann, project=world.project, number=2)
    assert told(world.ann) == []
    assert Membership.objects.get(project=world.project, user=world.ann).guidelines_seen == 3
    write(world, "Four.")
    assert told(world.ann) == [4]
    say(world.ann, task, "claim:1", "support", "yes", guideline_version=4)
    assert told(world.ann) == []


def test_a_label_of_unknown_version_counts_as_made_under_the_first(world: World, task: Task) -> None:
    say(world.ann, task, "claim:0", "support", "yes")
    write(world, "Two.")
    (news,) = guideline_news(world.ann, world.project, newest_version(world.project))
    assert news.number == 2


def test_only_a_version_that_there_is_can_be_seen(world: World) -> None:
    with pytest.raises(Invalid):
        note_seen(user=world.ann, project=world.project, number=2)
