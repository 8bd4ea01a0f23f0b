"""Proposed claims: who may have them made, look at them and take them over."""

import pytest

from annotate.models import Project, Sample, User
from judges.models import Ask, Endpoint, Judge, Run
from judges.proposals.write import propose_claims
from judges.runs import work as waking
from judges.runs import write as runs_service
from judges.versions.write import create_judge
from tests.clients import as_user
from tests.frontend.building import REVIEWERS_READ, WhoMay, make_samples

ADMIN = {**REVIEWERS_READ, "reviewer": 403}


@pytest.fixture
def judge(project: Project, alice: User, monkeypatch: pytest.MonkeyPatch) -> Judge:
    monkeypatch.setattr(waking, "wake", lambda place: None)
    Endpoint.objects.create(project=project, name="house", base_url="http://127.0.0.1:1/v1")
    make_samples(project, 3)
    config = {"criterion": "support", "model": "m", "template": "claim_support"}
    return create_judge(project=project, name="Asks", kind="llm", config=config, endpoint="house", actor=alice)


@pytest.fixture
def run(judge: Judge, alice: User) -> Run:
    made = propose_claims(version=judge.versions.get(), scope={"all": True}, actor=alice)
    first, second, third = made.asks.order_by("pk")
    given = {"claims": [{"text": "<b>Said</b> anew.", "start": None, "end": None}], "revision": 1}
    Ask.objects.filter(pk__in=[first.pk, second.pk]).update(state="done", status="ok", outcome=given)
    Ask.objects.filter(pk=third.pk).update(state="done", status="refused", detail="The model refused.")
    Run.objects.filter(pk=made.pk).update(state="done")
    return made


def test_who_may(who_may: WhoMay, judge: Judge, run: Run) -> None:
    assert who_may(f"/p/help/judges/{judge.pk}/claims/") == ADMIN
    assert who_may(f"/p/help/judges/{judge.pk}/claims/estimate/", "post") == ADMIN
    assert who_may(f"/p/help/runs/{run.pk}/claims/") == REVIEWERS_READ


def test_from_the_form_to_the_claims(alice: User, rita: User, judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    client, at = as_user(alice), f"/p/help/judges/{judge.pk}/claims/"
    assert "3 units to process" in client.post(at + "estimate/", {"scope": "all"}).content.decode()
    monkeypatch.setattr(runs_service, "_MEASURED", 1)
    assert "About 3 units to process" in client.post(at + "estimate/", {"scope": "all"}).content.decode()
    reply = client.post(at, {"scope": "all", "budget": ""})
    made = Run.objects.get()
    assert reply["Location"] == f"/p/help/runs/{made.pk}/claims/"
    assert "No proposals yet" in client.get(reply["Location"]).content.decode()
    assert client.post(at, {"scope": "99"}).status_code == 422


def test_how_many_are_still_to_come_is_told_as_an_estimate(rita: User, run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(state="running", is_laid=False, expected=1_234)
    assert "3 of about 1,300 answers processed" in as_user(rita).get(f"/p/help/runs/{run.pk}/claims/").content.decode()


def test_taken_over_by_a_reviewer(rita: User, run: Run) -> None:
    client, at = as_user(rita), f"/p/help/runs/{run.pk}/claims/"
    page = client.get(at).content.decode()
    assert "&lt;b&gt;Said&lt;/b&gt; anew." in page
    assert "The model refused." in page
    first, second, third = (ask.sample_id for ask in run.asks.order_by("pk"))
    page = client.post(at, {"sample": str(first)}, follow=True).content.decode()
    assert "accepted for" in page
    assert ">accepted<" in page
    assert "Accepted for 1 sample." in client.post(at, follow=True).content.decode()
    revisions = dict(Sample.objects.values_list("pk", "claims_revision"))
    assert (revisions[first], revisions[second], revisions[third]) == (2, 2, 1)
    assert "No claims to accept." in client.post(at, {"sample": str(third)}, follow=True).content.decode()
