"""Rules from corrections: what a model is asked about a unit on which a judge and people differ, and how it unites what
came of many.

A rule comes from one unit, so that it is known which labels it rests on, and of which group it must never judge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from annotate.core.units import parse_unit
from annotate.models import Sample
from judges.endpoints.calls import Answered, ChatRequest
from judges.kinds.base import Config
from judges.kinds.llm.answers import NoAnswer, object_in, object_schema
from judges.kinds.llm.judging import END, SYSTEM
from judges.kinds.llm.prompt import Shown, code_for, example_name, fenced, sample_names, texts_in, value_of

LONGEST_RULE = 300
# A judge's own limit is for one verdict.
_LEAST_TOKENS = 2048

_TASK = """\
People and a judge did the task that is quoted below, and on the material below they came to different values. The \
people are right.

Say in one sentence which general rule the people go by that the judge did not. The rule has to help with other \
material: name nothing that only this material has, and quote nothing from it. Where the task already says so clearly, \
or nothing general follows, leave the rule empty."""
_FORM = """\
Reply with exactly one JSON object and nothing else: {"rule": …}
- rule: one sentence of at most 300 characters in the language of the task, or an empty text."""
_SCHEMA = object_schema({"rule": {"type": "string"}})


@dataclass(frozen=True, slots=True)
class Correction:
    """A unit on which the judge was wrong: what both said, and what people wrote about it."""

    unit: str
    judge: str
    judge_reason: str
    people: str
    reasons: Sequence[str]


def rule_request(config: Config, sample: Sample, correction: Correction) -> ChatRequest | None:
    """config: the judge's. None: the sample has changed since, and has no such text any more."""
    case = case_of(config, sample, correction)
    if case is None:
        return None
    shown = {"task": task_of(config), **case}
    code = code_for(texts_in(shown.values()))
    parts = [
        _TASK,
        *(fenced(name, value, code) for name, value in shown.items()),
        END.format(code=code),
        f"The task once more:\n{_TASK}",
        _FORM,
    ]
    return request_of(config, parts, _SCHEMA)


def case_of(config: Config, sample: Sample, correction: Correction) -> dict[str, Shown] | None:
    """What both said of the unit, the material that the judge saw, and people's reasons, by the names of their marks.
    None: the sample has changed since, and has no such text any more."""
    kind, _index = parse_unit(correction.unit)
    names = [example_name(name, kind) for name in sample_names(config["prompt"])]
    values: dict[str, Shown] = {name: value_of(name, sample, correction.unit) for name in names}
    if any(value is None for value in values.values()):
        return None
    said: dict[str, Shown] = {"judge-value": correction.judge}
    if correction.judge_reason:
        said["judge-reason"] = correction.judge_reason
    said["people-value"] = correction.people
    reasons = [reason for reason in correction.reasons if reason.strip()]
    return said | values | {f"reason-{number}": reason for number, reason in enumerate(reasons, start=1)}


def request_of(config: Config, parts: Sequence[str], schema: dict[str, Any], tokens: int = 0) -> ChatRequest:
    """With the judge's own model and sampling. tokens: about how long a reply may have to be."""
    return ChatRequest(
        model=config["model"],
        messages=[{"role": "system", "content": SYSTEM}, {"role": "user", "content": "\n\n".join(parts)}],
        temperature=config["temperature"],
        max_tokens=max(_LEAST_TOKENS, config["max_tokens"], tokens),
        seed=config["seed"],
        schema=schema if config["structured"] else None,
    )


def task_of(config: Config) -> str:
    """What the judge is told to do, without what its variables show of samples."""
    options = "\n".join(str(option["value"]) + ": " + option["help"] for option in config["options"] if option["help"])
    rules = "\n".join(config.get("rules", ()))
    return "\n\n".join(text for text in (config["prompt"], config["criterion_text"], options, rules) if text)


