"""RAGAS judges without the library: their configurations, what they ask about, estimates, and what they say where it
isn't installed. What they score is tested by `make test-ragas`."""

import json
import re
import subprocess
import sys
from typing import Any

import pytest

from annotate.core.errors import Invalid
from annotate.models import Project
from judges.endpoints.calls import StopRun
from judges.kinds import ragas as module
from judges.kinds.base import Refused
from judges.kinds.ragas import KIND
from judges.kinds.ragas.metrics import METRICS
from judges.kinds.registry import kind_named
from judges.models import JudgeVersion
from judges.versions.write import create_judge
from tests.conftest import ROOT
from tests.judges.building import make_project
from tests.judges.kinds.making import sample

VERSION = "0.4.3"
EMBEDDED = {"answer_relevancy": {"embedding_model": "e"}, "answer_correctness": {"embedding_model": "e"}}
WHOLE: dict[str, Any] = {"question": "q", "answer": "a", "reference": "r", "contexts": ["c", "d"]}


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "installed_version", lambda: VERSION)


@pytest.fixture
def missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "installed_version", lambda: None)


def complete(metric: str, **given: Any) -> dict[str, Any]:
    return KIND.complete({"metric": metric, "model": "m", **EMBEDDED.get(metric, {}), **given}, Project())


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("metric", METRICS)
def test_a_complete_configuration_stays_as_it_is(metric: str) -> None:
    found = complete(metric)
    assert found == KIND.complete(found, Project())
    assert (
        found.items()
        >= {
            "metric": metric,
            "model": "m",
            "temperature": 0.0,
            "max_tokens": 2048,
            "seed": None,
            "structured": True,
            "ragas_version": VERSION,
        }.items()
    )
    assert KIND.asks_model(found)
    assert KIND.dimensions(found) == [("answer", metric)]
    assert kind_named("ragas") is KIND


@pytest.mark.usefixtures("installed")
def test_what_each_metric_can_be_told() -> None:
    assert complete("answer_relevancy")["strictness"] == 3
    assert complete("answer_correctness", similarity_weight=0.5, beta=2)["beta"] == 2.0
    assert "embedding_model" not in complete("answer_correctness", similarity_weight=0)
    assert complete("noise_sensitivity")["mode"] == "relevant"
    assert complete("context_precision")["against"] == "reference"
    without = complete("context_precision", against="answer", temperature=None, seed=7)
    assert (without["temperature"], without["seed"]) == (None, 7)
    assert KIND.complete(without, Project()) == without
    assert KIND.dimensions(without) == [("answer", "llm_context_precision_without_reference")]
    # Another library may give other scores.
    assert complete("faithfulness", ragas_version="0.1.0")["ragas_version"] == VERSION


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("field", "config"),
    [
        ("", None),
        ("", ["faithfulness"]),
        ("metric", {"model": "m"}),
        ("metric", {"metric": "aspect_critic", "model": "m"}),
        ("metric", {"metric": ["faithfulness"], "model": "m"}),
        ("model", {"metric": "faithfulness"}),
        ("model", {"metric": "faithfulness", "model": " "}),
        ("temperature", {"metric": "faithfulness", "model": "m", "temperature": 3}),
        ("temperature", {"metric": "faithfulness", "model": "m", "temperature": "0"}),
        ("max_tokens", {"metric": "faithfulness", "model": "m", "max_tokens": 0}),
        ("seed", {"metric": "faithfulness", "model": "m", "seed": -1}),
        ("structured", {"metric": "faithfulness", "model": "m", "structured": 1}),
        ("mode", {"metric": "faithfulness", "model": "m", "mode": "relevant"}),
        ("mode", {"metric": "noise_sensitivity", "model": "m", "mode": "loud"}),
        ("against", {"metric": "context_precision", "model": "m", "against": "question"}),
        ("embedding_model", {"metric": "answer_relevancy", "model": "m"}),
        ("strictness", {"metric": "answer_relevancy", "model": "m", "embedding_model": "e", "strictness": 0}),
        ("embedding_model", {"metric": "answer_correctness", "model": "m"}),
        ("similarity_weight", {"metric": "answer_correctness", "model": "m", "similarity_weight": 1.5}),
        ("beta", {"metric": "answer_correctness", "model": "m", "embedding_model": "e", "beta": 0}),
    ],
)
def test_what_is_refused(field: str, config: Any) -> None:
    with pytest.raises(Refused) as found:
        KIND.complete(config, Project())
    assert found.value.field == field


