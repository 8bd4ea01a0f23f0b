"""An answer that abstains has no claims and no faithfulness, and people have the last word on which do."""

from __future__ import annotations

import io
import json
import uuid
from collections.abc import Sequence
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import IntegrityError, transaction

from annotate.batches.steps import close_batch
from annotate.core.blindness import SYSTEM
from annotate.core.errors import Conflict
from annotate.core.units import UnitCount, units_of
from annotate.files.export_rows import Annotators, Filters, exported_samples
from annotate.files.export_samples import SAMPLE_WRITERS, sample_rows
from annotate.files.export_writers import write_jsonl, write_ragas
from annotate.files.import_queue import run_job
from annotate.models import AuditEntry, Criterion, Sample, User
from annotate.samples.abstaining import set_abstained
from annotate.samples.claims_write import edit_claims
from annotate.tasks.read import own_task
from annotate.verdicts.evidence_read import evidence_of
from annotate.verdicts.ratings_read import votes_of
from tests.annotate.factories import World, finish, make_sample, make_world, take
from tests.clients import as_user, client_of

REFUSAL = "I don't have that information."
API = "/api/projects/desk/samples/"


@pytest.fixture
def world(db: None) -> World:
    return make_world()


def _push(world: World, *rows: dict[str, Any]) -> Any:
    samples = [{"question": "When?", "contexts": ["From nine."], **row} for row in rows]
    return client_of(world.alice).post(API, {"version": "v1", "samples": samples}, format="json")


def _said(world: World) -> dict[str, tuple[bool | None, str, list[str]]]:
    rows = Sample.objects.filter(project=world.project)
    return {row.external_id: (row.abstained, row.abstained_source, units_of(row, "claim")) for row in rows}


def test_the_rule_proposes_and_a_file_may_say(world: World) -> None:
    reply = _push(
        world,
        {"id": "a", "answer": REFUSAL},
        {"id": "b", "answer": "It opens at nine."},
        {"id": "c", "answer": REFUSAL, "abstained": False},
        {"id": "d", "answer": "Ask at the desk.", "abstained": True},
        {"id": "e", "answer": REFUSAL, "claims": [REFUSAL]},
        {"id": "f", "answer": "我不知道。"},
    )
    assert reply.status_code == 201, reply.content
    assert _said(world) == {
        "a@v1": (True, "rule", []),
        "b@v1": (False, "rule", ["claim:0"]),
        "c@v1": (False, "file", ["claim:0"]),
        "d@v1": (True, "file", []),
        "e@v1": (True, "rule", []),
        "f@v1": (True, "rule", []),
    }
    counted = dict(Sample.objects.annotate(n=UnitCount("claim")).values_list("external_id", "n"))
    assert counted == {name: len(claims) for name, (_, _, claims) in _said(world).items()}
    refused = _push(world, {"id": "g", "answer": REFUSAL, "abstained": "perhaps"})
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "abstained")


def _labelled(world: World, *answers: str, value: str = "no") -> list[Sample]:
    """Samples whose claims all annotators labelled, and whose batch is closed."""
    samples = [
        make_sample(world.project, number, answer=answer, claims=[{"text": answer, "start": 0, "end": len(answer)}])
        for number, answer in enumerate(answers, 1)
    ]
    batch = world.batch(criteria=["support"], overlap=3)
    for person in world.annotators:
        while (task := take(person, batch)) is not None:
            finish(task, support=value)
    close_batch(batch=batch)
    return samples


def _support(world: World) -> Criterion:
    return world.criteria("support")[0]


def _everything_said(criterion: Criterion) -> tuple[set[str], set[str], set[int], int]:
    found = evidence_of(criterion, reader=SYSTEM)
    voted = {sample for sample, *_ in votes_of(criterion, reader=SYSTEM)}
    return {sample for sample, _ in found.units}, {sample for sample, _ in found.verdicts}, voted, found.abstained


def test_a_person_takes_labelled_claims_out_of_every_figure_and_back(world: World) -> None:
    one, two = _labelled(world, REFUSAL, "It opens at nine.")
    criterion = _support(world)
    before = _everything_said(criterion)
    assert before == ({"s1", "s2"}, {"s1", "s2"}, {one.pk, two.pk}, 0)
    set_abstained(actor=world.alice, project=world.project, sample_id=one.pk, abstained=True)
    assert _everything_said(criterion) == ({"s2"}, {"s2"}, {two.pk}, 1)
    set_abstained(actor=world.alice, project=world.project, sample_id=one.pk, abstained=False)
    assert _everything_said(criterion) == before
    noted = AuditEntry.objects.filter(action__startswith="sample.").order_by("pk")
    assert list(noted.values_list("action", "subject", "details")) == [
        ("sample.abstained", "s1", {"before": False, "before_source": "rule"}),
        ("sample.answered", "s1", {"before": True, "before_source": "person"}),
    ]


def _written(world: World, write: Any) -> list[dict[str, Any]]:
    file = io.BytesIO()
    write(exported_samples(world.project, Filters()), file, Annotators())
    return [json.loads(line) for line in file.getvalue().splitlines()]


