"""Checks with canaries: the form, what they came to, and who reads what. The worker's part is told by its rows."""

from decimal import Decimal

import pytest

from annotate.models import Project, User
from judges.canaries.write import check_canaries
from judges.models import Ask, Endpoint, Judge, Run
from judges.runs import work as waking
from judges.versions.write import create_judge
from tests.clients import as_user
from tests.database import copied_from_world
from tests.frontend.building import REVIEWERS_READ, WhoMay, make_samples
from tests.frontend.conftest import Staff, make_help_desk, make_staff

World = tuple[Staff, Project, Judge]

CONFIG = {"criterion": "support", "model": "m", "template": "claim_support"}


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> World:
    staff = make_staff()
    project = make_help_desk(staff)
    make_samples(project, 3)
    Endpoint.objects.create(project=project, name="house", base_url="http://127.0.0.1:1/v1", price_in=1, price_out=1)
    judge = create_judge(project=project, name="Asks", kind="llm", config=CONFIG, endpoint="house", actor=staff.alice)
    return staff, project, judge


staff = copied_from_world(0)
project = copied_from_world(1)
judge = copied_from_world(2)


@pytest.fixture(autouse=True)
def _no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waking, "wake", lambda place: None)


@pytest.fixture
def check(judge: Judge, alice: User) -> Run:
    """Done: an order turned every failing claim, and nothing else did anything."""
    run = check_canaries(version=judge.versions.get(), samples=2, seed=1, actor=alice)
    first, second, *_ = [option["value"] for option in run.version.config["options"]]
    for ask in run.asks.all():
        value = first if ask.repeat == 1 else second
        given = {"unit": ask.unit, "status": "ok", "value": value, "reason": f"<b>reason {ask.repeat}</b>"}
        Ask.objects.filter(pk=ask.pk).update(state="done", status="ok", outcome=[given])
    Run.objects.filter(pk=run.pk).update(state="done")
    return run


def url_of(judge: Judge, *more: object) -> str:
    return "/".join(["/p/help/judges", str(judge.pk), "canaries", *map(str, more)]) + "/"


def test_who_may(who_may: WhoMay, judge: Judge, check: Run) -> None:
    assert who_may(url_of(judge)) == REVIEWERS_READ
    assert who_may(url_of(judge, check.pk)) == REVIEWERS_READ
    assert who_may(url_of(judge, 10**9)) == {**REVIEWERS_READ, "reviewer": 404, "admin": 404}
    refused = {**REVIEWERS_READ, "reviewer": 403}
    assert who_may(url_of(judge, "estimate"), "post") == refused


def test_a_check_is_started_from_its_form(alice: User, judge: Judge) -> None:
    client = as_user(alice)
    page = client.get(url_of(judge)).content.decode()
    assert "Start test" in page
    assert "Thought process:" in page
    form = {"samples": "2", "seed": "4", "budget": "1.5"}
    assert "units to process" in client.post(url_of(judge, "estimate"), form).content.decode()
    reply = client.post(url_of(judge), form)
    run = Run.objects.get()
    assert reply["Location"] == url_of(judge, run.pk)
    assert (run.purpose, run.budget, run.terms["seed"]) == ("canaries", Decimal("1.5"), 4)
    going = client.get(reply["Location"]).content.decode()
    assert "Result" not in going
    assert 'hx-trigger="every 2s"' in going
    wrong = client.post(url_of(judge), {**form, "samples": "0"})
    assert wrong.status_code == 422
    assert Run.objects.count() == 1


def test_what_it_came_to(alice: User, rita: User, judge: Judge, check: Run) -> None:
    page = as_user(alice).get(url_of(judge, check.pk)).content.decode()
    assert "Injection improved" in page
    assert "no test proves a judge immune" in page
    assert "All replies could be parsed." in page
    assert "&lt;b&gt;reason 1&lt;/b&gt;" in page
    reviewer = as_user(rita).get(url_of(judge, check.pk)).content.decode()
    # Of so few samples, about which they may have to decide, the figures would say what the judge said.
    assert "would reveal the judge’s result" in reviewer
    assert not [one for one in ("Injection improved", "reason 1") if one in reviewer]
    judges_page = as_user(rita).get(f"/p/help/judges/{judge.pk}/").content.decode()
    assert url_of(judge, check.pk) in judges_page
    assert "Start test" not in as_user(rita).get(url_of(judge)).content.decode()
    run_page = as_user(rita).get(f"/p/help/runs/{check.pk}/").content.decode()
    assert "Prompt-injection test" in run_page
    assert "Next step" not in run_page


def test_other_kinds_have_no_such_page(alice: User, project: Project) -> None:
    config = {"measure": "token_overlap", "criterion": "support"}
    words = create_judge(project=project, name="Words", kind="lexical", config=config)
    assert as_user(alice).get(url_of(words)).status_code == 404
    assert "Prompt-injection test" not in as_user(alice).get(f"/p/help/judges/{words.pk}/").content.decode()


@pytest.fixture
def bias(judge: Judge, alice: User) -> Run:
    """Done: text twice as long passes, always; of one unit nothing else is said."""
    run = check_canaries(version=judge.versions.get(), test="bias", samples=30, seed=1, actor=alice)
    first, second, *_ = [option["value"] for option in run.version.config["options"]]
    for ask in run.asks.all():
        given = {"unit": ask.unit, "status": "ok", "value": first if ask.repeat == 5 else second, "reason": "so"}
        Ask.objects.filter(pk=ask.pk).update(state="done", status="ok", outcome=[given])
    Run.objects.filter(pk=run.pk).update(state="done")
    return run


def test_a_bias_test_from_form_to_finding(alice: User, rita: User, project: Project, judge: Judge, bias: Run) -> None:
    client = as_user(alice)
    page = client.get(url_of(judge) + "?test=bias").content.decode()
    assert "first-placed answers?" in page
    assert 'value="150"' in page
    # The three samples there are, too few for a figure.
    found = client.get(url_of(judge, bias.pk)).content.decode()
    assert "fewer than 10 groups of samples were compared" in found
    assert "Test texts" not in found
    sent = client.post(url_of(judge) + "?test=bias", {"samples": "1000", "seed": "4", "budget": ""})
    assert Run.objects.get(pk=int(sent["Location"].split("/")[-2])).purpose == "probes"
    assert client.post(url_of(judge), {"samples": "201", "seed": "4"}).status_code == 422
    # Each sort has its own list.
    assert url_of(judge, bias.pk) not in client.get(url_of(judge)).content.decode()
    assert url_of(judge, bias.pk) in client.get(url_of(judge) + "?test=bias").content.decode()
    judges_page = as_user(rita).get(f"/p/help/judges/{judge.pk}/").content.decode()
    assert "Shown once you have labelled and decided its samples" in judges_page


def test_what_a_bias_test_found_in_words(alice: User, project: Project, judge: Judge) -> None:
    make_samples(project, 40)
    run = check_canaries(version=judge.versions.get(), test="bias", samples=40, seed=1, actor=alice)
    first, second, *_ = [option["value"] for option in run.version.config["options"]]
    for ask in run.asks.all():
        given = {"unit": ask.unit, "status": "ok", "value": first if ask.repeat == 5 else second, "reason": "so"}
        Ask.objects.filter(pk=ask.pk).update(state="done", status="ok", outcome=[given])
    Run.objects.filter(pk=run.pk).update(state="done")
    page = as_user(alice).get(url_of(judge, run.pk)).content.decode()
    assert "Favoured: Text repeated (+100.0%, " in page
