"""The pages of diagnosis: what they show, and to whom."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client

from systems.diagnosis.mapping_read import mapping_of
from systems.models import DiagnosisMapping, QuestionRevision
from tests.annotate.factories import World, make_batch
from tests.clients import as_user
from tests.systems.diagnosis.building import GOOD, Desk, make_project, question, response, response_to

Write = Callable[..., Path]
P = "/p/rag/systems/diagnosis/"


@pytest.fixture
def desk(world: World, write: Write) -> Desk:
    found = Desk(make_project(world), write)
    found.ask(question("q1", category="net"), question("q2"), question("q3", type="unanswerable"))
    found.answer(response("q1"), response("q2"), response("q3"))
    found.answer(response("q1", "v8", contexts=[{"id": "c", "text": "The port."}, {"id": "d", "text": "8000."}]))
    found.label("q1@v7", {**GOOD, "claim:1 support": "contradicted", "answer failure": "hallucination"})
    found.label("q2@v7", {**GOOD, "answer failure": "none"})
    return found


def read(client: Client, path: str, status: int = 200) -> str:
    reply = client.get(path)
    assert reply.status_code == status, path
    return reply.content.decode()


def test_stages_with_shares_and_what_to_try(world: World, desk: Desk) -> None:
    page = read(as_user(world.rita), P)
    for shown in (
        "4 responses.",
        "2 are undecided",
        '?stage=hallucination">Hallucination</a>',
        "25.0%",
        "lower the temperature",
        "No criterion asks about: Contradictory sources.",
        "By version",
        "By type of question",
        "Unanswerable",
        "By category of question",
        "Kappa with what annotators say went wrong:",
        "2 responses compared.",
        'class="triad"',
    ):
        assert shown in page, shown
    assert "Criteria it goes by" not in page
    assert "Criteria it goes by" in read(as_user(world.alice), P)
    one = read(as_user(world.rita), f"{P}?version=v8&set=support")
    assert "1 response." in one
    assert "Not known." in one


def test_responses_of_a_stage_with_their_deciding_labels(world: World, desk: Desk) -> None:
    page = read(as_user(world.rita), f"{P}?stage=hallucination")
    assert "Claim 2: not supported" in page
    text = QuestionRevision.objects.get(question__external_id="q1").text
    assert f'<a href="{P}{response_to("q1").pk}/"><bdi>{text}</bdi></a>' in page
    assert "<bdi>q1</bdi>" in page
    undecided = read(as_user(world.rita), f"{P}?stage=undecided&version=v8")
    assert "Context 1, Context 2: not labelled on “Relevance”" in undecided
    read(as_user(world.rita), f"{P}?stage=colour", 404)
    read(as_user(world.rita), f"{P}?version=none", 404)


def test_the_way_of_one_response(world: World, desk: Desk) -> None:
    page = read(as_user(world.rita), f"{P}{response_to('q1').pk}/")
    for shown in (
        "<h1>Hallucination</h1>",
        "Context 2</a>: needed",
        "Not asked",
        "Claim 2</a>: not supported",
        "went wrong: Hallucination",
        "The first needed context has rank 2.",
        "Groundedness: 50.0%",
    ):
        assert shown in page, shown


def test_what_is_still_to_label_is_not_told(world: World, desk: Desk) -> None:
    make_batch(desk.project, [world.rita], samples=["q1@v7"])
    rita = as_user(world.rita)
    page = read(rita, P)
    assert "2 responses." in page
    assert "2 responses are left out until you have submitted their labels." in page
    assert "Hallucination</a>" not in page
    own = read(rita, f"{P}{response_to('q1').pk}/")
    assert "You still have to label this sample." in own
    assert "v7" not in own.replace("q1@v7", "")


def test_by_judges_there_are_no_shares(world: World, desk: Desk) -> None:
    page = read(as_user(world.alice), f"{P}?by=judges")
    assert "What judges said, not corrected by annotators." in page
    assert "No judge answered with the options of these criteria" in page
    assert "95% interval" not in page


def test_an_admin_says_which_criteria_it_goes_by(world: World, desk: Desk) -> None:
    alice = as_user(world.alice)
    page = read(alice, f"{P}questions/")
    assert "Proposed from the built-in criteria." in page
    given = {
        name: f"{one.criterion.key}{':fails' if one.yes == 'fails' else ''}"
        for name, one in mapping_of(desk.project).asked.items()
    }
    given |= {
        f"stage_{at}": stage for at, stage in enumerate(mapping_of(desk.project).asked["failure"].stages.values())
    }
    done = alice.post(
        f"{P}questions/", {**given, "contradiction": "contradiction:fails", "on_topic": "", "stage_4": ""}
    )
    assert (done.status_code, done["Location"]) == (302, P)
    stored = DiagnosisMapping.objects.get().questions
    assert stored["contradiction"] == {"criterion": "contradiction", "yes": "fails"}
    assert "on_topic" not in stored
    assert stored["failure"]["stages"] == {
        "none": "nothing_wrong",
        "retrieval miss": "retrieval_miss",
        "context overload": "context_overload",
        "hallucination": "hallucination",
    }
    assert "No criterion asks about: Off topic." in read(alice, P)
    # A criterion that can't answer is no choice.
    assert alice.post(f"{P}questions/", {"on_topic": "support"}).status_code == 422
    # None at all: the tree knows hardly anything.
    alice.post(f"{P}questions/", {})
    assert DiagnosisMapping.objects.get().questions == {}
    assert "Hallucination" in read(alice, P)


def test_without_responses_it_says_so(world: World) -> None:
    assert "No responses here" in read(as_user(world.alice), "/p/desk/systems/diagnosis/")


def test_who_may_not_sees_nothing_of_it(world: World, desk: Desk) -> None:
    one = response_to("q1").pk
    for path in ("", "?stage=hallucination", f"{one}/"):
        read(as_user(world.charlie), P + path, 404)
        read(as_user(world.ann), P + path, 403)
        read(as_user(world.rita), P + path)
        assert Client().get(P + path).status_code == 302
    read(as_user(world.charlie), f"{P}questions/", 404)
    read(as_user(world.rita), f"{P}questions/", 403)
    assert as_user(world.rita).post(f"{P}questions/").status_code == 403
    read(as_user(world.dora), f"/p/next-door/systems/diagnosis/{one}/", 404)
