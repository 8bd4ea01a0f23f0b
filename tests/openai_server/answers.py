"""The server's own answers: deterministic, and meaningful enough to look at in a demo."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.openai_server.messages import Reply, Request, chat, embeddings

MODELS = ("overlap-small", "overlap-large", "bag-of-words")
DIMENSIONS = 64
DEEPEST = 8

_TOKEN = re.compile(r"\w+|\W")
_WORD = re.compile(r"[^\W_]{3,}")
_SMALL = (
    "and are but can did does for from had has have how into its not one only that the their then there these they "
    "this was were what when where which who will with you your"
)
_SMALL_WORDS = frozenset(_SMALL.split(" "))
# <claim id="…">…</claim>, with or without anything after the name; and “Claim:” or “## Claim” up to the next of them.
_TAGGED = re.compile(r"<(?P<name>[A-Za-z][\w-]*)[^<>]*>\n?(?P<text>.*?)\n?</(?P=name)[^<>]*>", re.DOTALL)
_HEADED = re.compile(
    r"^\W*(?P<name>[A-Za-z][A-Za-z _]{2,30}?)(?: \d+)?\W*:[ \t]*\n?(?P<text>.+?)"
    r"(?=\n\W*[A-Za-z][A-Za-z _\d]{2,32}\W*:|\Z)",
    re.DOTALL | re.MULTILINE,
)
_SUBJECTS = ("claim", "statement", "key_fact", "fact", "answer", "response", "question")
_BASES = ("context", "passage", "source", "document", "reference", "ground_truth", "requirement", "question")

_GOOD = {"supported", "yes", "true", "pass", "passes", "correct", "complete", "relevant", "entailed", "met", "good"}
_BAD = {"unsupported", "not_supported", "no", "false", "fail", "fails", "incorrect", "wrong", "missing", "irrelevant"}
_BAD |= {"contradicted", "contradiction", "not_relevant", "refuted", "bad", "not_met", "none"}
# Outside of what a prompt is about: it is to ask for more of the words, or for fewer.
_STRICT = re.compile(r"\bstrict(?:ly)?\b", re.IGNORECASE)
_GENEROUS = re.compile(r"\bgenerous(?:ly)?\b", re.IGNORECASE)
_UNKNOWN = {"unverifiable", "unknown", "not_found", "not_mentioned", "neutral", "cant_tell"}


def default_reply(request: Request) -> Reply:
    asked = request.json
    model = str(asked.get("model", ""))
    if not request.is_chat:
        texts = asked.get("input", [])
        texts = [texts] if isinstance(texts, str) else texts
        return embeddings([_bag_of_words(str(text)) for text in texts], model=model, tokens=_tokens(str(texts)))
    prompt = request.prompt
    seen = look_at(prompt, draw=f"{asked.get('seed')}" if asked.get("temperature") else "")
    schema = request.schema or _schema_in(prompt)
    text = f"About that: {seen.quote}" if schema is None else json.dumps(fill(schema, seen), ensure_ascii=False)
    logprobs = [(token, math.log(seen.sureness)) for token in _TOKEN.findall(text)] if asked.get("logprobs") else None
    return chat(text, model=model, tokens_in=_tokens(prompt), tokens_out=_tokens(text), logprobs=logprobs)


@dataclass(frozen=True)
class Seen:
    """What a prompt is about. overlap: from 0 to 1. quote: the sentence that has most of the subject's words."""

    overlap: float
    quote: str
    prompt: str

    @property
    def sureness(self) -> float:
        """From 0.5, where one word more or less would make another answer, to 0.99."""
        return min(0.99, 0.5 + abs(self.overlap - 0.6))

    def chance(self, *what: object) -> float:
        """From 0 to 1, always the same for the same question."""
        digest = hashlib.sha256("\x1f".join([self.prompt, *map(str, what)]).encode("utf-8", "replace")).digest()
        return int.from_bytes(digest[:8]) / 2**64


def look_at(prompt: str, draw: str = "") -> Seen:
    """draw: told apart from other draws of the same question by a little noise; empty for none."""
    # Fences differ with every call; the same question is to get the same answer.
    steady = re.sub(r"\b(?=\w*\d)[0-9a-zA-Z]{8,}\b", "", prompt)
    parts = _parts(steady)
    subject = _first(parts, _SUBJECTS) or steady[-400:]
    basis = [part for name, part in parts if _is_any(name, _BASES) and part != subject] or [steady[:-400]]
    wanted = _words(subject)
    sentences = [sentence for part in basis for sentence in re.split(r"(?<=[.!?。])\s+|\n+", part) if sentence.strip()]
    best = max(sentences, key=lambda sentence: len(wanted & _words(sentence)), default=subject).strip()
    overlap = len(wanted & _words(" ".join(basis))) / len(wanted) if wanted else 0.0
    told = _TAGGED.sub("", steady)
    overlap **= 2.0 if _STRICT.search(told) else 0.5 if _GENEROUS.search(told) else 1.0
    seen = Seen(overlap, best[:300], steady)
    if draw:
        seen = Seen(min(1.0, max(0.0, overlap + (seen.chance("noise", draw) - 0.5) * 0.3)), best[:300], steady)
    return seen


