"""One unit on its page: marks, names, judges after the decision only, sending back; settling many; lessons."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotate.models import AuditEntry, Batch, Label, Project, Task, User, Verdict
from annotate.verdicts.disputes_read import Said
from frontend.adjudicate.dispute import stretches
from judges.models import GroupSide, Side
from tests.annotate.factories import help_with, make_batch
from tests.clients import as_user
from tests.judges.building import add_judge

PAGE = "/p/help/adjudicate/"


def span(start: int, end: int, text: str, context: int = 0) -> dict[str, Any]:
    return {"context": context, "start": start, "end": end, "quote": text[start:end]}


def test_overlapping_evidence_is_cut_where_any_of_it_begins_or_ends() -> None:
    text = "Open from nine 😀 daily"
    said = [
        Said("A", "Annotator A", 1, evidence=[span(0, 14, text)]),
        Said("B", "Annotator B", 1, evidence=[span(10, 16, text), span(17, 22, text)]),
        Said("C", "Annotator C", 2, evidence=[span(0, 4, text, context=1), {**span(0, 4, text), "quote": "Shut"}]),
    ]
    assert [(piece.text, piece.who, piece.depth) for piece in stretches(text, 0, said)] == [
        ("Open from ", "A", 1), ("nine", "A B", 2), (" 😀", "B", 1), (" ", "", 0), ("daily", "B", 1),
    ]  # fmt: skip
    assert [(piece.text, piece.who) for piece in stretches(text, 2, said)] == [(text, "")]
    assert "".join(piece.text for piece in stretches("", 0, said)) == ""


def test_marks_name_their_annotator_in_words(rita: User, disputes: list[Verdict]) -> None:
    verdict = disputes[0]
    text = verdict.sample.contexts[0]["text"]
    labels = Label.objects.filter(pk__in=[vote["label"] for vote in verdict.votes]).order_by("id")
    for label, (start, end) in zip(labels, ((0, 8), (4, 12)), strict=True):
        Label.objects.filter(pk=label.pk).update(evidence=[span(start, end, text)])
    page = as_user(rita).get(f"{PAGE}{verdict.pk}/").content.decode()
    assert page.count("data-evidence") == 3
    assert "[Evidence of A B:]" in page
    assert re.sub(r"<[^>]+>|\[[^]]*\] ?|&#x27;", "", page)  # it parses as text


def test_names_are_for_admins_who_ask_and_that_is_noted(
    rita: User, alice: User, project: Project, disputes: list[Verdict]
) -> None:
    url = f"{PAGE}{disputes[0].pk}/"

    def shown(client: Client) -> set[str]:
        return {said.who for said, _ in client.get(url).context["labels"]}

    hidden = {"Annotator A", "Annotator B"}
    reviewer, admin = as_user(rita), as_user(alice)
    assert shown(reviewer) == shown(admin) == hidden
    assert "Show names" not in reviewer.get(url).content.decode()
    assert admin.post(f"{PAGE}names/", {"shown": "yes", "back": url}).url == url
    assert shown(admin) == {"Ben", "Bea"}
    assert shown(reviewer) == hidden
    assert AuditEntry.objects.filter(action="adjudication.names_shown", actor=alice).count() == 1
    admin.post(f"{PAGE}names/", {"shown": "no", "back": "https://elsewhere.example/"})
    assert shown(admin) == hidden
    project.show_names = True
    project.save()
    assert shown(reviewer) == {"Ben", "Bea"}


@pytest.fixture
def judged(disputes: list[Verdict]) -> Verdict:
    verdict = disputes[0]
    samples = {"s0": verdict.sample}
    for unit, label in ((verdict.unit, "contradicted"), (disputes[1].unit, "supported")):
        rows = [("s0", unit, label)]
        add_judge(verdict.criterion.project, "okapi", samples, rows, label="v1", rationale=f"okapi thinks {unit}")
    return verdict


def decide(client: Client, verdict: Verdict) -> Any:
    given = {"value": "supported", "reason": "The context says so.", "revision": verdict.revision}
    return client.post(f"{PAGE}{verdict.pk}/", given)


@pytest.mark.parametrize("shows", [True, False])
def test_judges_are_heard_after_the_decision_if_at_all(
    shows: bool, rita: User, project: Project, judged: Verdict, disputes: list[Verdict]
) -> None:
    project.show_judges = shows
    project.save()
    given = {"project": project, "criterion_key": judged.criterion.key, "side": Side.DEV}
    GroupSide.objects.create(group=judged.sample.external_id, **given)
    client = as_user(rita)
    for path in ("", f"{judged.pk}/", "accept/?method=agreement&agreement=51&votes=2"):
        assert "okapi" not in client.get(PAGE + path).content.decode()
    next_page = client.get(decide(client, judged).url).content.decode()
    assert "okapi" not in next_page, "the next unit is not decided yet"
    assert ("See judge results" in next_page) == shows
    decided = client.get(f"{PAGE}{judged.pk}/").content.decode()
    assert (f"okapi thinks {judged.unit}" in decided) == shows
    assert f"okapi thinks {disputes[1].unit}" not in decided
    GroupSide.objects.update(side=Side.TEST)
    again = {"value": "contradicted", "reason": "On second thoughts.", "revision": judged.revision + 1}
    next_page = client.get(client.post(f"{PAGE}{judged.pk}/", again).url).content.decode()
    assert "Open it again" in next_page, "what judges said of the test half nobody sees"
    judged.refresh_from_db()
    GroupSide.objects.update(side=Side.DEV)
    # A label that changes reopens it, and then the judges are silent again.
    Verdict.objects.filter(pk=judged.pk).update(state="reopened")
    assert "okapi" not in client.get(f"{PAGE}{judged.pk}/").content.decode()


def test_judges_are_silent_about_what_a_rule_settled(rita: User, project: Project, judged: Verdict) -> None:
    Project.objects.update(show_judges=True)
    Verdict.objects.filter(pk=judged.pk).update(state="settled", method="majority", value="supported")
    assert "okapi" not in as_user(rita).get(f"{PAGE}{judged.pk}/").content.decode()


def test_a_reopened_unit_shows_what_changed(rita: User, disputes: list[Verdict]) -> None:
    client, verdict = as_user(rita), disputes[0]
    decide(client, verdict)
    verdict.refresh_from_db()
    votes = [{**vote, "value": "not in context", "revision": 2} for vote in verdict.votes[:1]] + verdict.votes[1:]
    Verdict.objects.filter(pk=verdict.pk).update(state="reopened", votes=votes, revision=3)
    page = client.get(f"{PAGE}{verdict.pk}/")
    assert [(one["before"], one["after"]) for one in page.context["changes"]] == [("Supported", "Not in context")]
    text = page.content.decode()
    assert "The context says so." in text
    assert "remains valid until you decide again" in text


def test_a_label_given_after_an_answer_is_marked(rita: User, ben: User, disputes: list[Verdict]) -> None:
    page = f"/p/help/adjudicate/{disputes[0].pk}/"
    assert "after an answer" not in as_user(rita).get(page).content.decode()
    help_with(Task.objects.get(annotator=ben, sample=disputes[0].sample), rita)
    html = as_user(rita).get(page).content.decode()
    votes = re.findall(r'<li class="vote">.*?</li>', html, re.DOTALL)
    assert ["after an answer" in vote for vote in votes] == [f"Said by {ben.name}." in vote for vote in votes]


def test_sending_back(rita: User, disputes: list[Verdict]) -> None:
    client, (one, _two) = as_user(rita), disputes
    page = client.get(f"{PAGE}{one.pk}/")
    form = page.context["returning"]
    assert form.initial["message"].startswith("Claim 1 – Support")
    url = f"{PAGE}{one.pk}/return/"
    refused = client.post(url, {"annotator": "A", "message": " "})
    assert refused.status_code == 422
    assert "what to revise" in refused.content.decode()
    assert client.post(url, {"annotator": "Q", "message": "Look."}).status_code == 422
    done = client.post(url, {"annotator": "B", "message": "Look at context 1."}, follow=True)
    assert "Sent back to Annotator B." in done.content.decode()
    task = Task.objects.get(status="returned")
    assert (task.return_message, task.returned_by) == ("Look at context 1.", rita)
    queue = client.get(PAGE)
    assert (len(queue.context["listed"]), queue.context["sent_back"]) == (0, 2)
    assert len(client.get(f"{PAGE}?state=returned").context["listed"]) == 2
    waiting = client.get(f"{PAGE}{one.pk}/")
    assert waiting.context["waiting_for"] == ["Annotator B"]
    assert [letter for letter, _ in waiting.context["returning"].fields["annotator"].choices] == ["A"]


def test_nothing_is_sent_back_once_labelling_is_over(rita: User, disputes: list[Verdict]) -> None:
    Batch.objects.update(status="adjudicating")
    page = as_user(rita).get(f"{PAGE}{disputes[0].pk}/")
    assert page.context["returning"] is None
    assert "of this batch has ended" in page.content.decode()


def test_who_has_it_to_label_labels_it_first(
    rita: User, alice: User, project: Project, disputes: list[Verdict]
) -> None:
    make_batch(project, [rita], name="Rita's", created_by=alice)
    client, url = as_user(rita), f"{PAGE}{disputes[0].pk}/"
    for reply in (client.get(url), decide(client, disputes[0]), client.post(url + "return/", {"annotator": "A"})):
        assert reply.status_code == 409
        text = reply.content.decode()
        assert "Label this sample first" in text
        assert "Said by" not in text
    assert not client.get(PAGE).context["listed"]
    assert as_user(alice).get(url).status_code == 200


# Many at once


@pytest.fixture
def agreeing(disputes: list[Verdict]) -> list[Verdict]:
    """The contexts on which both agree, as a batch that asks for more labels leaves them."""
    Verdict.objects.filter(criterion__key="relevance").update(state="disputed", value=None, method="", confidence=None)
    return list(Verdict.objects.filter(criterion__key="relevance"))


def test_settling_many_at_once(rita: User, agreeing: list[Verdict]) -> None:
    client, url = as_user(rita), f"{PAGE}accept/"
    assert client.get(url).context["preview"] is None
    asked = {"method": "agreement", "criterion": "", "agreement": 66, "votes": 2}
    page = client.get(url, asked)
    assert (page.context["preview"].considered, page.context["n"]) == (len(agreeing) + 2, len(agreeing))
    refused = client.post(url, {**asked, "seen": page.context["seen"], "reason": ""})
    assert refused.status_code == 422
    assert "Briefly explain your reason" in refused.content.decode()
    done = client.post(url, {**asked, "seen": page.context["seen"], "reason": "Both agree."}, follow=True)
    assert f"{len(agreeing)} unit" in done.content.decode()
    assert Verdict.objects.filter(method="accepted", decided_by=rita).count() == len(agreeing)
    for bad in ("[" * 100_000, "", "[", "[[1]]"):
        assert client.post(url, {**asked, "seen": bad, "reason": "So."}).status_code == 422
    assert client.get(url, {**asked, "agreement": 50}).status_code == 422


def test_a_model_without_ground_says_so(rita: User, agreeing: list[Verdict]) -> None:
    asked = {"method": "dawid_skene", "criterion": "support", "posterior": 95}
    page = as_user(rita).get(f"{PAGE}accept/", asked)
    assert page.status_code == 409
    assert "The labels are not enough for the model" in page.content.decode()


# Lessons


def test_an_annotator_reads_what_was_decided(rita: User, ben: User, bea: User, disputes: list[Verdict]) -> None:
    decide(as_user(rita), disputes[0])
    client = as_user(bea)
    assert "No feedback yet" in client.get("/p/help/label/lessons/").content.decode()
    Batch.objects.update(status="adjudicating")
    for path in ("/", "/p/help/"):
        assert "was overruled" in client.get(path).content.decode()
        assert "was overruled" not in as_user(ben).get(path).content.decode()
    page = client.get("/p/help/label/lessons/")
    text = page.content.decode()
    assert ("Contradicted" in text, "The context says so." in text) == (True, True)
    for hidden in ("Ben", "Said by Ben", "Rita"):
        assert hidden not in text
    client.post("/p/help/label/lessons/", {"read": page.context["new"]})
    assert client.get("/p/help/label/lessons/").context["new"] == []
    assert "was overruled" not in client.get("/").content.decode()
    client.post("/p/help/label/lessons/", {"read": ["x", "²", "9" * 30]})


def test_the_number_of_queries_does_not_grow(rita: User, bea: User, disputes: list[Verdict]) -> None:
    reviewer, reader = as_user(rita), as_user(bea)
    counts = []
    for verdict in disputes:
        decide(reviewer, verdict)
        Batch.objects.update(status="adjudicating")
        reader.get("/p/help/label/lessons/")
        with CaptureQueriesContext(connection) as asked:
            assert len(reader.get("/p/help/label/lessons/").context["listed"]) == len(counts) + 1
        counts.append(len(asked))
    assert len(set(counts)) == 1


def test_what_is_left_is_counted_alike_on_the_page_and_after_a_decision(rita: User, disputes: list[Verdict]) -> None:
    client = as_user(rita)
    page = client.get(f"{PAGE}{disputes[0].pk}/")
    assert f"{len(disputes)} left" in page.content.decode()
    given = {"value": str(disputes[0].votes[0]["value"]), "reason": "So it says.", "revision": disputes[0].revision}
    after = client.post(f"{PAGE}{disputes[0].pk}/", given, follow=True).content.decode()
    assert f"Decided. {len(disputes) - 1} left." in after
    assert after.count(f"{len(disputes) - 1} left") == 2
