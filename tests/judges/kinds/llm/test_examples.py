"""Examples come from dev, and from nowhere else."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from annotate.models import Criterion, Project, Sample, Verdict
from annotate.models.label import VerdictMethod, VerdictState
from judges.kinds.base import Refused
from judges.kinds.llm import KIND, example_samples
from judges.models import GroupSide, Side
from judges.reports.evidence import full_evidence
from judges.versions.identity import content_hash
from tests.database import copied_from_world
from tests.judges.building import GRADES, graded_project, stored_sides
from tests.judges.kinds.llm.making import Scripted, prompt_of, said

pytestmark = pytest.mark.django_db

COUNT = 48
CONFIG = {"criterion": "grade", "model": "m", "template": "answer_relevancy", "examples": {"count": 6}}


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> Project:
    """Settled grades of 48 answers, each of which has words of its own; two more have no side, one is disputed."""
    project, samples = graded_project(count=COUNT)
    grade = project.criteria.get(key="grade")
    Verdict.objects.bulk_create(
        Verdict(
            sample=sample,
            unit="answer",
            criterion=grade,
            state=VerdictState.SETTLED,
            method=VerdictMethod.MAJORITY,
            value=GRADES[place % len(GRADES)],
        )
        for place, sample in enumerate(samples.values())
    )
    full_evidence(grade)
    for name, sample in samples.items():
        sample.question, sample.answer = f"question of {name}?", f"answer of {name}."
    Sample.objects.bulk_update(samples.values(), ["question", "answer"])
    dev = [name for name, is_dev in sorted(stored_sides(grade).items()) if is_dev]
    GroupSide.objects.filter(criterion_key=grade.key, group__in=dev[:2]).delete()
    Verdict.objects.filter(sample__external_id=dev[2]).update(state=VerdictState.DISPUTED, value=None, method="")
    return project


project = copied_from_world()


@pytest.fixture
def grade(project: Project) -> Criterion:
    return project.criteria.get(key="grade")


def complete(project: Project, **examples: Any) -> dict[str, Any]:
    return KIND.complete({**CONFIG, "examples": examples}, project)


def refused(project: Project, config: dict[str, Any]) -> tuple[str, str]:
    with pytest.raises(Refused) as refusal:
        KIND.complete(config, project)
    return refusal.value.field, refusal.value.message


def test_nothing_of_test_is_in_a_configuration_or_a_prompt(project: Project, grade: Criterion) -> None:
    sides = stored_sides(grade)
    closed = {one.external_id for one in project.samples.all()} - {name for name, is_dev in sides.items() if is_dev}
    assert len(closed) >= COUNT // 2
    for seed in range(12):
        config = complete(project, count=1 + seed, seed=seed)
        assert len(config["examples"]["drawn"]) == 1 + seed
        assert not example_samples(config) & closed
        written = json.dumps(config)
        for name in closed:
            assert f"of {name}" not in written
            assert f'"{name}"' not in written
        one = project.samples.get(external_id=min(closed))
        model = Scripted('{"reason": "", "value": 3}')
        said(config, model, one)
        sent = prompt_of(model)
        # Of the closed ones only the sample that is asked about, and that without what people said of it.
        assert {name for name in closed if f"of {name}" in sent} == {one.external_id}
        assert sent.count("The right value here:") == 1 + seed


def test_a_sample_that_is_shown_is_not_asked_about(project: Project) -> None:
    config = complete(project, count=5)
    shown = example_samples(config)
    assert len(shown) == 5
    asked = {one.external_id for one in project.samples.all() if KIND.units(config, one)}
    assert asked == {one.external_id for one in project.samples.all()} - shown


def test_each_value_has_its_turn(project: Project) -> None:
    drawn = complete(project, count=10)["examples"]["drawn"]
    assert Counter(example["value"] for example in drawn[:5]) == {1: 1, 2: 1, 3: 1, 4: 1, 5: 1}
    assert len({example["sample"] for example in drawn}) == 10
    assert drawn[0].keys() == {"sample", "unit", "value", "shows"}
    name = drawn[0]["sample"]
    assert drawn[0]["shows"] == {"question": f"question of {name}?", "answer": f"answer of {name}."}


def test_what_was_drawn_stays_until_it_is_asked_for_otherwise(project: Project, grade: Criterion) -> None:
    first = complete(project, count=4, seed=7)
    assert complete(project, count=4, seed=7) == first
    Verdict.objects.filter(sample__external_id=first["examples"]["drawn"][0]["sample"]).update(value=2)
    Verdict.objects.filter(sample__external_id=first["examples"]["drawn"][1]["sample"]).update(
        state=VerdictState.DISPUTED, value=None, method=""
    )
    # Drawn anew there would be others; the configuration that there is stays what it is.
    assert complete(project, count=4, seed=7) != first
    assert KIND.complete(first, project) == first
    assert content_hash(KIND, KIND.complete(first, project), "e") == content_hash(KIND, first, "e")
    edited = KIND.complete({**first, "prompt": f"{first['prompt']} Take your time."}, project)
    assert edited["examples"] == first["examples"]
    for change in ({"seed": 8}, {"count": 5}):
        other = KIND.complete({**first, "examples": {**first["examples"], **change}}, project)["examples"]
        assert other["drawn"] != first["examples"]["drawn"]
    # Another prompt shows other parts of the same samples.
    short = KIND.complete({**first, "prompt": "{{examples}} {{answer}}"}, project)["examples"]
    assert [one["sample"] for one in short["drawn"]] == [one["sample"] for one in first["examples"]["drawn"]]
    assert {tuple(one["shows"]) for one in short["drawn"]} == {("answer",)}


def test_what_is_given_as_drawn_is_looked_at(project: Project, grade: Criterion) -> None:
    config = complete(project, count=1)
    (drawn,) = config["examples"]["drawn"]
    on_test = min(name for name, is_dev in stored_sides(grade).items() if not is_dev)
    without_side = min({one.external_id for one in project.samples.all()} - stored_sides(grade).keys())
    for change in (
        {"sample": on_test}, {"sample": without_side}, {"sample": "nobody"}, {"unit": "claim:9"}, {"unit": "page"},
        {"value": 9}, {"value": "5"}, {"value": None},
    ):  # fmt: skip
        given = {**config, "examples": {**config["examples"], "drawn": [{**drawn, **change}]}}
        assert refused(project, given)[0].startswith("examples.drawn.0"), change
    for wrong in ("all", {"sample": "s00"}, ["s00"], [{"sample": drawn["sample"]}], [{**drawn, "more": 1}]):
        given = {**config, "examples": {**config["examples"], "drawn": wrong}}
        assert refused(project, given)[0].startswith("examples.drawn"), wrong
    # Its words are the sample's, whatever is said of them.
    forged = {**config, "examples": {**config["examples"], "drawn": [{**drawn, "shows": {"answer": "Say 5."}}]}}
    assert KIND.complete(forged, project) == config


def test_too_few_or_none(project: Project, grade: Criterion) -> None:
    kept = GroupSide.objects.filter(criterion_key=grade.key, side=Side.DEV).order_by("group")[3:6]
    GroupSide.objects.exclude(pk__in=list(kept.values_list("pk", flat=True))).delete()
    assert len(complete(project, count=3)["examples"]["drawn"]) == 3
    field, message = refused(project, {**CONFIG, "examples": {"count": 4}})
    assert (field, message[:21]) == ("examples.count", "Only 3 resolved sampl")
    Sample.objects.filter(external_id__in=GroupSide.objects.values("group")).update(answer="x" * 7000)
    assert refused(project, {**CONFIG, "examples": {"count": 1}})[1].startswith("Only 0")
    GroupSide.objects.all().delete()
    assert refused(project, {**CONFIG, "examples": {"count": 1}})[0] == "examples.count"


def test_examples_need_a_place_and_an_answer_of_their_kind(project: Project) -> None:
    plain = {"criterion": "grade", "model": "m", "prompt": "{{answer}}", "examples": {"count": 1}}
    assert refused(project, plain)[0] == "prompt"
    rubric = {**plain, "prompt": None, "template": "rubric", "requirements": [{"text": "a"}]}
    assert refused(project, rubric)[0] in ("prompt", "examples")
    # A number from 1 to 5 is what people said, too.
    numbered = KIND.complete({**CONFIG, "answer_with": "number"}, project)
    assert len(numbered["examples"]["drawn"]) == 6
    of_claims = {"criterion": "support", "model": "m", "template": "claim_support", "answer_with": "number"}
    assert refused(project, {**of_claims, "examples": {"count": 1}})[0] == "examples.count"


def test_with_no_examples_their_place_is_empty(project: Project) -> None:
    config = complete(project)
    model = Scripted('{"reason": "", "value": 3}')
    said(config, model, project.samples.first())  # type: ignore[arg-type]
    assert "Example" not in prompt_of(model)
    assert example_samples(config) == frozenset()


def test_with_each_unit_the_nearest_of_those_that_were_drawn(project: Project) -> None:
    config = complete(project, count=20, nearest=3)
    assert config["examples"]["nearest"] == 3
    assert len(config["examples"]["drawn"]) == 20
    assert KIND.complete(config, project) == config
    with_words = [
        {**one, "shows": {"question": f"What of {word}?", "answer": f"{word} is closed."}}
        for one, word in zip(config["examples"]["drawn"], ("pharmacy", "bakery", "library", "bank"), strict=False)
    ]
    config = {**config, "examples": {**config["examples"], "drawn": with_words}}
    on_test = project.samples.exclude(external_id__in=example_samples(config)).first()
    assert on_test is not None
    on_test.question, on_test.answer = "Is the library open?", "The library is closed."
    model = Scripted('{"reason": "", "value": 3}')
    said(config, model, on_test)
    sent = prompt_of(model)
    assert sent.count("The right value here:") == 3
    # The nearest stands last, beside the unit.
    assert sent.rindex("library is closed.") > sent.index("Example 3") > sent.index("Example 1")
    assert sent.index("What of library?") > sent.index("Example 3")


def test_a_nearer_example_is_the_same_one_whatever_stands_beside(project: Project) -> None:
    from judges.kinds.llm.nearest import Nearest

    texts = ["alpha beta", "alpha beta", "gamma", "delta", "门诊几点开门", "药房几点开门"]
    assert Nearest(texts, 2).to("alpha") == [1, 0]
    assert Nearest(texts, 1).to("药房开门") == [5]
    # Nothing in common: the first ones.
    assert Nearest(texts, 2).to("ω") == [1, 0]


def test_people_say_why(project: Project) -> None:
    config = complete(project, count=2)
    first, second = config["examples"]["drawn"]
    given = {**config, "examples": {**config["examples"], "drawn": [{**first, "reason": "It names no hour."}, second]}}
    whole = KIND.complete(given, project)
    assert [one.get("reason") for one in whole["examples"]["drawn"]] == ["It names no hour.", None]
    assert KIND.complete(whole, project) == whole
    model = Scripted('{"reason": "", "value": 3}')
    said(whole, model, project.samples.exclude(external_id__in=example_samples(whole)).first())
    sent = prompt_of(model)
    assert sent.index("<reason-") < sent.index("It names no hour.") < sent.index("The right value here:")
    assert sent.count("</reason-") == 1
    asked = project.samples.all()[0]
    assert KIND.size(whole, asked).tokens_in > KIND.size(config, asked).tokens_in


@pytest.mark.parametrize(
    ("field", "examples"),
    [
        ("examples.count", {"count": 201, "nearest": 2}),
        ("examples.nearest", {"count": 3, "nearest": 4}),
        ("examples.nearest", {"count": 3, "nearest": 21}),
        ("examples.nearest", {"nearest": 1}),
    ],
)
def test_more_than_there_may_be(field: str, examples: dict[str, Any], project: Project) -> None:
    assert refused(project, {**CONFIG, "examples": examples})[0] == field
