"""A judge's values as proposals to verify: who sees which, what becomes of the labels, and how far proposals pull."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import ceil
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate.batches.anchoring_read import proposal_effect
from annotate.batches.board_read import person_boards
from annotate.batches.draws_read import drawn_samples, how_labelled
from annotate.batches.edit import edit_batch
from annotate.batches.gold import gold_from_verdicts
from annotate.batches.proposing import source
from annotate.batches.steps import close_batch, extend_batch, open_batch
from annotate.core.blindness import SYSTEM
from annotate.core.errors import Conflict, Invalid
from annotate.core.rows import fetch_all
from annotate.files.releases import make_release, open_release
from annotate.labels.anchored_read import ANCHORED, anchored_samples, is_anchored
from annotate.labels.gold_read import self_consistency
from annotate.models import AuditEntry, Batch, Criterion, Label, ProposedValues, Sample, Task, User, Verdict
from annotate.models.batch import Purpose
from annotate.tasks.read import own_task
from annotate.verdicts.evidence_read import agreement, evidence_of
from judges.core.locked_read import locked_keys
from judges.models import GroupSide, Side, VersionState
from judges.proposals import values
from judges.proposals.values import proposers
from judges.reports.evidence import full_evidence
from tests.annotate.factories import World, finish, make_sample, make_samples, make_world
from tests.clients import client_of
from tests.judges.building import add_judge, add_labels, add_scores
from tests.plans import nodes, plan_of

pytestmark = pytest.mark.django_db

COUNT = 20
JUDGE = "checker"


@pytest.fixture
def desk(db: None) -> World:
    """Twenty samples of two claims each, in ten groups of two, and a judge that finds every first claim supported,
    every second one not; of s3 it has no second score."""
    world = make_world()
    for number, sample in enumerate(make_samples(world.project, COUNT)):
        sample.group_key = f"question {number // 2}"
        sample.save()
    scores = [
        (name, f"claim:{index}", None if (name, index) == ("s3", 1) else value)
        for name in by_name(world)
        for index, value in enumerate(("yes", "no"))
    ]
    add_judge(world.project, JUDGE, by_name(world), scores, label="v7")
    return world


def by_name(world: World) -> dict[str, Sample]:
    return {sample.external_id: sample for sample in world.project.samples.all()}


def support(world: World) -> Criterion:
    return world.criteria("support")[0]


def proposing(world: World, **more: Any) -> Batch:
    given = {
        "criteria": ("support",),
        "overlap": 2,
        "proposals": {"support": JUDGE},
        "annotators": [world.ann, world.ben],
    }
    return world.batch(**{**given, **more})


def arms(batch: Batch) -> dict[str, bool]:
    """By sample whether its proposals are shown."""
    return dict(batch.proposed.values_list("sample__external_id", "shown"))


def tasks(batch: Batch, user: User | None = None, *, shown: bool | None = None) -> list[Task]:
    found = batch.tasks.select_related("sample", "annotator", "batch").filter(annotator=user) if user else batch.tasks
    listed = list(found.select_related("sample", "annotator", "batch").order_by("pk"))
    return [task for task in listed if shown is None or arms(batch).get(task.sample.external_id) == shown]


def seen(task: Task) -> Any:
    """What the workspace is sent."""
    assert task.annotator is not None
    return own_task(user=task.annotator, task_id=task.pk)["proposals"]


def follow(task: Task, value: Callable[[str], str] = lambda unit: "yes" if unit == "claim:0" else "no") -> None:
    finish(task, support=value)


# Which samples have proposals, and who sees them


def test_values_are_copied_and_a_share_of_the_groups_is_withheld(desk: World) -> None:
    batch = proposing(desk, withheld_share=0.25)
    rows = {row.sample.external_id: row for row in batch.proposed.select_related("sample")}
    assert rows.keys() == by_name(desk).keys()
    assert rows["s1"].proposed == {"claim:0": "yes", "claim:1": "no"}
    assert rows["s3"].proposed == {"claim:0": "yes"}, "a failed score is no value"
    assert {(row.judge, row.version) for row in rows.values()} == {(JUDGE, "v7")}
    groups: dict[str, set[bool]] = {}
    for row in rows.values():
        groups.setdefault(row.sample.group_key, set()).add(row.shown)
    assert all(len(shown) == 1 for shown in groups.values())
    withheld = ceil(0.25 * 10)
    assert sum(shown == {False} for shown in groups.values()) == withheld
    assert {row.withheld_chance for row in rows.values()} == {withheld / 10}
    entry = AuditEntry.objects.get(action="batch.opened")
    assert entry.details["proposals"] == {"support": f"{JUDGE} v7"}


def test_the_same_seed_draws_the_same_groups_and_another_one_others(desk: World) -> None:
    drawn = [arms(proposing(desk, seed=seed, opened=False) and _opened(desk, seed)) for seed in (5, 5, 6)]
    assert drawn[0] == drawn[1] != drawn[2]


def _opened(world: World, seed: int) -> Batch:
    batch = proposing(world, seed=seed)
    # Two batches that ask the same at once have no proposals in common.
    close_batch(batch=batch)
    return batch


def test_a_proposal_comes_with_the_task_where_it_is_shown_and_nowhere_else(desk: World) -> None:
    batch = proposing(desk)
    for task in tasks(batch, shown=True):
        expected = {"claim:0": "yes"} if task.sample.external_id == "s3" else {"claim:0": "yes", "claim:1": "no"}
        assert seen(task) == {"support": {"judge": JUDGE, "values": expected}}
    assert tasks(batch, shown=True)
    assert tasks(batch, shown=False)
    for task in tasks(batch, shown=False):
        whole = own_task(user=task.annotator or desk.ann, task_id=task.pk)
        assert whole["proposals"] is None
        assert JUDGE not in json.dumps(whole)


def test_tasks_that_measure_their_annotator_have_none(desk: World) -> None:
    batch = proposing(desk, repeat_share=0.5)
    repeats = batch.tasks.filter(purpose=Purpose.REPEAT).select_related("annotator")
    assert repeats
    assert {seen(task) for task in repeats} == {None}
    shown = tasks(batch, desk.ann, shown=True)[0]
    gold = Task.objects.create(
        batch=batch, sample=shown.sample, annotator=desk.chen, purpose=Purpose.GOLD, position=999
    )
    assert seen(gold) is None


def test_other_batches_and_projects_see_nothing_of_it(desk: World) -> None:
    shown = next(name for name, is_shown in arms(proposing(desk)).items() if is_shown)
    later = desk.batch(
        criteria=("support",), annotators=[desk.chen], overlap=1, selection={"method": "list", "samples": [shown]}
    )
    assert seen(later.tasks.select_related("annotator").get()) is None
    stranger = make_sample(desk.other, 1)
    assert source().proposals(support(desk), JUDGE, [stranger.external_id, "s1"]).values.keys() == {"s1"}
    with pytest.raises(Invalid):
        source().proposals(desk.other.criteria.get(), JUDGE, ["s1"])


def test_a_group_that_is_locked_or_may_come_to_be_has_no_proposals(desk: World) -> None:
    criterion = support(desk)
    side = {"project": desk.project, "criterion_key": "support"}
    GroupSide.objects.create(**side, group="question 0", side=Side.TEST)
    GroupSide.objects.create(**side, group="question 1", side=Side.DEV)
    # Labelled, without a side yet: its group may come to test.
    add_labels(criterion, by_name(desk), [("s5", "claim:0", "ext", "yes")])
    closed = locked_keys(desk.project, [sample.pk for sample in by_name(desk).values()])
    assert {name for name, sample in by_name(desk).items() if sample.pk in closed} == {"s1", "s2", "s5"}
    batch = proposing(desk)
    assert by_name(desk).keys() - arms(batch).keys() == {"s1", "s2", "s5", "s6"}
    for task in tasks(batch):
        if task.sample.external_id in {"s1", "s2", "s5", "s6"}:
            assert seen(task) is None


def test_what_people_said_without_a_proposal_stays_what_it_is(desk: World) -> None:
    side = {"project": desk.project, "criterion_key": "support"}
    GroupSide.objects.create(**side, group="question 0", side=Side.DEV)
    add_labels(support(desk), by_name(desk), [("s1", "claim:0", "ext", "yes")])
    elsewhere = desk.batch(criteria=("support",), selection={"method": "list", "samples": ["s9"]})
    assert by_name(desk).keys() - arms(proposing(desk)).keys() == {"s1", "s9"}
    assert elsewhere.proposed.count() == 0


def test_samples_that_are_added_join_the_arm_of_their_group(desk: World) -> None:
    odd = [f"s{n}" for n in range(1, COUNT + 1, 2)]
    batch = proposing(desk, selection={"method": "list", "samples": odd})
    before = arms(batch)
    assert before.keys() == set(odd)
    extend_batch(actor=desk.alice, batch=batch, selection={"method": "all"})
    after = arms(batch)
    assert {name: after[name] for name in before} == before
    for number in range(1, COUNT, 2):
        assert after[f"s{number + 1}"] == after[f"s{number}"]


# What an admin may ask for


def test_only_judges_that_answer_with_the_options_can_propose(desk: World) -> None:
    (grade,) = desk.criteria("grade")
    samples = by_name(desk)

    def judge(name: str, values: list[Any], dimension: str = "grade") -> None:
        add_judge(
            desk.project, name, samples, [(f"s{n}", "answer", v) for n, v in enumerate(values, 1)], dimension=dimension
        )

    judge("grader", [1.0, 5.0, None])
    judge("metric", [0.2, 0.9])
    judge("sure metric", [1.0, 1.0])
    judge("silent", [None])
    assert proposers(grade) == ["grader"]
    assert proposers(support(desk)) == [JUDGE]
    assert proposers(desk.criteria("relevance")[0]) == [], "no options"
    found = source().proposals(grade, "grader", list(samples))
    assert found.values == {"s1": {"answer": 1}, "s2": {"answer": 5}}
    judge_version = add_judge(desk.project, "trial", samples, [("s1", "answer", 4.0)], dimension="grade")
    assert "trial" in proposers(grade)
    judge_version.state = VersionState.TRIAL
    judge_version.save()
    assert "trial" not in proposers(grade), "a version that is tried is not in use"


def test_how_a_judge_answers_is_told_by_its_first_scores(desk: World, monkeypatch: pytest.MonkeyPatch) -> None:
    (grade,) = desk.criteria("grade")
    samples = by_name(desk)
    scores = [("s1", "answer", 4.0), ("s2", "answer", 0.3)]
    add_judge(desk.project, "both", samples, scores, dimension="grade")
    assert "both" not in proposers(grade)
    monkeypatch.setattr(values, "FIRST", 1)
    with CaptureQueriesContext(connection) as asked:
        assert "both" in proposers(grade)
    # What is no option is refused all the same.
    with pytest.raises(Invalid):
        source().proposals(grade, "both", list(samples))
    sql = next(query["sql"] for query in asked if '"judges_score"' in query["sql"])
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off")
    plan = plan_of(sql, run=False)
    assert "score_once_per_unit_and_repeat" in {node.get("Index Name") for node in nodes(plan)}
    assert not [node for node in nodes(plan) if node["Node Type"] == "Sort"]


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"proposals": {"grade": JUDGE}}, "bad_proposals"),
        ({"proposals": {"support": "nobody"}}, "no_proposer"),
        ({"proposals": [JUDGE]}, "bad_proposals"),
        ({"withheld_share": 0}, "bad_share"),
        ({"withheld_share": 1}, "bad_share"),
        ({"withheld_share": True}, "bad_share"),
    ],
)
def test_what_makes_no_sense_is_refused(desk: World, given: dict[str, Any], code: str) -> None:
    with pytest.raises(Invalid) as refused:
        proposing(desk, opened=False, **given)
    assert refused.value.code == code
    assert Batch.objects.count() == 0


def test_a_draft_without_anything_to_propose_does_not_open(desk: World) -> None:
    batch = proposing(desk, opened=False)
    add_labels(support(desk), by_name(desk), [(name, "claim:0", "ext", "yes") for name in by_name(desk)])
    with pytest.raises(Conflict) as refused:
        open_batch(batch=batch)
    assert refused.value.code == "nothing_proposed"
    assert (batch.tasks.count(), ProposedValues.objects.count()) == (0, 0)


def test_a_draft_can_be_changed(desk: World) -> None:
    batch = proposing(desk, opened=False)
    edited = edit_batch(actor=desk.alice, batch=batch, withheld_share=0.5)
    assert (edited.proposals, edited.withheld_share) == ({"support": JUDGE}, 0.5)
    with pytest.raises(Invalid) as refused:
        edit_batch(actor=desk.alice, batch=batch, criteria=desk.criteria("grade"))
    assert refused.value.code == "bad_proposals"
    edited = edit_batch(actor=desk.alice, batch=batch, proposals={})
    assert open_batch(batch=edited).proposed.count() == 0


# What becomes of the labels


def label(batch: Batch, *, only: bool | None = None) -> None:
    """Who sees a proposal follows it; who doesn't says yes to all."""
    for task in tasks(batch, shown=only):
        if task.purpose == Purpose.LABEL:
            follow(task) if seen(task) else finish(task, support="yes")