@pytest.mark.usefixtures("installed")
def test_the_example_of_the_documentation() -> None:
    written = (ROOT / "docs" / "judges.md").read_text(encoding="utf-8")
    specs = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", written, re.DOTALL)]
    (spec,) = [spec for spec in specs if spec.get("kind") == "ragas"]
    assert KIND.complete(spec["config"], Project())["metric"] == "faithfulness"


NEEDS = {
    "faithfulness": {"question", "answer", "contexts"},
    "answer_relevancy": {"question", "answer"},
    "context_precision": {"question", "reference", "contexts"},
    "context_recall": {"question", "reference", "contexts"},
    "answer_correctness": {"question", "answer", "reference"},
    "context_entity_recall": {"reference", "contexts"},
    "noise_sensitivity": {"question", "answer", "reference", "contexts"},
}


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("metric", METRICS)
def test_samples_without_what_it_needs_are_not_asked_about(metric: str) -> None:
    config = complete(metric)
    assert KIND.units(config, sample(**WHOLE)) == ["answer"]
    for name in WHOLE:
        for nothing in ([], ["", " \n"]) if name == "contexts" else ("", " \n", *([None] * (name == "reference"))):
            asked = KIND.units(config, sample(**{**WHOLE, name: nothing}))
            assert asked == ([] if name in NEEDS[metric] else ["answer"]), (name, nothing)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("metric", METRICS)
def test_shares_of_claims_are_not_asked_of_answers_that_abstain(metric: str) -> None:
    asked = KIND.units(complete(metric), sample(**WHOLE, abstained=True))
    assert asked == ([] if metric in ("faithfulness", "noise_sensitivity") else ["answer"])


@pytest.mark.usefixtures("installed")
def test_precision_held_against_the_answer_needs_no_reference() -> None:
    config = complete("context_precision", against="answer")
    assert KIND.units(config, sample(**{**WHOLE, "reference": None})) == ["answer"]
    assert KIND.units(config, sample(**{**WHOLE, "answer": " "})) == []


@pytest.mark.usefixtures("installed")
def test_estimates() -> None:
    one = sample(**WHOLE)
    requests = {metric: KIND.size(complete(metric), one).requests for metric in METRICS}
    assert requests == {
        "faithfulness": 2,
        "answer_relevancy": 5,
        "context_precision": 2,
        "context_recall": 1,
        "answer_correctness": 5,
        "context_entity_recall": 2,
        "noise_sensitivity": 7,
    }
    longer = sample(**{**WHOLE, "answer": "word " * 400})
    config = complete("faithfulness")
    assert KIND.size(config, longer).tokens_in > KIND.size(config, one).tokens_in + 900
    assert KIND.size(config, longer).tokens_out > KIND.size(config, one).tokens_out + 900
    assert KIND.size({**config, "max_tokens": 100}, longer).tokens_out == 200


@pytest.mark.django_db
@pytest.mark.usefixtures("missing")
def test_without_the_library() -> None:
    project = make_project()
    with pytest.raises(Invalid, match="make run WITH=ragas") as found:
        create_judge(project=project, name="j", kind="ragas", config={"metric": "faithfulness", "model": "m"})
    assert not project.judges.exists()
    assert "isn’t installed here" in found.value.message
    with (
        pytest.raises(StopRun, match="make run WITH=ragas") as stopped,
        KIND.open(JudgeVersion(config={"ragas_version": VERSION})),
    ):
        pass
    assert stopped.value.code == "ragas_missing"


@pytest.mark.usefixtures("installed")
def test_another_version_of_the_library_does_not_score_for_this_one() -> None:
    version = JudgeVersion(config={"ragas_version": "0.3.9"})
    words = r"made with RAGAS 0\.3\.9, and 0\.4\.3 is installed"
    with pytest.raises(StopRun, match=words) as stopped, KIND.open(version):
        pass
    assert stopped.value.code == "ragas_version"


def test_looking_at_a_judge_does_not_load_the_library() -> None:
    check = (
        "import os, sys, django; os.environ['DJANGO_SETTINGS_MODULE'] = 'config.settings'; django.setup();"
        "from judges.kinds.registry import kind_named;"
        "kind_named('ragas');"
        "print([name for name in ('ragas', 'langchain_core', 'pydantic', 'openai', 'numpy') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
