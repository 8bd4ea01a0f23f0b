"""Qualifications over the API."""

from __future__ import annotations

from typing import Any

from annotate.models import Batch, Qualification, Task
from tests.annotate.factories import World, make_sample, make_samples
from tests.annotate.qualification.test_qualification import know, train, truth
from tests.annotate.qualification.test_qualification import label as label_round
from tests.clients import client_of

URL = "/api/projects/desk/qualifications/"


def made(world: World, **more: Any) -> dict[str, Any]:
    know(world, make_samples(world.project, 40))
    sent = {"name": "Support", "criteria": ["support"], "training": 4, "test": 6, "annotators": ["ann"], "seed": 5}
    reply = client_of(world.alice).post(URL, {**sent, **more}, content_type="application/json")
    assert reply.status_code == 201, reply.content
    return dict(reply.json())


def test_made_taken_and_passed(world: World) -> None:
    one = made(world)
    assert (one["kappa"], one["tries"], one["ended"]) == (0.6, 2, False)
    assert one["criteria"] == [{"key": "support", "version": 1, "is_current": True}]
    qualification, ann = Qualification.objects.get(), client_of(world.ann)
    (own,) = ann.get(f"{URL}own/").json()
    assert (own["state"], own["training"], own["name"]) == ("training", 4, "Support")
    url = f"{URL}{one['id']}/"
    refused = ann.post(f"{url}test/")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "training_left")
    train(world.ann, qualification)
    started = ann.post(f"{url}test/").json()
    assert ann.get(f"/api/projects/desk/work/?batch={started['batch']}").json()["progress"]["left"] == 6
    label_round(world.ann, qualification.test, truth)
    (person,) = client_of(world.alice).get(url).json()["people"]
    assert (person["username"], person["state"], person["waived"]) == ("ann", "qualified", False)
    (test,) = person["tests"]
    assert (test["passed"], test["results"][0]["kappa"]["value"]) == (True, 1.0)


def test_what_admins_do(world: World) -> None:
    one = made(world, annotators=[])
    alice, url = client_of(world.alice), f"{URL}{one['id']}/"
    people = alice.post(f"{url}people/", {"annotators": ["ben"]}, content_type="application/json").json()["people"]
    assert [person["username"] for person in people] == ["ben"]
    assert alice.post(f"{url}people/ben/try/").status_code == 409
    why = {"reason": "Wrote the guidelines."}
    assert alice.post(f"{url}people/ben/waive/", {"reason": ""}, content_type="application/json").status_code == 422
    waived = alice.post(f"{url}people/ben/waive/", why, content_type="application/json").json()
    assert (waived["people"][0]["state"], waived["people"][0]["waived"]) == ("qualified", True)
    withdrawn = alice.post(f"{url}people/ben/withdraw/", why, content_type="application/json").json()
    assert withdrawn["people"][0]["state"] == "training"
    assert alice.delete(url).status_code == 204
    assert alice.get(url).json()["ended"] is True
    for client in (client_of(world.rita), client_of(world.ann)):
        assert client.get(URL).status_code == client.get(url).status_code == 403
    assert client_of(world.dora).get(url).status_code == 404


def test_a_batch_requires_it_on_the_server(world: World) -> None:
    one = made(world)
    make_sample(world.project, 99)
    alice, batches = client_of(world.alice), "/api/projects/desk/batches/"
    sent = {"name": "Work", "criteria": ["support"], "annotators": ["ann", "ben"], "overlap": 1}
    for wrong in (10**12, "x", True):
        refused = alice.post(batches, {**sent, "requires": wrong}, content_type="application/json")
        assert refused.status_code == 422, refused.content
    reply = alice.post(batches, {**sent, "requires": one["id"]}, content_type="application/json")
    batch = reply.json()
    assert batch["requires"] == one["id"]
    url = f"{batches}{batch['number']}/"
    refused = alice.post(f"{url}open/")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "not_qualified")
    assert refused.json()["people"] == ["ann", "ben"]
    freed = alice.patch(url, {"requires": None}, content_type="application/json").json()
    assert freed["requires"] is None
    alice.patch(url, {"requires": one["id"], "strategy": "pull"}, content_type="application/json")
    assert alice.post(f"{url}open/").status_code == 200
    asked = {"batch": batch["number"]}
    work = client_of(world.ben).post("/api/projects/desk/work/", asked, content_type="application/json").json()
    assert work["task"] is None
    assert not Task.objects.filter(batch__number=batch["number"], annotator__isnull=False).exists()
    round_ = Batch.objects.filter(qualification__isnull=False).first()
    assert round_ is not None
    assert alice.post(f"{batches}{round_.number}/close/").status_code == 404
