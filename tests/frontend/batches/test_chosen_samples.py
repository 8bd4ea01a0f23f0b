"""From the list of samples to a batch of those that were selected there."""

from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client

from annotate.models import Batch, Project, Sample, User, Verdict
from tests.clients import as_user
from tests.frontend.building import make_samples
from tests.frontend.conftest import give

NEW, SAMPLES = "/p/help/batches/new/", "/p/help/samples/"


def filled_in(client: Client, query: str, people: list[User]) -> dict[str, Any]:
    """What the page sends that was opened from the list."""
    reply = client.get(f"{NEW}?{query}")
    assert reply.status_code == 200
    form = reply.context["form"]
    sent = {field.html_name: field.value() for field in form if field.value() is not None}
    carried: dict[str, Any] = {}
    for name, value in form.chosen.fields if form.chosen else []:
        carried.setdefault(name, []).append(value)
        assert f'name="{name}" value="{value}"'.replace("&", "&amp;") in reply.content.decode()
    return {**sent, **carried, "name": "Chosen", "annotators": [one.pk for one in people]}


def made() -> tuple[list[str], dict[str, Any]]:
    batch = Batch.objects.latest("id")
    assert not batch.batch_samples.exclude(probability=None).exists(), "chosen samples stand for no others"
    return list(batch.samples.order_by("external_id").values_list("external_id", flat=True)), batch.selection


def test_ticked_samples(alice: User, ben: User, bea: User, samples: list[Sample]) -> None:
    client = as_user(alice)
    sent = filled_in(client, f"matching=&sample={samples[1].pk}&sample={samples[3].pk}", [ben, bea])
    assert "4 tasks for 2 annotators" in client.post(f"{NEW}preview/", sent).content.decode()
    assert client.post(NEW, sent).status_code == 302
    names, selection = made()
    assert names == ["s1", "s3"]
    assert selection == {"method": "list", "n": 2, "came": "by_hand"}


def test_all_that_match(alice: User, ben: User, bea: User, samples: list[Sample]) -> None:
    client = as_user(alice)
    listed = client.get(f"{SAMPLES}?m.tier=gold&sort=-id").content.decode()
    assert 'name="matching" value="m.tier=gold"' in listed
    sent = filled_in(client, "matching=m.tier%3Dgold&every=on", [ben, bea])
    assert client.post(NEW, sent).status_code == 302
    names, selection = made()
    assert names == ["s1", "s3"]
    assert selection == {"method": "list", "n": 2, "came": "by_hand", "note": "tier: gold"}


def test_what_is_disputed_came_for_that(
    alice: User, ben: User, bea: User, disputes: list[Verdict], samples: list[Sample]
) -> None:
    client = as_user(alice)
    assert client.post(NEW, filled_in(client, "matching=status%3Ddisputed&every=on", [ben, bea])).status_code == 302
    names, selection = made()
    assert (names, selection["came"], selection["note"]) == (["s0"], "disputed", "Status: Disputed")


@pytest.mark.usefixtures("disputes")
def test_what_others_said_chooses_nothing_that_one_has_still_to_label(
    alice: User, ben: User, bea: User, project: Project
) -> None:
    give(project, alice, "s0")
    client = as_user(alice)
    sent = filled_in(client, "matching=status%3Ddisputed&every=on", [ben, bea])
    assert client.get(f"{NEW}?matching=status%3Ddisputed&every=on").context["form"].chosen.names == []
    reply = client.post(NEW, sent)
    assert reply.status_code == 422
    assert "No samples match" in reply.content.decode()


def test_all_without_a_filter_are_simply_all(alice: User, ben: User, bea: User, samples: list[Sample]) -> None:
    client = as_user(alice)
    sent = filled_in(client, "matching=&every=on", [ben, bea])
    assert sent["method"] == "all"
    client.post(NEW, sent)
    assert Batch.objects.get().selection["came"] == "drawn"


def test_others_that_match_by_now_are_shown_first(
    alice: User, ben: User, bea: User, project: Project, samples: list[Sample]
) -> None:
    client = as_user(alice)
    sent = filled_in(client, "matching=m.tier%3Dgold&every=on", [ben, bea])
    make_samples(project, 2)
    reply = client.post(NEW, sent)
    assert reply.status_code == 409
    assert "Other samples match your filter by now: 3" in reply.content.decode()
    assert not Batch.objects.exists()
    again = {**sent, **dict(reply.context["form"].chosen.fields)}
    assert client.post(NEW, again).status_code == 302
    assert made()[0] == ["s1", "s3", "s5"]


def test_another_choice_can_still_be_taken(alice: User, ben: User, bea: User, samples: list[Sample]) -> None:
    client = as_user(alice)
    sent = filled_in(client, f"matching=&sample={samples[1].pk}", [ben, bea])
    assert client.post(NEW, {**sent, "method": "all"}).status_code == 302
    assert Batch.objects.get().batch_samples.count() == 4


def test_many(alice: User, ben: User, bea: User, project: Project) -> None:
    for _ in range(5):
        make_samples(project, 2000)
    client = as_user(alice)
    sent = filled_in(client, "matching=m.tier%3Dgold&every=on", [ben, bea])
    assert sum(len(str(value)) for value in sent.values()) < 1000, "they travel as what they match"
    assert client.post(NEW, sent).status_code == 302
    assert Batch.objects.get().batch_samples.count() == 5000


@pytest.mark.usefixtures("samples")
@pytest.mark.parametrize(
    "query", ["matching=", "matching=&sample=x", "matching=&sample=0", "matching=status%3Dx&every=on"]
)
def test_nothing_selected_is_said_in_the_list(alice: User, query: str) -> None:
    reply = as_user(alice).get(f"{NEW}?{query}", follow=True)
    assert urlsplit(reply.redirect_chain[0][0]).path == SAMPLES
    assert "elect" in str(next(iter(reply.context["messages"])))


def test_another_projects_samples_are_none(alice: User, samples: list[Sample]) -> None:
    other = Project.objects.create(slug="other", name="Other")
    [strange] = make_samples(other, 1)
    assert as_user(alice).get(f"{NEW}?matching=&sample={strange.pk}").status_code == 302


def test_only_who_makes_batches_selects(alice: User, rita: User, samples: list[Sample]) -> None:
    assert 'name="every"' in as_user(alice).get(SAMPLES).content.decode()
    assert 'name="every"' not in as_user(rita).get(SAMPLES).content.decode()
