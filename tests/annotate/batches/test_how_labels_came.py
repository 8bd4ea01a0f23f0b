"""Which labelled samples stand for others, with what chance and by whose word; and which were chosen."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from alignment.report import DrawnBy
from annotate.batches.criterion_change_read import Choices
from annotate.batches.declared_draws import declare_draw
from annotate.batches.draws_read import drawn_samples, how_labelled
from annotate.batches.relabelling import change_criterion
from annotate.batches.steps import close_batch, extend_batch
from annotate.core.errors import Conflict, Invalid
from annotate.models import AuditEntry, Batch, BatchSample, Criterion, DeclaredDraw, Sample
from annotate.projects.criteria import check_spec
from tests.annotate.factories import GRADE, World, finish, make_samples, make_world
from tests.database import copied_from_world
from tests.judges.building import add_labels

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> World:
    world = make_world()
    for sample in make_samples(world.project, 10):
        sample.metadata = {"half": int(sample.external_id[1:]) % 2}
        sample.save()
    return world


world = copied_from_world()


@pytest.fixture
def grade(world: World) -> Criterion:
    return world.project.criteria.get(key="grade")


def batch(world: World, selection: dict[str, Any] | None = None, **more: Any) -> Batch:
    given = {"criteria": ("grade",), "annotators": [world.ann], "overlap": 1, "single_labels": True, **more}
    return world.batch(selection=selection or {"method": "all"}, **given)


def label(made: Batch, *, first: int | None = None) -> Batch:
    for task in list(made.tasks.select_related("sample", "annotator").order_by("position"))[:first]:
        if task.status == "pending":
            finish(task)
    return made


def label_elsewhere(criterion: Criterion, *names: str) -> None:
    samples = {sample.external_id: sample for sample in criterion.project.samples.all()}
    add_labels(criterion, samples, [(name, "answer", rater, 4) for name in names for rater in ("ext", "other")])


def stored(made: Batch) -> set[tuple[float | None, int | None]]:
    return set(made.batch_samples.values_list("probability", "stratum"))


@pytest.mark.parametrize(
    ("selection", "came", "chance"),
    [
        ({"method": "all"}, "drawn", (1.0, 1)),
        ({"method": "random", "n": 4}, "drawn", (0.4, 1)),
        ({"method": "filter", "filter": {"half": 1}}, "filter", (None, None)),
        ({"method": "random", "n": 2, "filter": {"half": 1}}, "filter", (None, None)),
        ({"method": "list", "samples": ["s1", "s3"]}, "by_hand", (None, None)),
        ({"method": "list", "samples": ["s1", "s3"], "came": "disputed"}, "disputed", (None, None)),
    ],
)
def test_a_batch_knows_how_its_samples_came(world: World, selection: Any, came: str, chance: Any) -> None:
    made = batch(world, selection)
    assert made.selection["came"] == came
    assert stored(made) == {chance}


def test_only_what_was_drawn_can_be_called_so(world: World) -> None:
    for selection in ({"method": "list", "samples": ["s1"], "came": "drawn"}, {"method": "all", "came": "by_hand"}):
        with pytest.raises(Invalid) as refused:
            batch(world, selection)
        assert refused.value.code == "bad_came"


def test_all_samples_count_once_each_of_them_is_labelled(world: World, grade: Criterion) -> None:
    made = label(batch(world), first=9)
    assert drawn_samples(grade).chances == {}
    assert how_labelled(grade).unfinished == made.number
    # Labelled in the order of import, so what is there when it ends early is no random part.
    close_batch(batch=made)
    assert drawn_samples(grade).chances == {}
    Batch.objects.filter(pk=made.pk).update(status="open")
    label(made)
    found = drawn_samples(grade)
    assert found.chances == dict.fromkeys(sorted(f"s{n}" for n in range(1, 11)), (1.0, 1))
    day = made.created_at.date().isoformat()
    assert found.by == [DrawnBy("all", 10, world.alice.name, day, made.number)]
    assert (how_labelled(grade).known, how_labelled(grade).chosen, how_labelled(grade).unfinished) == (10, 0, None)


def test_what_was_labelled_before_a_random_batch_stands_for_itself(world: World, grade: Criterion) -> None:
    label(batch(world, {"method": "list", "samples": ["s1", "s2", "s3"]}))
    label_elsewhere(grade, "s4")
    assert drawn_samples(grade).chances == {}
    assert how_labelled(grade).chosen == 4
    made = label(batch(world, {"method": "random", "n": 5, "seed": 3}))
    drawn = set(made.batch_samples.values_list("sample__external_id", flat=True))
    before = {"s1", "s2", "s3", "s4"}
    # Some of both: else this shows nothing.
    assert before & drawn
    assert before - drawn
    found = drawn_samples(grade)
    assert found.chances == {name: (1.0, 0) if name in before else (0.5, 1) for name in sorted(before | drawn)}
    assert [(row.how, row.samples) for row in found.by] == [("random", len(drawn - before)), ("before", 4)]


def test_no_labels_are_gone_over_twice(world: World, grade: Criterion) -> None:
    """Each time goes over all labels of the criterion: ten million take seconds."""
    label(batch(world, {"method": "list", "samples": ["s1", "s2", "s3"]}))
    label(batch(world, {"method": "random", "n": 5, "seed": 3}))
    with CaptureQueriesContext(connection) as asked:
        assert how_labelled(grade).known
    of_labels = [query["sql"] for query in asked if 'FROM "annotate_label"' in query["sql"]]
    over_all = [sql for sql in of_labels if "GROUP BY" in sql]
    assert 0 < len(set(over_all)) == len(over_all)
    assert not [sql for sql in over_all if "external_id" in sql], "names are as long as they like"


def test_what_was_chosen_later_is_in_no_guarantee(world: World, grade: Criterion) -> None:
    earlier = batch(world, {"method": "list", "samples": ["s1"]}, overlap=1)
    label(batch(world, {"method": "random", "n": 3, "seed": 1}))
    label(earlier)
    before = drawn_samples(grade).chances
    others = sorted({f"s{n}" for n in range(1, 11)} - before.keys())
    # By a batch that was made before the draw, and of which the draw knew nothing; by a later one; and elsewhere.
    label(extend_batch(actor=None, batch=earlier, selection={"method": "list", "samples": others[:1]}))
    label(batch(world, {"method": "filter", "filter": {"half": 1}}))
    label_elsewhere(grade, others[1])
    assert drawn_samples(grade).chances == before
    found = how_labelled(grade)
    labelled = set(grade.labels.values_list("sample__external_id", flat=True))
    assert (found.known, found.chosen) == (len(before), len(labelled - before.keys()))
    assert others[0] in labelled - before.keys()


def test_a_drawn_sample_that_was_only_labelled_when_it_was_chosen_later(world: World, grade: Criterion) -> None:
    drawn = batch(world, {"method": "random", "n": 4, "seed": 1})
    label(drawn, first=3)
    drawn.tasks.filter(status="pending").update(status="skipped", skip_reason="?")
    left = drawn.tasks.get(status="skipped").sample.external_id
    assert drawn_samples(grade).chances[left] == (0.4, 1)
    label(batch(world, {"method": "list", "samples": [left]}, annotators=[world.ben]))
    assert left not in drawn_samples(grade).chances


def test_an_extended_draw(world: World) -> None:
    made = batch(world, {"method": "random", "n": 4, "seed": 1})
    extend_batch(actor=None, batch=made, selection={"method": "random", "n": 4, "seed": 2})
    assert stored(made) == {(0.4, 1), (None, None)}
    extend_batch(actor=None, batch=made, selection={"method": "all"})
    assert stored(made) == {(1.0, 1)}


def test_a_group_is_drawn_as_a_whole(world: World) -> None:
    Sample.objects.filter(external_id__in=("s1", "s2", "s3")).update(group_key="a question")
    Sample.objects.filter(external_id="s5").update(group_key="s4")
    drawn = set()
    for seed in range(12):
        made = batch(world, {"method": "random", "n": 4, "seed": seed})
        names = set(made.batch_samples.values_list("sample__external_id", flat=True))
        assert {len(names & group) for group in ({"s1", "s2", "s3"}, {"s4", "s5"})} <= {0, 2, 3}
        # Of seven groups three, which are about four samples.
        assert stored(made) == {(3 / 7, 1)}
        drawn |= names
    assert len(drawn) == 10


def test_samples_that_nothing_is_asked_of_are_not_stood_for(world: World, grade: Criterion) -> None:
    Sample.objects.filter(external_id__in=("s1", "s2")).update(
        answer=None, claims=[], abstained=None, abstained_source=""
    )
    label(batch(world))
    assert drawn_samples(grade).chances.keys() == {f"s{n}" for n in range(3, 11)}


def test_labels_of_a_later_version_came_as_those_of_the_version_before(world: World, grade: Criterion) -> None:
    label(batch(world, {"method": "random", "n": 5, "seed": 3}))
    chances = drawn_samples(grade).chances
    label(batch(world, {"method": "filter", "filter": {"half": 1}}))
    spec, same = check_spec({**GRADE, "prompt": "How good??"}), Choices(same_meaning=True, reason="A typo.")
    new = change_criterion(actor=world.alice, project=world.project, seen=grade, spec=spec, choices=same)
    assert new.batch is None
    assert drawn_samples(new.criterion).chances == chances


def test_labels_given_anew_came_as_those_that_they_renew(world: World, grade: Criterion) -> None:
    label(batch(world, {"method": "random", "n": 5, "seed": 3}))
    chances = drawn_samples(grade).chances
    label(batch(world, {"method": "filter", "filter": {"half": 1}}))
    assert drawn_samples(grade).chances == chances
    spec = check_spec({**GRADE, "prompt": "How good, after all?"})
    new = change_criterion(actor=world.alice, project=world.project, seen=grade, spec=spec, choices=Choices())
    assert new.batch is not None
    assert new.batch.selection["came"] == "renewed"
    label(new.batch)
    assert drawn_samples(new.criterion).chances == chances
    assert how_labelled(new.criterion).chosen == new.batch.batch_samples.count() - len(chances)
    # Whoever is chosen on the new version is in none, though the draw on the one before has all of these.
    label(batch(world, {"method": "list", "samples": ["s1", "s2", "s3"]}, criteria=("grade",), annotators=[world.ben]))
    assert drawn_samples(new.criterion, settled_only=False).chances == chances


def test_of_labels_made_elsewhere_nothing_is_known_until_an_admin_says_it(world: World, grade: Criterion) -> None:
    with pytest.raises(Conflict) as refused:
        declare_draw(criterion=grade, how="all", actor=world.alice)
    assert refused.value.code == "nothing_elsewhere"
    label_elsewhere(grade, "s1", "s2")
    assert drawn_samples(grade).chances == {}
    assert (how_labelled(grade).undeclared, how_labelled(grade).chosen) == (2, 2)
    declare_draw(criterion=grade, how="all", actor=world.alice)
    found = drawn_samples(grade)
    assert found.chances == {"s1": (1.0, 1), "s2": (1.0, 1)}
    today = timezone.now().date().isoformat()
    assert found.by == [DrawnBy("declared_all", 2, world.alice.name, today, None)]
    entry = AuditEntry.objects.get(action="labels.declared")
    assert (entry.actor, entry.details) == (world.alice, {"how": "all", "samples": 2})
    # It is about the labels there were.
    label_elsewhere(grade, "s3")
    assert drawn_samples(grade).chances.keys() == {"s1", "s2"}
    assert how_labelled(grade).undeclared == 1
    declare_draw(criterion=grade, how="random", population=30, actor=world.alice)
    assert drawn_samples(grade).chances == dict.fromkeys(("s1", "s2", "s3"), (0.1, 1))
    declare_draw(criterion=grade, how="unknown", actor=world.alice)
    assert drawn_samples(grade).chances == {}
    assert not DeclaredDraw.objects.exists()


def test_chances_of_a_column(world: World, grade: Criterion) -> None:
    label_elsewhere(grade, "s1", "s2", "s3")
    # Files of texts have texts.
    for name, said in (("s1", 0.5), ("s2", "0.25"), ("s3", 0.5)):
        Sample.objects.filter(external_id=name).update(metadata={"7": said})
    declare_draw(criterion=grade, how="column", column="7")
    assert drawn_samples(grade).chances == {"s1": (0.5, 2), "s2": (0.25, 1), "s3": (0.5, 2)}
    assert drawn_samples(grade).by[0][:3] == ("declared_column", 3, "")


@pytest.mark.parametrize("said", [None, "often", 0, 1.5, True, "nan", [0.5]])
def test_a_column_that_holds_no_chance_is_refused_by_sample(world: World, grade: Criterion, said: Any) -> None:
    label_elsewhere(grade, "s1", "s2")
    Sample.objects.filter(external_id="s1").update(metadata={"weight": 1})
    Sample.objects.filter(external_id="s2").update(metadata={} if said is None else {"weight": said})
    with pytest.raises(Invalid, match=r"“s2” has “.*” in “weight”") as refused:
        declare_draw(criterion=grade, how="column", column="weight")
    assert refused.value.code == "bad_chance"
    assert not DeclaredDraw.objects.exists()


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"how": "somehow"}, "bad_how"),
        ({"how": "random"}, "bad_population"),
        ({"how": "random", "population": 1}, "bad_population"),
        ({"how": "all", "population": 9}, "bad_population"),
        ({"how": "column"}, "bad_column"),
        ({"how": "all", "column": "weight"}, "bad_column"),
    ],
)
def test_words_that_do_not_go_together_are_refused(grade: Criterion, given: Any, code: str) -> None:
    label_elsewhere(grade, "s1", "s2")
    with pytest.raises(Invalid) as refused:
        declare_draw(criterion=grade, **given)
    assert refused.value.code == code


def test_a_word_and_a_draw_together(world: World, grade: Criterion) -> None:
    label_elsewhere(grade, "s1")
    declare_draw(criterion=grade, how="random", population=5)
    made = label(batch(world, {"method": "random", "n": 4, "seed": 1}))
    # Labelled before it: for itself. The draw stands for the rest of what there was, also for what came in later.
    later = Sample.objects.get(external_id="s2")
    later.pk, later.external_id = None, "later"
    later.content_hash = b"1" * 16
    later.save(force_insert=True)
    there = made.batch_samples.values_list("sample__external_id", flat=True)
    other = next(f"s{n}" for n in range(2, 11) if f"s{n}" not in there)
    label_elsewhere(grade, "later", other)
    declare_draw(criterion=grade, how="random", population=30)
    found = drawn_samples(grade).chances
    assert found["s1"] == (1.0, 0)
    assert other not in found
    assert found["later"] == (3 / 30, 2)


def test_the_command_names_who_said_so(world: World, grade: Criterion, capsys: pytest.CaptureFixture[str]) -> None:
    label_elsewhere(grade, "s1")
    call_command("declare_draw", "desk", criterion="grade", how="all", by="alice")
    assert capsys.readouterr().out == "grade: 1 labelled samples have a known chance, 0 count in no guarantee.\n"
    assert drawn_samples(grade).by[0].by == world.alice.name
    with pytest.raises(CommandError, match="Give the population size"):
        call_command("declare_draw", "desk", criterion="grade", how="random")


def test_batches_of_before_get_the_chances_that_are_certain(world: World) -> None:
    every, some = batch(world), batch(world, {"method": "random", "n": 4, "seed": 1})
    matching = batch(world, {"method": "filter", "filter": {"half": 1}})
    named = batch(world, {"method": "list", "samples": ["s1"]})
    extended = extend_batch(
        actor=None, batch=batch(world, {"method": "random", "n": 4}), selection={"method": "random", "n": 9, "seed": 2}
    )
    BatchSample.objects.update(probability=None, stratum=None)
    for one in Batch.objects.all():
        one.selection.pop("came")
        one.save()
    importlib.import_module("annotate.migrations.0008_how_labels_came").say_how_batches_came(apps, None)
    assert [stored(one) for one in (every, some, matching, named, extended)] == [
        {(1.0, 1)}, {(0.4, 1)}, {(None, None)}, {(None, None)}, {(None, None)},
    ]  # fmt: skip
    came = dict(Batch.objects.values_list("number", "selection__came"))
    assert [came[one.number] for one in (every, some, matching, named, extended)] == [
        "drawn", "drawn", "filter", "by_hand", "drawn",
    ]  # fmt: skip
