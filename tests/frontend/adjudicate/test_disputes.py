from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate.models import Project, Sample, User, Verdict
from tests.annotate.factories import decide_unit
from tests.clients import as_user
from tests.frontend.building import label_task


def decision(verdict: Verdict, **change: Any) -> dict[str, Any]:
    return {"value": "supported", "reason": "The context says so.", "revision": verdict.revision, **change}


def test_the_queue_counts_by_criterion(rita: User, disputes: list[Verdict]) -> None:
    client = as_user(rita)
    reply = client.get("/p/help/adjudicate/")
    assert [(group.key, group.n) for group, _ in reply.context["groups"]] == [("support", 2)]
    assert "claim:" not in reply.content.decode()
    assert len(client.get("/p/help/adjudicate/?criterion=support").context["listed"]) == 2
    for odd in ("nothing", "%00", "%00support"):
        assert client.get(f"/p/help/adjudicate/?criterion={odd}").status_code == 200


def test_an_empty_queue_says_so(rita: User, project: Project) -> None:
    assert "Nothing to adjudicate" in as_user(rita).get("/p/help/adjudicate/").content.decode()


def test_shows_labels_side_by_side_without_names(rita: User, disputes: list[Verdict]) -> None:
    reply = as_user(rita).get(f"/p/help/adjudicate/{disputes[0].pk}/")
    shown = [(said.who, shown) for said, shown in reply.context["labels"]]
    assert sorted(shown) == [("Annotator A", "Contradicted"), ("Annotator B", "Supported")]
    text = reply.content.decode()
    assert 'aria-current="true"' in text
    assert "Claim 1" in text
    assert "claim:" not in text


def test_decides_and_goes_on(rita: User, disputes: list[Verdict]) -> None:
    one, two = disputes
    client = as_user(rita)
    reply = client.post(f"/p/help/adjudicate/{one.pk}/?criterion=support", decision(one))
    assert reply.url == f"/p/help/adjudicate/{two.pk}/?criterion=support"
    one.refresh_from_db()
    assert (one.state, one.value, one.decided_by, one.reason) == ("settled", "supported", rita, "The context says so.")
    last = client.post(f"/p/help/adjudicate/{two.pk}/?criterion=support", decision(two), follow=True)
    assert last.redirect_chain[-1][0] == "/p/help/adjudicate/?criterion=support"
    assert "That was the last one." in last.content.decode()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"reason": " "}, "Briefly explain your reason"),
        ({"value": ""}, "Choose the correct value"),
        ({"value": "perhaps"}, "is not an option of “support”"),
        ({"revision": "x"}, "Enter a whole number"),
    ],
)
def test_a_bad_decision_says_why_and_keeps_the_rest(
    change: dict[str, Any], said: str, rita: User, disputes: list[Verdict]
) -> None:
    reply = as_user(rita).post(f"/p/help/adjudicate/{disputes[0].pk}/", decision(disputes[0], **change))
    assert reply.status_code == 422
    errors = str(reply.context["form"].errors)
    assert said in errors
    if "reason" not in change:
        assert "The context says so." in reply.content.decode()
    disputes[0].refresh_from_db()
    assert disputes[0].state == "disputed"


def test_a_stale_decision_shows_both_and_is_not_saved(
    rita: User, alice: User, project: Project, disputes: list[Verdict]
) -> None:
    verdict, client = disputes[0], as_user(rita)
    old = decision(verdict)
    decide_unit(alice, verdict, "contradicted", "Alice was faster.")
    reply = client.post(f"/p/help/adjudicate/{verdict.pk}/", old)
    assert reply.status_code == 412
    text = reply.content.decode()
    assert "Alice was faster." in text
    assert "The context says so." in text
    verdict.refresh_from_db()
    assert verdict.value == "contradicted"
    # Having seen both, Rita may still decide.
    seen = {**old, "revision": reply.context["form"]["revision"].value()}
    assert client.post(f"/p/help/adjudicate/{verdict.pk}/", seen).status_code == 302
    verdict.refresh_from_db()
    assert verdict.value == "supported"


