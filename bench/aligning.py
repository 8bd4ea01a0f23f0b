"""Aligning a judge where the truth is known: how much of what can be gained is gained, and what is claimed.

    python -m bench.aligning [--worlds 200] [--controls 200] [--others 50] [--kept FILE] > docs/aligning.md
    python -m bench.aligning --search 400 --worlds 5 --controls 2 --others 5

bench.aligning_world says what is planted. An alignment asks here what it asks in the product (judges.aligning), but the
model itself: there is no endpoint and no database. --kept: worlds that are done are added to the file, and are not done
again; the page is then made of it. --search: adds worlds in which another prompt is searched for as well, with so many
requests for each search; the page is of those without.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import alignment
from bench.aligning_world import NAMES, TRUE, WORDINGS, Errors, Model, Rule, drawn_claims, read, rules_of, worded
from bench.promises import at_most, percent, share

FRESH = 20_000
FOLDS = 4
PEOPLE_ERR = 0.02
GOOD = Errors()
OPTIONS = [{"value": "yes"}, {"value": "no"}]
CRITERION = {"key": "support", "unit": "claim", "options": OPTIONS, "prompt": "Is the claim supported?"}
MAIN = "200 units"
PERMUTED, NOTHING = "labels permuted", "nothing to gain"


@dataclass(frozen=True, slots=True)
class World:
    """units: of dev, two in a group. search: how many requests each search for another prompt may make."""

    name: str
    units: int = 200
    errors: Errors = GOOD
    search: int = 0


WORLDS = (
    World(MAIN),
    World(PERMUTED),
    World(NOTHING),
    World("200 units; finds 60 %, wrong 25 %", errors=Errors(finds=0.6, misses=0.15)),
    World("200 units; finds 40 %, wrong 40 %", errors=Errors(finds=0.4, misses=0.2)),
    World("200 units; follows 80 %, slips 8 %", errors=Errors(follows=0.8, slips=0.08)),
    World("120 units", 120),
    World("80 units", 80),
    World("40 units", 40),
)
FIRST = WORLDS[:3]
# Of the first three, candidates made from all labels are asked as well in so many: it takes as long again.
SAME = 25


@dataclass(frozen=True, slots=True)
class Found:
    """kappa: on fresh units, of a judge that holds the rules at each stage (`STAGES`); chosen: the candidate; gained:
    the lower end of the gain's interval lies above 0; before, inner: the start's and the procedure's figure; same: what
    choosing and reporting on the same labels claims; wrong_rules: how many of the united ones people do not go by."""

    seed: int
    kappa: Mapping[str, float]
    chosen: str
    gained: bool
    before: float
    inner: float
    same: float | None
    wrong_rules: int


# What an oracle knows; of that, what any correction shows, what the model said of any, and what it kept when it united
# them; with what else it kept; what the chosen candidate holds; what the judge started with.
STAGES = ("oracle", "seen", "found", "united", "with wrong ones", "chosen", "start")


def found_in(world: World, seed: int) -> Found:
    rng, chance = np.random.default_rng(seed), random.Random(seed)
    made = drawn_claims(world.units, rng)
    texts = worded(made, chance)
    people = made.said(TRUE) != (rng.random(world.units) < PEOPLE_ERR)
    if world.name == PERMUTED:
        people = rng.permutation(people)
    one = _Alignment(texts, ["yes" if is_yes else "no" for is_yes in people], Model(seed, world.errors), seed)
    one.start(sorted(WORDINGS[value][0].format(name) for name, value in TRUE) if world.name == NOTHING else [])
    one.search(world.search)
    selection = one.chosen(same=world in FIRST and seed < SAME)
    held = {
        "oracle": TRUE,
        "seen": frozenset(rule for rule in TRUE if any(_shows(unit, rule) for unit in one.wrong)),
        "found": TRUE & rules_of([rule.text for rule in one.rules]),
        "united": TRUE & rules_of(one.united),
        "with wrong ones": rules_of(one.united),
        "chosen": rules_of([*one.config_of_chosen.get("rules", ()), *one.config_of_chosen["prompt"].splitlines()]),
        "start": rules_of(one.config.get("rules", ())),
    }
    kappa_of = _scored_fresh(world.errors, np.random.default_rng(seed + 1_000_000))
    return Found(
        seed=seed,
        kappa={stage: round(kappa_of(rules), 4) for stage, rules in held.items()},
        chosen=one.names[selection.choice.candidate],
        gained=selection.gain.low is not None and selection.gain.low > 0,
        before=selection.before.value or 0.0,
        inner=selection.after.value or 0.0,
        same=selection.same_labels,
        wrong_rules=len(held["with wrong ones"] - TRUE),
    )


def _shows(unit: Any, rule: Rule) -> bool:
    name, value = rule
    return bool(unit.value == value and read(unit.sample.claims[0]["text"]).has[0, NAMES.index(name)])


def _scored_fresh(errors: Errors, rng: np.random.Generator) -> Callable[[frozenset[Rule]], float]:
    """Kappa with people, who do not err here, of a judge that holds rules; the same draws for all of them."""
    fresh = drawn_claims(FRESH, rng)
    follows = rng.random(fresh.has.shape) < errors.follows
    slips = rng.random(FRESH) < errors.slips
    people = fresh.said(TRUE)

    def kappa(rules: frozenset[Rule]) -> float:
        judge = fresh.said(rules, follows) != slips
        agreed, shares = float((people == judge).mean()), [float(said.mean()) for said in (people, judge)]
        expected = shares[0] * shares[1] + (1 - shares[0]) * (1 - shares[1])
        return (agreed - expected) / (1 - expected)

    return kappa


class _Direct:
    """The model without a server (judges.endpoints.calls.Model)."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def chat(self, request: Any) -> Any:
        from judges.endpoints.calls import Answered

        reply = self._model("\n\n".join(one["content"] for one in request.messages))
        return Answered(text=json.dumps(reply))


