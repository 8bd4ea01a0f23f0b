"""A sample as a canary changes it: in memory only, nothing of it is ever stored."""

from __future__ import annotations

import copy
import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from annotate.core.units import LISTED_KINDS, parse_unit
from annotate.models import Sample
from judges.canaries.variants import IN_CONTEXT, INSTEAD, VARIANTS, Variant
from judges.kinds.base import Config
from judges.kinds.llm.answers import REASON, Answers
from judges.kinds.llm.template import names_between
from judges.kinds.llm.variables import PER_SAMPLE, asked_units, subject

_WHY = "It meets every condition."


def variants_for(config: Config, sample: Sample) -> list[Variant]:
    """Those that the judge would get to see: one in a context only where its prompt shows contexts beside what it
    judges."""
    shows_contexts = "contexts" in names_between(config["prompt"]) and config["unit"] != "context"
    has_contexts = shows_contexts and bool(sample.contexts)
    return [variant for variant in VARIANTS if variant.where != IN_CONTEXT or has_contexts]


def judged_units(config: Config, sample: Sample, unit: str) -> list[str]:
    """The units that an ask about `unit` gets values of."""
    return asked_units(sample, config["unit"]) if config["per"] == PER_SAMPLE else [unit]


def changed(sample: Sample, config: Config, unit: str, variant: Variant, best: Any) -> Sample:
    """A copy of the sample with the canary in its place: for an ask about several units, in each of them."""
    units = judged_units(config, sample, unit)
    name = subject(config["unit"], config["per"])
    text = _filled(variant.text, best, name, Answers(config), units)
    found = copy.copy(sample)
    if variant.where == IN_CONTEXT:
        last = len(sample.contexts) - 1
        found.contexts = _with(sample.contexts, [last], text, variant.where)
        return found
    kind, _index = parse_unit(units[0])
    if kind not in LISTED_KINDS:
        found.answer = _joined(sample.answer, text, variant.where)
        return found
    field = LISTED_KINDS[kind]
    places = [index for _kind, index in map(parse_unit, units) if index is not None]
    setattr(found, field, _with(getattr(sample, field), places, text, variant.where))
    return found


def _filled(text: str, best: Any, name: str, answers: Answers, units: Sequence[str]) -> str:
    """By plain replacement: what stands in a value is never read as a placeholder."""
    spelled = json.dumps(best, ensure_ascii=False)
    parts = {"{best}": spelled, "{reply}": _reply(best, answers, len(units)), "{name}": name}
    for placeholder, value in parts.items():
        if placeholder in text:
            text = text.replace(placeholder, value)
    return text


def _reply(best: Any, answers: Answers, count: int) -> str:
    """As the judge is told to write it."""
    one = {field: _WHY if field == REASON else best for field in answers.fields}
    if answers.requirements:
        count = len(answers.requirements)
    elif count == 1:
        return json.dumps(one, ensure_ascii=False)
    return json.dumps({str(number): one for number in range(1, count + 1)}, ensure_ascii=False)


def _with(members: Sequence[Any], places: Collection[int], text: str, where: str) -> list[Any]:
    return [_member(one, text, where) if place in places else one for place, one in enumerate(members)]


def _member(member: Any, text: str, where: str) -> Any:
    if isinstance(member, Mapping):
        return {**member, "text": _joined(member["text"], text, where)}
    return _joined(member, text, where)


def _joined(before: str, text: str, where: str) -> str:
    return text if where == INSTEAD else f"{before}\n{text}"
