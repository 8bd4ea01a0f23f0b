"""The pages of retrieval: versions side by side, over a key of their configuration, and question by question."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from systems.models import SystemVersion
from tests.annotate.factories import World
from tests.clients import as_user
from tests.systems.building import command, freeze, import_questions
from tests.systems.retrieval.building import RETRIEVED, Write, import_run, import_truth

PATH = "/p/desk/systems/sets/support/1/retrieval/"


@pytest.fixture
def judged(world: World, write: Write) -> World:
    import_truth(write)
    import_run(write)
    import_run(write, "v8", {**RETRIEVED, "q3": ["x"]})
    return world


def read(client: Client, path: str, status: int = 200) -> str:
    reply = client.get(path)
    assert reply.status_code == status, path
    return reply.content.decode()


def cells(page: str, version: str) -> list[str]:
    """The figures in a version's row, without intervals."""
    (row,) = [row for row in re.findall(r"<tr>.*?</tr>", page, re.DOTALL) if f"<bdi>{version}</bdi></a>" in row]
    return [re.sub(r"<[^>]*>", " ", cell).split()[0] for cell in re.findall(r"<td class=\"num\">(.*?)</td>", row)]


def test_known_answers_stand_on_the_page(judged: World) -> None:
    page = read(as_user(judged.rita), PATH + "?k=5&rel=1")
    assert cells(page, "v7") == ["55%", "0.33", "0.50", "0.67", "0.67", "0.43", "0.50", "0.39"]
    assert re.findall(r"<bdi>(v\d)</bdi></a>", page) == ["v8", "v7"]
    assert "P@5" in page
    assert cells(read(as_user(judged.rita), PATH + "?k=1"), "v7")[1] == "0.67"
    assert cells(read(as_user(judged.rita), PATH + "?rel=3"), "v7")[2] == "0.50"
    wrong = read(as_user(judged.rita), PATH + "?k=0&metric=x")
    assert cells(wrong, "v7")[1] == "0.33"


def test_only_members_of_the_staff_read_it(judged: World) -> None:
    version = SystemVersion.objects.get(name="v7")
    for path in (PATH, f"{PATH}{version.pk}/"):
        read(as_user(judged.charlie), path, 404)
        read(as_user(judged.ann), path, 403)
        read(as_user(judged.rita), path)
        read(as_user(judged.dora), path.replace("desk", "next-door"), 404)
        assert Client().get(path).status_code == 302
    read(as_user(judged.rita), PATH.replace("/1/", "/2/"), 404)
    read(as_user(judged.rita), f"{PATH}0/", 404)
    assert "Import rankings" in read(as_user(judged.alice), PATH)
    assert "Import rankings" not in read(as_user(judged.rita), PATH)


def test_a_key_in_which_versions_differ_has_a_curve(judged: World) -> None:
    assert "By configuration" not in read(as_user(judged.rita), PATH)
    for name, configuration in (
        ("v7", {"top_k": 20, "model": "m", "retriever": "bm25"}),
        ("v8", {"top_k": 5, "model": "m", "retriever": "dense"}),
    ):
        SystemVersion.objects.filter(name=name).update(configuration=configuration)
    page = read(as_user(judged.rita), PATH + "?by=top_k&metric=R")
    chart = page[page.index("By configuration") :]
    # By number, not by its digits; with a line between.
    assert re.findall(r'class="value-label"[^>]*>([^<]*)<', chart) == ["5", "20"]
    assert chart.count('class="segment"') == 1
    assert re.findall(r"<option value=\"(\w+)\"", chart) == ["retriever", "top_k"]
    assert "0.83" in chart
    words = read(as_user(judged.rita), PATH + "?by=retriever")
    assert 'class="segment"' not in words[words.index("By configuration") :]


def test_questions_stand_with_what_was_found_and_what_was_missed(judged: World) -> None:
    version = SystemVersion.objects.get(name="v7")
    page = read(as_user(judged.rita), f"{PATH}{version.pk}/?metric=nDCG&k=4")
    places = [page.index(words) for words in ("restart the queue", "certificates renewed", "port does the service")]
    assert places == sorted(places)
    second = page[places[1] : places[2]]
    assert second.index("<bdi>b</bdi>") < second.index("<bdi>d</bdi>") < second.index("<bdi>zz</bdi>")
    assert "unjudged" in second
    missed = second[second.index("Relevant, but not among them") :]
    assert re.findall(r"<bdi>(\w+)</bdi>", missed) == ["c", "e"]


def test_what_a_version_lacks_is_said(judged: World, write: Write) -> None:
    rows = [
        {"question_id": "q1", "pipeline_version": "v9", "answer": "80.", "contexts": ["Some passage"]},
        {"question_id": "q2", "pipeline_version": "v6", "status": "failed"},
        {"question_id": "q1", "pipeline_version": "v6", "answer": "80.", "contexts": [{"id": "42", "text": "T"}]},
    ]
    command("import_samples", "desk", write("a.jsonl", rows))
    page = read(as_user(judged.rita), PATH)
    for told in ("1 failed request", "1 question not asked", "The contexts of “v9” have no document IDs."):
        assert told in page, told
    version = SystemVersion.objects.get(name="v9")
    assert "The contexts of “v9” have no document IDs." in read(as_user(judged.rita), f"{PATH}{version.pk}/")


def test_a_set_without_judgements_or_versions_says_what_to_do(world: World, write: Write) -> None:
    import_questions(write("q.jsonl", [{"id": "q1", "question": "Which port?"}]))
    freeze()
    assert "No relevance judgements yet" in read(as_user(world.alice), PATH)
    import_questions(write("q.jsonl", [{"id": "q1", "question": "Which port?", "relevant": ["d"]}]))
    freeze()
    assert "No version was asked these questions yet" in read(as_user(world.alice), PATH.replace("/1/", "/2/"))


def test_documents_that_are_cut_otherwise_have_no_curve_but_by_their_sources(judged: World) -> None:
    def read_with(**more: str) -> str:
        for name, size in (("v7", 200), ("v8", 500)):
            SystemVersion.objects.filter(name=name).update(configuration={"chunk_size": size, "top_k": size, **more})
        return read(as_user(judged.rita), PATH + "?by=chunk_size")

    page = read_with()
    assert "No curve" in page
    assert "retrieval-chart" not in page
    assert "retrieval-chart" in read_with(document_ids="source")
    read_with()
    # What has a curve is shown first.
    assert "retrieval-chart" in read(as_user(judged.rita), PATH)


def test_recall_at_5_has_its_band(judged: World) -> None:
    def bands(path: str) -> list[str]:
        return re.findall(r"(?:poor|fair|good|excellent)(?: to \w+)?", read(as_user(judged.rita), path))

    assert bands(PATH + "?k=5") == ["poor to excellent", "poor to excellent"]
    assert not bands(PATH + "?k=4")
