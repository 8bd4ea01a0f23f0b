"""Which criterion of a project answers which question of the tree: as an admin stored it, else as its built-in criteria
propose it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from annotate.core.scales import Value
from annotate.models import Criterion, Project
from annotate.projects.read import rated_criteria
from systems.diagnosis.tree import Asks, Stage
from systems.models import DiagnosisMapping

# Beside what the tree asks: people's own word on what failed, and what noise sensitivity is made of.
FAILURE, CLAIM_CORRECT, SUPPORT_SOURCE = "failure", "claim_correct", "support_source"
Yes = Literal["passes", "fails"]


@dataclass(frozen=True, slots=True)
class Question:
    """units: the kinds of units that a criterion may be on to answer it. built_in: the criteria that do, the first
    that the project has."""

    name: str
    units: tuple[str, ...]
    built_in: tuple[str, ...] = ()


QUESTIONS = {
    one.name: one
    for one in (
        Question(Asks.ABSTAINED, ("answer", "sample")),
        Question(Asks.CONTEXT_NEEDED, ("context",), ("relevance",)),
        Question(Asks.CONTRADICTION, ("sample", "answer")),
        Question(Asks.FACT_IN_CONTEXTS, ("fact",), ("fact_in_context",)),
        Question(Asks.FACT_IN_ANSWER, ("fact",), ("fact_in_answer",)),
        Question(Asks.CLAIM_SUPPORTED, ("claim",), ("support",)),
        Question(Asks.ANSWER_CORRECT, ("answer", "claim"), ("correctness", "correct")),
        Question(Asks.ON_TOPIC, ("answer",), ("relevancy",)),
        Question(CLAIM_CORRECT, ("claim",), ("correct",)),
        Question(SUPPORT_SOURCE, ("claim",), ("evidence",)),
        Question(FAILURE, ("answer", "sample"), ("failure",)),
    )
}
# Their values are read as they are, not as pass and fail.
BY_VALUE = (SUPPORT_SOURCE, FAILURE)
RELEVANT, IRRELEVANT = "relevant", "irrelevant"
# The option of the built-in criterion that is called otherwise than its stage.
_NOTHING = "none"


@dataclass(frozen=True, slots=True)
class Asked:
    """yes: whether the values that pass, or those that don't, answer with yes. stages: of people's own word on what
    failed, by the value as text."""

    criterion: Criterion
    yes: Yes
    stages: Mapping[str, Stage]

    def stored(self) -> dict[str, Any]:
        if self.stages:
            return {"criterion": self.criterion.key, "stages": {value: str(one) for value, one in self.stages.items()}}
        return {"criterion": self.criterion.key, "yes": self.yes}


@dataclass(frozen=True, slots=True)
class Mapped:
    """asked: what a criterion answers. is_stored: an admin has confirmed it, with or without changes."""

    project: Project
    asked: Mapping[str, Asked]
    is_stored: bool

    @property
    def failure_stages(self) -> set[Stage]:
        """Those that people can name."""
        return set(self.asked[FAILURE].stages.values()) if FAILURE in self.asked else set()

    def stored(self) -> dict[str, Any]:
        """As it is stored."""
        return {name: one.stored() for name, one in self.asked.items()}


def mapping_of(project: Project) -> Mapped:
    stored = DiagnosisMapping.objects.filter(project=project).first()
    criteria = {criterion.key: criterion for criterion in rated_criteria(project)}
    if stored is None:
        return Mapped(project, _proposed(criteria), False)
    asked = {
        name: Asked(
            criteria[given["criterion"]],
            given.get("yes", "passes"),
            {value: Stage(stage) for value, stage in given.get("stages", {}).items()},
        )
        for name, given in stored.questions.items()
        if name in QUESTIONS and given["criterion"] in criteria
    }
    return Mapped(project, asked, True)


def _proposed(criteria: Mapping[str, Criterion]) -> dict[str, Asked]:
    found = {}
    for question in QUESTIONS.values():
        for key in question.built_in:
            if question.name not in found and key in criteria and can_answer(question, criteria[key]):
                criterion = criteria[key]
                stages = stages_proposed(criterion) if question.name == FAILURE else {}
                found[question.name] = Asked(criterion, "passes", stages)
    return found


def can_answer(question: Question, criterion: Criterion) -> bool:
    """Whether the criterion is one that could."""
    if criterion.unit not in question.units:
        return False
    if question.name == SUPPORT_SOURCE:
        return {RELEVANT, IRRELEVANT} <= set(map(str, criterion.levels))
    return bool(criterion.levels) if question.name == FAILURE else bool(criterion.passes)


def stages_proposed(criterion: Criterion) -> dict[str, Stage]:
    """By the words of its options: those that are called as a stage is."""
    words = {stage.value: stage for stage in Stage} | {_NOTHING: Stage.NOTHING_WRONG}
    spelled = {
        spelling(value): value_text for value, value_text in zip(criterion.levels, texts_of(criterion), strict=True)
    }
    return {text: words[word] for word, text in spelled.items() if word in words}


def spelling(value: Value) -> str:
    return str(value).strip().lower().replace(" ", "_").replace("-", "_")


def texts_of(criterion: Criterion) -> list[str]:
    """The values of its options, as a mapping names them."""
    return [str(value) for value in criterion.levels]
