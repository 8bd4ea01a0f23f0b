"""The planner page: widths, the draw that one sees and confirms, and who may."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotate.batches.steps import close_batch, count_single_labels, open_batch
from annotate.models import Batch, Criterion, Project, User
from annotate.projects.read import one_criterion
from config.celery import app as celery_app
from judges.reports.write import freeze_report
from tests.clients import as_user
from tests.database import copied_from_world
from tests.frontend.building import ADMINS_POST, REVIEWERS_READ, WhoMay, label_task, make_samples
from tests.frontend.conftest import Staff, make_help_desk, make_staff
from tests.judges.building import add_judge, add_labels

URL = "/p/help/reports/relevance/planner/"


@pytest.fixture(autouse=True)
def _no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(celery_app, "send_task", lambda *_, **__: None)


World = tuple[Staff, Project, Criterion]


staff = copied_from_world(0)
project = copied_from_world(1)
relevance = copied_from_world(2)


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> World:
    """120 samples with one context each, of which 40 are labelled by two people and all are scored by a judge."""
    staff = make_staff()
    project = make_help_desk(staff)
    samples = {sample.external_id: sample for sample in make_samples(project, 120)}
    criterion = one_criterion(project, "relevance")
    names = list(samples)
    rows = [
        (name, "context:0", rater, (place + (rater == "Bo" and place % 9 == 0)) % 4)
        for place, name in enumerate(names[:40])
        for rater in ("Al", "Bo")
    ]
    add_labels(criterion, samples, rows)
    scores = [(name, "context:0", (place % 4) / 4 + (place % 7 == 0) * 0.5) for place, name in enumerate(names)]
    add_judge(project, "scorer", samples, scores, dimension="relevance")
    freeze_report(criterion=criterion)
    return staff, project, criterion


def seen(client: Client, **given: Any) -> dict[str, Any]:
    """What the page shows of a draw, and what its form would send."""
    reply = client.get(URL, {"n": 40, "about": "people", **given})
    form = reply.context["batch_form"]
    sent = {name: form[name].value() or "" for name in form.fields}
    return {"text": reply.content.decode(), "sent": sent}


@pytest.mark.usefixtures("relevance")
def test_shows_how_many_more_labels(rita: User) -> None:
    text = as_user(rita).get(URL).content.decode()
    assert "40 samples have labels, " in text
    assert '<th scope="rowgroup" colspan="9"><bdi>scorer</bdi> <span class="on-set">on dev</span></th>' in text
    assert "more samples for ±" in text
    assert 'aria-labelledby="planning-title planning-description"' in text
    assert "More for" not in text
    wanted = as_user(rita).get(URL, {"about": "people", "width": "0.1"}).content.decode()
    assert "More for ±0.10" in wanted
    assert "Ensure this value" in as_user(rita).get(URL, {"about": "people", "width": "0"}).content.decode()


@pytest.mark.usefixtures("relevance")
def test_the_plan_says_what_to_label_and_what_to_import(alice: User) -> None:
    client = as_user(alice)
    plan = client.get(URL, {"about": "people", "width": "0.1"}).context["plan"]
    needed = int(plan["needed"].replace(",", ""))
    assert needed > 80
    assert (plan["target"], plan["unlabelled"], plan["draw"]) == ("±0.10", "80", 80)
    assert int(plan["missing"].replace(",", "")) == pytest.approx(needed - 80, rel=0.05)
    assert plan["import_url"] == "/p/help/import/"
    # The link leads to the draw, which is about the same figure and keeps the plan.
    drawn = client.get(URL + plan["draw_url"].partition("#")[0])
    assert drawn.context["seen"]["drawn"] == 80
    assert drawn.context["plan"] == plan
    # Without a target: that of the report, about the best judge.
    form = client.get(URL).context["plan_form"]
    assert form["about"].value() == '["scorer", "relevance"]'
    assert 0 < form["width"].value() < 1
    reached = client.get(URL, {"about": "people", "width": "0.9"}).context["plan"]
    assert (reached["needed"], reached["draw"], reached["missing"]) == ("", None, "")
    odd = client.get(URL, {"about": "nobody", "width": "0.1"})
    assert odd.context["plan"] is None
    assert "Select a valid choice" in odd.content.decode()


@pytest.mark.usefixtures("relevance")
def test_a_draw_is_seen_before_it_is_made(alice: User, ben: User, bea: User) -> None:
    client = as_user(alice)
    assert "80 samples have no label for this criterion" in client.get(URL).content.decode()
    draw = seen(client)
    assert "40 of 80 samples, seed" in draw["text"]
    assert not Batch.objects.exists()
    reply = client.post(URL, {**draw["sent"], "annotators": [ben.pk, bea.pk], "overlap": 1})
    assert reply.url == "/p/help/batches/1/"
    rows = Batch.objects.get().batch_samples
    assert sum(1 / chance for chance in rows.values_list("probability", flat=True)) == pytest.approx(80)
    assert "drawn with known chances from 80 samples" in client.get(reply.url).content.decode()
    page = client.get(URL).content.decode()
    assert "is a draft of 40 samples" in page
    assert "40 samples have no label for this criterion and are in no batch" in page


@pytest.mark.usefixtures("relevance")
def test_a_draw_that_is_another_one_by_now_is_shown_again(
    alice: User, project: Project, relevance: Criterion, ben: User, bea: User
) -> None:
    client = as_user(alice)
    draw = seen(client)
    make_samples(project, 1)
    sent = {**draw["sent"], "annotators": [ben.pk, bea.pk], "name": "Mine"}
    reply = client.post(URL, sent)
    text = reply.content.decode()
    assert reply.status_code == 409
    assert "have changed since this draw" in text
    assert "40 of 81 samples" in text
    assert 'value="Mine"' in text
    assert not Batch.objects.exists()
    form = reply.context["batch_form"]
    assert client.post(URL, {**sent, "plan": form["plan"].value()}).url == "/p/help/batches/1/"


@pytest.mark.usefixtures("relevance")
@pytest.mark.parametrize(
    ("change", "status", "said"),
    [
        ({"annotators": []}, 422, "Select at least one annotator"),
        ({"overlap": 3}, 422, "need at least 3 annotators"),
        ({"name": ""}, 422, "This field is required"),
        ({"due_date": "2026-01-31"}, 422, "has passed"),
        ({"n": 99}, 422, "Only 80 samples have no labels"),
        ({"about": '["nobody", "relevance"]'}, 422, "Select a valid choice"),
    ],
)
def test_refuses_with_the_reason(
    alice: User, ben: User, bea: User, change: dict[str, Any], status: int, said: str
) -> None:
    client = as_user(alice)
    reply = client.post(URL, {**seen(client)["sent"], "annotators": [ben.pk, bea.pk], **change})
    assert reply.status_code == status
    assert said in reply.content.decode()
    assert not Batch.objects.exists()


@pytest.mark.usefixtures("relevance")
def test_asks_for_what_can_be_drawn(alice: User) -> None:
    client = as_user(alice)
    assert "Only 80 samples have no labels" in client.get(URL, {"n": 99, "about": "people"}).content.decode()
    assert "Enter a whole number" in client.get(URL, {"n": "many", "about": "people"}).content.decode()


@pytest.mark.usefixtures("relevance")
def test_all_is_labelled(alice: User, project: Project, relevance: Criterion) -> None:
    samples = {sample.external_id: sample for sample in project.samples.all()}
    add_labels(relevance, samples, [(name, "context:0", "Cy", 2) for name in samples])
    text = as_user(alice).get(URL).content.decode()
    assert "All samples have labels for this criterion" in text
    assert "Preview the draw" not in text


def test_figures_for_all_samples(alice: User, ben: User, bea: User, relevance: Criterion, project: Project) -> None:
    client = as_user(alice)
    client.post(URL, {**seen(client)["sent"], "annotators": [ben.pk, bea.pk], "overlap": 1})
    batch = count_single_labels(batch=open_batch(batch=Batch.objects.get()), actor=alice)
    task, *others = batch.tasks.all()
    for one in others:
        label_task(one, {"relevance": one.sample_id % 4})
    text = client.get(URL).content.decode()
    assert "39 of 40 samples have labels. Figures for all samples appear once all are labelled" in text
    assert task.status == "pending"
    close_batch(batch=batch)
    freeze_report(criterion=relevance)
    for url in (URL, "/p/help/reports/relevance/"):
        text = client.get(url).content.decode()
        assert re.search(r"Of 40 drawn samples (1\d|2\d) with labels count here, and 40 had been labelled before", text)
        assert "Together they stand for 120 samples" in text


@pytest.mark.usefixtures("relevance")
def test_who_may(people: dict[str, User], who_may: WhoMay) -> None:
    assert who_may(URL) == REVIEWERS_READ
    draw = seen(as_user(people["admin"]))
    sent = {**draw["sent"], "annotators": [people["annotator"].pk], "overlap": 1}
    assert who_may(URL, "post", sent) == ADMINS_POST
    assert Batch.objects.count() == 1
    # A reviewer sees the draw, and who can make a batch of it.
    text = as_user(people["reviewer"]).get(URL, {"n": 20, "about": "people"}).content.decode()
    assert "20 of 40 samples, seed" in text
    assert "An admin can create a batch of them" in text
    assert "Create draft" not in text


@pytest.mark.usefixtures("relevance")
def test_is_served_from_what_is_frozen(rita: User) -> None:
    """Labels, verdicts, tasks, scores and judges are looked through for the report's state alone; the rest counts."""
    client = as_user(rita)
    client.get(URL)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        client.get(URL)
    assert len(queries) <= 23
