"""What judges make of a sample without an answer: those of answers and claims leave it alone, and those of contexts do
not; a score of the sample as a whole is of the sample."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotate.core.blindness import SYSTEM
from annotate.models import Criterion, Project, Sample, User
from annotate.projects.write import create_project
from judges.core.scores_read import whole_scores
from judges.kinds import ragas
from judges.kinds.lexical import KIND as LEXICAL
from judges.kinds.llm import KIND as LLM
from judges.kinds.ragas import KIND as RAGAS
from judges.kinds.ragas.metrics import dimension_of
from judges.models import Judge, JudgeVersion, Run, Score
from judges.runs.laying import draw_samples
from judges.runs.purposes import Scoring
from judges.runs.write import estimate_run
from judges.versions.write import create_judge
from tests.clients import client_of
from tests.judges.building import add_samples
from tests.judges.kinds.making import sample, scored

pytestmark = pytest.mark.django_db
CRITERIA = ("support", "relevance", "fact_in_answer", "fact_in_context", "relevancy", "preference")


@pytest.fixture
def admin(db: None) -> User:
    return User.objects.create_user("ada", password="x")


@pytest.fixture
def project(admin: User) -> Project:
    return create_project(slug="p", spec={"name": "P", "criteria": list(CRITERIA)}, created_by=admin)


def golden(**fields: Any) -> Sample:
    given = {"question": "Which port?", "reference": "8000.", "contexts": ["Port 8000."], "key_facts": ["8000"]}
    return sample(2, **{**given, **fields, "answer": None})


def test_lexical_judges(project: Project) -> None:
    def asked(measure: str, criterion: str, **options: Any) -> list[str]:
        return list(
            scored(
                LEXICAL, LEXICAL.complete({"measure": measure, "criterion": criterion, **options}, project), golden()
            )
        )

    assert asked("token_overlap", "relevance") == ["context:0"]
    assert asked("token_overlap", "fact_in_context") == ["fact:0"]
    assert asked("token_overlap", "fact_in_context", against="answer") == []
    assert asked("token_overlap", "support") == asked("token_overlap", "relevancy") == []
    assert asked("key_fact", "fact_in_answer") == []


@pytest.mark.parametrize(
    ("criterion", "per", "shows", "units"),
    [
        ("relevance", "unit", "{{question}} {{context}}", ["context:0"]),
        ("relevance", "sample", "{{question}} {{contexts}}", ["sample"]),
        ("relevance", "unit", "{{question}} {{answer}} {{context}}", []),
        ("relevancy", "unit", "{{question}} {{answer}}", []),
        ("support", "unit", "{{contexts}} {{claim}}", []),
    ],
)
def test_a_model_is_not_shown_an_answer_that_is_not_there(
    criterion: str, per: str, shows: str, units: list[str], project: Project
) -> None:
    given = {"criterion": criterion, "per": per, "model": "m", "prompt": f"{shows} {{{{options}}}}"}
    assert list(LLM.units(LLM.complete(given, project), golden())) == units
    assert "None" not in str(LLM.units(LLM.complete(given, project), golden()))


def test_what_is_asked_about_the_answer_by_its_key_asks_no_judge(project: Project) -> None:
    """A judge of key facts beside the contexts, named after the criterion on answers."""
    config = LEXICAL.complete({"measure": "key_fact", "criterion": "fact_in_answer", "against": "contexts"}, project)
    version = create_judge(project=project, name="facts", kind="lexical", config=config).versions.get()
    answered = golden(contexts=["8000"])
    answered.answer = "8000."
    run = Run(version=version, first_repeat=0, repeats=1)
    assert Scoring(run).to_ask([golden()]) == []
    assert [unit for _sample, unit, _repeat in Scoring(run).to_ask([answered])] == ["fact:0"]
    # Nor is such a sample drawn for it, and an estimate counts it.
    none: dict[str, Any] = {"answer": None, "claims": [], "abstained": None, "abstained_source": ""}
    add_samples(project, ["golden"], contexts=answered.contexts, key_facts=["8000"], **none)
    assert draw_samples(project, ["golden"], 1, seed=1, purpose="canaries", versions=[version]) == []
    estimate = estimate_run(version=version, scope={"all": True})
    assert (estimate.asks, estimate.unfit) == (0, 1)


@pytest.mark.parametrize(
    ("metric", "units"),
    [("context_recall", ["sample"]), ("context_precision", ["sample"]), ("faithfulness", []), ("answer_relevancy", [])],
)
def test_a_metric_of_the_whole_scores_the_sample(
    metric: str, units: list[str], project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ragas, "installed_version", lambda: "0.4.3")
    given = {"metric": metric, "model": "m", **({"embedding_model": "e"} if metric == "answer_relevancy" else {})}
    version = JudgeVersion(judge=Judge(project=project, kind="ragas"), config=RAGAS.complete(given, project))
    assert list(RAGAS.units(version.config, golden())) == units
    purpose = Scoring(Run(version=version, first_repeat=0, repeats=1))
    for unit in units:
        assert purpose.wanted(unit, golden()) == [(dimension_of(version.config), "sample")]
        assert purpose.wanted("answer", sample(answer="a")) == [(dimension_of(version.config), "answer")]


def test_scores_of_elsewhere_are_of_the_sample_where_they_name_no_unit(project: Project, admin: User) -> None:
    def send(kind: str, rows: list[dict[str, Any]]) -> Any:
        file = SimpleUploadedFile("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode())
        reply = client_of(admin).post("/api/projects/p/imports/", {"file": file, "kind": kind}, format="multipart")
        return reply.json()

    rows = [
        {"id": "g", "question": "Which port?", "contexts": ["Port 8000."], "ground_truth": "8000."},
        {"id": "a", "question": "When?", "contexts": ["At nine."], "answer": "At nine."},
    ]
    assert send("samples", rows)["result"]["created"] == 2
    wide = [
        {"question": "Which port?", "context_precision": 1.0},
        {"question": "When?", "answer": "At nine.", "context_precision": 0.5},
    ]
    assert send("scores", wide)["errors"] == []
    assert set(Score.objects.values_list("sample__external_id", "unit")) == {("g", "sample"), ("a", "answer")}
    long = [{"sample_id": name, "judge": "j", "dimension": "context_precision", "score": 0.5} for name in ("g", "a")]
    assert send("scores", long)["errors"] == []
    (whole,) = whole_scores(Criterion.objects.get(key="relevance"), "j", reader=SYSTEM)
    assert whole.numbers == {("g", "sample"): 0.5, ("a", "answer"): 0.5}

    refused = send("scores", [
        {"sample_id": "g", "judge": "k", "criterion": "relevancy", "score": 3},
        {"sample_id": "g", "judge": "k", "unit": "claim:0", "criterion": "support", "score": 1},
        {"sample_id": "g", "judge": "k", "unit": "answer", "score": 1},
        {"question": "When?", "judge": "k", "score": 1},
    ])  # fmt: skip
    assert [(error["row"], error["code"]) for error in refused["errors"]] == [
        (1, "no_answer"), (2, "no_answer"), (3, "no_answer"), (4, "unknown_sample"),
    ]  # fmt: skip
