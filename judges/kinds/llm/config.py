"""Reading and completing an LLM judge's configuration, which holds everything that decides what the judge says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from annotate.core.scales import Value
from annotate.core.texts import is_storable
from annotate.core.units import LISTED_KINDS
from annotate.models import Criterion, Project
from judges.kinds.base import Refused
from judges.kinds.fields import Fields, sampling_fields, target
from judges.kinds.llm.answers import NUMBER, OPTIONS, REQUIREMENTS
from judges.kinds.llm.examples import read_examples
from judges.kinds.llm.prompt import (
    CRITERION,
    EXAMPLES,
    PER_SAMPLE,
    PER_UNIT,
    RULES,
    known_names,
    names_between,
    parts_of,
    sample_names,
    subject,
)
from judges.kinds.llm.prompt import REQUIREMENTS as REQUIREMENTS_NAME
from judges.kinds.llm.templates import TEMPLATES, Template
from judges.models import LARGEST_SCORE, Confidence

LONGEST_PROMPT = 50_000
LONGEST_REQUIREMENT = 2000
MOST_REQUIREMENTS = 50
MOST_OPTIONS = 50
LONGEST_RULE = 1000
MOST_RULES = 30


def complete(config: Any, project: Project) -> dict[str, Any]:
    """The complete configuration. One that is complete already stays as it is, unless the criterion has changed since.

    Raises Refused.
    """
    fields = Fields(config)
    of = target(fields, project)
    criterion = None
    if of["criterion"] is not None:
        criterion = project.criteria.get(key=of["criterion"], is_current=True)
    template = _template(fields, of["unit"])
    requirements, rules = _requirements(fields), _rules(fields)
    answer = _answer(fields, criterion, template, has_requirements=requirements is not None)
    per = fields.choice("per", (PER_UNIT, PER_SAMPLE), default=PER_UNIT if template is None else template.per)
    if per == PER_SAMPLE and (of["unit"] not in LISTED_KINDS or requirements is not None):
        raise fields.refuse("per", _("Only claims, contexts, key facts and entities can be scored together."))
    prompt = _text(fields, "prompt", longest=LONGEST_PROMPT) if template is None else template.prompt
    used = _names(prompt, of["unit"], per, criterion, requirements, rules)
    confidence = _confidence(fields, answer)
    examples = read_examples(fields, criterion, sample_names(prompt))
    _check_examples(examples, used, answer, criterion)
    whole = {
        **of,
        "per": per,
        "model": _text(fields, "model"),
        **sampling_fields(fields, max_tokens=1024, fewest=1),
        "prompt": prompt,
        "criterion_text": None if criterion is None or CRITERION not in used else criterion_text(criterion),
        **answer,
        "requirements": requirements,
        "rationale": fields.truth("rationale", default=True),
        "structured": fields.truth("structured", default=True),
        "examples": examples,
        # Left out where there is none, so that versions of before have the hash that they had.
        **({"rules": rules} if rules else {}),
        **({"confidence": confidence} if confidence != Confidence.NONE else {}),
    }
    # Always made anew, also when it is given.
    fields.raw("criterion_text")
    fields.finish()
    return whole


def _template(fields: Fields, unit: str) -> Template | None:
    if fields.raw("template") is None:
        return None
    if fields.raw("prompt") is not None:
        raise fields.refuse("template", _("Give either a template or your own prompt, not both."))
    template = TEMPLATES[fields.choice("template", TEMPLATES)]
    if unit not in template.units:
        raise fields.refuse(
            "template",
            _("“%(key)s” applies to units of the kind %(units)s, but this judge scores “%(unit)s”.")
            % {"key": template.key, "units": ", ".join(template.units), "unit": unit},
        )
    return template


def _names(
    prompt: str,
    unit: str,
    per: str,
    criterion: Criterion | None,
    requirements: Sequence[Any] | None,
    rules: Sequence[str],
) -> list[str]:
    """The variables of the prompt. Raises Refused for an unknown one, and for a prompt that doesn't show what it asks
    about, its requirements, or its rules."""
    has = {"criterion": criterion is not None, "requirements": requirements is not None, "rules": bool(rules)}
    parts_of(prompt, known_names(unit, per, **{f"has_{name}": there for name, there in has.items()}))
    used = names_between(prompt)
    if has["rules"] and RULES not in used:
        raise Refused("prompt", _("The prompt must contain {{rules}}, because rules are set."))
    needed = [subject(unit, per), *([REQUIREMENTS_NAME] if has["requirements"] else [])]
    for name in needed:
        if name not in used:
            raise Refused(
                "prompt", _("The prompt must contain %(name)s, the text to judge.") % {"name": f"{{{{{name}}}}}"}
            )
    return used


def _requirements(fields: Fields) -> list[dict[str, Any]] | None:
    if fields.raw("requirements") is None:
        return None
    found = []
    for one in fields.objects("requirements", fewest=1, most=MOST_REQUIREMENTS):
        text = _text(one, "text", longest=LONGEST_REQUIREMENT)
        found.append({"text": text, "weight": one.number("weight", default=1.0, low=0.001, high=1000.0)})
        one.finish()
    return found


def _rules(fields: Fields) -> list[str]:
    """What people go by, as they say it: each a text, none of them twice."""
    given = fields.raw("rules", [])
    if not isinstance(given, list) or len(given) > MOST_RULES:
        raise fields.refuse("rules", _("Must be a list of at most %(most)d texts.") % {"most": MOST_RULES})
    found: list[str] = []
    for place, text in enumerate(given):
        if not isinstance(text, str) or not text.strip() or len(text) > LONGEST_RULE or not is_storable(text):
            said = _("Must be text of 1 to %(longest)d characters.") % {"longest": LONGEST_RULE}
            raise fields.refuse(f"rules.{place}", said)
        # On one line, as rules are numbered.
        rule = " ".join(text.split())
        if rule in found:
            raise fields.refuse(f"rules.{place}", _("This rule is listed twice."))
        found.append(rule)
    return found


def _confidence(fields: Fields, answer: Mapping[str, Any]) -> str:
    found = fields.choice("confidence", Confidence.values, default=Confidence.NONE.value)
    if found != Confidence.NONE and answer["answer_with"] == REQUIREMENTS:
        raise fields.refuse(
            "confidence", _("A judge with requirements has no confidence: its replies hold several answers.")
        )
    return found


def _answer(
    fields: Fields, criterion: Criterion | None, template: Template | None, *, has_requirements: bool
) -> dict[str, Any]:
    """{"answer_with", "options", "min", "max", "whole"}; what doesn't belong to the way of answering is None."""
    none: dict[str, Any] = {"options": None, "min": None, "max": None, "whole": None}
    if has_requirements:
        fields.choice("answer_with", (REQUIREMENTS,), default=REQUIREMENTS)
        _refuse_given(fields, none)
        return {"answer_with": REQUIREMENTS, **none}
    own: Mapping[str, Any] = {} if template is None or criterion is not None else template.scale
    if template is not None and template.needs_requirements:
        raise fields.refuse("requirements", _("“%(key)s” needs a list of requirements.") % {"key": template.key})
    has_options = bool(criterion.options) if criterion is not None else fields.raw("options") is not None
    usual = OPTIONS if has_options or "options" in own else NUMBER
    way = fields.choice("answer_with", (OPTIONS, NUMBER), default=own.get("answer_with", usual))
    if way == NUMBER:
        if criterion is None:
            _refuse_given(fields, ("options",))
        fields.raw("options")
        return {"answer_with": way, **none, **_range(fields, criterion, own)}
    _refuse_given(fields, ("min", "max", "whole"))
    return {"answer_with": way, **none, "options": _options(fields, criterion, own)}


