import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotate.api.files_serializers import ImportResult
from annotate.models import ImportJob, Project, User
from annotate.models.transfer import ImportStatus
from frontend.data import files
from tests.clients import as_user

CSV = b"q,reply,tier\nWhy?,Because.,gold\nHow?,<b>So</b>.,silver\n"


def send(client: Client, content: bytes, name: str = "answers.csv", kind: str = "samples") -> str:
    reply = client.post("/p/help/import/", {"kind": kind, "file": SimpleUploadedFile(name, content)})
    assert reply.status_code == 302, reply.context["form"].errors
    return reply.url


def test_upload_look_choose_import(alice: User, project: Project) -> None:
    client = as_user(alice)
    url = send(client, CSV)
    look = client.get(url)
    text = look.content.decode()
    assert "nothing imported yet" in text
    assert "&lt;b&gt;So&lt;/b&gt;." in text
    assert not project.samples.exists()
    columns = look.context["shown"].columns
    targets = {"q": "question", "reply": "answer", "tier": "metadata"}
    assert client.post(url, {f"column_{n}": targets[column] for n, column in enumerate(columns)}).url == url
    done = client.get(url).content.decode()
    assert "Rows read" in done
    assert list(project.samples.order_by("id").values_list("question", "answer", "metadata__tier")) == [
        ("Why?", "Because.", "gold"),
        ("How?", "<b>So</b>.", "silver"),
    ]


def test_two_columns_for_one_field_are_refused(alice: User, project: Project) -> None:
    client = as_user(alice)
    url = send(client, CSV)
    reply = client.post(url, {"column_0": "question", "column_1": "question", "column_2": "ignore"})
    assert reply.status_code == 422
    assert "are both mapped to “question”" in reply.content.decode()
    assert ImportJob.objects.get().status == ImportStatus.UPLOADED


def test_a_column_must_become_something_known(alice: User, project: Project) -> None:
    client = as_user(alice)
    reply = client.post(send(client, CSV), {"column_0": "password", "column_1": "answer"})
    assert reply.status_code == 422


def test_errors_are_listed_and_nothing_is_written(alice: User, project: Project) -> None:
    client = as_user(alice)
    good, bad = b'{"question": "q", "answer": "a", "contexts": []}\n', b'{"question": 3, "answer": "=1+1"}\n'
    url = send(client, good + bad * 120, "answers.jsonl")
    columns = client.get(url).context["shown"].columns
    client.post(url, {f"column_{n}": column for n, column in enumerate(columns)})
    text = client.get(url).content.decode()
    assert "Nothing was imported." in text
    assert "The first 100 of 120." in text
    assert not project.samples.exists()
    table = client.get(f"{url}errors.csv")
    assert table["Content-Type"].startswith("text/csv")
    assert len(table.content.decode().splitlines()) == 101


@pytest.mark.parametrize("content", [b"", b"\x00\x01\x02", b'{"question": ', b"PK\x03\x04", "q\n".encode("utf-16")])
def test_a_file_that_is_none_gets_a_sentence(content: bytes, alice: User, project: Project) -> None:
    client = as_user(alice)
    reply = client.post(
        "/p/help/import/", {"kind": "samples", "file": SimpleUploadedFile("x.jsonl", content)}, follow=True
    )
    assert reply.status_code in (200, 422)
    text = reply.content.decode()
    assert (
        "can’t be imported" in text
        or "can&#x27;t be imported" in text
        or "can't be imported" in text
        or "empty" in text
    )
    assert not project.samples.exists()


@pytest.mark.parametrize(
    ("content", "offered"),
    [
        (CSV, True),
        # No column for the question: another choice mends it.
        (b"words,reply\nWhy?,Because.\n", True),
        # Not in UTF-8 further down: no choice of columns helps.
        (b"question,answer\nWhy?,Because.\nHow?,\xff\n", False),
    ],
)
def test_importing_is_offered_where_it_can_work(content: bytes, offered: bool, alice: User, project: Project) -> None:
    client = as_user(alice)
    reply = client.get(send(client, content))
    assert ("</svg>Import</button>" in reply.content.decode()) == offered
    assert ("Fix the file and upload it again." in reply.content.decode()) != offered


def test_kind_and_file_are_required(alice: User, project: Project) -> None:
    client = as_user(alice)
    assert client.post("/p/help/import/", {"kind": "samples"}).status_code == 422
    file = SimpleUploadedFile("a.csv", CSV)
    assert client.post("/p/help/import/", {"kind": "everything", "file": file}).status_code == 422
    assert not ImportJob.objects.exists()


def test_progress_is_asked_for_until_the_end(alice: User, project: Project) -> None:
    client = as_user(alice)
    url = send(client, CSV)
    job = ImportJob.objects.get()
    ImportJob.objects.update(status=ImportStatus.WAITING)
    assert f'hx-get="{url}progress/"' in client.get(url).content.decode()
    running = client.get(f"{url}progress/")
    assert "HX-Refresh" not in running
    assert "hx-get" in running.content.decode()
    ImportJob.objects.update(status=ImportStatus.DONE, result={"rows": 2, "created": 2, "unchanged": 0})
    assert client.get(f"{url}progress/")["HX-Refresh"] == "true"
    assert job.project == project


def test_a_file_that_is_gone_is_said_to_be(alice: User, project: Project) -> None:
    client = as_user(alice)
    url = send(client, CSV)
    ImportJob.objects.update(stored_as="")
    reply = client.get(url)
    assert reply.status_code == 409
    assert "Upload it again" in reply.content.decode()


def test_an_import_of_another_project_is_not_found(alice: User, project: Project) -> None:
    from annotate.projects.write import create_project

    create_project(slug="other", spec={}, created_by=alice)
    client = as_user(alice)
    url = send(client, CSV)
    for path in ("", "progress/", "errors.csv"):
        assert client.get(url.replace("/help/", "/other/") + path).status_code == 404


def test_the_number_of_queries_does_not_grow(alice: User, project: Project) -> None:
    client = as_user(alice)
    send(client, CSV)
    with CaptureQueriesContext(connection) as few:
        client.get("/p/help/import/")
    for _ in range(5):
        send(client, CSV)
    with CaptureQueriesContext(connection) as many:
        client.get("/p/help/import/")
    assert len(many) == len(few)


def test_a_preview_shows_lists_as_lines_and_no_python(alice: User, project: Project) -> None:
    row = b'{"question": "q", "answer": "a", "contexts": [{"id": "d", "text": "One."}, "Two."], "meta": {"deep": true}}'
    page = as_user(alice).get(send(as_user(alice), row, "answers.jsonl")).content.decode()
    assert "<li><bdi>One.</bdi></li><li><bdi>Two.</bdi></li>" in page
    assert "<bdi>deep: true</bdi>" in page
    assert "[&#x27;" not in page
    assert "{&#x27;" not in page


def test_what_was_counted_has_words(alice: User, project: Project) -> None:
    client = as_user(alice)
    at = send(client, b'{"id": "g", "question": "q", "ground_truth": "r", "entities": ["e"]}', "gold.jsonl")
    client.post(at, {f"column_{n}": target for n, target in enumerate(["id", "question", "reference", "entities"])})
    done = client.get(at).content.decode()
    assert "Rows without an answer" in done
    assert "_" not in "".join(re.findall("<dt>(.*?)</dt>", done))
    # Every count that an import may have.
    assert set(files._COUNTED) == set(ImportResult().fields) - {"rows", "created", "unchanged", "set"}
