"""A world of which the truth is known: people go by four rules, a judge starts without them; a model follows the rules
that stand in its prompt, and finds one in a correction, each with a stated share of errors.
"""

from __future__ import annotations

import hashlib
import random
import re
from dataclasses import dataclass, field
from typing import Any

from tests.openai_server import Request

# Of each rule the words that call for it in a claim, and how a model says it.
RULES = {
    name: (words, (f"A claim that names a {name} is not supported.", f"Never support claims which name a {name}."))
    for name, words in (
        ("date", "on Monday"), ("price", "for nine euros"), ("person", "by Doctor Brandt"), ("place", "in room seven"),
    )
}  # fmt: skip
WRONG = ("A short claim is always supported.", "Polite wording counts as support.", "Plural nouns need two sources.")
_RULES_HEAD = "Rules that the people who label go by:"


@dataclass
class Claim:
    text: str
    calls_for: frozenset[str]
    clear: bool

    def people_say(self) -> str:
        return "no" if self.calls_for or not self.clear else "yes"

    def said_with(self, rules: frozenset[str]) -> str:
        return "no" if self.calls_for & rules or not self.clear else "yes"


def claims(count: int, chance: random.Random, *, share: float = 0.18) -> list[Claim]:
    """Each with a number of its own; a rule is called for in `share` of them."""
    made = []
    for number in range(count):
        called = frozenset(name for name in RULES if chance.random() < share)
        clear = chance.random() < 0.7
        words = [f"Visit {number} takes place", *(RULES[name][0] for name in sorted(called))]
        words.append("as the contexts say" if clear else "as nobody says")
        made.append(Claim(" ".join(words) + ".", called, clear))
    return made


@dataclass
class PlantedModel:
    """Answers as the server's function. follows: the share of units on which a rule in the prompt is followed; slips:
    of all answers turned; distils: the share of corrections in which the right rule is found, others bring a wrong one,
    or none; seed: of all draws, by unit, so that the same question has the same answer."""

    seed: int = 0
    follows: float = 0.95
    slips: float = 0.03
    distils: float = 0.8
    prompts: list[str] = field(default_factory=list)

    def __call__(self, request: Request) -> Any:
        prompt = request.prompt
        self.prompts.append(prompt)
        if '{"rule": …}' in prompt:
            return {"rule": self._rule(_claim_in(prompt))}
        if '{"rules": [' in prompt:
            return {"rules": _united(prompt)}
        if '{"prompt": …}' in prompt:
            return {"prompt": _rewritten(prompt)}
        return {"reason": "As I see it.", "value": self.value(_claim_in(prompt), _rules_in(prompt))}

    def value(self, claim: Claim, rules: frozenset[str]) -> str:
        followed = frozenset(name for name in rules if self._drawn(claim, f"follows {name}") < self.follows)
        said = claim.said_with(followed)
        return {"yes": "no", "no": "yes"}[said] if self._drawn(claim, "slips") < self.slips else said

    def _rule(self, claim: Claim) -> str:
        if not claim.calls_for:
            return ""
        drawn = self._drawn(claim, "distils")
        if drawn < self.distils:
            name = sorted(claim.calls_for)[int(self._drawn(claim, "which") * len(claim.calls_for))]
            ways = RULES[name][1]
            return ways[int(self._drawn(claim, "words") * len(ways))]
        return WRONG[int(self._drawn(claim, "wrong") * len(WRONG))]

    def _drawn(self, claim: Claim, what: str) -> float:
        digest = hashlib.blake2b(f"{self.seed}\x1f{what}\x1f{claim.text}".encode(), digest_size=8).digest()
        return int.from_bytes(digest) / 2**64


def _united(prompt: str) -> list[dict[str, Any]]:
    """Each rule once, the one of most cases first, without those of a single one."""
    text = re.findall(r"<rules-[0-9a-f]{16}>\n(.*?)\n</rules-", prompt, re.DOTALL)[-1]
    by_name: dict[str, list[int]] = {}
    for line in text.splitlines():
        number, _, rule = line.partition(". ")
        name = next((name for name in RULES if f"name a {name}" in rule.replace("names", "name")), rule)
        by_name.setdefault(name, []).append(int(number))
    united = sorted(by_name.items(), key=lambda one: -len(one[1]))
    said = {name: ways[0] for name, (_words, ways) in RULES.items()}
    return [{"rule": said.get(name, name), "from": of} for name, of in united if len(of) > 1][:8]


def _claim_in(prompt: str) -> Claim:
    """The one that is asked about: the last that stands between marks."""
    text = re.findall(r"<claim-[0-9a-f]{16}>\n(.*?)\n</claim-", prompt, re.DOTALL)[-1]
    called = frozenset(name for name, (words, _ways) in RULES.items() if words in text)
    return Claim(text, called, "as the contexts say" in text)


def _rewritten(prompt: str) -> str:
    """The task with the first rule that it lacks and that a reason in the cases speaks of."""
    task = re.findall(r"<task-[0-9a-f]{16}>\n(.*?)\n</task-", prompt, re.DOTALL)[0]
    reasons = " ".join(re.findall(r"<reason-\d+-[0-9a-f]{16}>\n(.*?)\n</reason-", prompt, re.DOTALL))
    missing = [name for name in RULES if name in reasons and name not in _rules_in(task)]
    if not missing:
        return task
    rule = RULES[missing[0]][1][0]
    return f"{task}\n{rule}" if _RULES_HEAD in task else f"{task}\n\n{_RULES_HEAD}\n{rule}"


def _rules_in(prompt: str) -> frozenset[str]:
    """Of every place that lists rules: one prompt may say some itself, and have others filled in."""
    parts = [part.partition("\n\n")[0] for part in prompt.split(_RULES_HEAD)[1:]]
    return frozenset(name for name in RULES for part in parts if f"names a {name}" in part)
