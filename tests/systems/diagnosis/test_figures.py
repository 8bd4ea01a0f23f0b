"""What diagnoses come to, with intervals by question group, and the tree beside people's own word."""

from __future__ import annotations

from typing import Any

import pytest

from annotate.core.blindness import SYSTEM
from systems.diagnosis.figures_read import Figures, Part, figures_of
from systems.diagnosis.read import diagnosed
from systems.diagnosis.tree import Stage
from tests.systems.diagnosis.building import GOOD, Desk, Labels, diagnose_json, question, response

WRONG: dict[str, Labels] = {
    "retrieval miss": {**GOOD, "context:1 relevance": 0},
    "context overload": {**GOOD, "fact:0 fact_in_answer": "no"},
    "hallucination": {**GOOD, "claim:0 support": "contradicted"},
    "poor document": {**GOOD, "answer correctness": 2},
    "none": GOOD,
}


def figures(desk: Desk) -> Figures:
    return figures_of(diagnosed(desk.project, reader=SYSTEM))


def counts(part: Part) -> dict[str | None, int]:
    return {one.stage and one.stage.value: one.count for one in part.stages if one.count}


def share(part: Part, stage: Stage | None) -> dict[str, Any]:
    (found,) = [one.share for one in part.stages if one.stage is stage]
    assert found is not None
    return found


def test_every_response_stays_in_the_denominator(desk: Desk) -> None:
    desk.ask(question("q1", category="net"), question("q2", category="net", type="reasoning"), question("q3"))
    desk.answer(response("q1"), response("q2"), response("q3"), response("q1", "v8"))
    desk.label("q1@v7", WRONG["hallucination"])
    found = figures(desk)
    assert (found.whole.responses, counts(found.whole)) == (4, {"hallucination": 1, None: 3})
    known = share(found.whole, Stage.HALLUCINATION)
    # Both versions' responses to q1 are one group.
    assert (known["value"], known["n"], known["clusters"]) == (0.25, 4, 3)
    assert known["low"] < 0.25 < known["high"]
    assert [(part.name, part.responses, counts(part)) for part in found.versions] == [
        ("v7", 3, {"hallucination": 1, None: 2}),
        ("v8", 1, {None: 1}),
    ]
    assert [(part.name, part.responses) for part in found.kinds] == [("reasoning", 1), ("simple", 3)]
    assert [(part.name, part.responses) for part in found.categories] == [("", 1), ("net", 3)]


def test_abstentions_stand_beside_groundedness_never_in_it(desk: Desk) -> None:
    refusal = {"answer": "I don't have that information.", "claims": []}
    kinds = {"q1": "unanswerable", "q2": "unanswerable", "q3": "simple", "q4": "simple", "q5": "simple"}
    desk.ask(*(question(name, type=kind) for name, kind in kinds.items()))
    desk.answer(response("q1", **refusal), response("q2"), response("q3", **refusal), response("q4"), response("q5"))
    desk.label("q4@v7", WRONG["hallucination"])
    found = figures(desk)
    assert found.abstention is not None
    assert found.triad is not None
    assert (found.abstention["right"]["value"], found.abstention["right"]["n"]) == (0.5, 2)
    assert found.abstention["wrong"]["value"] == pytest.approx(1 / 3)
    assert (found.triad["groundedness"]["value"], found.triad["groundedness"]["n"]) == (0.5, 2)
    assert (found.triad["context_relevance"]["value"], found.triad["answer_relevance"]["value"]) == (0.5, 1.0)


def test_the_tree_beside_peoples_own_word(desk: Desk) -> None:
    """With one disagreement of ten: κ = 1 - .1/(1 - Σ p q)."""
    words = list(WRONG)
    desk.ask(*(question(f"q{number}") for number in range(13)))
    desk.answer(*(response(f"q{number}") for number in range(13)))
    for number in range(10):
        word = words[number % 5]
        said = "none" if number == 0 else word
        desk.label(f"q{number}@v7", {**WRONG[word], "answer failure": said})
    # One that no option of theirs means, one that is undecided, and one that nobody named.
    desk.label("q10@v7", {**GOOD, "answer relevancy": 1, "answer failure": "none"})
    desk.label("q11@v7", {"answer failure": "hallucination"})
    desk.label("q12@v7", GOOD)
    found = figures(desk).agreement
    assert found is not None
    assert (found.compared, found.without_option, found.undecided, found.labelled) == (10, 1, 1, 12)
    expected = 0.1 * 0.2 + 0.2 * 0.2 * 3 + 0.3 * 0.2
    assert found.kappa["value"] == pytest.approx((0.9 - expected) / (1 - expected))
    assert found.kappa["low"] < found.kappa["value"] < found.kappa["high"]


def test_without_failure_labels_it_is_not_known(desk: Desk) -> None:
    desk.ask(question("q1"))
    desk.answer(response("q1"))
    desk.label("q1@v7", GOOD)
    found = figures(desk).agreement
    assert found is not None
    assert (found.labelled, found.kappa["value"], found.kappa["reason"]) == (0, None, {"code": "few_common_units"})


def test_noise_sensitivity_is_of_wrong_claims(desk: Desk) -> None:
    """The published example: of three wrong claims two have their support in a relevant context: .667."""
    desk.ask(question("q1"), question("q2"))
    claims = [f"Claim {number} is here." for number in range(4)]
    desk.answer(response("q1", answer=" ".join(claims), claims=claims), response("q2"))
    sources = ["relevant", "relevant", "irrelevant", "relevant"]
    labels = {f"claim:{number} correct": "correct" if number == 3 else "incorrect" for number in range(4)}
    labels |= {f"claim:{number} evidence": source for number, source in enumerate(sources)}
    desk.label("q1@v7", {"context:1 relevance": 3, **labels})
    # Where no needed context was there, noise has misled nobody.
    desk.label("q2@v7", {**WRONG["retrieval miss"], "claim:0 correct": "incorrect", "claim:0 evidence": "irrelevant"})
    noise = figures(desk).noise
    assert noise is not None
    assert (round(noise["relevant"]["value"], 3), noise["relevant"]["n"]) == (0.667, 3)
    assert round(noise["irrelevant"]["value"], 3) == 0.333


def test_the_command_prints_all_of_it(desk: Desk) -> None:
    desk.ask(question("q1"), question("q2"))
    desk.answer(response("q1"), response("q2"), response("q1", "v8"))
    desk.label("q1@v7", WRONG["context overload"])
    found = diagnose_json(desk.project)
    assert (found["schema"], found["version"], found["set"], found["by"]) == (1, "v7", None, "people")
    assert [(one["stage"], one["count"]) for one in found["whole"]["stages"] if one["count"]] == [
        ("context_overload", 1),
        (None, 1),
    ]
    first, second = found["per_response"]
    assert (first["question"], first["stage"], first["rank"]) == ("q1", "context_overload", 2)
    assert first["path"][-1] == {
        "stage": "context_overload",
        "matches": True,
        "asked": True,
        "facts": [
            {"asks": "fact_in_contexts", "unit": "fact:0", "value": True},
            {"asks": "fact_in_answer", "unit": "fact:0", "value": False},
        ],
    }
    assert (second["stage"], second["missing"][0]) == (
        None,
        {"asks": "context_needed", "unit": "context:0", "value": None},
    )
