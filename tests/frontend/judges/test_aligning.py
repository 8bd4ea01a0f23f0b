"""Pages of alignments: started by the form, watched while its steps are worked at, its rules decided, tried."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.test import Client

from judges.aligning.write import start_alignment
from judges.models import Alignment, Rule, Trial
from tests.annotate.factories import World, make_batch
from tests.judges.aligning.planted import PlantedModel
from tests.judges.aligning.test_aligning import aligned, world
from tests.judges.runs.building import llm_judge, worked
from tests.openai_server import OpenAIServer

__all__ = ["world"]


@pytest.fixture
def alice(world: World) -> Client:
    client = Client()
    client.force_login(world.alice)
    return client


def path(world: World, *more: object) -> str:
    judge = world.project.judges.get(name="by prompt")
    return "/".join([f"/p/{world.project.slug}/judges", str(judge.pk), "align", *map(str, more)]) + "/"


def text_of(client: Client, address: str) -> str:
    reply = client.get(address)
    assert reply.status_code == 200
    return reply.content.decode()


def test_from_the_form_to_a_trial(world: World, openai_server: OpenAIServer, alice: Client) -> None:
    openai_server.answers(PlantedModel(seed=1))
    version = llm_judge(world)
    address = path(world)
    assert "No alignments yet" in text_of(alice, address)
    assert address in text_of(alice, f"/p/desk/judges/{version.judge_id}/")
    given = {"criterion": "support", "samples": 100, "seed": 5, "budget": "1"}
    said = alice.post(path(world, "estimate"), given).content.decode()
    assert "1,500 requests" in said
    assert "Over budget" in said
    assert Alignment.objects.count() == 0
    reply = alice.post(address, given)
    of = Alignment.objects.get()
    assert reply["Location"] == path(world, of.pk)
    page = text_of(alice, reply["Location"])
    assert 'hx-trigger="every 2s"' in page
    assert "Current judge" in page
    alice.post(path(world, of.pk, "pause"))
    worked(of.run)
    page = text_of(alice, path(world, of.pk))
    assert "Resume" in page
    assert "every 2s" not in page
    reply = alice.post(path(world, of.pk, "resume"), {"budget": "-2"}, follow=True)
    assert "is not a valid amount" in reply.content.decode()
    assert Alignment.objects.get().run.state == "paused"
    alice.post(path(world, of.pk, "resume"), {"budget": "2"})
    of = aligned(Alignment.objects.get())
    page = text_of(alice, path(world, of.pk))
    assert "Improvement shown on the dev set" in page
    assert "All candidates" in page
    assert path(world, of.pk) in text_of(alice, f"/p/desk/runs/{of.run_id}/")
    first, second, *_rest = of.rules.all()
    source = world.project.samples.get(external_id=first.sources[0][0])
    assert f'href="/p/desk/samples/{source.pk}/"' in page
    alice.post(path(world, of.pk, "rules", first.pk), {"state": "dropped"})
    alice.post(path(world, of.pk, "rules", second.pk), {"state": "accepted", "text": "Never with a price."})
    assert list(Rule.objects.filter(pk__in=[first.pk, second.pk]).values_list("state", "text").order_by("pk")) == [
        ("dropped", first.text), ("accepted", "Never with a price."),
    ]  # fmt: skip
    assert f"It has {of.rules.count() - 1} rules." in text_of(alice, path(world, of.pk))
    given = {"samples": "10", "budget": "1", "key": str(uuid4())}
    first_reply, reply = (alice.post(path(world, of.pk, "try"), given) for _ in range(2))
    assert reply["Location"] == first_reply["Location"], "a second click starts nothing else"
    trial = Trial.objects.get()
    assert reply["Location"].endswith(f"/lab/{trial.pk}/")
    assert trial.version.config["rules"][0] == "Never with a price."


def test_a_form_that_is_wrong(world: World, alice: Client) -> None:
    llm_judge(world)
    reply = alice.post(path(world), {"criterion": "support", "samples": 100, "seed": 5, "budget": "-1"})
    assert reply.status_code == 422
    assert reply.context["form"].errors.keys() == {"budget"}
    reply = alice.post(path(world), {"criterion": "support", "samples": 100, "seed": 5, "search": 7})
    assert reply.context["form"].errors.keys() == {"search"}
    reply = alice.post(path(world), {"criterion": "support", "samples": 3, "seed": 5})
    assert "needs 10" in reply.content.decode()
    assert Alignment.objects.count() == 0


def test_who_cannot_be_aligned_has_no_page(world: World, alice: Client) -> None:
    number = llm_judge(world, "by prompt", answer_with="number")
    assert alice.get(path(world)).status_code == 404
    assert "/align/" not in text_of(alice, f"/p/desk/judges/{number.judge_id}/")


def test_where_nothing_is_better(world: World, openai_server: OpenAIServer, alice: Client) -> None:
    openai_server.answers(PlantedModel(seed=1, distils=0, follows=0))
    of = aligned(start_alignment(version=llm_judge(world), criterion=world.criteria("support")[0], seed=5))
    page = text_of(alice, path(world, of.pk))
    assert "No improvement shown" in page
    assert "Kept: the current judge" in page
    assert "Start trial" not in page


def test_rules_of_samples_that_the_reader_still_labels_are_hidden(
    world: World, openai_server: OpenAIServer, alice: Client
) -> None:
    openai_server.answers(PlantedModel(seed=1))
    of = aligned(start_alignment(version=llm_judge(world), criterion=world.criteria("support")[0], seed=5))
    rule = of.rules.all()[0]
    make_batch(world.project, [world.alice], samples=[rule.sources[0][0]], criteria=world.criteria("support"))
    page = text_of(alice, path(world, of.pk))
    assert f">{rule.text}</textarea>" not in page
    assert "hidden until you label" in page
    assert alice.post(path(world, of.pk, "rules", rule.pk), {"state": "dropped"}).status_code == 404
