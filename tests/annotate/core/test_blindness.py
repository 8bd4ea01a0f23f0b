"""Of which samples a reader must not know yet what judges said, state by state; and who may know names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from annotate.batches.steps import close_batch
from annotate.core.blindness import (
    FEWEST_SAMPLES,
    SYSTEM,
    may_know_names,
    require_figures_of_many,
    samples_without_judges,
)
from annotate.core.errors import Conflict
from annotate.files.releases import hand_out, make_release
from annotate.models import Criterion, Sample, User, Verdict
from annotate.projects.write import set_member
from annotate.verdicts.adjudication import send_back
from config.celery import app as celery_app
from tests.annotate.factories import World, decide_unit, finish, make_sample, make_samples, must_take
from tests.judges.building import add_labels

pytestmark = pytest.mark.django_db


def hides_judges(world: World, sample: Sample, user: User | None = None) -> bool:
    return samples_without_judges(user or world.rita, [sample.pk]) == {sample.pk}


def test_a_reviewer_hears_no_judge_before_all_of_a_sample_is_settled(world: World) -> None:
    sample = make_sample(world.project)
    assert hides_judges(world, sample), "nobody has labelled it"
    batch = world.batch(annotators=[world.ann, world.ben])
    finish(batch.tasks.get(annotator=world.ann))
    assert hides_judges(world, sample), "one task is open"
    finish(batch.tasks.get(annotator=world.ben), support=lambda unit: "no" if unit == "claim:0" else "yes")
    assert hides_judges(world, sample), "a unit is disputed"
    verdict = decide_unit(world.rita, Verdict.objects.get(state="disputed"), "yes")
    assert not hides_judges(world, sample)
    Verdict.objects.filter(pk=verdict.pk).update(state="reopened")
    assert hides_judges(world, sample), "a unit is reopened"
    Verdict.objects.filter(pk=verdict.pk).update(state="settled")
    # What was said elsewhere, and no rule has settled.
    add_labels(world.criteria("relevance")[0], {"s1": sample}, [("s1", "context:0", "zoe", 0.5)])
    assert hides_judges(world, sample), "a label has no verdict"


def test_what_a_closed_batch_left_and_other_roles(world: World) -> None:
    sample = make_sample(world.project)
    batch = world.batch(criteria=["grade"], annotators=[world.ann, world.ben])
    finish(batch.tasks.get(annotator=world.ann))
    close_batch(batch=batch)
    assert not samples_without_judges(SYSTEM, [sample.pk])
    boss = User.objects.create_superuser("boss")
    set_member(project=world.project, user=boss, role="reviewer")
    hidden_from = [user.username for user in (world.rita, world.alice, boss) if hides_judges(world, sample, user)]
    assert hidden_from == ["rita"]
    # Whatever the role, whoever still has it to label.
    world.batch(criteria=["support"], annotators=[world.alice], overlap=1)
    assert hides_judges(world, sample, world.alice)
    # A reviewer elsewhere is no reviewer here.
    set_member(project=world.other, user=world.charlie, role="reviewer")
    assert not hides_judges(world, sample, world.charlie)


def test_a_version_that_was_replaced_waits_for_nobody(world: World) -> None:
    sample = make_sample(world.project)
    batch = world.batch(criteria=["grade"], annotators=[world.ann, world.ben])
    finish(batch.tasks.get(annotator=world.ann), grade=1)
    finish(batch.tasks.get(annotator=world.ben), grade=5)
    old = Verdict.objects.get()
    assert (old.state, hides_judges(world, sample)) == ("disputed", True)
    Criterion.objects.filter(pk=old.criterion_id).update(is_current=False)
    newer = Criterion.objects.get(pk=old.criterion_id)
    newer.pk, newer.version, newer.is_current = None, 2, True
    newer.save()
    Verdict.objects.create(
        sample=sample, unit="answer", criterion=newer, state="settled", value=4, method="majority",
        confidence=0.5,
    )  # fmt: skip
    assert not hides_judges(world, sample)


@pytest.mark.parametrize(
    ("count", "answers", "refused"),
    [
        (FEWEST_SAMPLES - 1, [True, False], True),
        (FEWEST_SAMPLES, [True, False], False),
        (FEWEST_SAMPLES, [True], True),
        # Nothing was said.
        (1, [], False),
    ],
)
def test_figures_of_few_or_of_one_answer_are_refused(
    world: World, count: int, answers: list[bool], refused: bool
) -> None:
    ids = [sample.pk for sample in make_samples(world.project, count)]
    assert require_figures_of_many(world.alice, ids, answers) == set()
    if not refused:
        assert require_figures_of_many(world.rita, ids, answers) == set(ids)
        return
    with pytest.raises(Conflict) as told:
        require_figures_of_many(world.rita, ids, answers)
    assert told.value.code == "figures_would_tell"


def test_who_knows_names(world: World) -> None:
    readers = (SYSTEM, world.alice, world.rita, world.ann, world.charlie)
    assert [may_know_names(reader, world.project) for reader in readers] == [True, True, False, False, False]
    world.project.show_names = True
    assert may_know_names(world.rita, world.project)


def test_who_has_left_is_not_named_by_a_refusal(world: World) -> None:
    make_sample(world.project)
    batch = world.batch(criteria=["grade"], strategy="pull", overlap=2)
    for user, grade in ((world.ann, 1), (world.ben, 5)):
        finish(must_take(user, batch), grade=grade)
    verdict = Verdict.objects.get()
    world.project.memberships.filter(user=world.ann).update(is_active=False)
    given = {"project": world.project, "verdict_id": verdict.pk, "letter": "A", "message": "Why?"}
    for reviewer, named in ((world.rita, False), (world.alice, True)):
        with pytest.raises(Conflict) as refused:
            send_back(reviewer=reviewer, **given)
        assert refused.value.code == "not_a_member"
        assert ("ann " in refused.value.message) == named


def test_a_release_says_nothing_of_what_its_reader_still_has_to_label(
    world: World, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of units that rest on one label, which most releases leave out."""
    settings.MEDIA_ROOT = tmp_path
    monkeypatch.setattr(celery_app, "send_task", lambda *_, **__: None)
    make_sample(world.project)
    finish(world.batch(criteria=["grade"], annotators=[world.ann], overlap=1).tasks.get())
    release = make_release(project=world.project, user=None, file_format="jsonl", filters={"include_single": True})
    hand_out(release, actor=world.alice).close()
    world.batch(criteria=["grade"], annotators=[world.alice], overlap=1)
    with pytest.raises(Conflict) as told:
        hand_out(release, actor=world.alice)
    assert told.value.code == "still_to_label"
    imported = make_release(project=world.project, user=None, file_format="jsonl", filters={"rows": "samples"})
    hand_out(imported, actor=world.alice).close()


def test_a_release_with_claims_of_an_answer_that_abstains_since_says_what_it_says(
    world: World, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MEDIA_ROOT = tmp_path
    monkeypatch.setattr(celery_app, "send_task", lambda *_, **__: None)
    sample = make_sample(world.project)
    finish(world.batch(criteria=["support"], annotators=[world.ann], overlap=1).tasks.get())
    release = make_release(project=world.project, user=None, file_format="jsonl", filters={"include_single": True})
    world.batch(criteria=["support", "grade"], annotators=[world.alice], overlap=1)
    Sample.objects.filter(pk=sample.pk).update(abstained=True)
    with pytest.raises(Conflict) as told:
        hand_out(release, actor=world.alice)
    assert told.value.code == "still_to_label"
