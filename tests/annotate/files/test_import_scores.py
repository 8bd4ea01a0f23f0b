"""Judge scores, long and wide."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotate.files.import_engine import preview
from annotate.models import Project
from judges.models import Judge, JudgeVersion, Run, Score

Write = Callable[..., Path]


@pytest.fixture(autouse=True)
def samples(project: Project, write: Write) -> None:
    rows = [
        {"id": name, "question": f"q {name}", "answer": "One. Two.", "contexts": ["c"], "claims": ["One.", "Two."]}
        for name in ("a", "b")
    ]
    call_command("import_samples", "p", str(write("s.jsonl", rows)), stdout=io.StringIO())


def load(path: Path, *options: str) -> str:
    out = io.StringIO()
    call_command("import_scores", "p", str(path), *options, stdout=out)
    return out.getvalue()


def refused(path: Path) -> str:
    before, stderr = Score.objects.count(), io.StringIO()
    with pytest.raises(CommandError, match="Nothing was imported"):
        call_command("import_scores", "p", str(path), stderr=stderr)
    assert Score.objects.count() == before
    return stderr.getvalue()


def row(**changes: Any) -> dict[str, Any]:
    return {"sample_id": "a", "unit": "claim:0", "criterion": "support", "judge": "j", "score": 0.5, **changes}


def test_long(write: Write) -> None:
    rows = [
        row(rationale="because\n"),
        row(unit="claim:1", score="not in context"),
        {"sample_id": "b", "dimension": "overall", "judge": "j", "score": 1},
        {"sample_id": "b", "judge": "k", "score": None},
        row(judge="k", score=0, status="Timed out"),
        row(judge="k", score=True, repeat=1),
    ]
    assert "rows 6, created 6, unchanged 0, missing_scores 2, judges 2" in load(write("j.jsonl", rows))

    found = Score.objects.order_by("pk").values_list("unit", "dimension", "status", "number", "label", "repeat")
    assert list(found) == [
        ("claim:0", "support", "ok", 0.5, None, 0),
        ("claim:1", "support", "ok", None, "not in context", 0),
        ("answer", "overall", "ok", 1.0, None, 0),
        ("answer", "overall", "error", None, None, 0),
        ("claim:0", "support", "timeout", None, None, 0),
        ("claim:0", "support", "ok", 1.0, None, 1),
    ]
    assert Run.objects.count() == 2
    assert set(JudgeVersion.objects.values_list("label", flat=True)) == {"1"}


def test_wide_as_evaluation_libraries_print_it(write: Write) -> None:
    table = (
        "user_input,response,retrieved_contexts,reference,faithfulness,answer_relevancy,remark\n"
        "q a,One. Two.,['c'],r,0.25,nan,fine\n"
        "q b,One. Two.,['c'],r,1.0,0.5,\n"
    )
    assert "created 4, unchanged 0, missing_scores 1, judges 2" in load(write("j.csv", table))

    found = Score.objects.values_list("version__judge__name", "sample__external_id", "dimension", "number")
    assert set(found) == {
        ("faithfulness", "a", "overall", 0.25),
        ("faithfulness", "b", "overall", 1.0),
        ("answer_relevancy", "a", "overall", None),
        ("answer_relevancy", "b", "overall", 0.5),
    }


def test_wide_by_id_with_a_choice(write: Write, project: Project) -> None:
    path = write("j.csv", "sample_id,faithfulness,tokens\na,0.5,120\nb,1,80\n")
    guess = preview(project=project, kind="scores", path=path, file_name="j.csv", mapping={}).mapping
    assert guess == {"sample_id": "sample_id", "faithfulness": "score", "tokens": "score"}

    load(path, "--map", "tokens=ignore")

    assert list(Judge.objects.values_list("name", flat=True)) == ["faithfulness"]


def test_ambiguous_question_and_answer(write: Write) -> None:
    twin = {"id": "twin", "question": "q a", "answer": "One. Two."}
    call_command("import_samples", "p", str(write("t.jsonl", [twin])), stdout=io.StringIO())

    assert "ambiguous_sample" in refused(write("j.csv", "question,answer,m\nq a,One. Two.,1\n"))
    assert "unknown_sample" in refused(write("j.csv", "question,answer,m\nq z,One. Two.,1\n"))


def test_again_changes_nothing_and_another_score_needs_a_version(write: Write) -> None:
    path = write("j.jsonl", [row(), row(unit="claim:1", score=None)])
    load(path)
    assert "created 0, unchanged 2" in load(path)
    assert Run.objects.count() == 1

    assert "field score: conflict: " in refused(write("k.jsonl", [row(score=0.6)]))
    load(write("k.jsonl", [row(score=0.6, version="2026-03")]))
    assert list(JudgeVersion.objects.values_list("number", "label")) == [(1, "1"), (2, "2026-03")]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"sample_id": "z"}, "unknown_sample"),
        ({"unit": "claim:9"}, "unknown_unit"),
        ({"unit": None}, "missing"),
        ({"judge": None}, "missing"),
        ({"judge": "x" * 300}, "too_long"),
        ({"score": "good"}, "not_a_number"),
        ({"score": "inf"}, "not_a_number"),
        ({"score": 1e101}, "not_a_number"),
        ({"score": "-1e101"}, "not_a_number"),
        ({"score": [1]}, "not_a_number"),
        ({"score": None, "status": "ok"}, "missing"),
        ({"status": "great"}, "unknown_status"),
        ({"repeat": -1}, "type"),
        ({"rationale": 3}, "type"),
    ],
)
def test_bad_rows(changes: dict[str, Any], code: str, write: Write) -> None:
    assert f"row 2, line 2, field {''}" in (said := refused(write("j.jsonl", [row(unit="claim:1"), row(**changes)])))
    assert f": {code}: " in said
    assert not Judge.objects.exists()


def test_a_file_says_which_way_a_new_judges_scores_go(write: Write) -> None:
    rows = [
        row(),
        row(unit="claim:1", higher_is_better=False),  # one row is enough
        row(judge="k", higher_is_better=None),
        row(judge="l", higher_is_better=True),
    ]
    path = write("j.jsonl", rows)
    load(path)
    assert dict(Judge.objects.values_list("name", "higher_is_better")) == {"j": False, "k": True, "l": True}
    assert "created 0, unchanged 4" in load(path)

    load(write("j.csv", "sample_id,higher_is_better,toxicity,length\na,False,0.5,3\nb,0,1,4\n"))
    assert not Judge.objects.filter(name__in=["toxicity", "length"], higher_is_better=True).exists()


def test_a_file_does_not_contradict_itself_about_it_nor_what_is_stored(write: Write) -> None:
    rows = [row(higher_is_better="true"), row(unit="claim:1", higher_is_better="no"), row(repeat=1, higher_is_better=0)]
    said = refused(write("j.jsonl", rows)).splitlines()
    assert "row 2, line 2, field higher_is_better: type: higher_is_better: true or false. [no]" in said[0]
    assert "row 3, line 3, field higher_is_better: conflict: Row 1 says true of “j”" in said[1]
    assert not Judge.objects.exists()

    load(write("j.jsonl", [row()]))
    more = [row(), row(unit="claim:1", higher_is_better=False)]
    assert "row 2, line 2, field higher_is_better: conflict: “j” is there already" in refused(write("k.jsonl", more))
    assert Judge.objects.get().higher_is_better


def test_no_judge_at_all(write: Write) -> None:
    assert "missing_column" in refused(write("j.csv", "sample_id,remark\na,good\n"))
    assert "row 2, line 2, field judge: duplicate" in refused(write("j.jsonl", [row(), row()]))
