"""Starting a run, watching it, and what is left of it: the worker's part is told by the rows that it would write."""

from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate.models import Project, Sample, User
from judges.models import Ask, Endpoint, Judge, JudgeVersion, Reply, Run, RunState, Score
from judges.runs import work as waking
from judges.runs import write as runs_service
from judges.runs.write import start_run
from judges.versions.write import create_judge
from tests.clients import as_user
from tests.database import copied_from_world
from tests.frontend.building import REVIEWERS_READ, WhoMay, make_samples
from tests.frontend.conftest import Staff, give, make_help_desk, make_staff

World = tuple[Staff, Project, list[Sample], Judge]

ADMIN = {**REVIEWERS_READ, "reviewer": 403}
OVERLAP = {"measure": "token_overlap", "criterion": "support"}


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> World:
    staff = make_staff()
    project = make_help_desk(staff)
    samples = make_samples(project, 3)
    Sample.objects.filter(pk=samples[0].pk).update(pipeline_version="v7")
    judge = create_judge(project=project, name="Words", kind="lexical", config=OVERLAP, actor=staff.alice)
    return staff, project, samples, judge


staff = copied_from_world(0)
project = copied_from_world(1)
samples = copied_from_world(2)
judge = copied_from_world(3)


@pytest.fixture(autouse=True)
def _no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waking, "wake", lambda place: None)


@pytest.fixture
def version(judge: Judge) -> JudgeVersion:
    return judge.versions.get()


@pytest.fixture
def run(version: JudgeVersion, alice: User) -> Run:
    """Two of six asks are done: one has its score, of the other the reply was not understood."""
    made = start_run(version=version, scope={"all": True}, actor=alice)
    reply = Reply.objects.create(
        project=version.judge.project, key="k", body={"text": "<b>five</b> of course"}, latency=0.1
    )
    first, second = made.asks.order_by("pk")[:2]
    Ask.objects.filter(pk=first.pk).update(state="done", status="ok")
    Ask.objects.filter(pk=second.pk).update(
        state="done", status="parse_error", detail="The reply is not one JSON object.", replies=[reply.pk]
    )
    return made


@pytest.fixture
def paid(run: Run, version: JudgeVersion, project: Project) -> Run:
    """The same at an endpoint."""
    endpoint = Endpoint.objects.create(
        project=project, name="house", base_url="http://127.0.0.1:1/v1", price_in=1, price_out=2, currency="EUR"
    )
    JudgeVersion.objects.filter(pk=version.pk).update(endpoint=endpoint)
    Run.objects.filter(pk=run.pk).update(
        budget=Decimal("2.5"), cost=Decimal("1.25"), unpriced=1, tokens_in=1200, tokens_out=34
    )
    return run


def test_started_from_the_form(alice: User, judge: Judge) -> None:
    client, at = as_user(alice), f"/p/help/judges/{judge.pk}/run/"
    form = client.get(at).context["form"]
    assert [name for name, _label in form.fields["scope"].choices] == ["all", "pipeline"], "there is no batch"
    assert "budget" not in form.fields, "it at no cost"
    reply = client.post(at, {"scope": "pipeline", "pipeline": "v7", "repeats": "2"})
    run = Run.objects.get()
    assert reply.url == f"/p/help/runs/{run.pk}/"
    assert (run.scope, run.repeats, run.planned, run.created_by) == ({"pipeline": "v7"}, 2, 4, alice)


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"scope": "all"}, "repeats"),
        ({"scope": "all", "repeats": "0"}, "repeats"),
        ({"scope": "pipeline", "repeats": "1"}, "pipeline"),
        ({"scope": "pipeline", "pipeline": "v8", "repeats": "1"}, "pipeline"),
        ({"scope": "batch", "repeats": "1"}, "scope"),
    ],
)
def test_a_bad_form_starts_nothing(sent: dict[str, str], field: str, alice: User, judge: Judge) -> None:
    reply = as_user(alice).post(f"/p/help/judges/{judge.pk}/run/", sent)
    assert reply.status_code == 422
    assert list(reply.context["form"].errors) == [field]
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"scope": "all", "repeats": "1"}, "6 units to process"),
        ({"scope": "pipeline", "pipeline": "v7", "repeats": "1"}, "2 units to process"),
        ({"scope": "all", "repeats": "1"}, "at no cost"),
        ({"scope": "all", "repeats": ""}, "Fill in the form"),
    ],
)
def test_says_what_it_would_ask_for(sent: dict[str, str], said: str, alice: User, judge: Judge) -> None:
    reply = as_user(alice).post(f"/p/help/judges/{judge.pk}/run/estimate/", sent)
    assert reply.status_code == 200
    assert said in reply.content.decode()
    assert not Run.objects.exists()