def test_labels_with_a_proposal_in_view_are_no_evidence(desk: World) -> None:
    batch, criterion = proposing(desk), support(desk)
    label(batch)
    withheld = {name for name, shown in arms(batch).items() if not shown}
    evidence = evidence_of(criterion, reader=SYSTEM)
    assert {sample for sample, _unit in evidence.units} == withheld
    assert {sample for sample, _unit in evidence.verdicts} == withheld
    assert Verdict.objects.filter(state="settled").count() == 2 * COUNT, "they settle their units all the same"
    # Nor do they bring a sample to a side, from which it could be locked or looked at.
    full_evidence(criterion)
    sided = set(GroupSide.objects.values_list("group", flat=True))
    assert sided == {by_name(desk)[name].group_key for name in withheld}
    assert agreement(criterion, reader=SYSTEM)["raters"] == ["ann", "ben"]
    boards = person_boards(batch)
    assert {board.agreement.n for board in boards} <= {0, 2 * len(withheld)}
    # Of units that measure people none rests on a judge.
    drawn = gold_from_verdicts(actor=desk.alice, project=desk.project, criterion=criterion, n=2 * len(withheld))
    assert {answer.sample.external_id for answer in drawn} == withheld
    with pytest.raises(Invalid):
        gold_from_verdicts(actor=desk.alice, project=desk.project, criterion=criterion, n=1)


