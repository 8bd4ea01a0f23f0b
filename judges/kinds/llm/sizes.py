"""About how many tokens an item takes, for the estimate before a run."""

from __future__ import annotations

from annotate.core.units import unit_count, units_of
from annotate.models import Sample
from judges.kinds.base import Config, Size
from judges.kinds.llm.answers import REQUIREMENTS
from judges.kinds.llm.fences import texts_in
from judges.kinds.llm.judging import END, SYSTEM
from judges.kinds.llm.template import names_between
from judges.kinds.llm.variables import INSTRUCTIONS, PER_SAMPLE, value_of

# Of text in Latin letters; a character of other scripts is about a token of its own.
_CHARACTERS_PER_TOKEN = 4
_FORM = 120
_VALUE, _REASON = 15, 60


def size_of(config: Config, sample: Sample) -> Size:
    """Of one item of the sample, on average: one request."""
    units = units_of(sample, config["unit"])
    if not units:
        return Size(requests=0, tokens_in=0, tokens_out=0)
    names = [name for name in names_between(config["prompt"]) if name not in INSTRUCTIONS]
    texts = texts_in(value_of(name, sample, units[len(units) // 2]) for name in names)
    for example in config["examples"]["drawn"]:
        texts += texts_in(example["shows"].values())
    texts += [one["text"] for one in config["requirements"] or ()]
    texts += [option["help"] for option in config["options"] or ()]
    # What comes before the material is said once more behind it.
    tokens = tokens_of(SYSTEM) + tokens_of(END) + _FORM + 3 * tokens_of(config["prompt"]) // 2
    each = _VALUE + (_REASON if config["rationale"] else 0)
    count = len(config["requirements"]) if config["answer_with"] == REQUIREMENTS else 1
    if config["per"] == PER_SAMPLE:
        count = unit_count(sample, config["unit"])
    return Size(
        requests=1,
        tokens_in=tokens + sum(map(tokens_of, texts)),
        tokens_out=min(config["max_tokens"], each * count),
    )


def tokens_of(text: str) -> int:
    if text.isascii():
        return len(text) // _CHARACTERS_PER_TOKEN + 1
    wide = sum(character > "\u2e7f" for character in text)
    return wide + (len(text) - wide) // _CHARACTERS_PER_TOKEN + 1
