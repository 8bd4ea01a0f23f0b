"""Aligning a judge where the truth is known: how much of what can be gained is gained, and what is claimed.

    python -m bench.aligning [--worlds 200] [--units 250]

People go by four rules; the judge starts without them. Its model follows a rule in its prompt on 95 % of units, and
slips on 3 % of answers; of a correction it finds the right rule in 80 %, otherwise a wrong one. An alignment asks here
what it asks in the product (judges.aligning), but the model itself: there is no endpoint and no database. The judge
that comes out is scored on 20,000 fresh units; so are the start, and an oracle that holds all four rules.

Controls: people's labels permuted between the units of dev, and a judge that has all four rules already.
"""

from __future__ import annotations

import argparse
import json
import os
import random
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

import alignment
from bench.promises import at_most, percent, share

FRESH = 20_000
FOLDS = 4
PLANTED, PERMUTED, NOTHING = "planted", "labels permuted", "nothing to gain"
OPTIONS = [{"value": "yes"}, {"value": "no"}]
CRITERION = {"key": "support", "unit": "claim", "options": OPTIONS, "prompt": "Is the claim supported?"}


@dataclass(frozen=True, slots=True)
class Found:
    """Kappa on fresh units of start, aligned judge and oracle; and what the alignment says: gained: the lower end of
    the gain's interval lies above 0."""

    start: float
    aligned: float
    oracle: float
    chosen: str
    gained: bool
    inner: float
    best_of_same: float


def found_in(seed: int, *, units: int, control: str) -> Found:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    from tests.judges.aligning.planted import RULES, PlantedModel, claims
    from tests.judges.kinds.llm.making import complete

    chance, model = random.Random(seed), PlantedModel(seed=seed)
    made, fresh = claims(units, chance), claims(FRESH, random.Random(-1 - seed))
    said = [claim.people_say() for claim in made]
    if control == PERMUTED:
        chance.shuffle(said)
    every = [ways[0] for _words, ways in RULES.values()]
    base: dict[str, Any] = {"criterion": "support", "model": "m", "template": "claim_support"}
    if control == NOTHING:
        prompt = complete(base, **CRITERION)["prompt"]
        base = {
            **base,
            "template": None,
            "prompt": f"Rules that the people who label go by:\n{{{{rules}}}}\n\n{prompt}",
        }
        base["rules"] = every
    start = complete(base, **CRITERION)
    selection, names, config = _aligned(start, made, said, model, seed)
    truth = [claim.people_say() for claim in fresh]

    def kappa(rules: Sequence[str]) -> float:
        held = frozenset(name for name in RULES if any(f"names a {name}" in rule for rule in rules))
        return _kappa(truth, [model.value(claim, held) for claim in fresh])

    gain = selection.gain
    return Found(
        start=kappa(start.get("rules", ())),
        aligned=kappa(config.get("rules", ())),
        oracle=kappa(every),
        chosen=names[selection.choice.candidate],
        gained=gain.low is not None and gain.low > 0,
        inner=selection.after.value or 0.0,
        best_of_same=selection.same_labels or 0.0,
    )


