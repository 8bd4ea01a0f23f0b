"""From what was said of a response's sample to the case that the tree decides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from annotate.core.blindness import Reader
from annotate.core.choices import CANT_TELL
from annotate.core.scales import Value
from systems.diagnosis.mapping_read import CLAIM_CORRECT, FAILURE, IRRELEVANT, RELEVANT, SUPPORT_SOURCE, Mapped
from systems.diagnosis.tree import Asks, Case, Diagnosis, Said, Stage, diagnose, of_units
from systems.models import QuestionKind
from systems.questions.relevant_read import Judgement, document_judgements

# What was said of a sample: by question, of each unit the value as it stands.
SaidOfSample = Mapping[str, Mapping[str, Value]]


@dataclass(frozen=True, slots=True)
class Asking:
    """A response as its row has it. contexts: the id of each, None where it has none; documents: what was retrieved
    where contexts don't say it."""

    response: int
    version: str
    question: str
    question_id: int
    revision_id: int
    group: str
    kind: str
    category: str
    repeat: int
    failed: bool
    sample: int | None
    sample_id: str | None
    has_answer: bool
    abstained: bool
    contexts: Sequence[str | None]
    documents: Sequence[str]
    relevant: Sequence[str]
    claims: Sequence[int]
    facts: int


@dataclass(frozen=True, slots=True)
class Counts:
    """What figures are made of. Of claims that are wrong, while a needed document was there: how many, and how many of
    them a relevant, and an irrelevant, context supports."""

    needed: tuple[int, int] = (0, 0)
    supported: tuple[int, int] = (0, 0)
    on_topic: tuple[int, int] = (0, 0)
    wrong: int = 0
    by_relevant: int = 0
    by_irrelevant: int = 0


@dataclass(frozen=True, slots=True)
class Diagnosed:
    """failure: the stage that people named themselves; None where they didn't, or by a value that means none."""

    asking: Asking
    diagnosis: Diagnosis
    counts: Counts
    failure: Stage | None


def diagnosed_rows(
    mapped: Mapped, asking: Iterable[Asking], said: Mapping[int, SaidOfSample], *, reader: Reader
) -> list[Diagnosed]:
    """said: by the sample's primary key."""
    asking = list(asking)
    revisions = {one.revision_id: one.question_id for one in asking}
    known = document_judgements(mapped.project, revisions, reader=reader)
    return [_diagnosed(mapped, one, said.get(one.sample or 0, {}), known[one.revision_id]) for one in asking]


def _diagnosed(mapped: Mapped, asking: Asking, said: SaidOfSample, known: Mapping[str, Judgement]) -> Diagnosed:
    case = _case(mapped, asking, said, known)
    stages = mapped.asked[FAILURE].stages if FAILURE in mapped.asked else {}
    failures = list(said.get(FAILURE, {}).values())
    return Diagnosed(
        asking=asking,
        diagnosis=diagnose(case),
        counts=_counts(mapped, asking, said, case),
        failure=stages.get(str(failures[0])) if failures else None,
    )


def _case(mapped: Mapped, asking: Asking, said: SaidOfSample, known: Mapping[str, Judgement]) -> Case:
    needed = {**dict.fromkeys(asking.relevant, True), **{name: one.is_relevant for name, one in known.items()}}
    are_named = bool(asking.relevant) or any(
        one.imported is not None and one.imported.is_relevant for one in known.values()
    )
    told = {name: _told(mapped, name, said) for name in mapped.asked}
    facts = [f"fact:{index}" for index in range(asking.facts)]
    of: dict[Asks, list[str]] = {
        Asks.FACT_IN_CONTEXTS: facts,
        Asks.FACT_IN_ANSWER: facts,
        Asks.CLAIM_SUPPORTED: [] if asking.abstained else [f"claim:{index}" for index in asking.claims],
    }
    questions: dict[Asks, Said | None] = {
        asks: of_units(of[asks] if asks in of else _units(mapped, asks, asking), told[asks]) if asks in told else None
        for asks in Asks
    }
    if Asks.ABSTAINED not in told:
        # Whether an answer abstains is a fact of the sample, as the rule proposed it and people corrected it.
        questions[Asks.ABSTAINED] = {"answer": asking.abstained}
    return Case(
        answerable=asking.kind != QuestionKind.UNANSWERABLE,
        failed=asking.failed,
        has_answer=asking.has_answer,
        contexts=_contexts(asking, told.get(Asks.CONTEXT_NEEDED, {}), needed, False if are_named else None),
        contexts_asked=bool(needed) or Asks.CONTEXT_NEEDED in told,
        said=questions,
    )


def _contexts(
    asking: Asking, told: Mapping[str, bool], needed: Mapping[str, bool], otherwise: bool | None
) -> dict[str, bool | None]:
    """By people's word on the passage, else by what is known of its document, else `otherwise`: where it was imported
    which documents a question needs, others are not needed, as in all figures of retrieval. People may not have seen
    them."""

    def by_document(name: str | None) -> bool | None:
        return None if name is None else needed.get(name, otherwise)

    if not asking.contexts:
        return {f"document:{name}": by_document(name) for name in asking.documents}
    units = [f"context:{index}" for index in range(len(asking.contexts))]
    return {
        unit: told[unit] if unit in told else by_document(name)
        for unit, name in zip(units, asking.contexts, strict=True)
    }


def _units(mapped: Mapped, asks: Asks, asking: Asking) -> list[str]:
    """Of what is asked once, or of each claim where the criterion is on claims."""
    unit = mapped.asked[asks].criterion.unit
    return [f"claim:{index}" for index in asking.claims] if unit == "claim" else [unit]


def _told(mapped: Mapped, name: str, said: SaidOfSample) -> dict[str, bool]:
    """Yes or no of each unit that something was said of."""
    asked = mapped.asked[name]
    passes, yes = asked.criterion.passes, asked.yes == "passes"
    return {unit: (value in passes) is yes for unit, value in said.get(name, {}).items() if value != CANT_TELL}


def _counts(mapped: Mapped, asking: Asking, said: SaidOfSample, case: Case) -> Counts:
    correct = _told(mapped, CLAIM_CORRECT, said) if CLAIM_CORRECT in mapped.asked else {}
    source = said.get(SUPPORT_SOURCE, {})
    wrong = [
        unit
        for unit in (case.said.get(Asks.CLAIM_SUPPORTED) or {})
        if correct.get(unit) is False and unit in source and any(case.contexts.values())
    ]
    return Counts(
        needed=_share(case.contexts),
        supported=_share(case.said.get(Asks.CLAIM_SUPPORTED)),
        on_topic=_share(case.said.get(Asks.ON_TOPIC)),
        wrong=len(wrong),
        by_relevant=sum(source[unit] == RELEVANT for unit in wrong),
        by_irrelevant=sum(source[unit] == IRRELEVANT for unit in wrong),
    )


def _share(said: Said | None) -> tuple[int, int]:
    """How many are so, of how many known."""
    known = [value for value in (said or {}).values() if value is not None]
    return sum(known), len(known)
