"""Diagnosis by API: the same as the command, for those who may know it."""

from __future__ import annotations

from typing import Any

from systems.models import DiagnosisMapping
from tests.annotate.api.test_access import ask
from tests.annotate.factories import World, make_batch
from tests.clients import client_of
from tests.systems.diagnosis.building import GOOD, Desk, diagnose_json, question, response

API = "/api/projects/rag/diagnosis/"


def get(user: Any, path: str = "", code: int = 200, **query: str) -> Any:
    reply = client_of(user).get(API + path, query)
    assert reply.status_code == code, reply.content
    return reply.json()


def put(user: Any, body: Any) -> Any:
    return ask(client_of(user), "PUT", f"{API}mapping/", body)


def prepared(desk: Desk) -> None:
    desk.ask(question("q1"), question("q2"))
    desk.answer(response("q1"), response("q2"), response("q2", "v8"))
    desk.label("q1@v7", {**GOOD, "answer correctness": 0, "answer failure": "poor document"})


def test_the_same_figures_as_the_command(world: World, desk: Desk) -> None:
    prepared(desk)
    printed = diagnose_json(desk.project)
    for name in ("schema", "version", "set"):
        del printed[name]
    per_response = printed.pop("per_response")
    assert get(world.rita, version="v7") == printed
    assert get(world.rita, "responses/", version="v7")["results"] == per_response
    (one,) = get(world.rita, "responses/", stage="poor_document")["results"]
    assert (one["question"], one["failure"], one["unasked"]) == ("q1", "poor_document", ["contradictory_sources"])
    assert get(world.rita, "responses/", stage="undecided")["count"] == 2


def test_what_is_asked_wrongly(world: World, desk: Desk) -> None:
    get(world.rita, code=404, version="v9")
    get(world.rita, code=422, by="guesses")
    get(world.rita, "responses/", code=422, stage="colour")
    get(world.rita, code=400, colour="blue")


def test_who_still_has_to_label_a_sample_is_told_nothing_of_it(world: World, desk: Desk) -> None:
    prepared(desk)
    make_batch(desk.project, [world.rita], samples=["q1@v7"])
    found = get(world.rita, version="v7")
    assert (found["held_back"], found["whole"]["responses"], found["failure"]["labelled"]) == (1, 1, 0)
    assert [one["question"] for one in get(world.rita, "responses/")["results"]] == ["q2", "q2"]


def test_the_mapping_is_read_and_stored(world: World, desk: Desk) -> None:
    proposed = get(world.rita, "mapping/")
    assert (proposed["stored"], proposed["questions"]["contradiction"]) == (False, None)
    assert proposed["questions"]["claim_supported"] == {"criterion": "support", "yes": "passes"}
    changed = {**proposed["questions"], "contradiction": {"criterion": "contradiction", "yes": "fails"}}
    assert put(world.rita, {"questions": changed}).status_code == 403
    done = put(world.alice, {"questions": changed})
    assert (done.status_code, done.json()) == (200, {"stored": True, "questions": changed})
    assert get(world.rita, "mapping/") == done.json()
    refused = put(world.alice, {"questions": {"on_topic": {"criterion": "support"}}})
    assert (refused.status_code, refused.json()["error"]["code"], refused.json()["field"]) == (
        422,
        "bad_mapping",
        "on_topic",
    )
    assert put(world.alice, {"questions": []}).status_code == 422
    assert DiagnosisMapping.objects.get().updated_by == world.alice


def test_strangers_and_annotators_get_nothing(world: World, desk: Desk) -> None:
    for path in ("", "responses/", "mapping/"):
        get(world.charlie, path, 404)
        get(world.ann, path, 403)
