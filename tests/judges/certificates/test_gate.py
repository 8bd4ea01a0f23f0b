"""The locked test part: looks that are counted and paid for, certificates, and the gate that asks their decision."""

from __future__ import annotations

import json
import random
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from alignment.judging.looks import level_of_look
from annotate.api.serializers import With
from annotate.core.errors import Conflict, Invalid
from annotate.models import Criterion, Label, Project, Sample, User
from annotate.projects.criteria import add_criteria
from annotate.projects.write import set_member
from judges.api import certificates_serializers as shapes
from judges.certificates.gate import gate, gate_markdown
from judges.certificates.write import issue_certificate, look_at_test
from judges.models import Certificate, JudgeVersion, Look
from judges.reports.evidence import align
from tests.annotate.factories import GRADE
from tests.clients import client_of
from tests.database import copied_from_world
from tests.judges.building import add_judge, graded_project, make_project, scores_like, stored_sides

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> dict[str, Sample]:
    project, samples = graded_project(count=160)
    add_judge(project, "good", samples, scores_like(samples), dimension="grade")
    return samples


samples = copied_from_world()


@pytest.fixture
def project(samples: dict[str, Sample]) -> Project:
    return next(iter(samples.values())).project


@pytest.fixture
def grade(project: Project) -> Criterion:
    return project.criteria.get(key="grade")


def test_a_report_and_the_commands_leave_test_closed(project: Project, grade: Criterion) -> None:
    (row,) = align(grade)["judges"]
    assert row["at_threshold"]["split"] == "dev"
    sides = stored_sides(grade)
    assert 0 < row["at_threshold"]["kappa"]["n"] <= sum(sides.values())
    assert not Look.objects.exists()


def test_each_look_is_counted_and_costs(grade: Criterion, samples: dict[str, Sample]) -> None:
    widths = []
    for number in (1, 2, 3):
        look = look_at_test(criterion=grade, judge_name="good")
        assert (look.number, look.level) == (number, level_of_look(number))
        assert look.result["split"] == "test"
        figure = look.result["figure"]
        assert figure["level"] == look.level
        widths.append(figure["high"] - figure["low"])
        _one_label_says_otherwise(grade)
    # The labels change a little from look to look, and the level a lot.
    assert widths == sorted(widths)


def test_looking_again_at_the_same_is_no_other_look(grade: Criterion) -> None:
    first = look_at_test(criterion=grade, judge_name="good")
    assert look_at_test(criterion=grade, judge_name="good") == first
    assert Look.objects.count() == 1


def test_a_look_is_on_samples_that_dev_has_not(grade: Criterion) -> None:
    look = look_at_test(criterion=grade, judge_name="good")
    (row,) = align(grade)["judges"]
    decided = align(grade)["reference"]["units"]
    assert look.result["kappa"]["n"] + row["at_threshold"]["kappa"]["n"] == decided
    assert look.result["threshold"] == row["at_threshold"]["threshold"]


def test_nothing_to_see_costs_nothing(project: Project) -> None:
    add_judge(project, "silent", {}, [], dimension="grade")
    with pytest.raises(Invalid, match="measures nothing"):
        look_at_test(criterion=project.criteria.get(key="grade"), judge_name="silent")
    empty = make_project("empty")
    samples = {one.external_id: one for one in empty.samples.all()}
    add_judge(empty, "early", samples, [])
    with pytest.raises(Invalid):
        look_at_test(criterion=empty.criteria.get(), judge_name="early")
    assert not Look.objects.exists()


def test_no_certificate(project: Project) -> None:
    found = gate(project=project, criterion_key="grade", judge_name="good", min_kappa=0.1)
    assert (found.code, found.sentence) == ("no_certificate", "“good” has no certificate for “grade”.")


def test_the_lower_bound_decides(project: Project, grade: Criterion) -> None:
    certificate = issue_certificate(look=look_at_test(criterion=grade, judge_name="good"))
    figure = certificate.look.result["figure"]
    declared = gate(project=project, criterion_key="grade", judge_name="good")
    assert declared.sentence.startswith("May decide together with a person. Kappa is ")
    assert declared.sentence.endswith("at least 0.40 even at the low end. (Certificate 1.)")
    assert gate(project=project, criterion_key="grade", judge_name="good", min_kappa=figure["low"]).passed
    above = gate(project=project, criterion_key="grade", judge_name="good", min_kappa=figure["low"] + 0.001)
    assert above.code == "below_bar"
    assert above.sentence.startswith("The lower bound of kappa on test is ")
    assert figure["value"] > figure["low"] + 0.001 > 0.4
    assert gate_markdown(above).startswith("**Failed:** The lower bound")


