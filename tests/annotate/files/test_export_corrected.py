"""What annotators corrected the answer to leaves beside the samples and the ground truth, and becomes the reference of
another project's samples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from annotate.core.errors import Conflict, Invalid
from annotate.files.releases import hand_out, make_release
from annotate.models import Batch, Release, Sample, Task
from annotate.projects.criteria import add_criteria
from annotate.tasks.labelling import submit_task
from annotate.tasks.write import reopen_task
from tests.annotate.factories import World, label_all, make_sample, rewriting_history, say
from tests.annotate.files.test_export_texts import rows_of
from tests.annotate.projects.test_corrected_answer import KEY

FIRST, LATER = "It opens at ten.", "=It closes at six,\r\nsays “the door”. 六点"


def submitted(batch: Batch, user: Any, sample: Sample, text: str | None, *, at: str) -> Task:
    task = batch.tasks.get(annotator=user, sample=sample)
    label_all(task)
    if text is not None:
        say(user, task, "answer", KEY, text)
    submit_task(actor=user, task_id=task.pk)
    with rewriting_history():
        Task.objects.filter(pk=task.pk).update(submitted_at=at)
    return task


@pytest.fixture
def corrected(world: World) -> World:
    """Of three samples the first was corrected twice, the second never, the third in a task that is still open."""
    add_criteria(project=world.project, specs=[KEY])
    one, two, three = (make_sample(world.project, n, reference=f"Reference {n}.") for n in (1, 2, 3))
    batch = world.batch(criteria=("grade", KEY), annotators=[world.ann, world.ben, world.chen], overlap=3)
    # Ben submitted before Ann, though she wrote first; Chen left the answer as it was, after both.
    submitted(batch, world.ann, one, LATER, at="2026-03-02T12:00Z")
    submitted(batch, world.ben, one, FIRST, at="2026-03-01T12:00Z")
    submitted(batch, world.chen, one, None, at="2026-03-03T12:00Z")
    for user in world.annotators:
        submitted(batch, user, two, None, at="2026-03-01T12:00Z")
    say(world.ann, batch.tasks.get(annotator=world.ann, sample=three), "answer", KEY, "Not submitted.")
    return world


def release(world: World, file_format: str = "jsonl", **filters: Any) -> Release:
    return make_release(project=world.project, user=None, file_format=file_format, filters=filters)


def texts_of(rows: list[dict[str, Any]], column: str = "corrected_answer") -> list[str | None]:
    """In CSV nothing is an empty cell, and a formula has a mark in front."""
    return [row[column].removeprefix("'") if row[column] else None for row in rows]


@pytest.mark.parametrize("file_format", ["jsonl", "csv", "parquet", "ragas"])
def test_samples_leave_with_the_correction_submitted_last(corrected: World, file_format: str) -> None:
    rows = rows_of(release(corrected, file_format, rows="samples"))
    assert texts_of(rows) == [LATER, None, None]
    assert texts_of(rows, "reference") == ["Reference 1.", "Reference 2.", "Reference 3."]


def test_in_the_place_of_the_reference_where_there_is_one(corrected: World) -> None:
    rows = rows_of(release(corrected, "ragas", rows="samples", reference="corrected"))
    assert texts_of(rows, "reference") == [LATER, "Reference 2.", "Reference 3."]
    made = release(corrected, "deepeval", rows="samples", reference="corrected")
    with hand_out(made, actor=corrected.alice) as file:
        listed = json.load(file)
    assert [row["expected_output"] for row in listed] == [LATER, "Reference 2.", "Reference 3."]
    assert made.manifest["filters"] == {"rows": "samples", "reference": "corrected"}
    assert Sample.objects.get(external_id="s1").reference == "Reference 1."


@pytest.mark.parametrize("file_format", ["jsonl", "csv", "parquet"])
def test_ground_truth_names_who_corrected_and_when(corrected: World, file_format: str) -> None:
    rows = rows_of(release(corrected, file_format))
    assert texts_of(rows) == [LATER, None]
    assert (rows[0]["corrected_by"], str(rows[0]["corrected_at"])[:10]) == ("ann", "2026-03-02")
    assert not rows[1]["corrected_by"]
    assert not rows[1]["corrected_at"]
    numbered = rows_of(release(corrected, file_format, annotators="numbered"))
    assert numbered[0]["corrected_by"].startswith("annotator_")


def test_samples_with_verdicts_for_evaluation_libraries_have_it(corrected: World) -> None:
    assert texts_of(rows_of(release(corrected, "ragas"))) == [LATER, None]
    with hand_out(release(corrected, "deepeval"), actor=corrected.alice) as file:
        assert texts_of(json.load(file)) == [LATER, None]


def test_a_file_of_other_criteria_has_no_such_column(corrected: World) -> None:
    assert "corrected_answer" not in rows_of(release(corrected, criteria=["grade"]))[0]
    assert texts_of(rows_of(release(corrected, criteria=["grade", KEY]))) == [LATER, None]


def test_a_project_that_asks_for_none_has_the_files_of_before(world: World) -> None:
    make_sample(world.project)
    assert "corrected_answer" not in rows_of(release(world, rows="samples"))[0]
    with pytest.raises(Invalid, match="No criterion"):
        release(world, rows="samples", reference="corrected")


@pytest.mark.parametrize(
    "filters", [{"reference": "corrected"}, {"rows": "texts", "reference": "corrected"},
                {"rows": "samples", "reference": "latest"}, {"rows": "samples", "reference": ["corrected"]}],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(corrected: World, filters: dict[str, Any]) -> None:
    with pytest.raises(Invalid) as refused:
        release(corrected, **filters)
    assert refused.value.code == "bad_filters"
    assert not Release.objects.exists()


def test_a_correction_taken_back_leaves_the_one_before(corrected: World) -> None:
    task = Task.objects.get(annotator=corrected.ann, sample__external_id="s1")
    reopen_task(actor=corrected.ann, task_id=task.pk)
    assert texts_of(rows_of(release(corrected, rows="samples")))[0] == FIRST
    say(corrected.ann, task, "answer", KEY, None, seen=1)
    submit_task(actor=corrected.ann, task_id=task.pk)
    assert texts_of(rows_of(release(corrected, rows="samples")))[0] == FIRST


def test_who_still_has_a_sample_to_label_reads_no_correction_of_it(corrected: World) -> None:
    made = release(corrected, rows="samples")
    hand_out(made, actor=corrected.rita).close()
    corrected.batch(criteria=("grade", KEY), annotators=[corrected.rita], overlap=1)
    with pytest.raises(Conflict) as refused:
        hand_out(made, actor=corrected.rita)
    assert refused.value.code == "still_to_label"


def imported(world: World, made: Release, path: Path, slug: str, *mapping: str) -> None:
    with hand_out(made, actor=world.alice) as file:
        path.write_bytes(file.read())
    call_command("import_samples", slug, str(path), *mapping)


@pytest.mark.parametrize("file_format", ["jsonl", "csv", "parquet"])
def test_samples_come_in_again_unchanged(
    corrected: World, file_format: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"again.{file_format}"
    imported(corrected, release(corrected, file_format, rows="samples"), path, "next-door")
    before = list(Sample.objects.filter(project=corrected.other).order_by("pk").values())
    assert [one["metadata"] for one in before] == [{}, {}, {}]
    imported(corrected, release(corrected, file_format, rows="samples"), path, "next-door")
    assert "unchanged 3" in capsys.readouterr().out
    assert list(Sample.objects.filter(project=corrected.other).order_by("pk").values()) == before


@pytest.mark.parametrize("file_format", ["jsonl", "csv", "parquet"])
def test_corrections_become_references_of_another_project(corrected: World, file_format: str, tmp_path: Path) -> None:
    made = release(corrected, file_format, rows="samples", reference="corrected")
    imported(corrected, made, tmp_path / f"references.{file_format}", "next-door")
    found = Sample.objects.filter(project=corrected.other).order_by("external_id").values_list("reference", flat=True)
    assert list(found) == [LATER, "Reference 2.", "Reference 3."]


def test_a_mapping_takes_the_column_alone(corrected: World, tmp_path: Path) -> None:
    mapping = ("--map", "corrected_answer=reference", "--map", "reference=ignore")
    imported(corrected, release(corrected, rows="samples"), tmp_path / "mapped.jsonl", "next-door", *mapping)
    found = Sample.objects.filter(project=corrected.other).order_by("external_id").values_list("reference", flat=True)
    assert list(found) == [LATER, None, None]


def test_the_command_writes_them(corrected: World, tmp_path: Path) -> None:
    out = tmp_path / "references.jsonl"
    call_command("export", "desk", format="jsonl", out=out, samples=True, reference="corrected")
    assert json.loads(out.read_text(encoding="utf-8").splitlines()[0])["reference"] == LATER


def test_what_was_metadata_before_is_still_found_unchanged(
    corrected: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "before.jsonl"
    path.write_text(json.dumps({"id": "b1", "question": "q", "corrected_answer": "Kept."}), encoding="utf-8")
    call_command("import_samples", "next-door", str(path), "--map", "corrected_answer=metadata")
    assert Sample.objects.get(external_id="b1").metadata == {"corrected_answer": "Kept."}
    call_command("import_samples", "next-door", str(path))
    assert "unchanged 1" in capsys.readouterr().out
