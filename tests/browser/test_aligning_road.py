"""From what people say of a judge's mistakes to fewer labels: reasons in adjudication, an alignment whose rules people
edit, a trial, a certificate, and two judges that leave to people only what neither is sure of."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from annotate.models import Batch, BatchSample, Task, User, Verdict
from judges.models import Alignment, CascadeLook, Certificate, Judge, Score, ScoreStatus
from judges.reports.evidence import settled_on_dev
from tests.annotate.factories import World, finish, make_batch, make_sample, make_world
from tests.judges.aligning.planted import PlantedModel
from tests.judges.aligning.test_aligning import planted
from tests.judges.building import add_judge, drawn_in_full
from tests.judges.runs.building import endpoint_at, llm_judge
from tests.openai_server import OpenAIServer, Request

if TYPE_CHECKING:
    from playwright.sync_api import Page

SAMPLES, DISPUTED = 200, 4
REASON = "Visits on a weekday were never confirmed."
EDITED = "Never support a claim that names a date, even where the contexts repeat it."


class Model(PlantedModel):
    """Has no answer to some claims, whoever asks: they are left to people."""

    def __call__(self, request: Request) -> Any:
        visits = re.findall(r"Visit (\d+) takes place", request.prompt)
        is_judging = '"value"' in request.prompt
        return "" if is_judging and int(visits[-1]) % 25 == 7 else super().__call__(request)


@pytest.fixture
def model(openai_server: OpenAIServer) -> Model:
    model = Model(seed=1, follows=1, slips=0)
    openai_server.answers(model)
    return model


@pytest.fixture
def world(transactional_db: None, openai_server: OpenAIServer) -> World:
    """Labelled by people, but for a few claims on which two of them differ; a judge that asks a model, without people's
    rules, and a cheap one that is right where it is not near a half."""
    world = make_world()
    User.objects.update(preferences={"introduced": True})
    endpoint_at(world, openai_server, "main", price_in=1, price_out=1)
    planted(world, SAMPLES)
    support = world.criteria("support")
    for number in range(DISPUTED):
        text = f"Visit {900 + number} takes place on Monday as the contexts say."
        make_sample(world.project, 900 + number, answer=text, claims=[{"text": text}], group_key=f"d{number}")
    names = [f"s{900 + number}" for number in range(DISPUTED)]
    batch = make_batch(world.project, [world.ann, world.ben], samples=names, criteria=support)
    for task in Task.objects.filter(batch=batch).select_related("annotator", "sample", "batch"):
        finish(task, support="yes" if task.annotator == world.ann else "no")
    drawn_in_full(*support)
    llm_judge(world, "reader")
    add_judge(world.project, "overlap", {one.external_id: one for one in world.project.samples.all()}, _cheap(world))
    return world


def _cheap(world: World) -> list[tuple[str, str, float]]:
    chance, rows = random.Random(4), []
    for name, value in Verdict.objects.order_by("sample_id").values_list("sample__external_id", "value"):
        away = chance.uniform(0, 0.5)
        is_right = away > 0.25 or chance.random() < 0.6
        # Those in dispute will be failed.
        rows.append((name, "claim:0", round(0.5 + (away if (value == "yes") == is_right else -away), 3)))
    return rows


@pytest.mark.usefixtures("worker")
def test_from_reasons_to_a_batch_for_people(world: World, model: Model, new_page: Callable[..., Page]) -> None:
    _settle(new_page(world.rita))
    admin = new_page(world.alice)
    reader = Judge.objects.get(name="reader")
    _align(admin, reader)
    dev = {name for name in settled_on_dev(world.criteria("support")[0]) if name.startswith("s90")}
    assert dev, "of the decisions some are on dev"
    assert any(REASON in prompt for prompt in model.prompts)
    _edit_a_rule(admin)
    _try(admin)
    version = reader.versions.get(state="kept", number=2)
    assert EDITED in version.config["rules"]
    _run(admin, reader)
    _certify(admin)
    assert Certificate.objects.get().look.version == version
    cascade = _use_two(admin)
    _run(admin, cascade)
    left = Score.objects.filter(version__judge=cascade).exclude(status=ScoreStatus.OK)
    names = set(left.values_list("sample__external_id", flat=True))
    assert names
    _send_to_people(admin, cascade)
    batch = Batch.objects.latest("pk")
    assert batch.status == "draft"
    chosen = set(BatchSample.objects.filter(batch=batch).values_list("sample__external_id", flat=True))
    assert names >= chosen
    assert chosen


def _settle(page: Page) -> None:
    """Each dispute with a reason."""
    page.goto("/p/desk/adjudicate/")
    page.keyboard.press("s")
    for _ in range(DISPUTED):
        page.locator("textarea[name=reason]").wait_for()
        page.wait_for_load_state()
        shown = page.url
        page.keyboard.press("2")
        page.keyboard.type(REASON)
        page.keyboard.press("Control+Enter")
        page.wait_for_url(lambda url, shown=shown: url != shown)
    page.locator(".callout-success", has_text="Decided.").wait_for()
    assert Verdict.objects.filter(method="adjudicated", value="no", reason=REASON).count() == DISPUTED


def _align(page: Page, judge: Judge) -> None:
    page.goto(f"/p/desk/judges/{judge.pk}/")
    page.get_by_role("link", name="Align", exact=True).click()
    page.locator("[name=seed]").fill("5")
    page.get_by_role("button", name="Start aligning").click()
    page.get_by_role("heading", name="Improvement shown on the dev set").wait_for(timeout=120_000)
    assert Alignment.objects.get().result["gain"]["low"] > 0


def _edit_a_rule(page: Page) -> None:
    form = page.locator("form.card", has_text="Rule ").filter(has=page.locator("textarea", has_text="names a date"))
    form.locator("textarea").fill(EDITED)
    form.get_by_role("button", name="Save and accept").click()
    page.get_by_text("Rule accepted.").wait_for()


def _try(page: Page) -> None:
    page.locator("[name=samples]").fill("40")
    page.get_by_role("button", name="Start trial").click()
    page.get_by_role("button", name="Activate").click()
    page.get_by_role("link", name="Run on the rest").wait_for()


def _run(page: Page, judge: Judge) -> None:
    page.goto(f"/p/desk/judges/{judge.pk}/")
    page.get_by_role("link", name="Run …").click()
    page.get_by_role("button", name="Start run").click()
    page.wait_for_selector("h1 .badge:has-text('Done')")


def _certify(page: Page) -> None:
    page.goto("/p/desk/reports/support/")
    page.get_by_role("button", name="Create it now").click()
    page.locator("table.judge-rows").get_by_role("link", name="reader").click()
    page.get_by_role("link", name="Evaluate on the test set…").click()
    page.get_by_role("button", name="Run test evaluation 1").click()
    page.get_by_role("button", name="Certify").click()
    page.get_by_text("Certificate 1", exact=True).first.wait_for()


def _use_two(page: Page) -> Judge:
    page.goto("/p/desk/reports/support/cascades/?agreement=0.9")
    page.get_by_role("link", name="Evaluate overlap, then reader").click()
    page.get_by_role("button", name="Run test evaluation 2").click()
    page.locator("[name=name]").fill("overlap-then-reader")
    page.get_by_role("button", name="Create judge").click()
    page.get_by_text("Judge created.").wait_for()
    assert CascadeLook.objects.get().number == 2
    return Judge.objects.get(name="overlap-then-reader")


def _send_to_people(page: Page, judge: Judge) -> None:
    page.goto(f"/p/desk/judges/{judge.pk}/")
    page.get_by_role("link", name="Left to people").click()
    for name in ("ann", "ben"):
        page.get_by_label(name, exact=False).first.check()
    page.get_by_role("button", name="Create a batch").first.click()
    page.get_by_text("is a draft").first.wait_for()
