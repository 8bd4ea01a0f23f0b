"""People's side of a report's evidence: when a label was given, how fast, which labels it replaced, and of what."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Any

from annotate.core.blindness import SYSTEM
from annotate.models import Label, LabelEvent, Rater, Sample, Task, User
from annotate.samples.read import metadata_of
from annotate.tasks.labelling import submit_task
from annotate.verdicts.evidence_read import agreement, evidence_of
from tests.annotate.factories import World, finish, make_sample, make_samples, rewriting_history, say

NINE = datetime.fromisoformat("2026-11-20T09:00:00+00:00")


def at(moment: datetime, label: Label, revision: int = 1) -> None:
    with rewriting_history():
        LabelEvent.objects.filter(label=label, revision=revision).update(created_at=moment)


def after(seconds: float) -> datetime:
    return NINE + timedelta(seconds=seconds)


def imported(world: World, name: str, value: Any, *, unit: str = "claim:0", criterion: str = "support") -> Label:
    (asked,) = world.criteria(criterion)
    rater, _ = Rater.objects.get_or_create(project=world.project, name=name)
    sample = world.project.samples.get(external_id="s1")
    return Label.objects.create(rater=rater, sample=sample, unit=unit, criterion=asked, value=value)


def label_of(user: User, unit: str, criterion: str = "support") -> Label:
    return Label.objects.get(task__annotator=user, unit=unit, criterion__key=criterion)


def test_a_label_has_the_day_on_which_it_was_given(world: World) -> None:
    make_sample(world.project)
    for task in world.batch(criteria=["support"]).tasks.all():
        finish(task)
    (support,) = world.criteria("support")
    imported(world, "zoe", "no")
    late, early = (datetime.fromisoformat(f"2026-11-{text}") for text in ("20T23:30:00-02:00", "21T00:30:00+02:00"))
    first, *others = Label.objects.filter(task__isnull=False).order_by("unit", "rater__name")
    Label.objects.filter(pk=first.pk).update(updated_at=late)
    Label.objects.filter(pk__in=[label.pk for label in others]).update(updated_at=early)
    found = evidence_of(support, reader=SYSTEM)
    # Days are those of UTC, in every installation; what was made elsewhere has none.
    days = {(unit[1], rater): day for unit, rater, day in zip(found.units, found.raters, found.days, strict=True)}
    assert days[first.unit, first.rater.name] == "2026-11-21"
    assert {days[label.unit, label.rater.name] for label in others} == {"2026-11-20"}
    assert days["claim:0", "zoe"] is None
    assert len(days) == 5


def test_seconds_since_the_choice_before_in_the_same_task(world: World) -> None:
    make_sample(world.project)
    ann, ben = (task for task in world.batch(annotators=[world.ann, world.ben]).tasks.order_by("annotator__username"))
    finish(ann)
    finish(ben)
    at(NINE, label_of(world.ann, "claim:0"))
    at(after(4.26), label_of(world.ann, "answer", "grade"))
    at(after(10), label_of(world.ann, "claim:1"))
    # Another task at the same time has nothing to do with it.
    at(after(1), label_of(world.ben, "claim:0"))
    at(after(3), label_of(world.ben, "claim:1"))
    at(after(9), label_of(world.ben, "answer", "grade"))
    support, grade = world.criteria("support", "grade")
    found = evidence_of(support, reader=SYSTEM)
    rows = zip(found.units, found.raters, found.seconds, strict=True)
    assert {(unit[1], rater): gap for unit, rater, gap in rows} == {
        ("claim:0", "ann"): None,  # the first choice of its task
        ("claim:1", "ann"): 5.7,  # since the choice on the other criterion
        ("claim:0", "ben"): None,
        ("claim:1", "ben"): 2.0,
    }
    assert dict(
        zip(evidence_of(grade, reader=SYSTEM).raters, evidence_of(grade, reader=SYSTEM).seconds, strict=True)
    ) == {"ann": 4.3, "ben": 6.0}


def test_a_pause_is_no_work(world: World) -> None:
    make_sample(world.project, claims=[{"text": f"claim {n}"} for n in range(5)])
    (task,) = world.batch(annotators=[world.ann], overlap=1, criteria=["support"]).tasks.all()
    finish(task)
    moments = [0, 599.9, 1199.9, 1200.05, 1200.3]
    for unit, moment in enumerate(moments):
        at(after(moment), label_of(world.ann, f"claim:{unit}"))
    (support,) = world.criteria("support")
    # Ten minutes are a pause; a twentieth of a second is no hand's.
    assert evidence_of(support, reader=SYSTEM).seconds == [None, 599.9, None, None, 0.3]


def test_only_the_first_choice_is_timed_and_later_ones_end_the_wait(world: World) -> None:
    make_sample(world.project)
    (task,) = world.batch(annotators=[world.ann], overlap=1, criteria=["support"]).tasks.all()
    say(world.ann, task, "claim:0", "support", "yes")
    say(world.ann, task, "claim:0", "support", "no", seen=1)
    say(world.ann, task, "claim:1", "support", "no")
    first, second = (label_of(world.ann, unit) for unit in ("claim:0", "claim:1"))
    at(NINE, first)
    at(after(7), first, revision=2)
    at(after(10), second)
    submit_task(actor=world.ann, task_id=task.pk)
    (support,) = world.criteria("support")
    assert evidence_of(support, reader=SYSTEM).seconds == [None, 3.0]


def test_labels_that_gave_way_to_the_same_raters_later_ones(world: World) -> None:
    make_samples(world.project, 2)
    first, second, third = (
        world.batch(annotators=[world.ann], overlap=1, criteria=["support"]).tasks.order_by("sample__external_id")
        for _ in range(3)
    )
    (support,) = world.criteria("support")
    finish(first[0], support="yes")
    assert evidence_of(support, reader=SYSTEM).before == []
    finish(second[0], support=lambda unit: "no" if unit == "claim:0" else "unsure")
    finish(third[0], support="no")
    # Another sample, once; and another annotator's label of the same unit replaces nothing.
    finish(first[1], support="yes")
    imported(world, "zoe", "unsure")
    found = evidence_of(support, reader=SYSTEM)
    assert [tuple(row) for row in found.before] == [
        (("s1", "claim:0"), "ann", "yes"),
        (("s1", "claim:0"), "ann", "no"),
        (("s1", "claim:1"), "ann", "yes"),
        (("s1", "claim:1"), "ann", "unsure"),
    ]
    assert dict(zip(zip(found.units, found.raters, strict=True), found.values, strict=True)) == {
        (("s1", "claim:0"), "ann"): "no",
        (("s1", "claim:0"), "zoe"): "unsure",
        (("s1", "claim:1"), "ann"): "no",
        (("s2", "claim:0"), "ann"): "yes",
        (("s2", "claim:1"), "ann"): "yes",
    }


def test_what_does_not_count_was_not_before_either(world: World) -> None:
    make_sample(world.project)
    first, second = (world.batch(annotators=[world.ann], overlap=1, criteria=["support"]).tasks.get() for _ in "ab")
    finish(second)
    # Begun in the first batch and not submitted: no annotator's word yet, though it is there and later.
    say(world.ann, first, "claim:0", "support", "no")
    (support,) = world.criteria("support")
    assert evidence_of(support, reader=SYSTEM).before == []
    Task.objects.filter(pk=first.pk).update(status="submitted", submitted_at=NINE)
    found = evidence_of(support, reader=SYSTEM)
    assert [tuple(row) for row in found.before] == [(("s1", "claim:0"), "ann", "yes")]
    assert found.values == ["no", "yes"]


def test_metadata_that_may_name_a_part_of_the_data(world: World) -> None:
    kept = {"language": "de", "length": 3, "share": 0.5, "long": False, "text": "x" * 98}
    # As JSON the last one has 101 characters, its quotes included.
    dropped = {"tags": ["a"], "who": {"name": "b"}, "nothing": None, "body": "x" * 99}
    make_sample(world.project, 1, metadata={**kept, **dropped}, pipeline_version="v7")
    make_sample(world.project, 2, metadata={"language": "fr"})
    make_sample(world.project, 3, metadata={"language": "it"})
    make_sample(world.project, 4)
    assert metadata_of(world.project, {"s1", "s2", "s4", "elsewhere"}) == {
        "s1": {**kept, "pipeline_version": "v7"},
        "s2": {"language": "fr"},
    }
    assert metadata_of(world.project, set()) == {}
    # Another project's samples of the same name are not these.
    make_sample(world.other, 1, metadata={"language": "es"})
    assert metadata_of(world.other, {"s1", "s2"}) == {"s1": {"language": "es"}}


def test_evidence_knows_the_metadata_of_its_samples_only(world: World) -> None:
    for number, language in enumerate(("de", "fr"), start=1):
        make_sample(world.project, number, metadata={"language": language})
    (support,) = world.criteria("support")
    assert evidence_of(support, reader=SYSTEM).metadata == {}
    imported(world, "zoe", "no")
    assert evidence_of(support, reader=SYSTEM).metadata == {"s1": {"language": "de"}}


def test_agreement_reads_nothing_that_only_reports_tell(
    world: World, django_assert_num_queries: Callable[[int], AbstractContextManager[Any]]
) -> None:
    make_sample(world.project)
    for task in world.batch(criteria=["support"]).tasks.all():
        finish(task)
    (support,) = world.criteria("support")
    assert support.project.pk
    with django_assert_num_queries(3):  # and two that bring columns
        agreement(support, reader=SYSTEM)


def test_answers_to_one_question_are_one_group_of_the_agreement(world: World) -> None:
    """A question that was answered ten times, and labelled each time, is no ten independent ones."""
    make_samples(world.project, 40)
    for task in world.batch(annotators=[world.ann, world.ben], criteria=["support"]).tasks.all():
        number = int(task.sample.external_id[1:])
        # Of the first ten answers Ben thinks otherwise.
        finish(task, support="no" if number % 2 or (number <= 10 and task.annotator == world.ben) else "yes")
    (support,) = world.criteria("support")

    def width() -> float:
        found = agreement(support, reader=SYSTEM)["estimates"]["percent_agreement"]
        return float(found["high"] - found["low"])

    alone = width()
    of_ten = {1: "first", 2: "second", 3: "third", 4: "fourth"}
    for number, group in of_ten.items():
        names = [f"s{n}" for n in range(10 * number - 9, 10 * number + 1)]
        Sample.objects.filter(external_id__in=names).update(group_key=group)
    assert width() > 1.5 * alone
