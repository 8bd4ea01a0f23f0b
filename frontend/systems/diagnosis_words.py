"""The stages of diagnosis, what the tree asks, and what decided, in words."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from annotate.core.units import unit_anchor, unit_title
from systems.diagnosis.mapping_read import CLAIM_CORRECT, FAILURE, SUPPORT_SOURCE, Mapped
from systems.diagnosis.tree import Asks, Diagnosis, Fact, Stage

UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class StageWords:
    """meaning: when a response is of it. next: what to try; empty where nothing is to be done."""

    name: str | Promise
    meaning: str | Promise
    next: str | Promise = ""


STAGES: dict[str, StageWords] = {
    Stage.FAILED_REQUEST: StageWords(
        gettext_lazy("Failed request"),
        gettext_lazy("There is no response."),
        gettext_lazy("Check timeouts, rate limits and errors; ask again only what failed."),
    ),
    Stage.ABSTAINED_RIGHTLY: StageWords(
        gettext_lazy("Rightly abstained"),
        gettext_lazy("An unanswerable question, and the answer says that it has none."),
    ),
    Stage.ABSTAINED_WRONGLY: StageWords(
        gettext_lazy("Wrongly abstained"),
        gettext_lazy("The answer says that it has none, although the question can be answered."),
        gettext_lazy("Check whether the document was retrieved; if so, make the prompt less cautious."),
    ),
    Stage.RETRIEVAL_MISS: StageWords(
        gettext_lazy("Retrieval miss"),
        gettext_lazy("No needed document is among the contexts."),
        gettext_lazy("Improve retrieval: hybrid search, query rewriting, another chunk size, a larger k, a reranker."),
    ),
    Stage.CONTRADICTORY_SOURCES: StageWords(
        gettext_lazy("Contradictory sources"),
        gettext_lazy("The contexts contradict each other."),
        gettext_lazy("Remove outdated documents, prefer newer ones, or have the answer name the contradiction."),
    ),
    Stage.CONTEXT_OVERLOAD: StageWords(
        gettext_lazy("Context overload"),
        gettext_lazy("A key fact is in the contexts and not in the answer."),
        gettext_lazy("Pass fewer contexts, put the best first, rerank, or ask for a complete answer."),
    ),
    Stage.HALLUCINATION: StageWords(
        gettext_lazy("Hallucination"),
        gettext_lazy("A claim is not supported, although a needed document was there."),
        gettext_lazy(
            "Have the model answer from the contexts only and cite them; lower the temperature; try another model."
        ),
    ),
    Stage.POOR_DOCUMENT: StageWords(
        gettext_lazy("Poor document"),
        gettext_lazy("All claims are supported, and the answer is wrong."),
        gettext_lazy("Correct the source: it is wrong, outdated or unclear."),
    ),
    Stage.OFF_TOPIC: StageWords(
        gettext_lazy("Off topic"),
        gettext_lazy("The answer does not address the question."),
        gettext_lazy("Put the question last in the prompt, rewrite follow-up questions, shorten the instructions."),
    ),
    Stage.NOTHING_WRONG: StageWords(
        gettext_lazy("Nothing wrong"), gettext_lazy("None of the stages that are asked about failed.")
    ),
    UNDECIDED: StageWords(
        gettext_lazy("Undecided"),
        gettext_lazy("Labels are missing; each response says which."),
        gettext_lazy("Label what is missing: these may belong to any stage."),
    ),
}


def stage_name(stage: Stage | None) -> str:
    return str(STAGES[stage or UNDECIDED].name)


@dataclass(frozen=True, slots=True)
class QuestionWords:
    """yes, no: what it means of a unit."""

    name: str | Promise
    help: str | Promise = ""
    yes: str | Promise = ""
    no: str | Promise = ""


QUESTIONS: dict[str, QuestionWords] = {
    Asks.ABSTAINED: QuestionWords(
        gettext_lazy("The answer abstains"),
        gettext_lazy("If none: what the sample itself says."),
        gettext_lazy("abstains"),
        gettext_lazy("answers"),
    ),
    Asks.CONTEXT_NEEDED: QuestionWords(
        gettext_lazy("The context is needed"),
        gettext_lazy("Relevant documents of the question count too."),
        gettext_lazy("needed"),
        gettext_lazy("not needed"),
    ),
    Asks.CONTRADICTION: QuestionWords(
        gettext_lazy("The contexts contradict each other"),
        gettext_lazy("No built-in criterion asks this."),
        gettext_lazy("contradictory"),
        gettext_lazy("not contradictory"),
    ),
    Asks.FACT_IN_CONTEXTS: QuestionWords(
        gettext_lazy("The key fact is in the contexts"),
        "",
        gettext_lazy("in the contexts"),
        gettext_lazy("not in the contexts"),
    ),
    Asks.FACT_IN_ANSWER: QuestionWords(
        gettext_lazy("The key fact is in the answer"),
        "",
        gettext_lazy("in the answer"),
        gettext_lazy("not in the answer"),
    ),
    Asks.CLAIM_SUPPORTED: QuestionWords(
        gettext_lazy("The claim is supported"), "", gettext_lazy("supported"), gettext_lazy("not supported")
    ),
    Asks.ANSWER_CORRECT: QuestionWords(
        gettext_lazy("The answer is correct"),
        gettext_lazy("On claims: the answer is wrong if one of its claims is."),
        gettext_lazy("correct"),
        gettext_lazy("wrong"),
    ),
    Asks.ON_TOPIC: QuestionWords(
        gettext_lazy("The answer addresses the question"), "", gettext_lazy("on topic"), gettext_lazy("off topic")
    ),
    Asks.HAS_ANSWER: QuestionWords(gettext_lazy("There is an answer")),
    CLAIM_CORRECT: QuestionWords(gettext_lazy("The claim is correct"), gettext_lazy("For noise sensitivity.")),
    SUPPORT_SOURCE: QuestionWords(
        gettext_lazy("Where a claim’s support comes from"),
        gettext_lazy("For noise sensitivity. Needs the values “relevant” and “irrelevant”."),
    ),
    FAILURE: QuestionWords(
        gettext_lazy("What annotators say went wrong"),
        gettext_lazy("The tree is compared with it, never made from it."),
    ),
}

_STATES = {
    True: pgettext_lazy("stage of diagnosis", "Yes"),
    False: pgettext_lazy("stage of diagnosis", "No"),
    None: pgettext_lazy("stage of diagnosis", "Not known"),
}


@dataclass(frozen=True, slots=True)
class FactShown:
    """anchor: of the unit on its sample's page; empty where it is none of it."""

    title: str
    said: str
    anchor: str


