"""Candidates for a judge: what each adds to the configuration that it starts from, and its configuration of each part.

A part is a fold, of which it holds nothing of the fold's own groups, or the whole of dev (`WHOLE`). Only what is made
from the whole ever becomes a version; those of folds are asked so that the choice is measured by labels that the asked
prompt has not seen.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from annotate.models import Sample
from judges.aligning.examples import Pool, Way
from judges.aligning.people import Unit
from judges.kinds.base import Config
from judges.kinds.llm.examples import MOST_DRAWN, example_of
from judges.kinds.llm.prompt import CRITERION, EXAMPLES, OPTIONS, RULES, names_between, sample_names

WHOLE = -1
FIXED, NEAREST = 8, 8

Ways = Literal["", "diverse", "hard", "nearest"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """guideline: the criterion's question, help and options stand in the prompt; rules: those distilled; instruction:
    the prompt that a search found; examples: how they are chosen, "" for none."""

    name: str
    guideline: bool = False
    rules: bool = False
    instruction: bool = False
    examples: Ways = ""


# In the order of simplicity; the first is the judge as it is.
CANDIDATES = (
    Candidate("start"),
    Candidate("guideline", guideline=True),
    Candidate("rules", rules=True),
    Candidate("guideline_rules", guideline=True, rules=True),
    Candidate("prompt", instruction=True),
    Candidate("prompt_rules", instruction=True, rules=True),
    Candidate("diverse", examples="diverse"),
    Candidate("hard", examples="hard"),
    Candidate("nearest", examples="nearest"),
    Candidate("rules_diverse", rules=True, examples="diverse"),
    Candidate("rules_hard", rules=True, examples="hard"),
    Candidate("rules_nearest", rules=True, examples="nearest"),
    Candidate("all_diverse", guideline=True, rules=True, examples="diverse"),
    Candidate("all_nearest", guideline=True, rules=True, examples="nearest"),
)


def candidates_for(
    config: Config, criterion_text: str, *, has_rules: bool, has_instruction: bool = False
) -> list[Candidate]:
    """Those that differ from each other. has_rules, has_instruction: whether a rule, or a better prompt, was found."""
    has_guideline = {CRITERION, OPTIONS} <= set(names_between(config["prompt"])) or not criterion_text
    return [
        one
        for one in CANDIDATES
        if not (one.guideline and has_guideline)
        and (has_rules or not one.rules)
        and (has_instruction or not one.instruction)
    ]


class Parts:
    """What the candidates of one judge are made from."""

    def __init__(
        self,
        config: Config,
        criterion_text: str,
        units: Sequence[Unit],
        wrong: Collection[tuple[str, str]],
        rules: Mapping[int, Sequence[str]],
        instructions: Mapping[int, str],
    ) -> None:
        """wrong: the units that the judge gets wrong. rules, instructions: of each part; "" or none where the search of
        a part found none: there the candidate has the prompt that the judge has."""
        self._criterion_text = criterion_text
        self._pool = Pool(config, units)
        self._wrong = wrong
        self._rules = rules
        self._instructions = instructions
        self._examples: dict[tuple[int, Ways], list[dict[str, Any]]] = {}

    def fixed(self, candidate: Candidate, part: int) -> dict[str, Any]:
        """What the candidate adds in the part, as an alignment keeps it: {"guideline": the criterion's text, "rules":
        texts, "instruction": a prompt, "examples": [sample's own id, unit, value, reason] of each, "nearest": how many
        of them are shown with each unit, 0 for all}."""
        examples = self._examples_of(part, candidate.examples) if candidate.examples else []
        return {
            "guideline": self._criterion_text if candidate.guideline else "",
            "rules": list(self._rules.get(part, ())) if candidate.rules else [],
            "instruction": self._instructions.get(part, "") if candidate.instruction else "",
            "examples": [[one["sample"], one["unit"], one["value"], one.get("reason", "")] for one in examples],
            "nearest": min(NEAREST, len(examples)) if candidate.examples == "nearest" else 0,
        }

    def _examples_of(self, part: int, ways: Ways) -> list[dict[str, Any]]:
        if (part, ways) not in self._examples:
            without = None if part == WHOLE else part
            way: Way = "hard" if ways == "hard" else "diverse"
            count = MOST_DRAWN if ways == "nearest" else FIXED
            self._examples[part, ways] = self._pool.examples(without, self._wrong, count, way)
        return self._examples[part, ways]


def with_fixed(base: Config, made: Mapping[str, Any], samples: Mapping[str, Sample]) -> dict[str, Any]:
    """The configuration that it starts from with what `Parts.fixed` says. samples: of its examples, by their own ids;
    those of which a text is gone are left out."""
    config, shown = dict(base), sample_names(base["prompt"])
    # Alignments from before there was a search have none.
    if made.get("instruction"):
        config["prompt"] = made["instruction"]
    if made["guideline"]:
        config = with_guideline(config, made["guideline"])
    if made["rules"]:
        config = with_rules(config, made["rules"])
    drawn = []
    for name, unit, value, reason in made["examples"]:
        example = example_of(samples[name], unit, value, shown) if name in samples else None
        if example is not None:
            drawn.append({**example, **({"reason": reason} if reason else {})})
    return with_examples(config, drawn, made["nearest"]) if drawn else config


def with_guideline(config: Mapping[str, Any], criterion_text: str) -> dict[str, Any]:
    """With the criterion's words and options in the prompt, where they are not."""
    prompt = config["prompt"]
    for name in (OPTIONS, CRITERION):
        if name not in names_between(prompt):
            prompt = _before_material(prompt, f"{{{{{name}}}}}")
    return {**config, "prompt": prompt, "criterion_text": criterion_text}


def with_rules(config: Mapping[str, Any], rules: Sequence[str]) -> dict[str, Any]:
    """Beside those that it has."""
    prompt = config["prompt"]
    if RULES not in names_between(prompt):
        prompt = _before_material(prompt, f"Rules that the people who label go by:\n{{{{{RULES}}}}}")
    return {**config, "prompt": prompt, "rules": list(dict.fromkeys([*config.get("rules", ()), *rules]))}


def with_examples(config: Mapping[str, Any], drawn: Sequence[Mapping[str, Any]], nearest: int) -> dict[str, Any]:
    """In place of those that it has. nearest: how many are shown with each unit; 0: all."""
    prompt = config["prompt"]
    if EXAMPLES not in names_between(prompt):
        prompt = _before_material(prompt, f"Examples:\n{{{{{EXAMPLES}}}}}")
    wanted = {"count": len(drawn), "seed": 1}
    examples = {**wanted, "drawn": list(drawn), "drawn_with": wanted}
    shown = min(nearest, len(drawn))
    return {**config, "prompt": prompt, "examples": {**examples, **({"nearest": shown} if shown else {})}}


def _before_material(prompt: str, text: str) -> str:
    """The text as a paragraph before the one that first shows something of the sample, or at the beginning."""
    at = min((prompt.find(f"{{{{{name}}}}}") for name in sample_names(prompt)), default=-1)
    paragraph = prompt.rfind("\n\n", 0, max(at, 0))
    if paragraph < 0:
        return f"{text}\n\n{prompt}"
    return f"{prompt[:paragraph]}\n\n{text}{prompt[paragraph:]}"