def test_another_version_of_the_judge(project: Project, grade: Criterion, samples: dict[str, Sample]) -> None:
    issue_certificate(look=look_at_test(criterion=grade, judge_name="good"))
    add_judge(project, "good", samples, scores_like(samples), dimension="grade", label="2")
    found = gate(project=project, criterion_key="grade", judge_name="good", min_kappa=0)
    assert found.sentence == "Certificate 1 is for version “1” of “good”, which is now “2”."


def test_another_version_of_the_criterion(project: Project, grade: Criterion) -> None:
    issue_certificate(look=look_at_test(criterion=grade, judge_name="good"))
    add_criteria(project=project, specs=[{**GRADE, "prompt": "How good is it, all in all?"}])
    found = gate(project=project, criterion_key="grade", judge_name="good", min_kappa=0)
    assert found.sentence == "Certificate 1 is for version 1 of “grade”, which is now at version 2."


def test_the_same_name_with_another_prompt(project: Project, grade: Criterion) -> None:
    """By the hash of its configuration, not by its label."""
    certificate = issue_certificate(look=look_at_test(criterion=grade, judge_name="good"))
    assert certificate.judge_hash == certificate.look.version.content_hash
    JudgeVersion.objects.filter(pk=certificate.look.version_id).update(content_hash="of another prompt")
    found = gate(project=project, criterion_key="grade", judge_name="good", min_kappa=0)
    assert (found.code, found.sentence) == (
        "judge_changed",
        "Certificate 1 is for version “1” of “good”, which is now “1”, with another configuration.",
    )


def test_certified_for_several_things(project: Project, samples: dict[str, Sample]) -> None:
    """Which one is meant has to be said; each has its own certificate."""
    support = project.criteria.get(key="support")
    for dimension in ("overall", "style"):
        rows = [(name, "answer", score) for name, _, score in scores_like(samples)]
        add_judge(project, "broad", samples, rows, dimension=dimension)
    grade = project.criteria.get(key="grade")
    asked: dict[str, Any] = {"project": project, "criterion_key": "grade", "judge_name": "broad", "min_kappa": 0}
    issue_certificate(look=look_at_test(criterion=grade, judge_name="broad", dimension="overall"))
    assert gate(**asked).passed
    found = gate(**asked, dimension="style")
    assert found.sentence == "“broad” has no certificate for “grade” by its score “style”."
    issue_certificate(look=look_at_test(criterion=grade, judge_name="broad", dimension="style"))
    with pytest.raises(Invalid, match=r"is certified for overall, style\. Specify which one"):
        gate(**asked)
    numbers = [gate(**asked, dimension=name).certificate for name in ("overall", "style")]
    assert [one.number for one in numbers if one is not None] == [1, 2]
    assert gate(**{**asked, "criterion_key": support.key}).code == "no_certificate"


def test_a_certificate_says_everything(grade: Criterion) -> None:
    certificate = issue_certificate(look=look_at_test(criterion=grade, judge_name="good"))
    said, result = shapes.Certificate.show(With(certificate, learned=None)), certificate.look.result
    assert set(said) == {
        "number", "criterion", "criterion_version", "judge", "judge_version", "judge_hash", "dimension",
        "label_fingerprint", "look", "level", "ended", "out_of_date", "decision", "conditions", "rests_on", "learned",
        "threshold", "higher_is_better", "calibrator", "cutpoints", "region", "kappa", "tpr", "tnr", "confusion",
        "error", "created_at", "created_by",
    }  # fmt: skip
    assert said["calibrator"] == result["calibrated"]["calibrator"]
    assert said["calibrator"]["method"] in ("platt", "isotonic")
    assert said["cutpoints"]["method"] == "cutpoints"
    assert said["label_fingerprint"] == certificate.look.fingerprint
    assert said["kappa"]["low"] < said["kappa"]["value"] < said["kappa"]["high"]


def test_too_few_labels() -> None:
    project, samples = graded_project("small", count=30)
    add_judge(project, "good", samples, scores_like(samples), dimension="grade")
    grade = project.criteria.get(key="grade")
    certificate = issue_certificate(look=look_at_test(criterion=grade, judge_name="good"))
    count = certificate.look.result["figure"]["clusters"]
    found = gate(project=project, criterion_key="grade", judge_name="good", min_kappa=-1)
    assert found.code == "cannot_tell"
    few = f"Cannot tell yet. Only {count} groups of samples have drawn labels; at least 30 are needed."
    assert found.sentence.startswith(few)


