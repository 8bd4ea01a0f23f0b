"""The form of a draft."""

from typing import Any

import pytest

from annotate.batches.steps import open_batch
from annotate.models import Batch, Project, Sample, User
from tests.annotate.factories import make_batch
from tests.clients import as_user
from tests.frontend.building import ADMINS_READ, WhoMay

EDIT = "/p/help/batches/1/edit/"


@pytest.fixture
def draft(project: Project, samples: list[Sample], ben: User, bea: User) -> Batch:
    return make_batch(project, [ben, bea], name="First", opened=False, settle_share=2 / 3, settle_votes=2,
                      consensus="threshold")  # fmt: skip


def as_shown(user: User) -> dict[str, Any]:
    """What the browser sends of the untouched form."""
    form = as_user(user).get(EDIT).context["form"]
    shown = {field.html_name: field.value() for field in form}
    return {name: value for name, value in shown.items() if value is not None and value is not False}


def test_the_untouched_form_changes_nothing(alice: User, draft: Batch) -> None:
    before = Batch.objects.values().get()
    rows = list(draft.batch_samples.values())
    reply = as_user(alice).post(EDIT, as_shown(alice))
    assert reply.status_code == 302, reply.context["form"].errors
    assert reply["Location"] == "/p/help/batches/1/"
    assert Batch.objects.values().get() == before, "two thirds are not 67 %"
    assert list(draft.batch_samples.values()) == rows


def test_all_of_it_can_be_changed(alice: User, ben: User, draft: Batch) -> None:
    support = draft.project.criteria.get(key="support").pk
    sent = {
        **as_shown(alice), "name": "Second", "due_date": "2999-01-31", "annotators": [ben.pk], "overlap": 1,
        "criteria": [support], "consensus": "unanimous", "remove": "s1\n\n s2 ",
    }  # fmt: skip
    reply = as_user(alice).post(EDIT, sent, follow=True)
    assert "Saved." in reply.content.decode()
    draft.refresh_from_db()
    assert (draft.name, str(draft.due_date), draft.overlap, draft.consensus) == ("Second", "2999-01-31", 1, "unanimous")
    assert list(draft.annotators.all()) == [ben]
    assert [criterion.key for criterion in draft.asked_criteria()] == ["support"]
    assert list(draft.samples.values_list("external_id", flat=True)) == ["s0", "s3"]


def test_says_what_it_would_be(alice: User, draft: Batch) -> None:
    sent = {**as_shown(alice), "remove": "s1", "overlap": 1}
    reply = as_user(alice).post(f"{EDIT}preview/", sent)
    assert "3 tasks for 2 annotators, about 2 each" in reply.content.decode()
    assert draft.samples.count() == 4


def test_what_is_wrong_stands_at_its_field(alice: User, draft: Batch) -> None:
    client, sent = as_user(alice), as_shown(alice)
    for change, said in (
        ({"remove": "s9"}, "Sample “s9” not found"),
        ({"overlap": 3}, "need at least 3 annotators"),
        ({"criteria": []}, "t least one criterion"),
    ):
        reply = client.post(EDIT, {**sent, **change})
        assert reply.status_code == 422
        assert said in reply.content.decode()


def test_a_batch_that_was_opened_says_so(alice: User, draft: Batch) -> None:
    sent = as_shown(alice)
    assert EDIT in as_user(alice).get("/p/help/batches/1/").content.decode()
    open_batch(batch=draft)
    for reply in (as_user(alice).get(EDIT, follow=True), as_user(alice).post(EDIT, sent, follow=True)):
        assert "no longer a draft and can’t be edited" in reply.content.decode()
    assert EDIT not in as_user(alice).get("/p/help/batches/1/").content.decode()


def test_who_may(who_may: WhoMay, draft: Batch) -> None:
    assert who_may(EDIT) == {**ADMINS_READ}