def test_what_a_part_stood_for_is_told_as_an_estimate(
    alice: User, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs_service, "_MEASURED", 2)
    said = as_user(alice).post(f"/p/help/judges/{judge.pk}/run/estimate/", {"scope": "all", "repeats": "1"})
    assert "About 6 units to process" in said.content.decode()


def test_a_form_that_is_sent_twice_starts_one_run(alice: User, judge: Judge) -> None:
    client, at = as_user(alice), f"/p/help/judges/{judge.pk}/run/"
    keys = {str(client.get(at).context["form"]["key"].value()) for _ in range(2)}
    assert len(keys) == 2
    for key in [*keys, *keys, "", ""]:
        assert client.post(at, {"scope": "all", "repeats": "1", "key": key}).status_code == 302
    assert Run.objects.count() == 2 + 2
    assert client.post(at, {"scope": "all", "repeats": "2", "key": keys.pop()}).status_code == 422


def test_one_click_asks_for_what_has_no_score(alice: User, judge: Judge) -> None:
    client, at = as_user(alice), f"/p/help/judges/{judge.pk}/run/now/"
    reply = client.post(at)
    run = Run.objects.get()
    assert (reply.url, run.planned, run.scope) == (f"/p/help/runs/{run.pk}/", 6, {"all": True})
    scores = [
        Score(version=run.version, run=run, sample=ask.sample, unit=ask.unit, dimension="support", number=1)
        for ask in run.asks.select_related("sample")
    ]
    Score.objects.bulk_create(scores)
    assert "again" in client.post(at, follow=True).content.decode()
    again = Run.objects.latest("pk")
    assert (again.planned, again.first_repeat) == (6, 1)
    judge.project.samples.all().update(claims=[])
    assert "Version 1 can’t score" in client.post(at, follow=True).content.decode()


def test_a_run_that_goes_on(alice: User, run: Run) -> None:
    reply = as_user(alice).get(f"/p/help/runs/{run.pk}/")
    text = reply.content.decode()
    assert (reply.context["percent"], reply.context["left"]) == (33, "4")
    for said in ("2 of 6 processed", "Waiting for the worker", "Pause", "Cancel run", "hx-get="):
        assert said in text
    assert "&lt;b&gt;five&lt;/b&gt; of course" in text
    assert "<b>five" not in text


def test_asks_again_only_for_what_changed(alice: User, run: Run) -> None:
    client, at = as_user(alice), f"/p/help/runs/{run.pk}/"
    page = client.get(at).context
    query = {"state": page["run"].state, "seen": page["seen"], "said": page["said_mark"]}
    same = client.get(f"{at}progress/", query)
    assert (same.status_code, same.content) == (204, b"")
    Ask.objects.filter(run=run, state="waiting").update(state="done", status="ok")
    changed = client.get(f"{at}progress/", query)
    assert "6 of 6 processed" in changed.content.decode()
    assert "hx-swap-oob" not in changed.content.decode(), "it is told once that it waits"
    assert "HX-Refresh" not in changed
    other = client.get(f"{at}progress/", {**query, "said": "something else"})
    assert "hx-swap-oob" in other.content.decode() or other.status_code == 204
    Run.objects.filter(pk=run.pk).update(state=RunState.DONE)
    ended = client.get(f"{at}progress/", query)
    assert ended["HX-Refresh"] == "true"
    assert "hx-get" not in ended.content.decode()


