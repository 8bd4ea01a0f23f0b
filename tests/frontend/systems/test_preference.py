"""Answers side by side: drawn from the page of an experiment, and what it says of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from annotate.models import Batch
from annotate.projects.read import active_annotators
from tests.annotate.factories import World
from tests.clients import as_user
from tests.frontend.systems.test_experiments import text_of
from tests.frontend.systems.test_pages import read
from tests.systems.experiments.building import figures
from tests.systems.experiments.test_pairs import beside, pairs, prefer, the_other  # noqa: F401 - the same versions here

Write = Callable[..., Path]
E = "/p/desk/systems/experiments/v2-or-v1/"


def test_pairs_are_drawn_from_the_page_of_labels(pairs: World) -> None:  # noqa: F811
    client = as_user(pairs.alice)
    assert "which answer is better, v2 or v1" in text_of(read(client, f"{E}draw/"))
    people = [one.pk for one in active_annotators(pairs.project)]
    given = {"questions": 9, "annotators": people, "overlap": 2, "seed": 3, "ask": 1}
    drawn = client.post(f"{E}draw/", given)
    batch = Batch.objects.get()
    assert drawn["Location"] == f"/p/desk/batches/{batch.number}/"
    assert list(batch.criteria.values_list("key", flat=True)) == ["preference"]
    listed = read(client, "/p/desk/samples/")
    assert listed.count('<span class="badge">side by side</span>') == batch.samples.count()
    assert f"Have batch {batch.number} labelled" not in read(client, E)
    figures()
    assert f"Have batch {batch.number} labelled" in text_of(read(client, E))
    refused = client.post(f"{E}draw/", given | {"ask": 0, "both_orders": "on"})
    assert refused.status_code == 422
    assert "Only pairs of answers can be shown in both orders" in refused.content.decode()
    assert client.post(f"{E}draw/", given | {"ask": 2}).status_code == 422


def test_the_page_and_the_file_say_which_answers_are_preferred(pairs: World) -> None:  # noqa: F811
    client = as_user(pairs.alice)
    figures()
    assert "Side by side" not in read(client, E)
    prefer(beside(), lambda task: "tie" if task.sample.group_key in ("q4", "q5") else the_other(task))
    figures()
    for page in (read(client, E), client.get(f"{E[:-1]}.html").content.decode()):
        text = text_of(page)
        for shown in (
            "v2 preferred",
            "The answers of v2 are preferred more often.",
            "v2 preferred 15",
            "About the same 4",
            "v1 preferred 1",
            "Win rate of v2",
            "20 of 20 questions, drawn at random.",
        ):
            assert shown in text, shown
        assert "Not decided yet" not in text
