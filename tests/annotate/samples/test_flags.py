from __future__ import annotations

from typing import Any

import pytest
from django.http import Http404

from annotate.core.blindness import SYSTEM
from annotate.core.errors import Conflict, Invalid
from annotate.models import AuditEntry, Task
from annotate.projects.write import remove_member
from annotate.samples.flags import raise_flag, resolve_flag
from annotate.samples.read import Flags
from tests.annotate.factories import World, finish, make_sample


@pytest.fixture
def task(world: World) -> Task:
    make_sample(world.project)
    return world.batch(annotators=[world.ann, world.ben]).tasks.get(annotator=world.ann)


def test_a_flag_waits_until_it_is_resolved(world: World, task: Task) -> None:
    flag = raise_flag(actor=world.ann, task_id=task.pk, reason="  The answer is cut off. ")
    assert (flag.reason, flag.raised_by, flag.sample, flag.task) == (
        "The answer is cut off.",
        world.ann,
        task.sample,
        task,
    )
    assert [one.flag for one in Flags(world.project, reader=SYSTEM)[:]] == [flag]
    done = resolve_flag(actor=world.alice, project=world.project, flag_id=flag.pk, resolution="Imported anew.")
    assert done.resolved_by == world.alice
    assert Flags(world.project, reader=SYSTEM)[:] == []
    assert [one.flag for one in Flags(world.project, reader=SYSTEM, resolved=True)[:]] == [flag]
    entry = AuditEntry.objects.get(action="flag.resolved")
    assert (entry.actor, entry.subject, entry.details) == (world.alice, "s1", {"resolution": "Imported anew."})


def test_repeats_change_nothing(world: World, task: Task) -> None:
    flag = raise_flag(actor=world.ann, task_id=task.pk, reason="Cut off.")
    assert raise_flag(actor=world.ann, task_id=task.pk, reason="Cut off.") == flag
    assert raise_flag(actor=world.ann, task_id=task.pk, reason="Something else.") != flag
    for _ in range(2):
        resolve_flag(actor=world.alice, project=world.project, flag_id=flag.pk, resolution="Seen.")
    assert AuditEntry.objects.filter(action="flag.resolved").count() == 1
    with pytest.raises(Conflict, match="already"):
        resolve_flag(actor=world.alice, project=world.project, flag_id=flag.pk, resolution="Otherwise.")
    # What was resolved may happen again.
    assert raise_flag(actor=world.ann, task_id=task.pk, reason="Cut off.") != flag


def test_also_about_a_sample_one_is_done_with(world: World, task: Task) -> None:
    finish(task)
    assert raise_flag(actor=world.ann, task_id=task.pk, reason="Wrong language.").task == task


@pytest.mark.parametrize("words", ["", "  ", None, 3, "a\x00", "\ud800", "r" * 10_001])
def test_both_take_words(world: World, task: Task, words: Any) -> None:
    with pytest.raises(Invalid) as refused:
        raise_flag(actor=world.ann, task_id=task.pk, reason=words)
    assert refused.value.code == "no_reason"
    flag = raise_flag(actor=world.ann, task_id=task.pk, reason="So.")
    with pytest.raises(Invalid) as refused:
        resolve_flag(actor=world.alice, project=world.project, flag_id=flag.pk, resolution=words)
    assert refused.value.code == "no_resolution"


def test_only_about_ones_own_task(world: World, task: Task) -> None:
    for user in (world.ben, world.alice, world.charlie, world.dora):
        with pytest.raises(Http404):
            raise_flag(actor=user, task_id=task.pk, reason="So.")
    flag = raise_flag(actor=world.ann, task_id=task.pk, reason="So.")
    with pytest.raises(Http404):
        resolve_flag(actor=world.dora, project=world.other, flag_id=flag.pk, resolution="So.")
    task.batch.status = "closed"
    task.batch.save(update_fields=["status"])
    remove_member(project=world.project, user=world.ann)
    with pytest.raises(Http404):
        raise_flag(actor=world.ann, task_id=task.pk, reason="Again.")