def read_rule(reply: Answered) -> str:
    """ "" where nothing general follows. Raises NoScore: no reply, or one that is not what was asked for."""
    node = object_in(reply)
    rule = node.get("rule")
    if node.keys() != {"rule"} or not isinstance(rule, str):
        raise NoAnswer("The reply holds no rule, or something else beside it.")
    return _one_line(rule)


def _one_line(rule: str) -> str:
    rule = " ".join(rule.split())
    if len(rule) > LONGEST_RULE:
        raise NoAnswer("A rule is too long.")
    return rule


@dataclass(frozen=True, slots=True)
class Found:
    """A rule as it came of one unit. sample: its own id; group: the sample's."""

    text: str
    sample: str
    unit: str
    group: str


@dataclass(frozen=True, slots=True)
class United:
    """A rule in which those of several units are united. sources: of which ones."""

    text: str
    sources: Sequence[Found]


MOST_RULES = 8
# A rule is kept that a fifth as many cases bear as the one that most bear (docs/aligning.md has what comes of it).
BORNE = 5
_UNITE = f"""\
Each of the rules below was found in one case in which people and a judge came to different values of the same task, \
which is quoted. Many of them say the same in other words, some are mistaken.

Write down at most {MOST_RULES} rules that people go by, the one that most cases bear first. Unite those that say the \
same. Leave out what only a single case bears, unless there is nothing else, and what contradicts more cases than it \
explains."""
_UNITED_FORM = """\
Reply with exactly one JSON object and nothing else: {"rules": [{"rule": …, "from": [numbers]}, …]}
- rule: one sentence of at most 300 characters in the language of the task.
- from: the numbers of the rules that it unites, each number with one rule at most."""
_UNITED_SCHEMA = object_schema(
    {
        "rules": {
            "type": "array",
            "items": object_schema(
                {"rule": {"type": "string"}, "from": {"type": "array", "items": {"type": "integer"}}}
            ),
        }
    }
)


def unite_request(config: Config, found: Sequence[Found]) -> ChatRequest:
    """To unite these, numbered from 1."""
    rules = "\n".join(f"{number}. {one.text}" for number, one in enumerate(found, start=1))
    task = task_of(config)
    code = code_for([task, rules])
    parts = [
        _UNITE,
        fenced("task", task, code),
        fenced("rules", rules, code),
        END.format(code=code),
        f"The task once more:\n{_UNITE}",
        _UNITED_FORM,
    ]
    return request_of(config, parts, _UNITED_SCHEMA)


def read_united(reply: Answered, found: Sequence[Found]) -> list[United]:
    """Without those that few cases bear beside the one that most bear: some corrections are misread, and what a few of
    many say is as likely a mistake.

    Raises NoScore: no reply, or one that is not what was asked for; then there is no rule, rather than some.
    """
    node = object_in(reply)
    rules = node.get("rules")
    if node.keys() != {"rules"} or not isinstance(rules, list) or len(rules) > MOST_RULES:
        raise NoAnswer("The reply holds no list of rules, too many, or something else beside it.")
    used: set[int] = set()
    read = []
    for one in rules:
        if not isinstance(one, dict) or one.keys() != {"rule", "from"} or not isinstance(one["from"], list):
            raise NoAnswer("A rule’s fields are not rule and from.")
        numbers, text = one["from"], one["rule"]
        is_known = all(type(number) is int and 1 <= number <= len(found) for number in numbers)
        if not numbers or not is_known or used & set(numbers) or len(set(numbers)) < len(numbers):
            raise NoAnswer("A rule comes from none of those that were given, or from one that another has.")
        if not isinstance(text, str) or not text.strip():
            raise NoAnswer("A rule has no text.")
        used |= set(numbers)
        read.append(United(_one_line(text), [found[number - 1] for number in sorted(numbers)]))
    most = max((len(one.sources) for one in read), default=0)
    return [one for one in read if len(one.sources) * BORNE >= most]
