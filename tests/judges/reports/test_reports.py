"""Frozen reports: one for the same data, another when anything that it rests on has changed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotate.core.blindness import SYSTEM
from annotate.models import Criterion, Label, Project, Task, User, Verdict
from judges.api.reports_serializers import Report
from judges.models import AlignmentReport, Judge
from judges.reports.read import data_version, has_report_on, latest_report, one_report, overview, report_state
from judges.reports.write import basis_of, build_report, freeze_report
from tests.annotate.factories import finish, make_sample, make_world
from tests.database import copied_from_world
from tests.judges.building import add_judge, add_labels, add_samples, graded_project, scores_like, stored_sides

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> Project:
    """With a report, which Amy has made."""
    project, samples = graded_project("frozen")
    add_judge(project, "good", samples, scores_like(samples), dimension="grade")
    freeze_report(criterion=project.criteria.get(key="grade"), user=User.objects.create_user("amy"))
    return project


project = copied_from_world()


@pytest.fixture
def grade(project: Project) -> Criterion:
    return project.criteria.get(key="grade")


@pytest.fixture
def first(project: Project) -> AlignmentReport:
    return project.reports.get()


def test_twice_is_once(grade: Criterion, first: AlignmentReport) -> None:
    second = freeze_report(criterion=grade)
    assert (second.pk, second.number, second.created_by) == (first.pk, 1, User.objects.get())
    assert second.result == first.result
    assert AlignmentReport.objects.count() == 1
    assert report_state(grade, reader=SYSTEM).report == first


def test_nothing_is_compared_before_there_is_a_report(project: Project) -> None:
    """What a report rests on takes seconds to count where there are millions of labels."""
    with CaptureQueriesContext(connection) as asked:
        state = report_state(project.criteria.get(key="support"), reader=SYSTEM)
    assert (state.report, state.is_out_of_date) == (None, False)
    assert not [query for query in asked.captured_queries if "sum(revision)" in query["sql"]]
    with CaptureQueriesContext(connection) as asked:
        assert report_state(project.criteria.get(key="grade"), reader=SYSTEM).report is not None
    assert [query for query in asked.captured_queries if "sum(revision)" in query["sql"]]


def test_numbers_run_through_the_project(project: Project, first: AlignmentReport) -> None:
    support = project.criteria.get(key="support")
    assert first.number == 1
    assert freeze_report(criterion=support).number == 2
    elsewhere, _ = graded_project("elsewhere")
    assert freeze_report(criterion=elsewhere.criteria.get(key="grade")).number == 1
    assert one_report(project, 2, reader=SYSTEM).criterion == support


def test_a_report_is_whole(grade: Criterion, first: AlignmentReport) -> None:
    report = Report.show(first)
    assert set(report) == {
        "number", "criterion", "criterion_version", "labels", "fingerprint", "created_at", "parameters", "result",
        "looks",
    }  # fmt: skip
    assert {"seed", "level", "dev_share", "libraries", "data_version"} <= set(report["parameters"])
    result = report["result"]
    assert [row["title"] for row in result["judges"]] == ["good"]
    assert [rater["name"] for rater in result["matrix"]["raters"]] == ["ann", "ben", "good"]
    assert [rater["kind"] for rater in result["matrix"]["raters"]] == ["person", "person", "judge"]
    cells = result["matrix"]["cells"]
    assert all(cells[i][j] == cells[j][i] for i in range(3) for j in range(3))
    assert [cells[i][i] for i in range(3)] == [None] * 3
    # The judge stands in the matrix with its dev half, on which its kappa rests as well.
    dev = sum(stored_sides(grade).values())
    assert result["matrix"]["raters"][2]["units"] == result["judges"][0]["kappa"]["n"] == dev
    assert sum(row["share"] for row in result["prevalence"]) == pytest.approx(1)
    distances = [row["distance"] for row in result["judges"][0]["disagreements"]]
    assert distances == sorted(distances, reverse=True)
    assert 0 < len(distances) <= 30


Change = Callable[[Project], object]


def _label(project: Project) -> None:
    Label.objects.filter(sample__external_id="s03", rater__name="ann").update(
        value=5, revision=2, updated_at=timezone.now()
    )


def _one_more_label(project: Project) -> None:
    samples = {sample.external_id: sample for sample in project.samples.all()}
    add_labels(project.criteria.get(key="grade"), samples, [("s03", "answer", "chen", 2)])


def _verdict(project: Project) -> None:
    Verdict.objects.create(
        sample=project.samples.get(external_id="s03"),
        unit="answer",
        criterion=project.criteria.get(key="grade"),
        state="settled",
        value=5,
        method="majority",
    )


def _one_more_score(project: Project) -> None:
    samples = add_samples(project, ["new"])
    add_judge(project, "good", samples, [("new", "answer", 0.5)], dimension="grade")


def _a_failed_score(project: Project) -> None:
    samples = add_samples(project, ["new"])
    add_judge(project, "good", samples, [("new", "answer", None)], dimension="grade")


def _another_version(project: Project) -> None:
    samples = {sample.external_id: sample for sample in project.samples.all()}
    add_judge(project, "good", samples, scores_like(samples, wrong_every=3), dimension="grade", label="2")


@pytest.mark.parametrize(
    "change", [_label, _one_more_label, _verdict, _one_more_score, _a_failed_score, _another_version]
)
def test_a_change_makes_another_report(
    change: Change, project: Project, grade: Criterion, first: AlignmentReport
) -> None:
    before = data_version(grade)
    change(project)
    assert data_version(grade) != before
    assert report_state(grade, reader=SYSTEM).is_out_of_date
    second = freeze_report(criterion=grade)
    assert second.number == 2
    assert second.fingerprint != first.fingerprint
    assert not report_state(grade, reader=SYSTEM).is_out_of_date
    # The first is what it was.
    assert one_report(project, 1, reader=SYSTEM).result == first.result


def _a_sample(project: Project) -> None:
    add_samples(project, ["new"])


def _another_criterion(project: Project) -> None:
    samples = {sample.external_id: sample for sample in project.samples.all()}
    add_labels(project.criteria.get(key="support"), samples, [("s03", "claim:0", "ann", "yes")])
    add_judge(project, "good", samples, [("s03", "claim:0", 0.5)], dimension="support")


def _another_project(project: Project) -> None:
    elsewhere, samples = graded_project("elsewhere")
    add_judge(elsewhere, "good", samples, scores_like(samples), dimension="grade")


def test_what_is_no_part_of_it_makes_none(project: Project, grade: Criterion, first: AlignmentReport) -> None:
    before = data_version(grade)
    for change in (_a_sample, _another_criterion, _another_project):
        change(project)
        assert data_version(grade) == before, change
        assert basis_of(grade).fingerprint == first.fingerprint, change
    assert not report_state(grade, reader=SYSTEM).is_out_of_date
    assert freeze_report(criterion=grade) == first


def test_a_label_said_again_is_the_same_report(grade: Criterion, first: AlignmentReport) -> None:
    Label.objects.filter(sample__external_id="s03", rater__name="ann").update(revision=3, updated_at=timezone.now())
    assert report_state(grade, reader=SYSTEM).is_out_of_date
    again = freeze_report(criterion=grade)
    assert again == first
    assert not report_state(grade, reader=SYSTEM).is_out_of_date


def test_data_that_came_back_find_their_report_again(
    project: Project, grade: Criterion, first: AlignmentReport
) -> None:
    label = Label.objects.filter(sample__external_id="s03", rater__name="ann")
    before = label.values("value", "revision", "updated_at").get()
    label.update(value=1 if before["value"] != 1 else 2, revision=7)
    second = freeze_report(criterion=grade)
    label.update(**before)
    assert report_state(grade, reader=SYSTEM).report == second
    assert report_state(grade, reader=SYSTEM).is_out_of_date
    assert not has_report_on(grade, data_version(grade)), "so the worker asks for one"
    assert freeze_report(criterion=grade) == first
    assert report_state(grade, reader=SYSTEM).report == latest_report(grade, reader=SYSTEM) == first
    assert not report_state(grade, reader=SYSTEM).is_out_of_date
    assert overview(project)[grade.pk].number == first.number
    assert has_report_on(grade, data_version(grade))


def test_the_order_of_arrival_is_no_part_of_the_fingerprint() -> None:
    fingerprints = []
    for slug, backwards in (("forth", False), ("back", True)):
        project, _ = graded_project(slug, count=0)
        names = [f"s{place:02}" for place in range(12)]
        samples = add_samples(project, reversed(names) if backwards else names)
        rows = [(name, "answer", rater, 1 + place % 5) for place, name in enumerate(names) for rater in ("ann", "ben")]
        scores = scores_like(names)
        add_labels(project.criteria.get(key="grade"), samples, rows[::-1] if backwards else rows)
        add_judge(project, "j", samples, scores[::-1] if backwards else scores, dimension="grade")
        fingerprints.append(basis_of(project.criteria.get(key="grade")).fingerprint)
    assert fingerprints[0] == fingerprints[1]


def test_a_judge_read_the_other_way_round_makes_reports_out_of_date(project: Project, grade: Criterion) -> None:
    assert not report_state(grade, reader=SYSTEM).is_out_of_date
    Judge.objects.filter(project=project).update(higher_is_better=False)
    assert report_state(grade, reader=SYSTEM).is_out_of_date


def test_labels_of_an_open_task_wait(db: None) -> None:
    world = make_world()
    make_sample(world.project)
    task = world.batch(annotators=[world.ann, world.ben]).tasks.get(annotator=world.ann)
    (grade,) = world.criteria("grade")
    before = data_version(grade)
    finish(task, grade=5)
    assert data_version(grade) != before
    assert freeze_report(criterion=grade).result["agreement"]["ratings"] == 1
    Task.objects.filter(pk=task.pk).update(status="in_progress", submitted_at=None)
    assert report_state(grade, reader=SYSTEM).is_out_of_date
    assert build_report(criterion=grade).result["agreement"]["ratings"] == 0
