"""Ways in which a sample that was dev, or that everybody saw, could come to test, as a referee tried them."""

from __future__ import annotations

import pytest

from annotate.models import Criterion, Project, Sample
from annotate.projects.criteria import add_criteria
from annotate.samples.read import groups_of
from judges.certificates.write import look_at_test
from judges.core.split import as_divided, divide, sides_of
from judges.models import GroupSide, Side
from judges.reports.evidence import full_evidence
from tests.annotate.factories import GRADE, concurrently
from tests.judges.building import add_judge, add_labels, add_samples, graded_project, make_project, scores_like

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make_project(criteria=[GRADE])


@pytest.fixture
def grade(project: Project) -> Criterion:
    return project.criteria.get()


def grouped(project: Project, name: str, group: str) -> None:
    Sample.objects.filter(project=project, external_id=name).update(group_key=group)


def put(criterion: Criterion, **sides: Side) -> None:
    for group, side in sides.items():
        GroupSide.objects.create(project=criterion.project, criterion_key=criterion.key, group=group, side=side)


def test_a_group_named_by_a_sample_of_another_group_is_part_of_that(project: Project, grade: Criterion) -> None:
    """kb-001 was imported, later versions of its answer were pushed, and then its file named a topic."""
    add_samples(project, ["kb", "kb@v2", "kb@v3", "other"])
    for name in ("kb@v2", "kb@v3"):
        grouped(project, name, "kb")
    put(grade, kb=Side.TEST)
    grouped(project, "kb", "topic")
    grouped(project, "other", "topic")
    assert groups_of(project) == dict.fromkeys(["kb", "kb@v2", "kb@v3", "other"], "topic")
    assert groups_of(project, ["kb@v3"]) == {"kb@v3": "topic"}
    put(grade, other=Side.DEV)
    assert set(divide(grade, dict.fromkeys(["kb", "kb@v2", "other"], True)).values()) == {True}


def test_what_was_dev_by_its_group_stays_dev_when_that_comes_to_another(project: Project, grade: Criterion) -> None:
    add_samples(project, ["x", "a"])
    put(grade, x=Side.DEV)
    grouped(project, "x", "a")
    assert sides_of(grade, ["a"]) == {"a": True}
    grouped(project, "a", "c")
    assert sides_of(grade, ["a", "x"]) == {"a": True, "x": True}


def test_groups_that_name_each_other_are_one(project: Project) -> None:
    add_samples(project, ["a", "b", "c"])
    for name, group in (("a", "b"), ("b", "c"), ("c", "a")):
        grouped(project, name, group)
    assert groups_of(project) == {"b": "a", "c": "a"} == groups_of(project, ["b", "c"])


def test_who_only_looks_sees_nothing_of_what_may_come_to_test(project: Project, grade: Criterion) -> None:
    """Each reply would else show other samples as dev, until a division is stored."""
    names = list(add_samples(project, [f"s{n}" for n in range(20)]))
    assert not any(as_divided(grade, dict.fromkeys(names, True)).values())
    kept = divide(grade, dict.fromkeys(names[:10], True))
    seen = as_divided(grade, dict.fromkeys(names, True))
    assert {name for name in names if seen[name]} == {name for name in kept if kept[name]}


def test_what_a_version_without_halves_showed_whole_is_dev(project: Project) -> None:
    """A version that says nowhere what passes has no halves: reports, replies and the lab show all of it."""
    (open_end,) = add_criteria(project=project, specs=[{**GRADE, "key": "tone", "pass": []}])
    samples = add_samples(project, [f"s{n}" for n in range(12)])
    shown = [f"s{n}" for n in range(6)]
    add_labels(open_end, samples, [(name, "answer", who, 4) for name in shown for who in ("a", "b")])
    add_judge(project, "good", samples, [(name, "answer", 0.5) for name in samples], dimension="tone")
    assert full_evidence(open_end).is_dev == {}
    (later,) = add_criteria(project=project, specs=[{**GRADE, "key": "tone"}])
    add_labels(later, samples, [(name, "answer", who, 4) for name in samples for who in ("a", "b")])
    is_dev = full_evidence(later).is_dev
    assert is_dev.keys() == samples.keys()
    assert all(is_dev[name] for name in shown)
    assert not all(is_dev.values())


def test_labels_that_no_judge_was_held_against_are_divided(project: Project) -> None:
    (open_end,) = add_criteria(project=project, specs=[{**GRADE, "key": "tone", "pass": []}])
    samples = add_samples(project, [f"s{n}" for n in range(12)])
    rows = [(name, "answer", who, 4) for name in samples for who in ("a", "b")]
    add_labels(open_end, samples, rows)
    (later,) = add_criteria(project=project, specs=[{**GRADE, "key": "tone"}])
    add_labels(later, samples, rows)
    add_judge(project, "good", samples, [(name, "answer", 0.5) for name in samples], dimension="tone")
    assert sum(full_evidence(later).is_dev.values()) == 6


@pytest.mark.django_db(transaction=True)
def test_looks_at_once_are_two_looks_at_one_division() -> None:
    """With the report of a third process, each of them the first to divide the samples."""
    project, samples = graded_project()
    for name in ("good", "other"):
        add_judge(project, name, samples, scores_like(samples), dimension="grade")
    grade = project.criteria.get(key="grade")
    one, report, two = concurrently(
        lambda: look_at_test(criterion=grade, judge_name="good"),
        lambda: full_evidence(grade),
        lambda: look_at_test(criterion=grade, judge_name="other"),
    )
    assert {one.number, two.number} == {1, 2}
    assert one.samples["test"].keys() == two.samples["test"].keys()
    assert (
        set(one.samples["dev"]) == set(two.samples["dev"]) == {name for name, is_dev in report.is_dev.items() if is_dev}
    )
