"""The tree, built from labels alone."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from systems.diagnosis.tree import Asks, Case, Said, Stage, diagnose

# A response with nothing wrong.
GOOD = Case(
    contexts={"context:0": False, "context:1": True},
    said={
        Asks.ABSTAINED: {"answer": False},
        Asks.CONTRADICTION: {"sample": False},
        Asks.FACT_IN_CONTEXTS: {"fact:0": True, "fact:1": False},
        Asks.FACT_IN_ANSWER: {"fact:0": True, "fact:1": False},
        Asks.CLAIM_SUPPORTED: {"claim:0": True, "claim:2": True},
        Asks.ANSWER_CORRECT: {"answer": True},
        Asks.ON_TOPIC: {"answer": True},
    },
)


def said(case: Case, **more: Said | None) -> Case:
    return replace(case, said={**case.said, **{Asks(name): value for name, value in more.items()}})


# What makes each stage match, in the order of precedence.
FAULTS = {
    Stage.FAILED_REQUEST: lambda case: replace(case, failed=True),
    Stage.ABSTAINED_WRONGLY: lambda case: said(case, abstained={"answer": True}),
    Stage.RETRIEVAL_MISS: lambda case: replace(case, contexts={"context:0": False, "context:1": False}),
    Stage.CONTRADICTORY_SOURCES: lambda case: said(case, contradiction={"sample": True}),
    Stage.CONTEXT_OVERLOAD: lambda case: said(case, fact_in_answer={"fact:0": False, "fact:1": False}),
    Stage.HALLUCINATION: lambda case: said(case, claim_supported={"claim:0": True, "claim:2": False}),
    Stage.POOR_DOCUMENT: lambda case: said(case, answer_correct={"answer": False}),
    Stage.OFF_TOPIC: lambda case: said(case, on_topic={"answer": False}),
}


@pytest.mark.parametrize("stage", FAULTS)
def test_each_stage_is_reached_from_labels(stage: Stage) -> None:
    found = diagnose(FAULTS[stage](GOOD))
    assert (found.stage, found.path[-1].stage, found.missing, found.unasked) == (stage, stage, (), ())


def test_nothing_is_wrong() -> None:
    found = diagnose(GOOD)
    assert (found.stage, found.rank, len(found.path)) == (Stage.NOTHING_WRONG, 2, len(FAULTS))
    assert [fact.unit for fact in found.path[2].facts] == ["context:1"]


@pytest.mark.parametrize(("first", "second"), list(itertools.combinations(FAULTS, 2)))
def test_the_first_that_matches_counts(first: Stage, second: Stage) -> None:
    assert diagnose(FAULTS[first](FAULTS[second](GOOD))).stage is first


def test_the_deciding_labels_are_told() -> None:
    overloaded = diagnose(FAULTS[Stage.CONTEXT_OVERLOAD](GOOD))
    assert overloaded.rank == 2
    assert [(fact.asks, fact.unit, fact.value) for fact in overloaded.path[-1].facts] == [
        (Asks.FACT_IN_CONTEXTS, "fact:0", True),
        (Asks.FACT_IN_ANSWER, "fact:0", False),
    ]
    hallucinated = diagnose(FAULTS[Stage.HALLUCINATION](GOOD))
    assert [(fact.unit, fact.value) for fact in hallucinated.path[-1].facts] == [("claim:2", False)]


def test_an_unanswerable_question_is_abstained_on_rightly_and_misses_no_document() -> None:
    unanswerable = replace(GOOD, answerable=False)
    assert diagnose(FAULTS[Stage.ABSTAINED_WRONGLY](unanswerable)).stage is Stage.ABSTAINED_RIGHTLY
    assert diagnose(FAULTS[Stage.RETRIEVAL_MISS](unanswerable)).stage is Stage.NOTHING_WRONG
    nothing_found = replace(FAULTS[Stage.HALLUCINATION](unanswerable), contexts={})
    assert diagnose(nothing_found).stage is Stage.HALLUCINATION


def test_nothing_retrieved_is_a_miss_without_any_label() -> None:
    assert diagnose(replace(GOOD, contexts={}, contexts_asked=False)).stage is Stage.RETRIEVAL_MISS


def test_what_is_retrieved_without_an_answer_is_only_a_miss_or_undecided() -> None:
    ranking = replace(GOOD, has_answer=False, said={})
    assert diagnose(FAULTS[Stage.RETRIEVAL_MISS](ranking)).stage is Stage.RETRIEVAL_MISS
    found = diagnose(ranking)
    assert (found.stage, [fact.asks for fact in found.missing]) == (None, [Asks.HAS_ANSWER])


@pytest.mark.parametrize(
    ("case", "asks", "units"),
    [
        (said(GOOD, abstained={"answer": None}), Asks.ABSTAINED, ["answer"]),
        (replace(GOOD, contexts={"context:0": False, "context:1": None}), Asks.CONTEXT_NEEDED, ["context:1"]),
        (said(GOOD, contradiction={"sample": None}), Asks.CONTRADICTION, ["sample"]),
        (said(GOOD, fact_in_answer={"fact:0": None, "fact:1": None}), Asks.FACT_IN_ANSWER, ["fact:0"]),
        (said(GOOD, claim_supported={"claim:0": None, "claim:2": True}), Asks.CLAIM_SUPPORTED, ["claim:0"]),
        (said(GOOD, answer_correct={"answer": None}), Asks.ANSWER_CORRECT, ["answer"]),
        (said(GOOD, on_topic={"answer": None}), Asks.ON_TOPIC, ["answer"]),
        # Neither a criterion nor a document says it, or there is no claim: then no later stage can be told.
        (replace(GOOD, contexts={"context:0": None}, contexts_asked=False), Asks.CONTEXT_NEEDED, [""]),
        (said(GOOD, claim_supported=None), Asks.CLAIM_SUPPORTED, [""]),
        (said(GOOD, claim_supported={}), Asks.CLAIM_SUPPORTED, [""]),
    ],
)
def test_where_labels_are_missing_it_is_undecided_and_says_which(case: Case, asks: Asks, units: list[str]) -> None:
    found = diagnose(case)
    assert (found.stage, found.path[-1].matches) == (None, None)
    assert [(fact.asks, fact.unit, fact.value) for fact in found.missing] == [(asks, unit, None) for unit in units]


def test_one_label_that_matches_is_enough() -> None:
    assert diagnose(said(GOOD, claim_supported={"claim:0": None, "claim:2": False})).stage is Stage.HALLUCINATION
    lost = said(GOOD, fact_in_contexts={"fact:0": True, "fact:1": None}, fact_in_answer={"fact:0": False})
    assert diagnose(lost).stage is Stage.CONTEXT_OVERLOAD
    known = replace(GOOD, contexts={"context:0": None, "context:1": True})
    assert diagnose(known).stage is Stage.NOTHING_WRONG


@pytest.mark.parametrize(
    ("asks", "stage"),
    [
        ("contradiction", Stage.CONTRADICTORY_SOURCES),
        ("fact_in_contexts", Stage.CONTEXT_OVERLOAD),
        ("answer_correct", Stage.POOR_DOCUMENT),
        ("on_topic", Stage.OFF_TOPIC),
    ],
)
def test_what_no_criterion_asks_is_passed_over_and_named(asks: str, stage: Stage) -> None:
    found = diagnose(said(GOOD, **{asks: None}))
    assert (found.stage, found.unasked) == (Stage.NOTHING_WRONG, (stage,))


def cases(seed: int) -> Iterator[tuple[Case, Case]]:
    """Cases with some labels, each beside itself with more of them."""
    draw = random.Random(seed)

    def some(units: Said) -> Said:
        return {unit: label(good) for unit, good in units.items()}

    def label(good: bool | None) -> bool | None:
        """Most often as in a response with nothing wrong."""
        return draw.choice([good, good, good, good, not good, None])

    def more(units: Said | None) -> Said | None:
        return units and {unit: draw.choice([True, False, None]) if v is None else v for unit, v in units.items()}

    for _ in range(3000):
        case = replace(
            GOOD,
            answerable=draw.random() < 0.8,
            contexts=some(GOOD.contexts),
            said={asks: None if draw.random() < 0.1 else some(units or {}) for asks, units in GOOD.said.items()},
        )
        yield (
            case,
            replace(case, contexts=more(case.contexts), said={asks: more(units) for asks, units in case.said.items()}),
        )


def test_more_labels_never_change_a_stage_that_is_decided() -> None:
    before = [(diagnose(fewer), diagnose(more)) for fewer, more in cases(18)]
    decided = [(one, other) for one, other in before if one.stage is not None]
    assert len({one.stage for one, _ in decided}) == len(Stage) - 1  # no request failed
    assert [one for one, other in decided if one.stage is not other.stage] == []
    # And some that were not decided are then.
    assert any(one.stage is None and other.stage is not None for one, other in before)
