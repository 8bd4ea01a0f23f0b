"""The guidelines change because of a dispute: the version and the dispute know of each other, and what was labelled
under the older text can be labelled again."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from annotate.models import Batch, GuidelineVersion, Label, Project, Sample, User, Verdict
from annotate.projects.guidelines import change_guidelines
from annotate.verdicts.samples_read import Samples, Wanted
from tests.clients import as_user
from tests.frontend.conftest import GUIDELINES, give


@pytest.fixture
def dispute(disputes: list[Verdict]) -> Verdict:
    """Its labels were made under the first version."""
    Label.objects.update(guideline_version=1)
    return disputes[0]


def form_of(dispute: Verdict) -> str:
    return f"/p/help/adjudicate/{dispute.pk}/guidelines/"


def sent(text: str, version: int = 1) -> dict[str, object]:
    return {"version": version, "text": text, "note": "Parts count."}


def test_who_adjudicates_may_change_them(who_may: Callable[..., dict[str, int]], dispute: Verdict) -> None:
    assert who_may(form_of(dispute)) == {
        "anonymous": 302, "admin": 200, "reviewer": 200, "annotator": 403, "stranger": 404,
    }  # fmt: skip


def test_the_dispute_stands_beside_the_form_and_both_know_of_each_other(
    rita: User, ben: User, project: Project, dispute: Verdict
) -> None:
    client = as_user(rita)
    page = client.get(form_of(dispute))
    text = page.content.decode()
    # Annotators who still have the sample to label read it: it names neither sample nor unit.
    assert page.context["form"]["note"].value() == f"{dispute.criterion.name}: "
    for part in ("Said by", "Contradicted", dispute.sample.question[:20]):
        assert part in text
    assert "<bdi>Ben</bdi>" not in text
    assert client.post(form_of(dispute) + "?criterion=support", sent(GUIDELINES + "Parts count.\n")).url == (
        f"/p/help/adjudicate/{dispute.pk}/?criterion=support"
    )
    made = GuidelineVersion.objects.get(number=2)
    assert (made.dispute, made.author) == (dispute, rita)
    assert (
        '<a href="/p/help/guidelines/#version-2">' in client.get(f"/p/help/adjudicate/{dispute.pk}/").content.decode()
    )
    link = f'href="/p/help/adjudicate/{dispute.pk}/"'
    assert link in client.get("/p/help/guidelines/").content.decode()
    # Disputes are not the annotators' business.
    assert link not in as_user(ben).get("/p/help/guidelines/").content.decode()


def test_a_reviewer_who_still_has_to_label_the_sample_sees_nothing_of_it(
    rita: User, project: Project, dispute: Verdict
) -> None:
    give(project, rita, dispute.sample.external_id)
    client = as_user(rita)
    for reply in (client.get(form_of(dispute)), client.post(form_of(dispute), sent("Other."))):
        assert reply.status_code == 409
        assert "Said by" not in reply.content.decode()
    assert GuidelineVersion.objects.count() == 1


def test_nobody_is_overtaken_from_a_dispute_either(alice: User, rita: User, project: Project, dispute: Verdict) -> None:
    change_guidelines(actor=alice, project=project, text="Hers.", note="By Alice.")
    reply = as_user(rita).post(form_of(dispute), sent("Mine."))
    assert reply.status_code == 412
    for part in ("By Alice.", "Hers.", "Mine.", "Said by"):
        assert part in reply.content.decode()


def test_the_api_names_a_dispute_of_this_project_that_one_may_see(
    rita: User, project: Project, dispute: Verdict
) -> None:
    client = as_user(rita)

    def post(number: int) -> int:
        body = json.dumps({"text": "Other.", "dispute": number})
        url, headers = "/api/projects/help/guidelines/", {"If-Match": '"1"'}
        return client.post(url, body, content_type="application/json", headers=headers).status_code

    assert post(10**9) == 404
    assert post(dispute.pk) == 201
    assert GuidelineVersion.objects.get(number=2).dispute == dispute


# What was labelled under the older text


def under_older(project: Project, reader: User, criterion: str = "") -> list[str]:
    wanted = Wanted(outdated=True, criterion=criterion)
    return [row.sample.external_id for row in Samples(project, wanted, reader=reader)[:10]]


def test_samples_labelled_under_an_older_text_are_offered_until_they_are_labelled_again(
    alice: User, rita: User, project: Project, dispute: Verdict, batch: Batch, samples: list[Sample]
) -> None:
    first = samples[0].external_id
    assert under_older(project, alice) == []
    change_guidelines(actor=rita, project=project, text="Other.", dispute=dispute)
    assert under_older(project, alice) == [first]
    assert under_older(project, alice, criterion="support") == [first]
    url = "/p/help/samples/?guidelines=older&amp;criterion=support"
    assert url in as_user(alice).get(f"/p/help/adjudicate/{dispute.pk}/").content.decode()
    # Only who makes batches is offered one.
    assert url not in as_user(rita).get(f"/p/help/adjudicate/{dispute.pk}/").content.decode()
    assert "/p/help/samples/?guidelines=older" in as_user(alice).get("/p/help/guidelines/").content.decode()
    Label.objects.filter(criterion__key="support").update(guideline_version=2)
    assert under_older(project, alice, criterion="support") == []
    assert under_older(project, alice) == [first]
    # Under which guidelines a label was made that says nothing of it, nobody knows: it is not said to be outdated.
    Label.objects.update(guideline_version=None)
    assert under_older(project, alice) == []


def test_a_later_label_of_the_same_annotator_stands_for_the_older(
    alice: User, project: Project, dispute: Verdict, samples: list[Sample]
) -> None:
    change_guidelines(actor=alice, project=project, text="Other.")
    older = list(Label.objects.filter(sample=samples[0]))
    for label in older:
        # In a task of a later batch, as imported ones lie in none.
        Label.objects.create(
            rater=label.rater, sample=label.sample, unit=label.unit, criterion=label.criterion, value=label.value,
            guideline_version=2,
        )  # fmt: skip
    assert under_older(project, alice) == []


def test_what_a_reader_still_has_to_label_is_not_among_them(
    alice: User, rita: User, project: Project, dispute: Verdict, samples: list[Sample]
) -> None:
    change_guidelines(actor=alice, project=project, text="Other.")
    give(project, rita, samples[0].external_id)
    assert under_older(project, rita) == []
    assert under_older(project, alice) == [samples[0].external_id]