def test_sent_twice_is_decided_once(rita: User, disputes: list[Verdict]) -> None:
    client, sent = as_user(rita), decision(disputes[0])
    for _ in range(2):
        assert client.post(f"/p/help/adjudicate/{disputes[0].pk}/", sent).status_code == 302
    before = disputes[0].revision
    disputes[0].refresh_from_db()
    assert disputes[0].revision == before + 1


def test_skipping_goes_round(rita: User, disputes: list[Verdict]) -> None:
    reply = as_user(rita).get(f"/p/help/adjudicate/{disputes[1].pk}/")
    assert reply.context["around"].next == reply.context["around"].previous == f"/p/help/adjudicate/{disputes[0].pk}/"


def test_the_number_of_queries_does_not_grow(rita: User, disputes: list[Verdict], samples: list[Sample]) -> None:
    client, batch = as_user(rita), disputes[0].batch
    assert batch is not None
    counts = []
    for sample in (None, samples[1], samples[2]):
        for task in batch.tasks.filter(sample=sample).order_by("annotator__username"):
            label_task(
                task, {"support": "supported" if task.annotator.username == "ben" else "contradicted", "relevance": 1}
            )
        client.get("/p/help/adjudicate/")
        with CaptureQueriesContext(connection) as queue:
            client.get("/p/help/adjudicate/")
        with CaptureQueriesContext(connection) as one:
            client.get(f"/p/help/adjudicate/{disputes[0].pk}/")
        counts.append((len(queue), len(one)))
    assert len(set(counts)) == 1


def test_agreed_units_are_checked_one_by_one(rita: User, disputes: list[Verdict]) -> None:
    verdict = Verdict.objects.get(criterion__key="relevance", sample=disputes[0].sample, unit="context:0")
    client, here = as_user(rita), f"/p/help/adjudicate/{verdict.pk}/"
    page = client.get("/p/help/adjudicate/?state=agreed")
    assert verdict in [row["verdict"] for row in page.context["listed"]]
    assert page.context["raters"] == [], "who said what is hidden"
    assert "Approve" in client.get(f"{here}?state=agreed").content.decode()

    reply = client.post(f"{here}approve/?state=agreed", {"revision": verdict.revision})
    assert (reply.status_code, "state=agreed" in reply.url) == (302, True)
    verdict.refresh_from_db()
    assert verdict.approved_by == rita
    page = client.get(here).content.decode()
    assert "Approved" in page
    assert "data-approve" not in page
    assert verdict not in [row.verdict for row in client.get("/p/help/adjudicate/?state=agreed").context["listed"]]
    board = client.get("/p/help/batches/1/")
    counted = {row.key: (row.settled, row.agreed, row.approved) for row in board.context["criteria"]}
    agreed = Verdict.objects.filter(criterion__key="relevance").count()
    assert counted == {"support": (0, 0, 0), "relevance": (agreed, agreed, 1)}
    assert f"1 of {agreed} agreed" in board.content.decode()


def test_an_approval_of_what_has_changed_is_not_taken(rita: User, disputes: list[Verdict]) -> None:
    verdict = Verdict.objects.get(criterion__key="relevance", sample=disputes[0].sample, unit="context:0")
    reply = as_user(rita).post(f"/p/help/adjudicate/{verdict.pk}/approve/", {"revision": 7})
    assert reply.status_code == 412
    assert "It was not approved" in reply.content.decode()
    again = as_user(rita).post(f"/p/help/adjudicate/{disputes[0].pk}/approve/", {"revision": 1}, follow=True)
    assert "can be approved" in again.content.decode()


def test_the_share_stays_in_the_address(rita: User, disputes: list[Verdict]) -> None:
    page = as_user(rita).get("/p/help/adjudicate/?state=agreed&share=10&seed=3&batch=1")
    assert page.context["query"] == "?batch=1&state=agreed&share=10&seed=3"
    for odd in ("share=0", "share=101", "share=x", "seed=-1", "annotator=ben"):
        assert as_user(rita).get(f"/p/help/adjudicate/?state=agreed&{odd}").context["query"] == "?state=agreed"
