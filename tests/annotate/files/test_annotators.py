"""Columns per annotator: who said what, in each format, with or without their names, and back again."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from django.conf import settings as django_settings
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate.core.errors import Invalid
from annotate.files.releases import make_release, open_release
from annotate.models import Label, Rater, Release, Sample, Task
from annotate.models.batch import Purpose
from annotate.projects.write import create_project
from annotate.tasks.labelling import submit_task
from tests.annotate.factories import (
    GRADE,
    OPTIONAL,
    TRISTATE,
    World,
    help_with,
    label_all,
    make_sample,
    make_world,
    say,
)
from tests.database import copied_from_world

pytestmark = pytest.mark.django_db

EVIDENCE = [{"context": 0, "start": 0, "end": 14, "quote": "Open from nine"}]


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> World:
    """Ann and Ben label two samples, Chen nothing; an imported rater is among them, and Ann met a gold task."""
    world = make_world()
    for number in (1, 2):
        make_sample(world.project, number)
    Rater.objects.create(project=world.project, name="=imported")
    batch = world.batch(annotators=[world.ann, world.ben], criteria=("support", "grade"))
    for task in batch.tasks.select_related("annotator", "sample", "batch").order_by("sample_id", "annotator__username"):
        label_all(task)
        if task.annotator == world.ann:
            say(world.ann, task, "claim:0", "support", "no", seen=1, comment="-why?", evidence=EVIDENCE, active_ms=1500)
        else:
            say(world.ben, task, "answer", "grade", None, seen=1, cant_tell="nothing to go by")
        submit_task(actor=task.annotator, task_id=task.pk)
    gold = world.batch(annotators=[world.ann], criteria=("grade",), overlap=1).tasks.first()
    Task.objects.filter(pk=gold.pk).update(purpose=Purpose.GOLD)
    say(world.ann, gold, "answer", "grade", 1)
    submit_task(actor=world.ann, task_id=gold.pk)
    return world


world = copied_from_world()


def content(world: World, file_format: str, naming: str | None = "named", **filters: Any) -> bytes:
    chosen = {"include_disputed": True, "annotators": naming, **filters}
    release = make_release(project=world.project, user=None, file_format=file_format, filters=chosen)
    with open_release(release) as file:
        return file.read()


def lines(given: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in given.splitlines()]


def test_each_has_columns_with_what_they_said(world: World) -> None:
    first, _, answer = lines(content(world, "jsonl"))[:3]
    label = Label.objects.get(task__annotator=world.ann, sample__external_id="s1", unit="claim:0")
    assert label.task is not None

    assert {name.split(".")[0] for name in first if "." in name} == {"ann", "ben"}
    said = {name.removeprefix("ann."): value for name, value in first.items() if name.startswith("ann.")}
    assert said == {
        "value": "no",
        "cant_tell": None,
        "comment": "-why?",
        "evidence": EVIDENCE,
        "active_ms": 1500,
        "guideline_version": None,
        "after_answer": False,
        "revision": 2,
        "saved_at": _spelled(label.updated_at),
        "submitted_at": _spelled(label.task.submitted_at),
    }
    assert (first["ben.value"], first["ben.comment"], first["ben.active_ms"]) == ("yes", None, None)
    assert (answer["ann.value"], answer["ben.value"], answer["ben.cant_tell"]) == (4, None, "nothing to go by")


@pytest.mark.parametrize("file_format", ["jsonl", "csv", "parquet"])
def test_what_was_said_after_an_answer_is_marked(world: World, file_format: str) -> None:
    help_with(Task.objects.get(annotator=world.ann, sample__external_id="s1", purpose=Purpose.LABEL), world.rita)
    given = content(world, file_format)
    if file_format == "jsonl":
        rows = lines(given)
    elif file_format == "parquet":
        rows = pq.read_table(io.BytesIO(given)).to_pylist()
    else:
        rows = list(csv.DictReader(io.StringIO(given.decode())))
    marked = {
        (row["sample_id"], name) for row in rows for name in ("ann", "ben") if is_true(row[f"{name}.after_answer"])
    }
    assert marked == {("s1", "ann")}


def is_true(cell: Any) -> bool:
    return cell in (True, "true")


def _spelled(moment: Any) -> str:
    return str(moment.isoformat().replace("+00:00", "Z"))


def test_csv_and_parquet_say_the_same(world: World) -> None:
    expected = lines(content(world, "jsonl"))
    cells = list(csv.DictReader(io.StringIO(content(world, "csv").decode(), newline="")))
    typed = pq.read_table(io.BytesIO(content(world, "parquet"))).to_pylist()

    assert list(cells[0]) == list(expected[0])
    for told, cell, row in zip(expected, cells, typed, strict=True):
        assert cell["ann.value"] == str(told["ann.value"]) == row["ann.value"]
        assert cell["ben.saved_at"] == told["ben.saved_at"] == _spelled(row["ben.saved_at"])
        assert json.loads(cell["ann.evidence"] or "null") == told["ann.evidence"] == row["ann.evidence"]
    assert (cells[0]["ann.comment"], typed[0]["ann.comment"]) == ("'-why?", "-why?")
    assert [row["ann.value_number"] for row in typed[:3]] == [None, None, 4.0]


def test_numbers_name_no_annotator_and_stay(world: World) -> None:
    text = content(world, "jsonl", "numbered").decode()
    manifest = Release.objects.get().manifest

    assert not re.search(r"\b(ann|ben)\b", text)
    raters = list(world.project.raters.order_by("pk").values_list("name", flat=True))
    ann, ben, imported = (f"annotator_{raters.index(name) + 1}" for name in ("ann", "ben", "=imported"))
    first = lines(text.encode())[0]
    assert (first[f"{ann}.value"], first[f"{ben}.value"]) == ("no", "yes")
    assert first["votes"] == [{"rater": ann, "value": "no"}, {"rater": ben, "value": "yes"}]
    assert manifest["annotators"] == [ann, ben]
    assert manifest["agreement"]["support v1"]["raters"] == [ann, ben]

    # Another annotator joins: the numbers stay, and one who said nothing of what is exported has no columns.
    Label.objects.create(
        rater=Rater.objects.get(name="=imported"), sample=Sample.objects.get(external_id="s1"), unit="claim:0",
        criterion=world.criteria("support")[0], value="yes",
    )  # fmt: skip
    content(world, "csv", "numbered")
    assert Release.objects.get(number=2).manifest["annotators"] == [ann, ben, imported]
    content(world, "csv", "numbered", criteria=["grade"])
    assert Release.objects.get(number=3).manifest["annotators"] == [ann, ben]
    header = content(world, "csv").decode().splitlines()[0]
    assert "'=imported.value" in header.split(",")


def test_only_where_a_row_is_a_unit_and_only_when_asked(world: World) -> None:
    for file_format in ("ragas", "qrels"):
        with pytest.raises(Invalid, match="jsonl, csv, parquet"):
            content(world, file_format)
    assert "annotators" not in make_release(project=world.project, user=None, file_format="csv").manifest
    assert "ann.value" not in content(world, "csv", None).decode()


def test_two_batches_the_latest_value_counts(world: World) -> None:
    """As for the verdict: a later "can't tell" doesn't take the value back."""
    again = world.batch(annotators=[world.ann], criteria=("grade",), overlap=1)
    for task in again.tasks.select_related("annotator", "sample", "batch").order_by("sample_id"):
        if task.sample.external_id == "s1":
            say(world.ann, task, "answer", "grade", None, cant_tell="tired")
        else:
            say(world.ann, task, "answer", "grade", 2)
        submit_task(actor=world.ann, task_id=task.pk)
    rows = lines(content(world, "jsonl", include_single=True))
    said = [row["ann.value"] for row in rows if row["unit"] == "answer"]
    assert said == [4, 2]