def _refuse_given(fields: Fields, names: Iterable[str]) -> None:
    for name in names:
        if fields.raw(name) is not None:
            raise fields.refuse(name, _("This answer format has no such field."))


def _range(fields: Fields, criterion: Criterion | None, own: Mapping[str, Any]) -> dict[str, Any]:
    levels = [] if criterion is None else criterion.levels
    numbers = [level for level in levels if isinstance(level, int | float) and not isinstance(level, bool)]
    if numbers and len(numbers) == len(levels):
        usual: tuple[Any, Any, bool] = (min(numbers), max(numbers), all(isinstance(level, int) for level in numbers))
    elif levels:
        # The options are words: how sure the judge is that it passes.
        usual = (0, 1, False)
    else:
        usual = (own.get("min"), own.get("max"), own.get("whole", False))
    low = float(fields.number("min", default=usual[0], low=-LARGEST_SCORE, high=LARGEST_SCORE))
    high = float(fields.number("max", default=usual[1], low=-LARGEST_SCORE, high=LARGEST_SCORE))
    if low >= high:
        raise fields.refuse("max", _("Must be a number above the minimum."))
    whole = fields.truth("whole", default=usual[2])
    if whole and not (low.is_integer() and high.is_integer()):
        raise fields.refuse("whole", _("The minimum and maximum must be whole numbers."))
    return {"min": low, "max": high, "whole": whole}


