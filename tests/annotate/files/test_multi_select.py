"""Selections leave as lists, and in tables of text as JSON lists; labels come in the same way, and become verdicts."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from django.core.management import CommandError, call_command

from annotate.files.releases import make_release, open_release
from annotate.labels.consensus import settle_imported
from annotate.models import Label, Release, Verdict
from annotate.projects.criteria import add_criteria
from annotate.tasks.labelling import submit_task
from tests.annotate.factories import World, make_sample, say
from tests.annotate.projects.test_multi_select import FAULTS

SAID = (["wrong", "値段, “x”"], ["wrong", "値段, “x”"], [])
SPEC = {**FAULTS, "options": [*FAULTS["options"], {"value": "値段, “x”"}]}


@pytest.fixture
def labelled(world: World) -> World:
    add_criteria(project=world.project, specs=[SPEC])
    make_sample(world.project)
    batch = world.batch(criteria=("faults",), annotators=[world.ann, world.ben, world.chen], overlap=3)
    for task, value in zip(batch.tasks.order_by("annotator__username"), SAID, strict=True):
        say(task.annotator, task, "answer", "faults", value)
        submit_task(actor=task.annotator, task_id=task.pk)
    return world


def rows_of(release: Release) -> list[dict[str, Any]]:
    with open_release(release) as file:
        if release.file_format == "parquet":
            return pq.read_table(file).to_pylist()
        if release.file_format == "csv":
            return list(csv.DictReader(file.read().decode().splitlines(keepends=True)))
        return [json.loads(line) for line in file]


@pytest.mark.parametrize("file_format", ["jsonl", "csv", "parquet"])
def test_verdicts_and_labels_leave_as_lists(labelled: World, file_format: str) -> None:
    filters = {"annotators": "named"}
    release = make_release(project=labelled.project, user=None, file_format=file_format, filters=filters)
    [row] = rows_of(release)
    as_text = file_format != "jsonl"

    def read(cell: Any) -> Any:
        return json.loads(cell) if as_text else cell

    assert read(row["value"]) == SAID[0]
    assert [read(row[f"{name}.value"]) for name in ("ann", "ben", "chen")] == list(SAID)
    votes = json.loads(row["votes"]) if file_format == "csv" else row["votes"]
    values = [vote["value"] for vote in votes]
    assert [json.loads(value) if file_format == "parquet" else value for value in values] == list(SAID)
    if file_format == "parquet":
        assert row["value_number"] is None
    assert release.manifest["agreement"] == {}, "it has no figures"
    assert release.manifest["criteria"][0]["scale"] == "multi"


@pytest.mark.parametrize("file_format", ["ragas", "deepeval"])
def test_formats_of_libraries_have_the_list(labelled: World, file_format: str) -> None:
    release = make_release(project=labelled.project, user=None, file_format=file_format)
    with open_release(release) as file:
        assert SAID[0] in [value for row in _rows(file.read()) for value in _values(row)]


def _rows(content: bytes) -> list[dict[str, Any]]:
    text = content.decode()
    return json.loads(text) if text.startswith("[") else [json.loads(line) for line in text.splitlines()]


def _values(found: Any) -> list[Any]:
    nested = found.values() if isinstance(found, dict) else ()
    return [found, *(value for one in nested for value in _values(one))]


def load(path: Path) -> str:
    out = io.StringIO()
    call_command("import_labels", "next-door", str(path), stdout=out)
    return out.getvalue()


@pytest.mark.parametrize("file_format", ["jsonl", "csv", "parquet"])
def test_labels_come_in_and_become_verdicts(labelled: World, tmp_path: Path, file_format: str) -> None:
    """What the columns of a release say of each person."""
    filters = {"annotators": "named"}
    release = make_release(project=labelled.project, user=None, file_format=file_format, filters=filters)
    [row] = rows_of(release)
    labels = [
        {"sample_id": "s1", "unit": "answer", "criterion": "faults", "rater": name, "value": row[f"{name}.value"]}
        for name in ("ann", "ben", "chen")
    ]
    path = tmp_path / f"labels.{file_format}"
    if file_format == "csv":
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, labels[0])
            writer.writeheader()
            writer.writerows(labels)
    elif file_format == "parquet":
        import pyarrow as pa

        pq.write_table(pa.Table.from_pylist(labels), path)
    else:
        path.write_text("".join(json.dumps(one) + "\n" for one in labels))
    [criterion] = add_criteria(project=labelled.other, specs=[SPEC])
    make_sample(labelled.other)
    assert "created 3, unchanged 0" in load(path)
    there = Label.objects.filter(sample__project=labelled.other).order_by("rater__name")
    assert [label.value for label in there] == list(SAID)
    assert "created 0, unchanged 3" in load(path)
    assert settle_imported(project=labelled.other, criterion=criterion, needed=3) == 1
    verdict = Verdict.objects.get(criterion=criterion)
    assert (verdict.state, verdict.method, verdict.value) == ("settled", "majority", SAID[0])


def test_a_parquet_column_of_lists_comes_in(labelled: World, tmp_path: Path) -> None:
    import pyarrow as pa

    add_criteria(project=labelled.other, specs=[SPEC])
    make_sample(labelled.other)
    row = {"sample_id": "s1", "unit": "answer", "criterion": "faults", "rater": "x", "value": ["tone", "wrong"]}
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "a.parquet")
    assert "created 1" in load(tmp_path / "a.parquet")
    assert Label.objects.get(sample__project=labelled.other).value == ["wrong", "tone"]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("wrong", "not a list"),
        (["wrong", "wrong"], "more than once"),
        (["x"], "not an option"),
        ([["wrong"]], "not an option"),
    ],
)
def test_what_is_no_selection_is_refused_with_its_row(
    labelled: World, tmp_path: Path, value: Any, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    add_criteria(project=labelled.other, specs=[SPEC])
    make_sample(labelled.other)
    row = {"sample_id": "s1", "unit": "answer", "criterion": "faults", "rater": "x", "value": value}
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(row) + "\n")
    with pytest.raises(CommandError):
        load(path)
    told = capsys.readouterr().err
    assert "row 1" in told
    assert said in told
    assert not Label.objects.filter(sample__project=labelled.other).exists()
