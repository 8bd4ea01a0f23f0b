"""The page that says how labels came, where an admin gives a word on those made elsewhere; and the batch's own page."""

from __future__ import annotations

import pytest

from annotate.models import DeclaredDraw, Project, User
from annotate.projects.read import one_criterion
from tests.annotate.factories import make_batch
from tests.clients import as_user
from tests.frontend.building import make_samples
from tests.frontend.conftest import Staff
from tests.judges.building import add_labels

URL = "/p/help/reports/relevance/labels/"


@pytest.fixture
def labelled(project: Project) -> Project:
    samples = {sample.external_id: sample for sample in make_samples(project, 3)}
    add_labels(one_criterion(project, "relevance"), samples, [(name, "context:0", "Al", 2) for name in samples])
    return project


def test_an_admin_says_how_they_came_and_the_page_names_who(labelled: Project, alice: User) -> None:
    client = as_user(alice)
    page = client.get(URL)
    assert "3 of them labelled elsewhere, and how these were chosen is not known" in page.content.decode()
    refused = client.post(URL, {"how": "random", "population": "2"})
    assert refused.status_code == 422
    assert "at least the 3 samples with imported labels" in refused.content.decode()
    assert not DeclaredDraw.objects.exists()
    said = client.post(URL, {"how": "random", "population": "30"}, follow=True)
    assert f"3: drawn at random, declared by {alice.name} on " in said.content.decode()
    declared = DeclaredDraw.objects.get()
    assert (declared.how, declared.labelled, declared.population) == ("random", 3, 30)
    client.post(URL, {"how": "unknown"})
    assert not DeclaredDraw.objects.exists()


def test_there_is_nothing_to_say_where_all_was_labelled_here(project: Project, alice: User) -> None:
    make_samples(project, 2)
    assert as_user(alice).get(URL).context["form"] is None


def test_a_batch_says_whether_its_labels_count(project: Project, staff: Staff, alice: User) -> None:
    make_samples(project, 3)
    drawn = make_batch(project, [staff.ben])
    chosen = make_batch(project, [staff.ben], selection={"method": "list", "samples": ["s1"], "came": "flagged"})
    pages = {one: as_user(alice).get(f"/p/help/batches/{one.number}/").content.decode() for one in (drawn, chosen)}
    assert "Randomly drawn: counted." in pages[drawn]
    assert "Selected: not counted. Flagged." in pages[chosen]
