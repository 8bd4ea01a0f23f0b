"""Pools: what goes to people, what they are not told, and how far their word reaches."""

from __future__ import annotations

import pytest

from annotate.batches.edit import edit_batch
from annotate.batches.steps import delete_batch, open_batch
from annotate.models import AuditEntry, Batch, Sample, Task, Verdict
from annotate.projects.read import one_criterion
from systems.models import ComposedSample, Experiment, Question
from systems.responses.read import answers_compared
from tests.annotate.factories import World, decide_unit, make_batch
from tests.clients import client_of
from tests.systems.building import command, refused
from tests.systems.experiments.building import create
from tests.systems.retrieval.building import MEANS, PER_QUESTION, RETRIEVED, Write, run_of
from tests.systems.retrieval.pooling import (
    GRADES,
    REST,
    ask_relevance,
    figures,
    label,
    latest,
    passage,
    pool,
    retrieved,
    two_versions,
)
from tests.systems.retrieval.test_figures import values

POOLS = "/api/projects/desk/retrieval/pool/"


@pytest.fixture
def asked(world: World, write: Write) -> World:
    return two_versions(world, write)


def texts_of(sample: Sample) -> list[str]:
    return [context["text"] for context in sample.contexts]


def test_known_answers_from_people_alone(asked: World) -> None:
    """The figures of trec_eval, as they are with a file of judgements."""
    batch = pool()
    assert figures()["undefined"] == 3
    label(batch)
    found = figures()
    assert values(found) == pytest.approx(MEANS, abs=1e-6)
    for question, known in PER_QUESTION.items():
        assert found["per_question"][question] == pytest.approx(known, abs=1e-6), question
    assert (found["rel"], found["contradicted"], found["undefined"]) == (None, 0, 0)


def test_the_criterion_says_what_is_relevant(asked: World) -> None:
    """From its first passing value, unless a grade is asked for; the gain of nDCG stays the grade."""
    ask_relevance(asked, passes=(2, 3))
    label(pool())
    found = figures()
    assert found["per_question"]["q2"]["R"] == pytest.approx(2 / 3)
    assert found["per_question"]["q2"]["nDCG"] == pytest.approx(0.520605, abs=1e-6)
    assert set(found["per_question"]["q1"].values()) == {None}
    assert values(figures("v7", "--rel", "1")) == pytest.approx(MEANS, abs=1e-6)


def test_a_question_is_one_sample_with_each_text_once(asked: World, write: Write) -> None:
    twin = retrieved("v9", "q1", [])
    twin["contexts"] = [{"id": "copy", "text": passage("15")}, {"id": "42", "text": "Another part of document 42."}]
    command("import_samples", "desk", write("t.jsonl", [twin]))
    said = command("pool", "desk", "support", "--versions", "v7", "v8", "v9", "--k", "5", "--seed", "5")
    assert said == "Batch 1 (draft): 15 passages for 3 questions.\n"
    batch = latest()
    assert [sample.external_id for sample in batch.samples.order_by("pk")] == ["q1#pool1", "q2#pool1", "q3#pool1"]
    sample = Sample.objects.get(external_id="q1#pool1")
    assert (sample.answer, sample.pipeline_version, sample.group_key, sample.question) == (
        None, "", "q1", "Which port does the service listen on?",
    )  # fmt: skip
    assert sorted(texts_of(sample)) == sorted(
        ["Another part of document 42.", *map(passage, ["103", "12", "15", "42", "88"])]
    )
    documents = ComposedSample.objects.get(sample=sample).documents
    assert documents[texts_of(sample).index(passage("15"))] == ["15", "copy"]
    label(batch, {**GRADES, "42": 0})
    # Of a document of which several passages were judged, the highest; a copy is judged with its text.
    assert figures("v9")["per_question"]["q1"]["P"] == pytest.approx(1 / 5)


