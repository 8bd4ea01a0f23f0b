"""What a judge said again, and what its earlier versions said, stand apart from what it says."""

from __future__ import annotations

import pytest

from alignment.report import evidence_as_dict
from annotate.core.blindness import SYSTEM
from judges.core.scores_read import judge_scores, load_scores
from judges.models import JudgeVersion, Score, ScoreStatus
from judges.reports.evidence import full_evidence
from judges.reports.write import build_report
from tests.annotate.factories import TRISTATE
from tests.judges.building import add_judge, add_samples, graded_project, make_project, scores_like

pytestmark = pytest.mark.django_db


def repeat(version: JudgeVersion, number: int, unit: str, value: float | str | None, dimension: str = "grade") -> None:
    run = version.runs.get()
    Score.objects.create(
        version=version,
        run=run,
        sample=version.judge.project.samples.get(external_id=unit),
        unit="answer",
        dimension=dimension,
        repeat=number,
        status=ScoreStatus.OK if value is not None else ScoreStatus.TIMEOUT,
        number=value if isinstance(value, float) else None,
        label=value if isinstance(value, str) else None,
    )


def test_repeats_are_what_it_said_again() -> None:
    project, samples = graded_project()
    grade = project.criteria.get(key="grade")
    version = add_judge(project, "judge", samples, scores_like(samples), dimension="grade")
    alone, _ = judge_scores(grade, reader=SYSTEM)
    # Later ones before earlier ones: their order is that of their numbers.
    for number, name, value in (
        (2, "s00", 0.75),
        (1, "s00", 0.25),
        (1, "s01", None),
        (1, "s02", 0.5),
        (2, "s03", None),
    ):
        repeat(version, number, name, value)
    # Under another name it is another series.
    repeat(version, 1, "s04", 0.9, dimension="tone")
    (said,), earlier = judge_scores(grade, reader=SYSTEM)
    assert said.again == {("s00", "answer"): [0.25, 0.75], ("s02", "answer"): [0.5]}
    assert said.numbers == alone[0].numbers
    assert said.failed == {}
    assert earlier == []


def test_a_judge_is_as_sure_as_it_says_the_same_again() -> None:
    """Of all its answers about a unit the share that is as the first; of one answer it is unknown."""
    project, samples = graded_project()
    grade = project.criteria.get(key="grade")
    said = [(name, "answer", "4" if place else 0.5) for place, name in enumerate(samples)]
    version = add_judge(project, "judge", samples, said, dimension="grade")
    for number, name, value in (
        (1, "s00", 0.5),
        (2, "s00", 0.25),
        (3, "s00", None),
        (1, "s01", "4"),
        (1, "s02", None),
        (1, "s03", "good"),
        (1, "s04", "5"),
    ):
        repeat(version, number, name, value)
    assert load_scores(grade, version, "grade", reader=SYSTEM).confidence == {}
    version.config = {"confidence": "repeats"}
    found = load_scores(grade, version, "grade", reader=SYSTEM).confidence
    wanted = {"s00": 2 / 3, "s01": 1.0, "s04": 0.5}
    assert found == {(name, "answer"): share for name, share in wanted.items()}


def test_what_is_read_a_part_at_a_time_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    project, samples = graded_project()
    grade = project.criteria.get(key="grade")
    version = add_judge(project, "judge", samples, scores_like(samples), dimension="grade")
    repeat(version, 1, "s01", 0.25)
    repeat(version, 2, "s01", "4")
    add_judge(project, "in words", samples, [(name, "answer", "4") for name in samples], dimension="grade")
    at_once = full_evidence(grade)
    monkeypatch.setattr("annotate.core.packed._SAMPLES_AT_ONCE", 2)
    assert evidence_as_dict(full_evidence(grade)) == evidence_as_dict(at_once)
    assert at_once.judges[1].again == {("s01", "answer"): [0.25, 4]}


def test_repeats_in_words_are_read_as_options() -> None:
    project, samples = graded_project()
    grade = project.criteria.get(key="grade")
    version = add_judge(project, "judge", samples, [(name, "answer", "4") for name in samples], dimension="grade")
    for number, value in enumerate(("5", "good", "4"), start=1):
        repeat(version, number, "s00", value)
    (said,), _ = judge_scores(grade, reader=SYSTEM)
    # “good” is no option: it says nothing here, as a failed answer doesn't.
    assert said.again == {("s00", "answer"): [5, 4]}
    assert said.labels["s00", "answer"] == 4


def test_repeats_change_no_figure_of_the_judge() -> None:
    project, samples = graded_project()
    grade = project.criteria.get(key="grade")
    version = add_judge(project, "judge", samples, scores_like(samples), dimension="grade")
    before = build_report(criterion=grade)
    repeat(version, 1, "s00", 0.123)
    after = build_report(criterion=grade)
    assert after.result["judges"][0]["at_threshold"] == before.result["judges"][0]["at_threshold"]
    # They are part of the data all the same.
    assert after.fingerprint != before.fingerprint


def test_versions_before_the_latest_come_latest_first() -> None:
    project, samples = graded_project()
    grade = project.criteria.get(key="grade")
    for number in (1, 2, 3):
        scores = [(name, "answer", number / 10) for name in samples]
        add_judge(project, "judge", samples, scores, dimension="grade", label=f"v{number}")
    add_judge(project, "another", samples, scores_like(samples), dimension="grade", label="only")
    current, earlier = judge_scores(grade, reader=SYSTEM)
    assert [one.name for one in current] == [("another", "only", "grade"), ("judge", "v3", "grade")]
    assert [one.name for one in earlier] == [("judge", "v2", "grade"), ("judge", "v1", "grade")]
    assert set(earlier[0].numbers.values()) == {0.2}
    evidence = full_evidence(grade)
    assert [one.name for one in evidence.earlier] == [one.name for one in earlier]
    assert judge_scores(grade, "another", reader=SYSTEM)[1] == []


def test_a_version_that_scored_the_criterion_itself_is_not_followed_by_one_that_did_not() -> None:
    project = make_project("desk", criteria=[TRISTATE])
    samples = add_samples(project, ["a", "b"])
    support = project.criteria.get(key="support")
    for label, dimension in (("v1", "overall"), ("v2", "support"), ("v3", "support"), ("v4", "overall")):
        add_judge(project, "judge", samples, [("a", "claim:0", 0.5)], dimension=dimension, label=label)
    current, earlier = judge_scores(support, reader=SYSTEM)
    assert [one.version for one in current] == ["v3"]
    # Nor are scores under another name an earlier word on it.
    assert [one.version for one in earlier] == ["v2"]
