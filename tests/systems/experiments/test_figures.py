"""What an experiment's figures are: of which questions and labels, beside what one works out by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from annotate.batches.steps import close_batch, start_adjudication
from annotate.models import AuditEntry, Batch, Sample, Task, Verdict
from judges.models import GroupSide, Side
from systems.models import Experiment, ExperimentFigures
from tests.annotate.factories import World, finish
from tests.database import copied_from_world
from tests.systems.building import command
from tests.systems.experiments.building import create, draw, figures, label, metric
from tests.systems.experiments.conftest import QUESTIONS, SPEC, answer
from tests.systems.experiments.conftest import compared_world as _world  # noqa: F401

Write = Callable[..., Path]

compared = copied_from_world()


@pytest.fixture
def experiment(compared: World, write: Write) -> World:
    create(write, SPEC)
    return compared


def supported(task: Task, unit: str) -> str:
    """People: v2 is supported entirely, of v1 the first claim, and the second too where the question is even."""
    sample = task.sample
    even = int(sample.group_key[1:]) % 2 == 0
    return "yes" if sample.pipeline_version == "v2" or unit == "claim:0" or even else "no"


def test_before_labels_there_is_the_raw_judge_only(experiment: World) -> None:
    found = figures()
    assert (found["schema"], found["set"], found["baseline"], found["population"]) == (1, "support@1", "v1", QUESTIONS)
    assert found["rule"] == {**SPEC["rule"], "level": 0.95}
    faithful = metric(found, "faithfulness")
    assert (faithful["role"], faithful["direction"], faithful["unit"]) == ("primary", "higher", "share")
    first, second = faithful["levels"]
    assert (first["version"], first["questions"], first["answered"], first["labelled"]) == ("v1", QUESTIONS, 12, 0)
    assert (first["raw"]["value"], second["raw"]["value"]) == (0.5, 1.0)
    assert first["people"]["reason"] == {"code": "no_labelled"}
    (difference,) = faithful["differences"]
    assert (difference["a"], difference["b"], difference["raw"]["value"]) == ("v1", "v2", 0.5)
    assert difference["verdict"] == "cannot_tell"
    latency = metric(found, "latency_ms")
    assert (latency["role"], latency["direction"], latency["unit"]) == ("guard", "lower", "ms")
    assert latency["differences"][0]["corrected"]["value"] == pytest.approx(50)
    assert (metric(found, "grade")["role"], found["verdict"]) == ("exploratory", "cannot_tell")


def test_a_metric_has_the_title_of_its_criterion_or_its_own_name(compared: World, write: Write) -> None:
    create(write, {**SPEC, "metrics": [*SPEC["metrics"], {"name": "well graded", "criterion": "grade"}]})
    titles = {one["metric"]: one["title"] for one in figures()["metrics"]}
    assert (titles["grade"], titles["well graded"]) == ("Grade", "well graded")


def test_labels_correct_the_judge(experiment: World) -> None:
    batch = draw(8)
    waiting = metric(figures(), "faithfulness")
    assert [(one["drawn"], one["labelled"], one["unresolved"]) for one in waiting["levels"]] == [(8, 0, 8)] * 2
    # The middle of bounds that leave everything open would be a made-up figure.
    assert waiting["differences"][0]["people"]["value"] is None
    assert waiting["differences"][0]["reason"]["code"] == "nothing_settled"
    label(experiment, batch, supported)
    found = figures()
    faithful = metric(found, "faithfulness")
    first, second = faithful["levels"]
    drawn = {int(name[1:]) for name in batch.samples.values_list("group_key", flat=True)}
    mean = sum(1.0 if n % 2 == 0 else 0.5 for n in drawn) / 8
    assert (first["labelled"], first["unresolved"]) == (8, 0)
    # The judge says the same of every answer of a version: it takes nothing away.
    assert first["people"]["value"] == pytest.approx(mean)
    assert first["corrected"]["value"] == pytest.approx(mean)
    assert second["people"]["value"] == pytest.approx(1.0)
    (difference,) = faithful["differences"]
    assert difference["people"]["value"] == pytest.approx(1 - mean)
    assert difference["people"]["low"] < 1 - mean < difference["people"]["high"]
    assert difference["sequential"]["n"] == 8
    assert difference["sequential"]["low"] <= difference["sequential"]["value"] <= difference["sequential"]["high"]
    grade = metric(found, "grade")["levels"][0]
    assert grade["people"]["value"] == pytest.approx(0.75)


def test_figures_are_frozen_and_made_anew_when_something_changed(experiment: World) -> None:
    first = figures()
    assert figures() == first
    assert ExperimentFigures.objects.count() == 1
    batch = draw(8)
    figures()
    label(experiment, batch, supported)
    last = figures()
    assert ExperimentFigures.objects.count() == 3
    assert figures() == last
    made = ExperimentFigures.objects.order_by("id").first()
    assert made is not None
    assert made.result == first


def test_an_answer_after_a_failed_request_makes_figures_anew(experiment: World, write: Write) -> None:
    """Of a response that is there more becomes known: none is added."""

    def latencies(row: dict[str, object]) -> float:
        command("import_samples", "desk", write("more.jsonl", [{"question_id": "q0", "pipeline_version": "v2", **row}]))
        found: float = metric(figures(), "latency_ms")["levels"][1]["corrected"]["value"]
        return found

    answered = {name: value for name, value in answer(0, "v2", repeat=1).items() if name != "latency_ms"}
    latencies({"repeat": 1, "status": "failed", "error": "timeout"})
    assert metric(figures(), "faithfulness")["levels"][1]["failed"] == 1
    before = latencies(answered)
    assert metric(figures(), "faithfulness")["levels"][1]["failed"] == 0
    assert latencies({**answered, "latency_ms": 9000}) > before


def test_the_trail_tells_no_verdict(experiment: World) -> None:
    """Admins who still have an answer to label read it."""
    figures()
    (entry,) = AuditEntry.objects.filter(action="experiment.figures")
    assert entry.details == {"rule": 1}


def test_drawn_is_not_labelled(experiment: World) -> None:
    """Of eight drawn questions: two are settled, of one both answers have one label each, and of the rest no one has
    said anything."""
    batch = draw(8)
    names = list(batch.samples.order_by("group_key").values_list("group_key", flat=True).distinct())
    tasks = Task.objects.filter(batch=batch).select_related("sample", "annotator", "batch").order_by("pk")
    seen: set[int] = set()
    for task in tasks:
        if task.sample.group_key in names[:2] or (task.sample.group_key == names[2] and task.sample_id not in seen):
            finish(task, support=lambda unit: "yes", grade=4)
            seen.add(task.sample_id)
    for name in ("faithfulness", "grade"):
        levels = metric(figures(), name)["levels"]
        assert [(one["drawn"], one["labelled"], one["unresolved"]) for one in levels] == [(8, 3, 6)] * 2


def test_a_draft_counts_for_nothing(experiment: World) -> None:
    draw(8, "--draft")
    assert [one["labelled"] for one in metric(figures(), "faithfulness")["levels"]] == [0, 0]


@pytest.mark.parametrize("came", ["by_hand", "flipped", "disputed", "triage"])
def test_what_was_chosen_is_no_evidence(experiment: World, came: str) -> None:
    names = list(Sample.objects.values_list("external_id", flat=True))
    batch = experiment.batch(selection={"method": "list", "samples": names, "came": came})
    label(experiment, batch, supported)
    assert [one["labelled"] for one in metric(figures(), "faithfulness")["levels"]] == [0, 0]


def test_all_samples_of_a_batch_are_no_draw_of_the_experiment(experiment: World) -> None:
    label(experiment, experiment.batch(), supported)
    assert [one["labelled"] for one in metric(figures(), "faithfulness")["levels"]] == [0, 0]


def test_what_is_not_settled_lies_between_bounds(experiment: World) -> None:
    batch = draw(QUESTIONS)
    disputed = batch.samples.filter(pipeline_version="v1").first()
    assert disputed is not None

    def split(task: Task, unit: str) -> str:
        if task.sample == disputed and unit == "claim:0":
            others = Task.objects.filter(batch=batch, sample=disputed).order_by("annotator")
            return "yes" if task == others.first() else "no"
        return "yes"

    label(experiment, batch, split)
    assert Verdict.objects.filter(state="disputed").count() == 1
    faithful = metric(figures(), "faithfulness")
    first, second = faithful["levels"]
    assert (first["unresolved"], second["unresolved"]) == (1, 0)
    # One of two claims is between 0 and 1, so this answer is between .5 and 1.
    assert first["people"]["value"] == pytest.approx((11 + 0.75) / 12)
    (difference,) = faithful["differences"]
    order = draw_order()
    assert difference["sequential"]["n"] == order.index(disputed.group_key)
    start_adjudication(batch=batch)
    close_batch(batch=Batch.objects.get(pk=batch.pk))
    assert metric(figures(), "faithfulness")["differences"][0]["sequential"]["n"] == QUESTIONS


def draw_order() -> list[str]:
    return list(Experiment.objects.get().order)


def test_a_failure_stays_in_the_denominator(compared: World, write: Write) -> None:
    more = [{"question_id": f"q{n}", "pipeline_version": "v3", "status": "failed"} for n in range(3)]
    rows = [*more, *(answer(n, "v3") for n in range(3, QUESTIONS))]
    command("import_samples", "desk", write("f.jsonl", rows))
    create(write, {**SPEC, "versions": ["v1", "v3"]})
    batch = draw(QUESTIONS)
    label(compared, batch, lambda *_: "yes")
    faithful = metric(figures(), "faithfulness")
    level = faithful["levels"][1]
    assert (level["questions"], level["answered"], level["failed"], level["undefined"]) == (QUESTIONS, 9, 3, 0)
    assert level["labelled"] == QUESTIONS
    assert level["people"]["value"] == pytest.approx(9 / 12)
    (difference,) = faithful["differences"]
    assert difference["people"]["value"] == pytest.approx(-3 / 12)
    assert difference["complete_cases"]["value"] == pytest.approx(0.0)
    latency = metric(figures(), "latency_ms")["levels"][1]
    assert (latency["raw"]["n"], latency["undefined"]) == (9, 0)


def test_repeats_are_averaged_within_the_question(compared: World, write: Write) -> None:
    rows = [answer(n, "v1", repeat=1, latency_ms=1000) for n in range(6)]
    command("import_samples", "desk", write("r.jsonl", rows))
    create(write, SPEC)
    batch = draw(QUESTIONS)
    assert batch.samples.count() == 30
    label(compared, batch, lambda task, _: "no" if task.sample.external_id.endswith("#1") else "yes")
    found = figures()
    level = metric(found, "faithfulness")["levels"][0]
    assert (level["questions"], level["answered"], level["labelled"], level["repeats"]) == (12, 18, 12, 2)
    assert level["people"]["value"] == pytest.approx((6 * 0.5 + 6) / 12)
    latencies = [(100 + n + 1000) / 2 if n < 6 else 100 + n for n in range(12)]
    assert metric(found, "latency_ms")["levels"][0]["raw"]["value"] == pytest.approx(sum(latencies) / 12)


def test_who_answers_less_is_not_better(compared: World, write: Write) -> None:
    """v3 abstains of every second question, and is faithful where it answers."""
    said = [answer(n, "v3") if n % 2 else answer(n, "v3", answer="I don't know.", claims=[]) for n in range(QUESTIONS)]
    command("import_samples", "desk", write("f.jsonl", said))
    Sample.objects.filter(pipeline_version="v3", answer="I don't know.").update(abstained=True)
    create(write, {**SPEC, "versions": ["v1", "v3"]})
    batch = draw(QUESTIONS)
    label(compared, batch, lambda task, unit: "yes" if task.sample.pipeline_version == "v3" else "no")
    faithful = metric(figures(), "faithfulness")
    assert faithful["levels"][1]["undefined"] == 6
    (difference,) = faithful["differences"]
    assert difference["people"]["value"] == pytest.approx(1.0)
    assert difference["people"]["low"] > 0
    assert difference["answering"]["value"] == pytest.approx(-0.5)
    assert (difference["verdict"], difference["reason"]["code"]) == ("cannot_tell", "answers_less_often")


def test_better_by_more_than_the_interval(experiment: World) -> None:
    batch = draw(QUESTIONS)
    label(experiment, batch, lambda task, _: "yes" if task.sample.pipeline_version == "v2" else "no")
    found = figures()
    assert metric(found, "faithfulness")["differences"][0]["verdict"] == "better"
    assert (found["verdict"], found["verdicts"]) == ("better", [{"b": "v2", "verdict": "better"}])


def test_a_guard_that_is_worse_decides(compared: World, write: Write) -> None:
    guards = [{"metric": "latency_ms", "margin": 10}]
    create(write, {**SPEC, "rule": {**SPEC["rule"], "guards": guards}})
    batch = draw(QUESTIONS)
    label(compared, batch, lambda task, _: "yes" if task.sample.pipeline_version == "v2" else "no")
    found = figures()
    assert metric(found, "latency_ms")["differences"][0]["verdict"] == "worse"
    assert found["verdict"] == "worse"


def test_without_a_set_it_is_what_the_baseline_and_another_were_asked(compared: World, write: Write) -> None:
    command("import_questions", "desk", "more", write("m.jsonl", [{"id": f"q{n}", "question": "?"} for n in (20, 21)]))
    rows = [answer(20, "v1"), answer(20, "v3"), answer(21, "v3")]
    command("import_samples", "desk", write("b.jsonl", rows))
    spec = {name: value for name, value in SPEC.items() if name != "set"}
    create(write, {**spec, "versions": ["v1", "v2", "v3"]})
    found = figures()
    assert (found["set"], found["population"]) == (None, QUESTIONS + 1)
    assert [one["questions"] for one in metric(found, "latency_ms")["levels"]] == [13, 12, 1]
    # Two comparisons hold together.
    assert metric(found, "latency_ms")["differences"][0]["raw"]["level"] == pytest.approx(0.975)


def test_answers_to_another_revision_are_not_of_the_set(compared: World, write: Write) -> None:
    command("import_questions", "desk", "support", write("m.jsonl", [{"id": "q0", "question": "Quite otherwise?"}]))
    command("import_samples", "desk", write("b.jsonl", [answer(n, "v3") for n in range(QUESTIONS)]))
    create(write, {**SPEC, "versions": ["v1", "v3"]})
    assert [one["questions"] for one in metric(figures(), "latency_ms")["levels"]] == [12, 11]


def test_a_judge_that_answers_with_numbers(compared: World, write: Write) -> None:
    """Within 0 and 1 they are taken as they stand where dev says nothing; a rank of contexts needs passes."""
    scores = [
        {"sample_id": name, "unit": "answer", "dimension": "grade", "judge": "grader", "score": 3}
        for name in Sample.objects.values_list("external_id", flat=True)
    ]
    command("import_scores", "desk", write("g.jsonl", scores))
    create(write, {**SPEC, "metrics": [*SPEC["metrics"], {"name": "g", "criterion": "grade", "judge": "grader"}]})
    assert metric(figures(), "g")["levels"][0]["raw"]["value"] == pytest.approx(0.5)


def test_the_table_says_what_decides(experiment: World) -> None:
    printed = command("experiment", "desk", "v2-or-v1")
    assert "v2-or-v1: v1, v2 on 12 questions (support@1)." in printed
    assert "v2: cannot tell." in printed


def test_it_is_written_to_a_file(experiment: World, tmp_path: Path) -> None:
    out = tmp_path / "figures.json"
    assert command("experiment", "desk", "v2-or-v1", "--format", "json", "--out", out) == ""
    assert '"schema": 1' in out.read_text()


def test_what_is_drawn_in_parts_has_the_figures_of_one_draw(experiment: World, write: Write) -> None:
    label(experiment, draw(8), supported)
    create(write, SPEC, "in-parts")
    for _ in range(2):
        command("draw_labels", "desk", "in-parts", "--questions", 4, "--seed", 7)
        label(experiment, Batch.objects.latest("number"), supported)
        figures("in-parts")
    whole, parts = figures(), figures("in-parts")
    assert parts["metrics"] == whole["metrics"]
    assert metric(parts, "faithfulness")["differences"][0]["sequential"]["n"] == 8


def test_a_question_that_came_to_dev_between_two_draws_is_passed_over_and_still_stood_for(experiment: World) -> None:
    """It keeps its place among all: what was drawn stands for it too, and the sequence ends before it."""
    label(experiment, draw(4), supported)
    moved = draw_order()[4]
    GroupSide.objects.create(project=experiment.project, criterion_key="support", group=moved, side=Side.DEV)
    label(experiment, draw(QUESTIONS - 5), supported)
    assert draw_order()[-1] == moved
    found = figures()
    level = metric(found, "faithfulness")["levels"][0]
    assert (found["population"], level["questions"], level["labelled"]) == (QUESTIONS, QUESTIONS, QUESTIONS - 1)
    sequential = metric(found, "faithfulness")["differences"][0]["sequential"]
    assert sequential["n"] == QUESTIONS - 1
    assert sequential["low"] < sequential["high"]


def test_questions_that_are_known_entirely_are_known_exactly_while_labels_arrive(experiment: World) -> None:
    """With all labels the sequence is the truth of these questions, which it held after every draw."""
    looks = []
    for _ in range(4):
        label(experiment, draw(QUESTIONS // 4), supported)
        looks.append(metric(figures(), "faithfulness")["differences"][0]["sequential"])
    # Of v1 every second question has one of two claims supported; of v2 all.
    truth = 0.25
    assert [looks[-1][name] for name in ("low", "value", "high")] == pytest.approx([truth] * 3)
    assert all(look["low"] <= truth <= look["high"] for look in looks)
    assert [look["n"] for look in looks] == [3, 6, 9, 12]


def test_a_rule_that_was_changed_after_figures_says_so(experiment: World, write: Write) -> None:
    assert figures()["after_figures"] is False
    label(experiment, draw(8), supported)
    changed = {**SPEC, "rule": {"primary": "grade", "margin": 0.5, "guards": []}}
    command("create_experiment", "desk", "v2-or-v1", "--file", write("again.json", json.dumps(changed)))
    found = figures()
    assert (found["rule_number"], found["after_figures"]) == (2, True)
    assert found["labels_before_rule"] > 0
    assert "changed after figures had been made" in command("experiment", "desk", "v2-or-v1")