class _Direct:
    """The model without a server (judges.endpoints.calls.Model)."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def chat(self, request: Any) -> Any:
        from judges.endpoints.calls import Answered

        reply = self._model(SimpleNamespace(prompt="\n\n".join(one["content"] for one in request.messages)))
        self._model.prompts.clear()
        return Answered(text=json.dumps(reply))


def _aligned(
    start: Mapping[str, Any], made: Sequence[Any], said: Sequence[str], model: Any, seed: int
) -> tuple[alignment.Selection, list[str], dict[str, Any]]:
    """What choosing came to, the candidates' names, and the configuration of the chosen one."""
    from judges.aligning import distil
    from judges.aligning.candidates import WHOLE, Parts, candidates_for, with_fixed
    from judges.aligning.people import Unit
    from judges.kinds.base import Item
    from judges.kinds.llm.judging import Judging
    from tests.judges.kinds.making import sample

    direct = _Direct(model)
    groups = [f"g{number // 2}" for number in range(len(made))]
    names = sorted(set(groups))
    dealt = alignment.folds(names, [True] * len(names), FOLDS, alignment.seeded(seed)).tolist()
    fold_of = dict(zip(names, dealt, strict=True))
    units = []
    for number, (claim, value, group) in enumerate(zip(made, said, groups, strict=True)):
        one = sample(number, claims=[claim.text], contexts=[f"Of visit {number}."])
        units.append(Unit(one, "claim:0", group, fold_of[group], value, int(value == "yes"), ()))
    samples = {unit.sample.external_id: unit.sample for unit in units}

    def answers(config: Mapping[str, Any], of: Sequence[Unit]) -> list[int]:
        judging = Judging(config)
        labels = [judging.ask(Item(unit.sample, unit.unit), direct).scores[0].label for unit in of]
        return [alignment.NO_ANSWER if label is None else int(label == "yes") for label in labels]

    first = answers(start, units)
    wrong = [unit for unit, level in zip(units, first, strict=True) if level != unit.level]
    rules = []
    for unit in wrong[:200]:
        other = "no" if unit.value == "yes" else "yes"
        request = distil.rule_request(start, unit.sample, distil.Correction(unit.unit, other, "", str(unit.value), ()))
        if request is not None and (text := distil.read_rule(direct.chat(request))):
            rules.append(distil.Found(text, unit.sample.external_id, unit.unit, unit.group))
    united: dict[int, list[str]] = {}
    for part in (WHOLE, *range(FOLDS)):
        here = [one for one in rules if part == WHOLE or fold_of[one.group] != part]
        reply = direct.chat(distil.unite_request(start, here)) if here else None
        united[part] = [one.text for one in distil.read_united(reply, here)] if reply else []
    parts = Parts(start, "", units, {unit.key for unit in wrong}, united)
    candidates = candidates_for(start, "", has_rules=bool(united[WHOLE]))
    inner, same = [first], [first]
    config = dict(start)
    configs = [config]
    for candidate in candidates[1:]:
        whole = with_fixed(start, parts.fixed(candidate, WHOLE), samples)
        row = np.empty(len(units), dtype=np.int64)
        for fold in range(FOLDS):
            places = [place for place, unit in enumerate(units) if unit.fold == fold]
            of_fold = with_fixed(start, parts.fixed(candidate, fold), samples)
            row[places] = answers(of_fold, [units[place] for place in places])
        inner.append(row.tolist())
        same.append(answers(whole, units))
        configs.append(whole)
    levels, folds = [unit.level for unit in units], [unit.fold for unit in units]
    rng = alignment.seeded(seed)
    found = alignment.select(levels, inner, groups, folds, 2, rng, same_labels=same)
    return found, [one.name for one in candidates], configs[found.choice.candidate]


def _kappa(people: Sequence[str], judge: Sequence[str]) -> float:
    yes = [np.array(column) == "yes" for column in (people, judge)]
    agreed = float((yes[0] == yes[1]).mean())
    shares = [float(column.mean()) for column in yes]
    expected = shares[0] * shares[1] + (1 - shares[0]) * (1 - shares[1])
    return (agreed - expected) / (1 - expected)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, default=200)
    parser.add_argument("--units", type=int, default=250)
    asked = parser.parse_args()
    print(f"{asked.worlds} worlds of {asked.units} units of dev each\n")
    print("| | an improvement is said to be shown | inner figure less the truth | same labels less the truth | |")
    print("|---|---|---|---|---|")
    with ProcessPoolExecutor(2) as pool:
        for control in (PLANTED, PERMUTED, NOTHING):
            of = partial(found_in, units=asked.units, control=control)
            found = list(pool.map(of, range(asked.worlds)))
            gained = sum(one.gained for one in found)
            # With permuted labels the truth is that nothing agrees with them.
            truth = [0.0 if control == PERMUTED else one.aligned for one in found]
            inner = np.mean([one.inner - real for one, real in zip(found, truth, strict=True)])
            same = np.mean([one.best_of_same - real for one, real in zip(found, truth, strict=True)])
            kept = "" if control == PLANTED else "kept" if at_most(gained, asked.worlds, 0.05) else "**not kept**"
            print(f"| {control} | {share(gained, asked.worlds)} | {inner:+.3f} | {same:+.3f} | {kept} |", flush=True)
            if control == PLANTED:
                planted = found
    shares = [(one.aligned - one.start) / (one.oracle - one.start) for one in planted]
    parts = np.quantile(shares, (0.05, 0.25, 0.5, 0.75, 0.95))
    print("\nShare of the gain of an oracle: " + ", ".join(f"{part:.2f}" for part in parts) + " (5, 25, 50, 75, 95 %)")
    for name in ("start", "aligned", "oracle"):
        print(
            f"- kappa of the {name} on fresh units: {np.median([getattr(one, name) for one in planted]):.3f} (median)"
        )
    chosen = sorted({one.chosen for one in planted})
    counts = ", ".join(f"{name} {percent(np.mean([one.chosen == name for one in planted]))}" for name in chosen)
    print(f"- chosen: {counts}")


if __name__ == "__main__":
    main()
