"""The trail over the API."""

from __future__ import annotations

from typing import Any

from annotate.models import Label
from tests.annotate.api.conftest import Both
from tests.clients import client_of


def test_the_trail_is_read_page_by_page(both: Both) -> None:
    client = client_of(both.world.alice)
    seen: list[Any] = []
    cursor = ""
    while True:
        page = client.get("/api/projects/desk/audit/", {"limit": 7, **({"cursor": cursor} if cursor else {})}).json()
        seen += page["results"]
        cursor = page["next"]
        if cursor is None:
            break
    assert seen == client.get("/api/projects/desk/audit/", {"limit": 1000}).json()["results"]
    assert {"label.saved", "batch.opened", "member.added"} <= {row["action"] for row in seen}
    said = next(row for row in seen if row["action"] == "label.saved" and row["details"]["criterion"] == "grade")
    assert (said["actor"], said["details"]["rater"]) in {("ann", "ann"), ("ben", "ben")}


def test_the_trail_can_be_asked_for_a_part(both: Both) -> None:
    client = client_of(both.world.alice)

    def found(**asked: str) -> list[Any]:
        return client.get("/api/projects/desk/audit/", asked).json()["results"]

    assert {row["actor"] for row in found(person="ann")} == {"ann"}
    assert {row["action"].split(".")[0] for row in found(kind="verdict")} == {"verdict"}
    assert found(until="2000-01-01") == []
    for bad in ({"person": "nobody"}, {"sample": "s99"}, {"since": "x"}, {"cursor": "x"}, {"limit": "0"}):
        reply = client.get("/api/projects/desk/audit/", bad)
        assert reply.status_code == 422, reply.content


def test_what_one_still_has_to_label_is_held_back_with_the_reason(both: Both) -> None:
    world = both.world
    labelled = Label.objects.filter(criterion__project=world.project).exclude(task=None).select_related("sample")
    names = sorted({label.sample.external_id for label in labelled})
    world.batch(annotators=[world.alice], overlap=1, selection={"method": "list", "samples": names})
    rows = client_of(world.alice).get("/api/projects/desk/audit/", {"limit": 1000, "kind": "label"}).json()["results"]
    assert {row["details"]["sample"] for row in rows} == set(names)
    for row in rows:
        told = row["details"]
        assert "still have to label this sample" in told["held_back"]
        assert [told[name] for name in ("value", "before", "cant_tell", "comment")] == [None, None, "", ""]