def test_faithfulness_of_an_abstention_is_undefined_and_says_why(world: World) -> None:
    one, _ = _labelled(world, REFUSAL, "It opens at nine.")
    faithful = {row["sample_id"]: row["human_faithfulness"] for row in _written(world, write_ragas)}
    assert faithful == {"s1": 0, "s2": 0}
    set_abstained(actor=world.alice, project=world.project, sample_id=one.pk, abstained=True)
    rows = {row["sample_id"]: row for row in _written(world, write_ragas)}
    assert set(rows) == {"s2"}
    assert (rows["s2"]["human_faithfulness"], rows["s2"]["human_faithfulness_reason"]) == (0, None)
    assert {row["sample_id"] for row in _written(world, write_jsonl)} == {"s2"}
    assert {(row["abstained"], row["abstained_source"]) for row in _written(world, write_jsonl)} == {(False, "rule")}


def test_an_abstention_with_other_verdicts_is_exported_with_its_reason(world: World) -> None:
    make_sample(world.project, 1, answer=REFUSAL, abstained=True)
    batch = world.batch(criteria=["grade"], overlap=3)
    for person in world.annotators:
        task = take(person, batch)
        assert task is not None
        finish(task)
    close_batch(batch=batch)
    (row,) = _written(world, write_ragas)
    found = [row[name] for name in ("claims", "human_faithfulness", "human_faithfulness_reason", "abstained")]
    assert found == [[], None, "abstained", True]


def test_it_stays_as_it_is_while_people_are_asked_about_its_claims(world: World) -> None:
    sample = make_sample(world.project, 1, answer=REFUSAL)
    batch = world.batch(criteria=["support"])
    with pytest.raises(Conflict, match="Close it to change them"):
        set_abstained(actor=world.alice, project=world.project, sample_id=sample.pk, abstained=True)
    close_batch(batch=batch)
    assert set_abstained(actor=world.alice, project=world.project, sample_id=sample.pk, abstained=True).abstained
    with pytest.raises(Conflict, match="abstaining"):
        edit_claims(
            actor=world.alice, project=world.project, sample_id=sample.pk, change={"op": "add", "text": "x"},
            expected_revision=1,
        )  # fmt: skip


def test_by_api_and_on_the_page_by_those_who_may_edit_claims(world: World) -> None:
    sample = make_sample(world.project, 1, answer=REFUSAL)
    url = f"{API}{sample.pk}/abstention/"
    assert client_of(world.ann).put(url, {"abstained": True}, format="json").status_code == 403
    assert client_of(world.charlie).put(url, {"abstained": True}, format="json").status_code == 404
    assert (
        client_of(world.alice).put(url, {"abstained": "yes"}, format="json").json()["error"]["code"] == "bad_abstained"
    )
    reply = client_of(world.alice).put(url, {"abstained": True}, format="json").json()
    assert (reply["abstained"], reply["abstained_source"], reply["claims"]) == (True, "person", [])

    page = as_user(world.rita)
    assert "only says that it has no answer" in page.get(f"/p/desk/samples/{sample.pk}/").content.decode()
    assert "1 answer abstains" in page.get("/p/desk/samples/").content.decode()
    page.post(f"/p/desk/samples/{sample.pk}/abstention/", {"abstained": "no"})
    sample.refresh_from_db()
    assert (sample.abstained, sample.abstained_source) == (False, "person")
    assert "Counts as an answer" not in page.get(f"/p/desk/samples/{sample.pk}/").content.decode()
    Sample.objects.filter(pk=sample.pk).update(abstained_source="rule")
    assert "Counts as an answer" in page.get(f"/p/desk/samples/{sample.pk}/").content.decode()
    assert as_user(world.ann).post(f"/p/desk/samples/{sample.pk}/abstention/").status_code in (403, 404)


def _import_labels(world: World, rows: Sequence[dict[str, Any]]) -> Any:
    content = "\n".join(json.dumps(row) for row in rows).encode()
    file = SimpleUploadedFile("labels.jsonl", content)
    return client_of(world.alice).post(
        "/api/projects/desk/imports/", {"kind": "labels", "file": file}, format="multipart"
    )


@pytest.mark.parametrize("source", ["rule", "person"])
def test_labels_of_its_claims_in_a_file_overrule_the_rule_but_no_person(world: World, source: str) -> None:
    _push(world, {"id": "a", "answer": REFUSAL})
    Sample.objects.filter(project=world.project).update(abstained_source=source)
    row = {"sample_id": "a@v1", "unit": "claim:0", "criterion": "support", "rater": "r1", "value": "no"}
    reply = _import_labels(world, [row])
    assert reply.status_code in (200, 201), reply.content
    assert reply.json()["status"] == "done", reply.json()
    found = {"rule": (False, "labels", ["claim:0"]), "person": (True, "person", [])}
    assert _said(world) == {"a@v1": found[source]}


