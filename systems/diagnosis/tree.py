"""The tree: from what was said about one response to the stage that failed; the first that matches.

| # | stage | matches |
|---|---|---|
| 1 | failed request | there is no response at all |
| 2 | abstained, rightly or wrongly | the answer only says that it has none; rightly on an unanswerable question |
| 3 | retrieval miss | none of the contexts is needed; not asked of an unanswerable question |
| 4 | contradictory sources | the contexts contradict each other |
| 5 | context overload | a key fact stands in the contexts and not in the answer |
| 6 | hallucination | a claim is not supported |
| 7 | poor document | all claims are supported, and the answer is wrong |
| 8 | off topic | the answer does not address the question |
| 9 | nothing wrong | none of these |

A step that labels are missing for, while none of those that are there matches, leaves the response undecided: a later
stage could only be the second that matches. What no criterion asks (`Case.said` has None for it) is passed over and
named in `Diagnosis.unasked`; but whether contexts are needed and claims supported has to be asked, or the stages behind
could not be told from each other. So more labels never change a stage that is decided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum


class Stage(StrEnum):
    FAILED_REQUEST = "failed_request"
    ABSTAINED_RIGHTLY = "abstained_rightly"
    ABSTAINED_WRONGLY = "abstained_wrongly"
    RETRIEVAL_MISS = "retrieval_miss"
    CONTRADICTORY_SOURCES = "contradictory_sources"
    CONTEXT_OVERLOAD = "context_overload"
    HALLUCINATION = "hallucination"
    POOR_DOCUMENT = "poor_document"
    OFF_TOPIC = "off_topic"
    NOTHING_WRONG = "nothing_wrong"


class Asks(StrEnum):
    """What the tree asks about a response."""

    ABSTAINED = "abstained"
    CONTEXT_NEEDED = "context_needed"
    CONTRADICTION = "contradiction"
    FACT_IN_CONTEXTS = "fact_in_contexts"
    FACT_IN_ANSWER = "fact_in_answer"
    CLAIM_SUPPORTED = "claim_supported"
    ANSWER_CORRECT = "answer_correct"
    ON_TOPIC = "on_topic"
    # No criterion asks it: there is none.
    HAS_ANSWER = "has_answer"


# Of each unit whether it is so; None: nobody has said. None for all of it: no criterion asks.
Said = Mapping[str, bool | None]


@dataclass(frozen=True, slots=True)
class Case:
    """What is known of one response. contexts: of each, the best ranked first, whether it is needed; empty where
    nothing was retrieved. contexts_asked: whether anything says what is needed, a criterion or a list of documents.
    answerable: also where the test set doesn't say."""

    answerable: bool = True
    failed: bool = False
    has_answer: bool = True
    contexts: Said = field(default_factory=dict)
    contexts_asked: bool = True
    said: Mapping[Asks, Said | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that was said of a unit, or (value None) that would have to be. unit "": the response as a whole, or no
    criterion asks."""

    asks: Asks
    unit: str = ""
    value: bool | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """A stage that was asked about. matches: None where labels are missing. facts: what decided it, or is missing.
    asked: False where nothing asks about it, or there is nothing to ask about."""

    stage: Stage
    matches: bool | None
    facts: tuple[Fact, ...] = ()
    asked: bool = True


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """stage: None while it is undecided. path: the steps as far as they were asked, the last one decides. rank: of the
    best ranked context that is needed, from 1."""

    stage: Stage | None
    path: tuple[Step, ...]
    rank: int | None = None

    @property
    def missing(self) -> tuple[Fact, ...]:
        """The labels that would decide; empty where it is decided."""
        return self.path[-1].facts if self.stage is None else ()

    @property
    def unasked(self) -> tuple[Stage, ...]:
        """Stages before this one that nothing asks about, so that it may be one of them."""
        return tuple(step.stage for step in self.path if not step.asked)


def diagnose(case: Case) -> Diagnosis:
    """The first stage that matches.

    >>> miss = diagnose(Case(contexts={"context:0": False, "context:1": False}))
    >>> miss.stage.value, [fact.unit for fact in miss.path[-1].facts]
    ('retrieval_miss', ['context:0', 'context:1'])
    >>> unsure = diagnose(Case(contexts={"context:0": True}, said={Asks.CLAIM_SUPPORTED: {"claim:0": None}}))
    >>> unsure.stage, [(fact.asks.value, fact.unit) for fact in unsure.missing], unsure.rank
    (None, [('claim_supported', 'claim:0')], 1)
    """
    path: list[Step] = []
    rank = next((rank for rank, needed in enumerate(case.contexts.values(), start=1) if needed), None)
    for ask in _STEPS:
        step = ask(case)
        path.append(step)
        if step.matches is not False:
            return Diagnosis(step.stage if step.matches else None, tuple(path), rank)
    return Diagnosis(Stage.NOTHING_WRONG, tuple(path), rank)


def _failed(case: Case) -> Step:
    return Step(Stage.FAILED_REQUEST, case.failed)


def _abstained(case: Case) -> Step:
    stage = Stage.ABSTAINED_WRONGLY if case.answerable else Stage.ABSTAINED_RIGHTLY
    if not case.has_answer:
        return Step(stage, False)
    return _any(stage, Asks.ABSTAINED, case.said.get(Asks.ABSTAINED), when=True)


def _missed(case: Case) -> Step:
    stage = Stage.RETRIEVAL_MISS
    if not case.answerable:
        return Step(stage, False)
    if case.contexts and not case.contexts_asked:
        return Step(stage, None, (Fact(Asks.CONTEXT_NEEDED),))
    return _all(stage, Asks.CONTEXT_NEEDED, case.contexts, when=False)


def _contradictory(case: Case) -> Step:
    said = case.said.get(Asks.CONTRADICTION) if case.contexts else {}
    return _any(Stage.CONTRADICTORY_SOURCES, Asks.CONTRADICTION, said, when=True)


def _overloaded(case: Case) -> Step:
    stage = Stage.CONTEXT_OVERLOAD
    if not case.has_answer:
        return Step(stage, None, (Fact(Asks.HAS_ANSWER),))
    given, told = case.said.get(Asks.FACT_IN_CONTEXTS), case.said.get(Asks.FACT_IN_ANSWER)
    if not given or not told:
        return Step(stage, False, asked=False)
    lost, unknown, known = [], [], []
    for unit in given:
        there = Fact(Asks.FACT_IN_CONTEXTS, unit, given[unit])
        stated = Fact(Asks.FACT_IN_ANSWER, unit, told.get(unit))
        if there.value is False or stated.value is True:
            known += [fact for fact in (there, stated) if fact.value is not None]
        elif there.value is None or stated.value is None:
            unknown += [fact for fact in (there, stated) if fact.value is None]
        else:
            lost += [there, stated]
    if lost:
        return Step(stage, True, tuple(lost))
    return Step(stage, None, tuple(unknown)) if unknown else Step(stage, False, tuple(known))


def _hallucinated(case: Case) -> Step:
    claims = case.said.get(Asks.CLAIM_SUPPORTED)
    if not claims:
        return Step(Stage.HALLUCINATION, None, (Fact(Asks.CLAIM_SUPPORTED),))
    return _any(Stage.HALLUCINATION, Asks.CLAIM_SUPPORTED, claims, when=False)


def _poor(case: Case) -> Step:
    return _any(Stage.POOR_DOCUMENT, Asks.ANSWER_CORRECT, case.said.get(Asks.ANSWER_CORRECT), when=False)


def _beside(case: Case) -> Step:
    return _any(Stage.OFF_TOPIC, Asks.ON_TOPIC, case.said.get(Asks.ON_TOPIC), when=False)


_STEPS: Sequence[Callable[[Case], Step]] = (
    _failed, _abstained, _missed, _contradictory, _overloaded, _hallucinated, _poor, _beside,
)  # fmt: skip


def _any(stage: Stage, asks: Asks, said: Said | None, *, when: bool) -> Step:
    """Matches where one of the units is so."""
    if not said:
        return Step(stage, False, asked=False)
    deciding = _with(asks, said, when)
    if deciding:
        return Step(stage, True, deciding)
    unknown = _with(asks, said, None)
    return Step(stage, None, unknown) if unknown else Step(stage, False, _with(asks, said, not when))


def _all(stage: Stage, asks: Asks, said: Said, *, when: bool) -> Step:
    """Matches where all of the units are so, also where there is none."""
    against = _with(asks, said, not when)
    if against:
        return Step(stage, False, against)
    unknown = _with(asks, said, None)
    return Step(stage, None, unknown) if unknown else Step(stage, True, _with(asks, said, when))


def _with(asks: Asks, said: Said, value: bool | None) -> tuple[Fact, ...]:
    return tuple(Fact(asks, unit, one) for unit, one in said.items() if one is value)


def of_units(units: Iterable[str], said: Mapping[str, bool]) -> dict[str, bool | None]:
    """What was said of each of these units, of whichever more it was said."""
    return {unit: said.get(unit) for unit in units}
