"""The lab: its form, a trial while it goes on and when it has ended, keep and drop."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from annotate.models import Project, User
from annotate.projects.write import set_member
from frontend.judges.lab_trial import gains
from judges.lab.write import start_trial
from judges.models import Judge, JudgeVersion, Run, RunState, Trial, VersionState
from judges.runs import write as runs_service
from judges.versions.write import create_judge
from tests.clients import as_user
from tests.database import copied_from_world
from tests.frontend.building import ADMINS_READ, WhoMay, make_user
from tests.judges.lab.building import CLOSED, World, make_trial, trial_world

CONFIG = {"measure": "token_overlap", "criterion": "support"}

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> tuple[World, dict[str, User], Judge]:
    world = trial_world("desk")
    people = {name: make_user(name) for name in ("Alice", "Rita", "Ben", "Charlie")}
    for name, role in (("Alice", "admin"), ("Rita", "reviewer"), ("Ben", "annotator")):
        set_member(project=world.project, user=people[name], role=role)
    world.project.samples.exclude(answer=CLOSED).update(contexts=[{"id": "a", "text": "Paris, claim 1 stands here"}])
    words = create_judge(project=world.project, name="words", kind="lexical", config=CONFIG)
    return world, people, words


world = copied_from_world(0)


words = copied_from_world(2)


@pytest.fixture
def alice(_world: tuple[World, dict[str, User], Judge]) -> Client:
    return as_user(_world[1]["Alice"])


@pytest.fixture
def people(_world: tuple[World, dict[str, User], Judge]) -> dict[str, User]:
    names = {"Alice": "admin", "Rita": "reviewer", "Ben": "annotator", "Charlie": "stranger"}
    return {names[name]: user for name, user in _world[1].items()}


@pytest.fixture
def project(world: World) -> Project:
    return world.project


def url(judge: Judge, *more: Any) -> str:
    return "/".join([f"/p/desk/judges/{judge.pk}/lab", *map(str, more)]) + "/"


def form(reply: Any, **changes: Any) -> dict[str, Any]:
    """What a browser would send of the page's forms, with changes."""
    given: dict[str, Any] = {}
    for one in (reply.context["form"], reply.context["config"]):
        for field in one:
            value = field.value()
            if value not in (None, False):
                given[field.html_name] = value
    return {**given, **changes}


