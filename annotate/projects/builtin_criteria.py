"""The criteria every project can take by key (DESIGN: built-in criteria)."""

from __future__ import annotations

from typing import Any

Option = dict[str, Any]


def _options(*pairs: tuple[Any, str, str]) -> list[Option]:
    return [{"value": value, "label": label, "help": help_text} for value, label, help_text in pairs]


def _grades(low: int, high: int, ends: dict[int, str]) -> list[Option]:
    return [{"value": n, "label": str(n), "help": ends.get(n, "")} for n in range(low, high + 1)]


BUILTIN_CRITERIA: dict[str, dict[str, Any]] = {
    "support": {
        "name": "Support",
        "unit": "claim",
        "scale": "nominal",
        "prompt": "Do the contexts support this claim?",
        "help": "Judge only what the contexts say, not what you know to be true.",
        "options": _options(
            ("supported", "Supported", "At least one context says so, and none says otherwise."),
            ("contradicted", "Contradicted", "A context says the opposite."),
            ("not in context", "Not in context", "No context speaks to it."),
        ),
        "pass": ["supported"],
    },
    "correct": {
        "name": "Correct",
        "unit": "claim",
        "scale": "nominal",
        "prompt": "Is this claim correct, as far as you know?",
        "help": "Use your own knowledge and the reference answer; the contexts may be wrong.",
        "options": _options(
            ("correct", "Correct", "True as it stands."),
            ("incorrect", "Incorrect", "False, or misleading in a way that matters."),
            ("can't tell", "Can't tell", "You would need to look it up."),
        ),
        "pass": ["correct"],
        # One of its options says so already, and counts.
        "cant_tell": False,
    },
    "evidence": {
        "name": "Support source",
        "unit": "claim",
        "scale": "nominal",
        "prompt": "Where does the support for this claim come from?",
        "help": "A context is relevant when it helps to answer the question.",
        "options": _options(
            ("relevant", "A relevant context", "The supporting passage is about the question."),
            ("irrelevant", "An irrelevant context", "The supporting passage is about something else."),
            ("none", "No context", "Nothing retrieved supports the claim."),
        ),
        "pass": ["relevant"],
    },
    "relevance": {
        "name": "Relevance",
        "unit": "context",
        "scale": "ordinal",
        "prompt": "How much does this context help to answer the question?",
        "help": "Read it as if it were the only passage you had.",
        "options": _options(
            (0, "Not at all", "About something else."),
            (1, "A little", "Same topic, but no part of the answer."),
            (2, "Partly", "Holds part of the answer."),
            (3, "Fully", "Holds the answer."),
        ),
        "pass": [2, 3],
    },
    "fact_in_context": {
        "name": "Fact in the contexts",
        "unit": "fact",
        "scale": "ordinal",
        "prompt": "Is this key fact found in the contexts?",
        "options": _options(
            ("no", "No", "No context states it."),
            ("partly", "Partly", "Some of it is stated."),
            ("yes", "Yes", "A context states it."),
        ),
        "pass": ["yes"],
    },
    "fact_in_answer": {
        "name": "Fact in the answer",
        "unit": "fact",
        "scale": "ordinal",
        "prompt": "Does the answer state this key fact?",
        "options": _options(
            ("no", "No", "The answer leaves it out or says otherwise."),
            ("partly", "Partly", "Some of it is said."),
            ("yes", "Yes", "The answer says it."),
        ),
        "pass": ["yes"],
    },
    "entity_in_context": {
        "name": "Entity in the contexts",
        "unit": "entity",
        "scale": "binary",
        "prompt": "Does this entity appear in the contexts?",
        "help": "Another spelling or an abbreviation counts.",
        "options": _options(("no", "No", ""), ("yes", "Yes", "")),
        "pass": ["yes"],
    },
    "relevancy": {
        "name": "Answer relevancy",
        "unit": "answer",
        "scale": "ordinal",
        "prompt": "Does the answer address the question that was asked?",
        "help": "Whether it is true does not matter here.",
        "options": _grades(1, 5, {1: "Another question altogether.", 3: "In part.", 5: "Exactly what was asked."}),
        "pass": [4, 5],
    },
    "completeness": {
        "name": "Completeness",
        "unit": "answer",
        "scale": "ordinal",
        "prompt": "Is everything in the answer that the person needs?",
        "options": _grades(
            1, 5, {1: "Nearly all of it is missing.", 3: "Something important is missing.", 5: "Nothing is missing."}
        ),
        "pass": [4, 5],
    },
    "correctness": {
        "name": "Answer correctness",
        "unit": "answer",
        "scale": "ordinal",
        "prompt": "How correct is the answer as a whole?",
        "help": "Compare it with the reference answer where there is one.",
        "options": _grades(0, 10, {0: "Wrong throughout.", 7: "Correct in what matters.", 10: "Correct throughout."}),
        "pass": [7, 8, 9, 10],
    },
    "failure": {
        "name": "Failure",
        "unit": "answer",
        "scale": "nominal",
        "prompt": "If the answer fails, what went wrong first?",
        "options": _options(
            ("none", "Nothing", "The answer is fine."),
            ("retrieval miss", "Retrieval miss", "The passages needed were not retrieved."),
            ("context overload", "Context overload", "The passage was there but was lost among others."),
            ("hallucination", "Hallucination", "The answer says what no passage says."),
            ("poor document", "Poor document", "The passage itself is wrong, old or unclear."),
        ),
        "pass": ["none"],
    },
    "preference": {
        "name": "Preference",
        "unit": "sample",
        "scale": "nominal",
        "prompt": "Which answer is better?",
        "options": _options(("A", "Answer A", ""), ("tie", "About the same", ""), ("B", "Answer B", "")),
        "pass": ["A"],
    },
}
