"""Multi-select on the pages: made by the form, shown in words, decided by a plain form."""

from __future__ import annotations

import pytest

from annotate.models import Criterion, Project, Sample, User, Verdict
from annotate.projects.criteria import add_criteria
from annotate.tasks.labelling import submit_task
from tests.annotate import factories
from tests.annotate.projects.test_multi_select import FAULTS
from tests.clients import as_user


@pytest.fixture
def verdict(project: Project, samples: list[Sample], ben: User, bea: User) -> Verdict:
    criteria = add_criteria(project=project, specs=[FAULTS])
    batch = factories.make_batch(project, [ben, bea], criteria=criteria, samples=["s0"], name="Faults")
    for task, value in zip(batch.tasks.order_by("annotator__username"), (["tone", "wrong"], []), strict=True):
        factories.say(task.annotator, task, "answer", "faults", value)
        submit_task(actor=task.annotator, task_id=task.pk)
    return Verdict.objects.get()


def test_the_form_makes_one(alice: User, project: Project) -> None:
    rows = {"option-TOTAL_FORMS": "2", "option-INITIAL_FORMS": "0"}
    for at, value in enumerate(("wrong", "missing")):
        # The column is hidden then; a browser sends what was ticked in it before.
        rows |= {f"option-{at}-value": value, f"option-{at}-label": value.title(), f"option-{at}-passes": "on"}
    given = {"key": "faults", "unit": "answer", "scale": "multi", "prompt": "What is wrong?", "required": "on"}
    reply = as_user(alice).post("/p/help/criteria/new/", {**given, **rows}, follow=True)
    assert reply.status_code == 200, reply.context["form"].errors
    made = Criterion.objects.get(key="faults")
    assert (made.scale, made.levels, made.passes) == ("multi", ["wrong", "missing"], [])
    page = as_user(alice).get("/p/help/criteria/").content.decode()
    assert "Multi-select: any number of options." in page


def test_pages_say_it_in_words(rita: User, verdict: Verdict) -> None:
    client = as_user(rita)
    dispute = client.get(f"/p/help/adjudicate/{verdict.pk}/").content.decode()
    assert "A fact is wrong, The tone, is off" in dispute
    assert "None of these" in dispute
    sample = client.get(f"/p/help/samples/{verdict.sample_id}/").content.decode()
    assert "wrong, tone" in sample
    assert "None of these" in sample
    queue = client.get("/p/help/adjudicate/").content.decode()
    assert "A fact is wrong, The tone, is off" in queue
    assert "[&#x27;" not in dispute + sample + queue, "no list as a program writes it"


def test_a_decision_by_the_plain_form(rita: User, verdict: Verdict) -> None:
    client, page = as_user(rita), f"/p/help/adjudicate/{verdict.pk}/"
    given = {"reason": "As the manual says.", "revision": str(verdict.revision)}
    for wrong in ({}, {"value": ["tone"], "none": "on"}):
        reply = client.post(page, {**given, **wrong})
        assert reply.status_code == 422
        assert "Select the options that apply, or “None of these”." in reply.content.decode()
    assert client.post(page, {**given, "value": ["other"]}).status_code == 422
    assert client.post(page, {**given, "value": ["tone", "missing"]}).status_code == 302
    verdict.refresh_from_db()
    assert (verdict.state, verdict.value) == ("settled", ["missing", "tone"])
    # It was decided since: what was chosen now stays chosen.
    stale = client.post(page, {**given, "value": ["wrong", "tone"], "reason": "Otherwise."})
    assert stale.status_code == 412
    chosen = [option["value"] for option in stale.context["options"] if option["chosen"]]
    assert chosen == ["wrong", "tone"]
    assert "Your choice, “<bdi>A fact is wrong, The tone, is off</bdi>”" in stale.content.decode()


def test_bulk_acceptance_and_the_trail_name_the_selection(
    alice: User, rita: User, ben: User, bea: User, project: Project, samples: list[Sample]
) -> None:
    criteria = add_criteria(project=project, specs=[FAULTS])
    people = [alice, bea, ben]
    batch = factories.make_batch(project, people, criteria=criteria, samples=["s0"], consensus="unanimous")
    for task, value in zip(batch.tasks.order_by("annotator__username"), ([], [], ["tone"]), strict=True):
        factories.say(task.annotator, task, "answer", "faults", value)
        submit_task(actor=task.annotator, task_id=task.pk)
    page = as_user(rita).get("/p/help/adjudicate/accept/?method=agreement&agreement=66&votes=2&criterion=faults")
    assert [(row.value, row.n) for row in page.context["preview"].by_value] == [([], 1)]
    assert "<bdi>None of these</bdi>" in page.content.decode()
    assert "None of these" in as_user(alice).get("/p/help/audit/").content.decode()


def test_judges_are_required_to_show_nothing(alice: User, verdict: Verdict) -> None:
    sent = {"measure": "kappa", "bar": "0.5", "risk": "0.1", "coverage": "0.9"}
    assert as_user(alice).post("/p/help/criteria/versions/faults/", sent).status_code == 200
    assert not verdict.criterion.project.requirements.exists()
