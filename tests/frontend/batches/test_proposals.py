"""A judge's proposals on the form of a batch, and in words how far they pull annotators."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import translation

from alignment.base.estimate import Estimate
from annotate.batches.steps import open_batch
from annotate.models import Batch, Project, Sample, User
from frontend.batches.proposals import pull
from tests.annotate.factories import make_batch
from tests.clients import as_user
from tests.frontend.building import ADMINS_READ, REVIEWERS_READ, WhoMay
from tests.judges.building import add_judge

NEW, EDIT, PAGE = (f"/p/help/batches/{end}" for end in ("new/", "1/edit/", "1/"))


@pytest.fixture
def judged(project: Project, samples: list[Sample]) -> Project:
    """With a judge that says something of the first claim of each sample."""
    named = {sample.external_id: sample for sample in samples}
    add_judge(project, "checker", named, [(name, "claim:0", "supported") for name in named])
    return project


@pytest.fixture
def draft(judged: Project, ben: User, bea: User) -> Batch:
    return make_batch(
        judged, [ben, bea], name="Verify", opened=False, proposals={"support": "checker"}, withheld_share=0.5
    )


def as_shown(user: User, address: str, **more: Any) -> dict[str, Any]:
    """What the browser sends of the form."""
    form = as_user(user).get(address).context["form"]
    shown = {field.html_name: field.value() for field in form}
    return {name: value for name, value in shown.items() if value is not None and value is not False} | more


def test_only_criteria_with_a_judge_can_have_proposals(alice: User, project: Project, samples: list[Sample]) -> None:
    assert "Proposals to verify" not in as_user(alice).get(NEW).content.decode()
    named = {sample.external_id: sample for sample in samples}
    add_judge(project, "checker", named, [("s0", "claim:0", "supported")])
    form = as_user(alice).get(NEW).context["form"]
    assert [field.name for field in form.proposal_fields()] == ["propose_support"]
    assert [choice for choice, _words in form["propose_support"].field.choices] == ["", "checker"]


def test_a_batch_with_proposals_is_made_and_says_so(alice: User, judged: Project, ben: User) -> None:
    sent = as_shown(
        alice, NEW, name="Verify", annotators=[ben.pk], overlap=1, propose_support="checker", withheld_percent=30
    )
    reply = as_user(alice).post(NEW, sent, follow=True)
    batch = Batch.objects.get()
    assert (batch.proposals, batch.withheld_share) == ({"support": "checker"}, 0.3)
    page = " ".join(reply.content.decode().split())
    assert "checker</bdi> · withheld from 30% of the questions" in page
    open_batch(batch=batch)
    page = as_user(alice).get(PAGE).content.decode()
    assert "Not known yet how far proposals pull annotators: fewer than 10 questions" in page


def test_the_form_of_a_draft(alice: User, draft: Batch) -> None:
    before = Batch.objects.values().get()
    assert as_user(alice).post(EDIT, as_shown(alice, EDIT)).status_code == 302
    assert Batch.objects.values().get() == before
    as_user(alice).post(EDIT, as_shown(alice, EDIT, withheld_percent=20))
    assert Batch.objects.get().withheld_share == 0.2
    relevance = draft.project.criteria.get(key="relevance").pk
    reply = as_user(alice).post(EDIT, as_shown(alice, EDIT, criteria=[relevance]))
    assert reply.status_code == 302, "without the criterion there is nothing to propose"
    assert Batch.objects.get().proposals == {}


def test_a_share_out_of_range_stands_at_its_field(alice: User, draft: Batch) -> None:
    reply = as_user(alice).post(EDIT, as_shown(alice, EDIT, withheld_percent=0))
    assert reply.status_code == 422
    assert reply.context["form"].errors.keys() == {"withheld_percent"}
    assert reply.context["form"].opens_proposals()


def test_a_draft_without_anything_to_propose_says_why(alice: User, draft: Batch) -> None:
    Sample.objects.filter(external_id="s0").update(answer="Another answer.")
    draft.batch_samples.exclude(sample__external_id="s0").delete()
    draft.project.judges.get().versions.get().scores.filter(sample__external_id="s0").delete()
    reply = as_user(alice).post("/p/help/batches/1/open/", follow=True)
    assert "checker has nothing to propose for “support” here" in reply.content.decode()
    assert Batch.objects.get().status == "draft"


def test_who_still_labels_in_the_batch_is_told_no_figure(alice: User, rita: User, judged: Project, ben: User) -> None:
    make_batch(judged, [alice, ben], name="Verify", proposals={"support": "checker"})
    assert "annotators: you still have tasks in this batch." in as_user(alice).get(PAGE).content.decode()
    assert "annotators: fewer than 10 questions" in as_user(rita).get(PAGE).content.decode()


@pytest.mark.parametrize(
    ("value", "low", "high", "english", "chinese"),
    [
        (0.12, 0.03, 0.21, "agreed with checker 12 points more often (3 to 21): proposals pull annotators.", "12"),
        (-0.08, -0.15, -0.01, "agreed with checker 8 points less often (−15 to −1)", "8"),
        (
            0.02,
            -0.05,
            0.09,
            "No pull is shown: with a proposal, agreement with checker changed by 2 points (−5 to 9).",
            "2",
        ),
    ],
)
def test_the_pull_in_words(value: float, low: float, high: float, english: str, chinese: str) -> None:
    more = Estimate(value, low, high, n=160, clusters=40)
    assert english in pull("checker", more)
    with translation.override("zh-hans"):
        said = pull("checker", more)
    assert "checker" in said
    assert f" {chinese} " in f" {said} "
    assert "annotators" not in said


def test_who_may(who_may: WhoMay, draft: Batch) -> None:
    assert who_may(EDIT) == {**ADMINS_READ}
    assert who_may(PAGE) == {**REVIEWERS_READ}
