"""One rule says what a judge may do: gate, `apply`, triage and the API ask it, and none contradicts another."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from alignment.base.estimate import remark
from alignment.judging import decision
from alignment.judging.decision import Verdict
from annotate.batches.declared_draws import declare_draw
from annotate.core.blindness import SYSTEM
from annotate.core.errors import Conflict, Invalid
from annotate.models import Criterion, Project, Rater, User
from annotate.projects.criteria import add_criteria
from annotate.projects.write import set_member
from judges.api.certificates_serializers import Applied
from judges.certificates.apply import apply_certificate, apply_to_pipeline
from judges.certificates.decision_read import (
    FEWEST_GROUPS,
    PERMITTING,
    conditions_of,
    people_behind,
    standing_of,
    standings_of,
)
from judges.certificates.gate import gate, gate_markdown
from judges.certificates.triage_read import left_to_people
from judges.models import PROMISE, JudgeVersion, Look
from tests.annotate.factories import GRADE
from tests.clients import client_of
from tests.database import copied_from_world
from tests.judges.building import add_judge, add_samples, graded_project, scores_like
from tests.judges.certificates.decided import ENDPOINT, KAPPA, certified, decided

pytestmark = pytest.mark.django_db

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> JudgeVersion:
    project, samples = graded_project(count=32)
    return add_judge(project, "good", samples, scores_like(samples), dimension="grade")


version = copied_from_world()


@pytest.fixture
def project(version: JudgeVersion) -> Project:
    return version.judge.project


@pytest.fixture
def grade(project: Project) -> Criterion:
    return project.criteria.get(key="grade")


def asked(project: Project) -> dict[str, Any]:
    return {"project": project, "criterion_key": "grade", "judge_name": "good"}


def test_the_rule_is_that_of_the_statistics() -> None:
    assert PERMITTING == decision.PERMITTING
    assert FEWEST_GROUPS == decision.FEWEST_GROUPS


@pytest.mark.parametrize("verdict", VERDICTS)
def test_all_that_ask_hear_the_same(version: JudgeVersion, project: Project, verdict: Verdict) -> None:
    certificate = certified(version, verdict)
    standing = standing_of(**asked(project))
    found = gate(**asked(project))
    assert found.decision == certificate.look.result["decision"]
    rows = [{"score": 0.1}, {"score": 0.6}, {"score": 0.9}]
    if verdict in PERMITTING:
        assert (standing.refusal, found.code) == (None, "passed")
        applied = Applied.show(apply_certificate(**asked(project), rows=rows))
        assert applied["pass_rate"]["value"] == pytest.approx(2 / 3)
        alone = [True, False, True] if verdict == "alone_in_region" else [None] * 3
        assert [row["in_region"] for row in applied["results"]] == alone
    else:
        assert found.code == verdict
        with pytest.raises(Conflict) as refused:
            apply_certificate(**asked(project), rows=rows)
        assert (refused.value.code, refused.value.message) == (verdict, found.sentence) == standing.refusal
    is_alone = verdict == "alone_in_region"
    assert (standing.alone_in == certificate.look) is is_alone
    assert (left_to_people(certificate.look, reader=SYSTEM) is not None) is is_alone


@pytest.mark.parametrize("verdict", VERDICTS)
def test_a_region_is_not_used_without_the_decision(version: JudgeVersion, project: Project, verdict: Verdict) -> None:
    """Whatever else stands in a look."""
    region = {"threshold": 0.5, "distance": 0.3, "risk": 0.1, "confidence": 0.97, "reason": None}
    look = certified(version, verdict, region=region).look
    assert (left_to_people(look, reader=SYSTEM) is None) is (verdict != "alone_in_region")
    if verdict == "with_a_person":
        applied = Applied.show(apply_certificate(**asked(project), rows=[{"score": 0.9}]))
        assert (applied["region"]["inside"], applied["results"][0]["in_region"]) == (None, None)


def test_how_many_more_labels_are_needed_is_said(version: JudgeVersion, project: Project) -> None:
    look = certified(version, "cannot_tell").look
    for more, hours, said in (
        (930, 12.4, "Needs about 930 more drawn samples, about 12 hours"),
        (930, None, "Needs about 930 more drawn samples."),
    ):
        change = {**look.result["decision"], "more": more, "hours": hours}
        Look.objects.update(result={**look.result, "decision": change})
        assert said in gate(**asked(project)).sentence


def ended(project: Project) -> str:
    """Why the certificate has; what it permitted is permitted by nothing then."""
    standing = standing_of(**asked(project))
    assert standing.ended is not None
    assert (standing.decision, standing.alone_in) == (None, None)
    code, sentence = standing.ended
    found = gate(**asked(project))
    assert (found.code, found.sentence, found.decision) == (code, sentence, None)
    assert gate_markdown(found).startswith(
        "**Failed:** Certificate 1" if code != "looked_since" else "**Failed:** Test evaluation 2"
    )
    with pytest.raises(Conflict) as refused:
        apply_certificate(**asked(project), rows=[{"score": 0.9}])
    assert (refused.value.code, refused.value.message) == (code, sentence)
    return code


def test_it_ends_with_the_version_of_the_criterion(version: JudgeVersion, project: Project) -> None:
    certified(version, "alone_in_region")
    add_criteria(project=project, specs=[{**GRADE, "prompt": "How good is it, all in all?"}])
    assert ended(project) == "criterion_changed"


def test_it_ends_with_the_version_of_the_judge(version: JudgeVersion, project: Project) -> None:
    certified(version, "alone_in_region")
    add_judge(project, "good", {}, [], dimension="grade", label="2")
    assert ended(project) == "judge_changed"


def test_it_ends_with_what_a_look_promises(version: JudgeVersion, project: Project) -> None:
    certified(version, "alone_in_region")
    Look.objects.update(promise=PROMISE - 1, result={"decision": "of another form"})
    assert ended(project) == "out_of_date"
    assert conditions_of(Look.objects.get()) == []


def test_it_ends_with_the_next_look(version: JudgeVersion, project: Project) -> None:
    certified(version, "alone_in_region")
    decided(version, "alone_in_region")
    assert ended(project) == "looked_since"


def test_it_ends_when_what_was_declared_of_its_labels_is_taken_back(
    version: JudgeVersion, project: Project, grade: Criterion
) -> None:
    declare_draw(criterion=grade, how="all")
    said = {"how": "declared_all", "samples": 32, "by": "Alma", "day": "2026-11-20", "batch": None}
    certified(version, "alone_in_region", drawn_by=[said])
    assert gate(**asked(project)).passed
    # The same word again, on later labels too, takes nothing back.
    declare_draw(criterion=grade, how="all")
    assert gate(**asked(project)).passed
    declare_draw(criterion=grade, how="random", population=500)
    assert ended(project) == "labels_undeclared"
    declare_draw(criterion=grade, how="unknown")
    assert ended(project) == "labels_undeclared"


def test_it_ends_when_other_chances_are_declared(version: JudgeVersion, project: Project, grade: Criterion) -> None:
    for place, sample in enumerate(project.samples.all()):
        sample.metadata = {"drawn": 0.5, "again": 0.50, "other": 0.1 if place % 2 else 0.5}
        sample.save()
    declare_draw(criterion=grade, how="column", column="drawn")
    said = {"how": "declared_column", "samples": 32, "by": "Alma", "day": "2026-11-20", "batch": None}
    look = certified(version, "alone_in_region", drawn_by=[said]).look
    names = project.samples.values_list("external_id", flat=True)
    look.samples = {**look.samples, "chances": {name: [0.5, 1] for name in names}}
    look.save()
    declare_draw(criterion=grade, how="column", column="again")
    assert gate(**asked(project)).passed
    declare_draw(criterion=grade, how="column", column="other")
    assert ended(project) == "labels_undeclared"


def test_what_it_rests_on_is_named(version: JudgeVersion, project: Project) -> None:
    conditions = conditions_of(decided(version, "with_a_person"))
    assert [(one.name, one.holds) for one in conditions] == [
        ("endpoint", True), ("groups", True), ("coverage", True), ("drawn", True), ("chosen", None), ("people", None),
    ]  # fmt: skip
    weak = {
        "figure": {**KAPPA.as_dict(), "low": None, "clusters": 12},
        "coverage": {**KAPPA.as_dict(), "value": 0.8},
        "drawn": {"units": 0, "samples": 0, "left_out": 40},
    }
    missing = [one.name for one in conditions_of(decided(version, "cannot_tell", **weak)) if one.holds is False]
    assert missing == ["endpoint", "groups", "coverage", "drawn"]
    heavy = decided(version, "cannot_tell")
    heavy.result["decision"]["reason"] = remark("endpoint_of_few_alike", groups=100, n=20, fewest=30)
    assert [one.name for one in conditions_of(heavy) if one.holds is False] == ["groups"]


def test_who_the_people_are_is_said_to_those_who_may_know(version: JudgeVersion, project: Project) -> None:
    people = list(Rater.objects.filter(project=project, name__in=("ann", "ben")).values_list("pk", flat=True))
    look = decided(version, "with_a_person", people=people)
    said = {}
    for role in ("admin", "reviewer"):
        user = User.objects.create_user(role)
        set_member(project=project, user=user, role=role)
        said[role] = people_behind(look, reader=user)
    assert said == {"admin": ["ann", "ben"], "reviewer": ["Annotator 1", "Annotator 2"]}


def test_a_bar_of_its_own_is_above_the_declared_one(version: JudgeVersion, project: Project) -> None:
    certified(version, "with_a_person")
    assert gate(**asked(project), min_kappa=KAPPA.low).passed
    low = gate(**asked(project), min_kappa=0.2)
    assert low.passed
    high = gate(**asked(project), min_kappa=0.65)
    assert (high.code, high.sentence) == (
        "below_bar", "The lower bound of kappa on test is 0.600, under the bar of 0.65 (certificate 1).",
    )  # fmt: skip
    assert "| 0.65 |" in gate_markdown(high)
    assert "| 0.4 |" in gate_markdown(low)
    # It can't be lowered.
    certified(version, "not_for_use")
    assert gate(**asked(project), min_kappa=-1).code == "not_for_use"


def test_a_bar_of_kappa_is_refused_where_something_else_was_declared(version: JudgeVersion, project: Project) -> None:
    certified(version, "with_a_person", endpoint={**ENDPOINT, "name": "kappa_less_people", "bar": -0.05})
    assert gate(**asked(project)).passed
    with pytest.raises(Invalid, match=r"judge − person. of at least -0.05 was declared") as refused:
        gate(**asked(project), min_kappa=0.5)
    assert refused.value.code == "bad_min_kappa"


def test_too_little_scored_says_nothing_of_shares(version: JudgeVersion, project: Project) -> None:
    """A version of the pipeline of which the judge left out what may be hard."""
    certified(version, "with_a_person")
    samples = add_samples(project, [f"v{place}" for place in range(40)], pipeline_version="v7")
    rows = [(name, "answer", 0.9 if place % 3 else 0.1) for place, name in enumerate(samples) if name.startswith("v")]
    add_judge(project, "good", samples, rows[:35], dimension="grade")
    found = apply_to_pipeline(
        **asked(project), pipeline="v7", reader=User.objects.create_user("ada", is_superuser=True)
    )
    assert found.batch.found.rate.rate.reason == {"code": "little_scored", "share": 0.875, "least": 0.9}
    assert found.batch.found.rate.judged.value is None
    add_judge(project, "good", samples, rows[35:36], dimension="grade")
    found = apply_to_pipeline(
        **asked(project), pipeline="v7", reader=User.objects.create_user("bea", is_superuser=True)
    )
    assert found.batch.found.rate.judged.value is not None


def test_of_everything_that_a_judge_was_certified_for(version: JudgeVersion, project: Project) -> None:
    certified(version, "with_a_person")
    certified(version, "not_for_use", key="support")
    assert [(one.criterion.key, one.decision and one.decision["verdict"]) for one in standings_of(version.judge)] == [
        ("grade", "with_a_person"), ("support", "not_for_use"),
    ]  # fmt: skip


def test_by_api(version: JudgeVersion, project: Project) -> None:
    user = User.objects.create_user("alma")
    set_member(project=project, user=user, role="admin")
    certified(version, "cannot_tell")
    client, url = client_of(user), f"/api/projects/{project.slug}/"
    found = client.get(f"{url}gate/?criterion=grade&judge=good").json()
    assert (found["passed"], found["code"], found["min_kappa"]) == (False, "cannot_tell", None)
    assert found["decision"]["verdict"] == "cannot_tell"
    said = found["certificate"]
    assert [one["name"] for one in said["conditions"]] == [
        "endpoint",
        "groups",
        "coverage",
        "drawn",
        "chosen",
        "people",
    ]
    assert (said["rests_on"]["drawn"]["left_out"], said["rests_on"]["drawn_by"][0]["how"]) == (7, "all")
    Look.objects.update(promise=PROMISE - 1)
    (said,) = client.get(f"{url}certificates/").json()["results"]
    assert (said["decision"], said["conditions"], said["rests_on"]) == (None, [], None)
