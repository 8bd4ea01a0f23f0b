"""The trail as a page and as CSV."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate.core.trail import note
from annotate.models import Project, Sample, User, Verdict
from annotate.projects.write import set_member
from annotate.samples.claims_write import edit_claims
from frontend.base.trail import NOTED
from frontend.translation.update import ROOT
from tests.annotate.factories import decide_unit, make_batch
from tests.clients import as_user
from tests.frontend.building import label_task


def sentences(reply: Any) -> list[str]:
    return [f"{row['who']} {row['what']}" for row in reply.context["rows"]]


@pytest.fixture
def decided(disputes: list[Verdict], rita: User, project: Project) -> Verdict:
    return decide_unit(rita, disputes[1], "contradicted", "Page 2.")


def test_the_trail_speaks_in_sentences(decided: Verdict, alice: User) -> None:
    told = sentences(as_user(alice).get("/p/help/audit/"))
    assert "Rita decided claim 2 of s0 on Support: contradicted" in told
    assert "Ben labelled claim 1 of s0 on Support: supported" in told
    assert "Consensus rule left claim 1 of s0 on Support to the reviewers: 2 labels without consensus" in told
    assert "Command line opened batch 1, “Batch one”: 8 tasks." in told
    assert "Command line added ben as annotator." in told


def test_the_trail_can_be_filtered(decided: Verdict, alice: User) -> None:
    client = as_user(alice)
    assert {row["who"] for row in client.get("/p/help/audit/?person=rita").context["rows"]} == {"Rita"}
    assert len(sentences(client.get("/p/help/audit/?kind=member"))) == 4
    assert sentences(client.get("/p/help/audit/?sample=s3")) == []
    assert "No entries match these filters" in client.get("/p/help/audit/?sample=s3").content.decode()
    for bad in ("person=nobody", "since=never", "kind=zebra", "cursor=zebra"):
        assert client.get(f"/p/help/audit/?{bad}").status_code == 422, bad
    unknown = client.get("/p/help/audit/?sample=s99")
    assert (unknown.status_code, "Sample “s99” not found" in unknown.content.decode()) == (422, True)


def test_pages_of_the_trail(project: Project, alice: User) -> None:
    for number in range(60):
        note(actor=alice, action="batch.closed", subject=f"B{number}", project=project, number=number)
    client = as_user(alice)
    first = client.get("/p/help/audit/?kind=batch")
    assert len(first.context["rows"]) == 50
    second = client.get(f"/p/help/audit/?{first.context['next']}")
    assert len(second.context["rows"]) == 10
    assert second.context["next"] is None
    assert "Latest" in second.content.decode()


def test_every_action_has_a_sentence() -> None:
    sources = [path.read_text("utf-8") for package in ("annotate", "judges") for path in (ROOT / package).rglob("*.py")]
    written = {action for source in sources for action in re.findall(r'action="([a-z_]+\.[a-z_]+)"', source)}
    assert len(written) > 25
    # What happens to an account is of no project, so it stands in no page of the trail.
    assert {action for action in written if not action.startswith("account.")} <= NOTED.keys()


def test_values_are_in_words_and_an_edit_is_told_once(project: Project, samples: list[Sample], alice: User) -> None:
    note(actor=alice, action="invite.accepted", subject="7", project=project, role="reviewer")
    note(actor=alice, action="task.reassigned", subject="A: s1", project=project, of=None, to="ben")
    note(actor=alice, action="verdicts.accepted", subject="Help", project=project, method="dawid_skene", settled=4)
    note(actor=alice, action="flag.resolved", subject="s1", project=project, resolution="Imported anew.")
    one, change = samples[0], {"op": "drop", "claim": 0}
    edit_claims(actor=alice, project=project, sample_id=one.pk, change=change, expected_revision=one.claims_revision)
    told = [text for text in sentences(as_user(alice).get("/p/help/audit/")) if text.startswith("Alice")]
    assert told[:6] == [
        "Alice removed a claim of s0",
        "Alice recorded the original claims of s0",
        "Alice resolved a flag on s1: Imported anew.",
        "Alice resolved disputed units in bulk (Dawid–Skene): 4.",
        "Alice reassigned a task to ben (A: s1); before: no one.",
        "Alice joined as reviewer with invitation 7.",
    ]


def test_what_was_changed_has_a_name(project: Project, alice: User) -> None:
    fields = ["show_names", "passes", "price_in", "brand_new"]
    note(actor=alice, action="project.changed", subject="Help", project=project, fields=fields)
    told = sentences(as_user(alice).get("/p/help/audit/"))
    said = "annotator names for reviewers, options that pass, price of input tokens, brand_new"
    assert told[0] == f"Alice changed the project: {said}."


def test_an_action_without_a_sentence_is_shown_as_it_was_written(project: Project, alice: User) -> None:
    note(actor=alice, action="thing.turned", subject="<b>x</b>", project=project, by=3)
    reply = as_user(alice).get("/p/help/audit/")
    assert "Alice thing.turned: <b>x</b> (by: 3)" in sentences(reply)
    assert "<b>x</b>" not in reply.content.decode()


def test_the_csv_has_all_of_it_and_no_formula(project: Project, alice: User) -> None:
    for number in range(60):
        note(actor=alice, action="batch.closed", subject=f"=cmd{number}", project=project, number=number)
    reply = as_user(alice).get("/p/help/audit/trail.csv?kind=batch")
    rows = list(csv.DictReader(io.StringIO(b"".join(reply.streaming_content).decode())))
    assert len(rows) == 60
    assert {row["who"] for row in rows} == {"alice"}
    assert all(row["subject"].startswith("'=cmd") for row in rows)
    assert 'filename="help-audit.csv"' in reply["Content-Disposition"]


def test_one_page_costs_the_same_however_much_is_on_it(project: Project, batch: Any, alice: User) -> None:
    client = as_user(alice)

    def label(task: Any) -> None:
        label_task(task, {"support": "supported", "relevance": 3})

    def queries() -> int:
        with CaptureQueriesContext(connection) as asked:
            client.get("/p/help/audit/")
        return len(asked)

    tasks = list(batch.tasks.select_related("annotator", "sample", "batch").order_by("sample_id"))
    for task in tasks[:2]:
        label(task)
    before = queries()
    for task in tasks[2:]:
        label(task)
    assert queries() == before


def test_the_history_of_a_sample_is_for_staff_and_names_for_admins(decided: Verdict, alice: User, rita: User) -> None:
    url = f"/p/help/samples/{decided.sample_id}/"

    def names(user: User) -> set[str]:
        return {row["who"] for unit in as_user(user).get(url).context["history"] for row in unit["rows"]}

    assert names(alice) == {"Ben", "Bea", "Consensus rule", "Rita"}
    assert names(rita) == {"Consensus rule", "Rita"}
    history = as_user(alice).get(url).context["history"]
    assert [unit["unit"] for unit in history] == ["claim 1", "claim 2", "context 1"]
    assert [row["what"] for row in history[1]["rows"]][-1] == "decided Support: contradicted"


def test_who_has_yet_to_label_sees_no_history(disputes: list[Verdict], batch: Any, project: Project, ben: User) -> None:
    set_member(project=project, user=ben, role="reviewer")
    task = batch.tasks.filter(annotator=ben, status="pending").first()
    assert as_user(ben).get(f"/p/help/samples/{task.sample_id}/").context["history"] == []


def test_what_one_still_has_to_label_is_held_back_with_the_reason(
    decided: Verdict, project: Project, alice: User
) -> None:
    client = as_user(alice)
    make_batch(project, [alice], samples=["s0"], name="Alice's", criteria=list(project.criteria.filter(key="support")))
    reply = client.get("/p/help/audit/")
    told = sentences(reply)
    assert "Rita decided claim 2 of s0 on Support: (hidden)" in told
    assert "Ben labelled claim 1 of s0 on Support: (hidden)" in told
    assert "Consensus rule left claim 1 of s0 on Support to the reviewers: 2 labels without consensus" in told
    page = reply.content.decode()
    assert page.count("shown once you have submitted this sample") == 1
    rows = b"".join(client.get("/p/help/audit/trail.csv").streaming_content).decode()
    assert "You still have to label this sample." in rows
    for text in (page, rows):
        assert not re.search("supported|contradicted|Page 2", text)
