"""What a judge may decide alone, and a batch of the samples that are left to people."""

from __future__ import annotations

from typing import Any

import pytest

from alignment.base.estimate import remark
from alignment.judging.decision import Verdict
from annotate.models import Batch, Project, User
from annotate.projects.write import set_member
from frontend.reports.shown import shown_share
from judges.models import PROMISE, Judge, JudgeVersion, Look
from judges.reports.write import freeze_report
from tests.clients import as_user
from tests.database import copied_from_world
from tests.frontend.conftest import Staff, make_staff
from tests.judges.building import GRADES, add_judge, add_samples, graded_project, scores_like, stored_sides
from tests.judges.certificates.decided import NO_REGION, REGION, certified, decided

URL = "/p/desk/reports/grade/triage/"
# Far from the threshold it is always right, near to it every second time: grades 3 and 4 stand for fail and pass.
SCORES = {1: 0.05, 2: 0.1, 3: 0.48, 4: 0.52, 5: 0.95}


staff = copied_from_world(0)
desk = copied_from_world(1)


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> tuple[Staff, Project]:
    people = make_staff()
    project, samples = graded_project(count=160)
    roles = ((people.alice, "admin"), (people.rita, "reviewer"), (people.ben, "annotator"), (people.bea, "annotator"))
    for user, role in roles:
        set_member(project=project, user=user, role=role)
    scores = []
    for place, name in enumerate(samples):
        grade = GRADES[place % len(GRADES)]
        turned = {3: 4, 4: 3}.get(grade, grade) if place % 3 == 0 else grade
        scores.append((name, "answer", SCORES[turned]))
    add_judge(project, "careful", samples, scores, dimension="grade")
    add_judge(project, "other", samples, scores_like(samples), dimension="grade")
    freeze_report(criterion=project.criteria.get(key="grade"))
    return people, project


@pytest.fixture
def region(desk: Project) -> dict[str, Any]:
    return certified(careful(desk), "alone_in_region", region=REGION).look.result["region"]


def careful(desk: Project) -> JudgeVersion:
    return JudgeVersion.objects.get(judge__project=desk, judge__name="careful")


@pytest.fixture
def later(desk: Project, region: dict[str, Any]) -> set[str]:
    """Samples that came in after the report and after the look; those of them that need a person."""
    samples = add_samples(desk, [f"later{place}" for place in range(5)])
    near, far = region["threshold"] - region["distance"] / 2, region["threshold"] + region["distance"]
    scores = [("later0", "answer", near), ("later1", "answer", far), ("later2", "answer", None)]
    add_judge(desk, "careful", samples, scores, dimension="grade")
    # Another judge's score, and another measure, say nothing of this one's.
    add_judge(desk, "other", samples, [("later3", "answer", 1.0)], dimension="grade")
    add_judge(desk, "careful", samples, [("later4", "answer", 1.0)], dimension="tone")
    return {"later0", "later2", "later3", "later4"}


def unsure(desk: Project, region: dict[str, Any]) -> set[str]:
    """The labelled samples outside the region, by hand; those on test are locked."""
    dev = {name for name, is_dev in stored_sides(desk.criteria.get(key="grade")).items() if is_dev}
    scores = Judge.objects.get(project=desk, name="careful").versions.get().scores.filter(number__isnull=False)
    return {
        score.sample.external_id
        for score in scores.select_related("sample")
        if abs(score.number - region["threshold"]) < region["distance"] * (1 - 1e-9) and score.sample.external_id in dev
    }


def sent(*people: User, **more: Any) -> dict[str, Any]:
    return {"name": "Rest", "annotators": [user.pk for user in people], "overlap": 1, "which": "rest", **more}


def chosen(batch: Batch) -> set[str]:
    return set(batch.batch_samples.values_list("sample__external_id", flat=True))


def test_before_the_first_certificate(alice: User, ben: User, desk: Project) -> None:
    """Also after a look: what a look shows is used once somebody stands by it."""
    decided(careful(desk), "alone_in_region")
    client = as_user(alice)
    html = client.get(URL).content.decode()
    assert "“careful” has no certificate for “grade”." in html
    assert "Automatic decisions take a certified test evaluation" in html
    assert "It decides nothing automatically: everything goes to human review." in html
    assert "/p/desk/reports/grade/judge/?judge=careful&amp;measures=grade" in html
    assert "<svg" in html
    assert "Create a batch" not in html
    said = client.post(URL, sent(ben), follow=True).content.decode()
    assert "Nothing can be decided automatically" in said
    assert not Batch.objects.exists()


