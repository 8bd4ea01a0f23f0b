"""The pages on which claims are edited: what they bring, who may open them, how many queries they take."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate.batches.steps import open_batch
from annotate.models import Batch, Project, Sample, User
from annotate.samples.claims_write import edit_claims
from tests.annotate.factories import make_batch
from tests.clients import as_user
from tests.frontend.building import REVIEWERS_READ, WhoMay, make_samples


@pytest.fixture
def draft(project: Project, samples: list[Sample], ben: User) -> Batch:
    return make_batch(project, [ben], name="Next", opened=False)


def check(project: Project, user: User, sample: Sample) -> None:
    sample.refresh_from_db()
    edit_claims(
        actor=user,
        project=project,
        sample_id=sample.pk,
        change={"op": "checked"},
        expected_revision=sample.claims_revision,
    )


def brought(reply: Any) -> dict[str, Any]:
    found = re.search(
        r'<script id="claims-data" type="application/json">(.*?)</script>', reply.content.decode(), re.DOTALL
    )
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_who_may_open_them(draft: Batch, samples: list[Sample], who_may: WhoMay) -> None:
    assert who_may(f"/p/help/samples/{samples[0].pk}/claims/") == REVIEWERS_READ
    assert who_may(f"/p/help/samples/{samples[0].pk}/claims/?batch={draft.number}") == REVIEWERS_READ
    assert who_may(f"/p/help/batches/{draft.number}/claims/") == REVIEWERS_READ


def test_the_page_brings_the_claims(rita: User, draft: Batch, samples: list[Sample]) -> None:
    reply = as_user(rita).get(f"/p/help/samples/{samples[0].pk}/claims/")
    data = brought(reply)
    assert data["answer"] == samples[0].answer
    assert [claim["text"] for claim in data["state"]["claims"]] == ["Paris is old.", "It lies in France."]
    assert (data["state"]["revision"], data["state"]["fixed"], data["next_url"]) == (1, "", None)


def test_it_says_why_nothing_can_be_changed(rita: User, draft: Batch, samples: list[Sample]) -> None:
    open_batch(batch=draft)
    fixed = brought(as_user(rita).get(f"/p/help/samples/{samples[0].pk}/claims/"))["state"]["fixed"]
    # Which batch is for admins: one that has a sample only to measure people would give it away.
    assert fixed.startswith("A batch uses these claims")


@pytest.mark.parametrize("query", ["?batch=x", "?batch=99", "?batch=9999999999", "?batch=%00"])
def test_a_batch_that_is_not_there(query: str, rita: User, samples: list[Sample]) -> None:
    assert as_user(rita).get(f"/p/help/samples/{samples[0].pk}/claims/{query}").status_code == 404


def test_through_the_samples_of_a_batch(rita: User, project: Project, draft: Batch, samples: list[Sample]) -> None:
    client, order = as_user(rita), [row.sample for row in draft.batch_samples.order_by("position")]
    text = client.get("/p/help/batches/1/").content.decode()
    assert 'href="/p/help/batches/1/claims/"' in text
    assert "0 of 4 samples checked" in client.get("/p/help/batches/1/claims/").content.decode()
    page = client.get(f"/p/help/samples/{order[1].pk}/claims/?batch=1")
    assert "Sample 2 of 4, 0 checked" in page.content.decode()
    assert brought(page)["next_url"] == f"/p/help/batches/1/claims/?after={order[1].pk}"
    for sample in (order[1], order[2]):
        check(project, rita, sample)
    onwards = client.get(f"/p/help/batches/1/claims/?after={order[1].pk}")
    assert onwards.headers["Location"] == f"/p/help/samples/{order[3].pk}/claims/?batch=1"
    check(project, rita, order[3])
    onwards = client.get(f"/p/help/batches/1/claims/?after={order[3].pk}")
    assert onwards.headers["Location"] == f"/p/help/samples/{order[0].pk}/claims/?batch=1"
    check(project, rita, order[0])
    done = client.get(f"/p/help/batches/1/claims/?after={order[0].pk}", follow=True).content.decode()
    assert "All claims of this batch are checked." in done
    assert "4 of 4 samples checked" in done
    assert client.get("/p/help/batches/1/claims/?after=9999").status_code == 404


def test_an_open_batch_offers_no_checking(rita: User, batch: Batch) -> None:
    assert "Check claims" not in as_user(rita).get(f"/p/help/batches/{batch.number}/").content.decode()


def test_the_queries_of_the_list_do_not_grow(rita: User, project: Project, ben: User) -> None:
    client, counts = as_user(rita), []
    for number, more in ((1, 1), (2, 40)):
        make_samples(project, more)
        make_batch(project, [ben], opened=False)
        client.get(f"/p/help/batches/{number}/claims/")
        with CaptureQueriesContext(connection) as queries:
            client.get(f"/p/help/batches/{number}/claims/")
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_pages_show_only_claims_that_are_there(rita: User, project: Project, samples: list[Sample]) -> None:
    sample = samples[0]
    for revision, change in enumerate([{"op": "split", "claim": 0, "at": 5}, {"op": "drop", "claim": 1}], 1):
        edit_claims(actor=rita, project=project, sample_id=sample.pk, change=change, expected_revision=revision)
    reply = as_user(rita).get(f"/p/help/samples/{sample.pk}/")
    assert [view.unit for view in reply.context["groups"][0]["units"]] == ["claim:2", "claim:3"]
    pieces = [(piece.text, piece.number, piece.claim.unit if piece.claim else "") for piece in reply.context["pieces"]]
    assert pieces == [
        ("Paris", 1, "claim:2"), (" ", 0, ""), ("is old.", 2, "claim:3"), (" It lies in France.", 0, ""),
    ]  # fmt: skip
    listed = as_user(rita).get("/p/help/samples/").context["rows"]
    assert {row.sample.pk: row.claims for row in listed}[sample.pk] == 2
