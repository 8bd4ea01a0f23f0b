"""A bad row names all that is wrong with it, and errors come in the order of the rows, whenever they were found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotate.files import import_engine as engine
from annotate.files.import_samples import SampleBuilder
from annotate.files.problems import Attempts, FileError, Problems, RowError
from annotate.models import Project

Write = Callable[..., Path]
Found = list[tuple[int | None, str | None, str]]

GOOD = {"id": "a", "question": "q", "answer": "One. Two."}
BAD: dict[str, tuple[Any, str, str]] = {
    "question": ("", "question", "missing"),
    "answer_b": (1, "answer_b", "type"),
    "reference": ({"a": 1}, "reference", "type"),
    "contexts": (["c", 7], "contexts[1]", "type"),
    "claims": ([{"text": "One.", "start": 1, "end": 5}], "claims[0]", "span"),
    "key_facts": ([None], "key_facts[0]", "type"),
    "entities": ([""], "entities[0]", "type"),
    "retrieved_doc_ids": ({}, "retrieved_doc_ids", "type"),
    "relevant_doc_ids": (["d", 1.5], "relevant_doc_ids[1]", "type"),
    "pipeline_version": (True, "pipeline_version", "type"),
    "group_key": ("", "group_key", "missing"),
    "metadata": ({"note": 1}, "note", "duplicate_key"),
    "id": ("x" * 600, "id", "too_long"),
}


def run(project: Project, kind: str, path: Path) -> engine.Outcome:
    return engine.run(project=project, kind=kind, path=path, file_name=path.name, mapping={})


def problems(project: Project, kind: str, path: Path) -> Found:
    outcome = run(project, kind, path)
    assert outcome.error_count == len(outcome.errors)
    return [(error["row"], error["field"], error["code"]) for error in outcome.errors]


# Samples


@pytest.mark.parametrize("field", BAD)
def test_looking_through_a_row_finds_what_building_it_refuses(field: str) -> None:
    builder = SampleBuilder(1, {}, typed=True)
    row = {**GOOD, "note": 2, field: BAD[field][0]}
    with pytest.raises(RowError) as refused:
        builder.build(row)
    attempt = Attempts()
    external_id = builder.look_through(row, attempt)
    assert [(error.field, error.code) for error in attempt.errors] == [BAD[field][1:]]
    assert (refused.value.field, refused.value.code) == BAD[field][1:]
    assert external_id == (None if field == "id" else "a")


def test_a_good_row_is_good_however_it_is_looked_at() -> None:
    attempt = Attempts()
    assert SampleBuilder(1, {}, typed=True).look_through(GOOD, attempt) == "a"
    assert attempt.errors == []


def test_every_bad_field_of_a_row_is_named(project: Project, write: Write) -> None:
    row = {**GOOD, "note": 2, **{field: value for field, (value, _, _) in BAD.items()}}
    rows = [GOOD, row, {"id": "b", "answer": 3, "contexts": 4, "claims": [1]}]
    found = problems(project, "samples", write("a.jsonl", rows))
    assert sorted(found[:-3]) == sorted((2, field, code) for _, field, code in BAD.values())
    # The claims of no answer are not looked at.
    assert found[-3:] == [(3, "question", "missing"), (3, "answer", "type"), (3, "contexts", "type")]


def test_bad_cells_of_csv(project: Project, write: Write) -> None:
    rows = [
        "id,question,answer,contexts,claims,metadata",
        'a,,x,"[1, 2]","[2]",{}',
        ',q,x,[nonsense],[1],"{""a"": }"',
    ]
    found = problems(project, "samples", write("a.csv", "\n".join(rows)))
    assert found == [
        (1, "question", "missing"),
        (1, "claims[0]", "type"),
        (1, "contexts[0]", "type"),
        (2, "contexts", "json"),
        (2, "metadata", "json"),
        (2, "claims[0]", "type"),
        (2, "id", "missing"),
    ]


def test_a_bad_row_still_has_its_id(project: Project, write: Write) -> None:
    rows = [{**GOOD, "contexts": 1}, {**GOOD, "question": None}, {**GOOD, "id": "é"}, {**GOOD, "id": "e\u0301"}]
    assert problems(project, "samples", write("a.jsonl", rows)) == [
        (1, "contexts", "type"),
        (2, "question", "missing"),
        (2, "id", "duplicate_id"),
        (4, "id", "id_twin"),
    ]


# Labels and scores


@pytest.fixture
def samples(project: Project, write: Write) -> None:
    rows = [{**GOOD, "contexts": ["c"], "claims": ["One.", "Two."]}, {**GOOD, "id": "split"}]
    assert run(project, "samples", write("s.jsonl", rows)).result["created"] == 2


def label(**changes: Any) -> dict[str, Any]:
    return {"sample_id": "a", "unit": "claim:0", "criterion": "support", "rater": "r", "value": "supported", **changes}


def test_every_problem_of_a_label(samples: None, project: Project, write: Write) -> None:
    evidence = [{"context": 9, "start": 0, "end": 1, "quote": "c"}]
    rows = [
        label(unit="context:0", value="great", rater="", comment=1, unit_text=2),
        label(sample_id="nobody", value=None),
        label(sample_id=None, unit="claim", criterion="nothing"),
        label(sample_id="split", unit="claim:1", unit_text="Two."),  # and nothing names claim:0
        label(unit="claim:7", evidence=evidence),
        label(),
        label(evidence=evidence),
    ]
    assert problems(project, "labels", write("l.jsonl", rows)) == [
        (1, "unit", "unit_kind"),
        (1, "value", "not_an_option"),
        (1, "unit_text", "type"),
        (1, "rater", "missing"),
        (1, "comment", "type"),
        (2, "value", "missing"),
        (2, "sample_id", "unknown_sample"),
        (3, "criterion", "unknown_criterion"),
        (3, "unit", "unknown_unit"),
        (3, "sample_id", "missing"),
        (4, "unit_text", "claim_gap"),
        (5, "unit", "unknown_unit"),
        (5, "evidence", "bad_evidence"),
        (7, "evidence", "bad_evidence"),
        (7, "rater", "duplicate"),
    ]


def score(**changes: Any) -> dict[str, Any]:
    return {"sample_id": "a", "unit": "claim:0", "criterion": "support", "judge": "j", "score": 0.5, **changes}


def test_every_problem_of_a_score(samples: None, project: Project, write: Write) -> None:
    rows = [
        score(unit="claimed", judge=None, score="good", rationale=1, repeat="x", version=[], higher_is_better=2),
        score(sample_id="nobody", criterion=5, status="great"),
        score(sample_id="nobody"),
    ]
    assert problems(project, "scores", write("j.jsonl", rows)) == [
        (1, "version", "type"),
        (1, "higher_is_better", "type"),
        (1, "judge", "missing"),
        (1, "unit", "unknown_unit"),
        (1, "rationale", "type"),
        (1, "score", "not_a_number"),
        (1, "repeat", "type"),
        (2, "criterion", "type"),
        (2, "status", "unknown_status"),
        (2, "sample_id", "unknown_sample"),
        (3, "sample_id", "unknown_sample"),
    ]


def test_a_wide_row_names_each_bad_metric_and_its_sample_once(samples: None, project: Project, write: Write) -> None:
    good = [{"sample_id": "a", "m": 1, "n": 0.5}] + [{"remark": "no sample"}] * 2000
    rows = [*good, {"sample_id": "split", "m": "x", "n": [1]}, {"sample_id": "nobody", "m": 1, "n": 0}]
    outcome = run(project, "scores", write("j.jsonl", rows))
    assert outcome.error_count == 2003
    assert {(error["field"], error["code"]) for error in outcome.errors} == {("sample_id", "missing")}
    found = problems(project, "scores", write("j.jsonl", [good[0], *[{"sample_id": "a"}] * 2000, *rows[-2:]]))
    assert found == [(2002, "m", "not_a_number"), (2002, "n", "not_a_number"), (2003, "sample_id", "unknown_sample")]


# The list


def test_errors_come_in_the_order_of_the_rows(project: Project, write: Write) -> None:
    assert run(project, "samples", write("a.jsonl", [GOOD])).errors == []
    lines = ['{"id": "b", "question": "q", "answer": 1}', '{"id": "a", "question": "Q", "answer": "x"}', "nonsense"]
    text = "\n".join([*lines, '{"id": "c", "question": "", "answer": "x"}'])
    assert problems(project, "samples", write("a.jsonl", text)) == [
        (1, "answer", "type"),
        (2, "id", "conflict"),
        (3, None, "json"),
        (4, "question", "missing"),
    ]


def test_the_first_hundred_are_those_of_the_first_rows() -> None:
    kept = Problems()
    kept.add(FileError("encoding", "At the end."))
    for row in (*range(300, 50, -2), *range(51, 301, 2)):
        for code in ("one", "two"):
            kept.add(RowError(code, "Wrong."), row)
    assert kept.total == 501
    assert [(problem["row"], problem["code"]) for problem in kept.first] == [
        (row, code) for row in range(51, 101) for code in ("one", "two")
    ]