def test_a_batch_of_the_rest_holds_exactly_the_rest(
    alice: User, ben: User, desk: Project, region: dict[str, Any], later: set[str]
) -> None:
    client, labelled = as_user(alice), unsure(desk, region)
    assert len(labelled) > 20
    page = client.get(URL, {"judge": "careful", "measures": "grade"})
    left = page.context["triage"]["left"]
    assert set(left.rest) == labelled | later
    dev = sum(stored_sides(desk.criteria.get(key="grade")).values())
    assert set(left.unlabelled) == later
    html = page.content.decode()
    assert f"{len(labelled | later)} of {dev + 5} samples need human review." in html
    assert "Create a batch of the 4 without labels" in html

    assert client.post(f"{URL}?judge=careful&measures=grade", sent(ben)).url == "/p/desk/batches/1/"
    batch = Batch.objects.get()
    assert chosen(batch) == labelled | later
    assert (batch.status, batch.overlap, list(batch.annotators.all())) == ("draft", 1, [ben])
    assert [row.criterion.key for row in batch.batch_criteria.all()] == ["grade"]
    assert (
        "For human review: outside the score range of careful certified by test evaluation 1"
        in client.get("/p/desk/batches/1/").content.decode()
    )

    client.post(f"{URL}?judge=careful&measures=grade", sent(ben, which="unlabelled"))
    assert chosen(Batch.objects.get(number=2)) == later


def test_it_opens_on_the_judge_that_may_decide_alone(alice: User, desk: Project, region: dict[str, Any]) -> None:
    client = as_user(alice)
    page = client.get(URL)
    assert page.context["switcher"][0]["title"] == "other", "the best is not the certified one"
    assert page.context["triage"]["title"] == "careful"
    html = page.content.decode()
    assert f"It can decide {shown_share(region['inside']).text} of units automatically" in html
    # The form names its judge: by then another may stand first.
    assert f'action="{URL}?judge=careful&amp;measures=grade"' in html
    other = client.get(URL, {"judge": "other"}).content.decode()
    assert "everything goes to human review" in other
    assert "careful can decide" in other


def test_nothing_is_left(alice: User, ben: User, desk: Project, region: dict[str, Any]) -> None:
    look = Look.objects.get()
    Look.objects.update(result={**look.result, "region": {**region, "distance": 0.0}})
    dev = sum(stored_sides(desk.criteria.get(key="grade")).values())
    client = as_user(alice)
    html = client.get(URL).content.decode()
    assert f"None: all {dev} samples are decided automatically" in html
    assert "Create a batch" not in html
    reply = client.post(URL, sent(ben))
    assert reply.status_code == 422
    assert not Batch.objects.exists()


def test_a_bad_form_says_why_and_keeps_what_was_typed(
    alice: User, ben: User, desk: Project, region: dict[str, Any]
) -> None:
    for change, said in (
        ({"overlap": 2}, "need at least 2 annotators"),
        ({"annotators": []}, "Select at least one annotator"),
        ({"due_date": "2020-01-01"}, "has passed"),
    ):
        reply = as_user(alice).post(URL, sent(ben, **change))
        assert reply.status_code == 422
        assert said in reply.content.decode()
        assert 'value="Rest"' in reply.content.decode()
    assert not Batch.objects.exists()


def test_a_reviewer_sees_it_and_makes_no_batch(rita: User, ben: User, desk: Project, region: dict[str, Any]) -> None:
    client = as_user(rita)
    html = client.get(URL).content.decode()
    for said in ("Needs no human", "Needs a human", "Wrong, at most", "It passes scores of"):
        assert said in html
    # She decides about all of them.
    assert "No sample can be listed for you." in html
    assert "Nor are 160 samples that you still label or decide about." in html
    assert client.post(URL, sent(ben)).status_code == 403
    assert not Batch.objects.exists()


def test_what_was_certified_is_of_its_own_version(alice: User, desk: Project, region: dict[str, Any]) -> None:
    add_judge(desk, "careful", {}, [], dimension="grade", label="2")
    html = as_user(alice).get(URL).content.decode()
    assert "Certificate 1 is for version “1” of “careful”, which is now “2”." in html
    assert "Human review" not in html


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        ("with_a_person", "Together with a person"),
        ("not_for_use", "Not for use"),
        ("cannot_tell", "Not proven yet"),
    ],
)
def test_decisions_that_leave_nothing_to_the_judge_alone(
    alice: User, ben: User, desk: Project, verdict: Verdict, said: str
) -> None:
    why = remark("no_region", why=remark("few_failed_groups", n=7, needed=29))
    certified(careful(desk), verdict, region={**NO_REGION, "reason": why})
    client = as_user(alice)
    html = client.get(URL, {"judge": "careful"}).content.decode()
    assert said in html
    assert (
        "Nothing can be decided automatically: 7 groups with something that annotators fail are in the first step"
        in html
    )
    assert "triage-left" not in html
    assert (
        "Nothing can be decided automatically"
        in client.post(f"{URL}?judge=careful", sent(ben), follow=True).content.decode()
    )
    assert not Batch.objects.exists()
    Look.objects.update(promise=PROMISE - 1)
    html = client.get(URL, {"judge": "careful"}).content.decode()
    assert "before the promise of test evaluations changed" in html
    assert said not in html


def test_a_judge_that_answers_with_labels(alice: User) -> None:
    project, samples = graded_project("words")
    set_member(project=project, user=alice, role="admin")
    rows = [(name, "answer", str(GRADES[place % len(GRADES)])) for place, name in enumerate(samples)]
    add_judge(project, "words", samples, rows, dimension="grade")
    freeze_report(criterion=project.criteria.get(key="grade"))
    client, url = as_user(alice), URL.replace("desk", "words")
    assert "No curve: a judge that answers with labels" in client.get(url).content.decode()
    assert client.get(url, {"judge": "nobody"}).status_code == 404
