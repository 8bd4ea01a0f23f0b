"""A queue from a judge's outcomes: the draw that one sees and confirms, and who may."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from django.test import Client

from annotate.core.blindness import SYSTEM
from annotate.core.errors import Invalid
from annotate.models import Batch, Criterion, Project, Sample, User
from annotate.projects.read import one_criterion
from config.celery import app as celery_app
from judges.reports.next_samples import About, Shares, outcome_queue
from judges.reports.write import freeze_report
from tests.clients import as_user
from tests.database import copied_from_world
from tests.frontend.building import ADMINS_POST, REVIEWERS_READ, WhoMay, make_samples
from tests.frontend.conftest import Staff, make_help_desk, make_staff
from tests.judges.building import add_judge, add_labels

URL = "/p/help/reports/relevance/outcomes/"
SCORER = {"judge": "scorer", "measures": "relevance"}


@pytest.fixture(autouse=True)
def _no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(celery_app, "send_task", lambda *_, **__: None)


World = tuple[Staff, Project, dict[str, Sample], Criterion]


staff = copied_from_world(0)
project = copied_from_world(1)
samples = copied_from_world(2)
relevance = copied_from_world(3)


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> World:
    """Of 120 samples with one context 40 are labelled. Of the others "scorer" fails 20, has no score for 10, and passes
    50; "labeller", which answers with options, fails 40."""
    staff = make_staff()
    project = make_help_desk(staff)
    samples = {sample.external_id: sample for sample in make_samples(project, 120)}
    criterion = one_criterion(project, "relevance")
    names = list(samples)
    add_labels(
        criterion,
        samples,
        [(name, "context:0", rater, at % 4) for at, name in enumerate(names[:40]) for rater in ("Al", "Bo")],
    )
    numbers = [(name, "context:0", at % 4 / 4) for at, name in enumerate(names[:40])]
    numbers += [(name, "context:0", 0.1 if at < 20 else 0.9) for at, name in enumerate(names[40:110])]
    failed = [(name, "context:0", None) for name in names[110:]]
    add_judge(project, "scorer", samples, numbers + failed, dimension="relevance")
    said = [(name, "context:0", str(at % 4)) for at, name in enumerate(names)]
    add_judge(project, "labeller", samples, said, dimension="relevance")
    freeze_report(criterion=criterion)
    return staff, project, samples, criterion


def shown(client: Client, **given: Any) -> dict[str, Any]:
    reply = client.get(URL, {**SCORER, "threshold": "0.5", "fails": "100", "passes": "20", "unscored": "100", **given})
    draw = reply.context["draw"]
    form = draw["batch_form"]
    sent = {} if form is None else {name: form[name].value() or "" for name in form.fields}
    sent |= {name: draw["form"][name].value() for name in draw["form"].fields}
    return {"text": reply.content.decode(), "sent": sent, "seen": draw["seen"]}


@pytest.mark.usefixtures("relevance")
def test_all_fails_and_a_fifth_of_passes(alice: User, ben: User, bea: User) -> None:
    client = as_user(alice)
    first = client.get(URL, SCORER).content.decode()
    assert "80 samples have no label" in first
    draw = shown(client)
    groups = [(str(row["title"]), row["samples"], row["drawn"], row["chance"]) for row in draw["seen"]["rows"]]
    assert groups == [
        ("Fail", 20, 20, "all"),
        ("Pass", 50, 10, "20.0%"),
        ("No score", 10, 10, "all"),
    ]
    assert not Batch.objects.exists()
    address = f"{URL}?judge=scorer&measures=relevance"
    reply = client.post(address, {**draw["sent"], "annotators": [ben.pk, bea.pk], "overlap": 1})
    assert reply.url == "/p/help/batches/1/"
    rows = list(Batch.objects.get().batch_samples.values_list("probability", "stratum"))
    assert Counter(rows) == {(1.0, 1): 20, (0.2, 2): 10, (1.0, 3): 10}
    # Together the drawn stand for all that could have been drawn.
    assert sum(1 / chance for chance, _ in rows) == pytest.approx(80)
    text = client.get(reply.url).content.decode()
    assert "drawn by the outcomes of scorer: 20 of 20 fail, 10 of 50 pass, 10 of 10 no score" in text


@pytest.mark.usefixtures("relevance")
def test_a_judge_that_answers_with_options_needs_no_threshold(alice: User) -> None:
    draw = shown(as_user(alice), judge="labeller")
    assert "threshold" not in draw["sent"]
    # The project passes 2 and 3.
    assert [(row["samples"], row["drawn"]) for row in draw["seen"]["rows"]] == [(40, 40), (40, 8)]


@pytest.mark.usefixtures("relevance")
def test_another_draw_by_now_is_shown_again(alice: User, ben: User, bea: User, project: Project) -> None:
    client = as_user(alice)
    sent = {**shown(client)["sent"], "annotators": [ben.pk, bea.pk], "overlap": 1, "name": "Mine"}
    make_samples(project, 1)
    address = f"{URL}?judge=scorer&measures=relevance"
    reply = client.post(address, sent)
    assert reply.status_code == 422
    assert "have changed since this draw" in reply.content.decode()
    assert 'value="Mine"' in reply.content.decode()
    assert not Batch.objects.exists()
    again = reply.context["draw"]["batch_form"]["plan"].value()
    assert client.post(address, {**sent, "plan": again}).url == "/p/help/batches/1/"


@pytest.mark.usefixtures("relevance")
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"passes": "0"}, "greater than or equal to 0.1"),
        ({"fails": "101"}, "less than or equal to 100"),
        ({"threshold": ""}, "This field is required"),
        ({"threshold": "nan"}, "Enter a number"),
        ({"passes": "many"}, "Enter a number"),
    ],
)
def test_asks_for_what_can_be_drawn(alice: User, given: dict[str, str], said: str) -> None:
    draw = shown(as_user(alice), **given)
    assert said in draw["text"]
    assert draw["seen"] is None


def test_lower_is_better_and_parts_without_a_score(project: Project, samples: dict[str, Sample]) -> None:
    criterion = one_criterion(project, "support")
    names = list(samples)[:4]
    assert all(len(samples[name].claims) > 1 for name in names)
    rows = [(names[0], f"claim:{n}", 0.1) for n in range(len(samples[names[0]].claims))]
    rows += [(names[1], "claim:0", 0.1), (names[1], "claim:1", 0.9), (names[2], "claim:0", 0.5)]
    add_judge(project, "risk", samples, rows, dimension="support", higher_is_better=False)
    queue = outcome_queue(
        criterion=criterion, about=About("risk", "support"), threshold=0.5, shares=Shares(), seed=3, reader=SYSTEM
    )
    assert [(g.outcome, g.samples) for g in queue.found.groups] == [("fail", 1), ("pass", 1), ("no score", 118)]
    again = outcome_queue(
        criterion=criterion, about=About("risk", "support"), threshold=0.5, shares=Shares(), seed=3, reader=SYSTEM
    )
    assert again == queue


@pytest.mark.parametrize(
    ("about", "threshold", "shares", "code"),
    [
        (About("nobody", "relevance"), 0.5, Shares(), "unknown_judge"),
        (About("scorer", "support"), 0.5, Shares(), "unknown_judge"),
        (About("scorer", "relevance"), None, Shares(), "no_threshold"),
        (About("scorer", "relevance"), float("inf"), Shares(), "no_threshold"),
        (About("scorer", "relevance"), 0.5, Shares(passes=0), "bad_share"),
        (About("scorer", "relevance"), 0.5, Shares(fails=1.5), "bad_share"),
        (About("scorer", "relevance"), 0.5, Shares(unscored=True), "bad_share"),
    ],
)
def test_refusals(relevance: Criterion, about: About, threshold: float | None, shares: Shares, code: str) -> None:
    with pytest.raises(Invalid) as refusal:
        outcome_queue(criterion=relevance, about=about, threshold=threshold, shares=shares, reader=SYSTEM)
    assert refusal.value.code == code


@pytest.mark.usefixtures("relevance")
def test_who_may(people: dict[str, User], who_may: WhoMay) -> None:
    address = f"{URL}?judge=scorer&measures=relevance"
    assert who_may(address) == REVIEWERS_READ
    text = shown(as_user(people["reviewer"]))["text"]
    assert "An admin can create a batch" in text
    assert "Create draft" not in text
    sent = {**shown(as_user(people["admin"]))["sent"], "annotators": [people["annotator"].pk], "overlap": 1}
    assert who_may(address, "post", sent) == ADMINS_POST
    assert Batch.objects.count() == 1
    # What is left passes, all of it.
    text = shown(as_user(people["reviewer"]), fails="50")["text"]
    assert "such similar samples would reveal the judge’s results" in text


@pytest.mark.usefixtures("relevance")
def test_the_triage_page_leads_here(alice: User) -> None:
    text = as_user(alice).get("/p/help/reports/relevance/triage/", SCORER).content.decode()
    assert f"{URL}?judge=scorer&amp;measures=relevance" in text