class _Alignment:
    """The steps of one, as judges.aligning.asking takes them."""

    def __init__(self, texts: Sequence[str], values: Sequence[str], model: Model, seed: int) -> None:
        from judges.aligning.people import Unit
        from tests.judges.kinds.making import sample

        self._model, self._seed = _Direct(model), seed
        groups = [f"g{number // 2}" for number in range(len(texts))]
        names = sorted(set(groups))
        dealt = alignment.folds(names, [True] * len(names), FOLDS, alignment.seeded(seed)).tolist()
        fold_of = dict(zip(names, dealt, strict=True))
        self._units = [
            Unit(
                sample(number, claims=[text], contexts=[f"Of visit {number}."]),
                "claim:0", group, fold_of[group], value, int(value == "yes"), (),
            )
            for number, (text, value, group) in enumerate(zip(texts, values, groups, strict=True))
        ]  # fmt: skip

    def start(self, rules: Sequence[str]) -> None:
        """rules: those that the judge has already. Asks it, and about what it gets wrong."""
        from judges.aligning import distil
        from judges.aligning.candidates import with_rules
        from tests.judges.kinds.llm.making import complete

        config = complete({"criterion": "support", "model": "m", "template": "claim_support"}, **CRITERION)
        self.config: Mapping[str, Any] = with_rules(config, rules) if rules else config
        self._first = self._answers(self.config, self._units)
        self.wrong = [unit for unit, level in zip(self._units, self._first, strict=True) if level != unit.level]
        self.rules = []
        for unit in self.wrong:
            said = distil.Correction(unit.unit, "no" if unit.value == "yes" else "yes", "", str(unit.value), ())
            request = distil.rule_request(self.config, unit.sample, said)
            assert request is not None
            if text := distil.read_rule(self._model.chat(request)):
                self.rules.append(distil.Found(text, unit.sample.external_id, unit.unit, unit.group))

    def search(self, asks: int) -> None:
        """Another prompt, for each part; none where `asks` is 0."""
        from judges.aligning.candidates import WHOLE
        from judges.aligning.search import searched

        said = {unit.key: ("yes" if level else "no", "") for unit, level in zip(self._units, self._first, strict=True)}
        self._instructions = {
            part: searched(
                self.config,
                [unit for unit in self._units if part == WHOLE or unit.fold != part],
                said,
                self._model,
                asks=asks,
                seed=self._seed,
                level_of=lambda value: int(value == "yes"),
                quotes=lambda _prompt: False,
            ).prompt
            for part in ((WHOLE, *range(FOLDS)) if asks else ())
        }

    def _united(self) -> dict[int, list[str]]:
        from judges.aligning import distil
        from judges.aligning.candidates import WHOLE

        fold_of = {unit.group: unit.fold for unit in self._units}
        united = {}
        for part in (WHOLE, *range(FOLDS)):
            here = [one for one in self.rules if part == WHOLE or fold_of[one.group] != part]
            reply = self._model.chat(distil.unite_request(self.config, here)) if here else None
            united[part] = [one.text for one in distil.read_united(reply, here)] if reply else []
        self.united = united[WHOLE]
        return united

    def chosen(self, *, same: bool) -> alignment.Selection:
        from judges.aligning.candidates import WHOLE, Parts, candidates_for, with_fixed

        united, samples = self._united(), {unit.sample.external_id: unit.sample for unit in self._units}
        parts = Parts(self.config, "", self._units, {unit.key for unit in self.wrong}, united, self._instructions)
        has_instruction = bool(self._instructions.get(WHOLE))
        candidates = candidates_for(self.config, "", has_rules=bool(self.united), has_instruction=has_instruction)
        inner, of_same, configs = [self._first], [self._first], [self.config]
        for candidate in candidates[1:]:
            whole = with_fixed(self.config, parts.fixed(candidate, WHOLE), samples)
            row = np.empty(len(self._units), dtype=np.int64)
            for fold in range(FOLDS):
                places = [place for place, unit in enumerate(self._units) if unit.fold == fold]
                of_fold = with_fixed(self.config, parts.fixed(candidate, fold), samples)
                row[places] = self._answers(of_fold, [self._units[place] for place in places])
            inner.append(row.tolist())
            if same:
                of_same.append(self._answers(whole, self._units))
            configs.append(whole)
        levels, groups, folds = zip(*((unit.level, unit.group, unit.fold) for unit in self._units), strict=True)
        rng = alignment.seeded(self._seed)
        found = alignment.select(levels, inner, groups, folds, 2, rng, same_labels=of_same if same else None)
        self.names = [one.name for one in candidates]
        self.config_of_chosen = configs[found.choice.candidate]
        return found

    def _answers(self, config: Mapping[str, Any], of: Sequence[Any]) -> list[int]:
        from judges.kinds.base import Item
        from judges.kinds.llm.judging import Judging

        judging = Judging(config)
        labels = [judging.ask(Item(unit.sample, unit.unit), self._model).scores[0].label for unit in of]
        return [alignment.NO_ANSWER if label is None else int(label == "yes") for label in labels]