def test_whoever_labels_such_a_sample_again_makes_no_evidence_of_it(desk: World) -> None:
    batch, criterion = proposing(desk), support(desk)
    shown = next(name for name, is_shown in arms(batch).items() if is_shown)
    for task in tasks(batch):
        if task.sample.external_id == shown:
            follow(task)
    again = desk.batch(
        criteria=("support",), overlap=1, annotators=[desk.chen], selection={"method": "list", "samples": [shown]}
    )
    finish(again.tasks.select_related("annotator", "sample", "batch").get())
    assert evidence_of(criterion, reader=SYSTEM).units == []
    assert set(anchored_samples(criterion)) == {by_name(desk)[shown].pk}


def test_what_no_one_began_counts_when_it_is_labelled_elsewhere(desk: World) -> None:
    batch, criterion = proposing(desk), support(desk)
    shown = next(name for name, is_shown in arms(batch).items() if is_shown)
    close_batch(batch=batch)
    again = desk.batch(
        criteria=("support",), selection={"method": "list", "samples": [shown]}, annotators=[desk.ann, desk.chen]
    )
    label(again)
    assert {sample for sample, _unit in evidence_of(criterion, reader=SYSTEM).units} == {shown}


def test_the_rule_in_both_spellings(desk: World) -> None:
    batch = proposing(desk)
    label(batch)
    by_django = set(Label.objects.filter(is_anchored()).values_list("pk", flat=True))
    by_hand = {pk for (pk,) in fetch_all(f"SELECT l.id FROM annotate_label l WHERE {ANCHORED}")}
    expected = {name for name, shown in arms(batch).items() if shown}
    assert by_django == by_hand
    assert set(Label.objects.filter(pk__in=by_hand).values_list("sample__external_id", flat=True)) == expected


