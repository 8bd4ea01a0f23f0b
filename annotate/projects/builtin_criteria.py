"""The criteria every project can take by key (DESIGN: built-in criteria)."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

Option = dict[str, Any]


def _options(*pairs: tuple[Any, str, str]) -> list[Option]:
    return [{"value": value, "label": label, "help": help_text} for value, label, help_text in pairs]


def _grades(low: int, high: int, ends: dict[int, str]) -> list[Option]:
    return [{"value": n, "label": str(n), "help": ends.get(n, "")} for n in range(low, high + 1)]


BUILTIN_CRITERIA: dict[str, dict[str, Any]] = {
    "support": {
        "name": _("Support"),
        "unit": "claim",
        "scale": "nominal",
        "prompt": _("Do the contexts support this claim?"),
        "help": _("Judge only by the contexts, not by what you know."),
        "options": _options(
            ("supported", _("Supported"), _("At least one context supports it; none contradicts it.")),
            ("contradicted", _("Contradicted"), _("A context says the opposite.")),
            ("not in context", _("Not in context"), _("No context mentions it.")),
        ),
        "pass": ["supported"],
    },
    "correct": {
        "name": _("Correct"),
        "unit": "claim",
        "scale": "nominal",
        "prompt": _("Is this claim correct, as far as you know?"),
        "help": _("Use your own knowledge and the reference answer; the contexts may be wrong."),
        "options": _options(
            ("correct", _("Correct"), _("True as written.")),
            ("incorrect", _("Incorrect"), _("False, or seriously misleading.")),
            ("can't tell", _("Can’t tell"), _("You would need to look it up.")),
        ),
        "pass": ["correct"],
        # One of its options says so already, and counts.
        "cant_tell": False,
    },
    "evidence": {
        "name": _("Support source"),
        "unit": "claim",
        "scale": "nominal",
        "prompt": _("Where does the support for this claim come from?"),
        "help": _("A context is relevant when it helps to answer the question."),
        "options": _options(
            ("relevant", _("A relevant context"), _("The supporting passage is about the question.")),
            ("irrelevant", _("An irrelevant context"), _("The supporting passage is about something else.")),
            ("none", _("No context"), _("Nothing retrieved supports the claim.")),
        ),
        "pass": ["relevant"],
    },
    "relevance": {
        "name": _("Relevance"),
        "unit": "context",
        "scale": "ordinal",
        "prompt": _("How much does this context help to answer the question?"),
        "help": _("Judge this context on its own."),
        "options": _options(
            (0, _("Not at all"), _("About something else.")),
            (1, _("A little"), _("Same topic, but no part of the answer.")),
            (2, _("Partly"), _("Contains part of the answer.")),
            (3, _("Fully"), _("Contains the answer.")),
        ),
        "pass": [2, 3],
    },
    "fact_in_context": {
        "name": _("Fact in the contexts"),
        "unit": "fact",
        "scale": "ordinal",
        "prompt": _("Is this key fact found in the contexts?"),
        "options": _options(
            ("no", _("No"), _("No context states it.")),
            ("partly", _("Partly"), _("Some of it is stated.")),
            ("yes", _("Yes"), _("A context states it.")),
        ),
        "pass": ["yes"],
    },
    "fact_in_answer": {
        "name": _("Fact in the answer"),
        "unit": "fact",
        "scale": "ordinal",
        "prompt": _("Does the answer state this key fact?"),
        "options": _options(
            ("no", _("No"), _("The answer leaves it out or contradicts it.")),
            ("partly", _("Partly"), _("Some of it is said.")),
            ("yes", _("Yes"), _("The answer says it.")),
        ),
        "pass": ["yes"],
    },
    "entity_in_context": {
        "name": _("Entity in the contexts"),
        "unit": "entity",
        "scale": "binary",
        "prompt": _("Does this entity appear in the contexts?"),
        "help": _("Another spelling or an abbreviation counts."),
        "options": _options(
            ("no", _("No"), _("No context names it.")), ("yes", _("Yes"), _("At least one context names it."))
        ),
        "pass": ["yes"],
    },
    "relevancy": {
        "name": _("Answer relevancy"),
        "unit": "answer",
        "scale": "ordinal",
        "prompt": _("Does the answer address the question that was asked?"),
        "help": _("Ignore whether it is true."),
        "options": _grades(
            1,
            5,
            {
                1: _("Answers a different question."),
                2: _("Mostly beside the point."),
                3: _("In part."),
                4: _("Answers it, with something missing or extra."),
                5: _("Answers exactly what was asked."),
            },
        ),
        "pass": [4, 5],
    },
    "completeness": {
        "name": _("Completeness"),
        "unit": "answer",
        "scale": "ordinal",
        "prompt": _("Does the answer contain everything the user needs?"),
        "options": _grades(
            1,
            5,
            {
                1: _("Nearly all of it is missing."),
                3: _("Something important is missing."),
                5: _("Nothing is missing."),
            },
        ),
        "pass": [4, 5],
    },
    "correctness": {
        "name": _("Answer correctness"),
        "unit": "answer",
        "scale": "ordinal",
        "prompt": _("How correct is the answer as a whole?"),
        "help": _("Compare it with the reference answer where there is one."),
        "options": _grades(
            0, 10, {0: _("Wrong throughout."), 7: _("Correct in all essential points."), 10: _("Correct throughout.")}
        ),
        "pass": [7, 8, 9, 10],
    },
    "failure": {
        "name": _("Failure"),
        "unit": "answer",
        "scale": "nominal",
        "prompt": _("If the answer fails, what went wrong first?"),
        "options": _options(
            ("none", _("Nothing"), _("The answer is fine.")),
            ("retrieval miss", _("Retrieval miss"), _("The needed passages were not retrieved.")),
            ("context overload", _("Context overload"), _("The passage was retrieved but overlooked among others.")),
            ("hallucination", _("Hallucination"), _("The answer says something that no passage supports.")),
            ("poor document", _("Poor document"), _("The passage itself is wrong, outdated or unclear.")),
        ),
        "pass": ["none"],
    },
    "corrected_answer": {
        "name": _("Corrected answer"),
        "unit": "answer",
        "scale": "text",
        "prompt": _("What should the answer say?"),
        "help": _("Edit the answer until it is right. Leave it as it is if nothing is wrong."),
        "options": [],
        "pass": [],
        "required": False,
        "prefill": "answer",
    },
    "preference": {
        "name": _("Preference"),
        "unit": "sample",
        "scale": "nominal",
        "prompt": _("Which answer is better?"),
        "options": _options(("A", _("Answer A"), ""), ("tie", _("About the same"), ""), ("B", _("Answer B"), "")),
        "pass": ["A"],
    },
}


def builtin_in_language(key: str) -> dict[str, Any]:
    """A built-in criterion with its words in the reader's language; for pages, where a person sees them first. By API
    and command they are English, so that the same file makes the same criterion for everybody."""
    spec = BUILTIN_CRITERIA[key]
    words: dict[str, Any] = {field: gettext(spec[field]) for field in ("name", "prompt", "help") if field in spec}
    options = [
        {**option, **{field: gettext(option[field]) for field in ("label", "help") if option[field]}}
        for option in spec["options"]
    ]
    return {**spec, **words, "key": key, "options": options}