def test_a_judge_that_agrees_everywhere_passes() -> None:
    """Kappa 1 has a bound below it, and one that tells."""
    project, samples = graded_project("same", count=79)
    add_judge(project, "good", samples, scores_like(samples, wrong_every=1000)[1:], dimension="grade")
    certificate = issue_certificate(look=look_at_test(criterion=project.criteria.get(key="grade"), judge_name="good"))
    figure = certificate.look.result["figure"]
    assert (figure["value"], figure["low"] < 1) == (1, True)
    assert gate(project=project, criterion_key="grade", judge_name="good", min_kappa=0.4).passed


def test_a_look_that_says_no_can_be_certified_and_fails_the_gate(project: Project, samples: dict[str, Sample]) -> None:
    rng = random.Random(3)
    add_judge(project, "coin", samples, [(name, "answer", rng.random()) for name in samples], dimension="grade")
    issue_certificate(look=look_at_test(criterion=project.criteria.get(key="grade"), judge_name="coin"))
    found = gate(project=project, criterion_key="grade", judge_name="coin")
    assert found.code == "not_for_use"
    assert found.sentence.startswith("Not for use. Kappa is ")
    assert found.sentence.endswith("below 0.40 even at the high end.")


def test_a_look_since_the_certificate(project: Project, grade: Criterion) -> None:
    """The judge has shown more, perhaps worse: what was certified before it is not the last word."""
    issue_certificate(look=look_at_test(criterion=grade, judge_name="good"))
    assert gate(project=project, criterion_key="grade", judge_name="good").passed
    _one_label_says_otherwise(grade)
    look_at_test(criterion=grade, judge_name="good")
    found = gate(project=project, criterion_key="grade", judge_name="good")
    assert (found.code, found.sentence) == (
        "looked_since",
        "Test evaluation 2 came after certificate 1. Certify that one.",
    )
    issue_certificate(look=Look.objects.get(number=2))
    found = gate(project=project, criterion_key="grade", judge_name="good", min_kappa=-1)
    assert (found.code, found.certificate and found.certificate.number) == ("passed", 2)


def test_another_way_of_reckoning_costs_no_look(grade: Criterion, monkeypatch: pytest.MonkeyPatch) -> None:
    first = look_at_test(criterion=grade, judge_name="good")
    monkeypatch.setattr("judges.reports.read.FIGURES_VERSION", 99)
    assert look_at_test(criterion=grade, judge_name="good") == first


def test_only_the_latest_look_can_be_certified(grade: Criterion) -> None:
    first = look_at_test(criterion=grade, judge_name="good")
    certificate = issue_certificate(look=first)
    assert issue_certificate(look=first) == certificate
    _one_label_says_otherwise(grade)
    second = look_at_test(criterion=grade, judge_name="good")
    _one_label_says_otherwise(grade)
    look_at_test(criterion=grade, judge_name="good")
    with pytest.raises(Conflict, match="Use test evaluation 3"):
        issue_certificate(look=second)
    assert Certificate.objects.count() == 1


def test_commands(project: Project) -> None:
    where = ("desk", "--criterion", "grade", "--judge", "good")
    out = StringIO()
    with pytest.raises(CommandError, match="has no certificate"):
        call_command("gate", *where, "--min-kappa", "0.2", stdout=out)
    call_command("look", *where, "--certify", stdout=out)
    assert "Test evaluation 1 of “good” on “grade”: May decide together with a person. Kappa is" in out.getvalue()
    assert "Certificate 1." in out.getvalue()
    out = StringIO()
    call_command("gate", *where, "--min-kappa", "0.2", "--format", "json", stdout=out)
    found = json.loads(out.getvalue())
    assert found["passed"] is True
    assert found["certificate"]["look"] == 1
    assert found["certificate"]["kappa"]["low"] >= 0.2
    with pytest.raises(CommandError, match=r"under the bar of 0\.99"):
        call_command("gate", *where, "--min-kappa", "0.99", "--format", "markdown", stdout=out)
    with pytest.raises(CommandError, match="from -1 to 1") as refused:
        call_command("gate", *where, "--min-kappa", "60", stdout=out)
    assert refused.value.returncode == 2


def test_exit_codes_tell_no_from_a_wrong_question(project: Project, grade: Criterion) -> None:
    def code(*arguments: str) -> int:
        try:
            call_command("gate", *arguments, stdout=StringIO())
        except CommandError as error:
            return error.returncode
        return 0

    where = ("desk", "--criterion", "grade", "--judge", "good")
    assert code(*where, "--min-kappa", "0.2") == 1
    issue_certificate(look=look_at_test(criterion=grade, judge_name="good"))
    assert code(*where, "--min-kappa", "0.2") == 0
    assert code(*where, "--min-kappa", "0.99") == 1
    assert code("nowhere", *where[1:], "--min-kappa", "0.2") == 2
    assert code("desk", "--criterion", "none", "--judge", "good", "--min-kappa", "0.2") == 2
    assert code("desk", "--criterion", "grade", "--judge", "nobody", "--min-kappa", "0.2") == 2


