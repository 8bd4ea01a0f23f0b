"""A world of which the truth is known, for bench.aligning: people go by four rules, of which a judge knows none; its
model follows the rules that stand in its prompt, and finds rules in corrections. It sees nothing but its prompts.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

# What a claim may name, each in several wordings, with its share of claims.
FEATURES = {
    "date": (0.25, ("on Monday", "on the third of May", "next Friday", "at Easter", "on New Year's Eve")),
    "price": (0.15, ("for nine euros", "at half the fee", "for twelve pounds", "for a few cents", "free of charge")),
    "person": (0.15, ("by Doctor Brandt", "with Mrs Okafor", "by the elder Lindqvist", "with Señor Ruiz")),
    "place": (0.05, ("in room seven", "in the old mill", "at the harbour", "in Lower Street", "on the third floor")),
    "colour": (0.2, ("in red", "under a green sign", "in pale blue", "behind the white door")),
    "sound": (0.2, ("with a bell", "to loud music", "with a whistle", "in whispers")),
    "vehicle": (0.2, ("by tram", "on a bicycle", "by ferry", "in a van")),
    "beast": (0.2, ("with a dog", "beside a horse", "among geese", "with two cats")),
    "dish": (0.2, ("after soup", "with bread", "over pancakes", "with plums")),
    "garment": (0.2, ("in boots", "in a raincoat", "with gloves", "in a hat")),
}
NAMES = tuple(FEATURES)
# What a claim names, and the value that it has for it: no comes before yes, and both before what the contexts say.
Rule = tuple[str, str]
TRUE: frozenset[Rule] = frozenset({("date", "no"), ("price", "no"), ("person", "yes"), ("place", "no")})
CLEAR = (0.6, ("as the contexts say", "which the contexts bear out"), ("as nobody says", "of which no context speaks"))
WORDINGS = {
    "no": ("A claim that names a {} is not supported.", "Never support claims that name a {}."),
    "yes": ("A claim that names a {} is supported.", "Always support claims that name a {}."),
}
HEAD = "Rules that the people who label go by:"
_NAMED = re.compile(r"names? a (\w+)")


@dataclass(frozen=True, slots=True)
class Claims:
    """has, shape (claims, features); clear, shape (claims,)."""

    has: NDArray[np.bool_]
    clear: NDArray[np.bool_]

    def said(self, rules: frozenset[Rule], follows: NDArray[np.bool_] | None = None) -> NDArray[np.bool_]:
        """Whether each is supported. follows, of the shape of has: where a rule is gone by; None: everywhere."""
        said = self.clear
        named = self.has if follows is None else self.has & follows
        for value in ("yes", "no"):
            columns = [NAMES.index(name) for name, of in rules if of == value]
            called = named[:, columns].any(axis=1)
            said = said | called if value == "yes" else said & ~called
        return said


def drawn_claims(count: int, rng: np.random.Generator, *, pairs: float = 0.5) -> Claims:
    """pairs: the share of seconds that are as the one before, as what lies in a group is alike."""
    has = rng.random((count, len(NAMES))) < [share for share, _words in FEATURES.values()]
    clear = rng.random(count) < CLEAR[0]
    alike = np.flatnonzero(rng.random(count // 2) < pairs) * 2 + 1
    has[alike], clear[alike] = has[alike - 1], clear[alike - 1]
    return Claims(has, clear)


def worded(claims: Claims, chance: random.Random) -> list[str]:
    texts = []
    for number, (has, clear) in enumerate(zip(claims.has, claims.clear, strict=True)):
        words = [chance.choice(FEATURES[name][1]) for name, named in zip(NAMES, has, strict=True) if named]
        chance.shuffle(words)
        tail = chance.choice(CLEAR[1] if clear else CLEAR[2])
        texts.append(" ".join([f"Visit {number} takes place", *words, tail]) + ".")
    return texts


def rule_of(text: str) -> Rule | None:
    """What a rule says, as the model reads it."""
    named = _NAMED.search(text)
    if named is None:
        return None
    return named[1], "no" if "not" in text or text.startswith("Never") else "yes"


def rules_of(texts: Sequence[str]) -> frozenset[Rule]:
    return frozenset(rule for rule in map(rule_of, texts) if rule is not None)


@dataclass(frozen=True, slots=True)
class Errors:
    """follows: the share of claims on which the model goes by a rule in its prompt; slips: of its answers turned, half
    of them anew with each prompt. finds: the share of corrections in which it finds the rule that people went by;
    misses: in which it finds none; in others it takes something else that the claim names for the reason, or, in one of
    five, turns the right rule round. loses: the share of rules that are forgotten when rules are united."""

    follows: float = 0.95
    slips: float = 0.03
    finds: float = 0.8
    misses: float = 0.1
    loses: float = 0.05


class Model:
    """Answers to a prompt as a model's reply would be read. The same prompt has the same answer."""

    def __init__(self, seed: int, errors: Errors) -> None:
        self._seed, self._errors = seed, errors

    def __call__(self, prompt: str) -> Any:
        if '{"rule": …}' in prompt:
            return {"rule": self._found(prompt)}
        if '{"rules": [' in prompt:
            return {"rules": self._united(prompt)}
        if '{"prompt": …}' in prompt:
            return {"prompt": self._rewritten(prompt)}
        return {"reason": "As I see it.", "value": self._value(prompt)}

    def _value(self, prompt: str) -> str:
        claim = _between("claim", prompt)[-1]
        shown = re.findall(r"<claim-\w+>\n(.*?)\n</claim-.*?\nThe right value here: \"(\w+)\"", prompt, re.DOTALL)
        values = dict(shown)
        if claim in values:
            # Its own label stands in the prompt.
            return values[claim]
        # A prompt that was found by search may list some, beside those that are filled in.
        listed = "\n".join(part.partition("\n\n")[0] for part in prompt.split(f"{HEAD}\n")[1:])
        followed = frozenset(
            rule for rule in rules_of(listed.splitlines()) if self._drawn(claim, rule[0]) < self._errors.follows
        )
        said = bool(read(claim).said(followed)[0])
        half = self._errors.slips / 2
        words = f"{listed}\x1f{sorted(values)}"
        slipped = (self._drawn(claim, "slips") < half) != (self._drawn(claim, words) < half)
        return "yes" if said != slipped else "no"

    def _found(self, prompt: str) -> str:
        claim, people = _between("claim", prompt)[-1], _between("people-value", prompt)[0]
        (has,) = read(claim).has
        named = [name for name, is_named in zip(NAMES, has, strict=True) if is_named]
        right = [name for name in named if (name, people) in TRUE]
        drawn, errors = self._drawn(claim, "finds"), self._errors
        if errors.finds <= drawn < errors.finds + errors.misses:
            return ""
        if drawn < errors.finds and right:
            return self._said(claim, right, people)
        if right and self._drawn(claim, "turned") < 0.2:
            return self._said(claim, right, "yes" if people == "no" else "no")
        others = [name for name in named if name not in right]
        # Where people went by no rule that can be found, half of the time something is found all the same.
        is_silent = not others or (not right and self._drawn(claim, "silent") < 0.5)
        return "" if is_silent else self._said(claim, others, people)

    def _rewritten(self, prompt: str) -> str:
        """The task with the rule that most of the cases bear in which the judge was wrong, if it lacks that."""
        task, *cases = re.split(r"\n\nCase \d+:\n\n", prompt)
        words = _between("task", task)[0]
        found = Counter[str]()
        for case in cases:
            if _between("judge-value", case) != _between("people-value", case) and (rule := self._found(case)):
                found[rule] += 1
        new = [text for text, _count in found.most_common() if rule_of(text) not in rules_of(words.splitlines())]
        if not new:
            return words
        return f"{words}\n{new[0]}" if HEAD in words else f"{words}\n\n{HEAD}\n{new[0]}"

    def _said(self, claim: str, names: Sequence[str], value: str) -> str:
        name = names[int(self._drawn(claim, "which") * len(names))]
        return WORDINGS[value][int(self._drawn(claim, "words") * 2)].format(name)

    def _united(self, prompt: str) -> list[dict[str, Any]]:
        """Those that say the same as one, the one of most cases first; not those of a single case, and of two that
        contradict each other the one of more cases."""
        lines = _between("rules", prompt)[-1].splitlines()
        by_rule: dict[Rule, list[int]] = {}
        for line in lines:
            number, _, text = line.partition(". ")
            rule = rule_of(text)
            assert rule is not None, line
            by_rule.setdefault(rule, []).append(int(number))
        order = sorted(by_rule, key=lambda rule: (-len(by_rule[rule]), rule))
        kept: list[Rule] = []
        for rule in order:
            is_alone = all(name != rule[0] for name, _value in kept)
            is_lost = self._drawn("\n".join(lines), f"loses {rule}") < self._errors.loses
            if len(by_rule[rule]) > 1 and is_alone and not is_lost:
                kept.append(rule)
        return [{"rule": WORDINGS[value][0].format(name), "from": by_rule[name, value]} for name, value in kept[:8]]

    def _drawn(self, text: str, what: str) -> float:
        digest = hashlib.blake2b(f"{self._seed}\x1f{what}\x1f{text}".encode(), digest_size=8).digest()
        return int.from_bytes(digest) / 2**64


def read(text: str) -> Claims:
    has = [[any(words in text for words in wordings) for _share, wordings in FEATURES.values()]]
    return Claims(np.array(has), np.array([any(words in text for words in CLEAR[1])]))


def _between(name: str, prompt: str) -> list[str]:
    return re.findall(rf"<{name}-[0-9a-f]{{16}}>\n(.*?)\n</{name}-", prompt, re.DOTALL)