def test_no_one_is_told_who_retrieved_what(asked: World) -> None:
    """Neither ids nor ranks nor scores go to who labels, and the order says nothing of them: another seed, another one;
    the same seed, the same one."""
    orders = {}
    for seed in (5, 6, 5):
        batch = pool("--seed", seed, "--open") if not orders else pool("--seed", seed)
        sample = batch.samples.get(external_id="q1#pool1")
        assert orders.setdefault(seed, texts_of(sample)) == texts_of(sample)
        if batch.status == "open":
            task = Task.objects.filter(batch=batch, annotator__isnull=False, sample=sample).first()
            assert task is not None
            told = client_of(task.annotator).get(f"/api/tasks/{task.pk}/").json()["task"]
            assert [context["id"] for context in told["sample"]["contexts"]] == [None] * 5
            assert {criterion["key"] for criterion in told["criteria"]} == {"relevance"}
            assert not {"v7", "v8"} & set(str(told).replace("'", " ").split())
        delete_batch(batch=batch)
    assert sorted(orders[5]) == sorted(orders[6]) != orders[5] != orders[6]
    assert batch.seed == 5


def test_a_later_pool_has_only_what_is_new(asked: World, write: Write) -> None:
    label(pool(versions=["v7"]))
    more = [retrieved("v9", "q1", ["15", "new"]), retrieved("v9", "q3", ["y"])]
    copy = {**retrieved("v9", "q2", []), "contexts": [{"id": "a-again", "text": passage("a")}]}
    command("import_samples", "desk", write("m.jsonl", [*more, copy]))
    said = command("pool", "desk", "support", "--versions", "v9", "--k", "5", "--open")
    assert said == "Batch 2 (open): 1 passages for 1 questions. 3 passages were pooled or judged before.\n"
    (sample,) = latest().samples.all()
    assert (sample.external_id, texts_of(sample)) == ("q1#pool2", [passage("new")])
    # What has the text of a judged passage is judged with it.
    assert figures("v9")["per_question"]["q2"]["P"] == pytest.approx(1 / 5)
    told = refused("pool", "desk", "support", "--versions", "v7", "v9")
    assert told == "All passages that these versions retrieved were pooled or judged before."


def test_what_was_labelled_with_an_answer_counts_too(asked: World) -> None:
    """The context of a response is a passage of its document, and needn't be pooled again."""
    batch = make_batch(asked.project, [asked.ann, asked.ben], samples=["q1@v8"], criteria=asked.criteria("relevance"))
    label(batch)
    assert figures()["per_question"]["q1"]["P"] == pytest.approx(2 / 5)
    pool()
    left = texts_of(Sample.objects.get(external_id="q1#pool1"))
    assert sorted(left) == sorted(map(passage, ["12", "15", "88"]))


def test_documents_without_a_text_are_counted(asked: World, write: Write) -> None:
    """A ranking names documents only; their text is that of any sample of the project."""
    run = run_of({"q1": ["15", "nowhere"], "q2": ["103", "none"]})
    command("import_run", "desk", "run", write("r.run", run), "--set", "support@1")
    said = command("pool", "desk", "support", "--versions", "run")
    assert said == (
        "Batch 1 (draft): 2 passages for 2 questions. 2 documents have no text in this project and can't be judged.\n"
    )
    assert texts_of(Sample.objects.get(external_id="q2#pool1")) == [passage("103")]
    bare = run_of({"q3": ["nowhere"]})
    command("import_run", "desk", "bare", write("b.run", bare), "--set", "support@1")
    told = refused("pool", "desk", "support", "--versions", "bare")
    assert told.startswith("No text is known of the documents")


def test_only_the_first_k_are_pooled(asked: World) -> None:
    pool(k=1)
    assert sorted(texts_of(Sample.objects.get(external_id="q2#pool1"))) == sorted(map(passage, ["b", "c"]))