def test_second_readings_of_them_show_no_steadiness(desk: World) -> None:
    batch = proposing(desk, repeat_share=0.5, withheld_share=0.5)
    label(batch)
    repeats = batch.tasks.filter(purpose=Purpose.REPEAT).select_related("annotator", "sample", "batch")
    for task in repeats:
        finish(task, support="yes")
    counted = [task for task in repeats if not arms(batch)[task.sample.external_id]]
    assert 0 < len(counted) < len(repeats)
    assert sum(row.agreement.n for row in self_consistency(batch)) == 2 * len(counted)


def test_withheld_samples_stand_for_those_that_saw_proposals(desk: World) -> None:
    batch, criterion = (
        proposing(desk, selection={"method": "random", "n": 10, "seed": 4}, withheld_share=0.4),
        support(desk),
    )
    label(batch)
    (probability,) = set(batch.batch_samples.values_list("probability", flat=True))
    withheld = {name for name, shown in arms(batch).items() if not shown}
    (chance,) = set(batch.proposed.values_list("withheld_chance", flat=True))
    assert chance == 2 / 5
    found = drawn_samples(criterion)
    assert found.chances.keys() == withheld
    assert {one for one, _stratum in found.chances.values()} == {probability * chance}
    assert [(one.how, one.samples) for one in found.by] == [("random", len(withheld))]
    assert (how_labelled(criterion).known, how_labelled(criterion).chosen) == (len(withheld), 0)


def test_samples_without_a_proposal_keep_their_own_chance(desk: World) -> None:
    GroupSide.objects.create(project=desk.project, criterion_key="support", group="question 0", side=Side.TEST)
    batch, criterion = proposing(desk), support(desk)
    label(batch)
    chances = drawn_samples(criterion).chances
    assert chances["s1"] == chances["s2"] == (1.0, 1)
    withheld = {name for name, shown in arms(batch).items() if not shown}
    assert {chances[name] for name in withheld} == {(2 / 9, 2)}
    assert chances.keys() == withheld | {"s1", "s2"}