def test_as_many_queries_however_many_samples(world: World) -> None:
    def asked() -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            content(world, "jsonl", criteria=["grade"])
        return len(queries)

    before = asked()
    for number in range(3, 8):
        sample = make_sample(world.project, number)
        for rater in world.project.raters.all():
            Label.objects.create(
                rater=rater, sample=sample, unit="answer", criterion=world.criteria("grade")[0], value=3
            )
    call_command("settle", "desk", "--criterion", "grade", "--needed", "2", stdout=io.StringIO())
    assert asked() == before


def test_the_way_back_is_as_documented(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(django_settings.BASE_DIR) / "docs" / "formats.md").read_text(encoding="utf-8")
    script = page.partition("To read such a file back")[2].split("```")[1]
    monkeypatch.chdir(tmp_path)
    Path("truth.jsonl").write_bytes(content(world, "jsonl"))
    exec(compile(script, "docs/formats.md", "exec"), {})
    other = create_project(slug="copy", spec={"name": "Copy", "criteria": [TRISTATE, GRADE, OPTIONAL]})
    for number in (1, 2):
        make_sample(other, number)
    call_command("import_labels", "copy", "labels.jsonl", stdout=io.StringIO())

    def told(project: Any) -> list[Any]:
        labels = Label.objects.filter(sample__project=project, value__isnull=False).exclude(task__purpose="gold")
        return sorted(
            labels.values_list(
                "sample__external_id", "unit", "criterion__key", "rater__name", "value", "comment", "evidence"
            ),
            key=repr,
        )

    assert told(other) == told(world.project)
    assert len(told(other)) == 10