def _parts(prompt: str) -> list[tuple[str, str]]:
    tagged = [(match["name"].lower(), match["text"]) for match in _TAGGED.finditer(prompt)]
    return tagged or [(match["name"].lower().replace(" ", "_"), match["text"]) for match in _HEADED.finditer(prompt)]


def _first(parts: Sequence[tuple[str, str]], names: Iterable[str]) -> str | None:
    """The first paragraph of the last part of the first of these names that there is: examples come before the
    question, instructions after it."""
    for name in names:
        for found, text in reversed(parts):
            if _is_any(found, (name,)):
                return text.strip().split("\n\n")[0]
    return None


def _is_any(found: str, names: Iterable[str]) -> bool:
    return any(found in (name, f"{name}s") or found.startswith((f"{name}_", f"{name}-")) for name in names)


def _words(text: str) -> set[str]:
    return {word for word in _WORD.findall(text.lower()) if word not in _SMALL_WORDS}


def _tokens(text: str) -> int:
    return max(1, len(text) // 4)


def _bag_of_words(text: str) -> list[float]:
    """Of length 1, or 0 for a text without words."""
    vector = [0.0] * DIMENSIONS
    for word in _words(text):
        vector[hashlib.sha256(word.encode()).digest()[0] % DIMENSIONS] += 1.0
    length = math.sqrt(sum(value * value for value in vector)) or 1.0
    return [value / length for value in vector]


def _schema_in(prompt: str) -> dict[str, Any] | None:
    """The last JSON schema that the prompt has written out, as libraries do that don't ask for one otherwise."""
    found = None
    if '"properties"' not in prompt:
        return None
    for match in re.finditer(r"\{", prompt):
        try:
            value, _ = json.JSONDecoder().raw_decode(prompt, match.start())
        except ValueError:
            continue
        if isinstance(value, dict) and isinstance(value.get("properties"), dict) and value.get("type") == "object":
            found = value
    return found


def fill(schema: Mapping[str, Any], seen: Seen) -> Any:
    """A value that keeps to the schema."""
    return _fill(schema, seen, schema.get("$defs") or schema.get("definitions") or {}, "", 0)


def _fill(schema: Mapping[str, Any], seen: Seen, defined: Mapping[str, Any], name: str, depth: int) -> Any:
    if "$ref" in schema:
        schema = defined.get(str(schema["$ref"]).rsplit("/", 1)[-1], {})
    for several in ("anyOf", "oneOf", "allOf"):
        if schema.get(several):
            return _fill(schema[several][0], seen, defined, name, depth)
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return _choose(schema["enum"], seen, name)
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object" or "properties" in schema:
        properties = schema.get("properties", {})
        return (
            {key: _fill(part, seen, defined, key, depth + 1) for key, part in properties.items()} if depth < 8 else {}
        )
    if kind == "array":
        count = max(1 if depth < DEEPEST else 0, int(schema.get("minItems", 0)))
        items = schema.get("items", {})
        return [_fill(items, seen, defined, f"{name}.{index}" if index else name, depth + 1) for index in range(count)]
    if kind in ("integer", "number"):
        return _number(schema, seen, whole=kind == "integer")
    if kind == "boolean":
        return seen.overlap >= 0.6
    if kind == "null":
        return None
    return _sentence(schema, seen, name)


def _choose(options: Sequence[Any], seen: Seen, name: str) -> Any:
    numbers = [option for option in options if isinstance(option, int | float) and not isinstance(option, bool)]
    if len(numbers) == len(options):
        return sorted(numbers)[min(len(numbers) - 1, int(seen.overlap * len(numbers)))]
    spelled = {re.sub(r"\W+", "_", str(option).lower()).strip("_"): option for option in options}
    good = next((option for key, option in spelled.items() if key in _GOOD), None)
    bad = next((option for key, option in spelled.items() if key in _BAD), None)
    if good is None or bad is None:
        return options[int(seen.chance("choice", name) * len(options))]
    between = [option for option in options if option not in (good, bad)]
    if seen.overlap >= 0.6:
        return good
    unknown = next((option for key, option in spelled.items() if key in _UNKNOWN), None)
    if unknown is not None:  # half of its words: about the same thing, and not the same
        return bad if seen.overlap >= 0.3 else unknown
    return between[0] if between and seen.overlap >= 0.4 else bad


def _number(schema: Mapping[str, Any], seen: Seen, *, whole: bool) -> float | int:
    low = schema.get("minimum", schema.get("exclusiveMinimum", 0))
    high = schema.get("maximum", schema.get("exclusiveMaximum", low + 1))
    value = low + (high - low) * seen.overlap
    return round(value) if whole else round(value, 3)


def _sentence(schema: Mapping[str, Any], seen: Seen, name: str) -> str:
    if any(word in name.lower() for word in ("evidence", "quote", "span")):
        text = seen.quote
    else:
        text = f"{round(seen.overlap * 100)} of 100 for the words it shares, most of them with “{seen.quote[:120]}”."
    return text[: int(schema.get("maxLength", 10_000))].ljust(int(schema.get("minLength", 0)), ".")
