"""Scheduled audits over the API."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from annotate.batches.audits_make import make_audit
from annotate.models import AuditSchedule
from tests.annotate.factories import World, make_sample, make_samples
from tests.clients import client_of

SCHEDULES = "/api/projects/desk/audit-schedules/"


def sent(**more: Any) -> dict[str, Any]:
    asked = {"criteria": ["grade"], "annotators": ["ann", "ben"], "samples": 2}
    return {"name": "Weekly audit", **asked, "filter": {"channel": "mail"}, **more}


def test_one_is_set_up_changed_paused_and_ended(world: World) -> None:
    client = client_of(world.alice)
    reply = client.post(SCHEDULES, sent(), content_type="application/json")
    assert reply.status_code == 201, reply.content
    made = reply.json()
    assert made["filter"] == {"channel": "mail"}
    assert (made["status"], made["overlap"], made["weeks"], made["history"]) == ("active", 2, 1, [])
    url = f"{SCHEDULES}{made['id']}/"

    change = {"status": "paused", "filter": {}, "samples": 3}
    changed = client.patch(url, change, content_type="application/json").json()
    assert (changed["status"], changed["filter"], changed["samples"]) == ("paused", {}, 3)
    assert changed["name"] == "Weekly audit"
    assert client.delete(url).status_code == 204
    assert client.get(url).json()["status"] == "ended"
    refused = client.patch(url, {"status": "active"}, content_type="application/json")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "schedule_ended")


def test_what_was_made_is_in_its_history(world: World) -> None:
    make_samples(world.project, 3)
    make_sample(world.project, 9, metadata={"channel": "mail"})
    client = client_of(world.alice)
    made = client.post(SCHEDULES, sent(), content_type="application/json").json()
    make_audit(made["id"], today=timezone.localdate() + timedelta(days=7))
    (row,) = client_of(world.rita).get(SCHEDULES).json()[0]["history"]
    assert (row["batch"], row["drawn"], row["eligible"], row["wanted"], row["without"]) == (1, 1, 1, 2, [])
    batch = client.get("/api/projects/desk/batches/1/").json()
    assert batch["selection"]["came"] == "audit"


@pytest.mark.parametrize(
    ("code", "given"),
    [
        ("missing_field", {"samples": ...}),
        ("unknown_field", {"sample": 3}),
        ("bad_number", {"samples": 0}),
        ("bad_number", {"weekday": 7}),
        ("bad_weeks", {"weeks": 3}),
        ("bad_filter", {"filter": ["mail"]}),
        ("bad_filter", {"filter": {"channel": None}}),
        ("unknown_criterion", {"criteria": ["none"]}),
        ("unknown_user", {"annotators": ["charlie"]}),
        ("too_few_annotators", {"annotators": ["ann"]}),
        ("bad_name", {"name": " "}),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_made(world: World, code: str, given: dict[str, Any]) -> None:
    body = {name: value for name, value in sent(**given).items() if value is not ...}
    reply = client_of(world.alice).post(SCHEDULES, body, content_type="application/json")
    assert (reply.status_code, reply.json()["error"]["code"]) == (422, code)
    assert not AuditSchedule.objects.exists()


def test_a_change_is_whole_or_not_at_all(world: World) -> None:
    client = client_of(world.alice)
    made = client.post(SCHEDULES, sent(), content_type="application/json").json()
    url = f"{SCHEDULES}{made['id']}/"
    reply = client.patch(url, {"samples": 5, "overlap": 3}, content_type="application/json")
    assert reply.status_code == 422
    assert client.get(url).json() == made
