"""The files to begin with are imported as they are, from the page on which they are offered; and the page tells of
every column."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotate.files.import_engine import importer_for
from annotate.models import ImportJob, Label, Project, User
from annotate.projects.write import create_project
from frontend.data.columns import COLUMN_HELP, Help
from judges.models import Score
from tests.clients import as_user


@pytest.fixture
def shop(alice: User) -> Project:
    spec = {"name": "Shop", "criteria": ["support", "relevance"]}
    return create_project(slug="shop", spec=spec, created_by=alice)


@pytest.mark.parametrize("form", ["csv", "json"])
def test_the_templates_are_imported_as_they_are(shop: Project, alice: User, form: str) -> None:
    client = as_user(alice)
    page = client.get("/p/shop/import/").content.decode()
    for told in COLUMN_HELP:
        url = reverse("help", args=[getattr(told, form)])
        assert f'href="{url}"' in page
        file = client.get(url)
        assert file["Content-Disposition"] == f'attachment; filename="{told.kind}.{form}"'
        upload = SimpleUploadedFile(f"{told.kind}.{form}", file.content)
        preview = client.post("/p/shop/import/", {"kind": told.kind, "file": upload})
        job = ImportJob.objects.get(kind=told.kind)
        known = {column.name for column in told.columns}
        shown = client.get(preview["Location"]).context["form"]
        chosen = {f"column_{n}": shown[f"column_{n}"].initial for n, _column in enumerate(shown.columns)}
        assert set(chosen.values()) <= known | {"metadata"}
        client.post(preview["Location"], chosen)
        job.refresh_from_db()
        assert (job.status, job.errors) == ("done", [])
    counts = (shop.samples.count(), Label.objects.count(), Score.objects.count())
    assert counts == (2, 5, 3)
    assert not Score.objects.exclude(status="ok").exists()


@pytest.mark.parametrize("told", COLUMN_HELP, ids=lambda told: told.kind)
def test_every_column_is_told_of(told: Help) -> None:
    fields = importer_for(told.kind).fields
    assert {column.name for column in told.columns} == set(fields.spellings)
    assert [column.name for column in told.columns if column.required] == list(fields.required)


def test_the_columns_of_what_one_comes_for_are_open(shop: Project, alice: User) -> None:
    page = as_user(alice).get("/p/shop/import/?kind=labels").content.decode()
    assert page.count('<details class="more" open>') == 1