@pytest.mark.parametrize("at_work", [True, False])
def test_labels_in_a_file_take_no_abstention_away_that_a_batch_relies_on(world: World, at_work: bool) -> None:
    make_sample(world.project, 1, answer=REFUSAL, abstained=True)
    make_sample(world.project, 2)
    if at_work:
        world.batch(criteria=["support", "grade"])
    row = {"sample_id": "s1", "unit": "claim:0", "criterion": "support", "rater": "r1", "value": "no"}
    sent = _import_labels(world, [row])
    assert sent.status_code == 201, sent.content
    sample = Sample.objects.get(external_id="s1")
    assert (sample.abstained, sample.abstained_source) == ((True, "rule") if at_work else (False, "labels"))
    name, said = (
        ("left_abstaining", "Still abstentions: their batch is open")
        if at_work
        else ("taken_as_answers", "No longer abstentions: their claims are labelled")
    )
    assert sent.json()["result"][name] == 1
    assert AuditEntry.objects.get(action="import.done").details[name] == 1
    page = as_user(world.alice).get(f"/p/desk/import/{sent.json()['id']}/").content.decode()
    assert said in page


def test_a_labelling_page_has_no_claims_and_is_told(world: World) -> None:
    make_sample(world.project, 1, answer=REFUSAL, abstained=True)
    make_sample(world.project, 2)
    batch = world.batch(criteria=["support", "grade"], selection={"method": "list", "samples": ["s1", "s2"]})
    task = world.ann.tasks.get(sample__external_id="s1", batch=batch)
    shown = own_task(user=world.ann, task_id=task.pk)["sample"]
    assert (shown["abstained"], shown["claims"]) == (True, [])


def test_saying_the_same_again_changes_nothing(world: World) -> None:
    sample = make_sample(world.project, 1, answer=REFUSAL)
    people: list[User] = [world.alice, world.rita, world.alice]
    for person in people:
        set_abstained(actor=person, project=world.project, sample_id=sample.pk, abstained=True)
    assert AuditEntry.objects.filter(action="sample.abstained").count() == 1


def test_a_sample_without_an_answer_neither_abstains_nor_answers(world: World) -> None:
    assert _push(world, {"id": "a", "answer": None, "reference": "At nine."}).status_code == 201
    assert _said(world) == {"a@v1": (None, "", [])}
    sample = Sample.objects.get(project=world.project)
    with pytest.raises(Conflict, match="no answer"):
        set_abstained(actor=world.alice, project=world.project, sample_id=sample.pk, abstained=True)
    page = as_user(world.rita).get(f"/p/desk/samples/{sample.pk}/").content.decode()
    assert "Mark as" not in page
    with pytest.raises(IntegrityError), transaction.atomic():
        Sample.objects.filter(pk=sample.pk).update(abstained=False, abstained_source="rule")
    refused = _push(world, {"id": "b", "answer": None, "abstained": True})
    assert [(one["field"], one["code"]) for one in refused.json()["errors"]] == [("abstained", "no_answer")]


def _import_samples(world: World, name: str, content: bytes, **fields: str) -> tuple[int, int]:
    api = client_of(world.alice)
    sent = {"kind": "samples", "file": SimpleUploadedFile(name, content), **fields}
    reply = api.post("/api/projects/desk/imports/", sent, format="multipart")
    if reply.status_code == 202:
        run_job(uuid.UUID(reply.json()["id"]))
    result = api.get(f"/api/projects/desk/imports/{reply.json()['id']}/").json()["result"]
    return result["created"], result["unchanged"]


@pytest.mark.parametrize("file_format", ["jsonl", "csv", "ragas", "deepeval", "parquet"])
def test_samples_as_they_were_imported_come_back_unchanged_whatever_was_decided(world: World, file_format: str) -> None:
    rows = [
        {"id": "said", "question": "When?", "answer": REFUSAL, "abstained": False},
        {"id": "decided", "question": "When?", "answer": "Ask at the desk.", "abstained": True},
        {"id": "ruled", "question": "When?", "answer": REFUSAL},
        {"id": "marked", "question": "When?", "answer": "Ask."},
    ]
    _import_samples(world, "samples.jsonl", "\n".join(map(json.dumps, rows)).encode())
    for name, abstained in (("decided", False), ("decided", True), ("decided", False), ("marked", True)):
        sample = Sample.objects.get(external_id=name)
        set_abstained(actor=world.alice, project=world.project, sample_id=sample.pk, abstained=abstained)
    file = io.BytesIO()
    SAMPLE_WRITERS[file_format](sample_rows(world.project, Filters(), file_format), file)
    name = {"ragas": "a.jsonl", "deepeval": "a.json"}.get(file_format, f"a.{file_format}")
    assert _import_samples(world, name, file.getvalue()) == (0, 4)


def test_what_was_metadata_in_yesterdays_import_is_found_unchanged(world: World) -> None:
    rows = [{"id": "a", "question": "When?", "answer": REFUSAL, "abstained": "yes"}]
    content = json.dumps(rows).encode()
    assert _import_samples(world, "a.json", content, mapping=json.dumps({"abstained": "metadata"})) == (1, 0)
    assert Sample.objects.get().metadata == {"abstained": "yes"}
    assert _import_samples(world, "a.json", content) == (0, 1)