def test_markdown_for_a_pull_request(project: Project, grade: Criterion) -> None:
    certificate = issue_certificate(look=look_at_test(criterion=grade, judge_name="good"))
    kappa = certificate.look.result["figure"]
    text = gate_markdown(gate(project=project, criterion_key="grade", judge_name="good", min_kappa=0.2))
    head, table, drift = text.split("\n\n")
    assert head.startswith("**Passed:** May decide together with a person. Kappa is ")
    cells = [cell.strip() for cell in table.splitlines()[2].strip("|").split("|")]
    assert cells == [
        "good", "1", "grade v1", f"{kappa['value']:.3f} [{kappa['low']:.3f}, {kappa['high']:.3f}]", "96.96%",
        str(kappa["n"]), str(kappa["clusters"]), "0.4",
    ]  # fmt: skip
    assert drift.startswith("No audits to go by yet")
    nothing = gate_markdown(gate(project=project, criterion_key="support", judge_name="good", min_kappa=0.2))
    assert nothing == "**Failed:** “good” has no certificate for “support”."


def _one_label_says_otherwise(criterion: Criterion) -> None:
    label = Label.objects.filter(criterion=criterion, rater__name="ben", value=4).order_by("sample__external_id")[0]
    Label.objects.filter(pk=label.pk).update(value=5, revision=label.revision + 1)


def test_by_api(project: Project) -> None:
    admin = User.objects.create_user("alma")
    set_member(project=project, user=admin, role="admin")
    client = client_of(admin)
    root = "/api/projects/desk/"

    asked = {"criterion": "grade", "judge": "good"}
    refused = client.get(f"{root}gate/?criterion=grade&judge=good&min_kappa=0.2").json()
    assert (refused["passed"], refused["code"], refused["certificate"]) == (False, "no_certificate", None)
    look = client.post(f"{root}looks/", asked, format="json")
    assert (look.status_code, look.json()["number"], look.json()["created_by"]) == (201, 1, "alma")
    certificate = client.post(f"{root}certificates/", {"look": look.json()["id"]}, format="json")
    assert (certificate.status_code, certificate.json()["number"]) == (201, 1)
    passed = client.get(f"{root}gate/?criterion=grade&judge=good&min_kappa=0.2").json()
    assert passed["passed"] is True
    assert passed["certificate"] == certificate.json()
    assert [one["id"] for one in client.get(f"{root}looks/").json()["results"]] == [look.json()["id"]]
    assert client.get(f"{root}certificates/").json()["results"] == [certificate.json()]


@pytest.mark.parametrize(
    ("method", "path", "data", "status", "code"),
    [
        ("post", "looks/", {"criterion": "grade"}, 422, "missing_field"),
        ("post", "looks/", {"criterion": "grade", "judge": "nobody"}, 422, "unknown_judge"),
        ("post", "looks/", {"criterion": "grade", "judge": 7}, 422, "bad_text"),
        ("post", "looks/", {"criterion": "nothing", "judge": "good"}, 422, "unknown_criterion"),
        ("post", "looks/", {"criterion": "grade", "judge": "good", "dimension": "x"}, 422, "unclear_dimension"),
        ("post", "certificates/", {"look": 10**6}, 404, "not_found"),
        ("post", "certificates/", {"look": "first"}, 422, "bad_number"),
        ("get", "gate/?criterion=grade", None, 422, "missing_parameter"),
        ("get", "gate/?criterion=grade&judge=good&min_kappa=nan", None, 422, "bad_min_kappa"),
        ("get", "gate/?criterion=grade&judge=good&min_kappa=7", None, 422, "bad_min_kappa"),
        ("get", "gate/?criterion=grade&judge=nobody&min_kappa=0", None, 422, "unknown_judge"),
        ("post", "apply/", {"criterion": "grade", "judge": "good"}, 422, "missing_field"),
        ("post", "apply/", {"criterion": "grade", "judge": "nobody", "scores": []}, 422, "unknown_judge"),
        ("post", "apply/", {"criterion": "grade", "judge": "good", "scores": []}, 409, "no_certificate"),
        ("post", "apply/", {"criterion": "grade", "judge": "good", "scores": [], "dimension": 1}, 422, "bad_text"),
    ],
)
def test_bad_requests(project: Project, method: str, path: str, data: object, status: int, code: str) -> None:
    admin = User.objects.create_user("alma")
    set_member(project=project, user=admin, role="admin")
    reply = getattr(client_of(admin), method)(f"/api/projects/desk/{path}", data, format="json")
    assert (reply.status_code, reply.json()["error"]["code"]) == (status, code), reply.content
    assert not Look.objects.exists()
    assert not Certificate.objects.exists()
