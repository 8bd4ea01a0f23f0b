"""What a report's page says that it rests on, its switch, and the ways to settle what is left out."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.utils.html import strip_tags

from annotate.models import Batch, Verdict
from annotate.verdicts.adjudication import approve
from judges.reports.write import freeze_report
from tests.annotate.factories import World, make_world
from tests.clients import as_user
from tests.judges.building import CLICKED, add_labels, add_samples, clicked_world

pytestmark = pytest.mark.django_db

URL = "/p/desk/reports/grade/"


@pytest.fixture
def world() -> World:
    world = make_world()
    clicked_world(world)
    return world


def words(html: bytes) -> str:
    return " ".join(unescape(strip_tags(html.decode())).split())


def text(world: World, url: str = URL) -> str:
    return words(as_user(world.alice).get(url).content)


def test_the_page_says_what_it_rests_on_and_shows_the_rest_on_request(world: World) -> None:
    (grade,) = world.criteria("grade")
    freeze_report(criterion=grade)
    page = text(world)
    assert "The figures rest on 90 resolved units" in page
    assert f"{CLICKED} units with one label each, not approved by a reviewer" in page
    assert "Kappa would be" in text(world, f"{URL}judge/")
    # Nothing is made by looking: the report with the rest is asked for.
    assert "No report with unresolved units yet" in text(world, f"{URL}?labels=all")
    freeze_report(criterion=grade, labels="all")
    page = text(world, f"{URL}?labels=all")
    assert f"The figures rest on {90 + CLICKED} units, resolved or not" in page
    assert "Not resolved, but counted here" in page
    # Every part of it stays with the rest.
    html = as_user(world.alice).get(f"{URL}?labels=all").content.decode()
    assert f"{URL}judge/?labels=all" in html
    assert "The figures rest on 90 resolved units" in text(world)


def test_every_page_with_labels_that_are_not_settled_says_so_and_leads_back(world: World) -> None:
    (grade,) = world.criteria("grade")
    freeze_report(criterion=grade, labels="all")
    warning, client = "Unresolved labels count too.", as_user(world.alice)
    assert warning in text(world, "/p/desk/reports/"), "there is no other report yet"
    freeze_report(criterion=grade)
    for part in ("", "judge/", "compare/"):
        html = unescape(client.get(f"{URL}{part}?version=1&labels=all").content.decode())
        assert warning in html
        assert f'href="{URL}{part}?version=1"' in html, "the same page with settled units"
        assert warning not in text(world, f"{URL}{part}")
    for part in ("annotators/", "triage/", "planner/", "outcomes/"):
        assert warning not in text(world, f"{URL}{part}?labels=all"), "these know settled units only"
    assert f'href="{URL}?version=1&labels=all"' in unescape(client.get(f"{URL}?version=1").content.decode())


def test_disagreements_are_walked_through_in_the_report_that_one_came_from(world: World) -> None:
    (grade,) = world.criteria("grade")
    freeze_report(criterion=grade)
    freeze_report(criterion=grade, labels="all")
    client = as_user(world.alice)
    page = unescape(client.get(f"{URL}judge/?labels=all").content.decode())
    links = re.findall(r'href="(/p/desk/samples/[^"]*disagreement=[^"]*)"', page)
    assert links
    for link in links:
        assert "labels=all" in link
        assert f"of {len(links)}" in text(world, link.partition("#")[0])


def test_an_admin_says_on_the_batch_that_one_label_is_enough_and_the_report_names_them(world: World) -> None:
    batch = Batch.objects.get()
    url = f"/p/desk/batches/{batch.number}/"
    assert f"{CLICKED} units have only one label" in text(world, url)
    client = as_user(world.alice)
    client.post(f"{url}count-single-labels/")
    assert "have only one label." not in text(world, url)
    assert "alice accepted single labels on" in text(world, url)
    freeze_report(criterion=world.criteria("grade")[0])
    page = text(world)
    assert f"{CLICKED} of them rest on one label each. alice decided on" in page
    assert "Left out until resolved" not in page
    client.post(f"{url}discount-single-labels/")
    assert f"{CLICKED} units have only one label" in text(world, url)
    # A reviewer doesn't decide that.
    assert as_user(world.rita).post(f"{url}count-single-labels/").status_code == 403


def test_a_reviewer_finds_them_and_a_release_leaves_them_out(world: World) -> None:
    queue = "/p/desk/adjudicate/?state=single&criterion=grade"
    assert "Units with only one label" in words(as_user(world.rita).get(queue).content)
    client = as_user(world.alice)
    client.post("/p/desk/export/", {"file_format": "jsonl"})
    assert not world.project.releases.exists()
    verdict = Verdict.objects.order_by("pk")[0]
    approve(reviewer=world.rita, project=world.project, verdict_id=verdict.pk, expected_revision=verdict.revision)
    client.post("/p/desk/export/", {"file_format": "jsonl"})
    manifest = world.project.releases.get().manifest
    assert (manifest["rows"], manifest["states"]["settled"], manifest["states"]["single"]) == (1, 1, CLICKED - 1)
    client.post("/p/desk/export/", {"file_format": "jsonl", "include_single": "on"})
    assert world.project.releases.order_by("-number")[0].manifest["rows"] == CLICKED


def test_of_labels_made_elsewhere_the_way_is_to_settle_them(world: World) -> None:
    (grade,) = world.criteria("grade")
    add_labels(grade, add_samples(world.project, ["x"]), [("x", "answer", "expert", 5)])
    freeze_report(criterion=grade)
    page = text(world)
    assert "1 unit with one imported label" in page
    assert "Create verdicts from imported labels" in page