def test_paused_resumed_and_cancelled(alice: User, run: Run) -> None:
    client, at = as_user(alice), f"/p/help/runs/{run.pk}/"
    for step, state, said in (
        ("pause", "paused", "Run paused."),
        ("resume", "running", "Run resumed."),
        ("pause", "paused", "Run paused."),
    ):
        text = client.post(f"{at}{step}/", follow=True).content.decode()
        run.refresh_from_db()
        assert (run.state, said in text) == (state, True)
    assert "4 units will not be processed" in client.get(f"{at}cancel/").content.decode()
    assert "Run cancelled." in client.post(f"{at}cancel/", follow=True).content.decode()
    assert client.get(f"{at}cancel/").url == at, "there is nothing left to ask"
    assert "cancelled" in client.post(f"{at}resume/", follow=True).content.decode()
    assert client.get(f"{at}pause/").status_code == 405
    assert client.post(f"{at}burn/").status_code == 404


def test_what_is_still_to_be_counted_is_told_as_an_estimate(alice: User, run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(is_laid=False, expected=1_234)
    here = f"/p/help/runs/{run.pk}/"
    client = as_user(alice)
    shown = client.get(here).content.decode()
    assert "2 of about 1,300 processed" in shown
    assert "<dd>about 1,300" in shown
    assert "more are being added" not in shown
    assert "About 1,300 units will not be processed." in client.get(f"{here}cancel/").content.decode()
    client.post(f"{here}cancel/")
    shown = client.get(here).content.decode()
    assert "<dd>0<" in shown
    assert "about 1,300 not processed" in shown
    # More than was expected.
    Run.objects.filter(pk=run.pk).update(expected=4, state=RunState.PAUSED)
    assert "2 of 6 processed, more are being added" in client.get(here).content.decode()


def test_an_unknown_cost_is_not_zero(alice: User, paid: Run) -> None:
    Run.objects.filter(pk=paid.pk).update(budget=None, cost=Decimal(0), unpriced=2)
    text = as_user(alice).get(f"/p/help/runs/{paid.pk}/").content.decode()
    assert "2 with unknown price" in text
    assert "0 EUR" not in text


def test_a_run_that_stopped_says_why_and_takes_a_larger_budget(alice: User, paid: Run) -> None:
    client, at = as_user(alice), f"/p/help/runs/{paid.pk}/"
    Run.objects.filter(pk=paid.pk).update(
        state=RunState.STOPPED, stop_code="budget", stop_message="The budget of this run is spent.", cost=Decimal("2.6")
    )
    text = client.get(at).content.decode()
    for said in ("Reason for stopping", "The budget of this run is spent.", "2.60 EUR", "budget 2.50 EUR"):
        assert said in text
    assert "1 with unknown price" in text
    refused = client.post(f"{at}resume/", {"budget": "1"}, follow=True)
    assert "Increase it to resume" in refused.content.decode()
    unread = client.post(f"{at}resume/", {"budget": "much"}, follow=True)
    assert "is not a valid amount" in unread.content.decode()
    client.post(f"{at}resume/", {"budget": "10"})
    paid.refresh_from_db()
    assert (paid.state, paid.budget) == ("running", Decimal(10))


def test_failures_by_how_they_failed(alice: User, rita: User, run: Run) -> None:
    at = f"/p/help/runs/{run.pk}/"
    (group,) = as_user(alice).get(at).context["failures"]
    assert (group["label"], group["count"], len(group["rows"])) == ("Invalid reply", 1, 1)
    row = group["rows"][0]
    assert (row["sample"], row["title"], row["raw"]) == ("s0", "Claim 2", "<b>five</b> of course")
    assert as_user(alice).get(row["url"]).status_code == 200
    assert "not one JSON object" in as_user(alice).get(at).content.decode()
    text = as_user(rita).get(at).content.decode()
    assert "Invalid reply" in text
    assert not [one for one in ("not one JSON object", "of course") if one in text]
    assert 'method="post"' not in text.split("<main", 1)[1]


def test_a_reply_about_a_sample_that_is_still_ones_own_to_label_is_held_back(
    alice: User, project: Project, run: Run
) -> None:
    give(project, alice, "s0")
    text = as_user(alice).get(f"/p/help/runs/{run.pk}/").content.decode()
    assert "You still have to label this sample." in text
    assert "of course" not in text
    assert "not one JSON object" not in text


def test_after_the_end_it_leads_to_the_report(alice: User, run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(state=RunState.DONE)
    reply = as_user(alice).get(f"/p/help/runs/{run.pk}/")
    assert [(criterion.key, url) for criterion, url in reply.context["reports"]] == [("support", "")]
    assert 'action="/p/help/reports/support/"' in reply.content.decode()
    assert "hx-get" not in reply.content.decode()


def test_who_may_what(run: Run, judge: Judge, who_may: WhoMay) -> None:
    for path in ("", "progress/"):
        assert who_may(f"/p/help/runs/{run.pk}/{path}") == REVIEWERS_READ, path
    assert who_may(f"/p/help/runs/{run.pk}/cancel/") == ADMIN
    for step in ("pause", "resume", "cancel"):
        assert who_may(f"/p/help/runs/{run.pk}/{step}/", "post") == {**ADMIN, "admin": 302}, step
    assert who_may(f"/p/help/judges/{judge.pk}/run/", "post") == {**ADMIN, "admin": 422}


def test_another_projects_run_is_not_found(alice: User, run: Run) -> None:
    from annotate.projects.write import create_project

    create_project(slug="other", spec={}, created_by=alice)
    for path in ("", "progress/", "cancel/"):
        assert as_user(alice).get(f"/p/other/runs/{run.pk}/{path}").status_code == 404, path


def test_the_list_and_its_number_of_queries(alice: User, run: Run, version: JudgeVersion, project: Project) -> None:
    client = as_user(alice)
    counts: list[int] = []
    for _size in ("few", "many"):
        client.get("/p/help/runs/")
        with CaptureQueriesContext(connection) as queries:
            reply = client.get("/p/help/runs/")
        counts.append(len(queries))
        other = create_judge(project=project, name="More", kind="lexical", config=OVERLAP) if len(counts) == 1 else None
        for one in (version, *(other.versions.all() if other else ())):
            start_run(version=one, scope={"all": True}, again=True, actor=alice)
    assert counts[0] == counts[1]
    assert len(reply.context["runs"]) == 3
    narrowed = client.get(f"/p/help/runs/?judge={version.judge_id}").context["runs"]
    assert {row["run"].version.judge_id for row in narrowed} == {version.judge_id}


def told(**changes: Any) -> str:
    from frontend.judges.run_words import duration, rate
    from frontend.reports.shown import money

    return " ".join((duration(changes.get("s")), rate(changes.get("r")), money(changes.get("m"), "USD"))).strip()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"s": None}, ""), ({"s": 0.2}, "1 second"), ({"s": 59}, "59 seconds"), ({"s": 150}, "2 minutes"),
        ({"s": 3 * 3600}, "3 hours"), ({"s": 3 * 86400}, "3 days"), ({"r": 0.05}, "3 per minute"),
        ({"r": 12.34}, "12.3 per second"), ({"r": 12345.6}, "12,346 per second"), ({"m": Decimal(0)}, "0 USD"),
        ({"m": Decimal("1234.5")}, "1,234.50 USD"), ({"m": Decimal("0.0123")}, "0.012 USD"),
        ({"m": Decimal("0.00001")}, "less than 0.0001 USD"),
    ],
)  # fmt: skip
def test_amounts_in_words(given: dict[str, Any], words: str) -> None:
    assert told(**given) == words