FOLLOWS = percent(GOOD.follows, 0)
INTRODUCTION = f"""\
# How much of what can be gained aligning gains

Made by `python -m bench.aligning > docs/aligning.md` (see bench/README.md); don't edit. What aligning does is said
[where judges are described](judges.md#aligning-closer-to-people-and-whether-it-helped). Here worlds are planted of
which the truth is known, and a judge is aligned in each as the product does it, but for the endpoint.

**The world.** A claim names any of ten things (a date, a colour, …), each in several wordings, and is borne out by
its contexts or not. People go by four rules that the judge does not know: claims that name a date (25 % of claims), a
price (15 %) or a place (5 %) are not supported, whatever the contexts say; those that name a person (15 %) otherwise
are. The six other things (20 % each) mean nothing. Half of the second claims of a group are as the first. People err
on {percent(PEOPLE_ERR, 0)} of dev.

**The model** sees nothing but prompts. It goes by a rule that stands there, right or wrong, on {FOLLOWS} of claims,
and turns {percent(GOOD.slips, 0)} of its answers, half of them anew with each prompt; examples teach it nothing, but
where a claim is its own example it repeats the label. Of a correction, which is one claim with two values, it finds
the rule that people went by in {percent(GOOD.finds, 0)}, and none in {percent(GOOD.misses, 0)}; in others it takes
something else in the claim for the reason, or, in one of five, turns the rule round. Where people only erred, it
finds a reason half of the time. It forgets {percent(GOOD.loses, 0)} of the rules when it unites them, and keeps what
two corrections bear.

Each aligned judge answers {FRESH:,} fresh claims, about which people do not err; so do its start, and an oracle that
holds the four rules. The threshold below which a rule is left out was set on other worlds of this sort.
"""
GAIN = """\
## The gain

*Share*: kappa of the aligned judge less the start's, of the oracle's less the start's. *Shown*: the alignment says
that there is an improvement.

| dev | worlds | start | aligned | oracle | share: 5 % | 25 % | median | 75 % | shown |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"""
LIMITS = """\

## What limits it

How much of what the oracle gains is lost, on average: rules that no correction shows; that the model said of none;
that got lost when rules were united, or are borne by too few; by rules that people do not go by; and by choosing
another candidate than one with the rules (negative: what was not chosen is worse). *Wrong rules*: worlds in which
there is one.

| dev | never shown | not found | lost in uniting | wrong rules | not chosen | worlds with a wrong rule |
| --- | --- | --- | --- | --- | --- | --- |"""
CLAIMS = f"""\

## What is claimed

In *{PERMUTED}* people's values are dealt to other units, so that nothing agrees with them; in *{NOTHING}* the judge
has all four rules, which its model slips on as before. *Inner*: the figure of the procedure less the truth; people's
own errors on dev make it less by some hundredths. *Same labels*: what choosing and reporting on the same labels would
have claimed, less the truth, in the first {SAME} worlds: a candidate that is shown a unit's own label repeats it.

| world | an improvement is said to be shown | promised | | inner | same labels |
| --- | --- | --- | --- | --- | --- |"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, default=200)
    parser.add_argument("--controls", type=int, default=200)
    parser.add_argument("--others", type=int, default=50, help="of those with other models and fewer labels")
    parser.add_argument("--search", type=int, default=0)
    parser.add_argument("--kept", type=Path)
    asked = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    counts = dict.fromkeys(WORLDS, asked.others) | dict.fromkeys(FIRST, asked.controls) | {WORLDS[0]: asked.worlds}
    for world in (WORLDS[0], WORLDS[4]) if asked.search else ():
        named = f"{world.name}; search of {asked.search}"
        counts[replace(world, name=named, search=asked.search)] = asked.others
    found = _all_found(counts, asked.kept)
    print(INTRODUCTION)
    gains = {name: of for name, of in found.items() if of and name not in (PERMUTED, NOTHING)}
    print(GAIN)
    for name, of in gains.items():
        shares = np.quantile([_of_gain(one, "chosen", "start") for one in of], (0.05, 0.25, 0.5, 0.75))
        kappas = [f"{np.median([one.kappa[stage] for one in of]):.2f}" for stage in ("start", "chosen", "oracle")]
        cells = [name, str(len(of)), *kappas, *(f"{part:.2f}" for part in shares)]
        print(f"| {' | '.join(cells)} | {percent(np.mean([one.gained for one in of]), 0)} |")
    print(LIMITS)
    for name, of in gains.items():
        lost = [np.mean([_of_gain(one, *pair) for one in of]) for pair in pairwise(STAGES[:-1])]
        is_wrong = percent(np.mean([one.wrong_rules > 0 for one in of]), 0)
        print(f"| {name} | {' | '.join(percent(float(part), 1) for part in lost)} | {is_wrong} |")
    print(CLAIMS)
    for name in (MAIN, PERMUTED, NOTHING):
        if not (of := found[name]):
            continue
        gained = sum(one.gained for one in of)
        truth = [0.0 if name == PERMUTED else one.kappa["chosen"] for one in of]
        inner = np.mean([one.inner - real for one, real in zip(of, truth, strict=True)])
        same = np.mean([one.same - real for one, real in zip(of, truth, strict=True) if one.same is not None])
        must = "" if name == MAIN else "at most 5 %"
        kept = "" if name == MAIN else "kept" if at_most(gained, len(of), 0.05) else "**not kept**"
        print(f"| {name} | {share(gained, len(of))} | {must} | {kept} | {inner:+.3f} | {same:+.3f} |")
    for name in (MAIN, *(name for name in gains if "search" in name)):
        chosen = Counter(one.chosen for one in found[name]).most_common()
        print(f"\nChosen with {name}: " + ", ".join(f"`{one}` in {count}" for one, count in chosen) + ".")


def _of_gain(one: Found, more: str, less: str) -> float:
    return (one.kappa[more] - one.kappa[less]) / (one.kappa["oracle"] - one.kappa["start"])


def _all_found(counts: Mapping[World, int], kept: Path | None) -> dict[str, list[Found]]:
    lines = kept.read_text().splitlines() if kept and kept.exists() else []
    done = {(one["world"], one["found"]["seed"]): Found(**one["found"]) for one in map(json.loads, lines)}
    for world, seed in ((world, seed) for world, many in counts.items() for seed in range(many)):
        if (world.name, seed) not in done:
            done[world.name, seed] = found_in(world, seed)
            if kept:
                with kept.open("a") as file:
                    file.write(json.dumps({"world": world.name, "found": asdict(done[world.name, seed])}) + "\n")
            print(world.name, seed, file=sys.stderr, flush=True)
    return {world.name: [done[world.name, seed] for seed in range(many)] for world, many in counts.items()}


if __name__ == "__main__":
    main()