@dataclass(frozen=True, slots=True)
class StepShown:
    name: str
    state: str
    facts: list[FactShown]
    decides: bool
    is_missing: bool


def path_in_words(diagnosis: Diagnosis, mapped: Mapped) -> list[StepShown]:
    last = diagnosis.path[-1]
    return [
        StepShown(
            stage_name(step.stage),
            str(_STATES[step.matches]) if step.asked else _("Not asked"),
            [_fact(fact, mapped) for fact in step.facts],
            decides=step is last and step.matches is not False,
            is_missing=step.matches is None,
        )
        for step in diagnosis.path
    ]


def deciding(diagnosis: Diagnosis, mapped: Mapped) -> dict[str, list[str]]:
    """What decided, or is missing, and of which units; nothing where no stage matched."""
    last = diagnosis.path[-1]
    found: dict[str, list[str]] = {}
    for fact in last.facts if last.matches is not False else ():
        shown = _fact(fact, mapped)
        found.setdefault(shown.said, []).append(shown.title)
    return found


def _fact(fact: Fact, mapped: Mapped) -> FactShown:
    words = QUESTIONS[fact.asks]
    if fact.asks == Asks.HAS_ANSWER:
        return FactShown(_("No answer"), _("only what was retrieved is known"), "")
    if not fact.unit:
        asked = mapped.asked.get(fact.asks)
        return FactShown(str(words.name), _("no criterion asks this") if asked is None else _("nothing to label"), "")
    kind, _colon, name = fact.unit.partition(":")
    title = _("Document %(name)s") % {"name": name} if kind == "document" else unit_title(fact.unit)
    said = {True: words.yes, False: words.no, None: _("not labelled")}[fact.value]
    if fact.value is None and fact.asks in mapped.asked:
        said = _("not labelled on “%(criterion)s”") % {"criterion": mapped.asked[fact.asks].criterion.name}
    return FactShown(title, str(said), "" if kind == "document" else unit_anchor(fact.unit))
