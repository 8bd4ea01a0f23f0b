"""The pages of systems: what they show and do, and for whom."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotate.core import walking
from annotate.models import ImportJob
from frontend.systems.sets import COLUMNS
from systems.models import FrozenSet, Question, Response, SystemVersion
from systems.questions.question_rows import QUESTION_FIELDS
from systems.responses import unlinked_read
from tests.annotate.factories import World, make_sample
from tests.clients import as_user
from tests.systems.building import command, freeze, import_questions

Write = Callable[..., Path]
P = "/p/desk/systems/"

QUESTIONS = [
    {"id": "q1", "question": "Which port?", "type": "simple", "category": "net", "relevant": {"d1": 2}},
    {"id": "q2", "question": "And TLS?", "type": "reasoning"},
]
ANSWERS = [
    {"question_id": "q1", "pipeline_version": "v7", "answer": "On 8000.", "latency_ms": 812, "cost": 0.0021},
    {"question_id": "q1", "pipeline_version": "v8", "answer": "PORT says it."},
    {"question_id": "q2", "pipeline_version": "v7", "status": "failed", "error": "timeout after 30 s"},
]


@pytest.fixture
def asked(world: World, write: Write) -> World:
    import_questions(write("q.jsonl", QUESTIONS))
    freeze()
    command("import_samples", "desk", write("a.jsonl", ANSWERS))
    import_questions(write("r.jsonl", [{"id": "q3", "question": "How fast?"}]))
    return world


def read(client: Client, path: str, status: int = 200) -> str:
    reply = client.get(path)
    assert reply.status_code == status, path
    return reply.content.decode()


def test_the_first_page_shows_what_is_there_and_what_to_do_next(asked: World) -> None:
    for number, version in enumerate(("v1", "v2"), start=1):
        make_sample(asked.project, number, question="Same?", pipeline_version=version)
    page = read(as_user(asked.alice), P)
    for shown in (
        "support@1",
        "1 added",
        "v7",
        "v8",
        "1 question was answered by several versions",
        "Import questions",
    ):
        assert shown in page, shown
    assert "Import questions" not in read(as_user(asked.rita), P)


def test_an_empty_project_is_told_how_to_begin(world: World) -> None:
    page = read(as_user(world.alice), P)
    for shown in ("No test sets yet", "No versions yet", f'href="{P}import/"'):
        assert shown in page, shown


def test_who_may_not_sees_nothing_of_it(asked: World) -> None:
    question, version = Question.objects.get(external_id="q1").pk, SystemVersion.objects.get(name="v7").pk
    paths = (
        "", "sets/support/", "sets/support/1/", f"questions/{question}/", f"versions/{version}/", "confirm/",
    )  # fmt: skip
    for path in paths:
        read(as_user(asked.charlie), P + path, 404)
        read(as_user(asked.ann), P + path, 403)
        read(as_user(asked.rita), P + path)
        assert Client().get(P + path).status_code == 302
    for path in ("import/", f"versions/{version}/edit/"):
        read(as_user(asked.rita), P + path, 403)
    for path in ("sets/support/freeze/", "confirm/"):
        assert as_user(asked.rita).post(P + path).status_code == 403
    for path in ("sets/none/", "sets/support/2/", "questions/0/", "versions/0/"):
        read(as_user(asked.alice), P + path, 404)
    # What is in one project is in no other.
    read(as_user(asked.dora), f"/p/next-door/systems/questions/{question}/", 404)
    read(as_user(asked.dora), f"/p/next-door/systems/versions/{version}/", 404)


def test_questions_are_imported_from_the_page(world: World) -> None:
    client = as_user(world.alice)
    file = SimpleUploadedFile("q.jsonl", b'{"id": "q1", "question": "Which port?", "lang": "en"}\n')
    wrong = client.post(P + "import/", {"set_name": "my set", "file": file})
    assert (wrong.status_code, ImportJob.objects.exists()) == (422, False)
    file.seek(0)
    kept = client.post(P + "import/", {"set_name": "support", "replace": "on", "file": file})
    preview = read(client, kept["Location"])
    assert "lang" in preview
    client.post(kept["Location"], {"column_0": "id", "column_1": "question", "column_2": "metadata"})
    job = ImportJob.objects.get()
    assert (job.status, job.options) == ("done", {"set": "support", "replace": True})
    assert "Added to the test set" in read(client, kept["Location"])
    assert Question.objects.get().revisions.get().metadata == {"lang": "en"}


def test_every_column_is_told_of() -> None:
    assert {column.name for column in COLUMNS} == set(QUESTION_FIELDS.spellings)
    assert [column.name for column in COLUMNS if column.required] == list(QUESTION_FIELDS.required)


def test_a_set_is_filtered_and_frozen(asked: World) -> None:
    client = as_user(asked.alice)
    page = read(client, P + "sets/support/")
    assert "Draft: changed since support@1" in page
    assert "Freeze as support@2" in page
    assert "Freeze as" not in read(as_user(asked.rita), P + "sets/support/")
    filtered = read(client, P + "sets/support/?kind=simple&category=net")
    assert "Which port?" in filtered
    assert "And TLS?" not in filtered
    done = client.post(P + "sets/support/freeze/", follow=True).content.decode()
    assert "support@2 is frozen." in done
    assert "Same as support@2" in done
    assert "Freeze as" not in done
    again = client.post(P + "sets/support/freeze/", follow=True).content.decode()
    assert "Nothing has changed: it is still support@2." in again
    frozen = read(client, P + "sets/support/2/")
    for shown in (FrozenSet.objects.get(number=2).sha256, "Changed since support@1", "q3", "Reasoning"):
        assert shown in frozen, shown
    assert "How fast?" not in read(client, P + "sets/support/1/")


def test_a_question_shows_its_revisions_and_what_each_version_answered(asked: World, write: Write) -> None:
    import_questions(write("r.jsonl", [{**QUESTIONS[0], "question": "Which port is it?"}]))
    page = read(as_user(asked.rita), f"{P}questions/{Question.objects.get(external_id='q1').pk}/")
    for shown in ("Which port is it?", "Revision 1", "Which port?", "On 8000.", "PORT says it.", "812 ms", "v7", "v8"):
        assert shown in page, shown
    assert page.count("asked as revision 1") == 2
    failed = read(as_user(asked.rita), f"{P}questions/{Question.objects.get(external_id='q2').pk}/")
    assert "timeout after 30 s" in failed
    unasked = read(as_user(asked.rita), f"{P}questions/{Question.objects.get(external_id='q3').pk}/")
    assert "No version has been asked this yet." in unasked


def test_who_still_has_an_answer_to_label_is_not_shown_whose_it_is(asked: World) -> None:
    """Nor that of another version, which would tell it."""
    asked.batch(
        criteria=["grade"], annotators=[asked.rita], overlap=1, selection={"method": "list", "samples": ["q1@v7"]}
    )
    path = f"{P}questions/{Question.objects.get(external_id='q1').pk}/"
    page = read(as_user(asked.rita), path)
    assert "2 answers are hidden until you have labelled this question." in page
    assert "On 8000." not in page
    assert "PORT says it." not in page
    assert "On 8000." in read(as_user(asked.alice), path)


def test_a_version_is_measured_and_described(asked: World) -> None:
    client, version = as_user(asked.alice), SystemVersion.objects.get(name="v7")
    page = read(client, f"{P}versions/{version.pk}/")
    for shown in ("812 ms", "0.0021", "1 / 2", "0 / 2", "Not known", "Not described yet."):
        assert shown in page, shown
    given: dict[str, Any] = {
        "configuration": "model = m\ntop_k = 5\nalpha = 0.5\nrerank = true",
        "commit": "abc",
        "tags": "nightly, rc",
        "price_input": "0.5",
        "is_baseline": "on",
    }
    refused = client.post(f"{P}versions/{version.pk}/edit/", {**given, "configuration": "model m"})
    assert (refused.status_code, "must be key = value" in refused.content.decode()) == (422, True)
    twice = client.post(f"{P}versions/{version.pk}/edit/", {**given, "tags": "a, a"})
    assert twice.status_code == 422
    client.post(f"{P}versions/{version.pk}/edit/", given)
    version.refresh_from_db()
    assert version.configuration == {"model": "m", "top_k": 5, "alpha": 0.5, "rerank": True}
    assert (version.commit, version.tags, version.price, version.is_baseline) == (
        "abc",
        ["nightly", "rc"],
        {"input": 0.5},
        True,
    )
    # Saved again as it is shown, it stays.
    form = client.get(f"{P}versions/{version.pk}/edit/").context["form"]
    before = SystemVersion.objects.filter(pk=version.pk).values().get()
    shown_as = {name: value for name, value in form.initial.items() if value is not None}
    assert client.post(f"{P}versions/{version.pk}/edit/", shown_as).status_code == 302
    assert SystemVersion.objects.filter(pk=version.pk).values().get() == before
    assert "Baseline" in read(client, P)


def test_questions_are_confirmed(world: World) -> None:
    for number, version in enumerate(("v1", "v2", "v2", "v1"), start=1):
        question = "Same?" if number < 4 else "Apart?"
        make_sample(world.project, number, question=question, pipeline_version=version)
    client = as_user(world.alice)
    page = read(client, P + "confirm/")
    assert "Same?" in page
    assert "2 times" in page
    assert "Apart?" not in page
    assert "no longer proposed" in client.post(P + "confirm/", {"key": "x"}, follow=True).content.decode()
    done = client.post(P + "confirm/", {"every": "on"}, follow=True).content.decode()
    assert "All questions confirmed." in done
    assert "Nothing to confirm" in done
    assert Response.objects.count() == 3


def test_in_a_large_project_they_are_looked_for_part_by_part(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, (version, question) in enumerate([("v1", "Alone?"), ("v1", "One?"), ("v2", "One?")], start=1):
        make_sample(world.project, number, question=question, pipeline_version=version)
    client = as_user(world.alice)
    assert "1 question was answered" in read(client, P)
    assert "Select the 1 question" in read(client, P + "confirm/")
    monkeypatch.setattr(unlinked_read, "STRETCH", 1)
    monkeypatch.setattr(walking, "SECONDS", -1)
    assert "Look for questions that several versions answered" in read(client, P)
    page = client.get(P + "confirm/")
    assert "No matches so far" in page.content.decode()
    page = client.get(f"{P}confirm/?{page.context['rows'].next}")
    assert "One?" in page.content.decode()
    assert "Select all questions that can be confirmed" in page.content.decode()