def test_only_what_holds_counts(asked: World) -> None:
    """A single label settles nothing; what a reviewer decides counts, and what they decide anew."""
    batch = pool("--overlap", "1")
    label(batch)
    assert figures()["undefined"] == 3
    sample = Sample.objects.get(external_id="q3#pool1")
    place = texts_of(sample).index(passage("x"))
    verdict = Verdict.objects.get(sample=sample, unit=f"context:{place}")
    assert verdict.criterion == one_criterion(asked.project, "relevance")
    decide_unit(asked.rita, verdict, 2)
    assert figures("v8")["per_question"]["q3"]["R"] == 1
    verdict.refresh_from_db()
    decide_unit(asked.rita, verdict, 0)
    assert figures("v8")["undefined"] == 3


def test_a_draft_goes_with_what_was_pooled_for_it(asked: World) -> None:
    before = Sample.objects.count()
    batch = pool()
    assert Sample.objects.count() == before + 3
    delete_batch(batch=batch)
    assert (Sample.objects.count(), ComposedSample.objects.count()) == (before, 0)
    batch = pool()
    # What another batch has stays.
    make_batch(asked.project, [asked.ann], samples=["q1#pool1"], criteria=asked.criteria("relevance"), opened=False)
    delete_batch(batch=batch)
    assert list(ComposedSample.objects.values_list("sample__external_id", flat=True)) == ["q1#pool1"]


def test_what_was_taken_out_of_a_draft_is_pooled_again(asked: World) -> None:
    batch = pool()
    edit_batch(batch=batch, actor=asked.alice, remove=["q1#pool1"])
    again = pool()
    assert [sample.external_id for sample in again.samples.all()] == ["q1#pool1"]
    assert batch.samples.count() == 2


def test_it_is_in_no_version_and_in_no_draw(asked: World) -> None:
    label(pool())
    versions = client_of(asked.alice).get("/api/projects/desk/versions/").json()["results"]
    assert {one["name"]: one["answered"] for one in versions} == {"v7": 3, "v8": 3}
    assert client_of(asked.alice).get("/api/projects/desk/responses/").json()["count"] == 6
    batch = make_batch(asked.project, [asked.ann], criteria=asked.criteria("relevance"), opened=False)
    assert batch.samples.count() == 6
    unlinked = client_of(asked.alice).get("/api/projects/desk/questions/unlinked/").json()
    assert unlinked["results"] == []


def test_it_comes_back_from_an_export_unchanged(asked: World, write: Write) -> None:
    label(pool())
    path = write("out.jsonl", "")
    command("export", "desk", "--format", "jsonl", "--samples", "--out", path)
    assert path.read_text().count("#pool1") == 3
    assert "v7" not in "".join(line for line in path.read_text().splitlines() if "#pool1" in line)
    rows = [line for line in path.read_text().splitlines() if "#pool1" in line]
    said = command("import_samples", "desk", write("again.jsonl", "\n".join(rows)))
    assert "created 0, unchanged 3" in said


def test_the_trail_tells_how(asked: World) -> None:
    batch = pool("--batch", "Which passages help?")
    (entry,) = AuditEntry.objects.filter(action="pool.created")
    assert (entry.subject, entry.details["versions"], entry.details["k"], entry.details["seed"]) == (
        "support@1", ["v7", "v8"], 5, 5,
    )  # fmt: skip
    assert batch.name == "Which passages help?"
    assert batch.selection == {"method": "list", "n": 3, "came": "pool", "note": "support@1, k = 5: v7, v8"}


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("none", "--versions", "v7"), "Test set “none” not found in this project."),
        (("support", "--versions", "v1"), "Version “v1” not found in this project."),
        (("support", "--versions", "v7", "--k", "0"), "k: must be a whole number from 1 to 1,000."),
        (("support", "--versions", "v7", "--seed", "-1"), "seed: must be a whole number from 0 to 2147483647."),
        (("support", "--versions", "v7", "--annotators", "zoe"), "Member “zoe” not found in this project."),
    ],
)
def test_what_is_refused(asked: World, options: tuple[str, ...], told: str) -> None:
    assert refused("pool", "desk", *options) == told
    assert not Sample.objects.filter(composed=True).exists()


