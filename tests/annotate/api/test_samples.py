"""Claims over HTTP: preconditions, codes and what a refusal carries."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate.models import ClaimEdit, Sample
from tests.annotate.api.test_access import ask
from tests.annotate.factories import World, make_sample
from tests.clients import client_of

DROP = {"op": "drop", "claim": 0}


@pytest.fixture
def sample(world: World) -> Sample:
    return make_sample(world.project)


def patch(world: World, sample: Sample, change: Any, user: Any = None, **headers: str) -> Any:
    url = f"/api/projects/desk/samples/{sample.pk}/claims/"
    return ask(client_of(user or world.rita), "PATCH", url, change, **headers)


def test_the_road(world: World, sample: Sample) -> None:
    assert patch(world, sample, DROP).status_code == 428
    reply = patch(world, sample, DROP, **{"If-Match": '"1"'})
    assert (reply.status_code, reply.json()["revision"]) == (200, 2)
    assert patch(world, sample, DROP, **{"If-Match": "1"}).json() == reply.json()
    stale = patch(world, sample, {"op": "drop", "claim": 1}, **{"If-Match": "1"})
    assert (stale.status_code, stale.json()["current"]) == (412, reply.json())
    url = f"/api/projects/desk/samples/{sample.pk}/claims/"
    assert client_of(world.alice).get(url).json() == reply.json()
    shown = client_of(world.alice).get(f"/api/projects/desk/samples/{sample.pk}/").json()
    assert [claim["index"] for claim in shown["claims"]] == [1]
    assert (shown["claims_source"], shown["claims_revision"]) == ("edited", 2)


def test_who_may(world: World, sample: Sample) -> None:
    for user, status in ((world.ann, 403), (world.charlie, 404), (world.dora, 404)):
        assert patch(world, sample, DROP, user, **{"If-Match": "1"}).status_code == status
    assert patch(world, sample, DROP, world.alice, **{"If-Match": "1"}).status_code == 200
    foreign = f"/api/projects/next-door/samples/{sample.pk}/claims/"
    assert client_of(world.dora).get(foreign).status_code == 404


def test_an_open_batch_is_named_to_admins(world: World, sample: Sample) -> None:
    batch = world.batch()
    reply = patch(world, sample, DROP, **{"If-Match": "1"})
    assert (reply.status_code, reply.json().keys()) == (409, {"error"})
    reply = patch(world, sample, DROP, world.alice, **{"If-Match": "1"})
    assert reply.status_code == 409
    assert reply.json()["error"]["code"] == "claims_in_use"
    assert reply.json()["batches"] == [{"number": batch.number, "name": "A batch", "status": "open"}]


@pytest.mark.parametrize(
    "change",
    [
        None, [], "drop", 3, {}, {"op": None}, {"op": "drop", "claim": 0, "x": 1},
        {"op": "edit", "claim": 0, "text": "\x00"},
        {"op": "edit", "claim": 0, "text": "\ud800"}, {"op": "add", "start": 10**30, "end": 10**31},
        {"op": "restore_revision", "revision": 10**30}, {"op": "checked", "by": "me"}, {"op": "drop", "claim": [[[]]]},
    ],
)  # fmt: skip
def test_what_is_no_change(change: Any, world: World, sample: Sample) -> None:
    reply = patch(world, sample, change, **{"If-Match": "1"})
    assert reply.status_code == 422, reply.content
    assert not ClaimEdit.objects.exists()


def test_the_queries_do_not_grow_with_claims_or_history(world: World, sample: Sample) -> None:
    client, counts = client_of(world.rita), []
    url = f"/api/projects/desk/samples/{sample.pk}/claims/"
    for revision in range(1, 6):
        with CaptureQueriesContext(connection) as queries:
            assert client.get(url).status_code == 200
        counts.append(len(queries))
        patch(world, sample, {"op": "add", "text": f"Claim {revision}."}, **{"If-Match": str(revision)})
    assert len(set(counts)) == 1