def _options(fields: Fields, criterion: Criterion | None, own: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each {"value", "label", "help"}; without a criterion also the "score" that it counts as, since words can't be
    compared with anything then. A criterion's are its current ones, whatever is given."""
    if criterion is not None:
        fields.raw("options")
        if not criterion.options:
            raise fields.refuse(
                "answer_with",
                _("“%(key)s” has no options. Use a number as the answer format.") % {"key": criterion.key},
            )
        return [
            {"value": option["value"], "label": option.get("label", ""), "help": option.get("help", "")}
            for option in criterion.options
        ]
    if fields.raw("options") is None and "options" in own:
        return [dict(option) for option in own["options"]]
    found = []
    for one in fields.objects("options", fewest=2, most=MOST_OPTIONS):
        words = {name: _text(one, name, longest=1000) if one.raw(name) else "" for name in ("label", "help")}
        value = _level(one)
        found.append({"value": value, **words, "score": _score(one, value)})
        one.finish()
    spelled = [_spelled(option["value"]) for option in found]
    if len(set(spelled)) < len(spelled):
        raise fields.refuse("options", _("Two of the values are indistinguishable."))
    return found


def _score(one: Fields, value: Value) -> float:
    """By default a number counts as itself, true as 1 and false as 0; of a word the score has to be given."""
    usual = None if isinstance(value, str) else float(value)
    if usual is None and one.raw("score") is None:
        raise one.refuse("score", _("A judge without a criterion gives numbers. Specify the number for this option."))
    return float(one.number("score", default=usual, low=-LARGEST_SCORE, high=LARGEST_SCORE))


def _spelled(value: Value) -> str:
    """As a file spells it: 1, 1.0 and "1" are the same."""
    return f"{value:g}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value).lower()


def _level(one: Fields) -> Value:
    value = one.raw("value")
    if isinstance(value, bool | int | float) or (isinstance(value, str) and value.strip() and len(value) <= 200):
        return value
    raise one.refuse("value", _("Must be text of at most 200 characters, a number, true or false."))


def _check_examples(
    examples: dict[str, Any], used: Sequence[str], answer: dict[str, Any], criterion: Criterion | None
) -> None:
    if not examples["count"]:
        return
    if EXAMPLES not in used:
        raise Refused("prompt", _("The prompt must contain {{examples}}, because examples are set."))
    in_words = criterion is not None and any(isinstance(level, bool | str) for level in criterion.levels)
    if answer["answer_with"] == REQUIREMENTS or (answer["answer_with"] == NUMBER and in_words):
        raise Refused("examples", _("Human verdicts can’t be examples for this answer format. Use the options."))


def criterion_text(criterion: Criterion) -> str:
    """What `{{criterion}}` shows."""
    return f"{criterion.prompt}\n{criterion.help}" if criterion.help else criterion.prompt


def _text(fields: Fields, name: str, *, longest: int = 200) -> str:
    text = fields.text(name, longest=longest)
    if not is_storable(text):
        raise fields.refuse(name, _("Contains an invalid character."))
    return text