def test_from_the_form_to_a_trial(words: Judge, alice: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    page = alice.get(url(words))
    assert page.context["base"] == words.versions.get()
    changed = form(page, **{"config-unspaced": "characters", "samples": 4, "seed": 3})
    looked = alice.post(url(words, "estimate"), changed)
    text = looked.content.decode()
    assert "4 samples of the dev set" in text
    assert "32 units to process" in text
    assert "Both versions will run" in text
    assert not Trial.objects.exists()
    monkeypatch.setattr(runs_service, "_MEASURED", 2)
    assert "About 32 units to process" in alice.post(url(words, "estimate"), changed).content.decode()
    reply = alice.post(url(words), changed)
    assert alice.post(url(words), changed)["Location"] == reply["Location"], "the same form again starts nothing else"
    trial = Trial.objects.get()
    Run.objects.filter(pk=trial.run_id).update(is_laid=False, expected=1_234)
    assert "of about 1,300 processed" in alice.get(url(words, trial.pk)).content.decode()
    assert (reply.status_code, reply["Location"]) == (302, url(words, trial.pk))
    assert (trial.seed, len(trial.samples)) == (3, 4)
    assert trial.version.config["unspaced"] == "characters"
    # Another edit begins with what was tried, on the same samples.
    again = alice.get(url(words) + f"?from={trial.pk}")
    sent = form(again)
    assert (sent["config-unspaced"], sent["seed"], sent["samples"]) == ("characters", 3, 4)
    assert "from an earlier trial" in again.content.decode()
    assert [row.pk for row in again.context["rows"]] == [trial.pk]


def test_what_is_wrong_is_said_where_it_is(words: Judge, alice: Client) -> None:
    page = alice.get(url(words))
    same = alice.post(url(words), form(page))
    assert same.status_code == 409
    assert "Nothing has changed" in same.content.decode()
    assert "Change something" in alice.post(url(words, "estimate"), form(page)).content.decode()
    few = alice.post(url(words), form(page, samples=0))
    assert few.status_code == 422
    assert few.context["form"].errors["samples"]
    assert not Trial.objects.exists()
    assert words.versions.count() == 1


def test_while_it_goes_on(words: Judge, world: World, alice: Client) -> None:
    trial = start_trial(judge=words, config={**CONFIG, "unspaced": "characters"}, criterion=world.criterion, samples=4)
    page = alice.get(url(words, trial.pk))
    assert "0 of 16 processed" in page.content.decode()
    assert "result" not in page.context
    seen = page.context["seen"]
    assert alice.get(url(words, trial.pk, "progress") + f"?seen={seen}").status_code == 204
    assert alice.get(url(words, trial.pk, "progress") + "?seen=").status_code == 200
    Run.objects.update(state=RunState.STOPPED, stop_message="The endpoint refused the key.")
    ended = alice.get(url(words, trial.pk, "progress") + f"?seen={seen}")
    assert ended["HX-Refresh"] == "true"
    text = alice.get(url(words, trial.pk)).content.decode()
    assert "The endpoint refused the key." in text
    assert "They can’t be compared" in text


def test_what_it_shows(world: World, alice: Client) -> None:
    trial = make_trial(world)
    page = alice.get(url(world.judge, trial.pk))
    text = page.content.decode()
    assert "Version 2 agrees with annotators clearly better than Version 1" in text
    assert 'class="plot plot-phone"' in text
    assert "1 version of this judge has been tried" in text
    assert "Prompt 1." in text
    first = page.context["units"][0]["unit"]
    assert first.group == "mended"
    for words in ("Annotator A", "ann says so", "Paris", first.second_rationale, "Activate", "Discard", "New trial"):
        assert words in text
    counts = {one["key"]: one["count"] for one in page.context["filters"]}
    for name in ("mended", "broken", "changed"):
        chosen = alice.get(url(world.judge, trial.pk) + f"?show={name}")
        assert chosen.context["rows"].paginator.count == counts[name]
        assert {row["unit"].group for row in chosen.context["units"]} == {name}


def test_the_closed_half_is_on_no_page(world: World, alice: Client) -> None:
    """Whatever the address says."""
    trial = make_trial(world, samples=[*world.samples])
    here = url(world.judge, trial.pk)
    pages = [here, *(f"{here}?show={name}&page={n}" for name in ("mended", "broken", "changed") for n in (1, 2))]
    for address in [*pages, f"{here}?version=1&against=2", f"{here}?from={trial.pk}"]:
        text = alice.get(address).content.decode()
        assert CLOSED not in text
        assert not any(f">{name}<" in text for name in world.test)
    assert alice.get(here).context["result"]["samples"] <= len(world.dev)


def test_keep_and_drop(world: World, alice: Client) -> None:
    trial = make_trial(world)
    Run.objects.update(state=RunState.DONE)
    kept = alice.post(url(world.judge, trial.pk, "keep"), follow=True)
    assert JudgeVersion.objects.get(pk=world.version.pk).state == VersionState.KEPT
    assert "Version 2 is now active" in kept.content.decode()
    assert "Run it on the rest" in kept.content.decode()
    assert alice.post(url(world.judge, trial.pk, "elsewhere")).status_code == 404
    assert alice.get(url(world.judge, trial.pk, "keep")).status_code == 405


def test_drop(words: Judge, world: World, alice: Client) -> None:
    trial = start_trial(judge=words, config={**CONFIG, "unspaced": "characters"}, criterion=world.criterion, samples=4)
    dropped = alice.post(url(words, trial.pk, "drop"), follow=True)
    assert "Version 2 discarded" in dropped.content.decode()
    assert JudgeVersion.objects.get(pk=trial.version_id).state == VersionState.DROPPED
    assert Run.objects.get(pk=trial.run_id).state == RunState.CANCELLED


def test_who_may(world: World, words: Judge, who_may: WhoMay) -> None:
    trial = make_trial(world)
    admin = ADMINS_READ
    assert who_may(url(words)) == admin
    assert who_may(url(world.judge, trial.pk)) == admin
    assert who_may(url(world.judge, trial.pk, "progress")) == admin
    assert who_may(url(words, "estimate"), "post") == admin
    assert who_may(url(words), "post") == {**admin, "admin": 422}
    assert who_may(url(world.judge, trial.pk, "drop"), "post") == {**admin, "admin": 302}


def test_what_is_not_there(world: World, words: Judge, alice: Client) -> None:
    trial = make_trial(world)
    # An imported judge can't be edited; a trial is of its own judge alone.
    for address in (url(world.judge), url(words, trial.pk), url(words) + f"?from={trial.pk}", url(words, 10**9)):
        assert alice.get(address).status_code == 404
    assert alice.post(url(words, trial.pk, "keep")).status_code == 404


def test_the_judges_page_leads_there(words: Judge, alice: Client) -> None:
    assert f'href="{url(words)}"' in alice.get(f"/p/desk/judges/{words.pk}/").content.decode()


@pytest.mark.parametrize(("low", "recommended"), [(0.01, True), (0.0, False), (-0.1, False), (None, False)])
def test_activating_stands_out_only_where_kappa_is_surely_higher(low: float | None, recommended: bool) -> None:
    assert gains({"reason": None, "difference": {"kappa": {"low": low}}}) is recommended
    assert not gains({"reason": {"code": "no_units"}, "difference": {"kappa": {"low": low}}})
