"""Embedding judges at an endpoint, and what they refuse of a model folder; local_models/ has the models themselves."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from annotate.models import Project
from judges.endpoints.calls import Answered, CallFailed, ChatRequest, EmbedRequest
from judges.endpoints.client import open_client
from judges.kinds.base import Item, Outcome, Refused
from judges.kinds.embedding import KIND, AskingScorer
from judges.models import ScoreStatus
from tests.database import copied_from_world
from tests.judges.building import make_project, unsaved_endpoint
from tests.judges.kinds.making import sample
from tests.openai_server import OpenAIServer

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> Project:
    return make_project(criteria=("support", "relevance", "fact_in_answer", "relevancy", "correctness"))


project = copied_from_world()


class Letters:
    """A model whose vector of a text counts its a, b and c; what it is given in `vectors` comes instead."""

    def __init__(self, vectors: Any = None) -> None:
        self.requests: list[EmbedRequest] = []
        self._vectors = vectors

    def embed(self, request: EmbedRequest) -> Answered:
        self.requests.append(request)
        vectors = [[float(text.count(letter)) for letter in "abc"] for text in request.texts]
        return Answered(key=str(len(self.requests)), vectors=vectors if self._vectors is None else self._vectors)

    def chat(self, request: ChatRequest) -> Answered:
        raise CallFailed(ScoreStatus.ERROR, "this model does not chat")


def _config(project: Project, criterion: str = "support", **options: Any) -> dict[str, Any]:
    return KIND.complete({"criterion": criterion, "model": "letters", **options}, project)


def _asked(config: dict[str, Any], one: Any, model: Any = None) -> Outcome:
    (unit,) = KIND.units(config, one)
    return AskingScorer(config).ask(Item(one, unit, repeat=2), model or Letters())


def _cos(one: Sequence[float], other: Sequence[float]) -> float:
    return float(np.dot(one, other) / np.linalg.norm(one) / np.linalg.norm(other))


def test_claims_are_held_against_the_nearest_context(project: Project) -> None:
    one = sample(claims=["aab", "c"], contexts=["abb", "bc", " "])
    model = Letters()
    outcome = _asked(_config(project), one, model)
    assert [score.number for score in outcome.scores] == [
        pytest.approx(_cos([2, 1, 0], [1, 2, 0])),
        pytest.approx(_cos([0, 0, 1], [0, 1, 1])),
    ]
    assert [score.rationale for score in outcome.scores] == ["Nearest to context 1.", "Nearest to context 2."]
    # One request of all that isn't blank, each text once.
    assert [(request.model, list(request.texts), request.draw) for request in model.requests] == [
        ("letters", ["aab", "c", "abb", "bc"], 2)
    ]
    assert [reply.key for reply in outcome.replies] == ["1"]


def test_the_mean_over_contexts_and_contexts_against_the_question(project: Project) -> None:
    one = sample(claims=["aab"], contexts=["abb", "bc"], question="b")
    (score,) = _asked(_config(project, contexts="mean"), one).scores
    assert score.number == pytest.approx((_cos([2, 1, 0], [1, 2, 0]) + _cos([2, 1, 0], [0, 1, 1])) / 2)
    ranked = _asked(_config(project, "relevance"), one).scores
    assert [(score.unit, score.dimension) for score in ranked] == [
        ("context:0", "relevance"),
        ("context:1", "relevance"),
    ]
    assert ranked[0].number == pytest.approx(2 / math.sqrt(5))


def test_many_texts_go_in_several_requests(project: Project) -> None:
    one = sample(claims=["a", "b", "c", "ab"], contexts=["abc"])
    config = _config(project, texts_per_request=2)
    model = Letters()
    outcome = _asked(config, one, model)
    assert [len(request.texts) for request in model.requests] == [2, 2, 1]
    assert len(outcome.replies) == KIND.size(config, one).requests == 3
    assert [score.status for score in outcome.scores] == [ScoreStatus.OK] * 4


@pytest.mark.parametrize(
    ("given", "criterion", "options"),
    [
        ({"claims": ["a"]}, "support", {}),
        ({"contexts": ["a"]}, "support", {}),
        ({"answer": "a"}, "correctness", {"against": "reference"}),
        ({"answer": "a"}, "fact_in_answer", {}),
    ],
)
def test_what_a_sample_lacks_is_not_asked_about(
    project: Project, given: dict[str, Any], criterion: str, options: dict[str, Any]
) -> None:
    assert KIND.units(_config(project, criterion, **options), sample(**given)) == []


def test_what_is_blank_fails(project: Project) -> None:
    outcome = _asked(_config(project), sample(answer="x", claims=["\n", "a"], contexts=["a"]))
    assert [score.status for score in outcome.scores] == [ScoreStatus.ERROR, ScoreStatus.OK]
    outcome = _asked(_config(project), sample(claims=["a"], contexts=[" "]))
    assert [score.detail for score in outcome.scores] == ["There is no word in the contexts."]


@pytest.mark.parametrize(
    ("vectors", "status"),
    [
        ([[1.0, 0.0]], ScoreStatus.PARSE_ERROR),
        ([[0.0, 0.0], [1.0, 0.0]], ScoreStatus.ERROR),
        ([[1.0], [1.0, 0.0]], ScoreStatus.ERROR),
        ([[], []], ScoreStatus.ERROR),
        ([[math.nan, 0.0], [1.0, 0.0]], ScoreStatus.ERROR),
        ([[math.inf, 0.0], [1.0, 0.0]], ScoreStatus.ERROR),
        ([[1e300, 1e300], [1e-300, 1e-300]], ScoreStatus.OK),
    ],
)
def test_vectors_without_a_cosine_give_no_score(project: Project, vectors: Any, status: ScoreStatus) -> None:
    (score,) = _asked(_config(project), sample(claims=["a"], contexts=["b"]), Letters(vectors)).scores
    assert score.status == status
    assert score.number == (pytest.approx(1) if status == ScoreStatus.OK else None)


def test_no_vectors_at_all(project: Project) -> None:
    class Silent(Letters):
        def embed(self, request: EmbedRequest) -> Answered:
            return Answered(key="k")

    outcome = _asked(_config(project), sample(claims=["a", "b"], contexts=["b"]), Silent())
    assert [score.status for score in outcome.scores] == [ScoreStatus.PARSE_ERROR] * 2
    assert len(outcome.replies) == 1


def test_through_a_real_server(project: Project, openai_server: OpenAIServer) -> None:
    one = sample(claims=["The light is amber"], contexts=["The light is amber", "Boilers"])
    with open_client(unsaved_endpoint(openai_server)) as model:
        (score,) = _asked(_config(project), one, model).scores
    assert score.number == pytest.approx(1)
    assert score.rationale == "Nearest to context 1."


def test_a_complete_configuration_stays_as_it_is(project: Project) -> None:
    config = _config(project)
    assert KIND.complete(config, project) == config
    assert KIND.asks_model(config)
    assert KIND.dimensions(config) == [("claim", "support")]


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"model": ""}, "model"),
        ({"model": "x\0"}, "model"),
        ({"texts_per_request": 0}, "texts_per_request"),
        ({"contexts": "all"}, "contexts"),
        ({"against": "claims"}, "against"),
        ({"pooling": "mean"}, "pooling"),
        ({"key": "sk-1"}, "key"),
    ],
)
def test_configurations_that_are_refused(project: Project, options: dict[str, Any], field: str) -> None:
    with pytest.raises(Refused) as refused:
        _config(project, **options)
    assert refused.value.field == field
