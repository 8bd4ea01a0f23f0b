"""Free text leaves in a release of its own, one row per label, and comes in again as labels."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from django.core.management import call_command

from annotate.core.errors import Conflict, Invalid
from annotate.files.releases import download_name, hand_out, make_release, open_release
from annotate.models import Label, Project, Release, Task
from annotate.projects.criteria import add_criteria
from annotate.tasks.labelling import submit_task
from tests.annotate.factories import World, help_with, label_all, make_sample, make_samples, say
from tests.annotate.projects.test_free_text import WORDS

SAID = ("Hours,\nand “prices” \\ 値段", "=1+1")


@pytest.fixture
def written(world: World) -> World:
    add_criteria(project=world.project, specs=[WORDS])
    make_sample(world.project)
    batch = world.batch(criteria=("grade", "missing"), annotators=[world.ann, world.ben])
    for task, words in zip(batch.tasks.order_by("annotator"), SAID, strict=True):
        say(task.annotator, task, "answer", "missing", words, comment="c")
        label_all(task)
        submit_task(actor=task.annotator, task_id=task.pk)
    return world


def texts(project: Project, file_format: str = "jsonl", **filters: Any) -> Release:
    return make_release(project=project, user=None, file_format=file_format, filters={"rows": "texts", **filters})


def rows_of(release: Release) -> list[dict[str, Any]]:
    with open_release(release) as file:
        if release.file_format == "parquet":
            return pq.read_table(file).to_pylist()
        if release.file_format == "csv":
            return list(csv.DictReader(file.read().decode().splitlines(keepends=True)))
        return [json.loads(line) for line in file]


@pytest.mark.parametrize("file_format", ["jsonl", "csv", "parquet"])
def test_each_row_is_what_one_person_wrote(written: World, file_format: str) -> None:
    release = texts(written.project, file_format)
    rows = rows_of(release)
    values = [row["value"].removeprefix("'") if file_format == "csv" else row["value"] for row in rows]
    assert (tuple(values), [row["rater"] for row in rows]) == (SAID, ["ann", "ben"])
    assert {(row["sample_id"], row["unit"], row["criterion"], row["comment"]) for row in rows} == {
        ("s1", "answer", "missing", "c")
    }
    manifest = release.manifest
    assert (manifest["rows"], manifest["samples"], manifest["verdicts"]) == (2, 1, 0)
    assert download_name(release) == f"desk-{release.number}-texts-{file_format}.{file_format}"


def test_words_given_after_an_answer_are_marked(written: World) -> None:
    help_with(Task.objects.get(annotator=written.ben), written.rita)
    assert [row["after_answer"] for row in rows_of(texts(written.project))] == [False, True]


def test_people_have_numbers_on_request(written: World) -> None:
    raters = [row["rater"] for row in rows_of(texts(written.project, annotators="numbered"))]
    assert len(set(raters)) == 2
    assert all(rater.startswith("annotator_") for rater in raters)


def test_ground_truth_has_none_of_it(written: World) -> None:
    release = make_release(project=written.project, user=None, file_format="jsonl")
    assert {row["criterion"] for row in rows_of(release)} == {"grade"}
    assert set(release.manifest["agreement"]) == {"grade v1"}


def load(path: Path) -> str:
    out = io.StringIO()
    call_command("import_labels", "next-door", str(path), stdout=out)
    return out.getvalue()


@pytest.mark.parametrize("file_format", ["jsonl", "csv", "parquet"])
def test_it_comes_in_again_as_labels(written: World, tmp_path: Path, file_format: str) -> None:
    path = tmp_path / f"texts.{file_format}"
    with open_release(texts(written.project, file_format)) as file:
        path.write_bytes(file.read())
    add_criteria(project=written.other, specs=[WORDS])
    make_sample(written.other)
    assert "created 2, unchanged 0" in load(path)
    labels = Label.objects.filter(sample__project=written.other).order_by("rater__name")
    assert tuple(label.value for label in labels) == SAID
    assert "created 0, unchanged 2" in load(path)


def test_nobody_reads_others_words_before_their_own_are_in(written: World) -> None:
    release = texts(written.project)
    hand_out(release, actor=written.rita).close()
    later = written.batch(criteria=("grade", "missing"), annotators=[written.rita], overlap=1)
    assert later.tasks.exists()
    with pytest.raises(Conflict) as refused:
        hand_out(release, actor=written.rita)
    assert refused.value.code == "still_to_label"


@pytest.mark.parametrize(
    ("file_format", "filters"),
    [("ragas", {}), ("qrels", {}), ("jsonl", {"include_disputed": True}), ("jsonl", {"methods": ["unanimous"]}),
     ("jsonl", {"rows": "words"})],
)  # fmt: skip
def test_what_makes_no_sense_of_texts_is_refused(written: World, file_format: str, filters: dict[str, Any]) -> None:
    with pytest.raises(Invalid) as refused:
        texts(written.project, file_format, **filters)
    assert refused.value.code == "bad_filters"
    assert not Release.objects.exists()


def test_no_words_no_file(world: World) -> None:
    make_samples(world.project, 1)
    with pytest.raises(Conflict, match="No free text"):
        texts(world.project)
