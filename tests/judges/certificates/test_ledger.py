"""One count of looks per criterion key: over its versions, over judges and their names."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from alignment.judging.looks import level_of_look
from annotate.core.errors import Conflict
from annotate.models import AuditEntry, Criterion, DeclaredDraw, Label, Project, Sample, User
from annotate.projects.criteria import add_criteria
from annotate.projects.write import set_member
from judges.certificates.apply import apply_certificate
from judges.certificates.gate import gate
from judges.certificates.write import issue_certificate, look_at_test
from judges.core.requirement import require
from judges.models import PROMISE, Look
from tests.annotate.factories import GRADE
from tests.clients import client_of
from tests.database import copied_from_world
from tests.judges.building import add_judge, drawn_in_full, graded_project, scores_like

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> dict[str, Sample]:
    project, samples = graded_project(count=160)
    for name in ("good", "other"):
        add_judge(project, name, samples, scores_like(samples), dimension="grade")
    return samples


samples = copied_from_world()


@pytest.fixture
def project(samples: dict[str, Sample]) -> Project:
    return next(iter(samples.values())).project


@pytest.fixture
def grade(project: Project) -> Criterion:
    return project.criteria.get(key="grade")


def make_admin(project: Project) -> User:
    user = User.objects.create_user("ada", password="x")
    set_member(project=project, user=user, role="admin")
    return user


def _next_version(grade: Criterion) -> Criterion:
    """With the same labels, as when a change is of words only."""
    (version,) = add_criteria(project=grade.project, specs=[{**GRADE, "prompt": "How good is it, all in all?"}])
    Label.objects.filter(criterion=grade).update(criterion=version)
    return version


def test_the_same_judge_under_twenty_names_pays_for_twenty_looks(
    project: Project, grade: Criterion, samples: dict[str, Sample]
) -> None:
    looks = []
    for number in range(1, 21):
        add_judge(project, f"name {number}", samples, scores_like(samples), dimension="grade")
        looks.append(look_at_test(criterion=grade, judge_name=f"name {number}"))
    assert [(look.number, look.level) for look in looks] == [(k, level_of_look(k)) for k in range(1, 21)]
    # All they may miss together: less than the 5 % that are promised.
    assert sum(1 - look.level for look in looks) < 0.05


def test_another_version_of_the_criterion_goes_on_counting(grade: Criterion) -> None:
    first = look_at_test(criterion=grade, judge_name="good")
    later = _next_version(grade)
    second = look_at_test(criterion=later, judge_name="good")
    third = look_at_test(criterion=later, judge_name="other")
    assert [look.number for look in (first, second, third)] == [1, 2, 3]
    # On the very samples that were test before.
    assert second.samples["test"].keys() == first.samples["test"].keys()
    assert second.samples["dev"] == first.samples["dev"]


@pytest.mark.parametrize("change", ["one label says otherwise", "a sample drops out"])
def test_a_restart_tests_on_nothing_that_was_dev(grade: Criterion, change: str) -> None:
    """By a new version of the criterion, with the labels of before but for one, and with a judge under a new name."""
    first = look_at_test(criterion=grade, judge_name="good")
    later = _next_version(grade)
    labels = Label.objects.filter(criterion=later, sample__external_id=first.samples["dev"][0])
    # What is not carried over stays with the version of before.
    assert labels.update(**({"criterion": grade} if change == "a sample drops out" else {"value": 5}))
    second = look_at_test(criterion=later, judge_name="other")
    assert second.number == 2
    assert not second.samples["test"].keys() & set(first.samples["dev"])
    assert not first.samples["test"].keys() & set(second.samples["dev"])


def test_replies_and_commands_count_over_judges(project: Project) -> None:
    client = client_of(make_admin(project))
    url = f"/api/projects/{project.slug}/looks/"
    for number, judge in enumerate(("good", "other"), start=1):
        said = client.post(url, {"criterion": "grade", "judge": judge}, format="json")
        assert (said.status_code, said.json()["number"], said.json()["out_of_date"]) == (201, number, False)
    assert [one["number"] for one in client.get(url).json()["results"]] == [2, 1]
    out = StringIO()
    call_command("look", project.slug, "--criterion", "grade", "--judge", "other", stdout=out)
    assert "Test evaluation 2 of “other”" in out.getvalue()


def test_a_look_at_another_judge_outdates_nothing(project: Project, grade: Criterion) -> None:
    look = look_at_test(criterion=grade, judge_name="good")
    assert look_at_test(criterion=grade, judge_name="other").number == 2
    # Neither what is to be certified nor what is.
    issue_certificate(look=look)
    assert gate(project=project, criterion_key="grade", judge_name="good", min_kappa=-1).passed
    assert look_at_test(criterion=grade, judge_name="good") == look


def test_one_dimension_of_a_judge_outdates_no_other(
    project: Project, grade: Criterion, samples: dict[str, Sample]
) -> None:
    for dimension in ("overall", "style"):
        add_judge(project, "broad", samples, scores_like(samples), dimension=dimension)
    overall = look_at_test(criterion=grade, judge_name="broad", dimension="overall")
    style = look_at_test(criterion=grade, judge_name="broad", dimension="style")
    assert [issue_certificate(look=look).number for look in (overall, style)] == [1, 2]
    for dimension in ("overall", "style"):
        assert gate(
            project=project, criterion_key="grade", judge_name="broad", min_kappa=-1, dimension=dimension
        ).passed


def test_a_look_of_an_earlier_promise_is_out_of_date(project: Project, grade: Criterion) -> None:
    look = look_at_test(criterion=grade, judge_name="good")
    issue_certificate(look=look)
    Look.objects.update(promise=PROMISE - 1)
    found = gate(project=project, criterion_key="grade", judge_name="good", min_kappa=-1)
    assert found.code == "out_of_date"
    assert found.sentence == (
        "Certificate 1 rests on test evaluation 1, which was made before the promise of test evaluations changed. "
        "Evaluate again and certify that."
    )
    said = StringIO()
    with pytest.raises(CommandError, match="before the promise of test evaluations changed") as failed:
        call_command("gate", "desk", "--criterion", "grade", "--judge", "good", "--min-kappa", "-1", stdout=said)
    assert failed.value.returncode == 1
    with pytest.raises(Conflict, match="before the promise of test evaluations changed") as refused:
        apply_certificate(project=project, criterion_key="grade", judge_name="good", rows=[{"score": 0.5}])
    assert refused.value.code == "out_of_date"
    again = look_at_test(criterion=grade, judge_name="good")
    assert (again.number, again.promise, again.fingerprint) == (2, PROMISE, look.fingerprint)
    issue_certificate(look=again)
    assert gate(project=project, criterion_key="grade", judge_name="good", min_kappa=-1).passed


def test_what_is_out_of_date_is_not_certified(grade: Criterion) -> None:
    look = look_at_test(criterion=grade, judge_name="good")
    Look.objects.update(promise=PROMISE - 1)
    look.refresh_from_db()
    with pytest.raises(Conflict) as refused:
        issue_certificate(look=look)
    assert refused.value.code == "out_of_date"


def test_a_look_without_a_drawn_label_is_refused_and_costs_nothing(project: Project, grade: Criterion) -> None:
    """It could decide nothing."""
    DeclaredDraw.objects.all().delete()
    missing = (
        "Test evaluation not run: how the samples of this set came to be labelled is not known; an admin can declare "
        "it, or draw a batch."
    )
    with pytest.raises(Conflict) as refused:
        look_at_test(criterion=grade, judge_name="good")
    assert (refused.value.code, refused.value.message) == ("nothing_to_see", missing)
    with pytest.raises(CommandError, match="how the samples of this set came"):
        call_command("look", project.slug, "--criterion", "grade", "--judge", "good")
    client = client_of(make_admin(project))
    said = client.post(f"/api/projects/{project.slug}/looks/", {"criterion": "grade", "judge": "good"}, format="json")
    assert (said.status_code, said.json()["error"]["message"]) == (409, missing)
    drawn_in_full(grade)
    assert look_at_test(criterion=grade, judge_name="good").number == 1


def test_what_is_declared_after_a_look_is_paid(grade: Criterion) -> None:
    """Whoever has seen kappa may choose the bar by it: that is another look, and the trail says it came after one."""
    first = look_at_test(criterion=grade, judge_name="good")
    declared = {"measure": "kappa", "bar": 0.9, "risk": 0.1, "coverage": 0.9}
    require(criterion=grade, **declared)
    assert AuditEntry.objects.get(action="criterion.required").details == {**declared, "looks": 1}
    second = look_at_test(criterion=grade, judge_name="good")
    assert (second.number, second.level) == (2, level_of_look(2))
    assert [look.result["endpoint"]["bar"] for look in (first, second)] == [0.4, 0.9]
    assert look_at_test(criterion=grade, judge_name="good") == second


def test_what_is_declared_and_taken_back_is_paid_as_well(project: Project, grade: Criterion) -> None:
    """The judge's latest look is shown again, and no earlier one: that couldn't be certified."""
    first = look_at_test(criterion=grade, judge_name="good")
    issue_certificate(look=first)
    declared = {"measure": "kappa", "risk": 0.1, "coverage": 0.9}
    require(criterion=grade, bar=0.5, **declared)
    assert look_at_test(criterion=grade, judge_name="good").number == 2
    require(criterion=grade, bar=0.4, **declared)
    third = look_at_test(criterion=grade, judge_name="good")
    assert (third.number, third.level, third.fingerprint) == (3, level_of_look(3), first.fingerprint)
    assert third.result["figure"]["low"] < first.result["figure"]["low"]
    assert gate(project=project, criterion_key="grade", judge_name="good").code == "looked_since"
    issue_certificate(look=third)
    assert gate(project=project, criterion_key="grade", judge_name="good").passed
    assert look_at_test(criterion=grade, judge_name="good") == third