def test_people_must_be_asked_for_relevance(asked: World) -> None:
    ask_relevance(asked, passes=())
    assert refused("pool", "desk", "support", "--versions", "v7") == (
        "This project has no criterion “relevance” on contexts with options that pass. Add it first."
    )
    assert REST.keys() == RETRIEVED.keys()


def test_who_has_passages_to_label_learns_nothing_of_their_retrieval(asked: World) -> None:
    """Rita reads systems, and labels a pool: until she has submitted it, no figure, no ranking and no response to its
    questions is shown to her."""
    client = client_of(asked.rita)
    figures_path = "/api/projects/desk/retrieval/?set=support@1&version=v7"
    batch = pool("--annotators", "rita")
    assert client.get(figures_path).status_code == 200
    open_batch(batch=batch)
    reply = client.get(figures_path)
    assert (reply.status_code, reply.json()["error"]["code"]) == (409, "still_to_label")
    for path in ("responses/", "diagnosis/responses/?version=v7"):
        assert client.get(f"/api/projects/desk/{path}").json()["count"] == 0, path
        assert client_of(asked.alice).get(f"/api/projects/desk/{path}").json()["count"] > 0, path
    label(Batch.objects.get(pk=batch.pk))
    assert client.get(figures_path).status_code == 200
    assert client.get("/api/projects/desk/responses/").json()["count"] == 6


def test_nor_what_an_experiment_s_versions_retrieved(asked: World, write: Write) -> None:
    rule = {"primary": "answered", "margin": 0.1}
    create(write, {"set": "support@1", "versions": ["v7", "v8"], "metrics": [{"field": "answered"}], "rule": rule})
    experiment, questions = Experiment.objects.get(), list(Question.objects.values_list("pk", flat=True))
    open_batch(batch=pool("--annotators", "rita"))
    assert answers_compared(experiment, questions, reader=asked.rita) == []
    assert len(answers_compared(experiment, questions, reader=asked.alice)) == 6


def test_the_api_does_the_same(asked: World) -> None:
    client = client_of(asked.alice)
    body = {"set": "support@1", "versions": ["v7", "v8"], "k": 5, "seed": 5, "name": "By API", "annotators": ["ann"]}
    reply = client.post(POOLS, body, content_type="application/json")
    assert (reply.status_code, reply.json()) == (
        201,
        {
            "batch": 1, "status": "draft", "questions": 3, "passages": 14, "known": 0, "without_text": 0,
            "without_ids": 0,
        },
    )  # fmt: skip
    assert latest().name == "By API"
    first = texts_of(Sample.objects.get(external_id="q1#pool1"))
    again = client.post(POOLS, body, content_type="application/json")
    assert (again.status_code, again.json()["error"]["code"]) == (409, "nothing_to_pool")
    delete_batch(batch=latest())
    opened = client.post(POOLS, {**body, "open": True, "overlap": 1}, content_type="application/json").json()
    assert (opened["batch"], opened["status"]) == (1, "open")
    assert texts_of(Sample.objects.get(external_id="q1#pool1")) == first
    for person, status in ((asked.rita, 403), (asked.ann, 403), (asked.charlie, 404)):
        assert client_of(person).post(POOLS, body, content_type="application/json").status_code == status
    for wrong in ({"versions": "v7"}, {"versions": []}, {"k": 0}, {"seed": -1}, {"set": 1}, {"colour": "red"}):
        refusal = client.post(POOLS, {**body, **wrong}, content_type="application/json")
        assert refusal.status_code == 422, wrong
    assert client.post(POOLS, {**body, "versions": ["v1"]}, content_type="application/json").status_code == 404