def test_they_are_exported_with_a_mark(desk: World) -> None:
    batch = proposing(desk)
    label(batch)
    release = make_release(project=desk.project, user=desk.alice, file_format="jsonl")
    with open_release(release) as file:
        rows = [json.loads(line) for line in file]
    assert {row["sample_id"]: row["proposal_shown"] for row in rows} == arms(batch)


# How far proposals pull


def test_the_pull_is_the_difference_of_both_arms(desk: World) -> None:
    extra = [make_sample(desk.project, number) for number in range(COUNT + 1, COUNT + 31)]
    version = desk.project.judges.get().versions.get()
    add_scores(
        version,
        by_name(desk),
        [(one.external_id, f"claim:{n}", value) for one in extra for n, value in enumerate(("yes", "no"))],
    )
    batch = proposing(desk, withheld_share=0.5)
    for task in tasks(batch):
        Task.objects.filter(pk=task.pk).update(active_seconds=20 if seen(task) else 50)
    label(batch)
    effect = proposal_effect(batch, reader=desk.alice)
    assert effect is not None
    (row,) = effect.criteria
    assert (row.criterion, row.judge) == ("support", JUDGE)
    shown = tasks(batch, shown=True)
    withheld = tasks(batch, shown=False)
    lost = {
        True: sum(t.sample.external_id == "s3" for t in shown),
        False: sum(t.sample.external_id == "s3" for t in withheld),
    }
    assert row.shown.value == 1
    # Those of s3 have no second score, so that of them only the first claim counts, which all find supported.
    assert row.withheld.value == pytest.approx(len(withheld) / (2 * len(withheld) - lost[False]))
    assert row.more.value == pytest.approx(1 - row.withheld.value)
    assert row.more.n == 2 * (len(shown) + len(withheld)) - lost[True] - lost[False]
    assert row.more.clusters == 20, "groups of the smaller arm"
    assert row.more.low is not None
    assert row.more.low > 0
    assert (effect.seconds_shown, effect.seconds_withheld) == (20, 50)


def test_few_groups_have_no_figure_and_say_so(desk: World) -> None:
    batch = proposing(desk)
    label(batch)
    effect = proposal_effect(batch, reader=desk.alice)
    assert effect is not None
    (row,) = effect.criteria
    assert row.more.value is None
    assert row.more.reason == {"code": "few_groups_of_an_arm", "n": 10}


def test_who_still_labels_in_the_batch_learns_no_figure(desk: World) -> None:
    batch = proposing(desk, annotators=[desk.ann, desk.alice])
    assert proposal_effect(proposing(desk, opened=False), reader=SYSTEM) is None
    assert proposal_effect(desk.batch(criteria=("grade",)), reader=SYSTEM) is None
    for task in tasks(batch, desk.alice)[1:]:
        follow(task)

    def reason(reader: Any) -> Any:
        effect = proposal_effect(batch, reader=reader)
        assert effect is not None
        return effect.criteria[0].more.reason

    assert reason(desk.alice) == {"code": "own_tasks_left"}
    assert reason(desk.rita) == {"code": "few_groups_of_an_arm", "n": 10}
    follow(tasks(batch, desk.alice)[0])
    assert reason(desk.alice) == {"code": "few_groups_of_an_arm", "n": 10}


def test_over_the_api(desk: World) -> None:
    client = client_of(desk.alice)
    asked = {"name": "Verify", "criteria": ["support"], "annotators": ["ann"], "overlap": 1}
    made = client.post("/api/projects/desk/batches/", {**asked, "proposals": {"support": JUDGE}}, format="json")
    assert made.status_code == 201, made.content
    assert (made.json()["proposals"], made.json()["withheld_share"]) == ({"support": JUDGE}, 0.2)
    number = made.json()["number"]
    changed = client.patch(f"/api/projects/desk/batches/{number}/", {"withheld_share": 0.3}, format="json")
    assert changed.json()["withheld_share"] == 0.3
    assert client.post(f"/api/projects/desk/batches/{number}/open/").status_code == 200
    quality = client.get(f"/api/projects/desk/batches/{number}/quality/").json()
    assert quality["proposals"]["criteria"][0]["more"]["reason"]["code"] == "few_groups_of_an_arm"
    batch = Batch.objects.get(number=number, project=desk.project)
    task = tasks(batch, shown=True)[0]
    work = client_of(desk.ann).get(f"/api/tasks/{task.pk}/").json()
    assert work["task"]["proposals"]["support"]["judge"] == JUDGE
