"""Labels made elsewhere."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotate.models import Label, LabelEvent, Membership, Project, Rater, Sample, User
from annotate.samples.claims_read import claims_state
from annotate.samples.claims_write import edit_claims

Write = Callable[..., Path]


@pytest.fixture
def samples(project: Project, write: Write) -> None:
    rows = [
        {"id": "s", "question": "q", "answer": "One. Two.", "contexts": ["c0 text", "c1"], "claims": ["One.", "Two."]},
        {"id": "split", "question": "q", "answer": "Alpha. Beta. Gamma."},
    ]
    call_command("import_samples", "p", str(write("s.jsonl", rows)), stdout=io.StringIO())


def load(path: Path, *options: str) -> str:
    out = io.StringIO()
    call_command("import_labels", "p", str(path), *options, stdout=out)
    return out.getvalue()


def refused(path: Path) -> str:
    stderr = io.StringIO()
    with pytest.raises(CommandError, match="Nothing was imported"):
        call_command("import_labels", "p", str(path), stderr=stderr)
    assert not Label.objects.exists()
    assert not Rater.objects.exists()
    return stderr.getvalue()


def row(**changes: Any) -> dict[str, Any]:
    return {"sample_id": "s", "unit": "claim:0", "criterion": "support", "rater": "r", "value": "supported", **changes}


def test_labels_of_every_kind_with_their_log(samples: None, write: Write) -> None:
    evidence = [{"context": 0, "start": 0, "end": 2, "quote": "c0"}]
    rows = [
        row(comment="why\tnot\\", evidence=evidence),
        row(unit="context:1", criterion="relevance", value=2.0),
        {"sample_id": "s", "dimension": "relevancy", "annotator": 7, "value": 4},
        row(unit="answer", criterion="length", value=1.5),
    ]
    assert "rows 4, created 4, unchanged 0, raters_created 2" in load(write("l.jsonl", rows))

    labels = list(Label.objects.order_by("pk"))
    assert [label.value for label in labels] == ["supported", 2, 4, 1.5]
    assert [label.unit for label in labels] == ["claim:0", "context:1", "answer", "answer"]
    assert (labels[0].comment, labels[0].evidence) == ("why\tnot\\", evidence)
    assert Rater.objects.get(name="7").labels.count() == 1
    assert {(e.label_id, e.revision) for e in LabelEvent.objects.all()} == {(label.pk, 1) for label in labels}


def test_csv_values_become_the_options_own(samples: None, write: Write) -> None:
    load(write("l.csv", "sample_id,unit,criterion,rater,value\ns,context:0,relevance,r,3\ns,,relevancy,r,4.0\n"))

    assert sorted(Label.objects.values_list("value", flat=True)) == [3, 4]


@pytest.mark.parametrize(
    ("changes", "code", "field"),
    [
        ({"sample_id": "nobody"}, "unknown_sample", "sample_id"),
        ({"unit": "claim:2"}, "unknown_unit", "unit"),
        ({"unit": "claim:01"}, "unknown_unit", "unit"),
        ({"unit": "claim"}, "unknown_unit", "unit"),
        ({"unit": None}, "missing", "unit"),
        ({"unit": "context:0"}, "unit_kind", "unit"),
        ({"criterion": "nope"}, "unknown_criterion", "criterion"),
        ({"criterion": None}, "missing", "criterion"),
        ({"value": "Supported"}, "not_an_option", "value"),
        ({"value": 1}, "not_an_option", "value"),
        ({"value": None}, "missing", "value"),
        ({"rater": ""}, "missing", "rater"),
        ({"rater": "x" * 300}, "too_long", "rater"),
        ({"unit_text": "Two."}, "unit_text", "unit_text"),
        ({"evidence": [{"context": 0, "start": 0, "end": 2, "quote": "xx"}]}, "bad_evidence", "evidence"),
        ({"comment": 3}, "type", "comment"),
        ({"sample_id": "split", "unit": "claim:3"}, "unknown_unit", "unit"),
        ({"sample_id": "split", "unit": "claim:1", "unit_text": "Beta."}, "claim_gap", "unit_text"),
    ],
)
def test_bad_rows(changes: dict[str, Any], code: str, field: str, samples: None, write: Write) -> None:
    good = row(unit="claim:1")
    assert f"row 2, line 2, field {field}: {code}: " in refused(write("l.jsonl", [good, row(**changes)]))


def test_the_same_label_twice_in_a_file(samples: None, write: Write) -> None:
    assert "row 2, line 2, field rater: duplicate: Row 1 " in refused(write("l.jsonl", [row(), row()]))


def test_again_changes_nothing_and_another_value_is_refused(samples: None, write: Write) -> None:
    path = write("l.jsonl", [row(), row(unit="claim:1")])
    load(path)
    assert "created 0, unchanged 2" in load(path)

    stderr = io.StringIO()
    with pytest.raises(CommandError):
        call_command("import_labels", "p", str(write("m.jsonl", [row(value="contradicted")])), stderr=stderr)
    assert "field value: conflict: " in stderr.getvalue()
    assert Label.objects.count() == 2
    assert LabelEvent.objects.count() == 2


def test_named_claims_replace_split_ones(samples: None, write: Write) -> None:
    rows = [
        row(sample_id="split", unit="claim:1", unit_text="Gamma."),
        row(sample_id="split", unit="claim:0", unit_text="Alpha"),
        row(sample_id="split", unit="claim:1", rater="other"),
    ]
    path = write("l.jsonl", rows)
    assert "samples_with_named_claims 1" in load(path)

    sample = Sample.objects.get(external_id="split")
    assert sample.claims == [{"text": "Alpha", "start": 0, "end": 5}, {"text": "Gamma.", "start": 13, "end": 19}]
    assert sample.claims_source == "labels"
    assert "unchanged 3" in load(path)
    stderr = io.StringIO()
    late = [row(sample_id="split", unit="claim:0", unit_text="Beta.", rater="late")]
    with pytest.raises(CommandError):
        call_command("import_labels", "p", str(write("m.jsonl", late)), stderr=stderr)
    assert "unit_text: claim:0 of this sample reads “Alpha”" in stderr.getvalue()


def test_two_names_for_one_claim(samples: None, write: Write) -> None:
    rows = [row(sample_id="split", unit_text=text, rater=text) for text in ("Alpha.", "Beta.")]
    assert "row 2, line 2, field unit_text: unit_text: " in refused(write("l.jsonl", rows))


def test_claims_with_a_score_are_not_renamed(samples: None, write: Write) -> None:
    score = {"sample_id": "split", "unit": "claim:0", "judge": "j", "score": 1}
    call_command("import_scores", "p", str(write("j.jsonl", [score])), stdout=io.StringIO())

    assert "reads “Alpha.”" in refused(write("l.jsonl", [row(sample_id="split", unit_text="Something else")]))


def edited(name: str, *changes: dict[str, Any]) -> Sample:
    sample = Sample.objects.get(external_id=name)
    editor = User.objects.create_user("rita")
    for revision, change in enumerate(changes, 1):
        edit_claims(
            actor=editor, project=sample.project, sample_id=sample.pk, change=change, expected_revision=revision
        )
    return sample


def test_a_dropped_claim_takes_no_label_and_no_score(samples: None, write: Write) -> None:
    edited("split", {"op": "merge", "claims": [0, 1]}, {"op": "drop", "claim": 2})
    said = refused(write("l.jsonl", [row(sample_id="split", unit=f"claim:{index}") for index in (3, 0, 2, 4)]))
    assert "row 2, line 2, field unit: dropped_claim: A reviewer dropped claim:0 of this sample" in said
    assert "row 3, line 3, field unit: dropped_claim: " in said
    assert "row 4, line 4, field unit: unknown_unit: " in said
    assert "row 1," not in said
    score = {"sample_id": "split", "judge": "j", "score": 1}
    stderr = io.StringIO()
    path = write("j.jsonl", [{**score, "unit": "claim:3"}, {**score, "unit": "claim:1"}])
    with pytest.raises(CommandError):
        call_command("import_scores", "p", str(path), stderr=stderr)
    assert "row 2, line 2, field unit: dropped_claim: A reviewer dropped claim:1" in stderr.getvalue()


def test_claims_that_a_reviewer_edited_are_not_renamed(samples: None, write: Write) -> None:
    edited("split", {"op": "edit", "claim": 0, "text": "Alpha comes first."})
    assert "reads “Alpha comes first.”" in refused(write("l.jsonl", [row(sample_id="split", unit_text="Alpha")]))


def test_naming_claims_is_a_revision_that_editors_notice(samples: None, write: Write) -> None:
    sample = edited("split", {"op": "checked"})
    load(write("l.jsonl", [row(sample_id="split", unit="claim:0", unit_text="Alpha. Beta.")]))
    state = claims_state(Sample.objects.get(pk=sample.pk), user=User(username="root", is_superuser=True))
    assert (state.revision, state.checked, len(state.claims)) == (3, False, 1)
    assert [(edit.revision, edit.change["op"]) for edit in state.history] == [(2, "checked"), (1, "imported")]


def test_a_members_username_means_the_member(samples: None, project: Project, write: Write) -> None:
    user = User.objects.create_user("ann", display_name="Ann")
    Membership.objects.create(project=project, user=user, role="annotator")
    load(write("l.jsonl", [row(rater="ann"), row(rater="stranger")]))

    assert dict(Rater.objects.values_list("name", "user")) == {"ann": user.pk, "stranger": None}


def test_a_folder_is_no_file_and_a_project_is_named(project: Project, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="is a folder"):
        call_command("import_labels", "p", str(tmp_path))
    with pytest.raises(CommandError, match=r"There is no project “q”\. Projects: p\."):
        call_command("import_labels", "q", str(tmp_path))
